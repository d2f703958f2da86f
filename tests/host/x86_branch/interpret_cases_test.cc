// SPDX-License-Identifier: GPL-2.0
/* Single instructions that the interpreter once made something else of than the CPU does. */
#include <cstring>
#include <initializer_list>

#include <gtest/gtest.h>

#include "interpret.h"

namespace {

constexpr unsigned char bits_32 = 1, bits_64 = 2;

/* A run of some code and behind it HLT, which nobody carries out. No memory can be reached. */
class Alone {
    public:
	Alone(std::initializer_list<unsigned char> code, unsigned char mode,
	      unsigned long start = 0x1000)
	{
		x86_decoded decoded;

		std::memset(run.code, 0xf4, sizeof(run.code));
		std::memcpy(run.code, std::data(code), code.size());
		x86_run_begin(&run, start, mode);
		do {
			x86_decode(run.code + run.bytes, X86_RUN_BYTES - run.bytes, mode == bits_64,
				   &decoded);
			x86_run_translate(&run, &decoded, run.code + run.bytes);
		} while (x86_run_add(&run, &decoded, ~0ul));
		memory.find = [](void *, unsigned long, int) -> void * { return nullptr; };
		registers.ip = start;
	}

	/* How many instructions of it are in the repertoire. */
	unsigned known() const
	{
		return run.ops;
	}

	/* How many have been carried out. */
	unsigned interpret()
	{
		x86_progress progress;

		machine.memory = &memory;
		x86_memory_forget(&memory);
		machine.registers = &registers;
		x86_interpret(&machine, &run, &progress);
		return progress.instructions;
	}

	x86_registers registers = {};

    private:
	x86_run run = {};
	x86_memory memory = {};
	x86_machine machine = {};
};

unsigned known(std::initializer_list<unsigned char> code, unsigned char mode = bits_64)
{
	return Alone(code, mode).known();
}

/* To an address that is not canonical: #GP is the branch's, and its own address is told. */
TEST(InterpreterCases, ConditionalBranchesOutOfUserModeAreLeftToTheCpu)
{
	/* JA +0x7fffffff, in the last page of user mode */
	Alone taken({0x0f, 0x87, 0xff, 0xff, 0xff, 0x7f}, bits_64, 0x7fffffffe000);
	Alone other({0x0f, 0x87, 0xff, 0xff, 0xff, 0x7f}, bits_64, 0x7fffffffe000);

	EXPECT_EQ(taken.interpret(), 0u);
	EXPECT_EQ(taken.registers.ip, 0x7fffffffe000u);
	other.registers.flags = 1;
	EXPECT_EQ(other.interpret(), 0u);
	EXPECT_EQ(other.registers.ip, 0x7fffffffe000u);
}

/* SDM volume 2, "REX Prefixes": only right in front of the opcode. GS is not in the repertoire. */
TEST(InterpreterCases, GsIsGsWhateverIsInFrontOfIt)
{
	EXPECT_EQ(known({0x64, 0x48, 0x8b, 0x08}), 1u);
	EXPECT_EQ(known({0x48, 0x64, 0x8b, 0x08}), 1u);
	EXPECT_EQ(known({0x65, 0x48, 0x8b, 0x08}), 0u);
	EXPECT_EQ(known({0x48, 0x65, 0x8b, 0x08}), 0u);
	EXPECT_EQ(known({0x66, 0x4f, 0x65, 0x8b, 0x08}), 0u);
	EXPECT_EQ(known({0x48, 0x65, 0x66, 0x0f, 0x6f, 0x08}), 0u);
}

/* In 32-bit code it leaves YMM8 to YMM15 alone, which the kernel's would not. */
TEST(InterpreterCases, VzeroupperOf32BitCodeIsLeftToTheCpu)
{
	EXPECT_EQ(known({0xc5, 0xf8, 0x77}, bits_64), 1u);
	EXPECT_EQ(known({0xc5, 0xf8, 0x77}, bits_32), 0u);
}

/* The last one counts, and this is BSR. */
TEST(InterpreterCases, BothRepeatPrefixesAreLeftToTheCpu)
{
	EXPECT_EQ(known({0xf3, 0x0f, 0xbd, 0xc1}), 1u);
	EXPECT_EQ(known({0xf3, 0xf2, 0x0f, 0xbd, 0xc1}), 0u);
	EXPECT_EQ(known({0xf2, 0xf3, 0x0f, 0xbc, 0xc1}), 0u);
}

TEST(InterpreterCases, NothingOf32BitCodeReachesTheEndOf4GiB)
{
	/* NOP, NOP */
	EXPECT_EQ(Alone({0x90, 0x90}, bits_32, 0xfffffffe).known(), 1u);
	EXPECT_EQ(Alone({0x90, 0x90}, bits_64, 0xfffffffe).known(), 2u);
	/* JMP, of which a part lies beyond */
	EXPECT_EQ(Alone({0xeb, 0xfe}, bits_32, 0xffffffff).known(), 0u);

	Alone last({0x90, 0x90}, bits_32, 0xfffffffe);
	EXPECT_EQ(last.interpret(), 1u);
	EXPECT_EQ(last.registers.ip, 0xffffffffu);
}

/* Undefined, and what Intel's CPUs do about it depends on where the operand and the count are. */
TEST(InterpreterCases, RotatingRegistersByAnImmediateLeavesOfAlone)
{
	constexpr unsigned long carry = 1, overflow = 0x800;

	for (const unsigned long given : {0ul, overflow}) {
		/* ROL $9, %eax; ROR $9, %eax */
		Alone left({0xc1, 0xc0, 0x09}, bits_64), right({0xc1, 0xc8, 0x09}, bits_64);

		for (Alone *each : {&left, &right}) {
			each->registers.ax = 0x00800200;
			each->registers.flags = given;
			EXPECT_EQ(each->interpret(), 1u);
			EXPECT_EQ(each->registers.flags & overflow, given);
		}
		EXPECT_EQ(left.registers.ax, 0x00040001u);
		EXPECT_EQ(left.registers.flags & carry, carry);
	}
}

/* By 1 it is defined, also if the count says so only when it has been masked. */
TEST(InterpreterCases, RotatingBy1TellsInOfWhetherTheSignHasChanged)
{
	constexpr unsigned long overflow = 0x800;

	/* ROL %eax; ROL $1, %eax; ROL $33, %eax */
	for (Alone rotation : {Alone({0xd1, 0xc0}, bits_64), Alone({0xc1, 0xc0, 0x01}, bits_64),
			       Alone({0xc1, 0xc0, 0x21}, bits_64)}) {
		x86_registers &r = rotation.registers;

		r.ax = 0x40000000;
		EXPECT_EQ(rotation.interpret(), 1u);
		EXPECT_EQ(r.ax, 0x80000000u);
		EXPECT_EQ(r.flags & overflow, overflow);
	}
}

} // namespace
