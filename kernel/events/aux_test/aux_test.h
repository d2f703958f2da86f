/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to aux_test, a PMU that writes AUX data without hardware.
 *
 *	aux_test.c	the PMUs and their callbacks
 *	source.c	an event's stream, transaction by transaction
 *	sysfs.c		format/, caps/, and the name that it also goes by
 *	config.*	what attr asks for		(core)
 *	stream.*	how much is due and where	(core)
 */
#ifndef PERF_EVENTS_AUX_TEST_H
#define PERF_EVENTS_AUX_TEST_H

#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/perf_event.h>

#include "config.h"
#include "stream.h"

#if AUX_TEST_COUNTS_LOST
#include <linux/perf_aux.h>
#else
/*
 * The base: it has no way to tell how much was lost, does not survive a late end, and
 * lets no module sample an AUX area.
 */
static inline void perf_aux_output_lost(struct perf_event *event, u64 bytes, u64 since)
{
}

static inline u64 perf_aux_clock(struct perf_event *event)
{
	return 0;
}

static inline long aux_test_copy_nothing(struct perf_output_handle *area,
					 struct perf_output_handle *record,
					 unsigned long from, unsigned long to)
{
	return 0;
}

#define perf_output_copy_aux aux_test_copy_nothing
#endif

/* One of the PMUs: they differ in what they ask of an AUX area. */
struct aux_test_pmu {
	struct pmu	pmu;
	const char	*suffix;	/* of the name */
};

static inline struct aux_test_pmu *to_aux_test_pmu(struct pmu *pmu)
{
	return container_of(pmu, struct aux_test_pmu, pmu);
}

/*
 * An event's source. Its members change on the event's CPU with interrupts off;
 * only an NMI gets in between, and finds `busy`.
 */
struct aux_test_source {
	struct perf_event	*event;
	struct aux_test_config	config;
	struct hrtimer		timer;
	struct perf_output_handle handle;	/* handle.event: a transaction is open */
	struct aux_test_run	run;		/* that transaction */
	struct aux_test_clock	clock;
	local64_t		offset;		/* of the next word; children use the parent's */
	u64			late_until;	/* ns: a transaction left open ends then; 0: none */
	u64			cut_since;	/* event clock: runs on unseen; 0: no */
	unsigned int		busy;
	unsigned int		missed_resume;	/* an NMI wanted it while we were busy */
	unsigned int		running;	/* between start and stop */
	unsigned int		bursts;
	unsigned int		begins;
	atomic_t		setups;
};

/* source.c */
struct aux_test_source *aux_test_source_alloc(struct perf_event *event);
/* No callback of the event runs or comes any more. Task context. */
void aux_test_source_free(struct aux_test_source *source);
/* On the event's CPU, interrupts off, NMI included. */
void aux_test_source_start(struct aux_test_source *source, int flags);
void aux_test_source_stop(struct aux_test_source *source, int flags);
/* Does it have an open transaction? */
bool aux_test_source_writes(const struct aux_test_source *source);
/* Bring the stream up to now. */
void aux_test_source_update(struct aux_test_source *source);
/* Write the latest @size bytes into the record of @to: how many there were. */
long aux_test_source_snapshot(struct aux_test_source *source, struct perf_output_handle *to,
			      unsigned long size);

/* sysfs.c */
extern const struct attribute_group *aux_test_groups[];
int aux_test_sysfs_init(void);
/* Also show @pmu as a device called @name, with the same type number. */
struct device *aux_test_alias(struct pmu *pmu, const char *name);

#endif /* PERF_EVENTS_AUX_TEST_H */
