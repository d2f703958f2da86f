// SPDX-License-Identifier: GPL-2.0
/*
 * What is left of a shared ring when its events are unmapped, closed or
 * detached, in whatever order, and what those see who wait on it.
 */
#include "perf_ring_task.h"

#include <pthread.h>

static void unmapping_the_target_detaches_all(void)
{
	int first = open_signed(), second = open_signed();
	int third = open_signed();
	struct ring ring;

	ring_map(&ring, first, 1);
	CHECK(!set_output(second, first));
	CHECK(!set_output(third, second));
	CHECK_EQ(poll_now(second), 0);
	ring_unmap(&ring);
	CHECK_EQ(poll_now(first), POLLHUP);
	CHECK_EQ(poll_now(second), POLLHUP);
	CHECK_EQ(poll_now(third), POLLHUP);
	rename_tasks(0, 10);
	CHECK_EQ(lost_of(second), 0);
	ring_map(&ring, second, 4); /* a ring of its own, of any size */
	rename_task(1);
	expect_signed(&ring, 1, second);
	expect_end(&ring);
}

static void redirected_event_maps_the_same_ring(void)
{
	int first = open_signed(), second = open_signed();
	struct ring ring, same;

	ring_map(&ring, first, 2);
	CHECK(!set_output(second, first));
	CHECK_ERRNO(map_pages(second, 2, PROT_READ), EINVAL);
	CHECK_ERRNO(map_pages(second, 5, PROT_READ), EINVAL);
	ring_map(&same, second, 2);
	disable(second);
	rename_task(1);
	expect_signed(&ring, 1, first);
	expect_signed(&same, 1, first);
	ring_release(&same);
	CHECK_EQ(ring.page->data_tail, COMM_RECORD + 8);
}

/* Who has no mapping left is detached, though others keep the ring. */
static void ring_outlives_its_first_event(void)
{
	int first = open_signed(), second = open_signed();
	int third = open_signed();
	struct ring ring, same;

	ring_map(&ring, first, 1);
	CHECK(!set_output(second, first));
	CHECK(!set_output(third, first));
	ring_map(&same, second, 1);
	ring_unmap(&ring);
	rename_task(1);
	expect_signed_pair(&same, 1, second, third);
	expect_end(&same);
	CHECK_EQ(poll_now(first), POLLHUP);
	CHECK(!set_output(first, second));
	disable(second);
	disable(third);
	rename_task(2);
	expect_signed(&same, 2, first);
	ring_unmap(&same);
	CHECK_EQ(poll_now(third), POLLHUP);
}

static void target_may_close_first(void)
{
	int first = open_signed(), second = open_signed();
	struct ring ring;

	ring_map(&ring, first, 1);
	CHECK(!set_output(second, first));
	disable(first);
	close(first); /* the mapping keeps the event */
	rename_task(1);
	expect_signed(&ring, 1, second);
	ring_unmap(&ring);
	CHECK_EQ(poll_now(second), POLLHUP);
	rename_task(2);
}

static void redirected_event_may_close_first(void)
{
	int first = open_signed();
	struct ring ring;

	ring_map(&ring, first, 1);
	for (unsigned int round = 0; round < 200; round++) {
		int second = open_signed();

		CHECK(!set_output(second, first));
		rename_task(round);
		expect_signed_pair(&ring, round, first, second);
		close(second);
		rename_task(round);
		expect_signed(&ring, round, first);
		expect_end(&ring);
		ring_release(&ring);
	}
}

static void everything_may_close_before_the_unmap(void)
{
	for (int order = 0; order < 4; order++) {
		int fds[2] = { open_signed(), open_signed() };
		struct ring ring, same;

		ring_map(&ring, fds[0], 1);
		CHECK(!set_output(fds[1], fds[0]));
		ring_map(&same, fds[1], 1);
		close(fds[order & 1]);
		close(fds[!(order & 1)]);
		rename_task(1);
		expect_comm(&ring, 1);
		expect_comm(&same, 1);
		ring_unmap(order & 2 ? &ring : &same);
		rename_task(2);
		ring_unmap(order & 2 ? &same : &ring);
		rename_task(3);
	}
}

/* ---- pollers ---- */

static void poll_of_a_redirected_event_sees_the_ring(void)
{
	struct perf_event_attr attr = signed_attr();
	int first, second;
	struct ring ring;

	attr.watermark = 1;
	attr.wakeup_watermark = 1;
	first = open_self(&attr);
	second = open_self(&attr);
	ring_map(&ring, first, 1);
	CHECK(!set_output(second, first));
	CHECK_EQ(poll_now(second), 0);
	disable(second);
	rename_task(1);
	CHECK_EQ(poll_now(second), POLLIN);
	CHECK_EQ(poll_now(first), 0); /* one state for the ring, taken once */
	rename_task(2);
	CHECK_EQ(poll_now(first), POLLIN);
	CHECK_EQ(poll_now(second), 0);
}

struct sleeper {
	int fd;
	short events;
};

static void *sleep_in_poll(void *arg)
{
	struct sleeper *sleeper = arg;
	struct pollfd state = { .fd = sleeper->fd, .events = POLLIN };

	CHECK_EQ(poll(&state, 1, 10000), 1);
	sleeper->events = state.revents;
	return NULL;
}

static void detaching_wakes_sleepers(void)
{
	for (int how = 0; how < 2; how++) {
		int first = open_signed(), second = open_signed();
		struct sleeper sleeper = { .fd = second };
		pthread_t thread;
		struct ring ring;

		ring_map(&ring, first, 1);
		CHECK(!set_output(second, first));
		CHECK(!pthread_create(&thread, NULL, sleep_in_poll, &sleeper));
		usleep(50000);
		if (how)
			CHECK(!set_output(second, -1));
		else
			ring_unmap(&ring);
		CHECK(!pthread_join(thread, NULL));
		CHECK_EQ(sleeper.events, POLLHUP);
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(unmapping_the_target_detaches_all),
		CASE(redirected_event_maps_the_same_ring),
		CASE(ring_outlives_its_first_event),
		CASE(target_may_close_first),
		CASE(redirected_event_may_close_first),
		CASE(everything_may_close_before_the_unmap),
		CASE(poll_of_a_redirected_event_sees_the_ring),
		CASE(detaching_wakes_sleepers),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
