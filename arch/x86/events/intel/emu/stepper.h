/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follows user mode on one CPU for its emulated trace unit. All of it runs on that CPU
 * with interrupts off.
 */
#ifndef X86_EVENTS_EMU_STEPPER_H
#define X86_EVENTS_EMU_STEPPER_H

#include <linux/minmax.h>
#include <linux/pgtable.h>
#include <linux/types.h>

#include "interpret.h"

struct page;
struct pt_regs;
struct pt_unit;
struct task_struct;

/*
 * Pages of code that nobody can write to without a fault, and where the kernel has them.
 * That holds until this CPU has been interrupted, or the address space has flushed some of
 * its translations: a paravirtual flush need not interrupt a CPU.
 */
#define CODE_PAGES 4

struct code_page {
	unsigned long	address;	/* in user mode | 1; 0: none */
	const u8	*kernel;
};

struct code_pages {
	u64		generation;	/* of the translations */
	struct code_page last;		/* the one that has been used last */
	struct code_page others[CODE_PAGES];
	unsigned int	next;		/* whose place is taken next */
};

/* MOV SS in a row that a step may go over. */
#define STEPPER_SHADOWS 3

enum stepper_state {
	STEPPER_AWAY,		/* in the kernel, or in user mode that is not followed */
	STEPPER_RUNNING,	/* in user mode, up to a breakpoint */
	STEPPER_STEPPING,	/* in user mode, with TF */
	STEPPER_HELD,		/* in the kernel for a trap of its own: `at` goes on */
};

struct stepper {
	struct pt_unit		*unit;
	struct x86_runs		runs;
	enum stepper_state	state;
	bool			enabled;	/* the unit's TraceEn */
	bool			interrupt;	/* the unit wants its interrupt delivered */
	bool			busy;		/* what an NMI may have interrupted */
	bool			own_trap;	/* this #DB is the stepper's */
	bool			stepped;	/* this #DB says that an instruction has retired */
	bool			user_steps;	/* TF is the task's, or its debugger's */
	unsigned int		session;	/* counts what has been written to the unit's CTL */
	unsigned int		held_session;
	struct task_struct	*task;		/* whose user mode it is; compared only */
	const struct x86_run	*run;		/* RUNNING: what is being run */
	struct x86_branch	insn[STEPPER_SHADOWS + 1]; /* STEPPING: see start_step() */
	unsigned long		ip;		/* where user mode has begun */
	unsigned long		at;		/* HELD: where it goes on */
	unsigned int		behind;		/* HELD: retired up to `at` and not reported */
	unsigned long		disturbed;	/* HELD: see disturbances() */
	unsigned long		breakpoint;	/* the stepper's, in a debug register */
	unsigned int		slot;	/* which one: 0 to 3 */
	bool			armed;		/* DR7 has been set for that */
	struct code_pages	pages;
	struct x86_memory	memory;
	struct x86_session	interpreter;
	bool			filters;	/* address ranges matter to the unit */
	u16			can;		/* X86_CAN_* of this CPU */
	bool			interprets;	/* this CPU has all that it takes */
	unsigned int		sessions;	/* of the interpreter in this epoch */
	/*
	 * Runs that have been compared in this one are what is there. It ends with an interrupt,
	 * and with whatever could have been a serializing instruction: until then the CPU, too,
	 * may go on with code that somebody else has changed (SDM volume 3, "Handling Self- and
	 * Cross-Modifying Code"). It also ends where the task itself could have written to code,
	 * which takes no serializing instruction: a page may have become writable unnoticed.
	 */
	u64			epoch;
	u64			interpreted;	/* instructions */
	u64			lost;		/* times that execution came to where it cannot */
};

/* What is held back is told to the unit, which is about to be stopped or read. */
void stepper_flush(struct stepper *stepper);

void interpreter_init(struct stepper *stepper);

/*
 * Carries out what it can from regs->ip, and tells of it. True: it could go on, but user mode is
 * to have its turn.
 */
bool interpreter_run(struct stepper *stepper, struct pt_regs *regs);

/* What has been done in a session, other than instructions, is worth so many of them. */
static inline void stepper_charge(struct stepper *stepper, unsigned int instructions)
{
	struct x86_session *session = &stepper->interpreter;

	session->budget -= min(session->budget, instructions);
}

/*
 * What is mapped at a linear address of the current task's with all of these flags, and
 * none of the others; NULL: nothing. Interrupts off.
 */
struct page *user_page(unsigned long address, pteval_t with, pteval_t without);

/*
 * User code at the current task's linear address. Interrupts off; never faults a page in.
 */

/* Copies up to n bytes to `to`, as many as can be read; how many. */
unsigned int user_code_read(unsigned long ip, void *to, unsigned int n);

/* Decodes the instruction at ip, of 64-bit code or of 32-bit code. */
void user_code_decode(unsigned long ip, bool long_mode, struct x86_branch *branch);

/*
 * The run that starts at ip; NULL: its code may change while it runs, or cannot be read.
 * Runs end in front of limit. Holds until the next call.
 */
const struct x86_run *user_code_run(struct stepper *stepper, unsigned long ip, bool long_mode,
				    unsigned long limit);

/* x86_run::checked of runs that have been compared in this epoch: never 0. */
static inline u64 user_code_key(const struct stepper *stepper, bool long_mode)
{
	return stepper->epoch << 1 | long_mode;
}

/* Load and store on behalf of an instruction; 0, or -EFAULT. */
int user_word_load(unsigned long address, unsigned int bytes, unsigned long *word);
int user_word_store(unsigned long address, unsigned int bytes, unsigned long word);

#endif /* X86_EVENTS_EMU_STEPPER_H */
