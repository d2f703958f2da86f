// SPDX-License-Identifier: GPL-2.0
/*
 * An AUX area's life: made by the first mapping, closed by the last one, freed by
 * whoever drops the last reference, which may be a driver in an NMI.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "aux.h"

static void free_area(struct perf_aux_area *area)
{
	if (area->priv && area->free_priv)
		area->free_priv(area->priv);
	perf_aux_pages_free(area);
	perf_uncharge(&area->charge);
	module_put(area->owner);
	if (area->rb)
		ring_buffer_put(area->rb);
	kfree_rcu(area, rcu);
}

static void free_area_work(struct work_struct *work)
{
	free_area(container_of(work, struct perf_aux_area, free_work));
}

/* The last reference was dropped where nothing can be freed. */
static void free_area_irq(struct irq_work *entry)
{
	struct perf_aux_area *area = container_of(entry, struct perf_aux_area, free_irq);

	queue_work(system_unbound_wq, &area->free_work);
}

static enum perf_aux_pages_wanted pages_wanted(const struct pmu *pmu)
{
	if (pmu->capabilities & PERF_PMU_CAP_AUX_NO_SG)
		return PERF_AUX_PAGES_CONTIGUOUS;
	if (pmu->capabilities & PERF_PMU_CAP_AUX_PREFER_LARGE)
		return PERF_AUX_PAGES_LARGE;
	return PERF_AUX_PAGES_ANY;
}

/* Pages and the driver's data. What has been had stays in @area if it fails. */
static int furnish(struct perf_aux_area *area, struct perf_event *event,
		   const struct perf_aux_layout *layout, bool overwrite)
{
	struct pmu *pmu = event->pmu;
	int err;

	/* The area can outlive the event, which holds the module. */
	__module_get(pmu->module);
	area->owner = pmu->module;

	err = perf_aux_pages_alloc(area, layout, event->cpu);
	if (err)
		return err;

	area->priv = pmu->setup_aux(event, area->pages, area->nr_pages, overwrite);
	if (!area->priv)
		return -ENOMEM;
	area->free_priv = pmu->free_aux;
	return 0;
}

int perf_aux_create(struct perf_event *event, struct perf_buffer *rb, unsigned long pgoff,
		    int nr_pages, int flags, const struct perf_charge *charge)
{
	const bool overwrite = !(flags & RING_BUFFER_WRITABLE);
	struct perf_aux_layout layout;
	struct perf_aux_area *area;
	int err;

	if (!has_aux(event))
		return -EOPNOTSUPP;
	if (READ_ONCE(rb->aux_ring.open))
		return -EBUSY;

	area = kzalloc(sizeof(*area), GFP_KERNEL);
	if (!area)
		return -ENOMEM;
	area->nr_pages = nr_pages;
	area->pgoff = pgoff;
	area->pmu = event->pmu;
	init_irq_work(&area->free_irq, free_area_irq);
	INIT_WORK(&area->free_work, free_area_work);

	layout = perf_aux_layout(nr_pages, PAGE_SHIFT, event->attr.aux_watermark, overwrite,
				 pages_wanted(event->pmu));
	err = furnish(area, event, &layout, overwrite);
	if (!err && !perf_aux_ring_setup(&rb->aux_ring, (struct perf_aux_control *)rb->user_page,
					 (unsigned long)nr_pages << PAGE_SHIFT, layout.watermark,
					 overwrite))
		err = -EBUSY;
	if (err) {
		free_area(area);
		return err;
	}

	area->charge = *charge;
	refcount_inc(&rb->refcount);
	area->rb = rb;
	refcount_set(&area->refcount, 1);
	atomic_set(&area->mmap_count, 1);
	rcu_assign_pointer(rb->aux, area);
	return 0;
}

void perf_aux_map(struct perf_buffer *rb)
{
	atomic_inc(&perf_aux_mapped(rb)->mmap_count);
}

/*
 * From here on nothing begins on the area. What has begun is stopped on its CPU,
 * behind a begin that may be under way there, and thereby ended. Should a
 * transaction stay open nevertheless, it keeps what it writes to.
 */
static void close_area(struct perf_event *event, struct perf_buffer *rb,
		       struct perf_aux_area *area)
{
	RCU_INIT_POINTER(rb->aux, NULL);
	smp_mb(); /* pairs with open_area() */
	perf_pmu_output_stop(event);
}

void perf_aux_unmap(struct perf_event *event, struct perf_buffer *rb)
{
	struct perf_aux_area *area = perf_aux_mapped(rb);

	if (!atomic_dec_and_mutex_lock(&area->mmap_count, &rb->aux_mutex))
		return;
	close_area(event, rb, area);
	mutex_unlock(&rb->aux_mutex);

	/* Here nothing has to wait: munmap() gives the memory back before it returns. */
	if (refcount_dec_and_test(&area->refcount))
		free_area(area);
}
