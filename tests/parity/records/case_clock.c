// SPDX-License-Identifier: GPL-2.0
/*
 * The clock events. When they fire is no business of this test; what a sample
 * looks like and how throttling cuts the stream is.
 */
#include <err.h>
#include <stdio.h>

#include "case.h"
#include "decode.h"
#include "ring.h"
#include "work.h"

#define MILLISECOND 1000000ull
#define RATE_FILE "/proc/sys/kernel/perf_event_max_sample_rate"

struct clock_kind {
	const char *name;
	uint64_t config;
	unsigned int freq;
	unsigned int backward;
};

static const struct clock_kind clocks[] = {
	{ "cpu-clock", PERF_COUNT_SW_CPU_CLOCK, 0, 0 },
	{ "cpu-clock-freq", PERF_COUNT_SW_CPU_CLOCK, 1, 0 },
	{ "cpu-clock-backward", PERF_COUNT_SW_CPU_CLOCK, 0, 1 },
	{ "task-clock", PERF_COUNT_SW_TASK_CLOCK, 0, 0 },
	{ "task-clock-freq", PERF_COUNT_SW_TASK_CLOCK, 1, 0 },
};

static struct perf_event_attr clock_attr(const struct clock_kind *kind)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = kind->config,
		.sample_period = MILLISECOND,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_ADDR,
		.exclude_kernel = 1,
		.disabled = 1,
		.write_backward = kind->backward,
	};

	if (kind->freq) {
		attr.freq = 1;
		attr.sample_freq = 1000;
	} else {
		attr.sample_type |= PERF_SAMPLE_PERIOD;
	}
	return attr;
}

static void spin_for(uint64_t nanoseconds)
{
	uint64_t end = monotonic_now() + nanoseconds;

	while (monotonic_now() < end)
		spin(100000);
}

struct spinning {
	struct time_rule times;
	size_t count;
};

/* The first sample of the spinning instruction stands for all of them. */
static void show_first(const struct ring *ring, const struct perf_event_header *record,
		       void *argument)
{
	struct spinning *state = argument;
	const uint64_t *words = (const void *)(record + 1);

	if (record->type != PERF_RECORD_SAMPLE || words[0] != spin_address())
		return;
	if (!state->count++)
		dump_one(ring, record, &state->times);
}

static void spun(const void *argument)
{
	struct perf_event_attr attr = clock_attr(argument);
	struct spinning state = { 0 };
	struct ring ring;

	open_own(&ring, &attr);
	map_ring(&ring, 32, RING_READ_WRITE);
	enable(&ring);
	spin_for(50 * MILLISECOND);
	disable(&ring);
	each_record(&ring, SIZE_MAX, show_first, &state);
	say("samples of the spin: %s\n", state.count > 5 ? "many" : "TOO FEW");
}

static void set_rate(unsigned long rate)
{
	FILE *file = fopen(RATE_FILE, "we");

	if (!file)
		err(1, RATE_FILE);
	fprintf(file, "%lu\n", rate);
	if (fclose(file))
		err(1, RATE_FILE);
}

/* Lengths of the runs of samples that a THROTTLE ends, each length once. */
struct runs {
	struct time_rule times;
	unsigned int length;
	bool seen[64];
	bool shown[2];
	bool complete;		/* it started with an UNTHROTTLE */
};

static void follow_run(const struct ring *ring, const struct perf_event_header *record,
		       void *argument)
{
	bool throttled = record->type == PERF_RECORD_THROTTLE;
	struct runs *runs = argument;

	if (record->type == PERF_RECORD_SAMPLE) {
		runs->length++;
		return;
	}
	if (!runs->shown[throttled])
		dump_one(ring, record, &runs->times);
	runs->shown[throttled] = true;
	if (throttled && runs->complete)
		runs->seen[runs->length < 64 ? runs->length : 63] = true;
	runs->complete = !throttled;
	runs->length = 0;
}

static void throttling(const void *unused)
{
	struct perf_event_attr attr = clock_attr(&clocks[0]);
	unsigned long rate = number_in(RATE_FILE);
	struct runs runs = { 0 };
	struct ring ring;

	(void)unused;
	attr.sample_period = 10000;
	attr.sample_id_all = 1;
	attr.exclude_kernel = 0;
	open_own(&ring, &attr);
	map_ring(&ring, 64, RING_READ_WRITE);
	set_rate(1000);
	enable(&ring);
	spin_for(60 * MILLISECOND);
	disable(&ring);
	set_rate(rate);
	each_record(&ring, SIZE_MAX, follow_run, &runs);
	for (int i = 0; i < 64; i++) {
		if (runs.seen[i])
			say("throttled after %d samples\n", i);
	}
}

void clock_cases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		run_case(clocks[i].name, spun, &clocks[i]);
	run_case("throttle", throttling, NULL);
}
