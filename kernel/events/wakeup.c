// SPDX-License-Identifier: GPL-2.0
/*
 * Waking the reader: poll() and SIGIO.
 *
 * A writer may be in an NMI, where nothing can be woken. So it leaves a note in
 * the ring (`poll`) and in the event (`pending_wakeup`) and queues irq work,
 * which wakes everybody who waits on an event of that ring.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/perf_event.h>
#include <linux/poll.h>
#include <linux/rculist.h>

#include "internal.h"

static void leave_note(struct perf_buffer *rb)
{
	atomic_set(&rb->poll, (__force int)(EPOLLIN | EPOLLRDNORM));
}

void perf_output_wakeup(struct perf_output_handle *handle)
{
	struct perf_event *event = handle->event;

	leave_note(handle->rb);

	/* IOC_REFRESH running out is the stronger word, it is not taken back. */
	if (READ_ONCE(*perf_event_fasync(event)) && !READ_ONCE(event->pending_kill))
		WRITE_ONCE(event->pending_kill, POLL_IN);

	perf_event_queue_wakeup(event);
}

/* Inherited events write to their parent's ring from several CPUs at once. */
void perf_event_queue_wakeup(struct perf_event *event)
{
	WRITE_ONCE(event->pending_wakeup, 1);
	irq_work_queue(&event->pending_irq);
}

/* Where the event is by now does not matter. Waking makes no samples itself. */
void perf_pending_irq(struct irq_work *entry)
{
	struct perf_event *event = container_of(entry, struct perf_event, pending_irq);
	int level = perf_swevent_get_recursion_context();

	if (xchg(&event->pending_wakeup, 0))
		perf_event_wakeup(event);
	if (level >= 0)
		perf_swevent_put_recursion_context(level);
}

/*
 * A full AUX area leaves its note before its event is off. A reader that is quick
 * takes it, makes room and switches on what is not off yet: in vain, and the event
 * stays off. So there is a second note; who takes it finds the event off. It wakes by
 * itself: an event that is being freed has waited for its other irq work already.
 */
static void tell_that_off(struct perf_event *event)
{
	struct perf_buffer *rb;

	if (!has_aux(event))
		return;
	scoped_guard (rcu) {
		rb = perf_event_ring(perf_output_event(event));
		if (rb)
			leave_note(rb);
	}
	perf_event_wakeup(event);
}

/*
 * The event can have gone elsewhere meanwhile: then the work goes after it. One that
 * is on no CPU has been switched off on its way out.
 */
void perf_pending_disable(struct irq_work *entry)
{
	struct perf_event *event = container_of(entry, struct perf_event, pending_disable_irq);
	const int cpu = READ_ONCE(event->oncpu);
	int level;

	if (cpu >= 0 && cpu != smp_processor_id()) {
		irq_work_queue_on(entry, cpu);
		return;
	}

	level = perf_swevent_get_recursion_context();
	if (cpu >= 0 && perf_event_take_disable(event))
		perf_event_disable_local(event);
	tell_that_off(event);
	if (level >= 0)
		perf_swevent_put_recursion_context(level);
}

/* Redirected events share the ring: whoever polls any of them is concerned. */
static void wake_pollers(struct perf_buffer *rb)
{
	struct perf_event *sharer;

	list_for_each_entry_rcu(sharer, &rb->event_list, rb_entry)
		wake_up_all(&sharer->waitq);
}

void perf_event_wakeup(struct perf_event *event)
{
	struct perf_event *output = perf_output_event(event);
	unsigned int reason;

	scoped_guard (rcu) {
		struct perf_buffer *rb = perf_event_ring(output);

		if (rb)
			wake_pollers(rb);
	}

	reason = xchg(&event->pending_kill, 0);
	if (reason)
		kill_fasync(&output->fasync, SIGIO, reason);
}

/* What the ring's writers have noted since it was last asked for. */
static __poll_t take_note(struct perf_event *event)
{
	struct perf_buffer *rb;

	/* SET_OUTPUT changes the ring under this lock; the note is the old one's. */
	guard(mutex)(&event->mmap_mutex);
	rb = event->rb;
	return rb ? (__force __poll_t)atomic_xchg(&rb->poll, 0) : EPOLLHUP;
}

/*
 * EPOLLHUP for an event whose task is gone or that has no ring. Else the note,
 * which the first to ask takes with it.
 */
__poll_t perf_poll(struct file *file, poll_table *wait)
{
	struct perf_event *event = file->private_data;

	poll_wait(file, &event->waitq, wait);
	return is_event_hup(event) ? EPOLLHUP : take_note(event);
}

int perf_fasync(int fd, struct file *filp, int on)
{
	struct perf_event *event = filp->private_data;
	struct inode *inode = file_inode(filp);
	int err;

	/* All perf files have one inode; its lock orders changes to the list. */
	inode_lock(inode);
	err = fasync_helper(fd, filp, on, &event->fasync);
	inode_unlock(inode);

	return min(err, 0);
}
