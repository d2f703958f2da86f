// SPDX-License-Identifier: GPL-2.0
/*
 * What the trace tells besides user mode: why it has ended, and when a CPU sleeps. The
 * vector of an entry is found by the address that the handler returns to, which stands right
 * below the registers; the handlers themselves do not know it.
 */
#include <linux/cpu.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <trace/events/power.h>

#include <asm/apic.h>
#include <asm/desc.h>
#include <asm/fred.h>
#include <asm/idtentry.h>
#include <asm/proto.h>
#include <asm/special_insns.h>

#include "../../../../../drivers/hwtracing/emu/pt_unit.h"
#include "entries.h"
#include "events.h"
#include "pt_emu.h"
#include "stepper.h"

static struct x86_entries entries;

void pt_emu_find_entries(void)
{
	struct desc_ptr idt;
	unsigned int vector;

	store_idt(&idt);
	/* What vectors share, and what is no vector, counts first. */
	x86_entries_add(&entries, (unsigned long)asm_common_interrupt, X86_ENTRY_DEVICE);
	x86_entries_add(&entries, (unsigned long)asm_spurious_interrupt, X86_ENTRY_NONE);
	x86_entries_add(&entries, (unsigned long)entry_SYSCALL_64, X86_ENTRY_NONE);
#ifdef CONFIG_IA32_EMULATION
	x86_entries_add(&entries, (unsigned long)entry_SYSCALL_compat, X86_ENTRY_NONE);
	x86_entries_add(&entries, (unsigned long)entry_SYSENTER_compat, X86_ENTRY_NONE);
#endif
	for (vector = 0; vector < min(256u, (idt.size + 1u) / (unsigned int)sizeof(gate_desc));
	     vector++) {
		const gate_desc *gate = (const gate_desc *)idt.address + vector;

		if (gate->bits.p)
			x86_entries_add(&entries, gate_offset(gate), vector);
	}
	x86_entries_sort(&entries);
}

static int device_vector(void)
{
	unsigned int words[8], i;

	if (!boot_cpu_has(X86_FEATURE_APIC))
		return X86_ENTRY_NONE;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = apic_read(APIC_ISR + i * 0x10);
	return x86_vector_in_service(words);
}

static int vector_of(const struct pt_regs *regs)
{
	int vector;

	/* There the CPU says it itself, and where a page fault was. */
	if (cpu_feature_enabled(X86_FEATURE_FRED))
		return regs->fred_ss.type == EVENT_TYPE_OTHER ? X86_ENTRY_NONE :
								regs->fred_ss.vector;
	vector = x86_entries_find(&entries, ((const unsigned long *)regs)[-1]);
	return vector == X86_ENTRY_DEVICE ? device_vector() : vector;
}

void pt_emu_note_event(struct pt_unit *unit, const struct pt_regs *regs)
{
	unsigned long long address;
	int vector = vector_of(regs);

	address = cpu_feature_enabled(X86_FEATURE_FRED) ? fred_event_data((struct pt_regs *)regs) :
							read_cr2();
	if (vector >= 0)
		pt_unit_event(unit, vector, vector == X86_TRAP_PF ? &address : NULL);
}

/* Interrupts off. Only what software calls C1 and deeper has a packet. */
static void idle(void *unused, unsigned int state, unsigned int cpu)
{
	struct stepper *stepper = this_cpu_ptr(&pt_emu_stepper);

	if (!stepper->enabled || !pt_unit_tells_power(stepper->unit))
		return;
	stepper_flush(stepper);
	if (state == PWR_EVENT_EXIT)
		pt_unit_wake(stepper->unit);
	else if (state)
		pt_unit_sleep(stepper->unit, min(state, 15u));
}

int pt_emu_watch_idle(bool on)
{
	if (on)
		return register_trace_cpu_idle(idle, NULL);
	unregister_trace_cpu_idle(idle, NULL);
	return 0;
}
