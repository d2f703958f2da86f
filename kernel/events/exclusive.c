// SPDX-License-Identifier: GPL-2.0
/*
 * PMUs of which there is one on each CPU, for one event at a time: most that trace.
 *
 * Who is second gets EBUSY when the event is opened, not a trace that never starts.
 * Either tasks or CPUs are traced: a task's event can come onto any CPU, so nothing
 * less would do. pmu->exclusive_cnt says which: the number of tasks' events, or minus
 * that of CPUs' events. And within a context, no two events may meet on a CPU.
 */
#include <linux/perf_event.h>

#include "internal.h"
#include "ring/map_rules.h"

/* An event has no context yet when it is counted; that it is a task's stays true. */
static bool is_of_task(const struct perf_event *event)
{
	return event->attach_state & PERF_ATTACH_TASK;
}

int exclusive_event_init(struct perf_event *event)
{
	atomic_t *users = &event->pmu->exclusive_cnt;
	bool counted;

	if (!is_exclusive_pmu(event->pmu))
		return 0;

	if (is_of_task(event))
		counted = atomic_inc_unless_negative(users);
	else
		counted = atomic_dec_unless_positive(users);
	if (!counted)
		return -EBUSY;

	event->attach_state |= PERF_ATTACH_EXCLUSIVE;
	return 0;
}

void exclusive_event_destroy(struct perf_event *event)
{
	atomic_add(is_of_task(event) ? -1 : 1, &event->pmu->exclusive_cnt);
	event->attach_state &= ~PERF_ATTACH_EXCLUSIVE;
}

bool exclusive_event_installable(struct perf_event *event, struct perf_event_context *ctx)
{
	struct perf_event *other;

	lockdep_assert_held(&ctx->mutex);

	if (!is_exclusive_pmu(event->pmu))
		return true;

	list_for_each_entry(other, &ctx->event_list, event_entry) {
		if (other->pmu == event->pmu && perf_cpus_meet(other->cpu, event->cpu))
			return false;
	}
	return true;
}
