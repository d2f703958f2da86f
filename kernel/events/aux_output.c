// SPDX-License-Identifier: GPL-2.0
/*
 * A driver's transactions on an AUX area:
 *
 *	perf_aux_output_begin()	room, and the driver's own data
 *	   the hardware writes; perf_aux_output_skip(), _flag(), _lost()
 *	perf_aux_output_end()	so much has been written: record, aux_head, wake-up
 *
 * From pmu::start() to pmu::stop() as a rule, so preemption is on in between and
 * the handle's references keep ring and area. Each call is made on the event's CPU
 * in any context, with the CPU held for its duration: pmu callbacks have interrupts
 * off, and interrupt handlers are what they are.
 */
#include <linux/export.h>
#include <linux/perf_event.h>

#include "aux.h"
#include "sample.h"

#define AUX_HANDLE_MATCHES(ours, theirs)					\
	static_assert(offsetof(struct perf_aux_handle, ours) ==			\
		      offsetof(struct perf_output_handle, theirs) &&		\
		      sizeof_field(struct perf_aux_handle, ours) ==		\
		      sizeof_field(struct perf_output_handle, theirs),		\
		      "perf_aux_handle::" #ours " is not where the base has "	\
		      "perf_output_handle::" #theirs)

AUX_HANDLE_MATCHES(event, event);
AUX_HANDLE_MATCHES(rb, rb);
AUX_HANDLE_MATCHES(wakeup, wakeup);
AUX_HANDLE_MATCHES(size, size);
AUX_HANDLE_MATCHES(flags, aux_flags);
AUX_HANDLE_MATCHES(head, head);
static_assert(sizeof(struct perf_aux_handle) == sizeof(struct perf_output_handle));
static_assert(offsetof(struct perf_aux_control, aux_head) ==
	      offsetof(struct perf_event_mmap_page, aux_head));
static_assert(offsetof(struct perf_aux_control, aux_tail) ==
	      offsetof(struct perf_event_mmap_page, aux_tail));
static_assert(offsetof(struct perf_aux_control, aux_lost) == PERF_AUX_LOST_OFFSET);
static_assert(sizeof(struct perf_event_mmap_page) <= PERF_AUX_LOST_OFFSET);

static struct perf_aux_handle *aux_handle(struct perf_output_handle *handle)
{
	return (struct perf_aux_handle *)handle;
}

/* PERF_RECORD_AUX */
struct aux_record {
	struct perf_event_header	header;
	u64				offset;
	u64				size;
	u64				flags;
};

/* With PERF_AUX_FLAG_LOST it goes on. */
struct aux_loss {
	u64				bytes;
	u64				since;
};

/*
 * Into the ring that the data are in, wherever the event's output goes by now. What
 * the data ring has no room for goes with the next record.
 */
static void tell(struct perf_buffer *rb, struct perf_event *event,
		 const struct perf_aux_report *report)
{
	struct aux_record record = {
		.offset		= report->offset,
		.size		= report->size,
		.flags		= report->flags,
	};
	const struct aux_loss loss = {
		.bytes		= report->lost,
		.since		= report->lost_since,
	};
	const bool lost = report->flags & PERF_AUX_FLAG_LOST;
	/* Larger than what is said; each member is set before it is used. */
	struct perf_output_handle handle __uninitialized;
	struct perf_sample_data data __uninitialized;

	perf_event_header__init(&record.header, &data, PERF_RECORD_AUX, 0,
				sizeof(record) + (lost ? sizeof(loss) : 0), event);
	if (perf_output_begin_in(rb, &handle, &data, perf_output_event(event),
				 record.header.size)) {
		perf_aux_ring_untold(&rb->aux_ring, report);
		return;
	}
	__output_copy(&handle, &record, sizeof(record));
	if (lost)
		__output_copy(&handle, &loss, sizeof(loss));
	perf_event__output_id_sample(event, &handle, &data);
	perf_output_end(&handle);
}

/* Carry out what the core has decided, all but telling. */
static void follow_up(struct perf_output_handle *handle, unsigned int todo)
{
	WARN_ONCE(todo & PERF_AUX_WRONG, "%s claims more AUX data than it had room for\n",
		  handle->event->pmu->name);
	if (todo & PERF_AUX_STOP)
		perf_event_disable_inatomic(handle->event);
	if (todo & PERF_AUX_WAKE)
		perf_output_wakeup(handle);
}

/*
 * The event is off until the reader has made room and turns it on again. The driver's
 * handle stays that of no transaction, also for an NMI that looks at it meanwhile.
 */
static noinline void refuse(struct perf_event *event, struct perf_buffer *rb)
{
	struct perf_output_handle handle = { .event = event, .rb = rb };
	struct perf_aux_report report;
	unsigned int todo = perf_aux_ring_refuse(&rb->aux_ring, &report);

	if (todo & PERF_AUX_TELL)
		tell(rb, event, &report);
	follow_up(&handle, todo);
	perf_aux_ring_close(&rb->aux_ring);
}

/*
 * Open a transaction on @area, to which we have a reference. Between finding and
 * opening it, it can have been unmapped, even another one mapped in its place: what
 * the core says is about that one then. From opening on, nobody maps another. Pairs
 * with close_area(): it sees the event active and stops it, or we see the area gone.
 */
static enum perf_aux_verdict open_area(struct perf_output_handle *handle,
				       struct perf_event *event, struct perf_buffer *rb,
				       struct perf_aux_area *area)
{
	enum perf_aux_verdict verdict = perf_aux_ring_begin(&rb->aux_ring, aux_handle(handle));

	if (verdict == PERF_AUX_BUSY)
		return verdict;
	smp_mb__after_atomic(); /* pairs with close_area() */
	if (likely(rcu_access_pointer(rb->aux) == area &&
		   perf_event_ring(perf_output_event(event)) == rb))
		return verdict;
	perf_aux_ring_close(&rb->aux_ring);
	return PERF_AUX_BUSY;
}

/* With preemption off. */
static void *begin(struct perf_output_handle *handle, struct perf_event *event,
		   struct perf_buffer *rb)
{
	struct perf_aux_area *area = rcu_dereference_sched(rb->aux);
	enum perf_aux_verdict verdict;

	/*
	 * A ring without an AUX event may have been redirected to from two PMUs. What one
	 * driver has set up is not for the other.
	 */
	if (!area || area->pmu != event->pmu || !refcount_inc_not_zero(&area->refcount))
		return NULL;

	handle->rb = rb;
	verdict = open_area(handle, event, rb, area);
	if (likely(verdict == PERF_AUX_OPENED)) {
		rb->aux_open = area;
		barrier(); /* perf_get_aux() in an NMI: who sees the event sees the area */
		handle->event = event;
		return area->priv;
	}

	if (verdict == PERF_AUX_FULL)
		refuse(event, rb);
	perf_aux_put(area);
	return NULL;
}

/*
 * The driver's data, or NULL: no area, no room in it, or a transaction is open on it
 * already, of another event that shares the ring.
 */
void *perf_aux_output_begin(struct perf_output_handle *handle, struct perf_event *event)
{
	struct perf_buffer *rb;

	guard(preempt)();
	handle->event = NULL;
	rb = perf_event_ring(perf_output_event(event));
	return rb ? begin(handle, event, rb) : NULL;
}
EXPORT_SYMBOL_GPL(perf_aux_output_begin);

/* The transaction has something to say. With preemption off. */
static noinline void end(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_aux_report report __uninitialized;
	struct perf_buffer *rb = handle->rb;
	unsigned int todo;

	todo = perf_aux_ring_commit(&rb->aux_ring, aux_handle(handle), size, &report);
	if (todo & PERF_AUX_TELL)
		tell(rb, handle->event, &report);
	todo |= perf_aux_ring_publish(&rb->aux_ring);
	if (todo & ~PERF_AUX_TELL)
		follow_up(handle, todo);

	handle->event = NULL;
	perf_aux_ring_close(&rb->aux_ring);
}

/*
 * @size bytes have been written and can be seen by other CPUs: that is the driver's
 * part of edge B. In overwrite mode handle->head is where the next byte will go.
 */
void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_buffer *rb = handle->rb;
	struct perf_aux_area *area = rb->aux_open;

	preempt_disable();
	if (!perf_aux_ring_end_quietly(&rb->aux_ring, aux_handle(handle), size))
		end(handle, size);
	preempt_enable();
	perf_aux_put(area);
}
EXPORT_SYMBOL_GPL(perf_aux_output_end);

/*
 * Leave @size bytes out, for hardware that writes at aligned places only: 0, or
 * -ENOSPC if there is not that much room.
 */
int perf_aux_output_skip(struct perf_output_handle *handle, unsigned long size)
{
	int todo;

	guard(preempt)();
	todo = perf_aux_ring_skip(&handle->rb->aux_ring, aux_handle(handle), size);
	if (todo < 0)
		return todo;
	follow_up(handle, todo);
	return 0;
}
EXPORT_SYMBOL_GPL(perf_aux_output_skip);

/* Flags for the transaction's record, in addition to those it has. */
void perf_aux_output_flag(struct perf_output_handle *handle, u64 flags)
{
	const u64 ours = PERF_AUX_FLAG_OVERWRITE | PERF_AUX_FLAG_LOST;

	/* Which mode it is, and whether bytes were counted, is not the driver's to say. */
	WARN_ON_ONCE(flags & ours);
	handle->aux_flags |= flags & ~ours;
}
EXPORT_SYMBOL_GPL(perf_aux_output_flag);

/* The driver's data while a transaction is open, else NULL. */
void *perf_get_aux(struct perf_output_handle *handle)
{
	return handle->event ? handle->rb->aux_open->priv : NULL;
}
EXPORT_SYMBOL_GPL(perf_get_aux);

void perf_aux_output_lost(struct perf_event *event, u64 bytes, u64 since)
{
	struct perf_aux_report report;
	struct perf_buffer *rb;

	guard(preempt)();
	rb = perf_event_ring(perf_output_event(event));
	if (!rb || !rcu_access_pointer(rb->aux))
		return;
	if (!perf_aux_ring_lose(&rb->aux_ring, bytes, since, &report))
		return;
	tell(rb, event, &report);
	perf_aux_ring_close(&rb->aux_ring);
}
EXPORT_SYMBOL_GPL(perf_aux_output_lost);

/*
 * Write what @aux_handle's area has between positions @from and @to into a record:
 * how many bytes. Equal positions mean the whole area. For snapshot_aux().
 */
long perf_output_copy_aux(struct perf_output_handle *aux_handle,
			  struct perf_output_handle *handle,
			  unsigned long from, unsigned long to)
{
	struct perf_aux_area *area = aux_handle->rb->aux_open;

	return perf_aux_copy(perf_ring_handle(handle), area->pages, PAGE_SHIFT,
			     (unsigned long)area->nr_pages << PAGE_SHIFT, from, to);
}
EXPORT_SYMBOL_GPL(perf_output_copy_aux);
