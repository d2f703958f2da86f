// SPDX-License-Identifier: GPL-2.0
/* PERF_EVENT_IOC_SET_OUTPUT and PERF_FLAG_FD_OUTPUT: one ring for several events. */
#include <linux/mutex.h>
#include <linux/perf_event.h>

#include "internal.h"
#include "ring/map_rules.h"

static struct perf_output_end_point end_point(struct perf_event *event)
{
	return (struct perf_output_end_point) {
		.event		= event,
		.task		= event->hw.target,
		.clock		= event->clock,
		.aux_pmu	= has_aux(event) ? event->pmu : NULL,
		.cpu		= event->cpu,
		.backward	= is_write_backward(event),
	};
}

/* A reference to @event's ring while somebody maps it. Under its mmap_mutex. */
static struct perf_buffer *mapped_ring(struct perf_event *event)
{
	struct perf_buffer *rb = ring_buffer_get(event);

	if (rb && !atomic_read(&rb->mmap_count)) {
		ring_buffer_put(rb);
		rb = NULL;
	}
	return rb;
}

/* Back to no ring at all. Under event->mmap_mutex, like the next one. */
static int detach_output(struct perf_event *event)
{
	if (atomic_read(&event->mmap_count))
		return -EINVAL;
	ring_buffer_attach(event, NULL);
	return 0;
}

static int attach_output(struct perf_event *event, struct perf_event *output_event)
{
	struct perf_buffer *rb;

	/* Its own mapping would go on showing the old ring. */
	if (atomic_read(&event->mmap_count))
		return -EINVAL;

	rb = mapped_ring(output_event);
	if (!rb)
		return -EINVAL;
	ring_buffer_attach(event, rb);
	return 0;
}

int perf_event_set_output(struct perf_event *event, struct perf_event *output_event)
{
	struct perf_output_end_point from, to;
	struct mutex *first, *second;
	int err;

	if (!output_event) {
		mutex_lock(&event->mmap_mutex);
		err = detach_output(event);
		mutex_unlock(&event->mmap_mutex);
		return err;
	}

	from = end_point(event);
	to = end_point(output_event);
	err = perf_output_compatible(&from, &to);
	if (err)
		return err;

	/*
	 * output_event keeps its ring and the ring's mapping count stays true
	 * while we hold its mutex; ours is for attaching. By address, so that
	 * two redirections the opposite way do not wait for each other.
	 */
	first = &event->mmap_mutex;
	second = &output_event->mmap_mutex;
	if (second < first)
		swap(first, second);
	mutex_lock(first);
	mutex_lock_nested(second, SINGLE_DEPTH_NESTING);
	err = attach_output(event, output_event);
	mutex_unlock(second);
	mutex_unlock(first);
	return err;
}
