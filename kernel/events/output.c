// SPDX-License-Identifier: GPL-2.0
/*
 * Writing a record: perf_output_begin(), the fields, perf_output_end().
 *
 * From begin to end preemption is off. That pins the writer to its CPU, as the
 * ring demands, and keeps the ring alive, since it is freed a grace period
 * after the last event has left it.
 */
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "internal.h"

typedef long (*reserve_fn)(struct perf_data_ring *ring, struct perf_ring_handle *handle,
			   unsigned long size, unsigned long lost_size);

/* PERF_RECORD_LOST without its sample_id. */
struct lost_record {
	struct perf_event_header	header;
	u64				id;
	u64				lost;
};

static unsigned long lost_record_size(struct perf_event *event)
{
	return sizeof(struct lost_record) +
	       (event->attr.sample_id_all ? event->id_header_size : 0);
}

static noinline void write_lost_record(struct perf_output_handle *handle,
				       struct perf_sample_data *data,
				       struct perf_event *event, u64 lost)
{
	struct lost_record record = {
		.id	= event->id,
		.lost	= lost,
	};

	perf_event_header__init(&record.header, data, PERF_RECORD_LOST, 0,
				sizeof(record), event);
	perf_output_put(handle, record);
	perf_event__output_id_sample(event, handle, data);
}

static noinline int refused(struct perf_output_handle *handle, struct perf_event *event,
			    long verdict)
{
	if (verdict != PERF_RING_NO_DATA)
		atomic64_inc(&event->lost_samples);
	if (verdict == PERF_RING_FULL_WAKE)
		perf_output_wakeup(handle);
	return -ENOSPC;
}

int perf_output_emitted(struct perf_event *event, struct perf_buffer *rb, long done)
{
	struct perf_output_handle handle = {
		.event	= event,
		.rb	= rb,
	};

	if (done < 0)
		return refused(&handle, event, done);
	perf_output_wakeup(&handle);
	return 0;
}

int perf_output_refuse(struct perf_event *event, struct perf_buffer *rb)
{
	/* A ring without a data area loses nothing. */
	if (rb->nr_pages) {
		perf_data_ring_count_lost(&rb->data);
		atomic64_inc(&event->lost_samples);
	}
	return -E2BIG;
}

static __always_inline int
output_begin_in(struct perf_buffer *rb, struct perf_output_handle *handle,
		struct perf_sample_data *data, struct perf_event *event, unsigned int size,
		reserve_fn reserve)
{
	unsigned long lost_size = 0;
	long verdict;

	handle->event = event;
	handle->flags = 0;
	if (unlikely(READ_ONCE(rb->data.lost)))
		lost_size = lost_record_size(event);

	verdict = reserve(&rb->data, perf_ring_handle(handle), size, lost_size);
	if (likely(!verdict))
		return 0;
	if (verdict < 0) {
		handle->rb = rb;
		return refused(handle, event, verdict);
	}
	write_lost_record(handle, data, event, verdict);
	return 0;
}

static __always_inline int
output_begin(struct perf_output_handle *handle, struct perf_sample_data *data,
	     struct perf_event *event, unsigned int size, reserve_fn reserve)
{
	struct perf_buffer *rb;
	int err = -ENOSPC;

	event = perf_output_event(event);

	preempt_disable();
	rb = perf_event_ring(event);
	if (likely(rb))
		err = output_begin_in(rb, handle, data, event, size, reserve);
	if (unlikely(err))
		preempt_enable();
	return err;
}

int perf_output_begin_forward(struct perf_output_handle *handle,
			      struct perf_sample_data *data,
			      struct perf_event *event, unsigned int size)
{
	return output_begin(handle, data, event, size, perf_data_ring_reserve_forward);
}

int perf_output_begin_backward(struct perf_output_handle *handle,
			       struct perf_sample_data *data,
			       struct perf_event *event, unsigned int size)
{
	return output_begin(handle, data, event, size, perf_data_ring_reserve_backward);
}

int perf_output_begin(struct perf_output_handle *handle,
		      struct perf_sample_data *data,
		      struct perf_event *event, unsigned int size)
{
	if (unlikely(is_write_backward(event)))
		return perf_output_begin_backward(handle, data, event, size);
	return perf_output_begin_forward(handle, data, event, size);
}

int perf_output_begin_in(struct perf_buffer *rb, struct perf_output_handle *handle,
			 struct perf_sample_data *data, struct perf_event *event,
			 unsigned int size)
{
	int err;

	preempt_disable();
	if (unlikely(is_write_backward(event)))
		err = output_begin_in(rb, handle, data, event, size,
				      perf_data_ring_reserve_backward);
	else
		err = output_begin_in(rb, handle, data, event, size,
				      perf_data_ring_reserve_forward);
	if (unlikely(err))
		preempt_enable();
	return err;
}

void perf_output_end(struct perf_output_handle *handle)
{
	if (unlikely(perf_data_ring_commit(perf_ring_handle(handle))))
		perf_output_wakeup(handle);
	preempt_enable();
}
