// SPDX-License-Identifier: GPL-2.0
/*
 * PERF_SAMPLE_AUX: the latest bytes of the AUX area of the event that leads the
 * group, in the middle of a sample.
 *
 * The hardware may be writing there, and an NMI may want a sample while one is
 * being taken. aux_in_sampling is up while the driver copies; whoever finds it
 * up goes without.
 */
#include <linux/perf_event.h>

#include "sample.h"

unsigned int perf_sample_aux_available(struct perf_event *event)
{
	struct perf_event *source = event->aux_event;
	struct perf_buffer *rb;

	/* The leader can be closed, and be off, before its members. */
	if (!source || !perf_event_runs_here(source))
		return 0;

	rb = perf_event_ring(perf_output_event(source));
	if (!rb || READ_ONCE(rb->aux_in_sampling) || !rcu_access_pointer(rb->aux))
		return 0;
	return min_t(unsigned long, READ_ONCE(rb->aux_ring.size), PERF_RECORD_SIZE_MAX);
}

/* How many of @size bytes the driver had. IRQs stay off: an IPI could stop it. */
static long snapshot(struct perf_buffer *rb, struct perf_event *source,
		     struct perf_output_handle *handle, unsigned long size)
{
	long had;

	guard(irqsave)();
	WRITE_ONCE(rb->aux_in_sampling, 1);
	barrier();
	had = source->pmu->snapshot_aux(source, handle, size);
	barrier();
	WRITE_ONCE(rb->aux_in_sampling, 0);
	return had;
}

void perf_output_aux(struct perf_output_handle *handle, struct perf_event *event,
		     struct perf_sample_data *data)
{
	struct perf_event *source = event->aux_event;
	static const u64 zero;
	struct perf_buffer *rb;
	u64 left = data->aux_size;

	perf_output_word(handle, data->aux_size);
	if (!left)
		return;

	rb = source ? perf_event_ring(perf_output_event(source)) : NULL;
	if (rb) {
		long had = snapshot(rb, source, handle, left);

		if (!WARN_ON_ONCE(had < 0 || had > left))
			left -= had;
	}
	/* The area may be gone, or end in half a word. */
	for (; left; left -= min_t(u64, left, sizeof(zero)))
		perf_output_copy(handle, &zero, min_t(u64, left, sizeof(zero)));
}
