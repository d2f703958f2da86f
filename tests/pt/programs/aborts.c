// SPDX-License-Identifier: GPL-2.0
/*
 * Restartable sequences that signals and preemption abort: the kernel changes where the
 * program goes on without a branch.
 */
#include "count.h"

#include <linux/rseq.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/time.h>

#define ROUNDS 20

static volatile unsigned long alarms;
unsigned long aborts;
extern const char aborted[];

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

/* Goes round in a sequence until it is aborted, or has been long enough. */
static __attribute__((noinline)) void sequence(void *area)
{
	__asm__ volatile(".pushsection .data\n\t"
			 ".balign 32\n"
			 "3:\n\t"
			 ".long 0, 0\n\t"
			 ".quad 1f, 2f - 1f, aborted\n\t"
			 ".popsection\n\t"
			 "lea 3b(%%rip), %%rax\n\t"
			 "mov %%rax, %c[sequence](%[area])\n"
			 "1:\n\t"
			 "mov $2000000, %%ecx\n"
			 "4:\n\t"
			 "dec %%ecx\n\t"
			 "jnz 4b\n"
			 "2:\n\t"
			 "jmp 5f\n\t"
			 ".byte 0x0f, 0xb9, 0x3d\n\t" /* UD1, with the signature as its operand */
			 ".long %c[signature]\n"
			 ".globl aborted\n"
			 "aborted:\n\t"
			 "incq aborts(%%rip)\n"
			 "5:\n"
			 :
			 : [area] "r"(area), [sequence] "i"(offsetof(struct rseq, rseq_cs)),
			   [signature] "i"(RSEQ_SIG)
			 : "rax", "rcx", "memory", "cc");
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	const struct itimerval timer = { { 0, 500 }, { 0, 500 } }, none = { { 0, 0 }, { 0, 0 } };

	if (!__rseq_size)
		return 77;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < ROUNDS; i++)
		sequence((char *)__builtin_thread_pointer() + __rseq_offset);
	setitimer(ITIMER_REAL, &none, NULL);
	PRINT_ENTRIES(aborted, aborts);
	PRINT_ENTRIES(on_alarm, alarms);
	return aborts ? 0 : 1;
}
