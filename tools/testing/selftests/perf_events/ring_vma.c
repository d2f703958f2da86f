// SPDX-License-Identifier: GPL-2.0
/*
 * A mapped ring as a piece of address space: who may read and write which
 * page, and what munmap, mprotect, mremap, madvise, fork, exec and the kernel's
 * own access to user memory do with it.
 */
#include "perf_ring_access.h"
#include "perf_ring_task.h"

#include <fcntl.h>
#include <sys/uio.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

static int mapped_comm(struct ring *ring, size_t pages, int prot)
{
	int fd = open_comm();

	ring_map_as(ring, fd, pages, prot);
	return fd;
}

static void expect_alive(struct ring *ring, unsigned int seq)
{
	ring->pos = ring_head(ring);
	rename_task(seq);
	expect_comm(ring, seq);
}

/* ---- access ---- */

static void writable_ring_takes_writes_to_its_user_page_only(void)
{
	struct ring ring;

	mapped_comm(&ring, 4, PROT_READ | PROT_WRITE);
	CHECK_EQ(write_signal(&ring.page->data_tail), 0);
	for (size_t page = 0; page < 4; page++)
		CHECK_EQ(write_signal(ring.data + page * page_size()), SIGBUS);
	for (size_t page = 0; page < 4; page++) {
		CHECK_EQ(read_signal(ring.data + page * page_size()), 0);
		CHECK_EQ(write_signal(ring.data + page * page_size()), SIGBUS);
	}
	expect_alive(&ring, 1);
}

static void readable_ring_takes_no_writes(void)
{
	struct ring ring;

	mapped_comm(&ring, 2, PROT_READ);
	CHECK_EQ(write_signal(ring.page), SIGSEGV);
	CHECK_EQ(write_signal(ring.data), SIGSEGV);
	CHECK_EQ(read_signal(ring.page), 0);
	CHECK_EQ(write_signal(ring.page), SIGSEGV);
	expect_alive(&ring, 1);
}

static void forbidden_ring_takes_no_access(void)
{
	struct ring ring;

	mapped_comm(&ring, 2, PROT_NONE);
	CHECK_EQ(read_signal(ring.page), SIGSEGV);
	CHECK_EQ(write_signal(ring.data), SIGSEGV);
	rename_task(1);
	CHECK(!mprotect(ring.page, ring.length, PROT_READ));
	expect_comm(&ring, 1);
}

static void fresh_ring_is_zero(void)
{
	for (int round = 0; round < 20; round++) {
		struct ring ring;
		int fd = mapped_comm(&ring, 16, PROT_READ | PROT_WRITE);

		for (size_t i = 0; i < ring.size; i++)
			CHECK_EQ(ring.data[i], 0);
		rename_tasks(0, 1000);
		ring_unmap(&ring);
		close(fd);
	}
}

static void closed_fd_leaves_the_ring_alive(void)
{
	struct ring ring;

	close(mapped_comm(&ring, 4, PROT_READ | PROT_WRITE));
	for (size_t page = 0; page < 4; page++)
		CHECK_EQ(read_signal(ring.data + page * page_size()), 0);
	expect_alive(&ring, 1);
	ring_unmap(&ring);
}

/* ---- munmap, mmap over it, mprotect, mlock ---- */

static void partial_munmap_is_refused(void)
{
	size_t page = page_size();
	struct ring ring;
	uint8_t *base;

	mapped_comm(&ring, 4, PROT_READ | PROT_WRITE);
	base = (uint8_t *)ring.page;
	CHECK_ERRNO(munmap(base, page), EINVAL);
	CHECK_ERRNO(munmap(base + page, page), EINVAL);
	CHECK_ERRNO(munmap(base + 4 * page, page), EINVAL);
	CHECK_ERRNO(munmap(base, 4 * page), EINVAL);
	expect_alive(&ring, 1);
	CHECK(!munmap(base, 5 * page));
	CHECK_EQ(read_signal(base), SIGSEGV);
}

static void mapping_over_a_part_is_refused(void)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	size_t page = page_size();
	struct ring ring;
	uint8_t *base;

	mapped_comm(&ring, 4, PROT_READ | PROT_WRITE);
	base = (uint8_t *)ring.page;
	CHECK_ERRNO(mmap(base, page, PROT_READ, flags, -1, 0), EINVAL);
	CHECK_ERRNO(mmap(base + 2 * page, page, PROT_READ, flags, -1, 0),
		    EINVAL);
	expect_alive(&ring, 1);
	CHECK(mmap(base, 5 * page, PROT_READ, flags, -1, 0) == base);
	CHECK_EQ(*base, 0);
}

static void partial_mprotect_is_refused(void)
{
	size_t page = page_size();
	struct ring ring;
	uint8_t *base;

	mapped_comm(&ring, 4, PROT_READ | PROT_WRITE);
	base = (uint8_t *)ring.page;
	CHECK_ERRNO(mprotect(base, page, PROT_READ), EINVAL);
	CHECK_ERRNO(mprotect(base + page, 4 * page, PROT_READ), EINVAL);
	CHECK_EQ(write_signal(&ring.page->data_tail), 0);
	expect_alive(&ring, 1);
}

static void mprotect_of_the_whole_works(void)
{
	struct ring ring;

	mapped_comm(&ring, 4, PROT_READ | PROT_WRITE);
	CHECK(!mprotect(ring.page, ring.length, PROT_READ));
	CHECK_EQ(write_signal(ring.page), SIGSEGV);
	expect_alive(&ring, 1);
	CHECK(!mprotect(ring.page, ring.length, PROT_READ | PROT_WRITE));
	CHECK_EQ(write_signal(&ring.page->data_tail), 0);
	CHECK_EQ(write_signal(ring.data), SIGBUS);
}

/* A ring that was mapped read-only overwrites, whatever becomes of its pages. */
static void mprotect_leaves_the_mode_alone(void)
{
	struct ring ring;

	mapped_comm(&ring, 1, PROT_READ);
	CHECK(!mprotect(ring.page, ring.length, PROT_READ | PROT_WRITE));
	rename_tasks(0, 1000);
	CHECK_EQ(ring_head(&ring), 1000 * COMM_RECORD);
}

static void mlock_changes_nothing(void)
{
	struct ring ring;

	mapped_comm(&ring, 4, PROT_READ | PROT_WRITE);
	CHECK(!mlock(ring.page, page_size()));
	CHECK(!mlock(ring.page, ring.length));
	expect_alive(&ring, 1);
	CHECK(!munlock(ring.page, ring.length));
	ring_unmap(&ring);
}

/* ---- mremap ---- */

static void mremap_moves_a_live_ring(void)
{
	struct ring ring;
	void *old, *to;

	mapped_comm(&ring, 4, PROT_READ | PROT_WRITE);
	expect_alive(&ring, 1);
	to = mmap(NULL, ring.length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		  -1, 0);
	CHECK(to != MAP_FAILED);
	old = ring.page;
	CHECK(mremap(old, ring.length, ring.length,
		     MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
	CHECK_EQ(read_signal(old), SIGSEGV);
	ring.page = to;
	ring.data = (uint8_t *)to + page_size();
	for (unsigned int seq = 2; seq < 2000; seq++) {
		expect_alive(&ring, seq);
		ring_release(&ring);
	}
	CHECK_EQ(write_signal(ring.data), SIGBUS);
	ring_unmap(&ring);
}

static void mremap_changes_no_size(void)
{
	struct ring ring;

	mapped_comm(&ring, 4, PROT_READ | PROT_WRITE);
	CHECK_ERRNO(mremap(ring.page, ring.length, 9 * page_size(),
			   MREMAP_MAYMOVE), EFAULT);
	CHECK_ERRNO(mremap(ring.page, ring.length, 3 * page_size(), 0), EINVAL);
	CHECK_ERRNO(mremap(ring.page, ring.length, 3 * page_size(),
			   MREMAP_MAYMOVE), EINVAL);
	expect_alive(&ring, 1);
}

static void mremap_makes_no_copy(void)
{
	struct ring ring;

	mapped_comm(&ring, 4, PROT_READ | PROT_WRITE);
	CHECK_ERRNO(mremap(ring.page, 0, ring.length, MREMAP_MAYMOVE), EFAULT);
	CHECK_ERRNO(mremap(ring.page, ring.length, ring.length,
			   MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL), EINVAL);
	expect_alive(&ring, 1);
}

/* ---- madvise ---- */

static void madvise_keeps_the_content(void)
{
	static const int harmless[] = { MADV_DONTNEED, MADV_RANDOM, MADV_NORMAL,
					MADV_DONTFORK, MADV_DONTDUMP, MADV_COLD,
					MADV_PAGEOUT, MADV_POPULATE_READ };
	struct ring ring;

	mapped_comm(&ring, 2, PROT_READ | PROT_WRITE);
	rename_tasks(0, ARRAY_LEN(harmless));
	for (unsigned int i = 0; i < ARRAY_LEN(harmless); i++) {
		if (madvise(ring.page, ring.length, harmless[i]))
			FAIL("madvise %d: %s", harmless[i], strerror(errno));
		expect_comm(&ring, i);
	}
	expect_alive(&ring, 100);
}

static void madvise_refuses_what_would_harm(void)
{
	static const struct {
		int advice, error;
	} harmful[] = {
		{ MADV_FREE, EINVAL },
		{ MADV_WIPEONFORK, EINVAL },
		{ MADV_DODUMP, EINVAL },
		{ MADV_POPULATE_WRITE, EFAULT },
	};
	struct ring ring;

	mapped_comm(&ring, 2, PROT_READ | PROT_WRITE);
	for (size_t i = 0; i < ARRAY_LEN(harmful); i++)
		CHECK_ERRNO(madvise(ring.page, ring.length, harmful[i].advice),
			    harmful[i].error);
	expect_alive(&ring, 1);
}

static void madvise_that_would_split_is_refused(void)
{
	struct ring ring;

	mapped_comm(&ring, 2, PROT_READ | PROT_WRITE);
	CHECK_ERRNO(madvise(ring.page, page_size(), MADV_RANDOM), EINVAL);
	CHECK_ERRNO(madvise(ring.page, page_size(), MADV_DOFORK), EINVAL);
	CHECK(!madvise((void *)ring.data, page_size(), MADV_DONTNEED));
	expect_alive(&ring, 1);
}

/* ---- fork and exec ---- */

static void expect_no_mapping(void *ring)
{
	CHECK_EQ(read_signal(((struct ring *)ring)->page), SIGSEGV);
	CHECK_EQ(read_signal(((struct ring *)ring)->data), SIGSEGV);
}

static void child_inherits_no_mapping(void)
{
	struct ring ring;

	mapped_comm(&ring, 4, PROT_READ | PROT_WRITE);
	for (unsigned int round = 1; round <= 10; round++) {
		join_child(start_child(expect_no_mapping, &ring));
		expect_alive(&ring, round);
	}
}

static void read_comm_of_parent(void *ring)
{
	const struct comm_record *comm =
		(const void *)((struct ring *)ring)->data;

	CHECK_EQ(comm->header.type, PERF_RECORD_COMM);
	CHECK_EQ(comm->tid, getppid());
}

static void dofork_gives_the_child_a_mapping(void)
{
	struct ring ring;

	mapped_comm(&ring, 4, PROT_READ | PROT_WRITE);
	rename_task(0);
	CHECK(!madvise(ring.page, ring.length, MADV_DOFORK));
	join_child(start_child(read_comm_of_parent, &ring));
	expect_alive(&ring, 1);
	CHECK(!madvise(ring.page, ring.length, MADV_DONTFORK));
	join_child(start_child(expect_no_mapping, &ring));
	expect_alive(&ring, 2);
	ring_unmap(&ring);
}

static int after_exec(int fd)
{
	struct pollfd state = { .fd = fd, .events = POLLIN };
	struct ring ring;

	CHECK(poll(&state, 1, 0) == 1 && state.revents == POLLHUP);
	ring_map(&ring, fd, 2); /* another size: the old ring is gone */
	rename_task(5);
	expect_comm(&ring, 5);
	return 0;
}

static void exec_unmaps(void)
{
	struct ring ring;
	int fd = mapped_comm(&ring, 8, PROT_READ | PROT_WRITE);
	char number[12];

	CHECK(!fcntl(fd, F_SETFD, 0));
	snprintf(number, sizeof(number), "%d", fd);
	execl("/proc/self/exe", "ring_vma", "--after-exec", number, NULL);
	FAIL("exec: %s", strerror(errno));
}

/* ---- the kernel reads and writes user memory ---- */

static void pipes_take_ring_memory(void)
{
	struct comm_record copies[2];
	int ends[2], file = memfd_create("ring", 0);
	struct iovec from;
	struct ring ring;

	mapped_comm(&ring, 2, PROT_READ | PROT_WRITE);
	rename_task(1);
	from = (struct iovec) { (void *)ring.data, COMM_RECORD };
	CHECK(!pipe(ends));
	CHECK_EQ(write(ends[1], ring.data, COMM_RECORD), COMM_RECORD);
	CHECK_EQ(vmsplice(ends[1], &from, 1, 0), COMM_RECORD);
	for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
		CHECK_EQ(read(ends[0], &copies[i], COMM_RECORD), COMM_RECORD);
		CHECK(!memcmp(&copies[i], ring.data, COMM_RECORD));
	}
	CHECK_EQ(write(file, ring.page, ring.length), ring.length);
}

static void pipes_write_the_user_page_only(void)
{
	uint64_t words[2] = { 0 };
	struct ring ring;
	int ends[2];

	mapped_comm(&ring, 2, PROT_READ | PROT_WRITE);
	CHECK(!pipe(ends));
	CHECK_EQ(write(ends[1], words, sizeof(words)), sizeof(words));
	CHECK_ERRNO(read(ends[0], (void *)ring.data, 8), EFAULT);
	CHECK_EQ(read(ends[0], &ring.page->data_tail, 8), 8);
}

static void proc_mem_obeys_the_same_rules(void)
{
	int mem = open("/proc/self/mem", O_RDWR);
	struct comm_record copy;
	uint64_t word = 0;
	struct ring ring;

	mapped_comm(&ring, 2, PROT_READ | PROT_WRITE);
	rename_task(1);
	CHECK_EQ(pread(mem, &copy, COMM_RECORD, (off_t)ring.data), COMM_RECORD);
	CHECK(!memcmp(&copy, ring.data, COMM_RECORD));
	CHECK_ERRNO(pwrite(mem, &word, 8, (off_t)ring.data), EIO);
	CHECK_EQ(pwrite(mem, &word, 8, (off_t)&ring.page->data_tail), 8);
	expect_comm(&ring, 1);
}

static void other_processes_obey_the_same_rules(void)
{
	struct comm_record copy;
	struct iovec local = { &copy, COMM_RECORD }, remote;
	ssize_t len;
	struct ring ring;

	mapped_comm(&ring, 2, PROT_READ | PROT_WRITE);
	rename_task(1);
	remote = (struct iovec) { (void *)ring.data, COMM_RECORD };
	len = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	if (len < 0 && errno == ENOSYS)
		SKIP("the kernel has no process_vm_readv");
	CHECK_EQ(len, COMM_RECORD);
	CHECK(!memcmp(&copy, ring.data, COMM_RECORD));
	CHECK_ERRNO(process_vm_writev(getpid(), &local, 1, &remote, 1, 0),
		    EFAULT);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(writable_ring_takes_writes_to_its_user_page_only),
		CASE(readable_ring_takes_no_writes),
		CASE(forbidden_ring_takes_no_access),
		CASE(fresh_ring_is_zero),
		CASE(closed_fd_leaves_the_ring_alive),
		CASE(partial_munmap_is_refused),
		CASE(mapping_over_a_part_is_refused),
		CASE(partial_mprotect_is_refused),
		CASE(mprotect_of_the_whole_works),
		CASE(mprotect_leaves_the_mode_alone),
		CASE(mlock_changes_nothing),
		CASE(mremap_moves_a_live_ring),
		CASE(mremap_changes_no_size),
		CASE(mremap_makes_no_copy),
		CASE(madvise_keeps_the_content),
		CASE(madvise_refuses_what_would_harm),
		CASE(madvise_that_would_split_is_refused),
		CASE(child_inherits_no_mapping),
		CASE(dofork_gives_the_child_a_mapping),
		CASE(exec_unmaps),
		CASE(pipes_take_ring_memory),
		CASE(pipes_write_the_user_page_only),
		CASE(proc_mem_obeys_the_same_rules),
		CASE(other_processes_obey_the_same_rules),
	};

	if (argc == 3 && !strcmp(argv[1], "--after-exec"))
		return after_exec(atoi(argv[2]));
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
