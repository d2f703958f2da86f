// SPDX-License-Identifier: GPL-2.0
/*
 * A program that single-steps itself: it sets its own trap flag and counts the SIGTRAPs,
 * which have to be as many as there are instructions, traced or not. And PUSHF shows it
 * the flag exactly while it is set.
 */
#define _GNU_SOURCE
#include "count.h"

#include <signal.h>
#include <ucontext.h>

#define ROUNDS 20

static volatile unsigned long traps;
static unsigned long wrong;

static void on_trap(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (info->si_code != TRAP_TRACE && info->si_code != TRAP_BRKPT)
		wrong++;
	traps++;
}

static unsigned long flags(void)
{
	unsigned long value;

	__asm__ volatile("pushf; pop %0" : "=r"(value));
	return value;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	unsigned long seen_set = 0, seen_clear = 0;

	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		unsigned long inside;

		seen_clear += !(flags() & 0x100);
		/* The trap comes after the instruction behind POPF, up to the second POPF. */
		__asm__ volatile("sub $128, %%rsp\n\t" /* the red zone */
				 "pushf\n\t"
				 "orl $0x100, (%%rsp)\n\t"
				 "popf\n\t"
				 "nop\n\t"		  /* 1 */
				 "pushf\n\t"		  /* 2 */
				 "mov (%%rsp), %0\n\t"	  /* 3 */
				 "mov $5, %%ecx\n"	  /* 4 */
				 "1: dec %%ecx\n\t"
				 "jnz 1b\n\t"		  /* 14 */
				 "jmp 2f\n\t"		  /* 15 */
				 "ud2\n"
				 "2: call 3f\n\t"	  /* 16 */
				 "andl $~0x100, (%%rsp)\n\t" /* 18 */
				 "popf\n\t"		  /* 19: still with the flag set */
				 "jmp 4f\n"
				 "3: ret\n"		  /* 17 */
				 "4: add $128, %%rsp"
				 : "=&r"(inside)
				 :
				 : "rcx", "memory", "cc");
		seen_set += !!(inside & 0x100);
	}
	PRINT_ENTRIES(on_trap, traps);
	return traps == ROUNDS * 19 && !wrong && seen_set == ROUNDS && seen_clear == ROUNDS ? 0 : 1;
}
