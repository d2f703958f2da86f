// SPDX-License-Identifier: GPL-2.0
/*
 * The stepper: takes a CPU's user mode from branch to branch.
 *
 * On the way to user mode it looks up where the run of instructions from here ends and
 * puts a hardware breakpoint on the branch there. When the breakpoint is met, the kernel
 * carries the branch out itself, on the way back, and so on from the branch's target.
 * What it cannot carry out, code that may change under it, and tasks that have TF set, or no
 * debug register left, are stepped: TF is set last on the way to user mode and taken back
 * first on the way in, so that nobody else sees it.
 *
 * Every other entry into the kernel says by its address what has retired: run ends are
 * the only places where execution can turn.
 */
#include <linux/entry-common.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/trace_emu.h>
#include <linux/uaccess.h>

#include <asm/debugreg.h>
#include <asm/hardirq.h>
#include <asm/processor.h>
#include <asm/shstk.h>
#include <asm/special_insns.h>

#include "../../../../../drivers/hwtracing/emu/pt_unit.h"
#include "../../perf_event.h"
#include "breakpoint.h"
#include "events.h"
#include "pt_emu.h"
#include "stepper.h"

/* Nothing can be executed there. */
#define NO_BREAKPOINT (~0ul)

/* Branches that are carried out in a row before user mode has its turn. */
#define BRANCHES_IN_A_ROW 64

/* Sessions of the interpreter in a row before code is looked at again. */
#define SESSIONS 16

static_assert(offsetof(struct x86_registers, ss) == offsetof(struct pt_regs, ss));
static_assert(offsetof(struct x86_registers, ip) == offsetof(struct pt_regs, ip));
static_assert(offsetof(struct x86_registers, ax) == offsetof(struct pt_regs, ax));
static_assert(sizeof(struct x86_registers) == sizeof(struct pt_regs));

static const struct x86_registers *registers_of(const struct pt_regs *regs)
{
	return (const struct x86_registers *)regs;
}

static bool is_flat_32(const struct pt_regs *regs)
{
	return regs->cs == __USER32_CS && regs->ss == __USER_DS;
}

static enum pt_unit_mode mode_of(const struct pt_regs *regs)
{
	return user_64bit_mode((struct pt_regs *)regs) ? PT_UNIT_64 : PT_UNIT_32;
}

/* What CR3 is in user mode, without its flags. */
static unsigned long code_base(void)
{
	return __pa(current->mm->pgd);
}

/* #AC asks for care that the kernel's accesses on the task's behalf would not take. */
static bool may_run(const struct pt_regs *regs)
{
	if (regs->flags & (X86_EFLAGS_TF | X86_EFLAGS_AC))
		return false;
	return user_64bit_mode((struct pt_regs *)regs) || is_flat_32(regs);
}

static bool has_shadow_stack(void)
{
#ifdef CONFIG_X86_USER_SHADOW_STACK
	return current->thread.features & ARCH_SHSTK_SHSTK;
#else
	return false;
#endif
}

static void tell(struct stepper *stepper, const struct x86_branch *branch, bool taken,
		 unsigned long to, enum pt_unit_mode mode)
{
	struct pt_unit_retired retired;

	x86_branch_retired(branch, taken, to, &retired);
	retired.instructions += stepper->behind;
	retired.mode = mode;
	stepper->behind = 0;
	pt_unit_retire(stepper->unit, &retired);
}

/* What has retired straight on up to `to`. */
static void tell_run(struct stepper *stepper, unsigned long from, unsigned long to,
		     enum pt_unit_mode mode)
{
	struct pt_unit_retired retired = {
		.kind = PT_UNIT_SEQUENTIAL,
		.instructions = stepper->behind,
		.ip = from,
		.next = to,
		.to = to,
		.mode = mode,
	};

	if (!stepper->behind)
		return;
	stepper->behind = 0;
	pt_unit_retire(stepper->unit, &retired);
}

static void leave(struct stepper *stepper, enum pt_unit_end end, unsigned long ip,
		  unsigned int instructions)
{
	stepper->behind = 0;
	pt_unit_leave(stepper->unit, end, ip, instructions);
}

/*
 * Execution is where it cannot have come to. The trace ends where it was last known, and
 * goes on from the next known place.
 */
static void lose(struct stepper *stepper)
{
	stepper->lost++;
	leave(stepper, PT_UNIT_ASYNC, stepper->ip, 0);
}

void stepper_flush(struct stepper *stepper)
{
	if (stepper->busy || stepper->state != STEPPER_HELD)
		return;
	stepper->state = STEPPER_AWAY;
	if (stepper->held_session == stepper->session)
		leave(stepper, PT_UNIT_LATE, stepper->at, stepper->behind);
}

/*
 * On the way out of a trap of the stepper's, work may turn up and be done with interrupts on:
 * other tasks run then, or functions that other CPUs ask for, such as to see their code.
 */
static unsigned long disturbances(void)
{
	unsigned long all = current->nvcsw + current->nivcsw;

#ifdef CONFIG_SMP
	all += this_cpu_read(irq_stat.irq_call_count);
#endif
	return all;
}

/*
 * A trap that leads to something else, another task for one, is an interruption like any
 * other: the trace ends now, or decoders would take what is told later for the other
 * task's. Work that turns up on the way out is rare, and then told without the time.
 */
static void hold(struct stepper *stepper, unsigned long at)
{
	if (unlikely(read_thread_flags() & EXIT_TO_USER_MODE_WORK)) {
		stepper->state = STEPPER_AWAY;
		leave(stepper, PT_UNIT_ASYNC, at, stepper->behind);
		return;
	}
	/* An NMI has stopped the trace meanwhile: nobody has seen what has retired since. */
	if (stepper->held_session != stepper->session)
		stepper->lost++;
	stepper->state = STEPPER_HELD;
	stepper->disturbed = disturbances();
	stepper->at = at;
}

static void tell_ptwrite(struct stepper *stepper, const struct x86_branch *branch,
			 const struct pt_regs *regs)
{
	struct pt_unit_retired retired = {
		.kind = PT_UNIT_PTWRITE,
		.instructions = stepper->behind + 1,
		.ip = branch->ip,
		.next = branch->next,
		.to = branch->next,
		.mode = mode_of(regs),
		.payload_size = branch->operand.bytes,
	};
	unsigned long word = 0;

	if (!branch->executable) {
		retired.kind = PT_UNIT_SEQUENTIAL;
		stepper->lost++;
	} else if (!x86_branch_reads(branch)) {
		word = x86_branch_register(branch, registers_of(regs));
	} else if (user_word_load(x86_branch_address(branch, registers_of(regs)),
				  branch->operand.bytes, &word)) {
		retired.kind = PT_UNIT_SEQUENTIAL;
		stepper->lost++;
	}
	retired.payload = word;
	stepper->behind = 0;
	pt_unit_retire(stepper->unit, &retired);
}

/*
 * The instruction that a step, or the way into the kernel, is about. What is in the shadow
 * of a MOV SS is stepped together with it: the MOV SS is told here.
 */
static const struct x86_branch *past_shadows(struct stepper *stepper, const struct pt_regs *regs)
{
	const struct x86_branch *branch = &stepper->insn[0];
	unsigned int left = STEPPER_SHADOWS;

	while (branch->kind == X86_SHADOW && left-- && regs->ip != branch->ip) {
		if (regs->ip == branch->next && stepper->stepped)
			break;
		tell(stepper, branch, false, branch->next, mode_of(regs));
		branch++;
	}
	return branch;
}

/*
 * One instruction has been stepped, and each MOV SS in front of it. True: the trace goes
 * on; false: nobody can say what has retired.
 */
static bool tell_step(struct stepper *stepper, const struct pt_regs *regs)
{
	const struct x86_branch *branch = past_shadows(stepper, regs);
	unsigned long ip = regs->ip;

	switch (branch->kind) {
	case X86_PLAIN:
	case X86_SHADOW:
		/* A string instruction that goes on with its next element. */
		if (ip == branch->ip)
			return true;
		fallthrough;
	case X86_PTWRITE:
	case X86_ODD:
		if (ip != branch->next)
			break;
		if (branch->kind == X86_PTWRITE)
			tell_ptwrite(stepper, branch, regs);
		else
			tell(stepper, branch, false, ip, mode_of(regs));
		return true;
	case X86_COND:
	case X86_COUNTED:
		if (ip != branch->next && ip != branch->target)
			break;
		tell(stepper, branch, ip != branch->next, ip, mode_of(regs));
		return true;
	case X86_JUMP:
	case X86_CALL:
		if (ip != branch->target)
			break;
		fallthrough;
	case X86_INDIRECT_JUMP:
	case X86_INDIRECT_CALL:
	case X86_RETURN:
	case X86_FAR:
		tell(stepper, branch, true, ip, mode_of(regs));
		return true;
	default:
		break;
	}
	lose(stepper);
	return false;
}

/* SYSENTER does not say where it was: the kernel takes the vDSO's place for it. */
static bool is_behind_syscall(const struct x86_branch *branch, const struct pt_regs *regs)
{
	return branch->kind == X86_SYSCALL &&
	       (regs->ip == branch->next || !user_64bit_mode((struct pt_regs *)regs));
}

/* What a kernel entry in the middle of a run, or behind it, says. */
static void leave_run(struct stepper *stepper, const struct pt_regs *regs)
{
	const struct x86_run *run = stepper->run;
	int before = x86_run_before(run, regs->ip);

	if (before >= 0)
		leave(stepper, PT_UNIT_ASYNC, regs->ip, before);
	else if (is_behind_syscall(&run->end, regs))
		leave(stepper, PT_UNIT_SYSCALL, run->end.ip, run->instructions);
	else if (run->end.kind == X86_INTERRUPT && regs->ip == run->end.next)
		leave(stepper, PT_UNIT_ASYNC, run->end.ip, run->instructions - 1);
	else
		lose(stepper);
}

/* The same for one stepped instruction; what #DB says is told before. */
static void leave_step(struct stepper *stepper, const struct pt_regs *regs)
{
	const struct x86_branch *branch = past_shadows(stepper, regs);

	if (regs->ip == branch->ip)
		leave(stepper, PT_UNIT_ASYNC, regs->ip, 0);
	else if (is_behind_syscall(branch, regs))
		leave(stepper, PT_UNIT_SYSCALL, branch->ip, 1);
	else if (branch->kind == X86_INTERRUPT && regs->ip == branch->next)
		leave(stepper, PT_UNIT_ASYNC, branch->ip, 0);
	else
		lose(stepper);
}

/* TF in flags that PUSHF has left on the stack is the stepper's. */
static void clear_pushed(struct stepper *stepper, unsigned long sp)
{
	const unsigned int shift = 8 * (X86_EFLAGS_TF_BIT / 8);
	unsigned long dr7 = hw_breakpoint_active() ? local_db_save() : 0;
	u8 byte;

	if (copy_from_user_nofault(&byte, (void __user *)(sp + shift / 8), 1)) {
		stepper->lost++;
	} else {
		byte &= ~(X86_EFLAGS_TF >> shift);
		if (copy_to_user_nofault((void __user *)(sp + shift / 8), &byte, 1))
			stepper->lost++;
	}
	local_db_restore(dr7);
}

/*
 * TF has been the stepper's in user mode, and is nobody else's to see: what is in the
 * registers now, where SYSCALL has left a copy, and where PUSHF has. What has just loaded
 * the flags has loaded the task's own.
 */
static void hide_trap_flag(struct stepper *stepper, struct pt_regs *regs)
{
	const struct x86_branch *last = &stepper->insn[0];
	unsigned int left = STEPPER_SHADOWS;

	while (last->kind == X86_SHADOW && left-- && regs->ip != last->next && regs->ip != last->ip)
		last++;
	if (last->kind == X86_SYSCALL)
		regs->r11 &= ~X86_EFLAGS_TF;
	if (stepper->stepped && last->pushes_flags)
		clear_pushed(stepper, regs->sp);
	if (!(stepper->stepped && last->loads_flags))
		regs->flags &= ~X86_EFLAGS_TF;
}

static void begin_epoch(struct stepper *stepper)
{
	const u64 generation = stepper->pages.generation;

	stepper->epoch++;
	stepper->sessions = 0;
	memset(&stepper->pages, 0, sizeof(stepper->pages));
	stepper->pages.generation = generation;
}

static void forget_pages(struct stepper *stepper)
{
	begin_epoch(stepper);
	x86_memory_forget(&stepper->memory);
}

void __trace_emu_enter(struct pt_regs *regs)
{
	struct stepper *stepper = this_cpu_ptr(&pt_emu_stepper);
	enum stepper_state state = stepper->state;

	if (state != STEPPER_RUNNING && state != STEPPER_STEPPING)
		return;
	stepper->busy = true;
	if (unlikely(pt_unit_tells_events(stepper->unit)) && !stepper->own_trap)
		pt_emu_note_event(stepper->unit, regs);
	if (state == STEPPER_STEPPING && !stepper->user_steps)
		hide_trap_flag(stepper, regs);
	if (!stepper->own_trap) {
		stepper->state = STEPPER_AWAY;
		forget_pages(stepper);
		if (state == STEPPER_RUNNING)
			leave_run(stepper, regs);
		else if (!stepper->stepped)
			leave_step(stepper, regs);
		else if (tell_step(stepper, regs))
			leave(stepper, PT_UNIT_ASYNC, regs->ip, 0);
	}
	if (!stepper->own_trap)
		stepper->stepped = false;
	stepper->busy = false;
}

/* The breakpoints of the task's that a #DB is about; DR6 may name others as well. */
static __always_inline unsigned long hit_breakpoints(unsigned long dr6)
{
	unsigned long enabled = raw_cpu_read(cpu_dr7), hits = 0;
	unsigned int at;

	for (at = 0; at < HBP_NUM; at++) {
		if (enabled & breakpoint_bits(at))
			hits |= dr6 & (DR_TRAP0 << at);
	}
	return hits;
}

/*
 * A #DB is the stepper's alone if it met the breakpoint, or if TF was set for it and there
 * is no other reason. If there is one, the step is nobody else's all the same: returns the
 * DR6 that is the task's. Runs before RCU watches: it only compares.
 */
noinstr unsigned long __trace_emu_note_debug(struct pt_regs *regs, unsigned long dr6)
{
	struct stepper *stepper = raw_cpu_ptr(&pt_emu_stepper);

	if (stepper->state == STEPPER_RUNNING) {
		const bool met = (dr6 & (DR_TRAP0 << stepper->slot)) &&
				 regs->ip == stepper->breakpoint;

		dr6 = (dr6 & ~DR_TRAP_BITS) | hit_breakpoints(dr6);
		stepper->own_trap = met && !(dr6 & (DR_STEP | DR_TRAP_BITS | DR_BUS_LOCK));
	} else if (stepper->state == STEPPER_STEPPING) {
		stepper->stepped = dr6 & DR_STEP;
		if (stepper->user_steps || !(dr6 & DR_STEP))
			return dr6;
		dr6 = (dr6 & ~(DR_STEP | DR_TRAP_BITS)) | hit_breakpoints(dr6);
		stepper->own_trap = !dr6;
	}
	return dr6;
}

static void met_breakpoint(struct stepper *stepper, const struct pt_regs *regs)
{
	const struct x86_run *run = stepper->run;
	bool cut = run->end.kind == X86_PLAIN;

	stepper->behind = run->instructions - (cut ? 0 : 1);
	if (cut)
		tell_run(stepper, run->start, regs->ip, mode_of(regs));
	hold(stepper, regs->ip);
}

bool __trace_emu_debug(struct pt_regs *regs)
{
	struct stepper *stepper = this_cpu_ptr(&pt_emu_stepper);

	if (!stepper->own_trap)
		return false;
	stepper->own_trap = false;
	stepper->busy = true;
	if (stepper->state == STEPPER_RUNNING)
		met_breakpoint(stepper, regs);
	else if (tell_step(stepper, regs))
		hold(stepper, regs->ip);
	else
		stepper->state = STEPPER_AWAY;
	stepper->stepped = false;
	stepper->busy = false;
	return true;
}

static bool load(const struct x86_branch *branch, const struct pt_regs *regs, unsigned long *word)
{
	unsigned long address = x86_branch_address(branch, registers_of(regs));

	if (unlikely(hw_breakpoint_active()) && stepper_is_watched(address, false))
		return false;
	return !user_word_load(address, branch->operand.bytes, word);
}

static bool store(const struct x86_outcome *outcome)
{
	if (unlikely(hw_breakpoint_active()) && stepper_is_watched(outcome->sp, false))
		return false;
	return !user_word_store(outcome->sp, outcome->push_bytes, outcome->pushed);
}

/* Carries out the branch at ip. False: the CPU has to. */
static bool carry_out(struct stepper *stepper, const struct x86_branch *branch,
		      struct pt_regs *regs)
{
	struct x86_outcome outcome;
	unsigned long word = 0;

	if (!branch->executable || branch->kind == X86_PTWRITE)
		return false;
	if (x86_branch_reads(branch) && !load(branch, regs, &word))
		return false;
	if (!x86_branch_execute(branch, registers_of(regs), word, &outcome))
		return false;
	if (outcome.push_bytes && !store(&outcome))
		return false;
	regs->ip = outcome.to;
	regs->sp = outcome.sp;
	regs->cx = outcome.cx;
	tell(stepper, branch, outcome.taken, outcome.to,
	     branch->long_mode ? PT_UNIT_64 : PT_UNIT_32);
	return true;
}

static bool needs_breakpoint(const struct x86_branch *end)
{
	return end->kind != X86_SYSCALL && end->kind != X86_INTERRUPT && end->kind != X86_UNDEFINED;
}

/*
 * Prepares a run from here, past the branches that come first. False: the instruction
 * here has to be stepped.
 */
static bool start_run(struct stepper *stepper, struct pt_regs *regs)
{
	bool long_mode = user_64bit_mode(regs);
	int branches = BRANCHES_IN_A_ROW;
	const struct x86_run *run;
	bool known;

	/* Not for ever, even if all that comes is known not to serialize. */
	if (++stepper->sessions == SESSIONS)
		begin_epoch(stepper);
	known = interpreter_run(stepper, regs);
	for (;;) {
		run = user_code_run(stepper, regs->ip, long_mode,
				    pt_unit_boundary(stepper->unit, regs->ip));
		if (!run)
			return false;
		if (run->end.ip != regs->ip || !needs_breakpoint(&run->end) || !branches--)
			break;
		/* The task's own breakpoint comes first, unless it has just come. */
		if (unlikely(hw_breakpoint_active()) && !(regs->flags & X86_EFLAGS_RF) &&
		    stepper_is_watched(regs->ip, true))
			break;
		if (!carry_out(stepper, &run->end, regs))
			return false;
		regs->flags &= ~X86_EFLAGS_RF;
	}
	if (!stepper_arm(stepper, needs_breakpoint(&run->end) ? run->end.ip : NO_BREAKPOINT))
		return false;
	/* RF would let the stepper's breakpoint pass once; the task's may have to. */
	if (run->end.ip == regs->ip || !hw_breakpoint_active())
		regs->flags &= ~X86_EFLAGS_RF;
	/* What user mode does now may serialize, or write to code. */
	if (!known || run->ops != run->instructions || run->stores)
		begin_epoch(stepper);
	stepper->run = run;
	stepper->state = STEPPER_RUNNING;
	return true;
}

/*
 * The instruction at ip, and what one step may go over besides: #DB does not come between a
 * MOV SS and the instruction behind.
 */
static void start_step(struct stepper *stepper, struct pt_regs *regs)
{
	bool long_mode = user_64bit_mode(regs);
	struct x86_branch *insn = stepper->insn;
	unsigned int left = STEPPER_SHADOWS;

	begin_epoch(stepper);
	stepper_disarm(stepper);
	user_code_decode(regs->ip, long_mode, insn);
	/* What a segment with a base, or of 16-bit code, executes is not known here. */
	if (!long_mode && regs->cs != __USER32_CS)
		insn->kind = X86_UNKNOWN;
	for (; insn->kind == X86_SHADOW && left--; insn++)
		user_code_decode(insn->next, long_mode, insn + 1);
	stepper->state = STEPPER_STEPPING;
	stepper->user_steps = regs->flags & X86_EFLAGS_TF;
	regs->flags |= X86_EFLAGS_TF;
}

static void follow(struct stepper *stepper, struct pt_regs *regs)
{
	const u64 generation = atomic64_read(&current->mm->context.tlb_gen);
	const unsigned int session = READ_ONCE(stepper->session);
	bool goes_on = stepper->state == STEPPER_HELD && stepper->held_session == session &&
		       stepper->task == current && stepper->at == regs->ip &&
		       stepper->disturbed == disturbances();

	if (!goes_on) {
		stepper_flush(stepper);
		stepper->behind = 0;
		pt_unit_enter(stepper->unit, regs->ip, code_base(), mode_of(regs));
	}
	if (!goes_on || stepper->pages.generation != generation) {
		forget_pages(stepper);
		stepper->pages.generation = generation;
	}
	stepper->busy = true;
	/* An NMI may begin another one from here on, of which user mode knows nothing. */
	stepper->held_session = session;
	stepper->task = current;
	if (!may_run(regs) || has_shadow_stack() || !start_run(stepper, regs)) {
		tell_run(stepper, stepper->ip, regs->ip, mode_of(regs));
		start_step(stepper, regs);
	}
	stepper->ip = regs->ip;
	stepper->busy = false;
}

void __trace_emu_exit(struct pt_regs *regs)
{
	struct stepper *stepper = this_cpu_ptr(&pt_emu_stepper);

	if (unlikely(stepper->interrupt))
		pt_emu_deliver(stepper);
	if (!stepper->enabled || !pt_unit_follows(stepper->unit, code_base())) {
		stepper_flush(stepper);
		stepper->state = STEPPER_AWAY;
		stepper_disarm(stepper);
		return;
	}
	follow(stepper, regs);
}
