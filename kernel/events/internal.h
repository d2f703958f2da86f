/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to kernel/events: the ring buffer as the shell sees it.
 *
 * A perf_buffer is what one user page, one data area and at most one AUX area
 * make together. The data ring's algorithm is the core's (ring/data_ring.h);
 * here is what it cannot know: pages, mappings, events, who is woken and who
 * pays.
 *
 * Lifetime. Each attached event holds a reference, so does whoever called
 * ring_buffer_get(). Writers hold none: they run with preemption off, and the
 * memory is freed a grace period after the last reference. mmap_count counts
 * the mappings; the last one to go detaches every event that is still attached.
 *
 * Locks, outermost first:
 *   event->mmap_mutex	attaching, detaching and mapping of one event
 *   rb->aux_mutex	set-up and tear-down of the AUX area
 *   rb->event_lock	the list of attached events
 */
#ifndef _KERNEL_EVENTS_INTERNAL_H
#define _KERNEL_EVENTS_INTERNAL_H

#include <linux/build_bug.h>
#include <linux/hardirq.h>
#include <linux/perf_event.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "ring/aux_ring.h"
#include "ring/data_ring.h"

/* rb_alloc() and perf_aux_create(): the reader may move the tail. */
#define RING_BUFFER_WRITABLE		0x01

/* Locked memory that a mapping has been charged for, and to whom. */
struct perf_charge {
	struct user_struct	*user;		/* holds a reference */
	struct mm_struct	*mm;		/* holds a reference (mmgrab) */
	unsigned long		user_pages;	/* in user->perf_mlock */
	unsigned long		mm_pages;	/* in mm->pinned_vm */
};

struct perf_buffer {
	struct perf_data_ring	data;		/* first: see perf_ring_handle() */

	struct perf_event_mmap_page *user_page;
	int			nr_pages;	/* in the data area */
	refcount_t		refcount;
	atomic_t		poll;		/* __poll_t bits for the next poll() */

	spinlock_t		event_lock;	/* orders changes to event_list */
	struct list_head	event_list;	/* attached events, by rb_entry, walked under RCU */

	atomic_t		mmap_count;
	struct perf_charge	charge;

	struct rcu_work		free_work;

	/* The AUX area, see aux.h. */
	struct mutex		aux_mutex;	/* set-up and tear-down */
	struct perf_aux_area __rcu *aux;	/* NULL: none that can be begun on */
	struct perf_aux_area	*aux_open;	/* of the open transaction, or of the latest */
	struct perf_aux_ring	aux_ring;
	int			aux_in_sampling;
	int			aux_in_pause_resume;

	void			*data_pages[];	/* the core's pieces */
};

/* The core's handle is the kernel's handle, and its ring is ours. */
#define PERF_HANDLE_MATCHES(ours, theirs)					\
	static_assert(offsetof(struct perf_ring_handle, ours) ==		\
		      offsetof(struct perf_output_handle, theirs) &&		\
		      sizeof_field(struct perf_ring_handle, ours) ==		\
		      sizeof_field(struct perf_output_handle, theirs),		\
		      "perf_ring_handle::" #ours " is not where the base has "	\
		      "perf_output_handle::" #theirs)

PERF_HANDLE_MATCHES(event, event);
PERF_HANDLE_MATCHES(ring, rb);
PERF_HANDLE_MATCHES(wakeup, wakeup);
PERF_HANDLE_MATCHES(room, size);
PERF_HANDLE_MATCHES(flags, flags);
PERF_HANDLE_MATCHES(addr, addr);
PERF_HANDLE_MATCHES(piece, page);
static_assert(sizeof(struct perf_ring_handle) == sizeof(struct perf_output_handle));
static_assert(offsetof(struct perf_buffer, data) == 0);
static_assert(offsetof(struct perf_ring_control, data_head) ==
	      offsetof(struct perf_event_mmap_page, data_head));
static_assert(offsetof(struct perf_ring_control, data_tail) ==
	      offsetof(struct perf_event_mmap_page, data_tail));

static inline struct perf_ring_handle *
perf_ring_handle(struct perf_output_handle *handle)
{
	return (struct perf_ring_handle *)handle;
}

/* The event whose ring takes the output: children write to their parent's. */
static inline struct perf_event *perf_output_event(struct perf_event *event)
{
	return event->parent ?: event;
}

/*
 * @event's own ring or NULL, inside any kind of RCU read-side section; preemption
 * off is one. The base declares the pointer without __rcu, so the accessors that
 * sparse checks do not fit it.
 */
static inline struct perf_buffer *perf_event_ring(struct perf_event *event)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(), "perf_event::rb read without RCU");
	return rcu_dereference_raw(event->rb);
}

/* ring_buffer.c: a ring's life, and which events write to it */

/*
 * A ring with @nr_pages data pages (0 or a power of two) near @cpu (-1: any),
 * with one reference, or NULL. Task context.
 */
struct perf_buffer *rb_alloc(int nr_pages, long watermark, int cpu, int flags);
/* A reference to @event's ring, or NULL. Any context. */
struct perf_buffer *ring_buffer_get(struct perf_event *event);
void ring_buffer_put(struct perf_buffer *rb);
/*
 * Attach @event to @rb, whose reference it takes over, or detach it (NULL).
 * Task context, under event->mmap_mutex.
 */
void ring_buffer_attach(struct perf_event *event, struct perf_buffer *rb);
/* The page at @pgoff of the file, or NULL. */
struct page *perf_mmap_to_page(struct perf_buffer *rb, unsigned long pgoff);

/* ring_pages.c: the memory behind a data ring */

/* User page and @nr_pages data pages: 0 or -ENOMEM. Also sets the geometry. */
int rb_pages_alloc(struct perf_buffer *rb, int nr_pages, int cpu);
void rb_pages_free(struct perf_buffer *rb);
/* Page @index of the data area, or the user page (-1). */
struct page *rb_page_at(struct perf_buffer *rb, long index);
/* How many pointers rb_pages_alloc() puts into data_pages. */
int rb_pages_pieces(int nr_pages);
/* log2 of the bytes that one of these pointers leads to. */
unsigned int rb_pages_piece_shift(int nr_pages);

/* mmap.c */
int perf_mmap(struct file *file, struct vm_area_struct *vma);

/* locked_memory.c */

/*
 * Charge @pages to the current user and @mm: 0, or -EPERM past the limits. Under
 * mm->mmap_lock for writing, as in mmap(). Uncharging an empty charge does
 * nothing. Task context.
 */
int perf_charge(struct perf_charge *charge, struct mm_struct *mm, unsigned long pages);
void perf_uncharge(struct perf_charge *charge);

/* user_page.c */
void perf_event_init_userpage(struct perf_buffer *rb);

/* wakeup.c */
__poll_t perf_poll(struct file *file, poll_table *wait);
int perf_fasync(int fd, struct file *filp, int on);
/* Wake readers of the ring and send SIGIO. Task or IRQ context, not NMI. */
void perf_event_wakeup(struct perf_event *event);
/* Ask for perf_event_wakeup() as soon as the context allows it. Any context. */
void perf_output_wakeup(struct perf_output_handle *handle);
/* The same for an event whose pending_kill is set already. */
void perf_event_queue_wakeup(struct perf_event *event);
/* The irq work behind it, and behind perf_event_disable_inatomic(). */
void perf_pending_irq(struct irq_work *entry);
void perf_pending_disable(struct irq_work *entry);

/* Was perf_event_disable_inatomic() called for @event? On its CPU, IRQs off. */
static inline bool perf_event_take_disable(struct perf_event *event)
{
	bool wanted = event->pending_disable;

	event->pending_disable = 0;
	return wanted;
}

/* output.c */

/*
 * For the event whose ring @rb is, any context, preemption off: what follows when
 * perf_sample_emit_*() or perf_sample_start_*() has returned @done, 0 or -ENOSPC.
 */
int perf_output_emitted(struct perf_event *event, struct perf_buffer *rb, long done);
/* The same for what cannot be a record: counts it as lost and returns -E2BIG. */
int perf_output_refuse(struct perf_event *event, struct perf_buffer *rb);

/* perf_output_begin() into @rb, whatever ring @event has by now. */
int perf_output_begin_in(struct perf_buffer *rb, struct perf_output_handle *handle,
			 struct perf_sample_data *data, struct perf_event *event,
			 unsigned int size);

/* redirect.c */
int perf_event_set_output(struct perf_event *event, struct perf_event *output_event);

/* exclusive.c */

/* Count @event, which is being made: 0, or -EBUSY. Task context. */
int exclusive_event_init(struct perf_event *event);
/* Take the count back, for an event that has PERF_ATTACH_EXCLUSIVE. */
void exclusive_event_destroy(struct perf_event *event);
/* May @event join those of @ctx? Under ctx->mutex. */
bool exclusive_event_installable(struct perf_event *event, struct perf_event_context *ctx);

/* core.c of the base */
bool is_event_hup(struct perf_event *event);
void calc_timer_values(struct perf_event *event, u64 *now, u64 *enabled, u64 *running);
u64 perf_event_count(struct perf_event *event, bool self);
void perf_event_update_time(struct perf_event *event);
int perf_event_stop(struct perf_event *event, int restart);
void put_event(struct perf_event *event);
void perf_pmu_output_stop(struct perf_event *event);

static inline unsigned long perf_data_size(struct perf_buffer *rb)
{
	return rb->data.size;
}

/* PERF_EVENT_IOC_PAUSE_OUTPUT */
static inline void rb_toggle_paused(struct perf_buffer *rb, bool pause)
{
	perf_data_ring_set_paused(&rb->data, pause);
}

/*
 * Writing fields. All return the number of bytes that could not be had, which
 * only a copy function that fails leaves.
 */
static __always_inline unsigned long
__output_copy(struct perf_output_handle *handle, const void *buf, unsigned long len)
{
	if (unlikely(handle->size <= len))
		return perf_output_copy(handle, buf, len);
	memcpy(handle->addr, buf, len);
	handle->addr += len;
	handle->size -= len;
	return 0;
}

/* One word, in place wherever the piece does not end behind it. */
static __always_inline void perf_output_word(struct perf_output_handle *handle, u64 word)
{
	__output_copy(handle, &word, sizeof(word));
}

/* @fill(dst, source, offset in source, bytes) returns how many it left. */
static __always_inline unsigned long
perf_output_fill(struct perf_output_handle *handle, perf_copy_f fill,
		 const void *source, unsigned long len)
{
	unsigned long done = 0;

	while (done < len) {
		unsigned long now = min(handle->size, len - done);
		unsigned long left = fill(handle->addr, source, done, now);

		perf_ring_advance(perf_ring_handle(handle), now - left);
		done += now - left;
		if (left)
			break;
	}
	return len - done;
}

static inline unsigned long
__output_custom(struct perf_output_handle *handle, perf_copy_f copy_func,
		const void *buf, unsigned long len)
{
	return perf_output_fill(handle, copy_func, buf, len);
}

/* NMI-safe copy from user space; what faults is left. */
#ifndef arch_perf_out_copy_user
static inline unsigned long
arch_perf_out_copy_user(void *dst, const void *src, unsigned long n)
{
	unsigned long left;

	pagefault_disable();
	left = __copy_from_user_inatomic(dst, (const void __user *)src, n);
	pagefault_enable();
	return left;
}

#define arch_perf_out_copy_user arch_perf_out_copy_user
#endif

static inline unsigned long
perf_fill_from_user(void *dst, const void *source, unsigned long offset, unsigned long n)
{
	return arch_perf_out_copy_user(dst, source + offset, n);
}

static inline unsigned long
__output_copy_user(struct perf_output_handle *handle, const void *buf, unsigned long len)
{
	return perf_output_fill(handle, perf_fill_from_user, buf, len);
}

/*
 * One flag for each level of context, so that code which may not interrupt
 * itself can still be interrupted by itself from a higher level. Returns the
 * level to give back, or -1 if this level is taken.
 */
static inline int get_recursion_context(u8 *recursion)
{
	const unsigned char level = interrupt_context_level();

	if (recursion[level])
		return -1;
	recursion[level] = 1;
	barrier();
	return level;
}

static inline void put_recursion_context(u8 *recursion, unsigned char level)
{
	barrier();
	recursion[level] = 0;
}

/* PERF_SAMPLE_STACK_USER needs to know where the user's stack is. */
#ifdef CONFIG_HAVE_PERF_USER_STACK_DUMP
#define perf_user_stack_pointer(regs)	user_stack_pointer(regs)
#else
#define perf_user_stack_pointer(regs)	((void)(regs), 0UL)
#endif

static inline bool arch_perf_have_user_stack_dump(void)
{
	return IS_ENABLED(CONFIG_HAVE_PERF_USER_STACK_DUMP);
}

#endif /* _KERNEL_EVENTS_INTERNAL_H */
