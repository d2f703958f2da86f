/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The debug registers of a CPU that the stepper shares with the task: it has one of those that
 * nobody uses. Interrupts off.
 */
#ifndef X86_EVENTS_EMU_BREAKPOINT_H
#define X86_EVENTS_EMU_BREAKPOINT_H

#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/debugreg.h>

struct stepper;

/* The enable bits of a breakpoint in DR7. */
static __always_inline unsigned long breakpoint_bits(unsigned int at)
{
	return 3UL << (DR_ENABLE_SIZE * at);
}

/* Sets the stepper's breakpoint beside those of others. False: all are in use. */
bool stepper_arm(struct stepper *stepper, unsigned long address);

/* No breakpoint of the stepper's is left on this CPU. */
void stepper_disarm(struct stepper *stepper);

/* Has the task a breakpoint that an instruction, or an access, at an address would meet? */
bool stepper_is_watched(unsigned long address, bool executed);

#endif /* X86_EVENTS_EMU_BREAKPOINT_H */
