// SPDX-License-Identifier: GPL-2.0
/*
 * What perf_event_open() refuses, and with which error: attributes, groups and
 * targets that cannot be, and what a plain user may not sample.
 */
#include "perf_ring_sample.h"

#include <grp.h>
#include <linux/hw_breakpoint.h>
#include <stddef.h>
#include <time.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define PLAIN_USER 12345

/* The structs that longer and shorter programs than this one know. */
union sized_attr {
	struct perf_event_attr attr;
	uint8_t bytes[16384];
};

static union sized_attr sized;

static struct perf_event_attr good_attr(void)
{
	return minor_fault_attr(PERF_SAMPLE_IP);
}

static int open_attr(const struct perf_event_attr *attr)
{
	return perf_open(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* A macro, so that a failure names the line that asked. */
#define refused(attr, error) CHECK_ERRNO(open_attr(attr), error)

static void accepted(const struct perf_event_attr *attr)
{
	int fd = open_attr(attr);

	CHECK(fd >= 0);
	close(fd);
}

/* ---- the size of the struct ---- */

static void with_size(uint32_t size, int error)
{
	sized.attr.size = size;
	if (!error) {
		accepted(&sized.attr);
		return;
	}
	refused(&sized.attr, error);
	CHECK(sized.attr.size >= PERF_ATTR_SIZE_VER0); /* what the kernel has */
	CHECK(sized.attr.size % 8 == 0 && sized.attr.size < page_size());
}

static void each_size_of_the_struct_is_known(void)
{
	static const uint32_t known[] = {
		0, PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER1,
		PERF_ATTR_SIZE_VER2, PERF_ATTR_SIZE_VER3, PERF_ATTR_SIZE_VER4,
		PERF_ATTR_SIZE_VER5, PERF_ATTR_SIZE_VER6, PERF_ATTR_SIZE_VER7,
		PERF_ATTR_SIZE_VER8,
	};

	sized.attr = good_attr();
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		with_size(known[i], 0);
	for (uint32_t size = 1; size < PERF_ATTR_SIZE_VER0; size++)
		with_size(size, E2BIG);
}

static void a_longer_struct_has_to_end_in_zeroes(void)
{
	uint32_t page = (uint32_t)page_size(), own;

	sized.attr = good_attr();
	with_size(page + 1, E2BIG);
	own = sized.attr.size;
	with_size(own, 0);
	with_size(own + 8, 0);
	with_size(page, 0);
	for (uint32_t at = own; at < page; at += 61) {
		sized.bytes[at] = 1;
		with_size(page, E2BIG);
		CHECK_EQ(sized.attr.size, own);
		with_size(own, 0);
		sized.bytes[at] = 0;
	}
	with_size(page + 8, E2BIG);
	with_size(UINT32_MAX, E2BIG);
}

static void a_struct_that_is_not_there_is_a_fault(void)
{
	CHECK_ERRNO(open_attr(NULL), EFAULT);
	CHECK_ERRNO(open_attr((const void *)8), EFAULT);
}

/* ---- members ---- */

static void reserved_bits_are_refused(void)
{
	const size_t first_flags = offsetof(struct perf_event_attr, read_format)
		+ 8;

	for (int bit = 38; bit < 64; bit++) { /* behind sigtrap */
		struct perf_event_attr attr = good_attr();
		uint64_t flags;

		memcpy(&flags, (uint8_t *)&attr + first_flags, 8);
		flags |= 1ULL << bit;
		memcpy((uint8_t *)&attr + first_flags, &flags, 8);
		refused(&attr, EINVAL);
	}
	for (int bit = 0; bit < 32; bit++) {
		struct perf_event_attr attr = good_attr();

		attr.__reserved_2 = (uint16_t)(1u << bit % 16);
		refused(&attr, EINVAL);
		attr.__reserved_2 = 0;
		attr.aux_action = bit > 2 ? 1u << bit : 8;
		refused(&attr, EINVAL);
	}
}

static void unknown_events_are_not_found(void)
{
	struct perf_event_attr attr = good_attr();

	attr.config = PERF_COUNT_SW_MAX;
	refused(&attr, ENOENT);
	attr.config = 1000;
	refused(&attr, ENOENT);
	attr = good_attr();
	attr.type = 0x7fffffff;
	refused(&attr, ENOENT);
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = 0x7fffffff;
	refused(&attr, EINVAL);
}

static void breakpoints_that_cannot_be_are_refused(void)
{
	static uint64_t watched;
	struct perf_event_attr attr = good_attr();

	attr.type = PERF_TYPE_BREAKPOINT;
	attr.config = 0;
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = (uintptr_t)&watched + 1; /* not aligned */
	attr.bp_len = HW_BREAKPOINT_LEN_8;
	refused(&attr, EINVAL);
	attr.bp_addr--;
	attr.bp_len = 3;
	refused(&attr, EINVAL);
	attr.bp_len = HW_BREAKPOINT_LEN_8;
	attr.bp_type = HW_BREAKPOINT_EMPTY;
	refused(&attr, EINVAL);
	attr.bp_type = HW_BREAKPOINT_X | HW_BREAKPOINT_W;
	refused(&attr, EINVAL);
}

static void aux_needs_an_aux_event(void)
{
	struct perf_event_attr attr = good_attr();

	attr.aux_output = 1;
	refused(&attr, EOPNOTSUPP);
	attr = good_attr();
	attr.aux_start_paused = 1;
	refused(&attr, EOPNOTSUPP);
	attr = good_attr();
	attr.aux_pause = 1;
	refused(&attr, EINVAL); /* no leader */
	attr.aux_resume = 1;
	refused(&attr, EINVAL); /* both */
}

/* ---- targets ---- */

static void targets_that_cannot_be_are_refused(void)
{
	struct perf_event_attr attr = good_attr();
	struct sleeping_task task = start_sleeping(NULL);
	int cpus = (int)sysconf(_SC_NPROCESSORS_CONF);

	CHECK_ERRNO(perf_open(&attr, -1, -1, -1, 0), EINVAL);
	CHECK_ERRNO(perf_open(&attr, 0, -2, -1, 0), EINVAL);
	CHECK_ERRNO(perf_open(&attr, 0, 1000000, -1, 0), EINVAL);
	CHECK_ERRNO(perf_open(&attr, -1, 1000000, -1, 0), EINVAL);
	CHECK(perf_open(&attr, -1, cpus - 1, -1, 0) >= 0);
	CHECK(perf_open(&attr, task.pid, -1, -1, 0) >= 0);
	end_task(&task);
	CHECK_ERRNO(perf_open(&attr, task.pid, -1, -1, 0), ESRCH);
	CHECK_ERRNO(perf_open(&attr, 0x7fffffff, -1, -1, 0), ESRCH);
}

static void unknown_flags_are_refused(void)
{
	struct perf_event_attr attr = good_attr();

	for (int bit = 4; bit < 64; bit++)
		CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 1UL << bit), EINVAL);
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, PERF_FLAG_PID_CGROUP), EINVAL);
	CHECK_ERRNO(perf_open(&attr, -1, 0, -1, PERF_FLAG_PID_CGROUP), EINVAL);
	CHECK_ERRNO(perf_open(&attr, 999, 0, -1, PERF_FLAG_PID_CGROUP), EBADF);
}

static void leaders_that_cannot_be_are_refused(void)
{
	struct perf_event_attr attr = good_attr(), member = good_attr();
	int leader = open_attr(&attr), second, file;

	file = open("/dev/null", O_RDONLY);
	CHECK_ERRNO(perf_open(&attr, 0, -1, 999, 0), EBADF);
	CHECK_ERRNO(perf_open(&attr, 0, -1, file, 0), EBADF);
	CHECK_ERRNO(perf_open(&attr, 0, -1, -2, 0), EBADF);
	second = perf_open(&attr, 0, -1, leader, 0);
	CHECK(second >= 0);
	CHECK_ERRNO(perf_open(&attr, 0, -1, second, 0), EINVAL);
	CHECK_ERRNO(perf_open(&attr, 0, 0, leader, 0), EINVAL);
	CHECK_ERRNO(perf_open(&attr, -1, 0, leader, 0), EINVAL);
	CHECK_ERRNO(perf_open(&attr, getppid(), -1, leader, 0), EINVAL);
	member.pinned = 1;
	CHECK_ERRNO(perf_open(&member, 0, -1, leader, 0), EINVAL);
	member.pinned = 0;
	member.exclusive = 1;
	CHECK_ERRNO(perf_open(&member, 0, -1, leader, 0), EINVAL);
	member.exclusive = 0;
	member.use_clockid = 1;
	member.clockid = CLOCK_MONOTONIC;
	CHECK_ERRNO(perf_open(&member, 0, -1, leader, 0), EINVAL);
}

/* ---- users without rights ---- */

static void become_plain(void)
{
	CHECK(!setgroups(0, NULL));
	CHECK(!setresgid(PLAIN_USER, PLAIN_USER, PLAIN_USER));
	CHECK(!setresuid(PLAIN_USER, PLAIN_USER, PLAIN_USER));
}

static void open_as_plain_user(void *arg)
{
	pid_t roots_task = *(pid_t *)arg;
	struct perf_event_attr attr = good_attr();

	become_plain();
	accepted(&attr);
	CHECK_ERRNO(perf_open(&attr, -1, 0, -1, 0), EACCES);
	CHECK_ERRNO(perf_open(&attr, roots_task, -1, -1, 0), EACCES);
	attr.exclude_kernel = 0;
	refused(&attr, EACCES);
	attr = minor_fault_attr(PERF_SAMPLE_PHYS_ADDR);
	refused(&attr, EACCES);
	attr = minor_fault_attr(PERF_SAMPLE_CALLCHAIN);
	refused(&attr, EACCES);
	attr.exclude_callchain_kernel = 1;
	accepted(&attr);
	attr = good_attr();
	attr.text_poke = 1;
	refused(&attr, EACCES);
	attr = good_attr();
	attr.namespaces = 1;
	refused(&attr, EACCES);
	attr = minor_fault_attr(PERF_SAMPLE_REGS_INTR);
	attr.sample_regs_intr = 1;
	accepted(&attr);
}

static void a_plain_user_samples_own_user_code(void)
{
	struct sleeping_task task = start_sleeping(NULL);
	int level, status;
	pid_t pid;

	if (geteuid() || !sysctl_get(PARANOID, &level) ||
	    !sysctl_set(PARANOID, 2))
		SKIP("not root");
	pid = start_child(open_as_plain_user, &task.pid);
	CHECK(waitpid(pid, &status, 0) == pid);
	sysctl_set(PARANOID, level);
	CHECK_EQ(status, 0);
	end_task(&task);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(each_size_of_the_struct_is_known),
		CASE(a_longer_struct_has_to_end_in_zeroes),
		CASE(a_struct_that_is_not_there_is_a_fault),
		CASE(reserved_bits_are_refused),
		CASE(unknown_events_are_not_found),
		CASE(breakpoints_that_cannot_be_are_refused),
		CASE(aux_needs_an_aux_event),
		CASE(targets_that_cannot_be_are_refused),
		CASE(unknown_flags_are_refused),
		CASE(leaders_that_cannot_be_are_refused),
		CASE(a_plain_user_samples_own_user_code),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
