// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions of the interpreter: on the way to user mode, instructions are carried out here
 * instead, run for run, as long as the interpreter knows them and finds their memory.
 *
 * Interrupts are off, so that the user pages that have been found stay what they are: like a
 * CPU's TLB, what is known of them ends where an interrupt could have come in.
 */
#include <linux/entry-common.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include <asm/cpufeature.h>
#include <asm/debugreg.h>
#include <asm/fsgsbase.h>
#include <asm/paravirt.h>
#include <asm/pkru.h>
#include <asm/segment.h>
#include <asm/tlbflush.h>

#include "../../../../../drivers/hwtracing/emu/pt_unit.h"
#include "stepper.h"

/* Instructions of a session: interrupts are off for so long. */
#define BUDGET 1000

/*
 * A page that user mode reaches without any help, with the accessed and the dirty bit as its
 * access would leave them. Memory types other than write-back, and what protection keys are
 * about, are the CPU's.
 */
static void *find_user_page(void *context, unsigned long address, int store)
{
	pteval_t with = _PAGE_ACCESSED | (store ? _PAGE_RW | _PAGE_DIRTY : 0);
	struct page *page = user_page(address, with, _PAGE_PWT | _PAGE_PCD | _PAGE_PKEY_MASK);
	u8 *kernel, byte;

	if (!page)
		return NULL;
	kernel = page_address(page);
	/* The kernel's own mapping may be gone (secretmem). */
	return get_kernel_nofault(byte, kernel) ? NULL : kernel;
}

/* A flush that does not interrupt a CPU could come in the middle of a session. */
static bool flushes_interrupt(void)
{
#ifdef CONFIG_PARAVIRT
	return pv_ops.mmu.flush_tlb_multi == native_flush_tlb_multi;
#else
	return true;
#endif
}

void interpreter_init(struct stepper *stepper)
{
	stepper->memory.find = find_user_page;
	stepper->machine.memory = &stepper->memory;
	stepper->interprets = boot_cpu_has(X86_FEATURE_LAHF_LM) && flushes_interrupt();
}

static bool has_flat_data(void)
{
	u16 selector;

	savesegment(ds, selector);
	return selector == __USER_DS;
}

/* Key 0 is everybody's; who takes rights from it has them looked after by the CPU. */
static bool is_key_0_free(void)
{
	return !cpu_feature_enabled(X86_FEATURE_OSPKE) || !(rdpkru() & 3);
}

/* What the task's vector registers are, the CPU's are. */
static u8 usable_vectors(void)
{
	if (test_thread_flag(TIF_NEED_FPU_LOAD))
		return 0;
	return X86_VECTORS_SSE2 | (boot_cpu_has(X86_FEATURE_AVX2) ? X86_VECTORS_AVX2 : 0);
}

static bool may_interpret(const struct stepper *stepper, struct pt_regs *regs)
{
	return stepper->interprets && !hw_breakpoint_active() && is_key_0_free() &&
	       (user_64bit_mode(regs) || has_flat_data());
}

static bool is_wanted_elsewhere(const struct stepper *stepper)
{
	return stepper->interrupt || read_thread_flags() & EXIT_TO_USER_MODE_WORK;
}

/* Past the run's end, or past all of it that has been prepared. */
static bool goes_on(const struct x86_run *run, const struct x86_progress *progress)
{
	return progress->instructions == run->instructions ||
	       progress->instructions == X86_RUN_OPS;
}

void interpreter_run(struct stepper *stepper, struct pt_regs *regs)
{
	struct x86_machine *machine = &stepper->machine;
	bool long_mode = user_64bit_mode(regs);
	struct x86_progress progress;
	const struct x86_run *run;
	unsigned long limit;
	int budget = BUDGET;

	if (!may_interpret(stepper, regs))
		return;
	machine->registers = (struct x86_registers *)regs;
	machine->flags.operation = 0;
	machine->fs_base = long_mode ? x86_fsbase_read_cpu() : 0;
	/* Nothing above the lowest address: there is no address filter. */
	limit = pt_unit_boundary(stepper->unit, 0);
	machine->vectors = usable_vectors();
	do {
		run = user_code_run(stepper, regs->ip, long_mode,
				    limit == ~0ul ? limit :
				    pt_unit_boundary(stepper->unit, regs->ip));
		if (!run || !run->ops)
			break;
		x86_interpret(machine, run, &progress);
		budget -= progress.instructions;
		if (progress.branched)
			stepper_tell_branch(stepper, &run->end, &progress);
		else
			stepper_tell_plain(stepper, run, &progress);
	} while (goes_on(run, &progress) && budget > 0 && !is_wanted_elsewhere(stepper));
	if (budget == BUDGET)
		return;
	stepper->interpreted += BUDGET - budget;
	x86_flags_settle(machine);
	regs->flags &= ~X86_EFLAGS_RF;
}
