// SPDX-License-Identifier: GPL-2.0
/*
 * The user page: what user space may read of an event without a system call.
 *
 * One writer at a time, the event's CPU or, while it does not run, whoever
 * holds its context. Readers on that CPU retry while `lock` is odd or has
 * changed; others use read(). On 64-bit machines each field is stored whole.
 */
#include <linux/perf_event.h>

#include "internal.h"

void __weak arch_perf_update_userpage(struct perf_event *event,
				      struct perf_event_mmap_page *userpg, u64 now)
{
}

/* The constant part, before anyone can map the page. */
void perf_event_init_userpage(struct perf_buffer *rb)
{
	struct perf_event_mmap_page *constant = rb->user_page;

	constant->data_size = perf_data_size(rb);
	constant->data_offset = PAGE_SIZE;
	constant->size = offsetof(struct perf_event_mmap_page, __reserved);
	/* Says that cap_user_time and cap_user_rdpmc have bits of their own. */
	constant->cap_bit0_is_deprecated = 1;
}

/*
 * What RDPMC takes, plus one; 0 while the counter is not on a CPU or may not be
 * read there.
 */
static u32 counter_index(struct perf_event *event)
{
	if (event->state != PERF_EVENT_STATE_ACTIVE || (event->hw.state & PERF_HES_STOPPED))
		return 0;
	return event->pmu->event_idx(event);
}

static void store_counts(struct perf_event *event, struct perf_event_mmap_page *userpg,
			 u64 enabled, u64 running)
{
	const u32 index = counter_index(event);
	s64 offset = perf_event_count(event, false);

	if (index)
		offset -= local64_read(&event->hw.prev_count);

	WRITE_ONCE(userpg->index, index);
	WRITE_ONCE(userpg->offset, offset);
	WRITE_ONCE(userpg->time_enabled,
		   enabled + atomic64_read(&event->child_total_time_enabled));
	WRITE_ONCE(userpg->time_running,
		   running + atomic64_read(&event->child_total_time_running));
}

/*
 * Any context; two calls for one event may not interrupt each other, since `lock`
 * would be even in the middle of the outer one. With preemption off the ring stays,
 * and no reader spins on an odd `lock` while its writer waits for the CPU.
 */
void perf_event_update_userpage(struct perf_event *event)
{
	struct perf_event_mmap_page *userpg;
	struct perf_buffer *rb;
	u64 now, enabled, running;

	guard(preempt)();
	rb = perf_event_ring(event);
	if (!rb)
		return;

	calc_timer_values(event, &now, &enabled, &running);

	userpg = rb->user_page;
	WRITE_ONCE(userpg->lock, userpg->lock + 1);
	barrier(); /* readers are on this CPU: pairs with those of their loop */
	store_counts(event, userpg, enabled, running);
	arch_perf_update_userpage(event, userpg, now);
	barrier();
	WRITE_ONCE(userpg->lock, userpg->lock + 1);
}
EXPORT_SYMBOL_GPL(perf_event_update_userpage);
