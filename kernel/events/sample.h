/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to kernel/events: the way of a sample, from an event that fires to
 * words in the ring.
 *
 *	software_event.c  clock_event.c  drivers, tracepoints, breakpoints
 *	              \        |        /
 *	               overflow.c		count, throttle, limit, BPF, SIGTRAP
 *	                   |
 *	               sample.c			which values are needed; fetch them
 *	               sample_user.c		registers, stack, pages, call chain
 *	               sample_aux.c		a piece of an AUX area
 *	                   |
 *	               sample_output.c		write them, by the plan
 *	               sample_read.c		counters in samples and READ records
 *
 * Unless said otherwise the functions run in any context, NMI included, with
 * preemption off.
 */
#ifndef _KERNEL_EVENTS_SAMPLE_H
#define _KERNEL_EVENTS_SAMPLE_H

#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>

#include "internal.h"
#include "ring/period.h"
#include "ring/sample_plan.h"
#include "ring/sample_size.h"

/* hw.interrupts of an event that is throttled. */
#define MAX_INTERRUPTS	(~0ULL)

/* Fields that the trailer of sample_id_all is made of. */
#define PERF_SAMPLE_ID_ALL						\
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |		\
	 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* The values, as the core's words. */
static inline const u64 *perf_sample_words(const struct perf_sample_data *data)
{
	return (const u64 *)data;
}

/* The id by which user space knows @event: children go by their parent's. */
static inline u64 perf_event_user_id(const struct perf_event *event)
{
	return event->parent ? event->parent->id : event->id;
}

static inline u64 perf_event_now(const struct perf_event *event)
{
	return event->clock();
}

/*
 * pid and tid of @task in the namespace that @event was opened in: 0 if it has
 * none there, -1 if it is past having any.
 */
void perf_event_task_ids(struct perf_event *event, struct task_struct *task,
			 u32 *pid, u32 *tid);

/* Values of the trailer's fields, those that are in @fields. */
void perf_sample_fill_ids(struct perf_sample_data *data, struct perf_event *event, u64 fields);

/* Values of any other fields: those in @missing. */
void perf_sample_prepare_more(struct perf_sample_data *data, struct perf_event *event,
			      struct pt_regs *regs, u64 missing);

/* perf_prepare_sample(), in line: few samples want more than the quick fields. */
static __always_inline void
perf_sample_prepare(struct perf_sample_data *data, struct perf_event *event,
		    struct pt_regs *regs)
{
	const u64 quick = PERF_SAMPLE_ID_ALL | PERF_SAMPLE_IP;
	/* Counters are read when they are written. */
	u64 missing = event->plan.wanted & ~(data->sample_flags | PERF_SAMPLE_READ);

	data->type = event->attr.sample_type;
	if (missing & PERF_SAMPLE_ID_ALL)
		perf_sample_fill_ids(data, event, missing);
	if (missing & PERF_SAMPLE_IP)
		data->ip = perf_instruction_pointer(regs);
	data->sample_flags |= missing & quick;
	if (unlikely(missing & ~quick))
		perf_sample_prepare_more(data, event, regs, missing & ~quick);
}

/*
 * Bytes of @event's counters in a sample or READ record right now. An event that
 * joins or leaves the group changes it, also between two calls.
 */
static inline unsigned int perf_event_read_bytes(const struct perf_event *event)
{
	return READ_ONCE(event->read_size);
}

/* sample_read.c: write @bytes of counters, neither more nor less. */
void perf_output_read(struct perf_output_handle *handle, struct perf_event *event,
		      unsigned int bytes);

/* sample_user.c */
void perf_sample_user_regs(struct perf_regs *user, struct pt_regs *regs);
u64 perf_sample_phys_addr(u64 virt);
u64 perf_sample_page_size(unsigned long addr);
/* Write the registers in @mask, one word each. */
void perf_output_regs(struct perf_output_handle *handle, struct pt_regs *regs, u64 mask);
/* Bytes of user stack that there are above the stack pointer, at most 64 KiB. */
unsigned int perf_sample_stack_available(struct pt_regs *regs);
void perf_output_stack(struct perf_output_handle *handle, struct pt_regs *regs, u64 size);

/* sample_aux.c */
unsigned int perf_sample_aux_available(struct perf_event *event);
void perf_output_aux(struct perf_output_handle *handle, struct perf_event *event,
		     struct perf_sample_data *data);

/*
 * overflow.c: @event, which samples, has reached its period. @throttle: too many
 * in one tick stop it. Returns non-zero if it has to stop. IRQs off.
 */
int perf_event_overflowed(struct perf_event *event, int throttle,
			  struct perf_sample_data *data, struct pt_regs *regs);

/* Is @event on this CPU now? With preemption off. */
static inline bool perf_event_runs_here(const struct perf_event *event)
{
	return READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE &&
	       READ_ONCE(event->oncpu) == smp_processor_id();
}

/* Does @event not want what happened at @regs (NULL: nowhere)? */
static __always_inline bool perf_exclude_event(struct perf_event *event, struct pt_regs *regs)
{
	/* A tick can stop and start it at any time. */
	if (READ_ONCE(event->hw.state) & PERF_HES_STOPPED)
		return true;
	if (!regs)
		return false;
	return user_mode(regs) ? event->attr.exclude_user : event->attr.exclude_kernel;
}

/* software_event.c, for the PMUs of tracepoints, probes and breakpoints */
void perf_swevent_event(struct perf_event *event, u64 nr, struct perf_sample_data *data,
			struct pt_regs *regs);
void perf_swevent_start(struct perf_event *event, int flags);
void perf_swevent_stop(struct perf_event *event, int flags);
void perf_swevent_read(struct perf_event *event);

extern struct pmu perf_swevent;
extern struct pmu perf_cpu_clock;
extern struct pmu perf_task_clock;

/*
 * aux_pause.c: stop the trace of @source, the AUX event that leads the group, or let
 * it go on. On its CPU.
 */
void perf_event_aux_pause(struct perf_event *source, bool stop);

/* records.c: records of one event about itself */
void perf_log_throttle(struct perf_event *event, int enable);
void perf_log_itrace_start(struct perf_event *event);
void perf_event_read_event(struct perf_event *event, struct task_struct *task);

/* sample.c, for events that come to life, join a group or leave it. */
void perf_event__header_size(struct perf_event *event);
void perf_event__id_header_size(struct perf_event *event);

static inline int __perf_event_read_size(u64 read_format, int nr_siblings)
{
	return perf_sample_read_size(read_format, nr_siblings);
}

/* core.c of the base */
void perf_adjust_period(struct perf_event *event, u64 nsec, u64 count, bool disable);
extern int max_samples_per_tick;
DECLARE_PER_CPU(int, perf_throttled_count);
DECLARE_PER_CPU(u64, perf_throttled_seq);

#endif /* _KERNEL_EVENTS_SAMPLE_H */
