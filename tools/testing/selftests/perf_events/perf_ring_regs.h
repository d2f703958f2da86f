/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fault with registers of the test's choice, the stack pointer included.
 */
#ifndef PERF_RING_REGS_H
#define PERF_RING_REGS_H

#include "perf_ring_sample.h"

/* Numbers of the registers in masks, as in asm/perf_regs.h of x86. */
enum {
	R_AX, R_BX, R_CX, R_DX, R_SI, R_DI, R_BP, R_SP,
	R_IP, R_FLAGS, R_CS, R_SS, R_DS, R_ES, R_FS, R_GS,
	R_R8, R_R15 = R_R8 + 7, NR_REGS,
};

/* Those that a 64-bit event can have. */
#define KNOWN_REGS (((1ULL << NR_REGS) - 1) & ~(0xfULL << R_DS))
#define STATUS_FLAGS 0x8d5ULL

struct registers {
	uint64_t of[NR_REGS];
};

#ifdef __x86_64__

#define USER_CS 0x33
#define USER_SS 0x2b

void fault_with(const struct registers *regs);
void read_with(const struct registers *regs);
extern const char fault_with_ip[], read_with_ip[];

#define LOAD_REGISTERS                                                        \
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"  \
	"mov %rsp, kept_stack_pointer(%rip)\n"                                \
	"pushq 9*8(%rdi); popfq\n"                                            \
	"mov 0*8(%rdi), %rax; mov 1*8(%rdi), %rbx; mov 2*8(%rdi), %rcx\n"     \
	"mov 3*8(%rdi), %rdx; mov 4*8(%rdi), %rsi; mov 6*8(%rdi), %rbp\n"     \
	"mov 7*8(%rdi), %rsp\n"                                               \
	"mov 16*8(%rdi), %r8; mov 17*8(%rdi), %r9; mov 18*8(%rdi), %r10\n"    \
	"mov 19*8(%rdi), %r11; mov 20*8(%rdi), %r12; mov 21*8(%rdi), %r13\n"  \
	"mov 22*8(%rdi), %r14; mov 23*8(%rdi), %r15\n"                        \
	"mov 5*8(%rdi), %rdi\n"

#define RESTORE_REGISTERS                                                     \
	"mov kept_stack_pointer(%rip), %rsp\n"                                \
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"        \
	"ret\n"

/* No signal may come in between: there may be no stack. */
asm(".pushsection .bss\n"
    "kept_stack_pointer: .skip 8\n"
    ".popsection\n"
    ".pushsection fault_code, \"ax\", @progbits\n"
    "fault_with:\n" LOAD_REGISTERS
    "fault_with_ip: movb $1, (%rdi)\n" RESTORE_REGISTERS
    "read_with:\n" LOAD_REGISTERS
    "syscall\n"
    "read_with_ip:\n" RESTORE_REGISTERS
    ".popsection\n");

#else

#define USER_CS 0
#define USER_SS 0
static const char fault_with_ip[1], read_with_ip[1];

static inline void fault_with(const struct registers *regs)
{
	(void)regs;
	SKIP("only on x86-64 the registers are known");
}

static inline void read_with(const struct registers *regs)
{
	fault_with(regs);
}

#endif

/* Different in each register; the fault is at the address in DI. */
static inline struct registers numbered_registers(volatile char *at)
{
	struct registers regs;

	for (size_t i = 0; i < NR_REGS; i++)
		regs.of[i] = 0xfeed000000000000ULL + 0x1111111111ULL * i;
	regs.of[R_DI] = (uintptr_t)at;
	regs.of[R_SP] = 0x12345678;
	regs.of[R_IP] = (uintptr_t)fault_with_ip;
	regs.of[R_FLAGS] = 0x202 | 0x891;
	regs.of[R_CS] = USER_CS;
	regs.of[R_SS] = USER_SS;
	return regs;
}

#endif /* PERF_RING_REGS_H */
