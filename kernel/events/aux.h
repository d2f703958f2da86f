/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to kernel/events: the AUX area as the shell sees it.
 *
 *	mmap.c	           a mapping comes and goes
 *	aux_area.c         the area's life
 *	aux_pages.c        its memory
 *	aux_output.c       a driver's transactions on it, and what they say
 *	aux_pause.c        an event that stops and starts another one's trace
 *
 * A ring has at most one area that can be mapped and begun on, rb->aux, and at
 * most one open transaction. Usually that is on rb->aux. Where the last mapping
 * has gone before a driver ended its transaction, it is on the area that was:
 * that lives until then and is seen by nobody else.
 *
 * rb->aux is read under RCU and followed only with a reference or by who maps the area:
 * memory, driver data and charge go with the last reference, the struct a grace period
 * later.
 */
#ifndef _KERNEL_EVENTS_AUX_H
#define _KERNEL_EVENTS_AUX_H

#include <linux/irq_work.h>
#include <linux/perf_aux.h>
#include <linux/refcount.h>

#include "internal.h"

struct perf_aux_area {
	refcount_t		refcount;	/* one while mapped, one for the transaction */
	atomic_t		mmap_count;	/* from 0 it never rises */
	int			nr_pages;
	unsigned long		pgoff;		/* of the file at which it is mapped */
	void			**pages;	/* their addresses, as drivers want them */
	struct pmu		*pmu;		/* whose driver writes here */
	void			*priv;		/* what its setup_aux() has made */
	void			(*free_priv)(void *priv);
	struct module		*owner;		/* of free_priv(); holds a reference */
	struct perf_buffer	*rb;		/* holds a reference */
	struct perf_charge	charge;
	struct irq_work		free_irq;
	struct work_struct	free_work;
	struct rcu_head		rcu;
};

/* aux_area.c */

/*
 * The first area of @rb: @nr_pages pages (a power of two) at @pgoff of @event's
 * file, mapped once. -EOPNOTSUPP: not a PMU with AUX data; -EBUSY: the
 * transaction on an earlier area has not ended; -ENOMEM, also when the driver
 * declines; -EINTR. Task context, under rb->aux_mutex.
 */
int perf_aux_create(struct perf_event *event, struct perf_buffer *rb, unsigned long pgoff,
		    int nr_pages, int flags, const struct perf_charge *charge);
/* One more mapping; the caller's own, or rb->aux_mutex, keeps the area. */
void perf_aux_map(struct perf_buffer *rb);
/* One mapping through @event less. The last one stops whoever writes. Task context. */
void perf_aux_unmap(struct perf_event *event, struct perf_buffer *rb);

/* Drop a reference. Any context: drivers end their transactions in NMIs as well. */
static inline void perf_aux_put(struct perf_aux_area *area)
{
	if (unlikely(refcount_dec_and_test(&area->refcount)))
		irq_work_queue(&area->free_irq);
}

/* aux_pages.c */

/* Memory for @area->nr_pages, laid out by @layout near @cpu: 0, -ENOMEM or -EINTR. */
int perf_aux_pages_alloc(struct perf_aux_area *area, const struct perf_aux_layout *layout,
			 int cpu);
void perf_aux_pages_free(struct perf_aux_area *area);

/* The area that can be mapped now, for holders of rb->aux_mutex or of a mapping. */
static inline struct perf_aux_area *perf_aux_mapped(struct perf_buffer *rb)
{
	return rcu_dereference_protected(rb->aux, true);
}

#endif /* _KERNEL_EVENTS_AUX_H */
