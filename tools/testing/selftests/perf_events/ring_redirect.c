// SPDX-License-Identifier: GPL-2.0
/*
 * Several events, one ring: where the records go, and which redirections are
 * refused.
 */
#include "perf_ring_task.h"

#include <fcntl.h>
#include <time.h>

/* ---- where records go ---- */

static void two_events_share_one_ring(void)
{
	int first = open_signed(), second = open_signed();
	struct ring ring;

	ring_map(&ring, first, 1);
	CHECK(!set_output(second, first));
	for (unsigned int seq = 0; seq < 500; seq++) {
		rename_task(seq);
		expect_signed_pair(&ring, seq, first, second);
		expect_end(&ring);
		ring_release(&ring);
	}
	disable(first);
	rename_task(1);
	expect_signed(&ring, 1, second);
	expect_end(&ring);
}

static void detached_event_drops_silently(void)
{
	int first = open_signed(), second = open_signed();
	struct ring ring;

	ring_map(&ring, first, 1);
	CHECK(!set_output(second, first));
	CHECK(!set_output(second, -1));
	CHECK(!set_output(second, -1));
	rename_tasks(0, 3);
	for (unsigned int seq = 0; seq < 3; seq++)
		expect_signed(&ring, seq, first);
	expect_end(&ring);
	CHECK_EQ(lost_of(second), 0);
	CHECK_EQ(poll_now(second), POLLHUP);
}

static void redirection_may_change_at_any_time(void)
{
	int targets[2] = { open_signed(), open_signed() };
	int event = open_signed();
	struct ring rings[2];

	for (int i = 0; i < 2; i++) {
		ring_map(&rings[i], targets[i], 1);
		disable(targets[i]);
	}
	for (unsigned int seq = 0; seq < 60; seq++) {
		struct ring *ring = &rings[seq % 3 % 2];

		CHECK(!set_output(event, targets[seq % 3 % 2]));
		rename_task(seq);
		expect_signed(ring, seq, event);
		ring_release(ring);
	}
	expect_end(&rings[0]);
	expect_end(&rings[1]);
}

static void chains_end_in_the_first_ring(void)
{
	int first = open_signed(), second = open_signed();
	int third = open_signed();
	struct ring ring;

	CHECK_ERRNO(set_output(third, second), EINVAL);
	ring_map(&ring, first, 1);
	CHECK_ERRNO(set_output(third, second), EINVAL);
	CHECK(!set_output(second, first));
	CHECK(!set_output(third, second));
	disable(first);
	rename_task(1);
	expect_signed_pair(&ring, 1, second, third);
	CHECK(!set_output(second, -1)); /* the third stays where it is */
	rename_task(2);
	expect_signed(&ring, 2, third);
	expect_end(&ring);
}

static void ring_without_data_takes_no_records(void)
{
	int first = open_signed(), second = open_signed();
	struct ring ring;

	ring_map(&ring, first, 0);
	CHECK(!set_output(second, first));
	rename_tasks(0, 10);
	CHECK_EQ(ring_head(&ring), 0);
	CHECK_EQ(lost_of(second), 0);
}

static void open_can_redirect(void)
{
	struct perf_event_attr attr = signed_attr();
	unsigned long alone = PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP;
	int first = open_signed(), second, third;
	struct ring ring;

	CHECK_ERRNO(perf_open(&attr, 0, -1, first, alone), EINVAL);
	CHECK_ERRNO(perf_open(&attr, 0, -1, first, PERF_FLAG_FD_OUTPUT),
		    EINVAL);
	CHECK(perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_OUTPUT) >= 0);
	ring_map(&ring, first, 1);
	second = perf_open(&attr, 0, -1, first, alone);
	third = perf_open(&attr, 0, -1, first, PERF_FLAG_FD_OUTPUT);
	CHECK(second >= 0 && third >= 0);
	disable(first);
	disable(third);
	rename_task(1);
	expect_signed(&ring, 1, second);
	disable(second);
	enable(first); /* third is in its group, second is not */
	enable(third);
	rename_task(2);
	expect_signed_pair(&ring, 2, first, third);
	expect_end(&ring);
}

static void rename_once(void *unused)
{
	(void)unused;
	rename_task(7);
}

/* It cannot be mapped itself, yet it may write where another is mapped. */
static void inherited_task_event_may_be_redirected(void)
{
	struct perf_event_attr attr = signed_attr();
	int first, inherited;
	struct ring ring;
	pid_t child;

	first = open_self(&attr);
	attr.inherit = 1;
	attr.read_format = 0;
	inherited = open_self(&attr);
	ring_map(&ring, first, 1);
	CHECK(!set_output(inherited, first));
	disable(first);
	child = start_child(rename_once, NULL);
	join_child(child);
	expect_type(&ring, PERF_RECORD_FORK);
	expect_type(&ring, PERF_RECORD_COMM);
	CHECK_EQ(ring.record.comm.tid, child);
	CHECK_EQ(ring.record.words[COMM_RECORD / 8], event_id(inherited));
	expect_type(&ring, PERF_RECORD_EXIT);
	expect_end(&ring);
}

/* ---- what is refused ---- */

static void self_is_refused(void)
{
	struct ring ring;
	int fd = open_signed();

	CHECK_ERRNO(set_output(fd, fd), EINVAL);
	ring_map(&ring, fd, 1);
	CHECK_ERRNO(set_output(fd, fd), EINVAL);
}

static void other_cpu_is_refused(void)
{
	struct perf_event_attr attr = signed_attr();
	struct ring ring;
	int first, any, second;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("needs two CPUs");
	first = open_on(&attr, 0, 0);
	second = open_on(&attr, 0, 1);
	any = open_self(&attr);
	ring_map(&ring, first, 1);
	CHECK_ERRNO(set_output(second, first), EINVAL);
	CHECK_ERRNO(set_output(any, first), EINVAL);
	CHECK(!set_output(open_on(&attr, 0, 0), first));
	CHECK(!set_output(open_on(&attr, -1, 0), first));
}

static void other_task_is_refused(void)
{
	struct sleeping_task task = start_sleeping(NULL);
	struct perf_event_attr attr = signed_attr();
	int first = open_self(&attr), other = open_on(&attr, task.pid, -1);
	struct ring ring, cpu_ring;

	ring_map(&ring, first, 1);
	CHECK_ERRNO(set_output(other, first), EINVAL);
	first = open_on(&attr, 0, 0); /* one ring for all tasks of a CPU */
	ring_map(&cpu_ring, first, 1);
	CHECK(!set_output(open_on(&attr, task.pid, 0), first));
	end_task(&task);
}

static void other_clock_is_refused(void)
{
	struct perf_event_attr attr = signed_attr();
	int plain = open_self(&attr), monotonic, raw;
	struct ring plain_ring, ring;

	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC_RAW;
	raw = open_self(&attr);
	attr.clockid = CLOCK_MONOTONIC;
	monotonic = open_self(&attr);
	ring_map(&plain_ring, plain, 1);
	ring_map(&ring, monotonic, 1);
	CHECK_ERRNO(set_output(raw, plain), EINVAL);
	CHECK_ERRNO(set_output(raw, monotonic), EINVAL);
	CHECK(!set_output(open_self(&attr), monotonic));
}

static void mapped_event_is_refused(void)
{
	int first = open_signed(), second = open_signed();
	struct ring first_ring, second_ring;

	ring_map(&first_ring, first, 1);
	ring_map(&second_ring, second, 1);
	CHECK_ERRNO(set_output(second, first), EINVAL);
	CHECK_ERRNO(set_output(second, -1), EINVAL);
	ring_unmap(&second_ring);
	CHECK(!set_output(second, first));
	ring_map(&second_ring, second, 1);
	CHECK_ERRNO(set_output(second, -1), EINVAL);
}

static void unmapped_target_is_refused(void)
{
	int first = open_signed(), second = open_signed();
	struct ring ring;

	CHECK_ERRNO(set_output(second, first), EINVAL);
	ring_map(&ring, first, 1);
	CHECK(!set_output(second, first));
	ring_unmap(&ring);
	CHECK_ERRNO(set_output(second, first), EINVAL);
}

static void other_files_are_refused(void)
{
	struct ring ring;
	int fd = open_signed(), ends[2], closed;

	CHECK(!pipe(ends));
	ring_map(&ring, open_signed(), 1);
	closed = dup(ends[0]);
	close(closed);
	CHECK_ERRNO(set_output(fd, ends[0]), EBADF);
	CHECK_ERRNO(set_output(fd, closed), EBADF);
	CHECK_ERRNO(set_output(fd, -2), EBADF);
	CHECK_ERRNO(set_output(fd, 0xffffffff), EBADF); /* no -1 of 64 bits */
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(two_events_share_one_ring),
		CASE(detached_event_drops_silently),
		CASE(redirection_may_change_at_any_time),
		CASE(chains_end_in_the_first_ring),
		CASE(ring_without_data_takes_no_records),
		CASE(open_can_redirect),
		CASE(inherited_task_event_may_be_redirected),
		CASE(self_is_refused),
		CASE(other_cpu_is_refused),
		CASE(other_task_is_refused),
		CASE(other_clock_is_refused),
		CASE(mapped_event_is_refused),
		CASE(unmapped_target_is_refused),
		CASE(other_files_are_refused),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
