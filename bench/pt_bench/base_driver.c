// SPDX-License-Identifier: GPL-2.0
/*
 * The base's driver over the emulated unit. Its text is copied beside this file when the
 * bench is built; what it asks of the CPU is led to the unit.
 */
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/types.h>

#include <asm/cpu_device_id.h>
#include <asm/insn.h>
#include <asm/intel_pt.h>
#include <asm/io.h>
#include <asm/perf_event.h>

#include "../../perf_event.h"

#include "pt_bench.h"

#undef rdmsrl
#define rdmsrl(msr, value)	((value) = bench_unit_read(BENCH_BASE, msr))
#undef wrmsrl
#define wrmsrl(msr, value)	bench_unit_write(BENCH_BASE, msr, value)
#define rdmsrl_safe_on_cpu(cpu, msr, value)	(-EIO)
#undef cpuid_count
#define cpuid_count(leaf, subleaf, a, b, c, d)			\
	do {							\
		u32 words[4];					\
		bench_unit_cpuid(BENCH_BASE, subleaf, words);		\
		*(a) = words[0];				\
		*(b) = words[1];				\
		*(c) = words[2];				\
		*(d) = words[3];				\
	} while (0)

#undef boot_cpu_has
#define boot_cpu_has(feature)	((feature) == X86_FEATURE_INTEL_PT)
#define x86_add_exclusive(what)	0
#define x86_del_exclusive(what)	do { } while (0)

/* Once for each event; the kernel keeps it to itself. */
#define perf_event_itrace_started(event)	do { } while (0)
#define perf_pmu_register(pmu, name, type)	bench_register(BENCH_BASE, pmu)

#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(symbol)
#undef arch_initcall
#define arch_initcall(function)	int bench_base_init(void) { return function(); }
#undef __init
#define __init

/* Our driver has the same names. */
#define intel_pt_interrupt		base_intel_pt_interrupt
#define intel_pt_handle_vmx		base_intel_pt_handle_vmx
#define intel_pt_validate_cap		base_intel_pt_validate_cap
#define intel_pt_validate_hw_cap	base_intel_pt_validate_hw_cap
#define is_intel_pt_event		base_is_intel_pt_event
#define cpu_emergency_stop_pt		base_cpu_emergency_stop_pt

#include "base_pt.c"
