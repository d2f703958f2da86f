// SPDX-License-Identifier: GPL-2.0
/*
 * A debugger and its program: the first process sets hardware breakpoints in the second
 * by PTRACE_POKEUSER, steps it, and counts what it meets. Being traced as well must
 * change nothing of that.
 */
#define _GNU_SOURCE
#include "count.h"

#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 20

static volatile unsigned long watched;

static __attribute__((noinline)) void visit(void)
{
	__asm__ volatile("nop; nop; nop; nop");
}

static void child(void)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	for (int i = 0; i < ROUNDS; i++) {
		visit();
		watched++;
	}
	_exit(0);
}

static long poke_debug(pid_t pid, int which, unsigned long value)
{
	return ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[which]), value);
}

int main(void)
{
	unsigned long breaks = 0, writes = 0, steps = 0;
	const pid_t pid = fork();
	int status;

	if (!pid)
		child();
	waitpid(pid, &status, 0);
	/* DR0: execution of visit(); DR1: 8 bytes written at `watched` */
	if (poke_debug(pid, 0, (unsigned long)visit) || poke_debug(pid, 1, (unsigned long)&watched) ||
	    poke_debug(pid, 7, 0x5 | 0x9ul << 20))
		return 77;
	for (;;) {
		ptrace(steps % 7 == 3 ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, 0, 0);
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			break;
		const unsigned long met = (unsigned long)ptrace(
			PTRACE_PEEKUSER, pid, offsetof(struct user, u_debugreg[6]), 0);
		breaks += met & 1;
		writes += met >> 1 & 1;
		steps++;
		poke_debug(pid, 6, 0);
	}
	PRINT_ENTRIES(visit, ROUNDS);
	fprintf(stderr, "breaks %lu, writes %lu\n", breaks, writes);
	return breaks == ROUNDS && writes == ROUNDS && WIFEXITED(status) ? 0 : 1;
}
