// SPDX-License-Identifier: GPL-2.0
/*
 * What a PERF_RECORD_AUX says: where the data are, how many, with which flags; when
 * there is none; and what becomes of it where the data ring has no room.
 */
#include "perf_aux_record.h"

static struct aux aux;
static struct perf_event_attr attr;

static int open_mapped(size_t data_pages, size_t aux_pages)
{
	int fd = open_on_cpu(&attr, 0);

	aux_map(&aux, fd, data_pages, aux_pages);
	return fd;
}

static void close_mapped(int fd)
{
	aux_unmap(&aux);
	close(fd);
}

/* ---- offset and size ---- */

/* Pieces that follow each other without a gap, up to aux_head, and sum up to the count. */
static void records_cover_the_area(void)
{
	int fd;

	attr = aux_attr();
	aux_field(&attr, "rate", 4000000);
	aux_field(&attr, "chunk", 1000);
	fd = open_mapped(16, 512);
	enable(fd);
	for (int i = 0; i < 10; i++) {
		sleep_ms(10);
		aux_follow(&aux);
	}
	disable(fd);
	CHECK_EQ(aux_follow(&aux), aux_head(&aux));
	CHECK_EQ(aux.kept, count_of(fd));
	CHECK_EQ(aux.gaps, 0);
	CHECK_EQ(aux.flags, 0);
	CHECK(aux.records > 100);
}

/* The first transactions are as long as they were to be; only a stop makes one shorter. */
static void chunks_have_their_size(void)
{
	const struct aux_record *record;
	uint64_t left;
	int fd;

	attr = aux_attr();
	aux_field(&attr, "chunk", 1000);
	fd = open_mapped(16, 512);
	run_for(fd, 20);
	for (left = aux_head(&aux); left; left -= record->size) {
		record = expect_aux_record(&aux);
		CHECK_EQ(record->size, left < 1000 ? left : 1000);
	}
	expect_no_aux_record(&aux);
}

/* Without a chunk a transaction ends where the reader wants to be woken. */
static void records_end_at_the_watermark(void)
{
	const struct aux_record *record;
	int fd;

	attr = aux_attr();
	attr.aux_watermark = 3000;
	fd = open_mapped(16, 512);
	run_for(fd, 30);
	for (uint64_t end = 3000; end <= aux_head(&aux); end += 3000) {
		record = expect_aux_record(&aux);
		CHECK_EQ(record->offset + record->size, end);
	}
}

/* Only a driver's padding is in no record. */
static void skipped_bytes_are_in_no_record(void)
{
	const struct aux_record *record;
	uint64_t end = 0;
	int fd;

	attr = aux_attr();
	aux_field(&attr, "rate", 400000);
	aux_field(&attr, "chunk", 1000);
	aux_field(&attr, "align", 12);
	fd = open_mapped(16, 512);
	run_for(fd, 20);
	while ((record = aux_next_record(&aux))) {
		CHECK_EQ(record->offset, (end + 4095) / 4096 * 4096);
		CHECK(record->size <= 1000);
		aux.pos = record->offset;
		end = record->offset + record->size;
		aux_read_to(&aux, end);
	}
	CHECK(end > 5 * 4096);
	/* The last transaction may have been begun, and not have got a word. */
	CHECK(aux_head(&aux) == end ||
	      aux_head(&aux) == (end + 4095) / 4096 * 4096);
	CHECK_EQ(aux.kept, count_of(fd));
	CHECK_EQ(aux.gaps, 0);
	CHECK_EQ(aux.flags, 0);
}

/* ---- how large they are ---- */

static const struct {
	uint64_t type;
	unsigned int bytes;
} trailers[] = {
	{ 0, 0 },
	{ PERF_SAMPLE_TIME, 8 },
	{ PERF_SAMPLE_TID | PERF_SAMPLE_TIME, 16 },
	{ PERF_SAMPLE_IDENTIFIER, 8 },
	{ PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
	  PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER, 48 },
};

static void expect_sizes(unsigned int bytes, uint64_t flags)
{
	for (size_t i = 0; i < 2 * ARRAY_LEN(trailers); i++) {
		const struct aux_record *record;
		int fd;

		attr.sample_id_all = i % 2;
		attr.sample_type = trailers[i / 2].type;
		fd = open_mapped(1, 4);
		run_for(fd, 3);
		record = expect_aux_record(&aux);
		CHECK_EQ(record->header.misc, 0);
		CHECK_EQ(record->header.size,
			 bytes + (i % 2 ? trailers[i / 2].bytes : 0));
		CHECK_EQ(record->flags, flags);
		close_mapped(fd);
	}
}

static void a_record_is_32_bytes_and_its_trailer(void)
{
	attr = aux_attr();
	expect_sizes(AUX_RECORD, 0);
}

static void a_loss_makes_it_16_bytes_longer(void)
{
	if (!aux_counts_lost())
		return;
	attr = aux_attr();
	aux_field(&attr, "drop", 1);
	expect_sizes(AUX_LOST_RECORD, PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_LOST);
}

/* ---- flags ---- */

static void each_flag_of_the_driver_arrives(void)
{
	static const uint64_t flags[] = { 0, 0x1, 0x4, 0x8, 0xd, 0x100, 0x8000,
					  0xff00, 0xff0d };

	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		const struct aux_record *record;
		int fd;

		attr = aux_attr();
		aux_field(&attr, "raise", flags[i]);
		fd = open_mapped(1, 64);
		run_for(fd, 3);
		record = expect_aux_record(&aux);
		CHECK_EQ(record->flags, flags[i]);
		CHECK_EQ(record->offset, 0);
		CHECK_EQ(record->size, aux_head(&aux));
		expect_no_aux_record(&aux);
		close_mapped(fd);
	}
}

/* A transaction that got nothing: @flags of its record, or ~0 if there is to be none. */
static void expect_empty(uint64_t raise, int prot, uint64_t flags)
{
	const struct aux_record *record;
	int fd;

	attr = aux_attr();
	aux_field(&attr, "raise", raise);
	aux_field(&attr, "fail_begin", 1);
	fd = open_on_cpu(&attr, 0);
	aux_map_as(&aux, fd, 1, 4, prot);
	run_for(fd, 3);
	if (flags != ~0ULL) {
		record = expect_aux_record(&aux);
		CHECK_EQ(record->size, 0);
		CHECK_EQ(record->offset, 0);
		CHECK_EQ(record->flags, flags);
	}
	expect_no_aux_record(&aux);
	CHECK_EQ(aux_head(&aux), 0);
	CHECK_EQ(count_of(fd), 0);
	close_mapped(fd);
}

static void nothing_is_told_only_with_a_flag_that_says_something(void)
{
	const int writable = PROT_READ | PROT_WRITE;

	expect_empty(0, writable, ~0ULL);
	expect_empty(0xff00, writable, ~0ULL);
	expect_empty(0x1, writable, 0x1);
	expect_empty(0x4, writable, 0x4);
	expect_empty(0x8, writable, 0x8);
	expect_empty(0x108, writable, 0x108);
}

static void nor_is_overwriting_such_a_flag(void)
{
	expect_empty(0, PROT_READ, ~0ULL);
	expect_empty(0xff00, PROT_READ, ~0ULL);
	expect_empty(0x1, PROT_READ, 0x3);
	expect_empty(0x4, PROT_READ, 0x6);
	expect_empty(0x108, PROT_READ, 0x10a);
}

/* ---- where the data ring has no room ---- */

/* The record after those that were refused begins where the last one known ended. */
static const struct aux_record *expect_all_since(uint64_t end)
{
	const struct aux_record *record = expect_aux_record(&aux);

	if (record->offset != end)
		BASE_DEFECT("data of refused records are in no record");
	return record;
}

static void a_paused_ring_is_told_later(void)
{
	const struct aux_record *record;
	uint64_t end, paused_end;
	int fd;

	attr = aux_attr();
	aux_field(&attr, "chunk", 1000);
	fd = open_mapped(16, 512);
	run_for(fd, 5);
	end = aux_follow(&aux);
	CHECK(!pause_output(fd, 1));
	run_for(fd, 5);
	expect_no_aux_record(&aux);
	paused_end = aux_head(&aux);
	CHECK(paused_end > end);
	CHECK(!pause_output(fd, 0));
	run_for(fd, 5);

	record = expect_all_since(end);
	CHECK(record->offset + record->size > paused_end);
	CHECK_EQ(record->flags, 0);
	aux_read_to(&aux, record->offset + record->size);
	CHECK_EQ(aux_follow(&aux), aux_head(&aux));
	CHECK_EQ(aux.kept, count_of(fd));
	CHECK_EQ(aux.gaps, 0);
}

static void a_full_ring_is_told_later(void)
{
	const struct aux_record *record;
	uint64_t end;
	int fd;

	attr = aux_attr();
	aux_field(&attr, "rate", 40000); /* 5 records a millisecond, 102 fit */
	aux_field(&attr, "chunk", 8);
	fd = open_mapped(1, 64);
	for (int round = 0; round < 3; round++) {
		run_for(fd, 40);
		end = aux_follow(&aux);
		CHECK(end < aux_head(&aux));
		run_for(fd, 1);
		record = expect_all_since(end);
		CHECK_EQ(record->flags, 0);
		CHECK(record->size > 8);
		aux_read_to(&aux, record->offset + record->size);
		aux_follow(&aux);
	}
	/* On a machine that stands still the ring was full once more. */
	for (int i = 0; i < 50 && aux.pos != aux_head(&aux); i++) {
		run_for(fd, 0);
		aux_follow(&aux);
	}
	CHECK_EQ(aux.pos, aux_head(&aux));
	CHECK_EQ(aux.kept, count_of(fd));
	CHECK_EQ(aux.gaps, 0);
}

static void flags_of_refused_records_are_told_later(void)
{
	const struct aux_record *record;
	int fd;

	attr = aux_attr();
	aux_field(&attr, "rate", 10000000);
	fd = open_mapped(1, 1);
	CHECK(!pause_output(fd, 1));
	run_for(fd, 10);
	expect_no_aux_record(&aux);
	aux_drain(&aux);
	CHECK(aux.kept >= 4088);
	CHECK(!pause_output(fd, 0));
	run_for(fd, 1);

	record = expect_all_since(0);
	CHECK(record->flags & PERF_AUX_FLAG_TRUNCATED);
	CHECK(record->flags & PERF_AUX_FLAG_LOST);
	CHECK(record->lost > 0);
	CHECK(record->size >= 4088);
}

/* Padding between two records is no data, but lies within what both became. */
static void merged_padding_is_partial(void)
{
	const struct aux_record *record;
	int fd;

	attr = aux_attr();
	aux_field(&attr, "chunk", 1000);
	aux_field(&attr, "align", 12);
	fd = open_mapped(16, 512);
	CHECK(!pause_output(fd, 1));
	run_for(fd, 10);
	CHECK(!pause_output(fd, 0));
	run_for(fd, 5);

	record = expect_all_since(0);
	CHECK_EQ(record->flags, PERF_AUX_FLAG_PARTIAL);
	CHECK(record->size > 4096);
	record = expect_aux_record(&aux);
	CHECK_EQ(record->flags, 0);
	CHECK_EQ(record->offset % 4096, 0);
}

/* One record that fits sets nothing aside for the next one. */
static void what_is_told_is_told_once(void)
{
	const struct aux_record *record;
	int fd;

	attr = aux_attr();
	aux_field(&attr, "raise", PERF_AUX_FLAG_COLLISION);
	fd = open_mapped(16, 512);
	CHECK(!pause_output(fd, 1));
	run_for(fd, 3);
	CHECK(!pause_output(fd, 0));
	for (int i = 0; i < 5; i++) {
		run_for(fd, 3);
		record = i ? expect_aux_record(&aux) : expect_all_since(0);
		CHECK_EQ(record->offset, aux.pos);
		CHECK_EQ(record->flags, PERF_AUX_FLAG_COLLISION);
		aux_read_to(&aux, record->offset + record->size);
	}
	expect_no_aux_record(&aux);
	CHECK_EQ(aux.pos, aux_head(&aux));
}

/* aux_head says all that can be known. */
static void a_ring_without_data_pages(void)
{
	int fd;

	attr = aux_attr();
	aux_field(&attr, "rate", 4000000);
	fd = open_mapped(0, 4);
	for (int i = 0; i < 5; i++) {
		run_for(fd, 10);
		CHECK_EQ(aux.ring.page->data_head, 0);
		aux_read(&aux);
		aux_release(&aux);
	}
	CHECK(aux.kept > 5 * 4096);
	if (!aux_counts_lost())
		return;
	CHECK(aux_page_lost(&aux) > 0);
	CHECK_EQ(aux.kept + aux_page_lost(&aux), count_of(fd));
}

/* ---- the other records of a trace ---- */

struct task_record {
	struct perf_event_header header;
	uint32_t pid, tid;
};

static void a_trace_says_once_that_it_starts(void)
{
	const struct perf_event_header *record;
	unsigned int nr = 0;
	int fd;

	attr = aux_attr();
	fd = open_self(&attr);
	aux_map(&aux, fd, 16, 64);
	for (int i = 0; i < 3; i++) {
		enable(fd);
		spin_ms(3);
		disable(fd);
	}
	while ((record = ring_next(&aux.ring))) {
		const struct task_record *task = (const void *)record;

		aux_take_record(&aux, record);
		if (record->type != PERF_RECORD_ITRACE_START)
			continue;
		CHECK_EQ(record->size, sizeof(*task) + 8);
		CHECK_EQ(task->pid, getpid());
		CHECK_EQ(task->tid, gettid());
		CHECK_EQ(aux.records, 0); /* it comes first */
		nr++;
	}
	CHECK_EQ(nr, 1);
	CHECK(aux.records >= 3);
}

struct hw_id_record {
	struct perf_event_header header;
	uint64_t hw_id;
};

/* Each time the event comes onto a CPU, and before its data. */
static void a_trace_says_the_id_of_its_stream(void)
{
	const struct perf_event_header *record;
	unsigned int nr = 0;
	int fd;

	attr = aux_attr();
	aux_field(&attr, "hw_id", 1);
	aux_field(&attr, "id", 1000);
	fd = open_mapped(16, 512);
	aux.id = 1000;
	for (int i = 0; i < 4; i++)
		run_for(fd, 3);
	while ((record = ring_next(&aux.ring))) {
		aux_take_record(&aux, record);
		if (record->type != PERF_RECORD_AUX_OUTPUT_HW_ID)
			continue;
		CHECK_EQ(record->size, sizeof(struct hw_id_record) + 8);
		CHECK_EQ(((const struct hw_id_record *)record)->hw_id, 1000);
		CHECK_EQ(aux.records, nr);
		nr++;
	}
	CHECK_EQ(nr, 4);
	aux_read(&aux);
	CHECK_EQ(aux.kept, count_of(fd));
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(records_cover_the_area),
		CASE(chunks_have_their_size),
		CASE(records_end_at_the_watermark),
		CASE(skipped_bytes_are_in_no_record),
		CASE(a_record_is_32_bytes_and_its_trailer),
		CASE(a_loss_makes_it_16_bytes_longer),
		CASE(each_flag_of_the_driver_arrives),
		CASE(nothing_is_told_only_with_a_flag_that_says_something),
		CASE(nor_is_overwriting_such_a_flag),
		CASE(a_paused_ring_is_told_later),
		CASE(a_full_ring_is_told_later),
		CASE(flags_of_refused_records_are_told_later),
		CASE(merged_padding_is_partial),
		CASE(what_is_told_is_told_once),
		CASE(a_ring_without_data_pages),
		CASE(a_trace_says_once_that_it_starts),
		CASE(a_trace_says_the_id_of_its_stream),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
