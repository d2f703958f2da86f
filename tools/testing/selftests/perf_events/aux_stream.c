// SPDX-License-Identifier: GPL-2.0
/*
 * A stream through an AUX area: every word once, in order, whatever the rate, the
 * size of the area and the length of transactions; and what is not there is counted.
 */
#include "perf_aux_life.h"

struct shape {
	uint64_t rate, burst, chunk, align;
	size_t pages;
};

static int open_shape(const struct shape *shape)
{
	struct perf_event_attr attr = aux_attr();

	aux_field(&attr, "rate", shape->rate);
	aux_field(&attr, "burst", shape->burst);
	aux_field(&attr, "chunk", shape->chunk);
	aux_field(&attr, "align", shape->align);
	return open_self(&attr);
}

/*
 * Read along for a while; nothing may be missing. False: the area was full, and says so,
 * because this CPU has stood still for longer than it holds.
 */
static bool read_along(const struct shape *shape)
{
	int fd = open_shape(shape);
	struct aux aux;
	bool full;

	aux_map(&aux, fd, 16, shape->pages);
	enable(fd);
	aux_drain_for(&aux, 150);
	aux_finish(&aux);
	full = aux.flags & PERF_AUX_FLAG_TRUNCATED;
	CHECK(aux.kept > 0);
	if (!full) {
		CHECK_EQ(aux.gaps, 0);
		CHECK_EQ(aux.kept, count_of(fd));
		CHECK_EQ(aux.flags, 0);
	}
	aux_unmap(&aux);
	close(fd);
	return !full;
}

/* Whoever emulates a CPU may be busy, but not always. */
static void run_shape(const struct shape *shape)
{
	for (int tries = 0; tries < 5; tries++)
		if (read_along(shape))
			return;
	FAIL("the area is full each time");
}

static void keeps_every_word_at_low_rate(void)
{
	run_shape(&(struct shape) { .rate = 100000, .pages = 32 });
}

static void keeps_every_word_in_one_word_bursts(void)
{
	run_shape(&(struct shape) { .rate = 100000, .burst = 8, .pages = 32 });
}

static void keeps_every_word_in_tiny_transactions(void)
{
	run_shape(&(struct shape) { .rate = 400000, .chunk = 8, .pages = 128 });
}

static void keeps_every_word_in_odd_transactions(void)
{
	run_shape(&(struct shape) { .rate = 4000000, .chunk = 1000, .pages = 1024 });
}

static void keeps_every_word_at_high_rate(void)
{
	run_shape(&(struct shape) { .rate = 50000000, .pages = 4096 });
}

/* A reader that is slow sees the rest as a gap of the size that was told. */
static void loses_what_it_says(void)
{
	struct perf_event_attr attr = aux_attr();
	uint64_t produced;
	struct aux aux;
	int fd;

	aux_field(&attr, "rate", 20000000);
	fd = open_self(&attr);
	aux_map(&aux, fd, 16, 4);
	for (int i = 0; i < 20; i++) {
		enable(fd);
		/* Asleep it would write nothing. */
		spin_us(5000);
		aux_drain(&aux);
	}
	aux_finish(&aux);
	produced = count_of(fd);
	CHECK(aux.flags & PERF_AUX_FLAG_TRUNCATED);
	CHECK(produced > aux.kept);
	if (!aux_counts_lost())
		return;
	CHECK_EQ(aux.kept + aux.lost, produced);
	CHECK_EQ(aux_page_lost(&aux), aux.lost);
	CHECK(aux.missing <= aux.lost);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(keeps_every_word_at_low_rate),
		CASE(keeps_every_word_in_one_word_bursts),
		CASE(keeps_every_word_in_tiny_transactions),
		CASE(keeps_every_word_in_odd_transactions),
		CASE(keeps_every_word_at_high_rate),
		CASE(loses_what_it_says),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
