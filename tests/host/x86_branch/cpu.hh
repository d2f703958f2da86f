/* SPDX-License-Identifier: GPL-2.0 */
/* The CPU that runs the test, one instruction at a time. */
#ifndef PERFRING_X86_BRANCH_CPU_HH
#define PERFRING_X86_BRANCH_CPU_HH

#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>

#include <elf.h>

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "branch.h"

constexpr unsigned long arithmetic_flags = 0x8d5;

struct VectorRegister {
	unsigned char byte[32];
};

using Vectors = std::array<VectorRegister, 16>;

/*
 * A child that carries out single instructions. Its code page and its data page are
 * shared with the parent, and at addresses that 32-bit code has, too.
 */
class Cpu {
    public:
	Cpu()
	{
		memory = static_cast<unsigned char *>(
			mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_32BIT, -1, 0));
		child = fork();
		if (child == 0) {
			ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
			raise(SIGSTOP);
			_exit(0);
		}
		int status;

		waitpid(child, &status, 0);
		usable = WIFSTOPPED(status) && ptrace(PTRACE_GETREGS, child, nullptr, &start) == 0;
	}

	~Cpu()
	{
		kill(child, SIGKILL);
		waitpid(child, nullptr, 0);
		munmap(memory, 3 * page);
	}

	Cpu(const Cpu &) = delete;
	Cpu &operator=(const Cpu &) = delete;

	/* False: the instruction has not retired. */
	bool step(user_regs_struct &regs)
	{
		int status;

		if (ptrace(PTRACE_SETREGS, child, nullptr, &regs) ||
		    ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr))
			return false;
		waitpid(child, &status, 0);
		siginfo_t info;
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP ||
		    ptrace(PTRACE_GETSIGINFO, child, nullptr, &info) || info.si_code != TRAP_TRACE)
			return false;
		return ptrace(PTRACE_GETREGS, child, nullptr, &regs) == 0;
	}

	/* XMM and YMM registers, through the XSAVE area as ptrace has it. False: there is none. */
	bool vectors(Vectors &to)
	{
		iovec area = {xsave, sizeof(xsave)};

		if (ptrace(PTRACE_GETREGSET, child, NT_X86_XSTATE, &area) || area.iov_len < 832)
			return false;
		saved = area.iov_len;
		/* In the initial state they are zero, whatever is in the area. */
		const bool low = xsave[512] & 2, high = xsave[512] & 4;
		for (unsigned i = 0; i < 16; i++) {
			std::memset(to[i].byte, 0, 32);
			if (low)
				std::memcpy(to[i].byte, xsave + 160 + 16 * i, 16);
			if (high)
				std::memcpy(to[i].byte + 16, xsave + 576 + 16 * i, 16);
		}
		return true;
	}

	bool set_vectors(const Vectors &from)
	{
		Vectors before;

		if (!vectors(before))
			return false;
		iovec area = {xsave, saved};
		xsave[512] |= 6;
		for (unsigned i = 0; i < 16; i++) {
			std::memcpy(xsave + 160 + 16 * i, from[i].byte, 16);
			std::memcpy(xsave + 576 + 16 * i, from[i].byte + 16, 16);
		}
		return ptrace(PTRACE_SETREGSET, child, NT_X86_XSTATE, &area) == 0;
	}

	static constexpr std::size_t page = 4096;
	unsigned char *memory; /* code page, data page, stack page */
	user_regs_struct start;
	bool usable;

    private:
	pid_t child;
	alignas(64) unsigned char xsave[16384] = {};
	std::size_t saved = 0;
};

inline x86_registers registers_of(const user_regs_struct &u)
{
	x86_registers r = {};

	r.r15 = u.r15, r.r14 = u.r14, r.r13 = u.r13, r.r12 = u.r12, r.bp = u.rbp, r.bx = u.rbx;
	r.r11 = u.r11, r.r10 = u.r10, r.r9 = u.r9, r.r8 = u.r8, r.ax = u.rax, r.cx = u.rcx;
	r.dx = u.rdx, r.si = u.rsi, r.di = u.rdi, r.ip = u.rip, r.flags = u.eflags, r.sp = u.rsp;
	return r;
}

#endif /* PERFRING_X86_BRANCH_CPU_HH */
