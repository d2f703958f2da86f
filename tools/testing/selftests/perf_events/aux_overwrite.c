// SPDX-License-Identifier: GPL-2.0
/*
 * An AUX area that is mapped read-only: the source goes round and round, aux_head is
 * the place where it will go on, and what is in front of that is the newest. Nobody is
 * woken, and nothing is ever full.
 */
#include "perf_aux_record.h"

#include <fcntl.h>
#include <sys/resource.h>

#define STREAM 9 /* not 0: no word is like memory that nobody wrote to */
#define OVERWRITE PERF_AUX_FLAG_OVERWRITE

static struct aux aux;

static struct perf_event_attr stream_attr(const char *pmu, uint64_t rate)
{
	struct perf_event_attr attr = aux_attr_of(pmu);

	aux_field(&attr, "rate", rate);
	aux_field(&attr, "id", STREAM);
	return attr;
}

static int open_as(const struct perf_event_attr *attr, size_t pages, int prot)
{
	int fd = open_on_cpu(attr, 0);

	aux_map_as(&aux, fd, 16, pages, prot);
	aux.id = STREAM;
	return fd;
}

static int open_overwrite(const struct perf_event_attr *attr, size_t pages)
{
	return open_as(attr, pages, PROT_READ);
}

static void close_area(int fd)
{
	aux_unmap(&aux);
	close(fd);
}

/* So many bytes in front of aux_head are the last ones of a stream of @count bytes. */
static void expect_newest(uint64_t count, uint64_t bytes)
{
	uint64_t head = aux_head(&aux);

	CHECK(head < aux.size);
	for (uint64_t back = 8; back <= bytes; back += 8) {
		uint64_t word = aux_word_at(&aux, head - back);

		if (word != ((uint64_t)STREAM << AUX_OFFSET_BITS | (count - back)))
			FAIL("%" PRIu64 " bytes before aux_head %" PRIu64
			     " is %#" PRIx64 ", not offset %" PRIu64,
			     back, head, word, count - back);
	}
}

/* ---- the area ---- */

static void all_words_are_there_before_it_wraps(void)
{
	struct perf_event_attr attr = stream_attr("aux_test", 1000000);
	int fd = open_overwrite(&attr, 256);
	uint64_t count;

	for (int i = 0; i < 3; i++) {
		run_for(fd, 3);
		count = count_of(fd);
		CHECK(count >= 3000 * (uint64_t)(i + 1));
		if (count >= aux.size)
			SKIP("this machine is too slow: it is one round already");
		CHECK_EQ(aux_head(&aux), count);
		expect_newest(count, count);
		for (uint64_t at = count; at < aux.size; at += 8)
			CHECK_EQ(aux_word_at(&aux, at), 0);
	}
}

static void expect_full_of_newest(const char *pmu, size_t pages)
{
	struct perf_event_attr attr = stream_attr(pmu, 10000000);
	int fd = open_overwrite(&attr, pages);

	for (int i = 0; i < 5; i++) {
		uint64_t count;

		run_for(fd, 4);
		count = count_of(fd);
		if (count < aux.size)
			continue;
		CHECK_EQ(aux_head(&aux), count % aux.size);
		expect_newest(count, aux.size);
	}
	CHECK(count_of(fd) > aux.size);
	close_area(fd);
}

static void it_is_full_of_the_newest_after_it_wrapped(void)
{
	for (size_t pages = 1; pages <= 16; pages *= 2)
		expect_full_of_newest("aux_test", pages);
}

static void the_same_with_other_memory(void)
{
	expect_full_of_newest("aux_test_contiguous", 1);
	expect_full_of_newest("aux_test_contiguous", 16);
	expect_full_of_newest("aux_test_large", 1);
	expect_full_of_newest("aux_test_large", 16);
}

/* With a flag that says something there is one: its offset is where the data end. */
static void records_say_where_the_data_end(void)
{
	struct perf_event_attr attr = stream_attr("aux_test", 1000000);
	const struct aux_record *record;
	uint64_t end = 0;
	int fd;

	aux_field(&attr, "chunk", 1000);
	aux_field(&attr, "raise", PERF_AUX_FLAG_COLLISION);
	fd = open_overwrite(&attr, 4);
	run_for(fd, 25);
	while ((record = aux_next_record(&aux))) {
		CHECK((record->offset - end) % aux.size <= 1000);
		end = record->offset;
		CHECK_EQ(record->size, 0);
		CHECK_EQ(record->flags, OVERWRITE | PERF_AUX_FLAG_COLLISION);
	}
	CHECK_EQ(aux_head(&aux), end);
	CHECK_EQ(count_of(fd) % aux.size, end);
	CHECK(aux.records > 20);
}

static void transactions_can_be_aligned(void)
{
	struct perf_event_attr attr = stream_attr("aux_test", 100000);
	uint64_t count = 0, begin = 0;
	int fd;

	aux_field(&attr, "align", 12);
	fd = open_overwrite(&attr, 4);
	for (int i = 0; i < 6; i++) {
		uint64_t bytes;

		run_for(fd, 2);
		bytes = count_of(fd) - count;
		count += bytes;
		CHECK(bytes > 0);
		CHECK_EQ(aux_head(&aux), (begin + bytes) % aux.size);
		expect_newest(count, bytes < aux.size ? bytes : aux.size);
		begin = (begin + bytes + 4095) / 4096 * 4096;
	}
}

/* ---- the reader ---- */

static void nobody_is_woken(void)
{
	struct perf_event_attr attr = stream_attr("aux_test", 10000000);
	int fd;

	attr.aux_watermark = 8;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	fd = open_overwrite(&attr, 1);
	CHECK(!fcntl(fd, F_SETOWN, getpid()));
	CHECK(!fcntl(fd, F_SETFL, O_RDWR | O_ASYNC)); /* which would kill */
	for (int i = 0; i < 5; i++) {
		run_for(fd, 4);
		CHECK_EQ(poll_now(fd), 0);
	}
	enable(fd);
	sleep_ms(4);
	CHECK(is_on(fd));
	disable(fd);
	CHECK_EQ(poll_now(fd), 0);
	CHECK(count_of(fd) > 10 * aux.size);
	expect_no_aux_record(&aux);
}

static void nobody_asks_for_the_tail(void)
{
	static const uint64_t tails[] = { 0, 1, 8, 4095, 4096, 1ULL << 32, -1ULL };
	struct perf_event_attr attr = stream_attr("aux_test", 10000000);
	int fd = open_overwrite(&attr, 1);

	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		aux_set_tail(&aux, tails[i]);
		run_for(fd, 2);
		CHECK_EQ(aux_head(&aux), count_of(fd) % aux.size);
		expect_newest(count_of(fd), aux.size);
		CHECK_EQ(aux.ring.page->aux_tail, tails[i]);
	}
}

/* ---- context switches ---- */

/*
 * The task sleeps so often and the odd time in vain, and its event comes and goes with it.
 * All that there is to say is where the data are, which aux_head says.
 */
/* How often the CPU has been given up; a nap can be over before it begins. */
static unsigned int switches(void)
{
	struct rusage usage;

	CHECK(!getrusage(RUSAGE_SELF, &usage));
	return (unsigned int)usage.ru_nvcsw;
}

static void switch_away(uint64_t rate, unsigned int times)
{
	struct perf_event_attr attr = stream_attr("aux_test", rate);
	const struct perf_event_header *record;
	unsigned int came = 0;
	int fd;

	aux_field(&attr, "hw_id", 1);
	fd = open_self(&attr);
	aux_map_as(&aux, fd, 64, 4, PROT_READ);
	enable(fd);
	for (unsigned int start = switches(); switches() - start <= times;)
		usleep(1);
	disable(fd);
	while ((record = ring_next(&aux.ring))) {
		CHECK(record->type != PERF_RECORD_LOST);
		CHECK(record->type != PERF_RECORD_AUX);
		came += record->type == PERF_RECORD_AUX_OUTPUT_HW_ID;
	}
	CHECK(came >= times);
	CHECK_EQ(aux_head(&aux), count_of(fd) % aux.size);
}

/* PB-28. Of a byte a second not even one word comes about. */
static void no_flood_of_empty_records(void)
{
	switch_away(1, 1000);
	CHECK_EQ(aux_head(&aux), 0);
}

static void nor_of_records_that_are_soon_overwritten(void)
{
	switch_away(10000000, 1000);
}

/* ---- which mode it is ---- */

/* PB-54: nothing but the protection of the mapping decides. */
static void the_mapping_decides(void)
{
	struct perf_event_attr attr = stream_attr("aux_test", 10000000);
	const struct aux_record *record;
	int fd = open_as(&attr, 2, PROT_READ | PROT_WRITE);

	run_for(fd, 4);
	record = expect_aux_record(&aux);
	CHECK_EQ(record->offset, 0);
	CHECK_EQ(record->size, 4096);
	CHECK_EQ(record->flags, 0);
	record = expect_aux_record(&aux);
	CHECK_EQ(record->offset, 4096);
	CHECK_EQ(record->size, 4088);
	CHECK(record->flags & PERF_AUX_FLAG_TRUNCATED);
	CHECK(!(record->flags & OVERWRITE));
	CHECK_EQ(aux_head(&aux), 8184);
	CHECK_EQ(poll_now(fd), POLLIN);
	close_area(fd);

	fd = open_overwrite(&attr, 2);
	run_for(fd, 4);
	CHECK(count_of(fd) > aux.size);
	expect_no_aux_record(&aux);
	CHECK(aux_head(&aux) < aux.size);
	CHECK_EQ(poll_now(fd), 0);
}

/* That of the first one, while there is one. */
static void further_mappings_change_nothing(void)
{
	struct perf_event_attr attr = stream_attr("aux_test", 10000000);
	int fd = open_overwrite(&attr, 1);

	CHECK(aux_try_map(&aux, 1, PROT_READ | PROT_WRITE) != MAP_FAILED);
	run_for(fd, 4);
	expect_no_aux_record(&aux);
	expect_newest(count_of(fd), aux.size);

	attr = stream_attr("aux_test", 10000000);
	fd = open_as(&attr, 1, PROT_READ | PROT_WRITE);
	CHECK(aux_try_map(&aux, 1, PROT_READ) != MAP_FAILED);
	run_for(fd, 4);
	CHECK_EQ(aux_head(&aux), 4088);
	CHECK(!(expect_aux_record(&aux)->flags & OVERWRITE));
}

static void map_anew(size_t pages, int prot)
{
	void *words;

	if (aux.words)
		aux_unmap_area(&aux);
	words = aux_try_map(&aux, pages, prot);
	CHECK(words != MAP_FAILED);
	aux.words = words;
	aux.size = pages * page_size();
}

/* Whatever position it was at before, aux_head is within the new area at once. */
static void a_new_area_may_have_another_mode(void)
{
	struct perf_event_attr attr = stream_attr("aux_test", 10000000);
	int fd = open_overwrite(&attr, 16);
	uint64_t head;

	run_for(fd, 4);
	map_anew(1, PROT_READ);
	run_for(fd, 4);
	expect_newest(count_of(fd), aux.size);

	head = aux_head(&aux);
	aux_set_tail(&aux, head);
	map_anew(4, PROT_READ | PROT_WRITE);
	run_for(fd, 4);
	CHECK_EQ(aux_head(&aux), head + 4 * 4096 - 8);

	map_anew(2, PROT_READ);
	run_for(fd, 4);
	expect_newest(count_of(fd), aux.size);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(all_words_are_there_before_it_wraps),
		CASE(it_is_full_of_the_newest_after_it_wrapped),
		CASE(the_same_with_other_memory),
		CASE(records_say_where_the_data_end),
		CASE(transactions_can_be_aligned),
		CASE(nobody_is_woken),
		CASE(nobody_asks_for_the_tail),
		CASE(no_flood_of_empty_records),
		CASE(nor_of_records_that_are_soon_overwritten),
		CASE(the_mapping_decides),
		CASE(further_mappings_change_nothing),
		CASE(a_new_area_may_have_another_mode),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
