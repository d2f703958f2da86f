// SPDX-License-Identifier: GPL-2.0
/*
 * Each fixed-size field of a sample says what the test knows by other means,
 * and stands where it has to, whichever fields are beside it.
 */
#include "perf_ring_sample.h"

#include <sched.h>

#define AREA_PAGES 512

/* In the order of a sample, the two weights as one. */
static const uint64_t leading[] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,	 PERF_SAMPLE_TID,
	PERF_SAMPLE_TIME,	PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID,	PERF_SAMPLE_CPU, PERF_SAMPLE_PERIOD,
};

static const uint64_t trailing[] = {
	PERF_SAMPLE_DATA_SRC,	    PERF_SAMPLE_TRANSACTION,
	PERF_SAMPLE_PHYS_ADDR,	    PERF_SAMPLE_CGROUP,
	PERF_SAMPLE_DATA_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE,
};

static const uint64_t weights[] = {
	0, PERF_SAMPLE_WEIGHT, PERF_SAMPLE_WEIGHT_STRUCT,
};

#define LEADING_SETS (1u << ARRAY_LEN(leading))
#define TRAILING_SETS ((1u << ARRAY_LEN(trailing)) * ARRAY_LEN(weights))
#define ALL_SETS (LEADING_SETS * TRAILING_SETS)

static uint64_t leading_set(unsigned int nr)
{
	uint64_t type = 0;

	for (size_t i = 0; i < ARRAY_LEN(leading); i++)
		type |= nr >> i & 1 ? leading[i] : 0;
	return type;
}

static uint64_t trailing_set(unsigned int nr)
{
	uint64_t type = weights[nr % ARRAY_LEN(weights)];

	nr /= ARRAY_LEN(weights);
	for (size_t i = 0; i < ARRAY_LEN(trailing); i++)
		type |= nr >> i & 1 ? trailing[i] : 0;
	return type;
}

/* ---- one fault, one sample ---- */

struct bench {
	struct ring ring;
	struct fault_area area;
	size_t page; /* the next one to fault */
	uint64_t cgroup;
	uint64_t time; /* of the last sample that had one */
	int owner;
};

/* The test is its machine's only program that is to know of cgroups. */
static uint64_t cgroup_of_test(void)
{
	struct perf_event_attr attr = minor_fault_attr(PERF_SAMPLE_CGROUP);
	struct fault_area area = fault_area(1);
	struct ring ring;
	int fd = open_self(&attr);

	ring_map(&ring, fd, 1);
	sample_faults(fd, &area, 1);
	expect_type(&ring, PERF_RECORD_SAMPLE);
	ring_unmap(&ring);
	close(fd);
	return ring.record.words[1];
}

static struct bench *set_up(void)
{
	static struct bench the_bench; /* not on the stack: that would fault */
	struct bench *bench = &the_bench;

	touch_stack();
	bench->cgroup = cgroup_of_test();
	bench->owner = open_ring_owner(&bench->ring, 1);
	bench->area = fault_area(AREA_PAGES);
	bench->page = AREA_PAGES;
	bench->time = 0;
	physical_address(bench->area.base);
	return bench;
}

static volatile char *next_page(struct bench *bench)
{
	if (bench->page == AREA_PAGES) {
		fault_again(&bench->area);
		bench->page = 0;
	}
	return page_of(&bench->area, bench->page++) + 123;
}

static void check_leading(struct bench *bench, const struct sample *s,
			  uint64_t type, uint64_t id)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		CHECK_EQ(s->identifier, id);
	if (type & PERF_SAMPLE_IP)
		CHECK(in_fault_code(s->ip));
	if (type & PERF_SAMPLE_TID) {
		CHECK_EQ(s->pid, getpid());
		CHECK_EQ(s->tid, gettid());
	}
	if (type & PERF_SAMPLE_TIME) {
		CHECK(s->time > bench->time);
		bench->time = s->time;
	}
	if (type & PERF_SAMPLE_ID)
		CHECK_EQ(s->id, id);
	if (type & PERF_SAMPLE_STREAM_ID)
		CHECK_EQ(s->stream_id, id);
	if (type & PERF_SAMPLE_CPU)
		CHECK(s->cpu < (uint64_t)sysconf(_SC_NPROCESSORS_CONF));
	if (type & PERF_SAMPLE_PERIOD)
		CHECK_EQ(s->period, 1);
}

static void check_trailing(const struct bench *bench, const struct sample *s,
			   uint64_t type, const volatile char *at)
{
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		CHECK_EQ(s->weight, 0);
	if (type & PERF_SAMPLE_DATA_SRC)
		CHECK_EQ(s->data_src, DATA_SRC_NA);
	if (type & PERF_SAMPLE_TRANSACTION)
		CHECK_EQ(s->transaction, 0);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		CHECK_EQ(s->phys_addr, physical_address(at));
	if (type & PERF_SAMPLE_CGROUP)
		CHECK_EQ(s->cgroup, bench->cgroup);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		CHECK_EQ(s->data_page_size, page_size());
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		CHECK_EQ(s->code_page_size, page_size());
}

static void check_set(struct bench *bench, uint64_t type)
{
	struct perf_event_attr attr = minor_fault_attr(type);
	volatile char *at = next_page(bench);
	struct sample s;
	uint64_t id;
	int fd;

	attr.disabled = 0;
	fd = open_into(&attr, 0, -1, bench->owner);
	id = event_id(fd);
	fault_on(at);
	expect_sample(&bench->ring, &s, &attr);
	expect_end(&bench->ring);
	CHECK_EQ(bench->ring.record.header.size,
		 8 + 8 * __builtin_popcountll(type));
	CHECK_EQ(bench->ring.record.header.misc, PERF_RECORD_MISC_USER);
	check_leading(bench, &s, type, id);
	if (type & PERF_SAMPLE_ADDR)
		CHECK_EQ(s.addr, at);
	check_trailing(bench, &s, type, at);
	ring_release(&bench->ring);
	close(fd);
}

/* ---- sets of fields ---- */

static void a_sample_may_have_no_field(void)
{
	struct bench *bench = set_up();

	check_set(bench, 0);
}

static void each_field_stands_alone(void)
{
	struct bench *bench = set_up();

	for (size_t i = 0; i < ARRAY_LEN(leading); i++)
		check_set(bench, leading[i]);
	for (size_t i = 0; i < ARRAY_LEN(trailing); i++)
		check_set(bench, trailing[i]);
	for (size_t i = 1; i < ARRAY_LEN(weights); i++)
		check_set(bench, weights[i]);
}

static void leading_fields_combine(void)
{
	struct bench *bench = set_up();

	for (unsigned int nr = 0; nr < LEADING_SETS; nr++)
		check_set(bench, leading_set(nr));
}

static void trailing_fields_combine(void)
{
	struct bench *bench = set_up();

	for (unsigned int nr = 0; nr < TRAILING_SETS; nr++)
		check_set(bench, trailing_set(nr));
}

/*
 * A part of the product, spread evenly: a step that has no factor in common
 * with the number of sets meets each leading and each trailing set.
 * PERF_RING_SETS=98304 takes all of them.
 */
static void leading_and_trailing_fields_combine(void)
{
	const char *asked = getenv("PERF_RING_SETS");
	unsigned int nr_sets = asked ? (unsigned int)atoi(asked) : 2048;
	struct bench *bench = set_up();

	for (uint64_t i = 0; i < nr_sets; i++) {
		unsigned int nr = (unsigned int)(i * 60013 % ALL_SETS);

		check_set(bench, leading_set(nr % LEADING_SETS) |
					  trailing_set(nr / LEADING_SETS));
	}
}

static void refused(uint64_t type)
{
	struct perf_event_attr attr = minor_fault_attr(type);

	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
}

static void both_weights_are_refused(void)
{
	refused(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
	refused(PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_IP);
}

static void unknown_fields_are_refused(void)
{
	for (int bit = 25; bit < 64; bit++)
		refused(1ULL << bit);
}

/* A branch stack needs hardware, an AUX sample an AUX event as its leader. */
static void fields_of_hardware_are_refused(void)
{
	struct perf_event_attr attr = minor_fault_attr(PERF_SAMPLE_BRANCH_STACK);

	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL); /* no filter */
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EOPNOTSUPP);
	attr = minor_fault_attr(PERF_SAMPLE_AUX);
	attr.aux_sample_size = 64;
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(a_sample_may_have_no_field),
		CASE(each_field_stands_alone),
		CASE(leading_fields_combine),
		CASE(trailing_fields_combine),
		CASE(leading_and_trailing_fields_combine),
		CASE(both_weights_are_refused),
		CASE(unknown_fields_are_refused),
		CASE(fields_of_hardware_are_refused),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
