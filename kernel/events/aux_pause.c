// SPDX-License-Identifier: GPL-2.0
/*
 * attr.aux_pause and attr.aux_resume: the overflow of a group's member stops its AUX
 * event, or lets it go on.
 *
 * Overflows nest up to NMI, and a driver that is being stopped cannot be started
 * from within. aux_in_pause_resume is up meanwhile; who finds it up does nothing.
 */
#include <linux/perf_event.h>

#include "sample.h"

/* A source that is off is not touched, and finds the flag when it goes on. */
static void pause(struct perf_event *source)
{
	if (source->hw.aux_paused)
		return;
	WRITE_ONCE(source->hw.aux_paused, 1);
	if (perf_event_runs_here(source))
		source->pmu->stop(source, PERF_EF_PAUSE);
}

static void resume(struct perf_event *source)
{
	if (!source->hw.aux_paused)
		return;
	WRITE_ONCE(source->hw.aux_paused, 0);
	if (perf_event_runs_here(source))
		source->pmu->start(source, PERF_EF_RESUME);
}

void perf_event_aux_pause(struct perf_event *source, bool stop)
{
	struct perf_buffer *rb;

	/* The leader has been closed before its members. */
	if (!source)
		return;

	/* An IPI that stops the event has to wait. */
	guard(irqsave)();
	rb = perf_event_ring(perf_output_event(source));
	if (!rb || READ_ONCE(rb->aux_in_pause_resume))
		return;

	WRITE_ONCE(rb->aux_in_pause_resume, 1);
	barrier();
	if (stop)
		pause(source);
	else
		resume(source);
	barrier();
	WRITE_ONCE(rb->aux_in_pause_resume, 0);
}
