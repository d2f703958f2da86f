/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to the Intel PT driver.
 *
 *	pmu.c		the PMU: registration, what an event may be
 *	trace.c		start, stop and all that happens in between
 *	buffer.c	an AUX area's tables
 *	hw.c		the registers, real or emulated, and what CPUs forget
 *	sysfs.c		format/, caps/ and the clock's ratios
 *	caps.*		CPUID leaf 0x14			(core)
 *	config.*	attr.config			(core)
 *	ranges.*	address filters			(core)
 *	topa.*		tables of regions		(core)
 *	output.*	positions, INT, STOP		(core)
 *	program.*	the registers before a start	(core)
 */
#ifndef X86_EVENTS_INTEL_PT_H
#define X86_EVENTS_INTEL_PT_H

#include <linux/perf_event.h>
#include <linux/static_call.h>

#include <asm/intel_pt.h>

#include "config.h"
#include "program.h"
#include "pt_hw.h"
#include "rtit.h"

/* ---- the PMU ---- */

struct pt_pmu {
	struct pmu	pmu;
	u32		caps[PT_CAPS_WORDS];
	bool		vmx;			/* traces in VMX operation, too */
	bool		branch_always;		/* the CPU wants BranchEn */
	unsigned long	max_nonturbo_ratio;
	u32		tsc_numerator;		/* TSC over crystal clock; 0: not known */
	u32		tsc_denominator;
};

extern struct pt_pmu pt_pmu;

static inline bool pt_has(enum pt_cap cap)
{
	return pt_caps_field(pt_pmu.caps, cap);
}

/* What an event is, in event->pmu_private. Changes on its CPU with interrupts off. */
struct pt_event {
	u64			ctl;		/* IA32_RTIT_CTL but for TraceEn, ToPA, ranges */
	struct pt_ranges	ranges;
	u64			number;		/* no other one's, ever */
	int			cpu;		/* that it has last been started on; -1: none */
	bool			resync;		/* the trace has a gap: begin with a PSB */
};

static inline struct pt_event *to_pt_event(struct perf_event *event)
{
	return event->pmu_private;
}

/* ---- buffer.c ---- */

/* What setup_aux() makes. */
struct pt_buffer {
	struct pt_output	output;
	void			**pages;	/* those of the AUX area */
};

/* pmu::setup_aux() and pmu::free_aux(). Task context. */
void *pt_buffer_setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite);
void pt_buffer_free(void *buffer);

/* ---- trace.c ---- */

/*
 * One CPU's trace. Used there only, with interrupts off. What an NMI can find changed
 * under it, or change, is read and written once.
 */
struct pt_cpu {
	struct perf_output_handle handle;
	struct pt_shadow	shadow;
	struct pt_buffer	*buffer;	/* of the open transaction */
	struct perf_event	*event;		/* between start and stop */
	u64			ctl;		/* of that event, without TraceEn */
	u64			latest;		/* pt_event::number of the last to start here */
	bool			enabled;	/* TraceEn may be set */
	bool			wanted;		/* TraceEn is to be set */
	bool			live;		/* the registers say where the output goes */
	bool			vmx_on;		/* VMX operation, in which TraceEn faults */
	bool			busy;		/* an NMI has to leave everything as it is ... */
	unsigned int		missed;		/* ... and its wishes here */
};

DECLARE_PER_CPU(struct pt_cpu, pt_cpu);

/* Callbacks of struct pmu. */
void pt_start(struct perf_event *event, int flags);
void pt_stop(struct perf_event *event, int flags);
int pt_add(struct perf_event *event, int flags);
void pt_del(struct perf_event *event, int flags);
long pt_snapshot(struct perf_event *event, struct perf_output_handle *record, unsigned long size);

/* ---- sysfs.c ---- */

extern const struct attribute_group *pt_groups[];
void pt_sysfs_init(void);

/* ---- hw.c ---- */

extern const struct pt_hw *pt_hw;

/* The hardware that is to be used: 0, -ENODEV, or why it cannot be emulated. */
int pt_hw_choose(void);
/* From now on the driver's hardware is @hw. Nothing may be traced. Task context. */
void pt_hw_use(const struct pt_hw *hw);
/* Take notice of CPUs that come up and of sleep: they forget their registers. */
int pt_hw_watch(void);

u64 pt_native_read(u32 msr);
void pt_native_write(u32 msr, u64 value);
DECLARE_STATIC_CALL(pt_hw_read, pt_native_read);
DECLARE_STATIC_CALL(pt_hw_write, pt_native_write);

/* A register of this CPU. Any context. */
static __always_inline u64 pt_read(u32 msr)
{
	return static_call(pt_hw_read)(msr);
}

static __always_inline void pt_write(u32 msr, u64 value)
{
	static_call(pt_hw_write)(msr, value);
}

#endif /* X86_EVENTS_INTEL_PT_H */
