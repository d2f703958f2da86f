// SPDX-License-Identifier: GPL-2.0
/*
 * Mapping a ring into user space.
 *
 * The first mapping of an event's file at offset 0 makes the ring; later ones
 * of the same size share it, also through events that were redirected to it.
 * The AUX area is a second mapping of the file at the offset that the user
 * page names. Pages are put in on first touch.
 *
 * Two counts, and who drops one to zero does what it guards, in one step:
 *   event->mmap_count	mappings through this event; the last one detaches it
 *   rb->mmap_count	mappings of the ring; the last one detaches every event
 *			and gives the locked memory back
 * A ring whose mmap_count is zero is never mapped again: who comes too late
 * makes a new one.
 */
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/security.h>

#include "aux.h"
#include "internal.h"
#include "ring/map_rules.h"

/*
 * The user page may be written, by whoever maps the ring read-write; the data
 * and AUX pages are the kernel's.
 */
static vm_fault_t perf_mmap_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct perf_event *event = vma->vm_file->private_data;
	vm_fault_t result = VM_FAULT_SIGBUS;
	struct perf_buffer *rb;
	struct page *page;

	if (vmf->pgoff && (vmf->flags & FAULT_FLAG_WRITE))
		return VM_FAULT_SIGBUS;

	rcu_read_lock();
	rb = perf_event_ring(event);
	page = rb ? perf_mmap_to_page(rb, vmf->pgoff) : NULL;
	if (page) {
		get_page(page);
		page->mapping = vma->vm_file->f_mapping;
		page->index = vmf->pgoff;
		vmf->page = page;
		result = 0;
	}
	rcu_read_unlock();
	return result;
}

/* First write to a page that is mapped for reading already. */
static vm_fault_t perf_mmap_mkwrite(struct vm_fault *vmf)
{
	return vmf->pgoff ? VM_FAULT_SIGBUS : 0;
}

static void tell_pmu_mapped(struct perf_event *event, struct mm_struct *mm)
{
	if (event->pmu->event_mapped)
		event->pmu->event_mapped(event, mm);
}

/*
 * A copy of a mapping: mremap() moves it, or fork() after MADV_DOFORK passes it
 * on (splitting is refused). The original keeps the ring attached meanwhile.
 */
static void perf_mmap_open(struct vm_area_struct *vma)
{
	struct perf_event *event = vma->vm_file->private_data;

	atomic_inc(&event->mmap_count);
	atomic_inc(&event->rb->mmap_count);
	if (vma->vm_pgoff)
		perf_aux_map(event->rb);

	tell_pmu_mapped(event, vma->vm_mm);
}

/* An event on the ring's list that is not on its way out, with a reference. */
static struct perf_event *first_live_event(struct perf_buffer *rb)
{
	struct perf_event *event;

	rcu_read_lock();
	list_for_each_entry_rcu(event, &rb->event_list, rb_entry) {
		if (atomic_long_inc_not_zero(&event->refcount)) {
			rcu_read_unlock();
			return event;
		}
	}
	rcu_read_unlock();
	return NULL;
}

/*
 * mmap_mutex is outside the list's lock, so events are taken one at a time and
 * looked at again under their mutex: meanwhile they can have been redirected.
 * What has no reference left detaches itself when it is freed. Nothing is
 * added behind our back, since SET_OUTPUT refuses a ring without mappings.
 */
static void detach_events(struct perf_buffer *rb)
{
	struct perf_event *event;

	while ((event = first_live_event(rb))) {
		mutex_lock(&event->mmap_mutex);
		if (event->rb == rb)
			ring_buffer_attach(event, NULL);
		mutex_unlock(&event->mmap_mutex);
		put_event(event);
	}
}

/*
 * One mapping of the ring less. Whatever became of the event that it went
 * through, a new ring by now perhaps: who takes the last mapping of this one
 * clears it up.
 */
static void drop_mapping(struct perf_buffer *rb)
{
	if (!atomic_dec_and_test(&rb->mmap_count))
		return;
	detach_events(rb);
	perf_uncharge(&rb->charge);
}

static void perf_mmap_close(struct vm_area_struct *vma)
{
	struct perf_event *event = vma->vm_file->private_data;
	struct perf_buffer *rb = ring_buffer_get(event);

	if (event->pmu->event_unmapped)
		event->pmu->event_unmapped(event, vma->vm_mm);

	if (vma->vm_pgoff)
		perf_aux_unmap(event, rb);

	if (atomic_dec_and_mutex_lock(&event->mmap_count, &event->mmap_mutex)) {
		ring_buffer_attach(event, NULL);
		mutex_unlock(&event->mmap_mutex);
	}
	drop_mapping(rb);
	ring_buffer_put(rb);
}

/* Half a mapping would have offsets and sizes that open and close cannot count. */
static int perf_mmap_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct perf_mmap_vmops = {
	.open		= perf_mmap_open,
	.close		= perf_mmap_close,
	.fault		= perf_mmap_fault,
	.page_mkwrite	= perf_mmap_mkwrite,
	.may_split	= perf_mmap_may_split,
};

static int ring_flags(const struct vm_area_struct *vma)
{
	return vma->vm_flags & VM_WRITE ? RING_BUFFER_WRITABLE : 0;
}

/* Under event->mmap_mutex: the event's first ring. */
static int make_ring(struct perf_event *event, struct vm_area_struct *vma, long data_pages)
{
	const long watermark = event->attr.watermark ? event->attr.wakeup_watermark : 0;
	struct perf_charge charge;
	struct perf_buffer *rb;
	int err;

	err = perf_charge(&charge, vma->vm_mm, data_pages + 1);
	if (err)
		return err;

	rb = rb_alloc(data_pages, watermark, event->cpu, ring_flags(vma));
	if (!rb) {
		perf_uncharge(&charge);
		return -ENOMEM;
	}

	rb->charge = charge;
	atomic_set(&rb->mmap_count, 1);
	perf_event_init_userpage(rb);
	ring_buffer_attach(event, rb);
	perf_event_update_time(event);
	perf_event_update_userpage(event);
	return 0;
}

/* Under event->mmap_mutex. */
static int share_or_make_ring(struct perf_event *event, struct vm_area_struct *vma,
			      long data_pages)
{
	struct perf_buffer *rb = event->rb;

	if (rb) {
		if (rb->nr_pages != data_pages)
			return -EINVAL;
		if (atomic_inc_not_zero(&rb->mmap_count))
			return 0;
		/* The last mapping is being closed: that ring is no longer ours. */
		ring_buffer_attach(event, NULL);
	}
	return make_ring(event, vma, data_pages);
}

/* Under rb->aux_mutex: the ring's first AUX area. */
static int make_aux(struct perf_event *event, struct perf_buffer *rb,
		    struct vm_area_struct *vma, long aux_pages)
{
	struct perf_charge charge;
	int err;

	err = perf_charge(&charge, vma->vm_mm, aux_pages);
	if (err)
		return err;

	err = perf_aux_create(event, rb, vma->vm_pgoff, aux_pages, ring_flags(vma), &charge);
	if (err)
		perf_uncharge(&charge);
	return err;
}

/* Under event->mmap_mutex and rb->aux_mutex, with a mapping of the ring counted. */
static int map_aux_locked(struct perf_event *event, struct perf_buffer *rb,
			  struct vm_area_struct *vma)
{
	const struct perf_aux_area *area = perf_aux_mapped(rb);
	const struct perf_map_geometry have = {
		.page_shift	= PAGE_SHIFT,
		.data_pages	= rb->nr_pages,
		.aux_pages	= area ? area->nr_pages : 0,
		.aux_first	= area ? area->pgoff : 0,
	};
	const struct perf_aux_request asked = {
		.offset	= READ_ONCE(rb->user_page->aux_offset),
		.size	= READ_ONCE(rb->user_page->aux_size),
	};
	const long aux_pages = perf_map_aux_pages(&have, &asked, vma->vm_pgoff,
						  vma->vm_end - vma->vm_start);

	if (aux_pages < 0)
		return aux_pages;
	if (!area)
		return make_aux(event, rb, vma, aux_pages);
	perf_aux_map(rb);
	return 0;
}

static int map_aux(struct perf_event *event, struct vm_area_struct *vma)
{
	struct perf_buffer *rb;
	int err;

	mutex_lock(&event->mmap_mutex);
	rb = event->rb;
	if (!rb || !atomic_inc_not_zero(&rb->mmap_count)) {
		mutex_unlock(&event->mmap_mutex);
		return -EINVAL;
	}

	mutex_lock(&rb->aux_mutex);
	err = map_aux_locked(event, rb, vma);
	mutex_unlock(&rb->aux_mutex);

	if (err)
		refcount_inc(&rb->refcount);
	else
		atomic_inc(&event->mmap_count);
	mutex_unlock(&event->mmap_mutex);

	/* The data mapping can have been closed meanwhile, then ours was the last. */
	if (err) {
		drop_mapping(rb);
		ring_buffer_put(rb);
	}
	return err;
}

static int map_data(struct perf_event *event, struct vm_area_struct *vma)
{
	const long data_pages = perf_map_data_pages(vma->vm_end - vma->vm_start, PAGE_SHIFT);
	int err;

	if (data_pages < 0)
		return data_pages;

	WARN_ON_ONCE(event->ctx->parent_ctx);

	mutex_lock(&event->mmap_mutex);
	err = share_or_make_ring(event, vma, data_pages);
	if (!err)
		atomic_inc(&event->mmap_count);
	mutex_unlock(&event->mmap_mutex);
	return err;
}

int perf_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct perf_event *event = file->private_data;
	int err;

	/* All children would write to one ring, from several CPUs at a time. */
	if (event->cpu == -1 && event->attr.inherit)
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;

	err = security_perf_event_read(event);
	if (err)
		return err;

	err = vma->vm_pgoff ? map_aux(event, vma) : map_data(event, vma);
	if (err)
		return err;

	/*
	 * Not for children, which would write the same user page and have
	 * paid for nothing; not for core dumps, which would race with the
	 * kernel's writing.
	 */
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &perf_mmap_vmops;
	tell_pmu_mapped(event, vma->vm_mm);
	return 0;
}
