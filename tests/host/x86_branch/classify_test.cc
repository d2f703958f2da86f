// SPDX-License-Identifier: GPL-2.0
/* What an instruction is to a tracer: known encodings, and Zydis on random bytes. */
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

#include <Zydis/Zydis.h>
#include <gtest/gtest.h>

#include "branch.h"

namespace {

x86_branch classify(const std::vector<unsigned char> &code, bool long_mode = true,
		    unsigned long ip = 0x1000)
{
	x86_decoded decoded;
	x86_branch branch;

	x86_decode(code.data(), static_cast<unsigned>(code.size()), long_mode, &decoded);
	x86_branch_classify(&decoded, ip, &branch);
	return branch;
}

x86_kind kind(const std::vector<unsigned char> &code, bool long_mode = true)
{
	return static_cast<x86_kind>(classify(code, long_mode).kind);
}

TEST(Classify, KnowsEveryKind)
{
	EXPECT_EQ(kind({0x90}), X86_PLAIN);
	EXPECT_EQ(kind({0x74, 0x05}), X86_COND);
	EXPECT_EQ(kind({0x0f, 0x8f, 1, 2, 3, 4}), X86_COND);
	EXPECT_EQ(kind({0xe3, 0x05}), X86_COUNTED);
	EXPECT_EQ(kind({0xe2, 0xfe}), X86_COUNTED);
	EXPECT_EQ(kind({0xeb, 0xfe}), X86_JUMP);
	EXPECT_EQ(kind({0xe9, 1, 2, 3, 4}), X86_JUMP);
	EXPECT_EQ(kind({0xe8, 1, 2, 3, 4}), X86_CALL);
	EXPECT_EQ(kind({0xff, 0xe0}), X86_INDIRECT_JUMP);
	EXPECT_EQ(kind({0xff, 0x10}), X86_INDIRECT_CALL);
	EXPECT_EQ(kind({0xff, 0x30}), X86_PLAIN); /* PUSH */
	EXPECT_EQ(kind({0xff, 0x28}), X86_FAR);
	EXPECT_EQ(kind({0xc3}), X86_RETURN);
	EXPECT_EQ(kind({0xf2, 0xc3}), X86_RETURN);
	EXPECT_EQ(kind({0xc2, 8, 0}), X86_RETURN);
	EXPECT_EQ(kind({0xcb}), X86_FAR);
	EXPECT_EQ(kind({0x48, 0xcf}), X86_FAR);
	EXPECT_EQ(kind({0x0f, 0x05}), X86_SYSCALL);
	EXPECT_EQ(kind({0x0f, 0x34}), X86_SYSCALL);
	EXPECT_EQ(kind({0xcd, 0x80}), X86_INTERRUPT);
	EXPECT_EQ(kind({0xcc}), X86_INTERRUPT);
	EXPECT_EQ(kind({0xf1}), X86_INTERRUPT);
	EXPECT_EQ(kind({0x0f, 0x0b}), X86_UNDEFINED);
	EXPECT_EQ(kind({0x8e, 0xd0}), X86_SHADOW);
	EXPECT_EQ(kind({0x8e, 0xc0}), X86_PLAIN); /* MOV ES */
	EXPECT_EQ(kind({0x17}, false), X86_SHADOW);
	EXPECT_EQ(kind({0xce}, false), X86_ODD);
	EXPECT_EQ(kind({0xc7, 0xf8, 0, 0, 0, 0}), X86_ODD);
	EXPECT_EQ(kind({0xf3, 0x0f, 0xae, 0xe0}), X86_PTWRITE);
	EXPECT_EQ(kind({0xf3, 0x48, 0x0f, 0xae, 0x20}), X86_PTWRITE);
	EXPECT_EQ(kind({0x0f, 0xae, 0x20}), X86_PLAIN); /* XSAVE */
	EXPECT_EQ(kind({0xf3}), X86_UNKNOWN);
	EXPECT_EQ(kind({0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
			0x66, 0x66, 0x66, 0x90}),
		  X86_UNKNOWN); /* longer than any */
}

TEST(Classify, WhoReadsAndWritesTheFlags)
{
	EXPECT_EQ(classify({0x9c}).pushes_flags, 8);
	EXPECT_EQ(classify({0x66, 0x9c}).pushes_flags, 2);
	EXPECT_EQ(classify({0x9c}, false).pushes_flags, 4);
	EXPECT_EQ(classify({0x9d}).pushes_flags, 0);
	EXPECT_EQ(classify({0xc5, 0xf8, 0x9c, 0xc0}).pushes_flags, 0);
	EXPECT_TRUE(classify({0x9d}).loads_flags);
	EXPECT_TRUE(classify({0x48, 0xcf}).loads_flags);
	EXPECT_FALSE(classify({0x9c}).loads_flags);
	EXPECT_FALSE(classify({0x0f, 0x9d, 0xc0}).loads_flags); /* SETGE */
}

/* Opcodes behind VEX and EVEX that are branches without. */
TEST(Classify, VexIsNoBranch)
{
	EXPECT_EQ(kind({0xc5, 0xf8, 0x77}), X86_PLAIN);	      /* VZEROUPPER */
	EXPECT_EQ(kind({0xc5, 0xf1, 0x74, 0xc2}), X86_PLAIN); /* VPCMPEQB */
	EXPECT_EQ(kind({0xc5, 0xfb, 0xe6, 0xc1}), X86_PLAIN);
	EXPECT_EQ(kind({0xc5, 0xf1, 0xe8, 0xc2}), X86_PLAIN); /* VPSUBSB */
	EXPECT_EQ(kind({0x62, 0xf1, 0x7d, 0x48, 0xe8, 0xc2}), X86_PLAIN);
}

TEST(Classify, TargetsOfDirectBranches)
{
	EXPECT_EQ(classify({0xeb, 0xfe}).target, 0x1000u);
	EXPECT_EQ(classify({0xe8, 0, 0, 0, 0x80}).target, 0x1005ul - 0x80000000ul);
	EXPECT_EQ(classify({0xe8, 0, 0, 0, 0x80}, false).target, 0x80001005u);
	EXPECT_EQ(classify({0x0f, 0x84, 0x10, 0, 0, 0}).target, 0x1016u);
}

TEST(Classify, WhatTheCpuHasToDoItself)
{
	EXPECT_TRUE(classify({0xff, 0x25, 0, 1, 0, 0}).executable); /* JMP *0x100(%rip) */
	EXPECT_FALSE(classify({0x64, 0xff, 0x25, 0, 1, 0, 0}).executable);
	EXPECT_FALSE(classify({0x67, 0xff, 0x10}).executable);
	EXPECT_FALSE(classify({0x66, 0xe8, 0, 0}).executable);
	EXPECT_FALSE(classify({0x66, 0xc3}).executable);
	EXPECT_FALSE(classify({0xff, 0x10}, false).executable);
	EXPECT_TRUE(classify({0xff, 0xd0}, false).executable);
	EXPECT_TRUE(classify({0x3e, 0xff, 0xe0}).executable); /* NOTRACK */
	EXPECT_FALSE(classify({0xcb}).executable);
}

x86_kind kind_by_zydis(const ZydisDecodedInstruction &i)
{
	switch (i.mnemonic) {
	case ZYDIS_MNEMONIC_JMP:
		return i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? X86_FAR
		       : i.raw.imm[0].is_relative		   ? X86_JUMP
								   : X86_INDIRECT_JUMP;
	case ZYDIS_MNEMONIC_CALL:
		return i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? X86_FAR
		       : i.raw.imm[0].is_relative		   ? X86_CALL
								   : X86_INDIRECT_CALL;
	case ZYDIS_MNEMONIC_RET:
		return i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? X86_FAR : X86_RETURN;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		return X86_FAR;
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
		return X86_COUNTED;
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
		return X86_SYSCALL;
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
		return X86_INTERRUPT;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
		return X86_UNDEFINED;
	case ZYDIS_MNEMONIC_INTO:
	case ZYDIS_MNEMONIC_XBEGIN:
		return X86_ODD;
	case ZYDIS_MNEMONIC_PTWRITE:
		return X86_PTWRITE;
	default:
		break;
	}
	if (i.meta.category == ZYDIS_CATEGORY_COND_BR)
		return X86_COND;
	return X86_PLAIN;
}

bool moves_to_ss(const ZydisDecodedInstruction &i, const ZydisDecodedOperand *operands)
{
	return (i.mnemonic == ZYDIS_MNEMONIC_MOV || i.mnemonic == ZYDIS_MNEMONIC_POP) &&
	       operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operands[0].reg.value == ZYDIS_REGISTER_SS;
}

/* Branches often, and the prefixes that change what they are. */
std::array<unsigned char, 15> random_code(std::mt19937_64 &random)
{
	static constexpr unsigned char likely[] = {0x0f, 0xff, 0x70, 0x7f, 0xe0, 0xe3, 0xe8, 0xe9,
						   0xeb, 0xc2, 0xc3, 0x8e, 0xc5, 0xc4, 0x62, 0x48,
						   0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x64, 0xae, 0x05};
	std::array<unsigned char, 15> code;

	for (unsigned char &byte : code)
		byte = static_cast<unsigned char>(random());
	for (unsigned i = 0; i < 4; i++)
		if (random() % 2)
			code[i] = likely[random() % sizeof(likely)];
	return code;
}

/*
 * Encodings that no CPU carries out may be told anything of: they fault. Whatever retires is as long as Zydis says, and of the kind it says.
 */
void compare_with_zydis(bool long_mode)
{
	const char *wanted = std::getenv("PERFRING_SEED");
	const std::uint64_t seed = wanted ? std::strtoull(wanted, nullptr, 0) : 1;
	std::mt19937_64 random(seed);
	ZydisDecoder decoder;
	unsigned compared = 0, branches = 0;

	ZydisDecoderInit(&decoder,
			 long_mode ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
			 long_mode ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	for (unsigned i = 0; i < 2000000; i++) {
		const auto code = random_code(random);
		ZydisDecodedInstruction instruction;
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(),
							 &instruction, operands)))
			continue;
		const auto branch = classify({code.begin(), code.end()}, long_mode);
		auto expected = kind_by_zydis(instruction);

		if (moves_to_ss(instruction, operands))
			expected = X86_SHADOW;
		/* Lengths that CPUs of two makers do not agree on, or never retire. */
		if (instruction.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED ||
		    expected == X86_UNDEFINED || instruction.meta.isa_set == ZYDIS_ISA_SET_KNCJKBR)
			continue;
		if (expected >= X86_COND && expected <= X86_CALL && instruction.operand_width == 16)
			continue;
		const std::string bytes = testing::PrintToString(std::vector<unsigned char>(
			code.begin(), code.begin() + instruction.length));

		ASSERT_EQ(branch.kind, expected) << bytes << " seed " << seed;
		ASSERT_EQ(branch.length, instruction.length) << bytes << " seed " << seed;
		compared++;
		branches += expected != X86_PLAIN;
	}
	EXPECT_GT(compared, 100000u);
	EXPECT_GT(branches, 10000u);
}

TEST(Classify, AgreesWithZydisIn64BitMode)
{
	compare_with_zydis(true);
}

TEST(Classify, AgreesWithZydisIn32BitMode)
{
	compare_with_zydis(false);
}

} // namespace
