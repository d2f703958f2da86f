// SPDX-License-Identifier: GPL-2.0
/*
 * When an AUX area wakes its reader: each time aux_head reaches a multiple of
 * aux_watermark, by default half the area, and when the trace has been cut.
 */
#include "perf_aux_record.h"

#include <fcntl.h>

#define QUEUED_SIGNAL (SIGRTMIN + 1)
#define AREA_PAGES 64
#define STEPS 25

static struct aux aux;

/* The data ring beside it is to say nothing; it has room for 6000 records. */
static struct perf_event_attr quiet_attr(uint32_t aux_watermark)
{
	struct perf_event_attr attr = aux_attr();

	attr.aux_watermark = aux_watermark;
	attr.watermark = 1;
	attr.wakeup_watermark = UINT32_MAX;
	/* Tiny transactions are dear. */
	aux_field(&attr, "rate",
		  aux_watermark && aux_watermark < 1000 ? 100000 : 2000000);
	return attr;
}

static int open_area(const struct perf_event_attr *attr, size_t pages)
{
	int fd = open_on_cpu(attr, 0);

	pin_to(0); /* wake-ups are done when it goes on */
	aux_map(&aux, fd, 64, pages);
	return fd;
}

/* Signals are blocked and stay queued. */
static void ask_for_signals(int fd)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, QUEUED_SIGNAL);
	CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
	CHECK(!fcntl(fd, F_SETOWN, getpid()));
	CHECK(!fcntl(fd, F_SETSIG, QUEUED_SIGNAL));
	CHECK(!fcntl(fd, F_SETFL, O_RDWR | O_ASYNC));
}

static unsigned int signals(int fd)
{
	struct timespec none = { 0 };
	unsigned int nr = 0;
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, QUEUED_SIGNAL);
	while (sigtimedwait(&set, &info, &none) == QUEUED_SIGNAL) {
		CHECK_EQ(info.si_code, POLL_IN);
		CHECK_EQ(info.si_fd, fd);
		nr++;
	}
	return nr;
}

/* ---- by bytes ---- */

struct watermark {
	uint64_t bytes, mark;
};

static bool reached(struct watermark *watermark, uint64_t head)
{
	if (head - watermark->mark < watermark->bytes)
		return false;
	watermark->mark = head - head % watermark->bytes;
	return true;
}

/* Give all space back unread: the padding between transactions is no words. */
static void let_go(void)
{
	const struct perf_event_header *record;

	while ((record = ring_next(&aux.ring)))
		aux_take_record(&aux, record);
	ring_release(&aux.ring);
	aux.pos = aux_head(&aux);
	aux_release(&aux);
}

/*
 * Write a little and stop, again and again: told if a multiple was reached. On a
 * machine that stalls the area may fill up, which is told as well.
 */
static unsigned int expect_wakeups_in(const struct perf_event_attr *attr,
				      uint64_t bytes, size_t pages)
{
	struct watermark watermark = { .bytes = bytes };
	int fd = open_area(attr, pages);
	unsigned int wakeups = 0;

	ask_for_signals(fd);
	for (int i = 0; i < STEPS; i++) {
		bool told, got;

		run_for(fd, 1);
		got = poll_now(fd) == POLLIN;
		CHECK_EQ(poll_now(fd), 0);
		CHECK_EQ(!!signals(fd), got);
		told = reached(&watermark, aux_head(&aux));
		aux.flags = 0;
		let_go();
		told |= aux.flags & PERF_AUX_FLAG_TRUNCATED;
		CHECK_EQ(got, told);
		wakeups += told;
	}
	aux_unmap(&aux);
	close(fd);
	return wakeups;
}

static unsigned int expect_wakeups(const struct perf_event_attr *attr,
				   uint64_t bytes)
{
	return expect_wakeups_in(attr, bytes, AREA_PAGES);
}

static void half_the_area_by_default(void)
{
	for (size_t pages = 1; pages <= 16; pages *= 2) {
		struct perf_event_attr attr = quiet_attr(0);

		CHECK(expect_wakeups_in(&attr, pages * page_size() / 2,
					pages));
	}
}

static void every_small_watermark(void)
{
	static const uint32_t watermarks[] = { 1, 7, 8, 9, 31 };

	for (size_t i = 0; i < ARRAY_LEN(watermarks); i++) {
		struct perf_event_attr attr = quiet_attr(watermarks[i]);

		CHECK_EQ(expect_wakeups(&attr, watermarks[i]), STEPS);
	}
}

static void every_large_watermark(void)
{
	static const uint32_t watermarks[] = { 1000, 4095, 4096, 4097, 12345,
					       AREA_PAGES * 4096 - 1,
					       AREA_PAGES * 4096 };

	for (size_t i = 0; i < ARRAY_LEN(watermarks); i++) {
		struct perf_event_attr attr = quiet_attr(watermarks[i]);

		expect_wakeups(&attr, watermarks[i]);
	}
}

/* Never, as long as the reader makes room. */
static void watermarks_beyond_the_area(void)
{
	static const uint32_t watermarks[] = { AREA_PAGES * 4096 + 1, 1u << 31,
					       UINT32_MAX };

	for (size_t i = 0; i < ARRAY_LEN(watermarks); i++) {
		struct perf_event_attr attr = quiet_attr(watermarks[i]);

		expect_wakeups(&attr, watermarks[i]);
	}
}

/* The mark is a position: it need not be where a transaction ends. */
static void long_transactions_are_told_at_their_end(void)
{
	struct perf_event_attr attr = quiet_attr(1000);

	aux_field(&attr, "chunk", 3000);
	expect_wakeups(&attr, 1000);
}

static void short_transactions_add_up(void)
{
	struct perf_event_attr attr = quiet_attr(10000);

	aux_field(&attr, "chunk", 504);
	expect_wakeups(&attr, 10000);
}

static void padding_reaches_the_mark_too(void)
{
	struct perf_event_attr attr = quiet_attr(4096);

	aux_field(&attr, "chunk", 1000);
	aux_field(&attr, "align", 12);
	expect_wakeups(&attr, 4096);
}

/* ---- the trace is cut ---- */

static void a_cut_trace_wakes(void)
{
	struct perf_event_attr attr = quiet_attr(UINT32_MAX);
	int fd = open_area(&attr, AREA_PAGES);

	ask_for_signals(fd);
	run_for(fd, 3);
	CHECK_EQ(poll_now(fd), 0);
	aux_unmap(&aux);
	close(fd);

	aux_field(&attr, "raise", PERF_AUX_FLAG_TRUNCATED);
	fd = open_area(&attr, AREA_PAGES);
	ask_for_signals(fd);
	run_for(fd, 3);
	CHECK_EQ(poll_now(fd), POLLIN);
	CHECK(signals(fd) >= 1);
}

static void other_flags_do_not_wake(void)
{
	struct perf_event_attr attr = quiet_attr(UINT32_MAX);
	int fd;

	aux_field(&attr, "raise", 0xff00 | PERF_AUX_FLAG_PARTIAL |
				  PERF_AUX_FLAG_COLLISION);
	fd = open_area(&attr, AREA_PAGES);
	ask_for_signals(fd);
	for (int i = 0; i < 5; i++)
		run_for(fd, 1);
	CHECK_EQ(poll_now(fd), 0);
	CHECK_EQ(signals(fd), 0);
}

/* Also who turns it on again without having read. */
static void a_full_area_wakes(void)
{
	struct perf_event_attr attr = quiet_attr(UINT32_MAX);
	int fd = open_area(&attr, 1);

	run_for(fd, 10);
	CHECK(aux_head(&aux) >= 4088);
	CHECK_EQ(poll_now(fd), POLLIN);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(poll_now(fd), 0);
		run_for(fd, 1);
		CHECK_EQ(poll_now(fd), POLLIN);
	}
}

/* ---- sleepers ---- */

/* Redirected events share the area's wake-ups as they share the ring's. */
static void whoever_shares_the_ring_is_told(void)
{
	struct perf_event_attr attr = quiet_attr(4096);
	int fd = open_area(&attr, AREA_PAGES), other = open_on_cpu(&attr, 0);

	CHECK(!set_output(other, fd));
	run_for(fd, 10);
	CHECK(aux_head(&aux) >= 4096);
	CHECK_EQ(poll_now(other), POLLIN);
	CHECK_EQ(poll_now(fd), 0);
}

/*
 * As perf record does it: sleep, read, give the space back, turn the event on in case
 * it was cut. Whoever is told of each crossing never sleeps while data wait.
 */
static void read_asleep(int cpu, uint32_t watermark, unsigned int rounds)
{
	struct perf_event_attr attr = quiet_attr(watermark);
	struct pollfd ready = { .events = POLLIN };

	aux_field(&attr, "overrun", 2);
	ready.fd = open_on_cpu(&attr, cpu);
	aux_map(&aux, ready.fd, 16, 16);
	enable(ready.fd);
	for (unsigned int i = 0; i < rounds; i++) {
		if (poll(&ready, 1, 5000) != 1 &&
		    aux.flags & PERF_AUX_FLAG_TRUNCATED)
			BASE_DEFECT("an event is on and has stopped for good");
		CHECK_EQ(ready.revents, POLLIN);
		aux_drain(&aux);
		enable(ready.fd);
	}
	aux_finish(&aux);
	CHECK_EQ(aux.gaps, 0);
	CHECK_EQ(aux.kept, count_of(ready.fd));
	CHECK(aux.kept >= rounds / 2 * watermark);
	aux_unmap(&aux);
	close(ready.fd);
}

static void a_sleeper_reads_all_from_its_own_cpu(void)
{
	pin_to(0);
	read_asleep(0, 4096, 200);
}

static void a_sleeper_reads_all_from_another_cpu(void)
{
	int cpu = cpus_online() - 1;

	pin_to(0);
	read_asleep(cpu, 4096, 200);
	read_asleep(cpu, 1000, 200);
}

/* Cut in every round: the area is no larger than what comes at once. */
static void a_sleeper_hears_of_each_cut(void)
{
	struct perf_event_attr attr = quiet_attr(UINT32_MAX);
	struct pollfd ready = { .events = POLLIN };

	ready.fd = open_on_cpu(&attr, cpus_online() - 1);
	pin_to(0);
	aux_map(&aux, ready.fd, 16, 1);
	enable(ready.fd);
	for (int i = 0; i < 100; i++) {
		if (poll(&ready, 1, i ? 1000 : 5000) != 1)
			BASE_DEFECT("an event is on and has stopped for good");
		CHECK_EQ(ready.revents, POLLIN);
		aux_drain(&aux);
		enable(ready.fd);
	}
	aux_finish(&aux);
	CHECK(aux.kept >= 40 * 4088);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(half_the_area_by_default),
		CASE(every_small_watermark),
		CASE(every_large_watermark),
		CASE(watermarks_beyond_the_area),
		CASE(long_transactions_are_told_at_their_end),
		CASE(short_transactions_add_up),
		CASE(padding_reaches_the_mark_too),
		CASE(a_cut_trace_wakes),
		CASE(other_flags_do_not_wake),
		CASE(a_full_area_wakes),
		CASE(whoever_shares_the_ring_is_told),
		CASE(a_sleeper_reads_all_from_its_own_cpu),
		CASE(a_sleeper_reads_all_from_another_cpu),
		CASE(a_sleeper_hears_of_each_cut),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
