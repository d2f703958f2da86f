/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of the sample's fixed part: compiling a gather plan and writing by it.
 *
 * Valid in C and C++, free of kernel headers. "Words" are 8 bytes each, in the
 * CPU's byte order. The words that a plan copies from are struct
 * perf_sample_data, which the core knows only as an array.
 */
#ifndef PERF_EVENTS_RING_SAMPLE_PLAN_H
#define PERF_EVENTS_RING_SAMPLE_PLAN_H

#include "../../../include/linux/perf_sample_plan.h"
#include "data_ring.h"

/* What perf_sample_emit_*() returns besides perf_ring_refusal. */
#define PERF_SAMPLE_WRITTEN		0
#define PERF_SAMPLE_WRITTEN_WAKE	1	/* written, and the reader has to be woken */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Fill @plan, all zero before, for attr.sample_type @sample_type. Bits that are
 * not known are left out. @every: attr.wakeup_events, or 0 if attr.watermark.
 * Before the event can fire.
 */
void perf_sample_plan_compile(struct perf_sample_plan *plan,
			      const struct perf_sample_sources *sources,
			      unsigned long long sample_type, unsigned int every);

/* Bytes that attr.read_format takes with @nr_siblings other events in the group. */
unsigned int perf_sample_read_size(unsigned long long read_format, unsigned int nr_siblings);
/* The members that so many bytes hold, for a read_format with GROUP. */
unsigned int perf_sample_read_members(unsigned long long read_format, unsigned int bytes);

/*
 * Write a whole sample by a plan without fields of variable size: reserve, copy
 * header and words, count it, commit. @header: struct perf_event_header as one
 * word. Not for a ring with refused records that no LOST record tells of: that
 * one is the shell's to write, so it looks at ring->lost first.
 *
 * Returns PERF_SAMPLE_WRITTEN*, or a perf_ring_refusal as perf_data_ring_reserve
 * does. Any context, preemption off.
 */
long perf_sample_emit_forward(struct perf_data_ring *ring, const struct perf_sample_plan *plan,
			      unsigned long long header, const unsigned long long *words);
long perf_sample_emit_backward(struct perf_data_ring *ring, const struct perf_sample_plan *plan,
			       unsigned long long header, const unsigned long long *words);

/*
 * Reserve a sample of @size bytes, and write its header and head run. @handle is
 * then where the first field of variable size goes; commit is the caller's.
 * Returns 0 or a perf_ring_refusal; the rest as for perf_sample_emit_*().
 */
long perf_sample_start_forward(struct perf_data_ring *ring, struct perf_ring_handle *handle,
			       const struct perf_sample_plan *plan, unsigned long size,
			       unsigned long long header, const unsigned long long *words);
long perf_sample_start_backward(struct perf_data_ring *ring, struct perf_ring_handle *handle,
				const struct perf_sample_plan *plan, unsigned long size,
				unsigned long long header, const unsigned long long *words);

/* Write one run of @plan at the writer's place, between reserve and commit. */
void perf_sample_write_run(struct perf_ring_handle *handle, const struct perf_sample_plan *plan,
			   enum perf_sample_run run, const unsigned long long *words);

/*
 * Whole words for a caller that writes them itself: a pointer to @len bytes (a
 * multiple of 8) at the writer's place, or null where they are not contiguous
 * and have to go through perf_output_copy(). The caller then moves on by
 * perf_ring_advance().
 */
static inline unsigned long long *
perf_ring_words(const struct perf_ring_handle *handle, unsigned long len)
{
	return handle->room >= len ? (unsigned long long *)handle->addr : (unsigned long long *)0;
}

#ifdef __cplusplus
}
#endif

#endif /* PERF_EVENTS_RING_SAMPLE_PLAN_H */
