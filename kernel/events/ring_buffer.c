// SPDX-License-Identifier: GPL-2.0
/*
 * A ring's life: allocated by the first mmap(), shared by the events that are
 * attached to it, freed a grace period after the last reference is dropped.
 */
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "aux.h"
#include "internal.h"
#include "ring/map_rules.h"

static void free_ring(struct work_struct *work)
{
	struct perf_buffer *rb = container_of(to_rcu_work(work), struct perf_buffer, free_work);

	rb_pages_free(rb);
	kfree(rb);
}

struct perf_buffer *rb_alloc(int nr_pages, long watermark, int cpu, int flags)
{
	const int node = cpu == -1 ? NUMA_NO_NODE : cpu_to_node(cpu);
	const size_t size = struct_size_t(struct perf_buffer, data_pages,
					  rb_pages_pieces(nr_pages));
	struct perf_buffer *rb;

	/* More than the allocator ever gives is no reason for it to warn. */
	if (size > KMALLOC_MAX_SIZE)
		return NULL;

	rb = kzalloc_node(size, GFP_KERNEL | __GFP_NOWARN, node);
	if (!rb)
		return NULL;
	if (rb_pages_alloc(rb, nr_pages, cpu)) {
		kfree(rb);
		return NULL;
	}

	perf_data_ring_init(&rb->data, (struct perf_ring_control *)rb->user_page,
			    rb->data_pages, rb_pages_pieces(nr_pages),
			    rb_pages_piece_shift(nr_pages), watermark,
			    !(flags & RING_BUFFER_WRITABLE));
	refcount_set(&rb->refcount, 1);
	spin_lock_init(&rb->event_lock);
	INIT_LIST_HEAD(&rb->event_list);
	mutex_init(&rb->aux_mutex);
	INIT_RCU_WORK(&rb->free_work, free_ring);
	return rb;
}

struct perf_buffer *ring_buffer_get(struct perf_event *event)
{
	struct perf_buffer *rb;

	rcu_read_lock();
	rb = perf_event_ring(perf_output_event(event));
	if (rb && !refcount_inc_not_zero(&rb->refcount))
		rb = NULL;
	rcu_read_unlock();
	return rb;
}

void ring_buffer_put(struct perf_buffer *rb)
{
	if (!refcount_dec_and_test(&rb->refcount))
		return;

	WARN_ON_ONCE(!list_empty(&rb->event_list));
	/* Thousands of pages may have to go, which is not for an RCU callback. */
	queue_rcu_work(system_unbound_wq, &rb->free_work);
}

/*
 * rb_entry is walked under RCU: an event that has left one list may enter the
 * next only after a grace period, or a walker of the first would follow it
 * into the second. The wait is for whoever attaches again, if anybody does.
 */
static void leave_list(struct perf_event *event, struct perf_buffer *rb)
{
	unsigned long flags;

	WARN_ON_ONCE(event->rcu_pending);

	spin_lock_irqsave(&rb->event_lock, flags);
	list_del_rcu(&event->rb_entry);
	spin_unlock_irqrestore(&rb->event_lock, flags);

	event->rcu_batches = get_state_synchronize_rcu();
	event->rcu_pending = 1;
}

static void enter_list(struct perf_event *event, struct perf_buffer *rb)
{
	unsigned long flags;

	if (event->rcu_pending) {
		cond_synchronize_rcu(event->rcu_batches);
		event->rcu_pending = 0;
	}

	spin_lock_irqsave(&rb->event_lock, flags);
	list_add_rcu(&event->rb_entry, &rb->event_list);
	spin_unlock_irqrestore(&rb->event_lock, flags);
}

void ring_buffer_attach(struct perf_event *event, struct perf_buffer *rb)
{
	struct perf_buffer *old = event->rb;

	WARN_ON_ONCE(event->parent);

	if (old)
		leave_list(event, old);
	if (rb)
		enter_list(event, rb);

	/* A ring is complete before it can be seen: pairs with perf_event_ring(). */
	smp_store_release(&event->rb, rb);

	/*
	 * A transaction belongs to the ring that it began on; with the pointer changed,
	 * the next one begins on the new ring, at once if there is one. Inherited events
	 * follow when they are switched in again: their list cannot be had under
	 * mmap_lock, and what they write keeps its memory.
	 */
	if (old && has_aux(event)) {
		smp_mb(); /* pairs with open_area(): it sees the ring, or we see it run */
		perf_event_stop(event, !!rb);
	}
	if (old) {
		ring_buffer_put(old);
		/* Whoever sleeps on the old ring has to look at the new state. */
		wake_up_all(&event->waitq);
	}
}

/* Under RCU, for a fault in a mapping of the page: that mapping keeps ring and area. */
struct page *perf_mmap_to_page(struct perf_buffer *rb, unsigned long pgoff)
{
	const struct perf_aux_area *area = rcu_dereference(rb->aux);
	const struct perf_map_geometry have = {
		.page_shift	= PAGE_SHIFT,
		.data_pages	= rb->nr_pages,
		.aux_pages	= area ? area->nr_pages : 0,
		.aux_first	= area ? area->pgoff : 0,
	};
	const struct perf_map_page at = perf_map_page_at(&have, pgoff);

	switch (at.kind) {
	case PERF_MAP_USER_PAGE:
		return rb_page_at(rb, -1);
	case PERF_MAP_DATA:
		return rb_page_at(rb, array_index_nospec(at.index, have.data_pages));
	case PERF_MAP_AUX:
		return virt_to_page(area->pages[array_index_nospec(at.index, have.aux_pages)]);
	default:
		return NULL;
	}
}
