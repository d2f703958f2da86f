/* SPDX-License-Identifier: GPL-2.0 */
/* The emulated trace hardware of each CPU. */
#ifndef X86_EVENTS_EMU_PT_EMU_H
#define X86_EVENTS_EMU_PT_EMU_H

#include <linux/percpu.h>

#include "stepper.h"

DECLARE_PER_CPU(struct stepper, pt_emu_stepper);

/* Calls the driver's interrupt handler. Interrupts off, on the way to user mode. */
void pt_emu_deliver(struct stepper *stepper);

#endif /* X86_EVENTS_EMU_PT_EMU_H */
