// SPDX-License-Identifier: GPL-2.0
/* Rings that never refuse: the newest records must be there, whole. */
#include <stdio.h>

#include "case.h"
#include "ring.h"
#include "work.h"

#define RECORD_SIZE 24	/* a bare PERF_RECORD_COMM; does not divide a page */

struct lap {
	const char *name;
	unsigned int records;
};

static const struct lap laps[] = {
	{ "none", 0 },
	{ "one", 1 },
	{ "nearly-full", 4096 / RECORD_SIZE },
	{ "full", 4096 / RECORD_SIZE + 1 },
	{ "many", 1000 },
};

static struct perf_event_attr comm_attr(unsigned int backward)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.read_format = PERF_FORMAT_LOST,
		.comm = 1,
		.disabled = 1,
		.write_backward = backward,
	};
}

static void rename_often(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		rename_numbered(i);
}

static void backward(const void *argument)
{
	const struct lap *lap = argument;
	struct perf_event_attr attr = comm_attr(1);
	struct ring ring;

	open_own(&ring, &attr);
	map_ring(&ring, 1, RING_READ_ONLY);
	enable(&ring);
	rename_often(lap->records);
	control(&ring, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	rename_often(3);
	dump_ring(&ring);
	control(&ring, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	rename_often(2);
	disable(&ring);
	dump_ring(&ring);
	dump_counts(&ring);
}

/* Records of one size make it known where the oldest one starts. */
static void forward(const void *argument)
{
	const struct lap *lap = argument;
	struct perf_event_attr attr = comm_attr(0);
	struct ring ring;
	uint64_t kept = 4096 / RECORD_SIZE * RECORD_SIZE;
	uint64_t head;

	open_own(&ring, &attr);
	map_ring(&ring, 1, RING_READ_ONLY);
	enable(&ring);
	rename_often(lap->records);
	disable(&ring);
	head = ring_head(&ring);
	say("head=%llu\n", (unsigned long long)head);
	say("%zu records\n", dump_from(&ring, head > kept ? head - kept : 0));
	dump_counts(&ring);
}

/* Samples of different sizes around the wrap, the newest first. */
static void backward_samples(const void *unused)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN |
			       PERF_SAMPLE_STACK_USER,
		.sample_stack_user = 264,
		.write_backward = 1,
		.comm = 1,
		.sample_id_all = 1,
		.disabled = 1,
	};
	struct ring ring;

	(void)unused;
	open_own(&ring, &attr);
	map_ring(&ring, 2, RING_READ_ONLY);
	enable(&ring);
	for (unsigned int i = 0; i < 60; i++) {
		fault_pages_from(i, 1);
		rename_numbered(i);
	}
	disable(&ring);
	dump_ring(&ring);
}

static void run_laps(const char *name, case_function function)
{
	char full[64];

	for (size_t i = 0; i < ARRAY_SIZE(laps); i++) {
		snprintf(full, sizeof(full), "%s-%s", name, laps[i].name);
		run_case(full, function, &laps[i]);
	}
}

void overwrite_cases(void)
{
	run_laps("overwrite-backward", backward);
	run_laps("overwrite-forward", forward);
	run_case("overwrite-samples", backward_samples, NULL);
}
