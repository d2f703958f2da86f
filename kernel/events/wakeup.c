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

void perf_output_wakeup(struct perf_output_handle *handle)
{
	struct perf_event *event = handle->event;

	atomic_set(&handle->rb->poll, (__force int)(EPOLLIN | EPOLLRDNORM));
	event->pending_wakeup = 1;

	/* IOC_REFRESH running out is the stronger word, it is not taken back. */
	if (*perf_event_fasync(event) && !event->pending_kill)
		event->pending_kill = POLL_IN;

	irq_work_queue(&event->pending_irq);
}

/* Redirected events share the ring: whoever polls any of them is concerned. */
static void wake_pollers(struct perf_event *event)
{
	struct perf_buffer *rb;

	rcu_read_lock();
	rb = perf_event_ring(perf_output_event(event));
	if (rb) {
		list_for_each_entry_rcu(event, &rb->event_list, rb_entry)
			wake_up_all(&event->waitq);
	}
	rcu_read_unlock();
}

void perf_event_wakeup(struct perf_event *event)
{
	wake_pollers(event);

	if (event->pending_kill) {
		kill_fasync(perf_event_fasync(event), SIGIO, event->pending_kill);
		event->pending_kill = 0;
	}
}

/*
 * EPOLLHUP for an event whose task is gone or that has no ring. Else what has
 * been noted since the last call, which takes the note with it.
 */
__poll_t perf_poll(struct file *file, poll_table *wait)
{
	struct perf_event *event = file->private_data;
	__poll_t events = EPOLLHUP;

	poll_wait(file, &event->waitq, wait);

	if (is_event_hup(event))
		return EPOLLHUP;

	/* Held still, or SET_OUTPUT could swap the ring and the note be missed. */
	mutex_lock(&event->mmap_mutex);
	if (event->rb)
		events = (__force __poll_t)atomic_xchg(&event->rb->poll, 0);
	mutex_unlock(&event->mmap_mutex);
	return events;
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
