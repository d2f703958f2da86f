// SPDX-License-Identifier: GPL-2.0
/* Our driver over the emulated unit: trace.c, and as much of a PMU as the bench needs. */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "pt_bench.h"

/* The kernel has it already. */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(symbol)
/* Once for each event; the kernel keeps it to itself. */
#define perf_event_itrace_started(event)	do { } while (0)

#undef pr_fmt
#include "trace.c"

struct pt_pmu pt_pmu;

u64 pt_native_read(u32 msr)
{
	return bench_unit_read(BENCH_OURS, msr);
}

void pt_native_write(u32 msr, u64 value)
{
	bench_unit_write(BENCH_OURS, msr, value);
}

DEFINE_STATIC_CALL(pt_hw_read, pt_native_read);
DEFINE_STATIC_CALL(pt_hw_write, pt_native_write);

static void event_destroy(struct perf_event *event)
{
	kfree(event->pmu_private);
}

static u64 numbers;

static int event_init(struct perf_event *event)
{
	struct pt_event *trace;

	if (event->attr.type != pt_pmu.pmu.type)
		return -ENOENT;
	if (pt_config_check(pt_pmu.caps, event->attr.config, false))
		return -EINVAL;
	trace = kzalloc(sizeof(*trace), GFP_KERNEL);
	if (!trace)
		return -ENOMEM;
	trace->ctl = pt_config_ctl(event->attr.config, !event->attr.exclude_kernel,
				   !event->attr.exclude_user);
	trace->number = ++numbers;
	trace->cpu = -1;
	event->pmu_private = trace;
	event->destroy = event_destroy;
	return 0;
}

static void event_read(struct perf_event *event)
{
}

static int filters_validate(struct list_head *filters)
{
	return -EOPNOTSUPP;
}

static void filters_sync(struct perf_event *event)
{
}

int bench_our_init(void)
{
	struct pmu *pmu = &pt_pmu.pmu;
	u32 subleaf;
	int cpu;

	for_each_possible_cpu(cpu)
		pt_shadow_forget(&per_cpu(pt_cpu, cpu).shadow);

	for (subleaf = 0; subleaf < PT_CAPS_SUBLEAVES; subleaf++)
		bench_unit_cpuid(BENCH_OURS, subleaf, &pt_pmu.caps[4 * subleaf]);
	pt_caps_bound(pt_pmu.caps);

	pmu->capabilities		= PERF_PMU_CAP_ITRACE | PERF_PMU_CAP_AUX_PREFER_LARGE;
	pmu->task_ctx_nr		= perf_sw_context;
	pmu->event_init			= event_init;
	pmu->add			= pt_add;
	pmu->del			= pt_del;
	pmu->start			= pt_start;
	pmu->stop			= pt_stop;
	pmu->read			= event_read;
	pmu->setup_aux			= pt_buffer_setup;
	pmu->free_aux			= pt_buffer_free;
	pmu->addr_filters_validate	= filters_validate;
	pmu->addr_filters_sync		= filters_sync;
	pmu->nr_addr_filters		= pt_has(PT_CAPS_NUM_ADDRESS_RANGES);
	return bench_register(BENCH_OURS, pmu);
}
