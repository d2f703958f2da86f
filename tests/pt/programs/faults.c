// SPDX-License-Identifier: GPL-2.0
/*
 * Faults and traps of user code, of all kinds: each handler either leaves by
 * siglongjmp() or lets the program go on behind the instruction.
 */
#define _GNU_SOURCE
#include "count.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define ROUNDS 20

static sigjmp_buf back;
static unsigned long jumps, skips;
static volatile int skip_bytes;

static void on_fault(int signal, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	(void)signal;
	(void)info;
	if (skip_bytes) {
		skips++;
		user->uc_mcontext.gregs[REG_RIP] += skip_bytes;
		return;
	}
	jumps++;
	siglongjmp(back, 1);
}

/* The instruction faults; the handler leaves. */
#define LEAVES(code) \
	do { \
		skip_bytes = 0; \
		if (!sigsetjmp(back, 1)) { \
			__asm__ volatile(code : : : "rax", "rdx", "rcx", "rsi", "rdi", "memory"); \
			__builtin_trap(); \
		} \
	} while (0)

/* The instruction of that size faults; the handler skips it. */
#define SKIPS(size, code) \
	do { \
		skip_bytes = size; \
		__asm__ volatile(code : : : "rax", "rdx", "rcx", "rsi", "rdi", "memory"); \
	} while (0)

/* It traps: the program goes on by itself. */
static void on_trap(int signal)
{
	(void)signal;
	skips++;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	static const int faults[] = { SIGSEGV, SIGILL, SIGFPE, SIGBUS };
	unsigned long traps = 0;

	for (unsigned int i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigaction(faults[i], &action, NULL);
	action.sa_handler = on_trap;
	action.sa_flags = SA_NODEFER; /* a debugger steps by SIGTRAP */
	sigaction(SIGTRAP, &action, NULL);
	for (volatile int i = 0; i < ROUNDS; i++) {
		LEAVES("ud2");
		LEAVES("mov 8, %%rax");
		LEAVES("xor %%eax, %%eax; jmp *%%rax"); /* at the target */
		LEAVES("mov $0x8000000000000000, %%rax; jmp *%%rax"); /* at the jump */
		LEAVES("xor %%eax, %%eax; xor %%edx, %%edx; div %%eax");
		LEAVES("hlt");
		LEAVES("xor %%eax, %%eax; call *(%%rax)");
		LEAVES("mov $8, %%ecx; xor %%esi, %%esi; xor %%edi, %%edi; rep movsb");
		SKIPS(2, "ud2");
		SKIPS(1, "hlt");
		SKIPS(2, "int $0x20");
		SKIPS(8, "mov 8, %%rax");
		__asm__ volatile("int3");
		__asm__ volatile(".byte 0xcd, 0x03"); /* INT 3, the long way */
		traps += 2;
	}
	PRINT_ENTRIES(on_fault, jumps + skips - traps);
	PRINT_ENTRIES(on_trap, traps);
	return jumps == ROUNDS * 8 && skips == ROUNDS * 6 ? 0 : 1;
}
