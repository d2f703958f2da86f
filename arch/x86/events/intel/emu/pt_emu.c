// SPDX-License-Identifier: GPL-2.0
/*
 * The emulated Intel PT of each CPU, as the driver sees hardware (struct pt_hw): a
 * register access goes to the unit of this CPU, the unit's interrupt comes on the way to
 * user mode.
 */
#include <linux/cc_platform.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/trace_emu.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include <asm/asm.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "../../../../../drivers/hwtracing/emu/pt_unit.h"
#include "../../perf_event.h"
#include "../pt/pt_hw.h"
#include "breakpoint.h"
#include "events.h"
#include "pt_emu.h"

/* What part of the memory may be taken by the runs that are kept for all CPUs. */
#define RUNS_SHARE 64

DEFINE_STATIC_KEY_FALSE(trace_emu_used);
DEFINE_PER_CPU(struct stepper, pt_emu_stepper);

static void *unit_memory(void *context, unsigned long long physical)
{
	return pfn_valid(PHYS_PFN(physical)) ? phys_to_virt(physical) : NULL;
}

static unsigned long long unit_tsc(void *context)
{
	return rdtsc_ordered();
}

static void unit_interrupt(void *context)
{
	struct stepper *stepper = context;

	stepper->interrupt = true;
}

static const struct pt_unit_ops unit_ops = {
	.memory = unit_memory,
	.tsc = unit_tsc,
	.interrupt = unit_interrupt,
};

void pt_emu_deliver(struct stepper *stepper)
{
	stepper->interrupt = false;
	intel_pt_interrupt();
}

static u64 emu_read(u32 msr)
{
	struct stepper *stepper;
	unsigned long long value = 0;
	unsigned long flags;

	local_irq_save(flags);
	stepper = this_cpu_ptr(&pt_emu_stepper);
	if (pt_unit_read(stepper->unit, msr, &value))
		pr_warn_once("intel_pt: read of MSR 0x%x is refused\n", msr);
	local_irq_restore(flags);
	return value;
}

static void emu_write(u32 msr, u64 value)
{
	struct stepper *stepper;
	unsigned long flags;

	local_irq_save(flags);
	stepper = this_cpu_ptr(&pt_emu_stepper);
	if (msr == MSR_IA32_RTIT_CTL) {
		stepper_flush(stepper);
		stepper->session++;
	}
	if (pt_unit_write(stepper->unit, msr, value))
		pr_warn_once("intel_pt: write of 0x%llx to MSR 0x%x is refused\n", value, msr);
	else if (msr == MSR_IA32_RTIT_CTL)
		stepper->enabled = value & RTIT_CTL_TRACEEN;
	local_irq_restore(flags);
}

static void emu_cpuid(u32 subleaf, u32 registers[4])
{
	pt_unit_cpuid(per_cpu(pt_emu_stepper, 0).unit, subleaf, registers);
}

/* Events there are. */
static unsigned int users;
static DEFINE_MUTEX(users_lock);

/* Without events, runs are kept for so long: the next event may soon come. */
#define RUNS_KEPT (10 * HZ)

static void free_runs(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct x86_runs *runs = &per_cpu_ptr(&pt_emu_stepper, cpu)->runs;

		vfree(runs->slots);
		runs->slots = NULL;
	}
}

/* No CPU follows anybody once the last event is gone and emu_put() has interrupted it. */
static void free_unused_runs(struct work_struct *work)
{
	mutex_lock(&users_lock);
	if (!users)
		free_runs();
	mutex_unlock(&users_lock);
}

static DECLARE_DELAYED_WORK(unused_runs, free_unused_runs);

/* Megabytes, which are only there while somebody traces. */
static int make_runs(void)
{
	const u64 share = PFN_PHYS((u64)totalram_pages()) / RUNS_SHARE / num_possible_cpus();
	const unsigned int order = x86_runs_order(share);
	int cpu;

	for_each_possible_cpu(cpu) {
		struct x86_runs *runs = &per_cpu_ptr(&pt_emu_stepper, cpu)->runs;

		if (runs->slots)
			continue;
		runs->order = order;
		runs->slots = vzalloc_node(array_size(1 << order, sizeof(struct x86_run)),
					   cpu_to_node(cpu));
		if (!runs->slots) {
			free_runs();
			return -ENOMEM;
		}
	}
	return 0;
}

static int emu_get(void)
{
	int error = 0;

	mutex_lock(&users_lock);
	if (!users) {
		error = make_runs();
		if (!error)
			error = pt_emu_watch_idle(true);
	}
	if (!error)
		users++;
	mutex_unlock(&users_lock);
	if (!error)
		static_branch_inc(&trace_emu_used);
	return error;
}

static void disarm(void *unused)
{
	stepper_disarm(this_cpu_ptr(&pt_emu_stepper));
}

/* Without the hooks nobody else would take a CPU's last breakpoint away. */
static void emu_put(void)
{
	mutex_lock(&users_lock);
	if (!--users) {
		pt_emu_watch_idle(false);
		on_each_cpu(disarm, NULL, 1);
		mod_delayed_work(system_wq, &unused_runs, RUNS_KEPT);
	}
	mutex_unlock(&users_lock);
	static_branch_dec(&trace_emu_used);
}

static const struct pt_hw emulated_hw = {
	.read = emu_read,
	.write = emu_write,
	.cpuid = emu_cpuid,
	.get = emu_get,
	.put = emu_put,
	.emulated = true,
};

/* PTWRITE raises #UD where the CPU does not know it. */
static bool cpu_decodes_ptwrite(void)
{
	bool known = false;

	/* ptwrite %eax */
	asm volatile("1: .byte 0xf3, 0x0f, 0xae, 0xe0\n"
		     "	movb $1, %0\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : "+qm" (known));
	return known;
}

static struct pt_unit_features features(void)
{
	struct pt_unit_features features = {
		.address_ranges = 4,
		.ptwrite = cpu_decodes_ptwrite(),
		.single_range = 1,
		.bus_ratio = clamp(tsc_khz / 100000, 1u, 255u),
	};
	u32 eax = 0, ebx = 0, ecx, edx;

	if (boot_cpu_data.cpuid_level >= 0x15)
		cpuid(0x15, &eax, &ebx, &ecx, &edx);
	if (eax && ebx) {
		features.tsc_numerator = ebx;
		features.tsc_denominator = eax;
	}
	return features;
}

static int make_unit(struct stepper *stepper, int cpu, const struct pt_unit_features *features)
{
	int node = cpu_to_node(cpu);

	stepper->unit = kzalloc_node(pt_unit_size(), GFP_KERNEL, node);
	if (!stepper->unit)
		return -ENOMEM;
	interpreter_init(stepper);
	pt_unit_init(stepper->unit, &unit_ops, stepper, features);
	return 0;
}

static void free_units(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct stepper *stepper = per_cpu_ptr(&pt_emu_stepper, cpu);

		kfree(stepper->unit);
		stepper->unit = NULL;
	}
}

/* What the units of all CPUs have seen. The numbers of a running CPU may be a bit old. */
static int counts_show(struct seq_file *file, void *unused)
{
	struct pt_unit_counts all = { }, one;
	u64 lost = 0, interpreted = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct stepper *stepper = per_cpu_ptr(&pt_emu_stepper, cpu);

		pt_unit_counts(stepper->unit, &one);
		all.instructions += one.instructions;
		all.overflows += one.overflows;
		all.errors += one.errors;
		all.faults += one.faults;
		lost += stepper->lost;
		interpreted += stepper->interpreted;
	}
	seq_printf(file, "instructions %llu\noverflows %llu\nerrors %llu\nfaults %llu\n",
		   all.instructions, all.overflows, all.errors, all.faults);
	seq_printf(file, "lost %llu\ninterpreted %llu\n", lost, interpreted);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

int __init pt_emu_init(const struct pt_hw **hw)
{
	struct pt_unit_features shown = features();
	int cpu, error;

	/* Debug registers do nothing there, or another one's are the task's. */
	if (cc_platform_has(CC_ATTR_GUEST_STATE_ENCRYPT) ||
	    cpu_feature_enabled(X86_FEATURE_XENPV))
		return -EOPNOTSUPP;
	for_each_possible_cpu(cpu) {
		error = make_unit(per_cpu_ptr(&pt_emu_stepper, cpu), cpu, &shown);
		if (error) {
			free_units();
			return error;
		}
	}
	pt_emu_find_entries();
	debugfs_create_file("intel_pt_emu", 0400, NULL, NULL, &counts_fops);
	*hw = &emulated_hw;
	return 0;
}
