// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions of the interpreter: on the way to user mode, instructions are carried out here
 * instead, run for run, as long as the interpreter knows them and finds their memory.
 *
 * Interrupts are off, so that the user pages that have been found stay what they are: like a
 * CPU's TLB, what is known of them ends where an interrupt has come in, or the address space
 * has flushed translations meanwhile.
 */
#include <linux/entry-common.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include <asm/cpufeature.h>
#include <asm/debugreg.h>
#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
#include <asm/fsgsbase.h>
#include <asm/paravirt.h>
#include <asm/pkru.h>
#include <asm/segment.h>
#include <asm/tlbflush.h>

#include "../../../../../drivers/hwtracing/emu/pt_unit.h"
#include "breakpoint.h"
#include "stepper.h"

/* Instructions of a session: interrupts are off for so long. */
#define BUDGET 1000

/* What it takes to look a page up is worth so many of them. */
#define LOOKUP_COST 4

/*
 * A page that user mode reaches without any help, with the accessed and the dirty bit as its
 * access would leave them. Memory types other than write-back, what protection keys are about,
 * and changes of what may be executed are the CPU's.
 */
static void *find_user_page(void *context, unsigned long address, int store)
{
	pteval_t with = _PAGE_ACCESSED | (store ? _PAGE_RW | _PAGE_DIRTY | _PAGE_NX : 0);
	struct page *page = user_page(address, with, _PAGE_PWT | _PAGE_PCD | _PAGE_PKEY_MASK);
	u8 *kernel, byte;

	stepper_charge(context, LOOKUP_COST);
	if (!page)
		return NULL;
	kernel = page_address(page);
	/* The kernel's own mapping may be gone (secretmem). */
	return get_kernel_nofault(byte, kernel) ? NULL : kernel;
}

/* Sees the end of the address range that ip is in, if there are any. */
static const struct x86_run *find_run(void *context, unsigned long ip)
{
	struct stepper *stepper = context;
	struct pt_regs *regs = (struct pt_regs *)stepper->interpreter.machine.registers;

	return user_code_run(stepper, ip, user_64bit_mode(regs),
			     stepper->filters ? pt_unit_boundary(stepper->unit, ip) : ~0ul);
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

static bool has_all(const unsigned int *features, unsigned int n)
{
	while (n--) {
		if (!boot_cpu_has(features[n]))
			return false;
	}
	return true;
}

/* Of what there is, hypervisors take away one thing and leave the next. */
static u16 known_to_cpu(void)
{
	static const unsigned int sse4[] = { X86_FEATURE_XMM3, X86_FEATURE_SSSE3,
					     X86_FEATURE_XMM4_1, X86_FEATURE_XMM4_2 };
	static const unsigned int avx2[] = { X86_FEATURE_AVX, X86_FEATURE_AVX2 };
	static const unsigned int bmi[] = { X86_FEATURE_BMI1, X86_FEATURE_BMI2 };
	u16 can = X86_CAN_SSE2 | X86_CAN_FLOAT;

	if (has_all(sse4, ARRAY_SIZE(sse4)))
		can |= X86_CAN_SSE4;
	if (has_all(avx2, ARRAY_SIZE(avx2)) &&
	    cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL))
		can |= X86_CAN_AVX2;
	if (has_all(bmi, ARRAY_SIZE(bmi)))
		can |= X86_CAN_BMI;
	if (boot_cpu_has(X86_FEATURE_POPCNT))
		can |= X86_CAN_POPCNT;
	if (boot_cpu_has(X86_FEATURE_XMM4_2))
		can |= X86_CAN_CRC32;
	if (boot_cpu_has(X86_FEATURE_MOVBE))
		can |= X86_CAN_MOVBE;
	return can;
}

void interpreter_init(struct stepper *stepper)
{
	stepper->memory.find = find_user_page;
	stepper->memory.context = stepper;
	stepper->epoch = 1;
	x86_memory_forget(&stepper->memory);
	stepper->interpreter.machine.memory = &stepper->memory;
	stepper->interpreter.runs = &stepper->runs;
	stepper->interpreter.unit = stepper->unit;
	stepper->interpreter.interrupt = (const u8 *)&stepper->interrupt;
	stepper->interpreter.works = EXIT_TO_USER_MODE_WORK;
	stepper->interpreter.context = stepper;
	stepper->interpreter.find = find_run;
	stepper->can = known_to_cpu();
	stepper->interprets = boot_cpu_has(X86_FEATURE_LAHF_LM) && flushes_interrupt();
}

static bool has_flat_data(void)
{
	u16 selector, other;

	savesegment(ds, selector);
	savesegment(es, other);
	return selector == __USER_DS && other == __USER_DS;
}

/* Key 0 is everybody's; who takes rights from it has them looked after by the CPU. */
static bool is_key_0_free(void)
{
	return !cpu_feature_enabled(X86_FEATURE_OSPKE) || !(rdpkru() & 3);
}

/* What the task's vector registers are, and its MXCSR is, the CPU's are. */
static u16 usable(const struct stepper *stepper)
{
	const u32 masks = 0x1f80; /* SDM volume 1, "MXCSR Control and Status Register" */
	u32 mxcsr;

	if (test_thread_flag(TIF_NEED_FPU_LOAD))
		return stepper->can & ~X86_CAN_VECTORS;
	asm volatile("stmxcsr %0" : "=m" (mxcsr));
	return (mxcsr & masks) == masks ? stepper->can : stepper->can & ~X86_CAN_FLOAT;
}

static bool may_interpret(const struct stepper *stepper, struct pt_regs *regs)
{
	return stepper->interprets && !hw_breakpoint_active() && is_key_0_free() &&
	       (user_64bit_mode(regs) || has_flat_data());
}

bool interpreter_run(struct stepper *stepper, struct pt_regs *regs)
{
	struct x86_session *session = &stepper->interpreter;
	bool long_mode = user_64bit_mode(regs);
	unsigned int instructions;

	if (!may_interpret(stepper, regs))
		return false;
	/* While there is a breakpoint, emulators of CPUs ask at each jump whether it is there. */
	stepper_disarm(stepper);
	session->machine.registers = (struct x86_registers *)regs;
	session->machine.fs_base = long_mode ? x86_fsbase_read_cpu() : 0;
	session->machine.can = usable(stepper);
	/* Nothing above the lowest address: there is no address filter. */
	stepper->filters = pt_unit_boundary(stepper->unit, 0) != ~0ull;
	session->key = stepper->filters ? 0 : user_code_key(stepper, long_mode);
	session->work = &current_thread_info()->flags;
	session->long_mode = long_mode;
	session->budget = BUDGET;
	session->behind = stepper->behind;
	instructions = x86_session_run(session);
	if (!instructions)
		return false;
	stepper->behind = 0;
	stepper->interpreted += instructions;
	regs->flags &= ~X86_EFLAGS_RF;
	return !session->refused;
}
