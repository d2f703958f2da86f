// SPDX-License-Identifier: GPL-2.0
/*
 * An AUX area that is full: the event goes off, on whichever CPU, and says so; it goes
 * on when the reader has made room and turns it on. Whatever the reader stores in
 * aux_tail, the kernel writes only where that leaves room.
 */
#include "perf_aux_record.h"

#include <pthread.h>

#define STOP 0
#define RUN_ON 1
#define HOLD 2
#define PAGES 4

static struct aux aux;

static uint64_t area(void)
{
	return PAGES * page_size();
}

/* One byte is kept back, and a word has eight. */
static uint64_t full(void)
{
	return area() - 8;
}

static struct perf_event_attr fast_attr(uint64_t overrun)
{
	struct perf_event_attr attr = aux_attr();

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	aux_field(&attr, "rate", 20000000);
	aux_field(&attr, "overrun", overrun);
	return attr;
}

static int open_fast(uint64_t overrun)
{
	struct perf_event_attr attr = fast_attr(overrun);
	int fd = open_on_cpu(&attr, 0);

	aux_map(&aux, fd, 16, PAGES);
	return fd;
}

static void expect_off(int fd)
{
	if (!goes_off(fd))
		BASE_DEFECT("a full area leaves the event on");
}

/* ---- off and on ---- */

/* @fd runs now, or the test does that the event belongs to. */
static void expect_off_and_on_again(int fd)
{
	enable(fd);
	wait_for_head(&aux, full());
	expect_off(fd);
	aux_drain(&aux);
	CHECK_EQ(aux.flags & PERF_AUX_FLAG_TRUNCATED, PERF_AUX_FLAG_TRUNCATED);
	CHECK_EQ(aux.kept, full());

	/* Room alone does not turn it on. */
	spin_ms(3);
	expect_off(fd);
	CHECK_EQ(aux_head(&aux), full());

	enable(fd);
	wait_for_head(&aux, 2 * full());
	expect_off(fd);
	aux_drain(&aux);
	CHECK_EQ(aux.kept, 2 * full());
	CHECK_EQ(aux.gaps, 1);
	aux_unmap(&aux);
	close(fd);
}

static void the_event_of_each_cpu_goes_off(void)
{
	struct perf_event_attr attr = fast_attr(STOP);

	for (int cpu = cpus_online() - 1; cpu >= 0; cpu--) {
		int fd = open_on_cpu(&attr, cpu);

		aux_map(&aux, fd, 16, PAGES);
		expect_off_and_on_again(fd);
	}
}

static void a_task_s_event_goes_off_on_each_cpu(void)
{
	struct perf_event_attr attr = fast_attr(STOP);

	for (int cpu = cpus_online() - 1; cpu >= 0; cpu--) {
		int fd;

		pin_to(cpu);
		fd = open_self(&attr);
		aux_map(&aux, fd, 16, PAGES);
		expect_off_and_on_again(fd);
	}
}

static void so_does_a_pinned_one(void)
{
	struct perf_event_attr attr = fast_attr(STOP);

	attr.pinned = 1;
	for (int cpu = cpus_online() - 1; cpu >= 0; cpu--) {
		int fd;

		pin_to(cpu);
		fd = open_self(&attr);
		aux_map(&aux, fd, 16, PAGES);
		expect_off_and_on_again(fd);
	}
}

/* Moving to another CPU is no way to go on. */
static void a_task_s_event_stays_off_elsewhere(void)
{
	struct perf_event_attr attr = fast_attr(STOP);
	uint64_t count;
	int fd;

	pin_to(cpus_online() - 1);
	fd = open_self(&attr);
	aux_map(&aux, fd, 16, PAGES);
	enable(fd);
	wait_for_head(&aux, full());
	expect_off(fd);
	aux_drain(&aux);
	count = count_of(fd);
	for (int i = 0; i < 20; i++) {
		pin_to(i % cpus_online());
		spin_ms(1);
	}
	expect_off(fd);
	CHECK_EQ(count_of(fd), count);
	CHECK_EQ(aux_head(&aux), full());
}

/* The driver's flag is enough, however much room there is. */
static void a_trace_that_its_driver_cuts_goes_off(void)
{
	struct perf_event_attr attr = aux_attr();
	uint64_t head;
	int fd;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	aux_field(&attr, "raise", PERF_AUX_FLAG_TRUNCATED);
	aux_field(&attr, "chunk", 512);
	fd = open_on_cpu(&attr, 0);
	aux_map(&aux, fd, 16, 64);
	enable(fd);
	if (!goes_off(fd))
		BASE_DEFECT("a trace that was cut goes on");
	head = aux_head(&aux);
	CHECK(head >= 512);
	sleep_ms(10);
	CHECK_EQ(aux_head(&aux), head);
}

/* ---- what is told ---- */

static unsigned int count_truncated(void)
{
	const struct aux_record *record;
	unsigned int nr = 0;

	while ((record = aux_next_record(&aux)))
		nr += !!(record->flags & PERF_AUX_FLAG_TRUNCATED);
	ring_release(&aux.ring);
	return nr;
}

static void each_cut_is_told_once(void)
{
	int fd = open_fast(STOP);

	for (uint64_t round = 1; round <= 5; round++) {
		enable(fd);
		wait_for_head(&aux, round * full());
		expect_off(fd);
		CHECK_EQ(count_truncated(), 1);
		aux_read(&aux);
		aux_release(&aux);
	}
}

/* Without room there is no transaction. The reader hears of it once, and nothing else. */
static void a_trace_that_cannot_begin_is_told_once(void)
{
	const struct aux_record *record;
	int fd = open_fast(STOP);

	aux_set_tail(&aux, 8); /* ahead of the head: no tail at all */
	enable(fd);
	spin_ms(2);
	record = aux_next_record(&aux);
	if (!record)
		BASE_DEFECT("a trace that cannot begin is not told of");
	CHECK_EQ(record->offset, 0);
	CHECK_EQ(record->size, 0);
	CHECK_EQ(record->flags, PERF_AUX_FLAG_TRUNCATED);
	for (int i = 0; i < 5; i++) {
		expect_off(fd);
		enable(fd);
		spin_ms(2);
	}
	expect_off(fd);
	expect_no_aux_record(&aux);
	CHECK_EQ(count_of(fd), 0);

	/* And once more after it has begun in between. */
	aux_set_tail(&aux, 0);
	run_for(fd, 1);
	CHECK(count_truncated() >= 1);
	aux_set_tail(&aux, aux_head(&aux) + 8);
	run_for(fd, 1);
	run_for(fd, 1);
	CHECK_EQ(count_truncated(), 0); /* the full area was the cut */
	aux_set_tail(&aux, aux_head(&aux));
	disable(fd);
	CHECK_EQ(count_truncated(), 0);
}

static void it_stays_off_while_the_area_is_full(void)
{
	int fd = open_fast(STOP);

	enable(fd);
	wait_for_head(&aux, full());
	expect_off(fd);
	for (int i = 0; i < 10; i++) {
		enable(fd);
		spin_ms(2);
		expect_off(fd);
		CHECK_EQ(aux_head(&aux), full());
	}
	aux_drain(&aux);
	CHECK_EQ(aux.kept, full());
	CHECK_EQ(aux.gaps, 0);
	if (aux_counts_lost())
		CHECK_EQ(aux.kept + aux.lost, count_of(fd));
}

/* ---- how much room there is ---- */

static void expect_room(int fd, uint64_t tail)
{
	uint64_t head = aux_head(&aux), unread = head - tail;
	uint64_t room = unread < area() ? (area() - 1 - unread) / 8 * 8 : 0;

	aux.pos = head;
	aux_set_tail(&aux, tail);
	run_for(fd, 2); /* 40 kB are due */
	CHECK_EQ(aux_head(&aux) - head, room);
	aux_read(&aux);
	ring_drain(&aux.ring);
}

static void each_word_that_is_read_makes_room(void)
{
	int fd = open_fast(STOP);

	for (uint64_t bytes = 0; bytes < 40; bytes++) {
		uint64_t head;

		expect_room(fd, aux_head(&aux));
		head = aux_head(&aux);
		expect_room(fd, head - full() + bytes);
	}
}

static void a_tail_that_cannot_be_leaves_no_room(void)
{
	const uint64_t half = 1ULL << 63;
	int fd = open_fast(STOP);

	for (int round = 0; round < 3; round++) {
		uint64_t offsets[] = {
			1, 7, 8, area() - 8, area() - 1, area(), area() + 8,
			2 * area(), 1ULL << 32, half - 1, half, half + 1,
			-area(), -area() - 1, -area() - 8, -2 * area(),
			-(1ULL << 32),
		};

		for (size_t i = 0; i < ARRAY_LEN(offsets); i++)
			expect_room(fd, aux_head(&aux) + offsets[i]);
		/* Positions beyond one size. */
		expect_room(fd, aux_head(&aux));
	}
}

static void an_odd_tail_loses_no_word(void)
{
	int fd = open_fast(STOP);

	for (uint64_t behind = 1; behind < 24; behind++) {
		expect_room(fd, aux_head(&aux) - behind);
		expect_room(fd, aux_head(&aux) - area() + behind);
	}
}

static bool done;

static void *store_nonsense(void *unused)
{
	uint64_t random = 88172645463325252ULL;

	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		aux_set_tail(&aux, random & 1 ? random :
			     aux_head(&aux) - random % (2 * area()));
	}
	return unused;
}

/* Behind the back of whoever asks for room; its words are those of the stream still. */
static void a_tail_that_changes_all_the_time(void)
{
	int fd = open_fast(RUN_ON);
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, store_nonsense, NULL));
	for (int i = 0; i < 50; i++) {
		run_for(fd, 2);
		ring_drain(&aux.ring);
	}
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	CHECK(!pthread_join(thread, NULL));

	aux.pos = aux_head(&aux);
	CHECK(aux.pos > 0);
	CHECK_EQ(aux.pos % 8, 0);
	expect_room(fd, aux.pos);
	expect_room(fd, aux_head(&aux));
	CHECK_EQ(aux.kept, 2 * full());
}

/* ---- overrun ---- */

/* Off, so it does not count what it would have written. */
static void a_source_that_stops_makes_nothing_more(void)
{
	int fd = open_fast(STOP);
	uint64_t count;

	enable(fd);
	wait_for_head(&aux, full());
	expect_off(fd);
	count = count_of(fd);
	CHECK(count >= full());
	spin_ms(5);
	CHECK_EQ(count_of(fd), count);
}

/* 20 bytes a microsecond, and all of it is counted when it is turned on. */
static void a_source_that_runs_on_loses_it(void)
{
	uint64_t cut, before, lost;
	int fd = open_fast(RUN_ON);

	enable(fd);
	wait_for_head(&aux, full());
	expect_off(fd);
	cut = now_us();
	before = count_of(fd);
	aux_drain(&aux);
	spin_ms(20);
	cut = now_us() - cut;
	CHECK_EQ(count_of(fd), before);
	enable(fd);
	disable(fd);
	lost = count_of(fd) - before;
	CHECK(lost >= cut * 20);
	aux_drain(&aux);
	CHECK_EQ(aux.kept + aux.lost, count_of(fd));
	CHECK_EQ(aux_page_lost(&aux), aux.lost);
}

/* It asks again and again, and goes on by itself. */
static void a_source_that_waits_loses_nothing(void)
{
	int fd = open_fast(HOLD);

	enable(fd);
	for (int i = 0; i < 10; i++) {
		wait_for_head(&aux, aux.kept + full());
		CHECK(is_on(fd));
		aux_drain(&aux);
	}
	aux_finish(&aux);
	CHECK(aux.kept >= 10 * full());
	CHECK_EQ(aux.kept, count_of(fd));
	CHECK_EQ(aux.gaps, 0);
	CHECK_EQ(aux.flags, 0);
	CHECK_EQ(aux_page_lost(&aux), 0);
}

/* ---- another area ---- */

/* Its places are new, positions and stream go on; what was unread is gone. */
static void a_new_area_has_room_again(void)
{
	int fd = open_fast(STOP);
	uint64_t head = 0;

	for (size_t pages = PAGES; pages; pages /= 2) {
		void *words;

		run_for(fd, 2);
		head = aux_head(&aux);
		aux_unmap_area(&aux);
		ring_drain(&aux.ring);
		aux_set_tail(&aux, head);
		words = aux_try_map(&aux, pages, PROT_READ | PROT_WRITE);
		CHECK(words != MAP_FAILED);
		aux.words = words;
		aux.size = pages * page_size();
		aux.pos = head;
		run_for(fd, 2);
		CHECK_EQ(aux_head(&aux) - head, aux.size - 8);
		aux_read(&aux);
	}
}

/*
 * A driver may fail to put an event on that has no room. Then it is off, like any other,
 * and does not go off later, when it has room.
 */
static void one_that_cannot_be_put_on_is_off(void)
{
	struct perf_event_attr attr = aux_attr();
	int fd;

	/* Too slow to fill the area. */
	aux_field(&attr, "rate", 500000);
	aux_field(&attr, "strict", 1);
	fd = open_self(&attr);
	aux_map(&aux, fd, 16, 64);
	aux_set_tail(&aux, 8); /* ahead of the head: no room */
	enable(fd);
	usleep(2000);
	CHECK_EQ(aux_head(&aux), 0);

	aux_set_tail(&aux, 0);
	enable(fd);
	for (int i = 0; i < 3; i++) {
		uint64_t before = count_of(fd);

		usleep(2000); /* out and in again */
		spin_ms(4);
		if (count_of(fd) == before)
			BASE_DEFECT("an event that found no room once goes off in silence");
		aux_drain(&aux);
		enable(fd);
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(the_event_of_each_cpu_goes_off),
		CASE(a_task_s_event_goes_off_on_each_cpu),
		CASE(so_does_a_pinned_one),
		CASE(a_task_s_event_stays_off_elsewhere),
		CASE(a_trace_that_its_driver_cuts_goes_off),
		CASE(each_cut_is_told_once),
		CASE(a_trace_that_cannot_begin_is_told_once),
		CASE(it_stays_off_while_the_area_is_full),
		CASE(each_word_that_is_read_makes_room),
		CASE(a_tail_that_cannot_be_leaves_no_room),
		CASE(an_odd_tail_loses_no_word),
		CASE(a_tail_that_changes_all_the_time),
		CASE(a_source_that_stops_makes_nothing_more),
		CASE(a_source_that_runs_on_loses_it),
		CASE(a_source_that_waits_loses_nothing),
		CASE(a_new_area_has_room_again),
		CASE(one_that_cannot_be_put_on_is_off),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
