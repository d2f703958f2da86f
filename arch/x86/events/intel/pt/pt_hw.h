/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way of the Intel PT driver to its hardware. The native one is RDMSR, WRMSR and
 * CPUID; the emulated one is a struct pt_unit for each CPU. The driver cannot tell them
 * apart. It is chosen once, before the PMU is registered.
 */
#ifndef X86_EVENTS_INTEL_PT_HW_H
#define X86_EVENTS_INTEL_PT_HW_H

#include <linux/types.h>

struct pt_hw {
	/* IA32_RTIT_* of this CPU. Any context, NMI included; the task stays on its CPU. */
	u64	(*read)(u32 msr);
	void	(*write)(u32 msr, u64 value);
	/* Leaf 0x14: eax, ebx, ecx, edx. Any context. */
	void	(*cpuid)(u32 subleaf, u32 registers[4]);
	/*
	 * An event is going to use it, and no longer does. Task context, may sleep; 0 or a
	 * negative errno. NULL: nobody needs to know.
	 */
	int	(*get)(void);
	void	(*put)(void);
	bool	emulated;
};

#ifdef CONFIG_PERF_INTEL_PT_EMU
/*
 * The emulated hardware: makes a unit for each possible CPU, or says why not
 * (-ENOMEM; -EOPNOTSUPP: a guest that has no debug registers of its own).
 * Called once, from an initcall, task context.
 */
int pt_emu_init(const struct pt_hw **hw);
#else
static inline int pt_emu_init(const struct pt_hw **hw)
{
	return -ENODEV;
}
#endif

#endif /* X86_EVENTS_INTEL_PT_HW_H */
