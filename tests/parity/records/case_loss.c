// SPDX-License-Identifier: GPL-2.0
/* Rings that fill up: which record is refused, and where the loss is told. */
#include <stdio.h>

#include "case.h"
#include "ring.h"
#include "work.h"

struct episode {
	const char *name;
	uint64_t sample_type;
	unsigned int sample_id_all;
};

static const struct episode episodes[] = {
	{ "bare", 0, 0 },
	{ "trailer", PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU, 1 },
	{ "identifier", PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID, 1 },
};

static struct perf_event_attr comm_attr(const struct episode *episode)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = episode->sample_type,
		.sample_id_all = episode->sample_id_all,
		.read_format = PERF_FORMAT_LOST,
		.comm = 1,
		.disabled = 1,
	};
}

static void rename_often(unsigned int first, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		rename_numbered(first + i);
}

/* Three times full, drained by a different amount each time. */
static void fill_and_drain(const void *argument)
{
	static const size_t drained[] = { 1, 3, 1000 };
	const struct episode *episode = argument;
	struct perf_event_attr attr = comm_attr(episode);
	struct ring ring;

	open_own(&ring, &attr);
	map_ring(&ring, 1, RING_READ_WRITE);
	enable(&ring);
	for (int i = 0; i < 3; i++) {
		rename_often(1000 * i, 200);
		say("full: head=%llu\n", (unsigned long long)ring_head(&ring));
		dump_counts(&ring);
		say("drained %zu\n", dump_records(&ring, drained[i]));
		rename_often(1000 * i + 500, 2);
		say("after: head=%llu\n", (unsigned long long)ring_head(&ring));
		dump_counts(&ring);
	}
	disable(&ring);
	dump_ring(&ring);
	rename_often(9000, 1);
	dump_ring(&ring);
}

/* Room that is too small for one record may do for another. */
static void big_and_small(const void *unused)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_STACK_USER,
		.sample_stack_user = 1000,
		.read_format = PERF_FORMAT_LOST | PERF_FORMAT_ID,
		.sample_id_all = 1,
		.disabled = 1,
	};
	struct ring big, small;

	(void)unused;
	open_own(&big, &attr);
	attr.sample_type = PERF_SAMPLE_IDENTIFIER;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.comm = 1;
	open_own(&small, &attr);
	map_ring(&big, 1, RING_READ_WRITE);
	control(&small, PERF_EVENT_IOC_SET_OUTPUT, big.fd);
	enable(&big);
	enable(&small);
	fault_pages(6);
	disable(&big);
	rename_often(0, 40);
	dump_counts(&big);
	dump_counts(&small);
	dump_records(&big, 2);
	rename_often(100, 3);
	enable(&big);
	fault_pages_from(6, 4);
	disable(&big);
	disable(&small);
	dump_ring(&big);
	dump_counts(&big);
	dump_counts(&small);
}

/* A record as big as the ring, and one that a ring of one page cannot hold. */
static void too_big(const void *unused)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_STACK_USER,
		.read_format = PERF_FORMAT_LOST,
		.disabled = 1,
	};

	(void)unused;
	for (unsigned int stack = 4056; stack <= 4096; stack += 8) {
		struct ring ring;

		attr.sample_stack_user = stack;
		open_own(&ring, &attr);
		map_ring(&ring, 1, RING_READ_WRITE);
		enable(&ring);
		fault_pages_from((stack - 4056) / 4, 2);
		disable(&ring);
		say("stack %u: head=%llu\n", stack, (unsigned long long)ring_head(&ring));
		dump_counts(&ring);
		close_ring(&ring);
	}
}

static void paused(const void *argument)
{
	const struct episode *episode = argument;
	struct perf_event_attr attr = comm_attr(episode);
	struct ring ring;

	open_own(&ring, &attr);
	map_ring(&ring, 1, RING_READ_WRITE);
	enable(&ring);
	rename_often(0, 2);
	control(&ring, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	rename_often(10, 3);
	dump_counts(&ring);
	control(&ring, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	rename_often(20, 2);
	disable(&ring);
	dump_ring(&ring);
	dump_counts(&ring);
}

/* Without a ring nothing is written and nothing is lost. */
static void unmapped(const void *argument)
{
	const struct episode *episode = argument;
	struct perf_event_attr attr = comm_attr(episode);
	struct ring ring;

	open_own(&ring, &attr);
	enable(&ring);
	rename_often(0, 3);
	dump_counts(&ring);
	map_ring(&ring, 1, RING_READ_WRITE);
	rename_often(10, 2);
	dump_ring(&ring);
	unmap_ring(&ring);
	rename_often(20, 3);
	dump_counts(&ring);
	map_ring(&ring, 2, RING_READ_WRITE);
	rename_often(30, 1);
	dump_ring(&ring);
}

/* The lost samples of a page-fault event, with their place in the samples. */
static void lost_in_samples(const void *unused)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | PERF_SAMPLE_PERIOD,
		.read_format = PERF_FORMAT_LOST | PERF_FORMAT_ID,
		.disabled = 1,
	};
	struct ring ring;

	(void)unused;
	open_own(&ring, &attr);
	map_ring(&ring, 1, RING_READ_WRITE);
	enable(&ring);
	fault_pages(100);
	disable(&ring);
	say("%zu records\n", dump_records(&ring, 70));
	enable(&ring);
	fault_pages_from(100, 100);
	disable(&ring);
	dump_ring(&ring);
	dump_counts(&ring);
}

static void run_episodes(const char *name, case_function function)
{
	char full[64];

	for (size_t i = 0; i < ARRAY_SIZE(episodes); i++) {
		snprintf(full, sizeof(full), "%s-%s", name, episodes[i].name);
		run_case(full, function, &episodes[i]);
	}
}

void loss_cases(void)
{
	run_episodes("loss", fill_and_drain);
	run_episodes("paused", paused);
	run_episodes("unmapped", unmapped);
	run_case("loss-big-and-small", big_and_small, NULL);
	run_case("loss-too-big", too_big, NULL);
	run_case("loss-in-samples", lost_in_samples, NULL);
}
