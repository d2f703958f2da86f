// SPDX-License-Identifier: GPL-2.0
/*
 * Two events that sample the same fault: each sample is as its own event asked
 * for, whatever the other one has asked for. Each pair of some kinds of events
 * is tried, in both orders.
 */
#include "perf_ring_read.h"
#include "perf_ring_regs.h"

#include <time.h>

#define FRAMES 40

struct kind {
	const char *name;
	uint64_t fields;
	uint64_t user_regs, intr_regs, format;
	uint32_t stack;
	uint16_t max_stack;
	bool no_user_chain, raw_clock;
};

static const struct kind kinds[] = {
	{ .name = "nothing" },
	{ .name = "ip", .fields = PERF_SAMPLE_IP },
	{ .name = "ids", .fields = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID },
	{ .name = "time", .fields = PERF_SAMPLE_TIME },
	{ .name = "raw clock", .fields = PERF_SAMPLE_TIME, .raw_clock = true },
	{ .name = "period", .fields = PERF_SAMPLE_PERIOD },
	{ .name = "data", .fields = PERF_SAMPLE_PHYS_ADDR |
				    PERF_SAMPLE_DATA_PAGE_SIZE |
				    PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT },
	{ .name = "raw", .fields = PERF_SAMPLE_RAW },
	{ .name = "count", .fields = PERF_SAMPLE_READ },
	{ .name = "counts", .fields = PERF_SAMPLE_READ, .format = ALL_FORMATS },
	{ .name = "chain", .fields = PERF_SAMPLE_CALLCHAIN },
	{ .name = "short chain", .fields = PERF_SAMPLE_CALLCHAIN,
	  .max_stack = 7 },
	{ .name = "empty chain", .fields = PERF_SAMPLE_CALLCHAIN,
	  .no_user_chain = true },
	{ .name = "regs", .fields = PERF_SAMPLE_REGS_USER,
	  .user_regs = KNOWN_REGS },
	{ .name = "other regs", .fields = PERF_SAMPLE_REGS_USER,
	  .user_regs = 1 << R_DX | 1 << R_BP },
	{ .name = "intr regs", .fields = PERF_SAMPLE_REGS_INTR,
	  .intr_regs = 1 << R_DI | 1 << R_SI },
	{ .name = "stack", .fields = PERF_SAMPLE_STACK_USER, .stack = 256 },
	{ .name = "long stack", .fields = PERF_SAMPLE_STACK_USER,
	  .stack = 8192 },
	{ .name = "stack and regs",
	  .fields = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER,
	  .stack = 64, .user_regs = 1 << R_SP },
};

static struct { const void *next; uint64_t ret; } frames[FRAMES];
static uint8_t stack[16384] __attribute__((aligned(16)));
static struct fault_area area;
static struct registers regs;
static uint64_t before[2], after[2]; /* of both clocks */

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	CHECK(!clock_gettime(clock, &time));
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct perf_event_attr attr_of(const struct kind *kind)
{
	struct perf_event_attr attr = minor_fault_attr(
		kind->fields | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR);

	attr.disabled = 0;
	attr.sample_regs_user = kind->user_regs;
	attr.sample_regs_intr = kind->intr_regs;
	attr.sample_stack_user = kind->stack;
	attr.sample_max_stack = kind->max_stack;
	attr.read_format = kind->format;
	attr.exclude_callchain_user = kind->no_user_chain;
	attr.use_clockid = 1;
	attr.clockid = kind->raw_clock ? CLOCK_MONOTONIC_RAW : CLOCK_TAI;
	return attr;
}

static void fault(void)
{
	regs = numbered_registers(area.base);
	regs.of[R_BP] = (uintptr_t)frames;
	regs.of[R_SP] = (uintptr_t)stack + 128;
	fault_again(&area);
	before[0] = now(CLOCK_TAI);
	before[1] = now(CLOCK_MONOTONIC_RAW);
	fault_with(&regs);
	after[0] = now(CLOCK_TAI);
	after[1] = now(CLOCK_MONOTONIC_RAW);
}

static void set_up(void)
{
	touch_stack();
	for (size_t i = 0; i < FRAMES; i++) {
		frames[i].next = i + 1 < FRAMES ? &frames[i + 1] : NULL;
		frames[i].ret = 0x10000 + i;
	}
	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = (uint8_t)(i * 167 + i / 256);
	area = fault_area(1);
	fault(); /* what it needs besides does not fault any more */
}

/* ---- is the sample what this kind has to give? ---- */

/* Bytes of the whole record. */
static size_t size_of(const struct kind *kind)
{
	size_t words = 3 + (size_t)__builtin_popcountll(kind->fields &
		~(PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN));

	if (kind->fields & PERF_SAMPLE_READ)
		words += words_of_format(kind->format, 1);
	if (kind->fields & PERF_SAMPLE_CALLCHAIN)
		words += 1 + (kind->no_user_chain ? 0 :
			      kind->max_stack ? 1u + kind->max_stack :
						2 + FRAMES);
	words += (size_t)__builtin_popcountll(kind->user_regs) +
		 (size_t)__builtin_popcountll(kind->intr_regs);
	return 8 * words + (kind->stack ? kind->stack + 8 : 0);
}

static bool right_registers(const uint64_t *got, uint64_t mask)
{
	for (int reg = 0; reg < NR_REGS; reg++)
		if (mask >> reg & 1 && *got++ != regs.of[reg] &&
		    reg != R_FLAGS)
			return false;
	return true;
}

static bool right_time(const struct kind *kind, uint64_t time)
{
	const uint64_t slack = kind->raw_clock ? 0 : 2000;

	return time + slack >= before[kind->raw_clock] &&
	       time <= after[kind->raw_clock] + slack;
}

static bool right_chain(const struct kind *kind, const struct sample *s)
{
	return !s->chain_length ||
	       (s->chain[1] == (uintptr_t)fault_with_ip &&
		s->chain[s->chain_length - 1] ==
			0x10000 + s->chain_length - 3 && !kind->no_user_chain);
}

static bool right_counts(const struct kind *kind, const struct sample *s,
			 uint64_t id)
{
	struct values values = values_in_sample(s, kind->format);

	return values.nr == 1 && values.of[0].count == 1 &&
	       (values.of[0].id == id || !kind->format);
}

static bool is_right(const struct kind *kind, struct ring *ring, int fd)
{
	struct perf_event_attr attr = attr_of(kind);
	uint64_t id = event_id(fd);
	struct sample s;

	if (ring_head(ring) != size_of(kind))
		return false;
	expect_sample(ring, &s, &attr);
	if (s.identifier != id || s.addr != (uintptr_t)area.base)
		return false;
	if ((kind->fields & PERF_SAMPLE_IP) && s.ip != (uintptr_t)fault_with_ip)
		return false;
	if ((kind->fields & PERF_SAMPLE_ID) && (s.id != id || s.stream_id != id))
		return false;
	if ((kind->fields & PERF_SAMPLE_TIME) && !right_time(kind, s.time))
		return false;
	if ((kind->fields & PERF_SAMPLE_PERIOD) && s.period != 1)
		return false;
	if ((kind->fields & PERF_SAMPLE_DATA_SRC) &&
	    (s.data_src != DATA_SRC_NA || s.weight || !s.phys_addr))
		return false;
	if ((kind->fields & PERF_SAMPLE_READ) && !right_counts(kind, &s, id))
		return false;
	return right_chain(kind, &s) &&
	       right_registers(s.user_regs, kind->user_regs) &&
	       right_registers(s.intr_regs, kind->intr_regs) &&
	       s.stack_filled == kind->stack &&
	       !memcmp(s.stack ?: stack, stack + 128, kind->stack);
}

/* ---- pairs ---- */

static struct ring rings[2];

/* One fault with these two, opened in this order; are both samples right? */
static bool pair_is_right(const struct kind *const pair[2], size_t nr)
{
	bool right = true;
	int fds[2];

	for (size_t i = 0; i < nr; i++) {
		struct perf_event_attr attr = attr_of(pair[i]);

		attr.disabled = 1;
		fds[i] = open_self(&attr);
		ring_map(&rings[i], fds[i], 16);
	}
	for (size_t i = 0; i < nr; i++)
		enable(fds[i]);
	fault();
	for (size_t i = 0; i < nr; i++)
		disable(fds[i]);
	for (size_t i = 0; i < nr; i++)
		right = is_right(pair[i], &rings[i], fds[i]) && right;
	for (size_t i = 0; i < nr; i++) {
		ring_unmap(&rings[i]);
		close(fds[i]);
	}
	return right;
}

static void each_kind_is_right_alone(void)
{
	set_up();
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct kind *const pair[2] = { &kinds[i] };

		if (!pair_is_right(pair, 1))
			FAIL("a sample with %s is wrong", kinds[i].name);
	}
}

static void try_pairs(bool same, const char *defect)
{
	set_up();
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		for (size_t j = 0; j < ARRAY_LEN(kinds); j++) {
			const struct kind *const pair[2] = { &kinds[i],
							     &kinds[j] };

			if (same && i != j)
				continue;
			if (pair_is_right(pair, 2))
				continue;
			dprintf(STDOUT_FILENO, "# wrong: %s beside %s\n",
				kinds[i].name, kinds[j].name);
			BASE_DEFECT(defect);
		}
	}
}

static void two_of_the_same_kind(void)
{
	try_pairs(true, "samples of one fault all have the id of one event");
}

static void each_pair_of_kinds(void)
{
	try_pairs(false, "a sample has fields of another event's sample");
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(each_kind_is_right_alone),
		CASE(two_of_the_same_kind),
		CASE(each_pair_of_kinds),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
