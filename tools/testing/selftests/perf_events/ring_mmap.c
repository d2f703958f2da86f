// SPDX-License-Identifier: GPL-2.0
/*
 * Which mmap() calls a perf event takes: sizes, offsets, protections, second
 * mappings, inherited events, and the AUX geometry checks that need no AUX PMU.
 */
#include "perf_ring_task.h"

#include <fcntl.h>
#include <sched.h>

#define AUX_FREE_PAGES 16 /* stays clear of the 4 data pages of aux_ring() */

static long map_at(int fd, size_t pages, size_t page_offset)
{
	void *base = mmap(NULL, pages * page_size(), PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, (off_t)(page_offset * page_size()));

	return base == MAP_FAILED ? -1 : 0;
}

static void powers_of_two_map(void)
{
	for (size_t pages = 1; pages <= 512; pages *= 2) {
		struct ring ring;
		int fd = open_comm();

		ring_map(&ring, fd, pages);
		CHECK_EQ(ring.page->data_size, ring.size);
		CHECK_EQ(ring.page->data_offset, page_size());
		CHECK_EQ(ring_head(&ring), 0);
		rename_task(1);
		expect_comm(&ring, 1);
		expect_end(&ring);
		ring_unmap(&ring);
		close(fd);
	}
}

static void user_page_alone_maps(void)
{
	struct ring ring;
	int fd = open_comm();

	ring_map(&ring, fd, 0);
	CHECK_EQ(ring.page->data_size, 0);
	CHECK_EQ(ring.page->data_offset, page_size());
	rename_tasks(0, 10);
	CHECK_EQ(ring_head(&ring), 0);
}

static void other_sizes_are_refused(void)
{
	static const size_t refused[] = { 3, 5, 6, 7, 9, 12, 15, 17, 31, 33,
					  63, 65, 96, 127, 129, 1000, 1023 };
	struct ring ring;
	int fd = open_comm();

	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		CHECK_ERRNO(map_pages(fd, refused[i] + 1, PROT_READ), EINVAL);
	CHECK_ERRNO(mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0), EINVAL);
	ring_map(&ring, fd, 4); /* a refusal leaves nothing behind */
}

static void odd_lengths_round_up(void)
{
	size_t page = page_size();
	struct ring ring;
	int fd = open_comm();

	CHECK_ERRNO(mmap(NULL, 3 * page + 1, PROT_READ, MAP_SHARED, fd, 0),
		    EINVAL);
	CHECK(mmap(NULL, 2 * page + 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   0) != MAP_FAILED);
	ring_map(&ring, fd, 2);
	CHECK_EQ(ring.page->data_size, 2 * page);
}

static int log_open(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);

	if (log < 0)
		SKIP("no /dev/kmsg to see warnings in");
	CHECK(lseek(log, 0, SEEK_END) >= 0);
	return log;
}

static void expect_quiet_log(int log)
{
	char line[4096];
	ssize_t len;

	while ((len = read(log, line, sizeof(line) - 1)) > 0) {
		line[len] = 0;
		if (strstr(line, "WARNING:") || strstr(line, "BUG:") ||
		    strstr(line, "allocation failure"))
			FAIL("the kernel log says: %.300s", line);
	}
}

static void huge_rings_fail_quietly(void)
{
	static const unsigned int shifts[] = { 19, 20, 22, 24, 30, 31 };
	int log = log_open();
	int fd = open_comm();
	struct ring ring;

	for (size_t i = 0; i < ARRAY_LEN(shifts); i++)
		CHECK_ERRNO(map_at(fd, (1UL << shifts[i]) + 1, 0), ENOMEM);
	expect_quiet_log(log);
	ring_map(&ring, fd, 1);
}

static void page_counts_beyond_32_bits_fail(void)
{
	int fd = open_comm();
	long ret = map_at(fd, (1UL << 32) + 1, 0);

	if (!ret)
		BASE_DEFECT("a ring of 2^32 pages maps, with no data pages");
	CHECK_EQ(errno, ENOMEM);
}

static void private_is_refused(void)
{
	int fd = open_comm();

	CHECK_ERRNO(mmap(NULL, 2 * page_size(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE, fd, 0), EINVAL);
	CHECK_ERRNO(mmap(NULL, 2 * page_size(), PROT_READ, MAP_PRIVATE, fd, 0),
		    EINVAL);
}

static void every_protection_maps(void)
{
	static const int protections[] = { PROT_NONE, PROT_READ, PROT_WRITE,
					   PROT_READ | PROT_WRITE,
					   PROT_EXEC, PROT_READ | PROT_EXEC };

	for (size_t i = 0; i < ARRAY_LEN(protections); i++) {
		int fd = open_comm();
		void *base = map_pages(fd, 2, protections[i]);

		if (base == MAP_FAILED)
			FAIL("mmap with protection %d: %s", protections[i],
			     strerror(errno));
		CHECK(!munmap(base, 2 * page_size()));
		close(fd);
	}
}

static void second_mapping_shares_the_ring(void)
{
	struct ring first, second;
	int fd = open_comm();

	ring_map(&first, fd, 4);
	ring_map(&second, fd, 4);
	CHECK(first.page != second.page);
	rename_task(1);
	expect_comm(&first, 1);
	expect_comm(&second, 1);
	ring_release(&second);
	CHECK_EQ(first.page->data_tail, COMM_RECORD);
	ring_unmap(&first);
	rename_task(2);
	expect_comm(&second, 2);
}

/* The ring's direction of use is fixed by who maps first. */
static void second_mapping_may_be_read_only(void)
{
	struct ring writable, readable;
	unsigned int fits;
	int fd = open_comm();

	ring_map(&writable, fd, 1);
	ring_map_as(&readable, fd, 1, PROT_READ);
	fits = (unsigned int)((writable.size - 1) / COMM_RECORD);
	rename_tasks(0, 2 * fits);
	CHECK_EQ(ring_head(&readable), fits * COMM_RECORD);
}

static void second_mapping_of_other_size_is_refused(void)
{
	static const size_t others[] = { 0, 1, 2, 8, 16 };
	struct ring ring;
	int fd = open_comm();

	ring_map(&ring, fd, 4);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		CHECK_ERRNO(map_pages(fd, others[i] + 1, PROT_READ), EINVAL);
	rename_task(1);
	expect_comm(&ring, 1);
}

static void unmapped_event_takes_a_new_size(void)
{
	static const size_t sizes[] = { 4, 1, 0, 8 };
	int fd = open_comm();

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct ring ring;

		ring_map(&ring, fd, sizes[i]);
		CHECK_EQ(ring_head(&ring), 0);
		rename_tasks(0, 5);
		CHECK_EQ(ring_head(&ring), sizes[i] ? 5 * COMM_RECORD : 0);
		ring_unmap(&ring);
	}
}

static void offsets_without_a_ring_are_refused(void)
{
	int fd = open_comm();

	for (size_t offset = 1; offset < 64; offset *= 2)
		CHECK_ERRNO(map_at(fd, 1, offset), EINVAL);
}

static int aux_ring(struct ring *ring)
{
	int fd = open_comm();

	ring_map(ring, fd, 4);
	return fd;
}

static void aux_geometry(struct ring *ring, size_t offset, size_t size)
{
	__atomic_store_n(&ring->page->aux_offset, offset, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->page->aux_size, size, __ATOMIC_RELAXED);
}

static void aux_without_geometry_is_refused(void)
{
	struct ring ring;
	int fd = aux_ring(&ring);

	for (size_t offset = 1; offset < 64; offset *= 2)
		CHECK_ERRNO(map_at(fd, 4, offset), EINVAL);
}

static void aux_offset_is_checked(void)
{
	size_t page = page_size();
	struct ring ring;
	int fd = aux_ring(&ring);

	aux_geometry(&ring, 4 * page, 4 * page);
	CHECK_ERRNO(map_at(fd, 4, 4), EINVAL); /* inside the data */
	aux_geometry(&ring, AUX_FREE_PAGES * page, 4 * page);
	CHECK_ERRNO(map_at(fd, 4, 8), EINVAL); /* not where it said */
	aux_geometry(&ring, AUX_FREE_PAGES * page + 8, 4 * page);
	CHECK_ERRNO(map_at(fd, 4, AUX_FREE_PAGES), EINVAL);
	aux_geometry(&ring, UINT64_MAX, 4 * page);
	CHECK_ERRNO(map_at(fd, 4, AUX_FREE_PAGES), EINVAL);
}

static void aux_size_is_checked(void)
{
	size_t page = page_size(), offset = AUX_FREE_PAGES * page;
	struct ring ring;
	int fd = aux_ring(&ring);

	aux_geometry(&ring, offset, 4 * page);
	CHECK_ERRNO(map_at(fd, 8, AUX_FREE_PAGES), EINVAL);
	CHECK_ERRNO(map_at(fd, 2, AUX_FREE_PAGES), EINVAL);
	aux_geometry(&ring, offset, 3 * page);
	CHECK_ERRNO(map_at(fd, 3, AUX_FREE_PAGES), EINVAL);
	aux_geometry(&ring, offset, 4 * page + 1);
	CHECK_ERRNO(map_at(fd, 4, AUX_FREE_PAGES), EINVAL);
	aux_geometry(&ring, offset, 0);
	CHECK_ERRNO(map_at(fd, 1, AUX_FREE_PAGES), EINVAL);
}

/* The geometry is right; what is missing is a PMU that would fill the area. */
static void aux_needs_an_aux_pmu(void)
{
	size_t page = page_size();
	struct ring ring;
	int fd = aux_ring(&ring);

	for (size_t offset = 5; offset <= 40; offset += 5) {
		aux_geometry(&ring, offset * page, 8 * page);
		CHECK_ERRNO(map_at(fd, 8, offset), EOPNOTSUPP);
	}
	rename_task(1);
	expect_comm(&ring, 1);
	ring_unmap(&ring);
	ring_map(&ring, fd, 8); /* the refusals hold no reference */
}

static void inherited_task_event_is_refused(void)
{
	struct perf_event_attr attr = comm_attr();
	int fd;

	attr.inherit = 1;
	fd = open_self(&attr);
	for (size_t pages = 1; pages <= 9; pages++)
		CHECK_ERRNO(map_pages(fd, pages, PROT_READ | PROT_WRITE),
			    EINVAL);
}

static void rename_twice(void *unused)
{
	(void)unused;
	rename_tasks(100, 2);
}

static void inherited_cpu_event_gets_child_records(void)
{
	struct perf_event_attr attr = comm_attr();
	const struct comm_record *comm;
	int cpu = sched_getcpu();
	struct ring ring;
	cpu_set_t only;
	pid_t child;

	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	CHECK(!sched_setaffinity(0, sizeof(only), &only));
	attr.inherit = 1;
	ring_map(&ring, open_on(&attr, 0, cpu), 1);
	rename_task(1);
	child = start_child(rename_twice, NULL);
	join_child(child);
	rename_task(2);

	expect_comm(&ring, 1);
	expect_type(&ring, PERF_RECORD_FORK);
	comm = &ring.record.comm;
	for (int i = 0; i < 2; i++) {
		expect_type(&ring, PERF_RECORD_COMM);
		CHECK_EQ(comm->tid, child);
		CHECK_EQ(atoi(comm->comm), 100 + i);
	}
	expect_type(&ring, PERF_RECORD_EXIT);
	expect_comm(&ring, 2);
	expect_end(&ring);
}

static void sibling_has_its_own_ring(void)
{
	struct perf_event_attr attr = comm_attr();
	struct ring leader_ring, sibling_ring;
	int leader = open_self(&attr);
	int sibling = perf_open(&attr, 0, -1, leader, 0);

	CHECK(sibling >= 0);
	ring_map(&leader_ring, leader, 1);
	ring_map(&sibling_ring, sibling, 2);
	rename_task(7);
	expect_comm(&leader_ring, 7);
	expect_comm(&sibling_ring, 7);
}

static void event_of_a_dead_task_maps(void)
{
	struct sleeping_task task = start_sleeping(NULL);
	struct perf_event_attr attr = comm_attr();
	int fd = open_on(&attr, task.pid, -1);
	struct ring ring;

	end_task(&task);
	ring_map(&ring, fd, 2);
	expect_end(&ring);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(powers_of_two_map),
		CASE(user_page_alone_maps),
		CASE(other_sizes_are_refused),
		CASE(odd_lengths_round_up),
		CASE(huge_rings_fail_quietly),
		CASE(page_counts_beyond_32_bits_fail),
		CASE(private_is_refused),
		CASE(every_protection_maps),
		CASE(second_mapping_shares_the_ring),
		CASE(second_mapping_may_be_read_only),
		CASE(second_mapping_of_other_size_is_refused),
		CASE(unmapped_event_takes_a_new_size),
		CASE(offsets_without_a_ring_are_refused),
		CASE(aux_without_geometry_is_refused),
		CASE(aux_offset_is_checked),
		CASE(aux_size_is_checked),
		CASE(aux_needs_an_aux_pmu),
		CASE(inherited_task_event_is_refused),
		CASE(inherited_cpu_event_gets_child_records),
		CASE(sibling_has_its_own_ring),
		CASE(event_of_a_dead_task_maps),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
