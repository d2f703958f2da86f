/* SPDX-License-Identifier: GPL-2.0 */
/* What the trace tells besides user mode: why it has ended, and when a CPU sleeps. */
#ifndef X86_EVENTS_EMU_EVENTS_H
#define X86_EVENTS_EMU_EVENTS_H

#include <linux/types.h>

struct pt_regs;
struct pt_unit;

/* Looks up the ways into the kernel. Task context, before any event is traced. */
void pt_emu_find_entries(void);

/*
 * Tells the unit which interrupt or exception has just led into the kernel; user mode has
 * not been told to end yet, and CR2 is still that of a page fault. Interrupts off.
 */
void pt_emu_note_event(struct pt_unit *unit, const struct pt_regs *regs);

/* Idle CPUs tell their units, or not any more. Task context. 0 or -errno. */
int pt_emu_watch_idle(bool on);

#endif /* X86_EVENTS_EMU_EVENTS_H */
