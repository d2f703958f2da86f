// SPDX-License-Identifier: GPL-2.0
/*
 * What did not get into the AUX area is counted to the byte: in the records, which also
 * say since when, and in the user page. Kept and lost together are what was produced.
 */
#include "perf_aux_record.h"

#define STOP 0
#define RUN_ON 1
#define HOLD 2
#define CUT_OR_GAP (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL)

static struct aux aux;

static void need_counts(void)
{
	if (!aux_counts_lost()) {
		CHECK(on_base());
		_exit(0); /* the base has nothing of all this */
	}
}

struct shape {
	uint64_t rate, overrun, drop, chunk;
	size_t data_pages, pages;
};

static int open_shape(const struct shape *shape)
{
	struct perf_event_attr attr = aux_attr();
	int fd;

	aux_field(&attr, "rate", shape->rate);
	aux_field(&attr, "overrun", shape->overrun);
	aux_field(&attr, "drop", shape->drop);
	aux_field(&attr, "chunk", shape->chunk);
	fd = open_on_cpu(&attr, 0);
	aux_map(&aux, fd, shape->data_pages, shape->pages);
	return fd;
}

/* ---- the sum ---- */

/* What the data ring had no room for is told by the next record that fits. */
static void hear_the_rest(int fd)
{
	for (int i = 0; i < 50 && aux.lost != aux_page_lost(&aux); i++) {
		enable(fd);
		disable(fd);
		aux_drain(&aux);
	}
}

static void expect_sum(const struct shape *shape)
{
	int fd = open_shape(shape);

	for (int i = 0; i < 4; i++) {
		run_for(fd, 2);
		if (i % 2)
			aux_drain(&aux);
		CHECK(aux.lost <= aux_page_lost(&aux));
	}
	aux_drain(&aux);
	CHECK_EQ(aux.kept + aux_page_lost(&aux), count_of(fd));
	hear_the_rest(fd);
	CHECK_EQ(aux_page_lost(&aux), aux.lost);
	CHECK_EQ(aux.kept + aux.lost, count_of(fd));
	CHECK(aux.missing <= aux.lost);
	CHECK(aux.kept > 0);
	if (shape->overrun == HOLD && !shape->drop)
		CHECK_EQ(aux.lost, 0);
	else
		CHECK(aux.lost > 0);
	aux_unmap(&aux);
	close(fd);
}

static void expect_sums(uint64_t overrun)
{
	static const size_t data_pages[] = { 1, 16 }, pages[] = { 1, 2, 4 };

	need_counts();
	for (size_t i = 0; i < ARRAY_LEN(data_pages); i++)
		for (size_t j = 0; j < ARRAY_LEN(pages); j++)
			for (uint64_t drop = 0; drop <= 2; drop += 2)
				expect_sum(&(struct shape) {
					.rate = 10000000,
					.overrun = overrun,
					.drop = drop,
					.chunk = j == 1 ? 200 : 0,
					.data_pages = data_pages[i],
					.pages = pages[j],
				});
}

static void all_is_kept_or_lost_where_the_source_stops(void)
{
	expect_sums(STOP);
}

static void all_is_kept_or_lost_where_it_runs_on(void)
{
	expect_sums(RUN_ON);
}

static void all_is_kept_or_lost_where_it_waits(void)
{
	expect_sums(HOLD);
}

/* The records do not fit, so almost all are told in one. */
static void a_tiny_data_ring_forgets_nothing(void)
{
	need_counts();
	for (uint64_t overrun = STOP; overrun <= HOLD; overrun++)
		expect_sum(&(struct shape) {
			.rate = 1000000,
			.overrun = overrun,
			.drop = 3,
			.chunk = 8,
			.data_pages = 1,
			.pages = 64,
		});
}

/* A gap in the stream for each burst that the hardware has dropped. */
static void dropped_bursts_are_gaps(void)
{
	int fd;

	need_counts();
	fd = open_shape(&(struct shape) {
		.rate = 1000000, .drop = 4, .data_pages = 16, .pages = 256 });
	run_for(fd, 50);
	aux_drain(&aux);
	CHECK(aux.gaps >= 3);
	CHECK(aux.missing > 0);
	CHECK_EQ(aux.kept + aux.lost, count_of(fd));
	CHECK_EQ(aux.flags, PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_LOST);
	/* The last burst may be one that was dropped: no word is behind it. */
	CHECK_EQ(aux.lost - aux.missing, count_of(fd) - aux.next);
}

static void nothing_but_loss(void)
{
	const struct aux_record *record;
	int fd;

	need_counts();
	fd = open_shape(&(struct shape) {
		.rate = 1000000, .drop = 1, .data_pages = 1, .pages = 1 });
	run_for(fd, 5);
	record = expect_aux_record(&aux);
	CHECK_EQ(record->size, 0);
	CHECK_EQ(record->offset, 0);
	CHECK_EQ(record->flags, PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_LOST);
	CHECK(record->lost >= 5000);
	CHECK_EQ(record->lost, count_of(fd));
	CHECK_EQ(aux_page_lost(&aux), record->lost);
	CHECK_EQ(aux_head(&aux), 0);
	expect_no_aux_record(&aux);
}

/* An area that is made anew is one of the same ring. */
static void the_page_counts_since_the_ring_was_made(void)
{
	uint64_t lost;
	void *words;
	int fd;

	need_counts();
	fd = open_shape(&(struct shape) {
		.rate = 10000000, .data_pages = 1, .pages = 1 });
	run_for(fd, 5);
	lost = aux_page_lost(&aux);
	CHECK(lost > 0);
	aux_unmap_area(&aux);
	CHECK_EQ(aux_page_lost(&aux), lost);
	words = aux_try_map(&aux, 1, PROT_READ | PROT_WRITE);
	CHECK(words != MAP_FAILED);
	aux.words = words;
	CHECK_EQ(aux_page_lost(&aux), lost);
	run_for(fd, 5);
	CHECK(aux_page_lost(&aux) > lost);
}

/* Without an area nothing is produced, and nothing lost. */
static void no_area_no_loss(void)
{
	struct perf_event_attr attr = aux_attr();
	int fd = open_on_cpu(&attr, 0);

	aux_map(&aux, fd, 1, 1);
	aux_unmap_area(&aux);
	run_for(fd, 3);
	expect_no_aux_record(&aux);
	CHECK_EQ(aux_page_lost(&aux), 0);
	CHECK_EQ(count_of(fd), 0);
}

/* ---- what each record says ---- */

/* Does @record agree with itself, and come behind one that was made at @before? */
static uint64_t expect_sound(const struct aux_record *record, uint64_t before)
{
	uint64_t time = record_time(record);

	CHECK(time >= before);
	if (!(record->flags & PERF_AUX_FLAG_LOST)) {
		CHECK_EQ(record->header.size, AUX_RECORD + 8);
		return time;
	}
	CHECK_EQ(record->header.size, AUX_LOST_RECORD + 8);
	CHECK(record->lost > 0);
	CHECK_EQ(record->lost % 8, 0);
	if ((record->flags & CUT_OR_GAP) == 0)
		FAIL("a loss without PARTIAL or TRUNCATED: flags %#" PRIx64,
		     record->flags);
	if ((record->flags & CUT_OR_GAP) == CUT_OR_GAP)
		FAIL("a loss with both PARTIAL and TRUNCATED: flags %#" PRIx64,
		     record->flags);
	if (record->since > time)
		FAIL("lost since %" PRIu64 ", but told at %" PRIu64,
		     record->since, time);
	if (record->since < before)
		FAIL("lost since %" PRIu64 ", which is %" PRIu64
		     " ns before the previous record",
		     record->since, before - record->since);
	return time;
}

static void expect_sound_records(const struct shape *shape)
{
	const struct aux_record *record;
	uint64_t before = 0;
	int fd = open_shape(shape);

	for (int i = 0; i < 10; i++) {
		run_for(fd, 2);
		while ((record = aux_next_record(&aux)))
			before = expect_sound(record, before);
		aux_drain(&aux);
	}
	CHECK(aux.lost > 0);
	CHECK_EQ(aux.kept + aux.lost, count_of(fd));
}

static void a_cut_says_since_when(void)
{
	need_counts();
	expect_sound_records(&(struct shape) {
		.rate = 10000000, .data_pages = 64, .pages = 2 });
}

static void a_gap_says_since_when(void)
{
	need_counts();
	expect_sound_records(&(struct shape) {
		.rate = 1000000, .drop = 3, .chunk = 1000, .data_pages = 64,
		.pages = 64 });
}

static void a_source_that_ran_on_says_since_when(void)
{
	need_counts();
	expect_sound_records(&(struct shape) {
		.rate = 10000000, .overrun = RUN_ON, .data_pages = 64,
		.pages = 2 });
}

/* The first of what was lost counts, not what has been lost since. */
static void refused_records_keep_the_first_time(void)
{
	const struct aux_record *record;
	uint64_t before;
	int fd;

	need_counts();
	fd = open_shape(&(struct shape) {
		.rate = 1000000, .drop = 1, .data_pages = 1, .pages = 1 });
	run_for(fd, 2);
	before = expect_sound(expect_aux_record(&aux), 0);
	CHECK(!pause_output(fd, 1));
	run_for(fd, 2);
	sleep_ms(20);
	run_for(fd, 2);
	CHECK(!pause_output(fd, 0));
	run_for(fd, 2);
	record = expect_aux_record(&aux);
	expect_sound(record, before);
	CHECK(record_time(record) - record->since >= 20000000);
	CHECK_EQ(aux.lost, count_of(fd));
	expect_no_aux_record(&aux);
}

/* A byte too few at the watermark: the next transaction cannot even begin. */
static void a_loss_between_transactions_is_told_at_once(void)
{
	const struct aux_record *record;
	int fd;

	need_counts();
	fd = open_shape(&(struct shape) {
		.rate = 10000000, .data_pages = 1, .pages = 1 });
	aux_set_tail(&aux, 2048 - 4095);
	run_for(fd, 5);
	record = expect_aux_record(&aux);
	CHECK_EQ(record->size, 2048);
	CHECK_EQ(record->flags, 0);
	record = expect_aux_record(&aux);
	CHECK_EQ(record->size, 0);
	CHECK_EQ(record->flags, PERF_AUX_FLAG_TRUNCATED);
	record = expect_aux_record(&aux);
	CHECK_EQ(record->size, 0);
	CHECK_EQ(record->offset, 2048);
	CHECK(record->flags & PERF_AUX_FLAG_LOST);
	CHECK(record->flags & CUT_OR_GAP);
	CHECK_EQ(record->lost, count_of(fd) - 2048);
	CHECK_EQ(aux_page_lost(&aux), record->lost);
	expect_no_aux_record(&aux);
}

/* ---- how much the watermark decides ---- */

struct cuts {
	unsigned int records, truncated;
};

/*
 * Eight pages, and a reader that takes a millisecond after each wake-up. It turns the
 * event on each time, in case it was cut.
 */
static struct cuts read_slowly(uint32_t watermark, unsigned int records)
{
	struct perf_event_attr attr = aux_attr();
	const struct aux_record *record;
	struct pollfd ready = { .events = POLLIN };
	struct cuts cuts = { 0 };

	attr.aux_watermark = watermark;
	aux_field(&attr, "rate", 500000);
	ready.fd = open_on_cpu(&attr, 0);
	aux_map(&aux, ready.fd, 16, 8);
	while (cuts.records < records) {
		enable(ready.fd);
		CHECK_EQ(poll(&ready, 1, 5000), 1);
		sleep_ms(1);
		while ((record = aux_next_record(&aux))) {
			cuts.records++;
			cuts.truncated += !!(record->flags &
					     PERF_AUX_FLAG_TRUNCATED);
		}
		aux_drain(&aux);
		if (on_base())
			disable(ready.fd); /* it does not know that it is off */
	}
	disable(ready.fd);
	aux_unmap(&aux);
	close(ready.fd);
	return cuts;
}

/*
 * A transaction that begins when the other half is full has a byte less than its half:
 * it is cut however fast the reader is. A word later the wake-up is due that it missed:
 *
 *	16384, 16376 and cut, 8, 16384, 16376 and cut, 8, ...
 */
static void half_the_area_cuts_each_third_transaction(void)
{
	static const uint32_t watermarks[] = { 0, 8 * 4096 / 2 };

	if (on_base())
		return; /* where stopping makes transactions of its own */
	for (size_t i = 0; i < ARRAY_LEN(watermarks); i++) {
		struct cuts cuts = read_slowly(watermarks[i], 12);

		CHECK_EQ(cuts.truncated, (cuts.records + 1) / 3);
	}
}

/* A quarter leaves the reader the time of two more quarters, 32 ms here. */
static void a_quarter_of_the_area_cuts_none(void)
{
	for (int attempt = 0; attempt < 5; attempt++) {
		struct cuts quarter = read_slowly(8 * 4096 / 4, 12);

		CHECK(quarter.records >= 12);
		if (!quarter.truncated)
			return;
	}
	FAIL("the trace is cut five times out of five");
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(all_is_kept_or_lost_where_the_source_stops),
		CASE(all_is_kept_or_lost_where_it_runs_on),
		CASE(all_is_kept_or_lost_where_it_waits),
		CASE(a_tiny_data_ring_forgets_nothing),
		CASE(dropped_bursts_are_gaps),
		CASE(nothing_but_loss),
		CASE(the_page_counts_since_the_ring_was_made),
		CASE(no_area_no_loss),
		CASE(a_cut_says_since_when),
		CASE(a_gap_says_since_when),
		CASE(a_source_that_ran_on_says_since_when),
		CASE(refused_records_keep_the_first_time),
		CASE(a_loss_between_transactions_is_told_at_once),
		CASE(half_the_area_cuts_each_third_transaction),
		CASE(a_quarter_of_the_area_cuts_none),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
