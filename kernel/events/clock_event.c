// SPDX-License-Identifier: GPL-2.0
/*
 * Clock events: cpu-clock counts the time of a CPU, task-clock that of a task,
 * both in ns. A timer samples them, on the CPU that they run on.
 */
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>

#include <asm/irq_regs.h>

#include "sample.h"

/* ---- sampling by timer ---- */

/* In hard IRQ context, also on a kernel that has IRQ threads. */
static enum hrtimer_restart clock_event_tick(struct hrtimer *timer)
{
	struct perf_event *event = container_of(timer, struct perf_event, hw.hrtimer);
	enum hrtimer_restart again = HRTIMER_RESTART;
	struct pt_regs *regs = get_irq_regs();
	struct perf_sample_data data __uninitialized;

	if (event->state != PERF_EVENT_STATE_ACTIVE)
		return HRTIMER_NORESTART;

	event->pmu->read(event);
	perf_sample_data_init(&data, 0, event->hw.last_period);
	if (regs && !perf_exclude_event(event, regs) &&
	    !(event->attr.exclude_idle && is_idle_task(current)) &&
	    perf_event_overflow(event, &data, regs))
		again = HRTIMER_NORESTART;

	/* Also when it stops: the time that is left then is what start() goes by. */
	hrtimer_forward_now(timer, ns_to_ktime(perf_clock_period(event->hw.sample_period)));
	return again;
}

static void start_timer(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 first;

	if (!is_sampling_event(event))
		return;
	first = perf_clock_first(local64_xchg(&hwc->period_left, 0), hwc->sample_period);
	hrtimer_start(&hwc->hrtimer, ns_to_ktime(first), HRTIMER_MODE_REL_PINNED_HARD);
}

static void stop_timer(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;

	if (!is_sampling_event(event))
		return;
	local64_set(&hwc->period_left, ktime_to_ns(hrtimer_get_remaining(&hwc->hrtimer)));
	hrtimer_cancel(&hwc->hrtimer);
}

static void init_timer(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;

	if (!is_sampling_event(event))
		return;
	hrtimer_init(&hwc->hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hwc->hrtimer.function = clock_event_tick;

	/* A timer is as often as it is told to be; nothing has to be adjusted. */
	if (event->attr.freq) {
		u64 period = div64_u64(NSEC_PER_SEC, event->attr.sample_freq);

		event->attr.freq = 0;
		event->attr.sample_period = period;
		hwc->sample_period = period;
		hwc->last_period = period;
		local64_set(&hwc->period_left, period);
	}
}

/* ---- counting ---- */

static void count_until(struct perf_event *event, u64 now)
{
	u64 before = local64_xchg(&event->hw.prev_count, now);

	local64_add(now - before, &event->count);
}

static u64 cpu_now(struct perf_event *event)
{
	return local_clock();
}

/*
 * The task's time is its context's, which stands still between two updates. On
 * the way in and out it has just been updated; read() adds what has passed.
 */
static u64 task_now(struct perf_event *event)
{
	return event->ctx->time;
}

static u64 task_now_exactly(struct perf_event *event)
{
	return event->ctx->time + (local_clock() - event->ctx->timestamp);
}

static int clock_init(struct perf_event *event, const struct pmu *pmu, u64 config)
{
	if (event->attr.type != pmu->type || event->attr.config != config)
		return -ENOENT;
	if (has_branch_stack(event))
		return -EOPNOTSUPP;
	init_timer(event);
	return 0;
}

static __always_inline void clock_start(struct perf_event *event, u64 now)
{
	local64_set(&event->hw.prev_count, now);
	start_timer(event);
}

/* The clock is read after the timer: what a last sample took is counted. */
static __always_inline void clock_stop(struct perf_event *event, u64 (*now)(struct perf_event *))
{
	stop_timer(event);
	count_until(event, now(event));
}

static __always_inline int clock_add(struct perf_event *event, int flags,
				     u64 (*now)(struct perf_event *))
{
	if (flags & PERF_EF_START)
		clock_start(event, now(event));
	perf_event_update_userpage(event);
	return 0;
}

/* ---- cpu-clock ---- */

static int cpu_clock_init(struct perf_event *event)
{
	return clock_init(event, &perf_cpu_clock, PERF_COUNT_SW_CPU_CLOCK);
}

static void cpu_clock_start(struct perf_event *event, int flags)
{
	clock_start(event, cpu_now(event));
}

static void cpu_clock_stop(struct perf_event *event, int flags)
{
	clock_stop(event, cpu_now);
}

static int cpu_clock_add(struct perf_event *event, int flags)
{
	return clock_add(event, flags, cpu_now);
}

static void cpu_clock_read(struct perf_event *event)
{
	count_until(event, cpu_now(event));
}

struct pmu perf_cpu_clock = {
	.task_ctx_nr	= perf_sw_context,
	.capabilities	= PERF_PMU_CAP_NO_NMI,
	.dev		= PMU_NULL_DEV,
	.event_init	= cpu_clock_init,
	.add		= cpu_clock_add,
	.del		= cpu_clock_stop,
	.start		= cpu_clock_start,
	.stop		= cpu_clock_stop,
	.read		= cpu_clock_read,
};

/* ---- task-clock ---- */

static int task_clock_init(struct perf_event *event)
{
	return clock_init(event, &perf_task_clock, PERF_COUNT_SW_TASK_CLOCK);
}

static void task_clock_start(struct perf_event *event, int flags)
{
	clock_start(event, task_now(event));
}

static void task_clock_stop(struct perf_event *event, int flags)
{
	clock_stop(event, task_now);
}

static int task_clock_add(struct perf_event *event, int flags)
{
	return clock_add(event, flags, task_now);
}

static void task_clock_read(struct perf_event *event)
{
	count_until(event, task_now_exactly(event));
}

struct pmu perf_task_clock = {
	.task_ctx_nr	= perf_sw_context,
	.capabilities	= PERF_PMU_CAP_NO_NMI,
	.dev		= PMU_NULL_DEV,
	.event_init	= task_clock_init,
	.add		= task_clock_add,
	.del		= task_clock_stop,
	.start		= task_clock_start,
	.stop		= task_clock_stop,
	.read		= task_clock_read,
};
