// SPDX-License-Identifier: GPL-2.0
/*
 * Software events: counters of things that the kernel does, and what else fires
 * in its midst, tracepoints and breakpoints.
 *
 * Each CPU has a list of active events for each kind. Kinds are few and known,
 * so the lists are an array and there is nothing to look up or to allocate.
 */
#include <linux/export.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>

#include "sample.h"

struct software_events {
	struct hlist_head kind[PERF_COUNT_SW_MAX];
};

/* Changed under the event context's lock, IRQs off; read with preemption off. */
static DEFINE_PER_CPU(struct software_events, active_software_events);

/* By how many events each kind is wanted: what nobody wants costs a nop. */
struct static_key perf_swevent_enabled[PERF_COUNT_SW_MAX];

/* ---- code that must not sample itself, at each level of context ---- */

int perf_swevent_get_recursion_context(void)
{
	return get_recursion_context(current->perf_recursion);
}
EXPORT_SYMBOL_GPL(perf_swevent_get_recursion_context);

void perf_swevent_put_recursion_context(int rctx)
{
	put_recursion_context(current->perf_recursion, rctx);
}

/* ---- counting and sampling ---- */

/*
 * How many periods have passed; they are taken off. An event at the same moment
 * from a higher context makes the exchange fail.
 */
u64 perf_swevent_set_period(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 period = hwc->last_period;
	s64 before = local64_read(&hwc->period_left), after;
	u64 passed;

	hwc->last_period = hwc->sample_period;
	do {
		after = before;
		passed = perf_period_passed(&after, period);
	} while (passed && !local64_try_cmpxchg(&hwc->period_left, &before, after));
	return passed;
}

/* The first may be one too many for this tick and is not stopped for it. */
static __always_inline void overflow_times(struct perf_event *event, u64 times,
					   struct perf_sample_data *data, struct pt_regs *regs)
{
	int throttle = 0;

	if (unlikely(event->hw.interrupts == MAX_INTERRUPTS))
		return;
	while (times--) {
		if (unlikely(perf_event_overflowed(event, throttle, data, regs)))
			return;
		throttle = 1;
	}
}

/* IRQs off, @event active. */
static __always_inline void count_towards_period(struct perf_event *event, u64 nr,
						 struct perf_sample_data *data,
						 struct pt_regs *regs)
{
	struct hw_perf_event *hwc = &event->hw;

	if (!event->attr.freq) {
		/* Who asks for the period gets every event, with its weight. */
		if (event->attr.sample_type & PERF_SAMPLE_PERIOD) {
			data->period = nr;
			overflow_times(event, 1, data, regs);
			return;
		}
		if (nr == 1 && hwc->sample_period == 1) {
			data->period = hwc->last_period;
			overflow_times(event, 1, data, regs);
			return;
		}
	}
	data->period = hwc->last_period;
	if (!local64_add_negative(nr, &hwc->period_left))
		overflow_times(event, perf_swevent_set_period(event), data, regs);
}

static __always_inline void sample_event(struct perf_event *event, u64 nr,
					 struct perf_sample_data *data, struct pt_regs *regs)
{
	/* An IPI may want to take the event away; it has to wait. */
	guard(irqsave)();
	if (likely(event->state == PERF_EVENT_STATE_ACTIVE))
		count_towards_period(event, nr, data, regs);
}

/* Preemption off, which keeps the event; @regs NULL: count only. */
void perf_swevent_event(struct perf_event *event, u64 nr, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	lockdep_assert_preemption_disabled();
	local64_add(nr, &event->count);
	if (regs && is_sampling_event(event))
		sample_event(event, nr, data, regs);
}

/* Several events of one kind each make a sample of their own. */
void ___perf_sw_event(u32 event_id, u64 nr, struct pt_regs *regs, u64 addr)
{
	struct hlist_head *head = &this_cpu_ptr(&active_software_events)->kind[event_id];
	struct perf_sample_data data __uninitialized;
	struct perf_event *event;

	if (WARN_ON_ONCE(!regs))
		return;

	hlist_for_each_entry_rcu(event, head, hlist_entry, rcu_read_lock_any_held()) {
		if (perf_exclude_event(event, regs))
			continue;
		local64_add(nr, &event->count);
		if (!is_sampling_event(event))
			continue;
		perf_sample_data_init(&data, addr, 0);
		sample_event(event, nr, &data, regs);
	}
}

void __perf_sw_event(u32 event_id, u64 nr, struct pt_regs *regs, u64 addr)
{
	int rctx;

	preempt_disable_notrace();
	rctx = get_recursion_context(current->perf_recursion);
	if (likely(rctx >= 0)) {
		___perf_sw_event(event_id, nr, regs, addr);
		put_recursion_context(current->perf_recursion, rctx);
	}
	preempt_enable_notrace();
}

/* ---- the PMU ---- */

/* The period may have been changed while the event was stopped. */
void perf_swevent_start(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_RELOAD)
		event->hw.last_period = event->hw.sample_period;
	WRITE_ONCE(event->hw.state, 0);
}

void perf_swevent_stop(struct perf_event *event, int flags)
{
	WRITE_ONCE(event->hw.state, PERF_HES_STOPPED);
}

/* The count is always up to date. */
void perf_swevent_read(struct perf_event *event)
{
}

static int software_event_add(struct perf_event *event, int flags)
{
	struct hw_perf_event *hwc = &event->hw;

	if (is_sampling_event(event)) {
		hwc->last_period = hwc->sample_period;
		perf_swevent_set_period(event);
	}
	hwc->state = flags & PERF_EF_START ? 0 : PERF_HES_STOPPED;
	hlist_add_head_rcu(&event->hlist_entry,
			   &this_cpu_ptr(&active_software_events)->kind[event->attr.config]);
	perf_event_update_userpage(event);
	return 0;
}

static void software_event_del(struct perf_event *event, int flags)
{
	hlist_del_rcu(&event->hlist_entry);
}

static void software_event_destroy(struct perf_event *event)
{
	WARN_ON(event->parent);
	static_key_slow_dec(&perf_swevent_enabled[event->attr.config]);
}

static int software_event_init(struct perf_event *event)
{
	u64 kind = event->attr.config;

	if (event->attr.type != PERF_TYPE_SOFTWARE)
		return -ENOENT;
	if (has_branch_stack(event))
		return -EOPNOTSUPP;

	/* Clocks have PMUs of their own, and this type is how they are told. */
	if (kind == PERF_COUNT_SW_CPU_CLOCK)
		event->attr.type = perf_cpu_clock.type;
	else if (kind == PERF_COUNT_SW_TASK_CLOCK)
		event->attr.type = perf_task_clock.type;
	if (event->attr.type != PERF_TYPE_SOFTWARE || kind >= PERF_COUNT_SW_MAX)
		return -ENOENT;

	/* Children hold their parent, which holds the key. */
	if (!event->parent) {
		static_key_slow_inc(&perf_swevent_enabled[kind]);
		event->destroy = software_event_destroy;
	}
	return 0;
}

struct pmu perf_swevent = {
	.task_ctx_nr	= perf_sw_context,
	.capabilities	= PERF_PMU_CAP_NO_NMI,
	.event_init	= software_event_init,
	.add		= software_event_add,
	.del		= software_event_del,
	.start		= perf_swevent_start,
	.stop		= perf_swevent_stop,
	.read		= perf_swevent_read,
};
