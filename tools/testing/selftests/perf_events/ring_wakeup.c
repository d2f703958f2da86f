// SPDX-License-Identifier: GPL-2.0
/*
 * When poll() and epoll learn of a ring's records, and what they say of a ring
 * that is missing, empty, frozen or left by its task.
 *
 * A byte watermark is crossed by the record that takes the head more than that
 * far beyond the last mark; the mark then moves by one watermark. One crossing
 * is told to one poll() call, whichever event of the ring it asks.
 */
#include "perf_ring_task.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>

/* ---- by events ---- */

static void every_nth_sample_wakes(void)
{
	struct fault_area area = fault_area(1);

	for (uint32_t n = 1; n <= 9; n++) {
		struct perf_event_attr attr = fault_attr();
		struct ring ring;
		int fd;

		attr.wakeup_events = n;
		fd = open_self(&attr);
		ring_map(&ring, fd, 4);
		for (uint32_t i = 1; i <= 5 * n; i++) {
			sample_faults(fd, &area, 1);
			CHECK_EQ(poll_now(fd), i % n ? 0 : POLLIN);
			CHECK_EQ(poll_now(fd), 0);
		}
		ring_unmap(&ring);
		close(fd);
	}
}

static void only_samples_count_as_events(void)
{
	struct perf_event_attr attr = fault_attr();
	struct fault_area area = fault_area(1);
	struct ring ring;
	int fd;

	attr.comm = 1;
	attr.wakeup_events = 2;
	fd = open_self(&attr);
	ring_map(&ring, fd, 4);
	for (int round = 0; round < 20; round++) {
		enable(fd);
		rename_tasks(0, 5);
		CHECK_EQ(poll_now(fd), 0);
		sample_faults(fd, &area, 1);
		CHECK_EQ(poll_now(fd), round % 2 ? POLLIN : 0);
		ring_drain(&ring);
	}
}

/* ---- by bytes ---- */

struct watermark {
	uint64_t bytes, mark;
};

static bool watermark_crossed(struct watermark *watermark, uint64_t head)
{
	if (head - watermark->mark <= watermark->bytes)
		return false;
	watermark->mark += watermark->bytes;
	return true;
}

static void expect_crossings(const struct perf_event_attr *attr, size_t pages,
			     int prot, uint64_t bytes)
{
	struct watermark watermark = { .bytes = bytes };
	struct ring ring;
	int fd = open_self(attr);

	ring_map_as(&ring, fd, pages, prot);
	for (unsigned int i = 0; i < 600; i++) {
		uint64_t head;
		bool crossed;

		rename_task(i);
		head = ring_head(&ring);
		if (attr->write_backward)
			head = -head;
		crossed = watermark_crossed(&watermark, head);
		CHECK_EQ(poll_now(fd), crossed ? POLLIN : 0);
		if (prot & PROT_WRITE)
			ring_drain(&ring);
	}
	ring_unmap(&ring);
	close(fd);
}

static void each_watermark_crossing_wakes(void)
{
	static const uint32_t watermarks[] = { 1, 8, 23, 24, 25, 47, 48, 49,
					       100, 240, 1000, 4095, 4096 };

	for (size_t i = 0; i < ARRAY_LEN(watermarks); i++) {
		struct perf_event_attr attr = watermark_attr(watermarks[i]);

		expect_crossings(&attr, 1, PROT_READ | PROT_WRITE,
				 watermarks[i]);
		attr.sample_id_all = 1;
		attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
		expect_crossings(&attr, 1, PROT_READ | PROT_WRITE,
				 watermarks[i]);
	}
}

/* The number is one of bytes then, not one of samples. */
static void samples_cross_watermarks_too(void)
{
	struct watermark watermark = { .bytes = 100 };
	struct perf_event_attr attr = fault_attr();
	struct fault_area area = fault_area(1);
	struct ring ring;
	int fd;

	attr.watermark = 1;
	attr.wakeup_watermark = 100;
	fd = open_self(&attr);
	ring_map(&ring, fd, 1);
	for (int i = 0; i < 200; i++) {
		bool crossed;

		sample_faults(fd, &area, 1);
		crossed = watermark_crossed(&watermark, ring_head(&ring));
		CHECK_EQ(poll_now(fd), crossed ? POLLIN : 0);
		ring_drain(&ring);
	}
}

static void no_watermark_means_half_the_ring(void)
{
	for (size_t pages = 1; pages <= 2; pages *= 2) {
		struct perf_event_attr attr = watermark_attr(0);

		expect_crossings(&attr, pages, PROT_READ | PROT_WRITE,
				 pages * page_size() / 2);
		attr = comm_attr();
		expect_crossings(&attr, pages, PROT_READ | PROT_WRITE,
				 pages * page_size() / 2);
	}
}

static void watermark_is_at_most_the_ring(void)
{
	static const uint32_t watermarks[] = { 4097, 8192, 1u << 20, 1u << 31,
					       UINT32_MAX };

	for (size_t i = 0; i < ARRAY_LEN(watermarks); i++) {
		struct perf_event_attr attr = watermark_attr(watermarks[i]);

		expect_crossings(&attr, 1, PROT_READ | PROT_WRITE, page_size());
	}
}

/* Whoever waits for a ring to be full waits for ever. */
static void refused_records_wake_nobody(void)
{
	struct perf_event_attr attr = watermark_attr(UINT32_MAX);
	struct ring ring;
	int fd = open_self(&attr);

	ring_map(&ring, fd, 1);
	rename_tasks(0, 1000);
	CHECK_EQ(poll_now(fd), 0);
	ring_drain(&ring);
	CHECK_EQ(poll_now(fd), 0);
	rename_task(1); /* LOST goes along: 4080 + 48 bytes */
	CHECK_EQ(poll_now(fd), POLLIN);
}

static void paused_ring_wakes_nobody(void)
{
	struct perf_event_attr attr = watermark_attr(1);
	struct ring ring;
	int fd = open_self(&attr);

	ring_map(&ring, fd, 1);
	CHECK(!pause_output(fd, 1));
	rename_tasks(0, 20);
	CHECK_EQ(poll_now(fd), 0);
	CHECK(!pause_output(fd, 0));
	CHECK_EQ(poll_now(fd), 0);
	rename_task(1);
	CHECK_EQ(poll_now(fd), POLLIN);
}

static void overwrite_rings_wake_too(void)
{
	struct perf_event_attr attr = watermark_attr(200);

	expect_crossings(&attr, 1, PROT_READ, 200);
	attr.write_backward = 1;
	expect_crossings(&attr, 1, PROT_READ, 200);
}

/* ---- what poll says ---- */

static void poll_says_readable_once(void)
{
	struct perf_event_attr attr = watermark_attr(1);
	struct pollfd state = { .events = ~0 };
	struct ring ring;

	state.fd = open_self(&attr);
	ring_map(&ring, state.fd, 1);
	CHECK_EQ(poll(&state, 1, 0), 0);
	rename_tasks(0, 5);
	ring_drain(&ring); /* reading does not take the state away */
	CHECK_EQ(poll(&state, 1, 0), 1);
	CHECK_EQ(state.revents, POLLIN | POLLRDNORM);
	CHECK_EQ(poll(&state, 1, 0), 0);
}

static void no_ring_says_hangup(void)
{
	struct pollfd state = { .events = ~0 };
	struct ring ring;

	state.fd = open_comm();
	CHECK_EQ(poll(&state, 1, 0), 1);
	CHECK_EQ(state.revents, POLLHUP);
	ring_map(&ring, state.fd, 0);
	rename_tasks(0, 10);
	CHECK_EQ(poll(&state, 1, 0), 0);
	ring_unmap(&ring);
	CHECK_EQ(poll(&state, 1, 0), 1);
	CHECK_EQ(state.revents, POLLHUP);
}

static void rename_once(void)
{
	rename_task(1);
}

static void sleep_a_little(void)
{
	usleep(100000);
}

/* Two pipes: commands to a helper, and its answers. */
static void open_pipes(int to[2], int from[2])
{
	CHECK(!pipe2(to, O_CLOEXEC));
	CHECK(!pipe2(from, O_CLOEXEC));
}

static void exit_of_the_task_says_hangup_only(void)
{
	struct sleeping_task task = start_sleeping(rename_once);
	struct perf_event_attr attr = watermark_attr(1);
	struct pollfd state = { .events = ~0 };
	struct ring ring;

	state.fd = open_on(&attr, task.pid, -1);
	ring_map(&ring, state.fd, 1);
	end_task(&task); /* the record is unread, the wake-up untold */
	CHECK_EQ(poll(&state, 1, 0), 1);
	CHECK_EQ(state.revents, POLLHUP);
	CHECK_EQ(poll(&state, 1, 0), 1);
	CHECK_EQ(state.revents, POLLHUP);
	CHECK(ring_next(&ring));
}

static void exit_of_the_task_wakes(void)
{
	struct sleeping_task task = start_sleeping(sleep_a_little);
	struct perf_event_attr attr = watermark_attr(UINT32_MAX);
	struct pollfd state = { .events = POLLIN };
	struct ring ring;

	state.fd = open_on(&attr, task.pid, -1);
	ring_map(&ring, state.fd, 1);
	wake_task(&task);
	CHECK_EQ(poll(&state, 1, 10000), 1);
	CHECK_EQ(state.revents, POLLHUP);
	join_child(task.pid);
}

/* Forks a helper that outlives it, once it is told to. */
static void leave_a_grandchild(int to[2], int from[2])
{
	char byte;

	close(to[1]);
	CHECK_EQ(read(to[0], &byte, 1), 1);
	if (!fork()) {
		CHECK_EQ(write(from[1], "x", 1), 1);
		CHECK_EQ(read(to[0], &byte, 1), 0);
		_exit(0);
	}
	_exit(0);
}

static void inherited_events_hold_off_the_hangup(void)
{
	struct perf_event_attr attr = watermark_attr(UINT32_MAX);
	struct pollfd state = { .events = POLLIN };
	int to[2], from[2];
	struct ring ring;
	pid_t child;
	char byte;

	open_pipes(to, from);
	child = fork();
	if (!child)
		leave_a_grandchild(to, from);
	attr.inherit = 1;
	state.fd = open_on(&attr, child, 0);
	ring_map(&ring, state.fd, 1);
	CHECK_EQ(write(to[1], "x", 1), 1);
	CHECK_EQ(read(from[0], &byte, 1), 1);
	join_child(child);
	CHECK_EQ(poll(&state, 1, 100), 0);
	close(to[1]);
	CHECK_EQ(poll(&state, 1, 10000), 1);
	CHECK_EQ(state.revents, POLLHUP);
}

/* ---- sleepers ---- */

struct sleeper {
	int fd;
	int woken;
};

static void *sleep_in_poll(void *arg)
{
	struct sleeper *sleeper = arg;
	struct pollfd state = { .fd = sleeper->fd, .events = POLLIN };

	CHECK_EQ(poll(&state, 1, 15000), 1);
	CHECK_EQ(state.revents, POLLIN);
	__atomic_store_n(&sleeper->woken, 1, __ATOMIC_RELEASE);
	return NULL;
}

static int woken(struct sleeper *sleepers, int nr)
{
	int sum = 0;

	for (int i = 0; i < nr; i++)
		sum += __atomic_load_n(&sleepers[i].woken, __ATOMIC_ACQUIRE);
	return sum;
}

static void a_sleeper_wakes_at_the_nth_sample(void)
{
	struct perf_event_attr attr = fault_attr();
	struct sleeper sleeper = { 0 };
	struct fault_area area = fault_area(1);
	pthread_t thread;
	struct ring ring;

	attr.wakeup_events = 3;
	sleeper.fd = open_self(&attr);
	ring_map(&ring, sleeper.fd, 1);
	CHECK(!pthread_create(&thread, NULL, sleep_in_poll, &sleeper));
	usleep(50000);
	sample_faults(sleeper.fd, &area, 1);
	sample_faults(sleeper.fd, &area, 1);
	usleep(100000);
	CHECK_EQ(woken(&sleeper, 1), 0);
	sample_faults(sleeper.fd, &area, 1);
	CHECK(!pthread_join(thread, NULL));
}

/* Both wake, one finds the state; the other sleeps on until the next. */
static void each_wakeup_is_told_to_one_sleeper(void)
{
	struct perf_event_attr attr = fault_attr();
	struct sleeper sleepers[2] = { 0 };
	struct fault_area area = fault_area(1);
	pthread_t threads[2];
	struct ring ring;

	attr.wakeup_events = 1;
	for (int i = 0; i < 2; i++)
		sleepers[i].fd = open_self(&attr);
	ring_map(&ring, sleepers[0].fd, 1);
	CHECK(!set_output(sleepers[1].fd, sleepers[0].fd));
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&threads[i], NULL, sleep_in_poll,
				      &sleepers[i]));
	usleep(100000);
	sample_faults(sleepers[0].fd, &area, 1);
	while (!woken(sleepers, 2))
		usleep(1000);
	usleep(100000);
	CHECK_EQ(woken(sleepers, 2), 1);
	sample_faults(sleepers[1].fd, &area, 1);
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_join(threads[i], NULL));
}

static void two_events_in_one_poll(void)
{
	struct perf_event_attr attr = watermark_attr(1);
	struct pollfd states[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct ring ring;

	for (int i = 0; i < 2; i++)
		states[i].fd = open_self(&attr);
	ring_map(&ring, states[0].fd, 1);
	CHECK(!set_output(states[1].fd, states[0].fd));
	for (int round = 0; round < 10; round++) {
		rename_task(1);
		CHECK_EQ(poll(states, 2, 0), 1);
		CHECK_EQ(states[0].revents, POLLIN);
		CHECK_EQ(states[1].revents, 0);
		ring_drain(&ring);
	}
}

static void epoll_in_mode(uint32_t mode)
{
	struct perf_event_attr attr = watermark_attr(1);
	struct epoll_event want = { .events = EPOLLIN | mode }, got;
	int fd = open_self(&attr), epoll = epoll_create1(EPOLL_CLOEXEC);
	struct ring ring;

	ring_map(&ring, fd, 1);
	CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &want));
	CHECK_EQ(epoll_wait(epoll, &got, 1, 0), 0);
	for (unsigned int i = 0; i < 50; i++) {
		rename_task(i);
		CHECK_EQ(epoll_wait(epoll, &got, 1, 5000), 1);
		CHECK_EQ(got.events, EPOLLIN);
		CHECK_EQ(epoll_wait(epoll, &got, 1, 0), 0);
		expect_comm(&ring, i);
		ring_release(&ring);
	}
	ring_unmap(&ring);
	CHECK_EQ(epoll_wait(epoll, &got, 1, 5000), 1);
	CHECK_EQ(got.events, EPOLLHUP);
}

static void epoll_tells_each_wakeup_once(void)
{
	epoll_in_mode(0);
	epoll_in_mode(EPOLLET);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(every_nth_sample_wakes),
		CASE(only_samples_count_as_events),
		CASE(each_watermark_crossing_wakes),
		CASE(samples_cross_watermarks_too),
		CASE(no_watermark_means_half_the_ring),
		CASE(watermark_is_at_most_the_ring),
		CASE(refused_records_wake_nobody),
		CASE(paused_ring_wakes_nobody),
		CASE(overwrite_rings_wake_too),
		CASE(poll_says_readable_once),
		CASE(no_ring_says_hangup),
		CASE(exit_of_the_task_says_hangup_only),
		CASE(exit_of_the_task_wakes),
		CASE(inherited_events_hold_off_the_hangup),
		CASE(a_sleeper_wakes_at_the_nth_sample),
		CASE(each_wakeup_is_told_to_one_sleeper),
		CASE(two_events_in_one_poll),
		CASE(epoll_tells_each_wakeup_once),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
