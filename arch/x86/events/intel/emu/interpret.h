/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of the interpreter: user-mode instructions that are carried out on the task's
 * behalf, as the CPU would have, instead of going to user mode for them.
 *
 * Valid in C and C++, free of kernel headers. Nothing here allocates, sleeps or takes a
 * lock. Instructions as in SDM volume 2.
 */
#ifndef X86_EVENTS_EMU_INTERPRET_H
#define X86_EVENTS_EMU_INTERPRET_H

#include "branch.h"

struct pt_unit;
struct pt_unit_retired;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Pages of user memory, and where they can be reached: a TLB in software. What is not of the
 * present generation stands for no page. Whoever owns the memory has x86_memory_forget() called
 * whenever a CPU's TLB would be emptied.
 */
#define X86_MEMORY_PAGES 128

struct x86_memory_page {
	unsigned long load;	/* address of a page that may be read | x86_memory::generation */
	unsigned long store;	/* of one that may be written to, the same */
	unsigned char	*at;	/* where that page is */
	unsigned long	unused;
};

struct x86_memory {
	struct x86_memory_page pages[X86_MEMORY_PAGES];
	/*
	 * Where the page at an address (of its first byte) is, for loads alone or for stores
	 * too; NULL: the CPU has to make the access itself, whatever comes of it.
	 */
	void *(*find)(void *context, unsigned long address, int store);
	void *context;
	unsigned long generation; /* odd, below the size of a page */
};

/* No page is known any more. Has to be called once before there are any. */
void x86_memory_forget(struct x86_memory *memory);

/* Instructions that may be carried out: the CPU knows them, and of vectors has the task's. */
#define X86_CAN_SSE2 0x0001
#define X86_CAN_AVX2 0x0002
#define X86_CAN_SSE4 0x0004  /* all up to SSE4.2 */
#define X86_CAN_FLOAT 0x0008 /* MXCSR has all exceptions masked */
#define X86_CAN_VECTORS 0x000f
#define X86_CAN_POPCNT 0x0100
#define X86_CAN_CRC32 0x0200
#define X86_CAN_MOVBE 0x0400
#define X86_CAN_BMI 0x0800 /* BMI1 and BMI2 */

struct x86_machine {
	struct x86_registers *registers;
	struct x86_memory *memory;
	unsigned long fs_base;
	unsigned short can; /* X86_CAN_* */
};

/* What has become of a run. */
struct x86_progress {
	unsigned int instructions; /* that have retired, of those that the run has */
	unsigned char branched;	   /* the run's end was one of them, and has gone `to` */
	unsigned char taken;	   /* it was a conditional branch, and taken */
	unsigned long to;	   /* what the instruction pointer is now */
};

/*
 * Prepares the next instruction of a run for being carried out; `code` is its bytes. To be
 * called for each, in front of x86_run_add(). What cannot be carried out is marked so.
 */
void x86_run_translate(struct x86_run *run, const struct x86_decoded *decoded,
		       const unsigned char *code);

/*
 * Carries out instructions from the run's start until one that it cannot carry out, or up to and
 * with the run's end. What is not carried out has not changed anything, but for a string: some of
 * its elements may have been done, as if it had been interrupted there. The instruction pointer
 * is left alone if nothing has retired.
 */
void x86_interpret(struct x86_machine *machine, const struct x86_run *run,
		   struct x86_progress *progress);

/*
 * A session: runs are carried out one behind the other, and the unit is told of each. Whoever
 * begins one sets all of it, machine and registers included.
 */
struct x86_session {
	struct x86_machine machine;
	const struct x86_runs *runs;
	struct pt_unit	*unit;
	/*
	 * The run that starts at ip, its bytes compared with what is there and its `checked` set
	 * to the key; NULL: the CPU has to go on. Asked for runs that have not got this key, for
	 * all of them if it is 0. Each session has a key of its own unless nothing between it and
	 * the last one may have been a serializing instruction: the two modes' keys differ.
	 */
	const struct x86_run *(*find)(void *context, unsigned long ip);
	void		*context;
	unsigned long	key;
	/* The session is to end: *interrupt is not 0, or *work has one of `works`. */
	const unsigned char *interrupt;
	const unsigned long *work;
	unsigned long	works;
	/*
	 * Instructions that may retire until it ends; `find` and x86_memory::find may lower it.
	 * Where the next run may write to memory it goes on for a bit.
	 */
	unsigned int	budget;
	unsigned int	behind;		/* retired before it, and not told */
	unsigned char	refused;	/* out: it has ended with something that is the CPU's */
	unsigned char	long_mode;	/* 64-bit code */
};

/*
 * Carries out a session from where the registers are. How many instructions have retired; all
 * that have are told, what was behind included.
 */
unsigned int x86_session_run(struct x86_session *session);

/* What the unit is to be told of a branch that has retired, one instruction, at `to` now. */
void x86_branch_retired(const struct x86_branch *branch, int taken, unsigned long to,
			struct pt_unit_retired *retired);

#ifdef __cplusplus
}
#endif

#endif /* X86_EVENTS_EMU_INTERPRET_H */
