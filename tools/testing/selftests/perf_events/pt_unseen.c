// SPDX-License-Identifier: GPL-2.0
/*
 * A traced program cannot tell that it is: its registers, its flags, its stack, what its
 * instructions do and which signals they raise, instruction by instruction.
 */
#include "perf_pt_unseen.h"

#include <fcntl.h>
#include <setjmp.h>
#include <ucontext.h>

#define TF 0x100

/* ---- code with registers ---- */

/* rax rcx rdx rbx - rbp rsi rdi r8 to r15, flags. rsp is nobody's. */
struct registers {
	uint64_t r[16];
	uint64_t flags;
};

struct registers given, got;
uint64_t code_to_call, stack_before, stack_after;
unsigned char below[256]; /* of the stack, behind what the code has returned from */

/* Everything is loaded, the code called, and everything stored, by MOVs alone. */
asm(".pushsection .text\n"
    ".global call_code\n"
    "call_code:\n"
    "	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n"
    "	push %r14\n	push %r15\n"
    "	pushq given+128(%rip)\n	popfq\n"
    "	mov given(%rip), %rax\n	mov given+8(%rip), %rcx\n"
    "	mov given+16(%rip), %rdx\n	mov given+24(%rip), %rbx\n"
    "	mov given+40(%rip), %rbp\n	mov given+48(%rip), %rsi\n"
    "	mov given+56(%rip), %rdi\n	mov given+64(%rip), %r8\n"
    "	mov given+72(%rip), %r9\n	mov given+80(%rip), %r10\n"
    "	mov given+88(%rip), %r11\n	mov given+96(%rip), %r12\n"
    "	mov given+104(%rip), %r13\n	mov given+112(%rip), %r14\n"
    "	mov given+120(%rip), %r15\n"
    "	mov %rsp, stack_before(%rip)\n"
    "	call *code_to_call(%rip)\n"
    ".global recovered\n"
    "recovered:\n"
    "	mov %rsp, stack_after(%rip)\n"
    "	mov %rax, got(%rip)\n	mov %rcx, got+8(%rip)\n"
    "	mov %rdx, got+16(%rip)\n	mov %rbx, got+24(%rip)\n"
    "	mov %rbp, got+40(%rip)\n	mov %rsi, got+48(%rip)\n"
    "	mov %rdi, got+56(%rip)\n	mov %r8, got+64(%rip)\n"
    "	mov %r9, got+72(%rip)\n	mov %r10, got+80(%rip)\n"
    "	mov %r11, got+88(%rip)\n	mov %r12, got+96(%rip)\n"
    "	mov %r13, got+104(%rip)\n	mov %r14, got+112(%rip)\n"
    "	mov %r15, got+120(%rip)\n"
    "	mov stack_before(%rip), %rsp\n"
    "	pushfq\n	popq got+128(%rip)\n"
    "	cld\n"
    "	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n"
    "	pop %rbp\n	pop %rbx\n"
    "	ret\n"
    ".popsection\n");

extern void call_code(void);
extern const char recovered[];

static void give(uint64_t seed, uint64_t flags)
{
	for (int i = 0; i < 16; i++)
		given.r[i] = (seed + (uint64_t)i) * 0x9e3779b97f4a7c15;
	given.flags = flags | 2;
}

static void note_registers(void)
{
	for (int i = 0; i < 16; i++)
		if (i != 4)
			NOTE(got.r[i]);
	NOTE(got.flags);
	NOTE(stack_after - stack_before);
}

static void run_code(const void *code)
{
	code_to_call = (uint64_t)code;
	call_code();
	note_registers();
}

/* ---- branches of all kinds ---- */

/* A piece of code with a name in C. */
#define CODE(name, text)                                                      \
	extern const char name[];                                             \
	asm(".pushsection .text\n.balign 16\n" #name ":\n" text               \
	    "\n	ret\n.popsection\n")

CODE(nothing, "");
CODE(direct, "jmp 1f\n int3\n 1: call 2f\n jmp 3f\n 2: ret\n 3: nop");
CODE(near_direct, ".byte 0xe9, 0, 0, 0, 0\n .byte 0xe8, 0, 0, 0, 0\n add $8, %rsp");
CODE(indirect, "lea 1f(%rip), %rax\n jmp *%rax\n int3\n 1: lea 2f(%rip), %r15\n"
	       "call *%r15\n jmp 3f\n 2: ret\n 3: nop");
CODE(by_memory, "lea 1f(%rip), %rax\n push %rax\n jmp *(%rsp)\n int3\n"
		"1: movq $2f, (%rsp)\n mov %rsp, %rbp\n call *(%rbp)\n jmp 3f\n"
		"2: ret\n 3: pop %rax");
CODE(by_stack, "push $2f\n call *(%rsp)\n jmp 3f\n 2: ret\n 3: pop %rcx");
CODE(by_index, "push $2f\n lea 64(%rsp), %r12\n mov $-8, %rbx\n"
	       "call *(%r12,%rbx,8)\n jmp 3f\n 2: ret\n 3: pop %rcx");
CODE(by_fs, "push $2f\n mov %rsp, %rax\n sub %fs:0, %rax\n call *%fs:(%rax)\n"
	    "jmp 3f\n 2: ret\n 3: pop %rcx");
CODE(return_far_up, "push %rax\n push %rax\n push %rax\n call 1f\n jmp 2f\n"
		    "1: ret $24\n 2: nop");
CODE(return_to_self, "push $1f\n ret\n 1: nop");
CODE(rep_return, "push $1f\n .byte 0xf3, 0xc3\n 1: nop");
CODE(counted, "mov $5, %ecx\n 1: inc %rax\n loop 1b\n mov $3, %ecx\n"
	      "2: dec %ecx\n jecxz 3f\n jmp 2b\n 3: jrcxz 4f\n int3\n 4: nop");
CODE(counted_32, "mov $-1, %rcx\n mov $3, %ecx\n bts $40, %rcx\n"
		 "1: dec %rbx\n .byte 0x67\n loop 1b");
CODE(counted_flags, "mov $9, %ecx\n mov $4, %eax\n 1: dec %eax\n loopne 1b\n"
		    "2: xor %eax, %eax\n loope 2b\n mov $7, %edx");
CODE(notrack, "lea 1f(%rip), %rax\n .byte 0x3e\n jmp *%rax\n 1: endbr64");
CODE(hinted, "xor %eax, %eax\n .byte 0x2e\n jnz 1f\n .byte 0x3e\n jz 2f\n"
	     "1: inc %rax\n 2: nop");
CODE(back_and_forth, "mov $20, %ecx\n 1: jmp 3f\n 2: dec %ecx\n jnz 1b\n jmp 4f\n"
		     "3: jmp 2b\n 4: nop");
CODE(recursion, "mov $12, %ecx\n call 1f\n jmp 2f\n 1: dec %ecx\n jz 3f\n"
		"call 1b\n inc %rdx\n 3: ret\n 2: nop");
CODE(red_zone, "movq $0x55, -8(%rsp)\n movq $0x66, -128(%rsp)\n jmp 1f\n"
	       "1: jz 2f\n 2: jmp 3f\n 3: mov -8(%rsp), %rax\n"
	       "mov -128(%rsp), %rcx");
CODE(pushed, "call 1f\n 1: pop %rax\n call 2f\n 2: pop %rcx\n sub %rax, %rcx\n"
	     "call *3f(%rip)\n jmp 4f\n 3: .quad 5f\n 5: mov (%rsp), %rdx\n"
	     "ret\n 4: nop");
CODE(stack_words, "mov $0x1122334455667788, %rax\n push %rax\n push %rax\n"
		  "call 1f\n jmp 2f\n 1: ret\n 2: mov -8(%rsp), %rcx\n"
		  "mov -16(%rsp), %rdx\n pop %rbx\n pop %rbp");
CODE(sse, "mov $100, %ecx\n pxor %xmm0, %xmm0\n pcmpeqd %xmm1, %xmm1\n"
	  "movq %rax, %xmm2\n 1: psubq %xmm1, %xmm0\n paddd %xmm2, %xmm0\n"
	  "dec %ecx\n jnz 1b\n movq %xmm0, %rdx\n movhlps %xmm0, %xmm0\n"
	  "movq %xmm0, %rbx");
CODE(x87, "mov $10, %ecx\n fldz\n fld1\n 1: fadd %st(0), %st(1)\n dec %ecx\n"
	  "jnz 1b\n fstp %st(0)\n push %rax\n fstpl (%rsp)\n pop %rax");
CODE(strings, "lea below(%rip), %rdi\n mov $256, %ecx\n mov $0xa5, %eax\n cld\n"
	      "rep stosb\n lea below(%rip), %rdi\n mov $256, %ecx\n"
	      "xor %eax, %eax\n repne scasb\n lea below(%rip), %rsi\n"
	      "lea below+64(%rip), %rdi\n mov $8, %ecx\n rep movsq\n mov $0, %ecx\n"
	      "rep movsb");

static const char *const branches[] = {
	nothing, direct, near_direct, indirect, by_memory, by_stack, by_index,
	by_fs, return_far_up, return_to_self, rep_return, counted, counted_32,
	counted_flags, notrack, hinted, back_and_forth, recursion, red_zone,
	pushed, stack_words, sse, x87, strings,
};

static void branches_keep_registers_scene(void)
{
	/* C P A Z S D O, in all kinds of mixtures. */
	static const uint64_t flags[] = { 0, 1, 0x8d5, 0xcd5, 0x41, 0x894, 0x400 };

	for (size_t i = 0; i < ARRAY_LEN(branches); i++)
		for (size_t f = 0; f < ARRAY_LEN(flags); f++) {
			give(i, flags[f] & (branches[i] == strings ? ~0x400UL : ~0UL));
			run_code(branches[i]);
		}
}
UNSEEN(branches_keep_registers)

/* Each condition with each value of the flags that it looks at. */
CODE(conditions,
     "xor %eax, %eax\n"
     "jo 1f\n inc %rax\n 1: lea (%rax,%rax), %rax\n" /* LEA and MOV keep flags */
     "mov %rax, %rdx\n"
     "mov $0, %ecx\n jb 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n jz 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n jbe 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n js 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n jp 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n jl 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n jle 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n .byte 0x0f, 0x81, 5, 0, 0, 0\n mov $1, %ecx\n"
     "lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n jae 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n jnz 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n ja 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n jns 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n jnp 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n jge 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx\n"
     "mov $0, %ecx\n jg 1f\n mov $1, %ecx\n 1: lea (%rcx,%rdx,2), %rdx");

static void every_condition_scene(void)
{
	static const uint64_t bits[] = { 1, 4, 0x10, 0x40, 0x80, 0x800 };

	for (unsigned int set = 0; set < 64; set++) {
		uint64_t flags = 0;

		for (size_t i = 0; i < ARRAY_LEN(bits); i++)
			flags |= set >> i & 1 ? bits[i] : 0;
		give(1, flags);
		run_code((const char *)conditions + 2); /* behind the XOR */
	}
}
UNSEEN(every_condition)

/* ---- flags that are looked at ---- */

CODE(push_flags, "pushf\n pop %rax\n pushf\n pop %rcx\n jmp 1f\n 1: pushf\n pop %rdx\n"
		 "pushfw\n popw %bx");
CODE(push_after_pop, "push %rax\n andq $0x8d5, (%rsp)\n popf\n pushf\n pop %rax\n"
		     "pushf\n popf\n pushf\n pop %rcx");
CODE(push_after_ss, "mov %ss, %eax\n mov %eax, %ss\n pushf\n pop %rcx\n mov %ss, %edx\n"
		    "mov %edx, %ss\n jmp 1f\n int3\n 1: pushf\n pop %rdx");
CODE(call_after_ss, "mov %ss, %eax\n mov %eax, %ss\n call 1f\n jmp 2f\n"
		    "1: pushf\n pop %rbx\n ret\n 2: mov $102, %eax\n mov %ss, %edx\n"
		    "mov %edx, %ss\n syscall\n pushf\n pop %rdx");
CODE(lahf, "lahf\n mov %rax, %rcx\n sahf\n lahf");
CODE(with_ac, "pushf\n orq $0x40000, (%rsp)\n popf\n pushf\n pop %rax\n jmp 1f\n"
	      "1: call 2f\n jmp 3f\n 2: ret\n 3: pushf\n andq $~0x40000, (%rsp)\n popf");
CODE(with_id, "pushf\n orq $0x200000, (%rsp)\n popf\n pushf\n pop %rax\n jmp 1f\n"
	      "1: pushf\n andq $~0x200000, (%rsp)\n popf");
CODE(flags_in_kernel, "mov $102, %eax\n syscall\n mov %r11, %rbx\n pushf\n pop %rdx");
CODE(many_calls, "mov $20, %ebx\n 1: mov $102, %eax\n syscall\n add %r11, %rbp\n"
		 "dec %ebx\n jnz 1b");
CODE(call_by_interrupt, "mov $24, %eax\n int $0x80\n pushf\n pop %rdx\n mov $24, %eax\n"
			"int $0x80");
CODE(no_such_call, "mov $9999, %eax\n syscall\n pushf\n pop %rdx");

static const char *const flag_readers[] = {
	push_flags, push_after_pop, push_after_ss, call_after_ss, lahf, with_ac,
	with_id, flags_in_kernel, many_calls, call_by_interrupt, no_such_call,
};

static void flags_and_r11_scene(void)
{
	for (size_t i = 0; i < ARRAY_LEN(flag_readers); i++)
		for (uint64_t flags = 0; flags < 0x1000; flags += 0x443) {
			give(i, flags & 0x8d5);
			run_code(flag_readers[i]);
			CHECK(!(got.flags & TF));
		}
}
UNSEEN(flags_and_r11)

/* ---- the same in pages that may be written to ---- */

static unsigned char *new_code(size_t size, int prot)
{
	static uint64_t at = 0x30000000;
	void *code = mmap((void *)at, size, prot,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	CHECK(code == (void *)at);
	at += 0x100000;
	return code;
}

/* A copy of a piece of code, with room for what it has of addresses relative to it. */
static const char *writable(const char *code)
{
	static unsigned char *copies;
	uint64_t page = (uint64_t)code & ~4095UL;

	/* Its data are 2 GiB away at most, wherever it is: the whole page moves alike. */
	if (!copies)
		copies = new_code(8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(copies, (const void *)page, 8192);
	return (const char *)copies + ((uint64_t)code - page);
}

static void writable_code_keeps_registers_scene(void)
{
	for (size_t i = 0; i < ARRAY_LEN(branches); i++) {
		if (branches[i] == strings)
			continue; /* it refers to data */
		give(i, 0x8d5);
		run_code(writable(branches[i]));
	}
}
UNSEEN(writable_code_keeps_registers)

static void writable_code_reads_flags_scene(void)
{
	for (size_t i = 0; i < ARRAY_LEN(flag_readers); i++)
		for (uint64_t flags = 0; flags < 0x1000; flags += 0x443) {
			give(i, flags & 0x8d5);
			run_code(writable(flag_readers[i]));
			CHECK(!(got.flags & TF));
		}
}
UNSEEN(writable_code_reads_flags)

/* ---- faults ---- */

static volatile sig_atomic_t steps; /* of the program's own */
static unsigned int most_steps;

static void note_signal(int signal, const siginfo_t *info, const ucontext_t *context)
{
	const greg_t *regs = context->uc_mcontext.gregs;

	NOTE(signal);
	NOTE(info->si_code);
	NOTE(regs[REG_RIP]);
	NOTE(regs[REG_EFL]);
	NOTE(regs[REG_TRAPNO]);
	NOTE(regs[REG_ERR]);
	NOTE(regs[REG_RAX]);
	NOTE(regs[REG_RCX]);
	NOTE(regs[REG_R11]);
	if (signal == SIGSEGV || signal == SIGBUS)
		NOTE((uint64_t)info->si_addr < 1UL << 46 ? info->si_addr : NULL);
	NOTE(regs[REG_RSP] - (greg_t)stack_before);
}

/* Back to where the code was called from, as if it had returned. */
static void recover(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t *regs = uc->uc_mcontext.gregs;

	note_signal(signal, info, uc);
	regs[REG_RIP] = (greg_t)recovered;
	regs[REG_RSP] = (greg_t)stack_before;
	regs[REG_EFL] &= ~(TF | 0x40000);
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *))
{
	static char stack[65536] __attribute__((aligned(16)));
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = {
		.sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	CHECK(!sigaltstack(&other, NULL));
	CHECK(!sigaction(signal, &action, NULL));
}

static void handle_all(void (*handler)(int, siginfo_t *, void *))
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };

	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		handle(signals[i], handler);
}

CODE(breakpoint, "nop\n int3\n nop");
CODE(long_breakpoint, ".byte 0xcd, 0x03");
CODE(trap_instruction, ".byte 0xf1");
CODE(undefined, "jmp 1f\n 1: ud2");
CODE(divide, "xor %edx, %edx\n mov $1, %eax\n xor %ecx, %ecx\n div %ecx");
CODE(privileged, "hlt");
CODE(no_gate, "int $0x21");
CODE(read_nothing, "mov 0x10, %eax");
CODE(write_nothing, "nop\n movl $1, 0x10");
CODE(jump_nowhere, "mov $0x1000, %eax\n jmp *%rax");
CODE(call_nowhere, "mov $0x2000, %eax\n call *%rax");
CODE(return_nowhere, "push $0x3000\n ret");
CODE(jump_far_out, "mov $0x800000000000, %rax\n jmp *%rax");
CODE(call_far_out, "mov $0x800000000000, %rax\n call *%rax");
CODE(return_far_out, "mov $0x900000000000, %rax\n push %rax\n ret");
CODE(jump_by_nothing, "jmp *0x20");
CODE(call_by_nothing, "xor %ebx, %ebx\n call *8(%rbx)");
CODE(call_by_far_out, "mov $0x8000000000000000, %rbx\n call *(%rbx)");
CODE(push_nothing, "mov $0x4000, %esp\n call 1f\n 1: nop");
CODE(push_far_out, "mov $0x800000000000, %rsp\n call 1f\n 1: nop");
CODE(pop_nothing, "mov $0x4000, %esp\n ret");
CODE(pop_far_out, "mov $0x800000000008, %rsp\n ret");
CODE(pop_ss_like, "mov $7, %eax\n mov %eax, %ss");
CODE(jump_to_kernel, "mov $0xffffffff81000000, %rax\n jmp *%rax");
CODE(jump_to_data, "mov $given, %eax\n jmp *%rax");
CODE(breakpoint_after_ss, "mov %ss, %eax\n mov %eax, %ss\n int3");
CODE(fault_after_ss, "mov %ss, %eax\n mov %eax, %ss\n mov 0x10, %ecx");
CODE(locked_jump, ".byte 0xf0, 0xeb, 0x00");
CODE(old_instruction, ".byte 0x06");
CODE(far_by_immediate, ".byte 0x9a, 0, 0, 0, 0, 0, 0");
CODE(overlong, ".fill 15, 1, 0x66\n nop");

static const char *const faults[] = {
	breakpoint, long_breakpoint, trap_instruction, undefined, divide,
	privileged, no_gate, read_nothing, write_nothing, jump_nowhere,
	call_nowhere, return_nowhere, jump_far_out, call_far_out,
	return_far_out, jump_by_nothing, call_by_nothing, call_by_far_out,
	push_nothing, push_far_out, pop_nothing, pop_far_out, pop_ss_like,
	jump_to_kernel, jump_to_data, breakpoint_after_ss, fault_after_ss,
	locked_jump, old_instruction, far_by_immediate, overlong,
};

static void faults_are_the_same_scene(void)
{
	handle_all(recover);
	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		give(i, i % 2 ? 0 : 0x8d5);
		run_code(faults[i]);
		run_code(writable(faults[i]));
	}
}
UNSEEN(faults_are_the_same)

/* A string instruction that faults in the middle, twice, and goes on. */
static char *pages;

static void make_writable(int signal, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t offset = (uint64_t)info->si_addr - (uint64_t)pages;

	NOTE(signal);
	NOTE(offset);
	NOTE(regs[REG_RCX]);
	NOTE(regs[REG_RIP]);
	NOTE(regs[REG_EFL]);
	CHECK(!mprotect(pages + (offset & ~4095UL), 4096, PROT_READ | PROT_WRITE));
}

CODE(fill, "rep stosb\n pushf\n pop %rax");

static void strings_that_fault_scene(void)
{
	pages = mmap((void *)0x20000000, 4 * 4096, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	CHECK(pages == (void *)0x20000000);
	handle(SIGSEGV, make_writable);
	give(3, 0);
	given.r[7] = (uint64_t)pages + 4000;
	given.r[1] = 2 * 4096;
	run_code(fill);
	NOTE(pages[4000]);
	NOTE(pages[4000 + 2 * 4096 - 1]);
	NOTE(pages[4000 + 2 * 4096]);
}
UNSEEN(strings_that_fault)

/* ---- a program that steps itself ---- */

static void on_step(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	note_signal(signal, info, uc);
	if (++steps >= (sig_atomic_t)most_steps)
		uc->uc_mcontext.gregs[REG_EFL] &= ~TF;
}

CODE(step_plain, "pushf\n orq $0x100, (%rsp)\n popf\n nop\n nop\n inc %rax\n"
		 "jmp 1f\n 1: call 2f\n jmp 3f\n 2: ret\n 3: pushf\n pop %rcx\n"
		 "and $0x100, %ecx\n pushf\n andq $~0x100, (%rsp)\n popf\n nop");
CODE(step_call, "pushf\n orq $0x100, (%rsp)\n popf\n mov $102, %eax\n syscall\n nop\n"
		"mov %r11, %rbx\n mov $24, %eax\n int $0x80\n nop\n pushf\n"
		"andq $~0x100, (%rsp)\n popf\n nop");
CODE(step_strings, "lea below(%rip), %rdi\n mov $5, %ecx\n pushf\n orq $0x100, (%rsp)\n"
		   "popf\n rep stosb\n nop\n mov $0, %ecx\n rep stosb\n pushf\n"
		   "andq $~0x100, (%rsp)\n popf\n nop");
CODE(step_ss, "pushf\n orq $0x100, (%rsp)\n popf\n mov %ss, %eax\n mov %eax, %ss\n nop\n"
	      "nop\n pushf\n andq $~0x100, (%rsp)\n popf\n nop");
CODE(step_once, "pushf\n orq $0x100, (%rsp)\n popf\n mov $50, %ecx\n 1: dec %ecx\n"
		"jnz 1b\n pushf\n pop %rdx");
CODE(step_breakpoint, "pushf\n orq $0x100, (%rsp)\n popf\n int3\n nop\n pushf\n"
		      "andq $~0x100, (%rsp)\n popf\n nop");
CODE(step_fault, "pushf\n orq $0x100, (%rsp)\n popf\n nop\n mov 0x10, %eax\n nop");

static void it_steps_itself_scene(void)
{
	static const char *const codes[] = {
		step_plain, step_call, step_strings, step_ss, step_breakpoint,
	};

	handle(SIGTRAP, on_step);
	handle(SIGSEGV, recover);
	most_steps = 1000;
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		steps = 0;
		give(i, 0);
		run_code(codes[i]);
		NOTE(steps);
	}
	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		if (codes[i] == step_strings)
			continue;
		steps = 0;
		give(i, 0);
		run_code(writable(codes[i]));
		NOTE(steps);
	}
	run_code(step_fault);
	run_code(writable(step_fault));
	for (most_steps = 1; most_steps < 8; most_steps++) {
		steps = 0;
		run_code(step_once);
		NOTE(steps);
	}
}
UNSEEN(it_steps_itself)

/* The flag comes with the return from a signal handler. */
static void on_raise(int signal, siginfo_t *info, void *context)
{
	(void)info;
	NOTE(signal);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TF;
}

static void stepping_begins_in_a_handler_scene(void)
{
	handle(SIGTRAP, on_step);
	handle(SIGUSR1, on_raise);
	for (most_steps = 3; most_steps < 6; most_steps++) {
		steps = 0;
		raise(SIGUSR1);
		NOTE(steps);
	}
}

/* raise() runs code of the library, whose addresses are the same in both runs. */
UNSEEN(stepping_begins_in_a_handler)

/* ---- signals, jumps, handlers ---- */

static sigjmp_buf back;
static volatile sig_atomic_t hits;

static void jump_back(int signal)
{
	hits++;
	siglongjmp(back, signal);
}

static void plain_handler(int signal)
{
	(void)signal;
	hits++;
}

static void signals_and_long_jumps_scene(void)
{
	struct sigaction action = { .sa_handler = jump_back };
	int *volatile nowhere = (int *)8;
	volatile uint64_t sum = 0;

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	action.sa_handler = plain_handler;
	CHECK(!sigaction(SIGUSR2, &action, NULL));
	for (int i = 0; i < 20; i++) {
		int came = sigsetjmp(back, 1);

		if (came) {
			sum += (uint64_t)came;
		} else if (i % 2) {
			raise(SIGUSR1);
		} else {
			*(volatile int *)nowhere = 1;
		}
		raise(SIGUSR2);
	}
	NOTE(hits);
	NOTE(sum);
}
UNSEEN(signals_and_long_jumps)

#define MOST_INTERRUPTIONS 100

/*
 * Not by itself again and again: signals that come sooner than they can be handled leave
 * no time to compute.
 */
static void interrupt_soon(timer_t timer)
{
	struct itimerspec once = {
		.it_value.tv_nsec = 200000 * (1 + hits % 16),
	};

	CHECK(!timer_settime(timer, 0, &once, NULL));
}

/* A timer interrupts a computation anywhere, which comes out all the same. */
static void interrupted_anywhere_scene(void)
{
	struct sigaction action = { .sa_handler = plain_handler };
	timer_t timer;
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM,
	};
	int before = -1;
	uint64_t sum = 1;

	CHECK(!sigaction(SIGALRM, &action, NULL));
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	for (uint64_t i = 0; i < 20000 || hits < 20; i++) {
		if (hits != before && hits < MOST_INTERRUPTIONS) {
			before = hits;
			interrupt_soon(timer);
		}
		if (i < 20000)
			sum = i & 64 ? sum * 6364136223846793005 + i :
				       (sum ^ sum >> 7) + i;
	}
	CHECK(!timer_delete(timer));
	NOTE(sum);
	give(1, 0x8d5);
	run_code(nothing);
}
UNSEEN(interrupted_anywhere)

/* ---- code that changes ---- */

/* mov $value, %eax; some jumps; ret */
static size_t write_code(unsigned char *code, uint32_t value, unsigned int jumps)
{
	unsigned char *at = code;

	*at++ = 0xb8;
	memcpy(at, &value, 4);
	at += 4;
	while (jumps--) {
		*at++ = 0xeb;
		*at++ = 0;
	}
	*at++ = 0xc3;
	return (size_t)(at - code);
}

static uint32_t value_of(const void *code)
{
	return ((uint32_t(*)(void))code)();
}

static void code_that_changes_scene(void)
{
	unsigned char *code = new_code(4096, PROT_READ | PROT_WRITE | PROT_EXEC);

	for (uint32_t i = 0; i < 20; i++) {
		write_code(code, i, i % 3);
		NOTE(value_of(code));
	}
	for (uint32_t i = 0; i < 20; i++) {
		CHECK(!mprotect(code, 4096, PROT_READ | PROT_WRITE));
		write_code(code, 100 + i, i % 4);
		CHECK(!mprotect(code, 4096, PROT_READ | PROT_EXEC));
		NOTE(value_of(code));
		NOTE(value_of(code));
	}
	for (uint32_t i = 0; i < 10; i++) {
		CHECK(!munmap(code, 4096));
		CHECK(mmap(code, 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == code);
		write_code(code, 200 + i, 1);
		CHECK(!mprotect(code, 4096, PROT_READ | PROT_EXEC));
		NOTE(value_of(code));
	}
}
UNSEEN(code_that_changes)

/* The next instruction is overwritten by the one before it. */
static void code_that_changes_itself_scene(void)
{
	/* movb $imm, 1(%rip); mov $0, %eax; ret: the byte is MOV's operand. */
	static const unsigned char pattern[] = {
		0xc6, 0x05, 0x01, 0x00, 0x00, 0x00, 0x5a, /* movb $0x5a, 1(%rip) */
		0xb8, 0x11, 0x00, 0x00, 0x00, 0xc3,
	};
	unsigned char *code = new_code(8192, PROT_READ | PROT_WRITE | PROT_EXEC);

	for (unsigned int i = 0; i < 10; i++) {
		unsigned char *at = code + 4096 - 10 + i;

		memcpy(at, pattern, sizeof(pattern));
		at[6] = (unsigned char)(0x20 + i);
		NOTE(value_of(at));
		NOTE(value_of(at));
	}
}
UNSEEN(code_that_changes_itself)

/* Through another mapping of the same page, which is not writable where it runs. */
static void code_with_two_mappings_scene(void)
{
	int file = memfd_create("code", MFD_CLOEXEC);
	unsigned char *writing, *running;

	CHECK(file >= 0 && !ftruncate(file, 4096));
	writing = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	running = mmap((void *)0x28000000, 4096, PROT_READ | PROT_EXEC, MAP_SHARED,
		       file, 0);
	CHECK(writing != MAP_FAILED && running != MAP_FAILED);
	for (uint32_t i = 0; i < 50; i++) {
		write_code(writing, i, i % 5);
		NOTE(value_of(running));
	}
}
UNSEEN(code_with_two_mappings)

/* It unmaps the page that it runs in. */
static void code_that_unmaps_itself_scene(void)
{
	static const unsigned char pattern[] = { 0x0f, 0x05, 0xc3 };
	unsigned char *code;

	handle_all(recover);
	for (int i = 0; i < 5; i++) {
		code = new_code(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
		memcpy(code, pattern, sizeof(pattern));
		if (i % 2)
			CHECK(!mprotect(code, 4096, PROT_READ | PROT_EXEC));
		give(1, 0);
		given.r[0] = SYS_munmap;
		given.r[7] = (uint64_t)code;
		given.r[6] = 4096;
		run_code(code);
		NOTE(munmap(code, 4096));
	}
}
UNSEEN(code_that_unmaps_itself)

/* A return in memory that may only be read, and a jump to where no address is. */
static void code_that_may_not_run_scene(void)
{
	static const unsigned char jump[] = { 0xff, 0xe0, 0xc3 };
	unsigned char *code = new_code(4096, PROT_READ | PROT_WRITE);

	handle_all(recover);
	code[0] = 0xc3;
	CHECK(!mprotect(code, 4096, PROT_READ));
	give(1, 0);
	run_code(code);
	NOTE(got.r[0]);

	code = new_code(4096, PROT_READ | PROT_WRITE);
	memcpy(code, jump, sizeof(jump));
	CHECK(!mprotect(code, 4096, PROT_READ | PROT_EXEC));
	give(1, 0);
	given.r[0] = ((uint64_t)code + 2) | 1UL << 48;
	run_code(code);
	NOTE(got.r[0]);
}
UNSEEN(code_that_may_not_run)

/* Instructions across pages of which the second one is not there, or comes later. */
static void code_across_pages_scene(void)
{
	unsigned char *code = new_code(8192, PROT_READ | PROT_WRITE | PROT_EXEC);

	handle_all(recover);
	for (size_t offset = 4096 - 8; offset < 4096; offset++) {
		CHECK(!mprotect(code, 8192, PROT_READ | PROT_WRITE | PROT_EXEC));
		write_code(code + offset, (uint32_t)offset, 2);
		NOTE(value_of(code + offset));
		CHECK(!mprotect(code, 4096, PROT_READ | PROT_EXEC));
		NOTE(value_of(code + offset));
		CHECK(!mprotect(code + 4096, 4096, PROT_NONE));
		give(1, 0);
		run_code(code + offset);
		CHECK(!mprotect(code + 4096, 4096, PROT_READ | PROT_EXEC));
		NOTE(value_of(code + offset));
	}
}
UNSEEN(code_across_pages)

/* ---- 32-bit code ---- */

/* In the low 4 GiB as everything here is; on a stack that is there, too. */
asm(".pushsection .text\n"
    "call_32:\n"
    "	push %rbx\n	push %rbp\n"
    "	mov %rsp, stack_before(%rip)\n"
    "	mov %rsi, %rsp\n"
    "	xor %edx, %edx\n"
    "	ljmp *to_code_32(%rip)\n"
    "to_code_32:\n"
    "	.long code_32\n	.word 0x23\n"
    ".balign 16\n"
    "back_in_64:\n"
    "	mov stack_before(%rip), %rsp\n"
    "	mov %eax, got(%rip)\n	mov %ecx, got+8(%rip)\n"
    "	mov %edx, got+16(%rip)\n	mov %ebx, got+24(%rip)\n"
    "	pop %rbp\n	pop %rbx\n"
    "	ret\n"
    ".code32\n"
    ".balign 16\n"
    "code_32:\n"
    "	xor %eax, %eax\n"
    "	mov $5, %ecx\n"
    "1:	inc %eax\n	dec %ecx\n	jnz 1b\n"
    "	call 2f\n	jmp 3f\n"
    "2:	add $0x100, %eax\n	ret\n"
    "3:	mov $4, %ecx\n"
    "4:	inc %edx\n	loop 4b\n"
    "	mov $2, %ecx\n"
    "4:	inc %edx\n	dec %ecx\n	jecxz 5f\n	jmp 4b\n"
    "5:	mov %edx, %edi\n"
    "	pushf\n	pop %ebx\n"
    "	mov %ss, %ecx\n	mov %ecx, %ss\n	pushf\n	pop %edx\n"
    "	push $5f\n	ret\n"
    "5:	push $6f\n	jmp *(%esp)\n"
    "6:	pop %ecx\n	mov $7f, %ecx\n	call *%ecx\n	jmp 8f\n"
    "7:	ret $0\n"
    "8:	mov %eax, %esi\n"
    "	mov $24, %eax\n	int $0x80\n" /* getuid */
    "	mov $24, %eax\n	int $0x80\n"
    "	mov %eax, %ecx\n	mov %esi, %eax\n"
    "	xor %edi, %edx\n"
    "	ljmp $0x33, $back_in_64\n"
    ".code64\n"
    ".popsection\n");

extern void call_32(int unused, void *stack);
extern const char code_32[];

static void code_of_32_bits_scene(void)
{
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	CHECK(stack != MAP_FAILED);
	CHECK((uint64_t)code_32 < 1ULL << 32);
	memset(&got, 0, sizeof(got));
	for (int i = 0; i < 5; i++) {
		call_32(0, stack + 65536);
		NOTE(got.r[0]);
		NOTE(got.r[1]);
		NOTE(got.r[2]);
		NOTE(got.r[3]);
	}
}
UNSEEN(code_of_32_bits)

/* ---- what the kernel puts into every program ---- */

/* time(), which the kernel carries out at a fault, or does not have. */
CODE(vsyscall, "mov $0xffffffffff600400, %rax\n xor %edi, %edi\n call *%rax\n"
	       "xor %eax, %eax");

static void vdso_and_vsyscall_scene(void)
{
	struct timespec now, later;
	unsigned int cpu = 99;
	uint64_t wrong = 0;

	for (int i = 0; i < 10; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		clock_gettime(CLOCK_MONOTONIC, &later);
		wrong += later.tv_sec < now.tv_sec;
		NOTE(time(NULL) > 1000);
		NOTE(sched_getcpu());
	}
	NOTE(wrong);
	handle_all(recover);
	give(1, 0);
	run_code(vsyscall);
	NOTE(syscall(SYS_getcpu, &cpu, NULL, NULL));
	NOTE(cpu);
}
UNSEEN(vdso_and_vsyscall)

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(branches_keep_registers),
		CASE(every_condition),
		CASE(flags_and_r11),
		CASE(writable_code_keeps_registers),
		CASE(writable_code_reads_flags),
		CASE(faults_are_the_same),
		CASE(strings_that_fault),
		CASE(it_steps_itself),
		CASE(stepping_begins_in_a_handler),
		CASE(signals_and_long_jumps),
		CASE(interrupted_anywhere),
		CASE(code_that_changes),
		CASE(code_that_changes_itself),
		CASE(code_with_two_mappings),
		CASE(code_that_unmaps_itself),
		CASE(code_that_may_not_run),
		CASE(code_across_pages),
		CASE(code_of_32_bits),
		CASE(vdso_and_vsyscall),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
