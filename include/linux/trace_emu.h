/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where emulated trace hardware watches the CPU go to user mode and come back.
 * While no event uses it, each hook is a no-op that is patched out.
 */
#ifndef _LINUX_TRACE_EMU_H
#define _LINUX_TRACE_EMU_H

#include <linux/jump_label.h>

struct pt_regs;

#ifdef CONFIG_TRACE_EMU
DECLARE_STATIC_KEY_FALSE(trace_emu_used);

void __trace_emu_enter(struct pt_regs *regs);
void __trace_emu_exit(struct pt_regs *regs);
unsigned long __trace_emu_note_debug(struct pt_regs *regs, unsigned long dr6);
bool __trace_emu_debug(struct pt_regs *regs);

/* The kernel has been entered from user mode. Interrupts off, RCU watches. */
static __always_inline void trace_emu_enter(struct pt_regs *regs)
{
	if (static_branch_unlikely(&trace_emu_used))
		__trace_emu_enter(regs);
}

/* The last thing on the way to user mode: all work is done, interrupts are off. */
static __always_inline void trace_emu_exit(struct pt_regs *regs)
{
	if (static_branch_unlikely(&trace_emu_used))
		__trace_emu_exit(regs);
}

/*
 * A #DB from user mode, before anything else looks at it: the DR6 that user mode's reasons
 * come to. Not instrumentable.
 */
static __always_inline unsigned long trace_emu_note_debug(struct pt_regs *regs, unsigned long dr6)
{
	return static_branch_unlikely(&trace_emu_used) ? __trace_emu_note_debug(regs, dr6) : dr6;
}

/* The same #DB, once the kernel has been entered: true: it is none of user mode's. */
static __always_inline bool trace_emu_debug(struct pt_regs *regs)
{
	return static_branch_unlikely(&trace_emu_used) && __trace_emu_debug(regs);
}
#else
static inline void trace_emu_enter(struct pt_regs *regs)
{
}

static inline void trace_emu_exit(struct pt_regs *regs)
{
}

static inline unsigned long trace_emu_note_debug(struct pt_regs *regs, unsigned long dr6)
{
	return dr6;
}

static inline bool trace_emu_debug(struct pt_regs *regs)
{
	return false;
}
#endif

#endif /* _LINUX_TRACE_EMU_H */
