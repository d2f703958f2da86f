/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to the KUnit suites of the AUX area (aux_area_test.c, aux_output_test.c):
 * a PMU, events with a ring and an area, and what a reader finds in the ring.
 *
 * The PMU is the tests' own. It does what a trace driver does and counts what it is
 * asked for. Its module is not one, but has a count of references.
 */
#ifndef _KERNEL_EVENTS_AUX_FIXTURE_H
#define _KERNEL_EVENTS_AUX_FIXTURE_H

#include <kunit/test.h>
#include <linux/perf_event.h>

#include "aux.h"

#define AUX_TEST_CPU	0
#define AUX_DATA_PAGES	2

/* What the PMU is told to do, and what it was asked for, in this case. */
struct aux_fake {
	struct perf_output_handle	handle;
	void				*begun;		/* what the latest start's begin gave */
	bool				traces;		/* start begins, stop ends */
	bool				declines;	/* in setup_aux() */
	bool				overwrite;
	bool				freed_by_task;
	int				setups, frees, starts, stops, pauses, resumes;
	void				(*nested)(struct perf_event *event);
};

extern struct aux_fake aux_fake;
extern struct pmu aux_fake_pmu;

/* The functions of a suite. They register the PMU; each case finds it as new. */
int aux_set_up_suite(struct kunit_suite *suite);
void aux_tear_down_suite(struct kunit_suite *suite);
int aux_set_up(struct kunit *test);

/* How many hold the fake module, on behalf of this case. */
int aux_holders(void);

/* An event that is off. */
struct perf_event *aux_make_event(struct kunit *test, u32 type, u64 config);
void aux_attach(struct perf_event *event, struct perf_buffer *rb);

/* An event of the fake PMU with a ring, which has one reference of ours. */
struct perf_event *aux_make_trace(struct kunit *test, struct perf_buffer **rb);
/* Nothing else may hold the ring or the fake module any more. */
void aux_drop_trace(struct kunit *test, struct perf_event *event, struct perf_buffer *rb);

/* The first mapping of an area: what perf_aux_create() says. */
int aux_map(struct perf_event *event, struct perf_buffer *rb, int nr_pages, int flags);

/* A trace with an area of @nr_pages. */
struct perf_event *aux_make_area(struct kunit *test, int nr_pages, int flags,
				 struct perf_buffer **rb);
/* The area goes at once, and in task context. */
void aux_drop_area(struct kunit *test, struct perf_event *event, struct perf_buffer *rb);

/* An AUX record as it is read, with what was lost where it says so. */
struct aux_read_record {
	struct perf_event_header	header;
	u64				offset;
	u64				size;
	u64				flags;
	u64				lost;
	u64				since;
};

/* @len bytes from position @at of the data ring. */
void aux_read_ring(struct perf_buffer *rb, u64 at, void *to, size_t len);
/* What comes next in the data ring, which then has room again; type 0: nothing. */
struct aux_read_record aux_next_record(struct perf_buffer *rb);
void aux_expect_record(struct kunit *test, struct perf_buffer *rb, u64 offset, u64 size,
		       u64 flags);
void aux_expect_loss(struct kunit *test, struct perf_buffer *rb, u64 size, u64 lost, u64 since);
void aux_expect_no_record(struct kunit *test, struct perf_buffer *rb);

#endif /* _KERNEL_EVENTS_AUX_FIXTURE_H */
