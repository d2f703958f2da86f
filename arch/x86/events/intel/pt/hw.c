// SPDX-License-Identifier: GPL-2.0
/*
 * The driver's hardware: the CPU's own, or what stands in for it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpuhotplug.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/syscore_ops.h>

#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/processor.h>

#include "pt.h"

#define LEAF_PT	0x14

/* ---- native ---- */

u64 pt_native_read(u32 msr)
{
	u64 value;

	rdmsrl(msr, value);
	return value;
}

void pt_native_write(u32 msr, u64 value)
{
	wrmsrl(msr, value);
}

static void read_cpuid(u32 subleaf, u32 registers[4])
{
	cpuid_count(LEAF_PT, subleaf, &registers[0], &registers[1], &registers[2], &registers[3]);
}

static const struct pt_hw native = {
	.read	= pt_native_read,
	.write	= pt_native_write,
	.cpuid	= read_cpuid,
};

/* ---- the choice ---- */

DEFINE_STATIC_CALL(pt_hw_read, pt_native_read);
DEFINE_STATIC_CALL(pt_hw_write, pt_native_write);

const struct pt_hw *pt_hw = &native;

enum emulate {
	EMULATE_OFF,
	EMULATE_AUTO,	/* if the CPU has no Intel PT */
	EMULATE_ON,
};

static const char *const emulate_names[] = {
	[EMULATE_OFF]	= "off",
	[EMULATE_AUTO]	= "auto",
	[EMULATE_ON]	= "on",
};

static int emulate = IS_ENABLED(CONFIG_PERF_INTEL_PT_EMU_AUTO) ? EMULATE_AUTO : EMULATE_OFF;

static int emulate_set(const char *value, const struct kernel_param *param)
{
	int choice = sysfs_match_string(emulate_names, value);

	if (choice < 0)
		return choice;
	emulate = choice;
	return 0;
}

static int emulate_get(char *to, const struct kernel_param *param)
{
	return sysfs_emit(to, "%s\n", emulate_names[emulate]);
}

static const struct kernel_param_ops emulate_ops = {
	.set	= emulate_set,
	.get	= emulate_get,
};

/* intel_pt.emulate=off|auto|on */
module_param_cb(emulate, &emulate_ops, NULL, 0444);

void pt_hw_use(const struct pt_hw *hw)
{
	int cpu;

	pt_hw = hw;
	static_call_update(pt_hw_read, hw->read);
	static_call_update(pt_hw_write, hw->write);
	for_each_possible_cpu(cpu)
		pt_shadow_forget(&per_cpu(pt_cpu, cpu).shadow);
}

int __init pt_hw_choose(void)
{
	const bool has = boot_cpu_has(X86_FEATURE_INTEL_PT);
	const struct pt_hw *hw = &native;
	int err;

	if (emulate == EMULATE_ON || (emulate == EMULATE_AUTO && !has)) {
		err = pt_emu_init(&hw);
		if (err) {
			pr_warn("no emulated hardware: error %d\n", err);
			return err;
		}
		pr_info("the hardware is emulated\n");
	} else if (!has) {
		return -ENODEV;
	}
	pt_hw_use(hw);
	return 0;
}

/* ---- what CPUs forget ---- */

/* @cpu does not run yet. */
static int cpu_comes(unsigned int cpu)
{
	pt_shadow_forget(&per_cpu(pt_cpu, cpu).shadow);
	return 0;
}

/* The boot CPU does not go down for sleep; its trace rests meanwhile. */
static struct perf_event *asleep;

static int sleeps(void *unused)
{
	struct pt_cpu *pt = this_cpu_ptr(&pt_cpu);

	asleep = pt->event;
	if (asleep)
		pt_stop(asleep, PERF_EF_UPDATE);
	return 0;
}

static void wakes(void *unused)
{
	pt_shadow_forget(&this_cpu_ptr(&pt_cpu)->shadow);
	if (asleep)
		pt_start(asleep, 0);
	asleep = NULL;
}

static const struct syscore_ops sleep_ops = {
	.suspend	= sleeps,
	.resume		= wakes,
};

static struct syscore sleep = {
	.ops	= &sleep_ops,
};

int pt_hw_watch(void)
{
	int err = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "perf/x86/intel_pt:prepare",
					    cpu_comes, NULL);

	if (err < 0)
		return err;
	register_syscore(&sleep);
	return 0;
}
