/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPU that runs the test, one instruction at a time and inside of the test's own process:
 * the whole state goes to it through the frame of a signal, and comes back through the one
 * of the trap behind the instruction. Many times as fast as ptrace, and 32-bit code and
 * segment bases are no more than fields of the state.
 */
#ifndef PERFRING_X86_BRANCH_GUEST_HH
#define PERFRING_X86_BRANCH_GUEST_HH

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <cpuid.h>
#include <sys/auxv.h>
#include <sys/ucontext.h>

#include "branch.h"

struct GuestVector {
	unsigned char byte[64];
};

using GuestVectors = std::array<GuestVector, 16>;

struct GuestState {
	x86_registers registers;
	unsigned long fs_base;
	GuestVectors vectors;
};

/* For assembler: what is ours while the guest runs, and what has ended it. */
extern "C" {
struct GuestTrap {
	unsigned long sp, own_fs, own_gs, fs, gs;
	ucontext_t *frame;
	const siginfo_t *info;
	unsigned long has_bases, inside;
	int signal;
};
[[gnu::visibility("hidden")]] extern GuestTrap perfring_guest_trap;
void perfring_guest_first();
void perfring_guest_enter(ucontext_t *frame);
void perfring_guest_signal(int, siginfo_t *, void *);
}

class Guest {
    public:
	/* In a process of its own: signals, and data segments, are set for good. */
	Guest()
	{
		constexpr unsigned long fsgsbase = 2;
		stack_t stack = {};
		struct sigaction action = {};

		stack.ss_sp = signal_stack;
		stack.ss_size = sizeof(signal_stack);
		sigaltstack(&stack, nullptr);
		action.sa_sigaction = perfring_guest_signal;
		action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
		for (const int signal : {SIGTRAP, SIGSEGV, SIGILL, SIGBUS, SIGFPE})
			sigaction(signal, &action, nullptr);
		trap.has_bases = (getauxval(AT_HWCAP2) & fsgsbase) != 0;
		if (trap.has_bases) {
			asm volatile("rdfsbase %0" : "=r"(trap.own_fs));
			asm volatile("rdgsbase %0" : "=r"(trap.own_gs));
		}
		/* 32-bit code has data segments, which are empty in ours. */
		asm volatile("mov %0, %%ds\n\tmov %0, %%es" : : "r"(data_segment));
		find_components();
		perfring_guest_first();
	}

	bool has_bases() const
	{
		return trap.has_bases;
	}

	/* False: the instruction has not retired; the state is that of the fault. */
	bool step(GuestState &state, bool long_mode)
	{
		give(state, long_mode);
		trap.fs = state.fs_base;
		/* Somewhere else than FS. */
		trap.gs = state.fs_base ^ 0x5550;
		perfring_guest_enter(trap.frame);
		take(state);
		return trap.signal == SIGTRAP && trap.info->si_code == TRAP_TRACE;
	}

	int signal() const
	{
		return trap.signal;
	}

    private:
	static constexpr unsigned short data_segment = 0x2b;
	static constexpr long long code_64 = 0x33, code_32 = 0x23;
	static constexpr long long trap_flag = 0x100;

	/* SDM volume 1, "XSAVE-Managed State": where the parts of the registers are. */
	void find_components()
	{
		unsigned a, b, c, d;

		upper_at = 576;
		if (__get_cpuid_count(0xd, 6, &a, &b, &c, &d) && a == 512)
			top_at = b;
	}

	template <class Do> static void each_register(x86_registers &r, greg_t *g, Do &&pass)
	{
		unsigned long *const ours[] = {&r.r8,  &r.r9,  &r.r10, &r.r11, &r.r12, &r.r13,
					       &r.r14, &r.r15, &r.di,  &r.si,  &r.bp,  &r.bx,
					       &r.dx,  &r.ax,  &r.cx,  &r.sp,  &r.ip};
		constexpr int theirs[] = {REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13,
					  REG_R14, REG_R15, REG_RDI, REG_RSI, REG_RBP, REG_RBX,
					  REG_RDX, REG_RAX, REG_RCX, REG_RSP, REG_RIP};

		for (unsigned i = 0; i < std::size(theirs); i++)
			pass(*ours[i], g[theirs[i]]);
	}

	void give(GuestState &state, bool long_mode)
	{
		mcontext_t &context = trap.frame->uc_mcontext;
		greg_t *const g = context.gregs;

		each_register(state.registers, g, [](const unsigned long &ours, greg_t &theirs) {
			theirs = static_cast<greg_t>(ours);
		});
		g[REG_EFL] = static_cast<greg_t>(state.registers.flags) | trap_flag;
		g[REG_CSGSFS] = static_cast<greg_t>(
			(static_cast<std::uint64_t>(g[REG_CSGSFS]) & ~0xfffful) |
			(long_mode ? code_64 : code_32));
		unsigned char *const area = reinterpret_cast<unsigned char *>(context.fpregs);
		area[512] = static_cast<unsigned char>(area[512] | 6 | (top_at ? 0x40 : 0));
		for (unsigned i = 0; i < 16; i++) {
			const unsigned char *from = state.vectors[i].byte;

			std::memcpy(area + 160 + 16 * i, from, 16);
			std::memcpy(area + upper_at + 16 * i, from + 16, 16);
			if (top_at)
				std::memcpy(area + top_at + 32 * i, from + 32, 32);
		}
	}

	void take(GuestState &state)
	{
		mcontext_t &context = trap.frame->uc_mcontext;
		greg_t *const g = context.gregs;

		each_register(state.registers, g, [](unsigned long &ours, const greg_t &theirs) {
			ours = static_cast<unsigned long>(theirs);
		});
		state.registers.flags = static_cast<unsigned long>(g[REG_EFL] & ~trap_flag);
		const unsigned char *const area =
			reinterpret_cast<const unsigned char *>(context.fpregs);
		/* In the initial state they are zero, whatever is in the area. */
		for (unsigned i = 0; i < 16; i++) {
			unsigned char *to = state.vectors[i].byte;

			std::memset(to, 0, 64);
			if (area[512] & 2)
				std::memcpy(to, area + 160 + 16 * i, 16);
			if (area[512] & 4)
				std::memcpy(to + 16, area + upper_at + 16 * i, 16);
			if (top_at && area[512] & 0x40)
				std::memcpy(to + 32, area + top_at + 32 * i, 32);
		}
	}

	GuestTrap &trap = perfring_guest_trap;
	std::size_t upper_at = 0, top_at = 0;
	alignas(64) unsigned char signal_stack[1 << 16];
};

#endif /* PERFRING_X86_BRANCH_GUEST_HH */
