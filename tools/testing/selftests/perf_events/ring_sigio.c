// SPDX-License-Identifier: GPL-2.0
/*
 * Signals of a perf event (O_ASYNC): which records send one, what it says, and
 * the hang-up that ends an IOC_REFRESH.
 */
#include "perf_ring_task.h"

#include <fcntl.h>

#define QUEUED_SIGNAL (SIGRTMIN + 1)

/* Signals are blocked and stay queued, one for each that is sent. */
static void ask_for_signals(int fd, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig ? sig : SIGIO);
	CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
	CHECK(!fcntl(fd, F_SETOWN, getpid()));
	CHECK(!fcntl(fd, F_SETSIG, sig));
	CHECK(!fcntl(fd, F_SETFL, O_RDWR | O_ASYNC));
}

/* Takes one pending signal; false when there is none. */
static bool next_signal(int sig, siginfo_t *info)
{
	struct timespec none = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	if (sigtimedwait(&set, info, &none) == sig)
		return true;
	CHECK_EQ(errno, EAGAIN);
	return false;
}

static unsigned int expect_input_signals(int fd)
{
	unsigned int nr = 0;
	siginfo_t info;

	while (next_signal(QUEUED_SIGNAL, &info)) {
		CHECK_EQ(info.si_code, POLL_IN);
		CHECK_EQ(info.si_band, POLLIN | POLLRDNORM);
		CHECK_EQ(info.si_fd, fd);
		nr++;
	}
	return nr;
}

static void each_watermark_crossing_signals(void)
{
	static const uint32_t watermarks[] = { 1, 24, 48, 100, 1000, 2048 };

	for (size_t i = 0; i < ARRAY_LEN(watermarks); i++) {
		struct perf_event_attr attr = watermark_attr(watermarks[i]);
		uint64_t mark = 0;
		struct ring ring;
		int fd = open_self(&attr);

		ask_for_signals(fd, QUEUED_SIGNAL);
		ring_map(&ring, fd, 1);
		for (unsigned int seq = 0; seq < 400; seq++) {
			bool crossed;

			rename_task(seq);
			crossed = ring_head(&ring) - mark > watermarks[i];
			mark += crossed ? watermarks[i] : 0;
			CHECK_EQ(expect_input_signals(fd), crossed);
			CHECK_EQ(poll_now(fd), crossed ? POLLIN : 0);
			ring_drain(&ring);
		}
		ring_unmap(&ring);
		close(fd);
	}
}

/* The signal tells of the overflow, whatever poll() is to hear of it. */
static void each_sample_signals(void)
{
	struct fault_area area = fault_area(50);

	for (uint32_t n = 0; n <= 4; n++) {
		struct perf_event_attr attr = fault_attr();
		struct ring ring;
		int fd;

		attr.wakeup_events = n;
		fd = open_self(&attr);
		ask_for_signals(fd, QUEUED_SIGNAL);
		sample_faults(fd, &area, 7); /* also without a ring */
		CHECK_EQ(expect_input_signals(fd), 7);
		ring_map(&ring, fd, 1);
		sample_faults(fd, &area, 50);
		CHECK_EQ(expect_input_signals(fd), 50);
		CHECK_EQ(ring_drain(&ring), 50);
		ring_unmap(&ring);
		close(fd);
	}
}

static void plain_sigio_is_sent(void)
{
	struct perf_event_attr attr = watermark_attr(1);
	struct ring ring;
	siginfo_t info;
	int fd = open_self(&attr);

	ask_for_signals(fd, 0);
	ring_map(&ring, fd, 1);
	rename_tasks(0, 5); /* SIGIO does not queue */
	CHECK(next_signal(SIGIO, &info));
	CHECK_EQ(info.si_code, SI_KERNEL);
	CHECK(!next_signal(SIGIO, &info));
	rename_task(1);
	CHECK(next_signal(SIGIO, &info));
}

static void no_async_no_signal(void)
{
	struct perf_event_attr attr = watermark_attr(1);
	struct ring ring;
	int fd = open_self(&attr);

	ask_for_signals(fd, QUEUED_SIGNAL);
	ring_map(&ring, fd, 1);
	rename_task(1);
	CHECK_EQ(expect_input_signals(fd), 1);
	CHECK(!fcntl(fd, F_SETFL, O_RDWR));
	rename_task(2);
	CHECK_EQ(expect_input_signals(fd), 0);
	CHECK_EQ(poll_now(fd), POLLIN);
}

static void refused_records_send_no_signal(void)
{
	struct perf_event_attr attr = watermark_attr(1);
	struct ring ring;
	int fd = open_self(&attr);

	ask_for_signals(fd, QUEUED_SIGNAL);
	ring_map(&ring, fd, 1);
	ring_set_tail(&ring, 1); /* no space at all */
	rename_tasks(0, 10);
	CHECK(!pause_output(fd, 1));
	ring_set_tail(&ring, 0);
	rename_tasks(0, 10);
	CHECK_EQ(expect_input_signals(fd), 0);
	CHECK(!pause_output(fd, 0));
	rename_task(1);
	CHECK_EQ(expect_input_signals(fd), 1);
}

/* The event that writes sends the signal, not the one that owns the ring. */
static void the_writing_event_signals(void)
{
	struct perf_event_attr attr = watermark_attr(1);
	int owner = open_self(&attr), writer = open_self(&attr);
	struct ring ring;

	ring_map(&ring, owner, 1);
	CHECK(!set_output(writer, owner));
	disable(owner);
	ask_for_signals(owner, QUEUED_SIGNAL);
	rename_tasks(0, 3);
	CHECK_EQ(expect_input_signals(owner), 0);
	CHECK(!fcntl(owner, F_SETFL, O_RDWR));
	ask_for_signals(writer, QUEUED_SIGNAL);
	rename_tasks(0, 3);
	CHECK_EQ(expect_input_signals(writer), 3);
}

static void exit_of_the_task_sends_no_signal(void)
{
	struct perf_event_attr attr = watermark_attr(UINT32_MAX);
	struct sleeping_task task = start_sleeping(NULL);
	int fd = open_on(&attr, task.pid, -1);
	struct ring ring;

	ask_for_signals(fd, QUEUED_SIGNAL);
	ring_map(&ring, fd, 1);
	end_task(&task);
	CHECK_EQ(poll_now(fd), POLLHUP);
	CHECK_EQ(expect_input_signals(fd), 0);
}

/* ---- refresh ---- */

static int refresh(int fd, int nr)
{
	return ioctl(fd, PERF_EVENT_IOC_REFRESH, nr);
}

/* So many samples, the last of them with a hang-up, then silence. */
static void expect_refreshed(int fd, struct ring *ring, unsigned int nr,
			     const struct fault_area *area)
{
	uint64_t count = count_of(fd);
	siginfo_t info;

	fault_again(area);
	touch_pages(area, area->pages);
	for (unsigned int i = 1; i <= nr; i++) {
		CHECK(next_signal(QUEUED_SIGNAL, &info));
		CHECK_EQ(info.si_fd, fd);
		CHECK_EQ(info.si_code, i < nr ? POLL_IN : POLL_HUP);
		CHECK_EQ(info.si_band, i < nr ? POLLIN | POLLRDNORM :
						POLLHUP | POLLERR);
	}
	CHECK(!next_signal(QUEUED_SIGNAL, &info));
	CHECK_EQ(ring_drain(ring), nr);
	CHECK_EQ(count_of(fd) - count, nr);
}

static void refresh_ends_with_a_hangup(void)
{
	struct perf_event_attr attr = fault_attr();
	struct fault_area area = fault_area(30);
	struct ring ring;
	int fd = open_self(&attr);

	ask_for_signals(fd, QUEUED_SIGNAL);
	ring_map(&ring, fd, 1);
	for (int nr = 1; nr <= 20; nr++) {
		CHECK(!refresh(fd, nr));
		expect_refreshed(fd, &ring, (unsigned int)nr, &area);
	}
	CHECK(!refresh(fd, 2));
	CHECK(!refresh(fd, 3)); /* they add up */
	expect_refreshed(fd, &ring, 5, &area);
	expect_refreshed(fd, &ring, 0, &area);
}

static void refresh_of_none_sets_no_limit(void)
{
	struct perf_event_attr attr = fault_attr();
	struct fault_area area = fault_area(30);
	struct ring ring;
	int fd = open_self(&attr);

	ring_map(&ring, fd, 1);
	CHECK(!refresh(fd, 0));
	fault_again(&area);
	touch_pages(&area, 30);
	disable(fd);
	CHECK_EQ(ring_drain(&ring), 30);
}

static void refresh_needs_samples_and_no_heirs(void)
{
	struct perf_event_attr attr = fault_attr();
	int fd = open_comm();

	CHECK_ERRNO(refresh(fd, 1), EINVAL);
	attr.inherit = 1;
	fd = open_self(&attr);
	CHECK_ERRNO(refresh(fd, 1), EINVAL);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(each_watermark_crossing_signals),
		CASE(each_sample_signals),
		CASE(plain_sigio_is_sent),
		CASE(no_async_no_signal),
		CASE(refused_records_send_no_signal),
		CASE(the_writing_event_signals),
		CASE(exit_of_the_task_sends_no_signal),
		CASE(refresh_ends_with_a_hangup),
		CASE(refresh_of_none_sets_no_limit),
		CASE(refresh_needs_samples_and_no_heirs),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
