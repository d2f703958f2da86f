// SPDX-License-Identifier: GPL-2.0
/*
 * The second mapping of a ring: where an AUX area may be and how large, which event
 * may have it, what can be done with its pages, and what becomes of it.
 */
#include "perf_aux_life.h"
#include "perf_ring_access.h"
#include "perf_ring_task.h"

#include <fcntl.h>

#define DATA_PAGES 4
#define READ_WRITE (PROT_READ | PROT_WRITE)

/* A data ring for an event of the test PMU, and no area yet. */
static int open_ring(struct ring *ring)
{
	struct perf_event_attr attr = fast_attr();
	int fd = open_self(&attr);

	ring_map(ring, fd, DATA_PAGES);
	return fd;
}

static void expect_refused(struct ring *ring, int fd, uint64_t offset,
			   uint64_t size, int error)
{
	CHECK_ERRNO(map_bytes(fd, offset, size, READ_WRITE), error);
	CHECK_EQ(ring->page->aux_head, 0);
}

/* The refusals before have left nothing behind that would be in the way. */
static void expect_maps(struct ring *ring, int fd)
{
	uint64_t offset = ring->length, size = 4 * page_size();
	void *base;

	aux_ask(ring->page, offset, size);
	base = map_bytes(fd, offset, size, READ_WRITE);
	CHECK(base != MAP_FAILED);
	CHECK(!munmap(base, size));
}

/* ---- where it may be ---- */

static void nothing_asked_for_is_refused(void)
{
	struct ring ring;
	int fd = open_ring(&ring);

	for (size_t pages = 1; pages <= 16; pages *= 2)
		expect_refused(&ring, fd, ring.length, pages * page_size(),
			       EINVAL);
	expect_maps(&ring, fd);
}

static void offset_in_front_of_the_data_end_is_refused(void)
{
	size_t page = page_size();
	struct ring ring;
	int fd = open_ring(&ring);

	for (size_t offset = 1; offset <= DATA_PAGES; offset++) {
		aux_ask(ring.page, offset * page, 4 * page);
		expect_refused(&ring, fd, offset * page, 4 * page, EINVAL);
	}
	expect_maps(&ring, fd);
}

static void offset_within_a_page_is_refused(void)
{
	static const int off[] = { 1, 8, 2048, -1, -8 };
	size_t page = page_size();
	struct ring ring;
	int fd = open_ring(&ring);

	for (size_t i = 0; i < ARRAY_LEN(off); i++) {
		aux_ask(ring.page, 16 * page + (uint64_t)off[i], 4 * page);
		expect_refused(&ring, fd, 16 * page, 4 * page, EINVAL);
		expect_refused(&ring, fd, 15 * page, 4 * page, EINVAL);
	}
	expect_maps(&ring, fd);
}

static void offset_of_the_mapping_has_to_be_the_same(void)
{
	size_t page = page_size();
	struct ring ring;
	int fd = open_ring(&ring);

	aux_ask(ring.page, 16 * page, 4 * page);
	for (size_t offset = 1; offset <= 64; offset++)
		if (offset != 16)
			expect_refused(&ring, fd, offset * page, 4 * page,
				       EINVAL);
	aux_ask(ring.page, UINT64_MAX, 4 * page);
	expect_refused(&ring, fd, 16 * page, 4 * page, EINVAL);
	/* What a multiplication of 64 bits would make the same. */
	aux_ask(ring.page, (1ULL << 63) + 16 * page, 4 * page);
	expect_refused(&ring, fd, 16 * page, 4 * page, EINVAL);
	expect_maps(&ring, fd);
}

/* Anywhere behind the data will do, next to it or at the end of what a file has. */
static void far_offsets_map(void)
{
	const uint64_t page = page_size();
	const uint64_t offsets[] = { 5 * page, 7 * page, 1ULL << 32, 1ULL << 44,
				     1ULL << 63, UINT64_MAX - 5 * page + 1 };

	for (size_t i = 0; i < ARRAY_LEN(offsets); i++) {
		struct ring ring;
		int fd = open_ring(&ring);
		char *base;

		aux_ask(ring.page, offsets[i], 4 * page);
		base = map_bytes(fd, offsets[i], 4 * page, READ_WRITE);
		if (base == MAP_FAILED)
			FAIL("area at %#" PRIx64 ": %s", offsets[i],
			     strerror(errno));
		for (int at = 0; at < 4; at++)
			CHECK_EQ(read_signal(base + at * page), 0);
		CHECK(!munmap(base, 4 * page));
		ring_unmap(&ring);
		close(fd);
	}
}

/* ---- how large ---- */

static void size_has_to_be_a_power_of_two(void)
{
	static const size_t refused[] = { 3, 5, 6, 7, 9, 12, 15, 17, 24, 63,
					  65, 100, 1000, 1023, 1025 };
	size_t page = page_size();
	struct ring ring;
	int fd = open_ring(&ring);

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		aux_ask(ring.page, 16 * page, refused[i] * page);
		expect_refused(&ring, fd, 16 * page, refused[i] * page, EINVAL);
	}
	expect_maps(&ring, fd);
}

static void size_of_the_mapping_has_to_be_the_same(void)
{
	size_t page = page_size();
	struct ring ring;
	int fd = open_ring(&ring);

	aux_ask(ring.page, 16 * page, 4 * page);
	for (size_t pages = 1; pages <= 64; pages *= 2)
		if (pages != 4)
			expect_refused(&ring, fd, 16 * page, pages * page,
				       EINVAL);
	expect_maps(&ring, fd);
}

static void size_within_a_page_is_refused(void)
{
	static const int off[] = { 1, 8, 4095, -1, -8 };
	size_t page = page_size();
	struct ring ring;
	int fd = open_ring(&ring);

	for (size_t i = 0; i < ARRAY_LEN(off); i++) {
		aux_ask(ring.page, 16 * page, 4 * page + (uint64_t)off[i]);
		expect_refused(&ring, fd, 16 * page, 4 * page, EINVAL);
		expect_refused(&ring, fd, 16 * page, 5 * page, EINVAL);
	}
	aux_ask(ring.page, 16 * page, (1ULL << 63) + 4 * page);
	expect_refused(&ring, fd, 16 * page, 4 * page, EINVAL);
	aux_ask(ring.page, 16 * page, 0);
	expect_refused(&ring, fd, 16 * page, page, EINVAL);
	expect_maps(&ring, fd);
}

/* Sizes whose number of pages, or the bytes of their list, do not fit into 32 bits. */
static void sizes_beyond_all_memory_fail_quietly(void)
{
	struct ring ring;
	int fd = open_ring(&ring);

	for (unsigned int shift = 40; shift <= 46; shift++) {
		aux_ask(ring.page, ring.length, 1ULL << shift);
		expect_refused(&ring, fd, ring.length, 1ULL << shift, ENOMEM);
	}
	expect_maps(&ring, fd);
}

/* Several pieces of a stream, each word once and in order. */
static void expect_stream(int fd, size_t pages)
{
	struct aux aux;

	aux_map(&aux, fd, DATA_PAGES, pages);
	enable(fd);
	for (int round = 0; round < 3; round++) {
		await_words(&aux);
		aux_drain(&aux);
	}
	aux_finish(&aux);
	CHECK(aux.kept > 0);
	CHECK_EQ(aux_head(&aux), aux.kept);
	aux_unmap(&aux);
}

static void sizes_from_one_page_stream(void)
{
	for (size_t pages = 1; pages <= 4096; pages *= 2) {
		struct perf_event_attr attr = fast_attr();
		int fd = open_self(&attr);

		expect_stream(fd, pages);
		close(fd);
	}
}

/*
 * The largest that memory allows, with its first and last page, and it comes back, but
 * for what each CPU keeps at hand.
 */
static void largest_size_maps_and_comes_back(void)
{
	const uint64_t before = memory_available();
	struct perf_event_attr attr = fast_attr();
	uint64_t size = page_size();
	int fd = open_self(&attr);
	struct aux aux;

	while (2 * size <= before / 4 * 3)
		size *= 2;
	aux_map(&aux, fd, DATA_PAGES, size / page_size());
	CHECK(memory_available() < before - size / 10 * 9);
	CHECK_EQ(aux.words[0], 0);
	CHECK_EQ(aux.words[aux.size / 8 - 1], 0);
	aux_unmap_area(&aux);
	CHECK(memory_available() > before - size / 4);
	ring_unmap(&aux.ring);
	remark("%llu MiB", (unsigned long long)size >> 20);
}

/* ---- which event, which ring ---- */

static void no_ring_no_area(void)
{
	struct perf_event_attr attr = fast_attr();
	int fd = open_self(&attr);
	struct ring ring;

	for (size_t offset = 1; offset < 64; offset *= 2)
		CHECK_ERRNO(map_bytes(fd, offset * page_size(), page_size(),
				      READ_WRITE), EINVAL);
	ring_map(&ring, fd, DATA_PAGES);
	aux_ask(ring.page, ring.length, page_size());
	ring_unmap(&ring);
	CHECK_ERRNO(map_bytes(fd, 5 * page_size(), page_size(), READ_WRITE),
		    EINVAL);
}

static void other_pmus_have_no_area(void)
{
	int fd = open_plain(0, -1);
	struct ring ring;

	ring_map(&ring, fd, DATA_PAGES);
	for (size_t pages = 1; pages <= 16; pages *= 2) {
		aux_ask(ring.page, ring.length, pages * page_size());
		expect_refused(&ring, fd, ring.length, pages * page_size(),
			       EOPNOTSUPP);
	}
	ring_unmap(&ring);
	ring_map(&ring, fd, 2 * DATA_PAGES); /* no reference is left */
}

static void private_is_refused(void)
{
	size_t page = page_size();
	struct ring ring;
	int fd = open_ring(&ring);

	aux_ask(ring.page, ring.length, 4 * page);
	CHECK_ERRNO(mmap(NULL, 4 * page, READ_WRITE, MAP_PRIVATE, fd,
			 (off_t)ring.length), EINVAL);
	CHECK_ERRNO(mmap(NULL, 4 * page, PROT_READ, MAP_PRIVATE, fd,
			 (off_t)ring.length), EINVAL);
	expect_maps(&ring, fd);
}

/* The driver declines the second set-up: that mmap() fails, the others do not. */
static void driver_may_decline(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;
	int fd;

	aux_field(&attr, "fail_setup", 2);
	fd = open_self(&attr);
	aux_map(&aux, fd, DATA_PAGES, 4);
	aux_unmap_area(&aux);
	CHECK_ERRNO(aux_try_map(&aux, 4, READ_WRITE), ENOMEM);
	aux_map_area(&aux, 8);
	expect_goes_on(&aux);
}

/* Who made the ring does not matter, who asks for the area does. */
static void area_comes_through_an_event_that_writes_aux(void)
{
	struct perf_event_attr attr = fast_attr();
	int plain = open_plain(0, -1), fd = open_self(&attr);
	struct aux aux = { .fd = fd };

	ring_map(&aux.ring, plain, DATA_PAGES);
	CHECK(!set_output(fd, plain));
	aux_ask(aux.ring.page, aux.ring.length, 4 * page_size());
	CHECK_ERRNO(map_bytes(plain, aux.ring.length, 4 * page_size(),
			      READ_WRITE), EOPNOTSUPP);
	aux_map_area(&aux, 4);
	expect_goes_on(&aux);
}

static void ring_without_data_may_have_an_area(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;

	aux_map(&aux, open_self(&attr), 0, 64);
	enable(aux.fd);
	await_words(&aux);
	disable(aux.fd);
	aux_read(&aux);
	CHECK(aux.kept > 0);
	CHECK_EQ(aux.gaps, 0);
	CHECK_EQ(ring_head(&aux.ring), 0);
}

/* A driver must never get what another one has made, whatever lies in between. */
static void area_of_another_pmu_is_not_written(void)
{
	struct perf_event_attr attr = fast_attr();
	struct perf_event_attr other_attr = aux_attr_of("aux_test_large");
	int fd = open_self(&attr), other = open_self(&other_attr), plain;
	struct aux aux;

	aux_map(&aux, fd, DATA_PAGES, 16);
	CHECK_ERRNO(set_output(other, fd), EINVAL);
	plain = open_plain_to(fd);
	if (set_output(other, plain)) {
		CHECK_EQ(errno, EINVAL);
		return;
	}
	enable(other);
	spin_us(20000);
	disable(other);
	if (aux_head(&aux))
		BASE_DEFECT("a driver writes to the AUX area of another one");
}

/* ---- second mappings ---- */

static void second_mapping_shares_the_area(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;
	const uint64_t *second;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 64);
	second = aux_map_through(&aux, aux.fd);
	CHECK(second != aux.words);
	enable(aux.fd);
	await_words(&aux);
	disable(aux.fd);
	CHECK(!memcmp(second, aux.words, aux.size));
	aux_unmap_area(&aux);
	aux.words = second;
	aux_drain(&aux);
	expect_goes_on(&aux);
	aux_unmap(&aux);
}

static void second_mapping_has_to_be_the_same(void)
{
	struct perf_event_attr attr = fast_attr();
	size_t page = page_size();
	struct aux aux;
	struct ring *ring = &aux.ring;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 4);
	aux_ask(ring->page, 16 * page, 4 * page); /* other place */
	expect_refused(ring, aux.fd, 16 * page, 4 * page, EINVAL);
	expect_refused(ring, aux.fd, 5 * page, 4 * page, EINVAL);
	for (size_t pages = 1; pages <= 16; pages *= 2) { /* other size */
		if (pages == 4)
			continue;
		aux_ask(ring->page, 5 * page, pages * page);
		expect_refused(ring, aux.fd, 5 * page, pages * page, EINVAL);
	}
	aux_ask(ring->page, 0, 0); /* the one that there is, but not asked for */
	expect_refused(ring, aux.fd, 5 * page, 4 * page, EINVAL);
	aux_ask(ring->page, 5 * page, 4 * page);
	CHECK(map_bytes(aux.fd, 5 * page, 4 * page, READ_WRITE) != MAP_FAILED);
}

/* Full or overwrite: the area's first mapping decides, not the data ring's. */
static void first_mapping_decides_the_mode(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;

	aux_map_as(&aux, open_self(&attr), DATA_PAGES, 4, PROT_READ);
	aux_map_through(&aux, aux.fd); /* read-write */
	enable(aux.fd);
	spin_us(5000);
	disable(aux.fd);
	CHECK(!aux_page_lost(&aux));
	while (ring_next(&aux.ring))
		aux_take_record(&aux, &aux.ring.record.header);
	CHECK_EQ(aux.flags & ~(uint64_t)PERF_AUX_FLAG_OVERWRITE, 0);
	CHECK(count_of(aux.fd) > aux.size);
}

static void second_mapping_may_be_read_only(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 4);
	CHECK(map_bytes(aux.fd, aux.ring.length, aux.size, PROT_READ) !=
	      MAP_FAILED);
	enable(aux.fd);
	spin_us(5000);
	disable(aux.fd);
	aux_drain(&aux);
	CHECK(aux.flags & PERF_AUX_FLAG_TRUNCATED);
	CHECK(!(aux.flags & PERF_AUX_FLAG_OVERWRITE));
	CHECK_EQ(aux.kept, aux.size - 8); /* one byte, so one word, is kept back */
}

static void redirected_event_maps_the_area(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;
	int plain;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 64);
	plain = open_plain_to(aux.fd);
	aux_unmap_area(&aux);
	aux_ask(aux.ring.page, aux.ring.length, aux.size);
	CHECK_ERRNO(map_bytes(plain, aux.ring.length, aux.size, READ_WRITE),
		    EOPNOTSUPP); /* it can share one, not make one */
	aux_map_area(&aux, 64);
	aux.words = aux_map_through(&aux, plain);
	CHECK_ERRNO(set_output(plain, -1), EINVAL); /* it is mapped itself */
	expect_goes_on(&aux);
	aux_unmap_area(&aux); /* the last one through this event detaches it */
	CHECK_ERRNO(map_bytes(plain, aux.ring.length, aux.size, READ_WRITE),
		    EINVAL);
}

/* ---- its pages ---- */

static bool is_present(const void *at)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry;

	CHECK_EQ(pread(pagemap, &entry, 8,
		       (off_t)((uintptr_t)at / page_size() * 8)), 8);
	close(pagemap);
	return entry >> 63;
}

static void pages_appear_on_first_touch(void)
{
	struct perf_event_attr attr = fast_attr();
	const char *base;
	struct aux aux;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 8);
	base = (const char *)aux.words;
	for (int page = 0; page < 8; page++)
		CHECK(!is_present(base + page * page_size()));
	for (int page = 7; page >= 0; page -= 2) {
		CHECK_EQ(read_signal(base + page * page_size()), 0);
		CHECK(is_present(base + page * page_size()));
		CHECK(!is_present(base + (page - 1) * page_size()));
	}
}

static void stores_raise_sigbus(void)
{
	struct perf_event_attr attr = fast_attr();
	const char *base;
	struct aux aux;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 8);
	base = (const char *)aux.words;
	for (int page = 0; page < 8; page++) {
		CHECK_EQ(write_signal(base + page * page_size()), SIGBUS);
		CHECK_EQ(read_signal(base + page * page_size()), 0);
		CHECK_EQ(write_signal(base + page * page_size()), SIGBUS);
	}
	expect_goes_on(&aux);
}

static void read_only_area_takes_no_stores(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;

	aux_map_as(&aux, open_self(&attr), DATA_PAGES, 4, PROT_READ);
	CHECK_EQ(write_signal(aux.words), SIGSEGV);
	CHECK_EQ(read_signal(aux.words), 0);
	CHECK_EQ(write_signal(aux.words), SIGSEGV);
	CHECK(!mprotect((void *)aux.words, aux.size, READ_WRITE));
	CHECK_EQ(write_signal(aux.words), SIGBUS);
}

static void fresh_area_is_zero(void)
{
	for (int round = 0; round < 10; round++) {
		struct perf_event_attr attr = fast_attr();
		struct aux aux;

		aux_map(&aux, open_self(&attr), DATA_PAGES, 16);
		for (size_t i = 0; i < aux.size / 8; i++)
			CHECK_EQ(aux.words[i], 0);
		enable(aux.fd);
		spin_us(3000);
		aux_unmap(&aux);
		close(aux.fd);
	}
}

static void partial_munmap_is_refused(void)
{
	struct perf_event_attr attr = fast_attr();
	size_t page = page_size();
	struct aux aux;
	char *base;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 8);
	base = (char *)aux.words;
	CHECK_ERRNO(munmap(base, page), EINVAL);
	CHECK_ERRNO(munmap(base + 3 * page, page), EINVAL);
	CHECK_ERRNO(munmap(base + 4 * page, 4 * page), EINVAL);
	CHECK_ERRNO(mprotect(base, page, PROT_READ), EINVAL);
	CHECK_ERRNO(mmap(base + page, page, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		    EINVAL);
	expect_goes_on(&aux);
	CHECK(!munmap(base, 8 * page));
	CHECK_EQ(read_signal(base), SIGSEGV);
}

static void mremap_moves_a_running_area(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 64);
	enable(aux.fd);
	for (int round = 0; round < 20; round++) {
		void *old = (void *)aux.words;
		void *to = mmap(NULL, aux.size, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		await_words(&aux);
		CHECK(mremap(old, aux.size, aux.size,
			     MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
		CHECK_EQ(read_signal(old), SIGSEGV);
		aux.words = to;
		aux_drain(&aux);
	}
	aux_finish(&aux);
	CHECK_EQ(write_signal(aux.words), SIGBUS);
	aux_unmap(&aux);
}

static void mremap_changes_no_size(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;
	void *base;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 8);
	base = (void *)aux.words;
	CHECK_ERRNO(mremap(base, aux.size, 2 * aux.size, MREMAP_MAYMOVE),
		    EFAULT);
	CHECK_ERRNO(mremap(base, aux.size, aux.size / 2, 0), EINVAL);
	CHECK_ERRNO(mremap(base, 0, aux.size, MREMAP_MAYMOVE), EFAULT);
	CHECK_ERRNO(mremap(base, aux.size, aux.size,
			   MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL), EINVAL);
	expect_goes_on(&aux);
}

static void madvise_keeps_the_content(void)
{
	static const int harmless[] = { MADV_DONTNEED, MADV_RANDOM, MADV_NORMAL,
					MADV_COLD, MADV_PAGEOUT };
	struct perf_event_attr attr = fast_attr();
	struct aux aux;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 64);
	enable(aux.fd);
	for (size_t i = 0; i < ARRAY_LEN(harmless); i++) {
		await_words(&aux);
		CHECK(!madvise((void *)aux.words, aux.size, harmless[i]));
		aux_drain(&aux);
	}
	aux_finish(&aux);
	CHECK(aux.kept > 0);
}

/* ---- fork ---- */

static void expect_no_mapping(void *aux)
{
	CHECK_EQ(read_signal(((struct aux *)aux)->words), SIGSEGV);
}

static void child_inherits_no_mapping(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 16);
	enable(aux.fd);
	await_words(&aux);
	join_child(start_child(expect_no_mapping, &aux));
	disable(aux.fd);
	aux_drain(&aux);
	expect_goes_on(&aux);
}

static void read_all_words(void *aux)
{
	aux_read(aux);
	CHECK(((struct aux *)aux)->kept > 0);
}

static void dofork_gives_the_child_a_mapping(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 16);
	enable(aux.fd);
	await_words(&aux);
	disable(aux.fd);
	CHECK(!madvise((void *)aux.words, aux.size, MADV_DOFORK));
	CHECK(!madvise(aux.ring.page, aux.ring.length, MADV_DOFORK));
	join_child(start_child(read_all_words, &aux));
	aux_drain(&aux);
	expect_goes_on(&aux);
	aux_unmap(&aux);
}

/* ---- what comes after it ---- */

/* Each order of three unmappings ends with an event that takes a ring of new size. */
static void every_order_of_unmapping_frees(void)
{
	static const char orders[][4] = { "das", "dsa", "ads", "asd", "sad",
					  "sda" };

	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		struct perf_event_attr attr = fast_attr();
		struct aux aux;
		void *second;

		aux_map(&aux, open_self(&attr), DATA_PAGES, 4);
		second = (void *)aux_map_through(&aux, aux.fd);
		enable(aux.fd);
		await_words(&aux);
		for (const char *step = orders[i]; *step; step++) {
			if (*step == 'd')
				CHECK(!munmap(aux.ring.page, aux.ring.length));
			else
				CHECK(!munmap(*step == 's' ? second :
					      (void *)aux.words, aux.size));
		}
		disable(aux.fd);
		aux_map(&aux, aux.fd, 2 * DATA_PAGES, 8);
		CHECK_EQ(aux_head(&aux), 0);
		aux_unmap(&aux);
		close(aux.fd);
	}
}

/* The ring lives with its area: the data come back if they are mapped again. */
static void area_keeps_the_ring(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;
	uint64_t head;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 64);
	enable(aux.fd);
	await_words(&aux);
	disable(aux.fd);
	head = aux_head(&aux);
	ring_unmap(&aux.ring);
	CHECK_ERRNO(map_pages(aux.fd, 2 * DATA_PAGES + 1, PROT_READ), EINVAL);
	ring_map(&aux.ring, aux.fd, DATA_PAGES);
	CHECK_EQ(aux_head(&aux), head);
	aux_drain(&aux);
	CHECK_EQ(aux.kept, head);
	expect_goes_on(&aux);
}

/* Positions are the ring's and run on, whatever area there is. */
static void positions_go_on_in_the_next_area(void)
{
	static const size_t sizes[] = { 16, 16, 64, 32, 128 };
	struct perf_event_attr attr = fast_attr();
	struct aux aux;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 32);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		uint64_t head;

		expect_goes_on(&aux);
		head = aux_head(&aux);
		CHECK_EQ(head, aux.kept);
		aux_unmap_area(&aux);
		CHECK_EQ(aux_head(&aux), head);
		aux_map_area(&aux, sizes[i]);
		CHECK_EQ(aux_head(&aux), head);
	}
	expect_goes_on(&aux);
	if (aux_counts_lost())
		CHECK_EQ(aux.kept + aux_page_lost(&aux), count_of(aux.fd));
}

/* Another place is as good, once the area is gone. */
static void next_area_may_be_elsewhere(void)
{
	struct perf_event_attr attr = fast_attr();
	size_t page = page_size();
	struct aux aux;

	aux_map(&aux, open_self(&attr), DATA_PAGES, 4);
	aux_unmap_area(&aux);
	aux_ask(aux.ring.page, 100 * page, 16 * page);
	aux.words = map_bytes(aux.fd, 100 * page, 16 * page, READ_WRITE);
	CHECK(aux.words != MAP_FAILED);
	aux.size = 16 * page;
	expect_goes_on(&aux);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(nothing_asked_for_is_refused),
		CASE(offset_in_front_of_the_data_end_is_refused),
		CASE(offset_within_a_page_is_refused),
		CASE(offset_of_the_mapping_has_to_be_the_same),
		CASE(far_offsets_map),
		CASE(size_has_to_be_a_power_of_two),
		CASE(size_of_the_mapping_has_to_be_the_same),
		CASE(size_within_a_page_is_refused),
		CASE(sizes_beyond_all_memory_fail_quietly),
		CASE(sizes_from_one_page_stream),
		CASE(largest_size_maps_and_comes_back),
		CASE(no_ring_no_area),
		CASE(other_pmus_have_no_area),
		CASE(private_is_refused),
		CASE(driver_may_decline),
		CASE(area_comes_through_an_event_that_writes_aux),
		CASE(ring_without_data_may_have_an_area),
		CASE(area_of_another_pmu_is_not_written),
		CASE(second_mapping_shares_the_area),
		CASE(second_mapping_has_to_be_the_same),
		CASE(first_mapping_decides_the_mode),
		CASE(second_mapping_may_be_read_only),
		CASE(redirected_event_maps_the_area),
		CASE(pages_appear_on_first_touch),
		CASE(stores_raise_sigbus),
		CASE(read_only_area_takes_no_stores),
		CASE(fresh_area_is_zero),
		CASE(partial_munmap_is_refused),
		CASE(mremap_moves_a_running_area),
		CASE(mremap_changes_no_size),
		CASE(madvise_keeps_the_content),
		CASE(child_inherits_no_mapping),
		CASE(dofork_gives_the_child_a_mapping),
		CASE(every_order_of_unmapping_frees),
		CASE(area_keeps_the_ring),
		CASE(positions_go_on_in_the_next_area),
		CASE(next_area_may_be_elsewhere),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
