// SPDX-License-Identifier: GPL-2.0
/*
 * PERF_SAMPLE_AUX: each sample of a member has the newest bytes of its AUX leader's
 * trace, in order, as many as it asked for and there are; what is missing is zero.
 *
 * On the base this PMU cannot be sampled, and says so.
 */
#include "perf_aux_record.h"
#include "perf_ring_task.h"

#define STREAM 9 /* not 0: its first word is not taken for what is missing */
#define RATE 4000000 /* 4000 bytes a millisecond */

static struct aux aux;
static struct fault_area area;
static struct ring rings[3];
static int leader;

static void open_leader_as(size_t pages, int prot)
{
	struct perf_event_attr attr = aux_attr();

	area = fault_area(64);
	aux_field(&attr, "rate", RATE);
	aux_field(&attr, "id", STREAM);
	leader = open_self(&attr);
	aux_map_as(&aux, leader, 16, pages, prot);
	aux.id = STREAM;
}

/* A snapshot's: one transaction as long as the task is on a CPU. */
static void open_leader(size_t pages)
{
	open_leader_as(pages, PROT_READ);
}

static struct perf_event_attr sampler_attr(uint32_t size)
{
	struct perf_event_attr attr = fault_attr();

	attr.disabled = 0; /* on when the group is */
	attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_AUX;
	attr.aux_sample_size = size;
	return attr;
}

static int open_sampler_as(const struct perf_event_attr *attr, pid_t pid, int cpu,
			   struct ring *ring, size_t pages)
{
	int fd = perf_open(attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);

	if (on_base()) {
		CHECK_EQ(fd, -1);
		CHECK_EQ(errno, EINVAL);
		_exit(0);
	}
	if (fd < 0)
		FAIL("perf_event_open with aux_sample_size %u: %s",
		     attr->aux_sample_size, strerror(errno));
	if (ring)
		ring_map(ring, fd, pages);
	return fd;
}

static int open_sampler(uint32_t size, struct ring *ring, size_t pages)
{
	struct perf_event_attr attr = sampler_attr(size);

	return open_sampler_as(&attr, 0, -1, ring, pages);
}

/* A fault, after so long at least. */
static void sample_after(unsigned int ms)
{
	fault_again(&area);
	enable(leader);
	spin_ms(ms);
	touch_pages(&area, 1);
	disable(leader);
}

/* ---- what a sample has ---- */

struct aux_sample {
	uint64_t size; /* as it says */
	uint64_t had; /* so many bytes of the stream */
	uint64_t until; /* offset in the stream behind them */
	uint64_t time;
};

/* Words that follow each other, then zeros. */
static void take_words(struct aux_sample *sample, const uint64_t *words)
{
	size_t nr = sample->size / 8, i = 0;

	for (; i < nr && words[i]; i++) {
		uint64_t offset = words[i] & ((1ULL << AUX_OFFSET_BITS) - 1);

		CHECK_EQ(words[i] >> AUX_OFFSET_BITS, STREAM);
		if (i)
			CHECK_EQ(offset, sample->until);
		sample->until = offset + 8;
	}
	sample->had = i * 8;
	for (; i < nr; i++)
		CHECK_EQ(words[i], 0);
}

/* The next record has to be a sample of time and AUX data, and ends with these. */
static struct aux_sample expect_aux_sample(struct ring *ring)
{
	const uint64_t *words = ring->record.words;
	struct aux_sample sample = { 0 };

	expect_type(ring, PERF_RECORD_SAMPLE);
	sample.time = words[1];
	sample.size = words[2];
	CHECK_EQ(ring->record.header.size, 24 + sample.size);
	take_words(&sample, words + 3);
	return sample;
}

/* ---- how much ---- */

static void the_newest_words_in_order(void)
{
	static const uint32_t sizes[] = { 8, 64, 1000, 4096, 40000 };

	open_leader(64);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		int fd = open_sampler(sizes[i], &rings[0], 32);
		bool whole = false;

		/* A switch of tasks right before the fault leaves few. */
		for (int attempt = 0; attempt < 20 && !whole; attempt++) {
			uint64_t before = count_of(leader);
			struct aux_sample sample;

			sample_after(sizes[i] > 10000 ? 20 : 2);
			sample = expect_aux_sample(&rings[0]);
			ring_drain(&rings[0]);
			CHECK_EQ(sample.size, sizes[i]);
			CHECK(sample.until > before);
			CHECK(sample.until <= count_of(leader));
			whole = sample.had == sizes[i];
		}
		CHECK(whole);
		ring_unmap(&rings[0]);
		close(fd);
	}
}

/* Up to the fault itself: what has been made before it is there. */
static void up_to_the_fault(void)
{
	open_leader(64);
	open_sampler(256, &rings[0], 4);
	fault_again(&area);
	enable(leader);
	for (int i = 0; i < 20; i++) {
		uint64_t before, after;
		struct aux_sample sample;

		spin_ms(1);
		rings[0].pos = ring_head(&rings[0]); /* nothing but what comes */
		before = count_of(leader);
		area.base[(size_t)i * page_size()] = 1;
		after = count_of(leader);
		sample = expect_aux_sample(&rings[0]);
		if (!sample.had)
			continue; /* the task has only just come back */
		CHECK(sample.until >= before);
		CHECK(sample.until <= after);
	}
}

static void no_more_than_the_area(void)
{
	bool whole = false;

	open_leader(1);
	open_sampler(8192, &rings[0], 16);
	for (int i = 0; i < 10; i++) {
		struct aux_sample sample;

		sample_after(3);
		sample = expect_aux_sample(&rings[0]);
		ring_drain(&rings[0]);
		CHECK_EQ(sample.size, 4096);
		whole |= sample.had == 4096;
	}
	CHECK(whole);
}

static void the_rest_is_zero(void)
{
	struct aux_sample sample;

	open_leader(64);
	open_sampler(32768, &rings[0], 16);
	sample_after(0);
	sample = expect_aux_sample(&rings[0]);
	CHECK_EQ(sample.size, 32768);
	CHECK(sample.had < 32768);
}

/* A record has 16 bits for its size: 24 bytes are taken, and all are multiples of 8. */
static void no_more_than_a_record(void)
{
	static const uint32_t sizes[] = { 65504, 65505, 65512, 65535, 65536,
					  1 << 20, UINT32_MAX };

	open_leader(64);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		int fd = open_sampler(sizes[i], &rings[0], 32);

		sample_after(20);
		CHECK_EQ(expect_aux_sample(&rings[0]).size, 65504);
		CHECK_EQ(rings[0].record.header.size, 65528);
		ring_unmap(&rings[0]);
		close(fd);
	}
}

static void whole_words_only(void)
{
	static const uint32_t sizes[] = { 1, 7, 8, 9, 15, 16, 100, 4095 };

	open_leader(64);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		int fd = open_sampler(sizes[i], &rings[0], 4);

		sample_after(2);
		CHECK_EQ(expect_aux_sample(&rings[0]).size, sizes[i] / 8 * 8);
		ring_unmap(&rings[0]);
		close(fd);
	}
}

/* What comes before it in the record has its place first. */
static void a_stack_goes_before(void)
{
	struct perf_event_attr attr = sampler_attr(65000);
	const union ring_record *record = &rings[0].record;
	struct aux_sample sample = { 0 };
	uint64_t stack, at;

	open_leader(64);
	attr.sample_type |= PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 2048;
	open_sampler_as(&attr, 0, -1, &rings[0], 32);
	sample_after(20);
	expect_type(&rings[0], PERF_RECORD_SAMPLE);
	stack = record->words[2];
	CHECK(stack > 0 && stack <= 2048);
	at = 3 + stack / 8 + 1;
	sample.size = record->words[at];
	CHECK_EQ((at + 1) * 8 + sample.size, record->header.size);
	CHECK(record->header.size > 65000);
	take_words(&sample, &record->words[at + 1]);
}

/* Without a leader to ask, on the base as well. */
static void none_asked_for_none_there(void)
{
	struct perf_event_attr attr = sampler_attr(0);
	int fd;

	area = fault_area(64);
	attr.disabled = 1;
	fd = open_self(&attr);
	ring_map(&rings[0], fd, 1);
	sample_faults(fd, &area, 1);
	CHECK_EQ(expect_aux_sample(&rings[0]).size, 0);
}

/* ---- several, and often ---- */

static void each_member_has_its_own_size(void)
{
	static const uint32_t sizes[] = { 64, 4096, 136 };

	open_leader(64);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		open_sampler(sizes[i], &rings[i], 16);
	for (int round = 0; round < 5; round++) {
		sample_after(2);
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
			struct aux_sample sample = expect_aux_sample(&rings[i]);

			CHECK_EQ(sample.size, sizes[i]);
			ring_drain(&rings[i]);
		}
	}
}

/* Taking samples takes nothing away from who reads the area. */
static void the_stream_goes_on(void)
{
	uint64_t last = 0;
	unsigned int nr = 0;

	open_leader_as(1024, PROT_READ | PROT_WRITE);
	open_sampler(512, &rings[0], 64);
	for (int round = 0; round < 10; round++) {
		fault_again(&area);
		enable(leader);
		for (size_t i = 0; i < 32; i++) {
			area.base[i * page_size()] = 1;
			for (volatile int spin = 0; spin < 20000; spin++)
				;
		}
		disable(leader);
		while (rings[0].pos != ring_head(&rings[0])) {
			struct aux_sample sample = expect_aux_sample(&rings[0]);

			CHECK(!sample.had || sample.until >= last);
			last = sample.had ? sample.until : last;
			nr++;
		}
		ring_release(&rings[0]);
		aux_drain(&aux);
	}
	CHECK(nr >= 320);
	CHECK_EQ(aux.kept, count_of(leader));
	CHECK_EQ(aux.gaps, 0);
	CHECK(last > 0 && last <= aux.next);
}

static void samples_and_trace_share_a_ring(void)
{
	const struct perf_event_header *record;
	unsigned int nr = 0;
	int fd;

	open_leader_as(64, PROT_READ | PROT_WRITE);
	fd = open_sampler(256, NULL, 0);
	CHECK(!set_output(fd, leader));
	sample_after(2);
	while ((record = ring_next(&aux.ring))) {
		struct aux_sample sample = { .size = aux.ring.record.words[2] };

		aux_take_record(&aux, record);
		if (record->type != PERF_RECORD_SAMPLE)
			continue;
		CHECK_EQ(sample.size, 256);
		take_words(&sample, aux.ring.record.words + 3);
		nr++;
	}
	CHECK(nr >= 1);
	CHECK(aux.records >= 1);
}

static void a_sample_that_does_not_fit_is_lost(void)
{
	struct perf_event_attr attr = sampler_attr(4096);
	int fd;

	attr.read_format = PERF_FORMAT_LOST;
	open_leader(64);
	fd = open_sampler_as(&attr, 0, -1, &rings[0], 1);
	for (int i = 0; i < 5; i++)
		sample_after(1);
	CHECK(lost_of(fd) >= 5);
	CHECK_EQ(ring_head(&rings[0]), 0);
}

/* ---- where there is nothing to take ---- */

static void no_area_no_bytes(void)
{
	void *words;

	open_leader(64);
	aux_unmap_area(&aux);
	open_sampler(256, &rings[0], 4);
	sample_after(1);
	CHECK_EQ(expect_aux_sample(&rings[0]).size, 0);
	ring_drain(&rings[0]);

	for (int i = 0; i < 3; i++) {
		words = aux_try_map(&aux, 16, PROT_READ);
		CHECK(words != MAP_FAILED);
		aux.words = words;
		aux.size = 16 * page_size();
		sample_after(2);
		CHECK_EQ(expect_aux_sample(&rings[0]).size, 256);
		ring_drain(&rings[0]);
		aux_unmap_area(&aux);
		sample_after(1);
		CHECK_EQ(expect_aux_sample(&rings[0]).size, 0);
		ring_drain(&rings[0]);
	}

	ring_unmap(&aux.ring);
	sample_after(1);
	CHECK_EQ(expect_aux_sample(&rings[0]).size, 0);
}

/* While the leader is on: what has been begun on that area is not to be seen. */
static void the_area_may_go_in_between(void)
{
	open_leader(64);
	open_sampler(256, &rings[0], 4);
	fault_again(&area);
	enable(leader);
	spin_ms(2);
	aux_unmap_area(&aux);
	rings[0].pos = ring_head(&rings[0]);
	touch_pages(&area, 1);
	disable(leader);
	CHECK_EQ(expect_aux_sample(&rings[0]).size, 0);
}

static void a_paused_trace_has_nothing_new(void)
{
	struct perf_event_attr attr = aux_attr();
	struct aux_sample sample;

	area = fault_area(64);
	attr.aux_start_paused = 1;
	leader = open_self(&attr);
	aux_map_as(&aux, leader, 16, 16, PROT_READ);
	open_sampler(256, &rings[0], 4);
	sample_after(2);
	sample = expect_aux_sample(&rings[0]);
	CHECK_EQ(sample.size, 256);
	CHECK_EQ(sample.had, 0);
}

/* The whole group is off then. */
static void no_leader_no_samples(void)
{
	open_leader(64);
	open_sampler(256, &rings[0], 4);
	sample_after(1);
	CHECK(ring_drain(&rings[0]) >= 1);
	fault_again(&area);
	touch_pages(&area, 10);
	CHECK_EQ(ring_drain(&rings[0]), 0);
}

static void a_full_area_ends_the_samples(void)
{
	open_leader_as(1, PROT_READ | PROT_WRITE);
	open_sampler(256, &rings[0], 4);
	enable(leader);
	spin_ms(10);
	CHECK(aux_head(&aux) >= 4088);
	ring_drain(&rings[0]);
	fault_again(&area);
	touch_pages(&area, 10);
	CHECK_EQ(ring_drain(&rings[0]), 0);
}

/* Turned on again, it samples, and has nobody to ask. */
static void a_member_outlives_its_leader(void)
{
	int fd;

	open_leader(64);
	fd = open_sampler(256, &rings[0], 4);
	sample_after(1);
	ring_drain(&rings[0]);
	aux_unmap(&aux);
	close(leader);
	sample_faults(fd, &area, 3);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(expect_aux_sample(&rings[0]).size, 0);
}

/* ---- children ---- */

/* A child's samples have the child's trace, in the parent's ring. */
static void children_sample_their_own_trace(void)
{
	struct perf_event_attr attr = aux_attr(), member = sampler_attr(128);
	unsigned int nr = 0, had = 0;
	pid_t child;

	pin_to(0);
	area = fault_area(64);
	aux_field(&attr, "rate", RATE);
	aux_field(&attr, "id", STREAM);
	attr.inherit = 1;
	leader = open_on(&attr, 0, 0);
	aux_map_as(&aux, leader, 16, 64, PROT_READ);
	member.inherit = 1;
	open_sampler_as(&member, 0, 0, &rings[0], 64);
	enable(leader);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		fault_again(&area);
		spin_ms(3);
		touch_pages(&area, 10);
		_exit(0);
	}
	join_child(child);
	disable(leader);
	while (rings[0].pos != ring_head(&rings[0])) {
		struct aux_sample sample = expect_aux_sample(&rings[0]);

		CHECK_EQ(sample.size, 128);
		CHECK(sample.until <= count_of(leader));
		had += sample.had == 128;
		nr++;
	}
	CHECK(nr >= 10);
	CHECK(had >= 5);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(the_newest_words_in_order),
		CASE(up_to_the_fault),
		CASE(no_more_than_the_area),
		CASE(the_rest_is_zero),
		CASE(no_more_than_a_record),
		CASE(whole_words_only),
		CASE(a_stack_goes_before),
		CASE(none_asked_for_none_there),
		CASE(each_member_has_its_own_size),
		CASE(the_stream_goes_on),
		CASE(samples_and_trace_share_a_ring),
		CASE(a_sample_that_does_not_fit_is_lost),
		CASE(no_area_no_bytes),
		CASE(the_area_may_go_in_between),
		CASE(a_paused_trace_has_nothing_new),
		CASE(no_leader_no_samples),
		CASE(a_full_area_ends_the_samples),
		CASE(a_member_outlives_its_leader),
		CASE(children_sample_their_own_trace),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
