// SPDX-License-Identifier: GPL-2.0
/*
 * The PMU intel_pt: what the hardware is, what an event may be.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include <asm/cpu_device_id.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "../../perf_event.h"
#include "pt.h"

struct pt_pmu pt_pmu;

/* ---- the same numbers, the same order ---- */

#define SAME(ours, theirs) static_assert((ours) == (theirs))

SAME(PT_MSR_OUTPUT_BASE, MSR_IA32_RTIT_OUTPUT_BASE);
SAME(PT_MSR_OUTPUT_MASK, MSR_IA32_RTIT_OUTPUT_MASK);
SAME(PT_MSR_CTL, MSR_IA32_RTIT_CTL);
SAME(PT_MSR_STATUS, MSR_IA32_RTIT_STATUS);
SAME(PT_MSR_ADDR0_A, MSR_IA32_RTIT_ADDR0_A);
SAME(PT_MSR_ADDR0_A + 2 * PT_CAPS_MOST_RANGES - 1, MSR_IA32_RTIT_ADDR3_B);
SAME(PT_CTL_TRACEEN, RTIT_CTL_TRACEEN);
SAME(PT_CTL_CYCEN, RTIT_CTL_CYCLEACC);
SAME(PT_CTL_OS, RTIT_CTL_OS);
SAME(PT_CTL_USER, RTIT_CTL_USR);
SAME(PT_CTL_PWREVTEN, RTIT_CTL_PWR_EVT_EN);
SAME(PT_CTL_FUPONPTW, RTIT_CTL_FUP_ON_PTW);
SAME(PT_CTL_TOPA, RTIT_CTL_TOPA);
SAME(PT_CTL_MTCEN, RTIT_CTL_MTC_EN);
SAME(PT_CTL_TSCEN, RTIT_CTL_TSC_EN);
SAME(PT_CTL_DISRETC, RTIT_CTL_DISRETC);
SAME(PT_CTL_PTWEN, RTIT_CTL_PTW_EN);
SAME(PT_CTL_BRANCHEN, RTIT_CTL_BRANCH_EN);
SAME(PT_CTL_MTCFREQ, RTIT_CTL_MTC_RANGE);
SAME(PT_CTL_CYCTHRESH, RTIT_CTL_CYC_THRESH);
SAME(PT_CTL_PSBFREQ, RTIT_CTL_PSB_FREQ);
SAME(PT_CTL_EVENTEN, RTIT_CTL_EVENT_EN);
SAME(PT_CTL_ADDR0_SHIFT, RTIT_CTL_ADDR0_OFFSET);
SAME(PT_CTL_DISTNT, RTIT_CTL_NOTNT);
SAME(PT_STATUS_ERROR, RTIT_STATUS_ERROR);
SAME(PT_STATUS_STOPPED, RTIT_STATUS_STOPPED);
SAME(PT_PAGE_SHIFT, PAGE_SHIFT);
SAME(PT_CAPS_WORDS, PT_CPUID_LEAVES * PT_CPUID_REGS_NUM);

#define SAME_CAP(ours, theirs) static_assert((int)PT_CAPS_##ours == (int)PT_CAP_##theirs)

SAME_CAP(MAX_SUBLEAF, max_subleaf);
SAME_CAP(CR3_FILTERING, cr3_filtering);
SAME_CAP(PSB_CYC, psb_cyc);
SAME_CAP(IP_FILTERING, ip_filtering);
SAME_CAP(MTC, mtc);
SAME_CAP(PTWRITE, ptwrite);
SAME_CAP(POWER_EVENT_TRACE, power_event_trace);
SAME_CAP(EVENT_TRACE, event_trace);
SAME_CAP(TNT_DISABLE, tnt_disable);
SAME_CAP(TOPA_OUTPUT, topa_output);
SAME_CAP(TOPA_MULTIPLE_ENTRIES, topa_multiple_entries);
SAME_CAP(SINGLE_RANGE_OUTPUT, single_range_output);
SAME_CAP(OUTPUT_SUBSYS, output_subsys);
SAME_CAP(PAYLOADS_LIP, payloads_lip);
SAME_CAP(NUM_ADDRESS_RANGES, num_address_ranges);
SAME_CAP(MTC_PERIODS, mtc_periods);
SAME_CAP(CYCLE_THRESHOLDS, cycle_thresholds);
SAME_CAP(PSB_PERIODS, psb_periods);

/* ---- what others ask ---- */

/* For KVM: of capabilities that a guest is to have. */
u32 intel_pt_validate_cap(u32 *caps, enum pt_capabilities cap)
{
	return pt_caps_field(caps, (enum pt_cap)cap);
}
EXPORT_SYMBOL_GPL(intel_pt_validate_cap);

/* For KVM: of the CPU. What is emulated is no guest's. */
u32 intel_pt_validate_hw_cap(enum pt_capabilities cap)
{
	return pt_hw->emulated ? 0 : pt_caps_field(pt_pmu.caps, (enum pt_cap)cap);
}
EXPORT_SYMBOL_GPL(intel_pt_validate_hw_cap);

int is_intel_pt_event(struct perf_event *event)
{
	return event->pmu == &pt_pmu.pmu;
}

/* ---- an event ---- */

static int hold_hardware(void)
{
	int err;

	if (x86_add_exclusive(x86_lbr_exclusive_pt))
		return -EBUSY;
	err = pt_hw->get ? pt_hw->get() : 0;
	if (err)
		x86_del_exclusive(x86_lbr_exclusive_pt);
	return err;
}

static void release_hardware(void)
{
	if (pt_hw->put)
		pt_hw->put();
	x86_del_exclusive(x86_lbr_exclusive_pt);
}

static void event_destroy(struct perf_event *event)
{
	kfree(event->pmu_private);
	event->pmu_private = NULL;
	release_hardware();
}

static atomic64_t numbers;

static int event_init(struct perf_event *event)
{
	const int node = event->cpu == -1 ? NUMA_NO_NODE : cpu_to_node(event->cpu);
	struct pt_event *trace;
	int err;

	if (event->attr.type != pt_pmu.pmu.type)
		return -ENOENT;
	if (pt_config_check(pt_pmu.caps, event->attr.config, pt_pmu.branch_always))
		return -EINVAL;
	err = hold_hardware();
	if (err)
		return err;

	trace = kzalloc_node(sizeof(*trace), GFP_KERNEL, node);
	if (!trace) {
		release_hardware();
		return -ENOMEM;
	}
	trace->ctl = pt_config_ctl(event->attr.config, !event->attr.exclude_kernel,
				   !event->attr.exclude_user);
	trace->number = atomic64_inc_return(&numbers);
	trace->cpu = -1;
	event->pmu_private = trace;
	event->destroy = event_destroy;
	return 0;
}

static void event_read(struct perf_event *event)
{
}

static enum pt_range_kind range_kind(const struct perf_addr_filter *filter)
{
	switch (filter->action) {
	case PERF_ADDR_FILTER_ACTION_FILTER:
		return PT_RANGE_FILTER;
	case PERF_ADDR_FILTER_ACTION_STOP:
		return PT_RANGE_STOP;
	default:
		return PT_RANGE_START;
	}
}

static int filters_validate(struct list_head *filters)
{
	struct perf_addr_filter *filter;
	unsigned int before = 0;
	int err;

	list_for_each_entry(filter, filters, entry) {
		err = pt_ranges_check(pt_pmu.caps, before++, filter->size, range_kind(filter));
		if (err)
			return err;
	}
	return 0;
}

/* On the event's CPU with interrupts off, under the lock of the list. */
static void filters_sync(struct perf_event *event)
{
	const struct perf_addr_filter_range *in_memory = event->addr_filter_ranges;
	struct pt_ranges *ranges = &to_pt_event(event)->ranges;
	struct perf_addr_filter *filter;

	*ranges = (struct pt_ranges) { };
	list_for_each_entry(filter, &perf_event_addr_filters(event)->list, entry) {
		/* The part of a file that is nowhere in memory yet is a range of nothing. */
		const bool absent = filter->path.dentry && !in_memory->start;

		pt_ranges_add(ranges, in_memory->start, absent ? 0 : in_memory->size,
			      range_kind(filter), boot_cpu_data.x86_virt_bits);
		in_memory++;
	}
}

/* ---- the hardware ---- */

/* Somebody else's trace, the firmware's perhaps, is not ours to disturb. */
static bool __init in_use(void)
{
	bool used = false;
	u64 ctl;
	int cpu;

	if (pt_hw->emulated)
		return false;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (!rdmsrl_safe_on_cpu(cpu, MSR_IA32_RTIT_CTL, &ctl) && ctl & PT_CTL_TRACEEN)
			used = true;
	}
	cpus_read_unlock();
	return used;
}

/* The ratio of TSC and crystal clock, which MTC packets count: SDM, CPUID leaf 0x15. */
static void __init read_clocks(void)
{
	u64 info;
	u32 unused;

	if (pt_hw->emulated)
		pt_pmu.max_nonturbo_ratio = tsc_khz / 100000;
	else if (!rdmsrl_safe(MSR_PLATFORM_INFO, &info))
		pt_pmu.max_nonturbo_ratio = (info >> 8) & 0xff;

	if (boot_cpu_data.cpuid_level >= 0x15)
		cpuid(0x15, &pt_pmu.tsc_denominator, &pt_pmu.tsc_numerator, &unused, &unused);
}

static void __init read_quirks(void)
{
	u64 misc;

	/* What is emulated knows nothing of either. */
	if (pt_hw->emulated) {
		pt_pmu.vmx = true;
		return;
	}

	switch (boot_cpu_data.x86_vfm) {
	case INTEL_BROADWELL:
	case INTEL_BROADWELL_D:
	case INTEL_BROADWELL_G:
	case INTEL_BROADWELL_X:
		/* Erratum BDM106 */
		pt_pmu.branch_always = true;
	}

	/* IA32_VMX_MISC[14]: SDM volume 3, "Tracing post-VMXON". */
	if (boot_cpu_has(X86_FEATURE_VMX) && !rdmsrl_safe(MSR_IA32_VMX_MISC, &misc))
		pt_pmu.vmx = misc & BIT(14);
}

static void __init read_caps(void)
{
	unsigned int subleaf;

	for (subleaf = 0; subleaf < PT_CAPS_SUBLEAVES; subleaf++)
		pt_hw->cpuid(subleaf, &pt_pmu.caps[4 * subleaf]);
	pt_caps_bound(pt_pmu.caps);
}

static int __init register_pmu(void)
{
	struct pmu *pmu = &pt_pmu.pmu;

	pmu->capabilities = PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE | PERF_PMU_CAP_AUX_PAUSE;
	pmu->capabilities |= pt_has(PT_CAPS_TOPA_MULTIPLE_ENTRIES) ? PERF_PMU_CAP_AUX_PREFER_LARGE :
								    PERF_PMU_CAP_AUX_NO_SG;
	pmu->attr_groups		= pt_groups;
	pmu->task_ctx_nr		= perf_sw_context;
	pmu->event_init			= event_init;
	pmu->add			= pt_add;
	pmu->del			= pt_del;
	pmu->start			= pt_start;
	pmu->stop			= pt_stop;
	pmu->read			= event_read;
	pmu->snapshot_aux		= pt_snapshot;
	pmu->setup_aux			= pt_buffer_setup;
	pmu->free_aux			= pt_buffer_free;
	pmu->addr_filters_validate	= filters_validate;
	pmu->addr_filters_sync		= filters_sync;
	pmu->nr_addr_filters = pt_caps_field(pt_pmu.caps, PT_CAPS_NUM_ADDRESS_RANGES);
	return perf_pmu_register(pmu, "intel_pt", -1);
}

static int __init pt_init(void)
{
	int err = pt_hw_choose();

	if (err)
		return err;
	if (in_use()) {
		/* And nobody shall use the LBRs, with which it does not get along. */
		x86_add_exclusive(x86_lbr_exclusive_pt);
		pr_warn("PT is enabled at boot time, doing nothing\n");
		return -EBUSY;
	}

	read_clocks();
	read_quirks();
	read_caps();
	if (!pt_caps_usable(pt_pmu.caps)) {
		pr_warn("ToPA output is not supported on this CPU\n");
		return -ENODEV;
	}
	pt_sysfs_init();
	err = pt_hw_watch();
	return err ?: register_pmu();
}
arch_initcall(pt_init);
