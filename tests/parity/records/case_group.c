// SPDX-License-Identifier: GPL-2.0
/* Groups, redirected output, inherited events, and what read(2) says of them. */
#include <stdio.h>

#include "case.h"
#include "decode.h"
#include "ring.h"
#include "work.h"

#define FAULTS 5

struct format {
	const char *name;
	uint64_t read_format;
};

static const struct format formats[] = {
	{ "plain", 0 },
	{ "id", PERF_FORMAT_ID },
	{ "lost", PERF_FORMAT_LOST },
	{ "times", PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING },
	{ "all", 31 & ~PERF_FORMAT_GROUP },
	{ "group", PERF_FORMAT_GROUP },
	{ "group-id", PERF_FORMAT_GROUP | PERF_FORMAT_ID },
	{ "group-all", 31 },
};

static struct perf_event_attr faults_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_READ,
		.disabled = 1,
	};
}

/* A leader that samples, one sibling that only counts, one that samples too. */
static void group_read(const void *argument)
{
	const struct format *format = argument;
	struct perf_event_attr attr = faults_attr();
	struct ring leader, counter, sampler;

	attr.read_format = format->read_format;
	open_own(&leader, &attr);
	attr.disabled = 0;
	attr.sample_period = 0;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	open_event(&counter, &attr, 0, -1, leader.fd);
	attr.sample_period = 2;
	open_event(&sampler, &attr, 0, -1, leader.fd);
	map_ring(&leader, 8, RING_READ_WRITE);
	control(&sampler, PERF_EVENT_IOC_SET_OUTPUT, leader.fd);
	enable(&leader);
	fault_pages(FAULTS);
	disable(&leader);
	dump_ring(&leader);
	dump_counts(&leader);
	dump_counts(&counter);
	dump_counts(&sampler);
}

static void reset_and_period(const void *unused)
{
	struct perf_event_attr attr = faults_attr();
	struct ring ring;
	uint64_t period = 3;

	(void)unused;
	attr.sample_type |= PERF_SAMPLE_PERIOD;
	open_own(&ring, &attr);
	map_ring(&ring, 8, RING_READ_WRITE);
	enable(&ring);
	fault_pages(2);
	disable(&ring);
	control(&ring, PERF_EVENT_IOC_PERIOD, (unsigned long)&period);
	control(&ring, PERF_EVENT_IOC_RESET, 0);
	enable(&ring);
	fault_pages_from(2, 7);
	disable(&ring);
	dump_ring(&ring);
	dump_counts(&ring);
}

static void work_in_child(const void *argument)
{
	(void)argument;
	rename_self("child");
	fault_pages_from(FAULTS, FAULTS);
}

/* The child's first steps fault too, in an order that is nobody's business. */
static void dump_if_meant(const struct ring *ring, const struct perf_event_header *record,
			  void *times)
{
	const uint64_t *words = (const void *)(record + 1);

	/* identifier, tid, addr */
	if (record->type != PERF_RECORD_SAMPLE ||
	    (words[2] >= FAULT_REGION && words[2] < FAULT_REGION + FAULT_PAGES * PAGE))
		dump_one(ring, record, times);
}

/*
 * Children write to the parent's ring; their counts come home at exit. A switch
 * between the two may swap their events, so the stream is not looked at.
 */
static void inherited(const void *argument)
{
	const struct format *format = argument;
	struct perf_event_attr attr = faults_attr();
	struct time_rule times = { 0 };
	struct ring ring;

	attr.inherit = 1;
	attr.task = 1;
	attr.comm = 1;
	attr.sample_id_all = 1;
	attr.inherit_stat = 1;
	attr.read_format = format->read_format;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR;
	open_event(&ring, &attr, 0, 0, -1);
	map_ring(&ring, 8, RING_READ_WRITE);
	enable(&ring);
	in_child(work_in_child, NULL);
	disable(&ring);
	each_record(&ring, SIZE_MAX, dump_if_meant, &times);
}

/* Three events of different layouts in one ring. */
static void redirected(const void *unused)
{
	struct perf_event_attr attr = faults_attr();
	struct ring first, second, third;

	(void)unused;
	open_own(&first, &attr);
	attr.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU;
	open_own(&second, &attr);
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID;
	attr.comm = 1;
	attr.sample_id_all = 1;
	open_own(&third, &attr);
	map_ring(&first, 8, RING_READ_WRITE);
	control(&second, PERF_EVENT_IOC_SET_OUTPUT, first.fd);
	control(&third, PERF_EVENT_IOC_SET_OUTPUT, first.fd);
	first.attr.sample_id_all = 1;	/* the only side-band is the third's */
	enable(&first);
	enable(&second);
	enable(&third);
	fault_pages(2);
	rename_self("between");
	disable(&first);
	fault_pages_from(2, 2);
	/* The second leaves for no ring at all, its sample is lost. */
	control(&second, PERF_EVENT_IOC_SET_OUTPUT, -1);
	fault_pages_from(4, 1);
	rename_self("after");
	disable(&second);
	disable(&third);
	dump_ring(&first);
}

static void run_formats(const char *name, case_function function)
{
	char full[64];

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		snprintf(full, sizeof(full), "%s-%s", name, formats[i].name);
		run_case(full, function, &formats[i]);
	}
}

void group_cases(void)
{
	run_formats("group-read", group_read);
	run_formats("inherited", inherited);
	run_case("reset-and-period", reset_and_period, NULL);
	run_case("redirected", redirected, NULL);
}
