/* SPDX-License-Identifier: GPL-2.0 */
/* For drivers that write AUX data: what linux/perf_event.h does not have. */
#ifndef _LINUX_PERF_AUX_H
#define _LINUX_PERF_AUX_H

#include <linux/perf_event.h>
#include <uapi/linux/perf_aux.h>

/*
 * Count @bytes of @event's trace that did not get into its AUX area, the first of
 * them at @since (ns, by perf_aux_clock()). The next PERF_RECORD_AUX tells user
 * space. On the CPU that @event runs on, any context, within a transaction or not.
 * Nothing is counted while the event has no AUX area.
 */
void perf_aux_output_lost(struct perf_event *event, u64 bytes, u64 since);

/* Now, by the clock that @event's records bear. Any context. */
static inline u64 perf_aux_clock(struct perf_event *event)
{
	return event->clock();
}

#endif /* _LINUX_PERF_AUX_H */
