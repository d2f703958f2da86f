// SPDX-License-Identifier: GPL-2.0
/* What branches do: the CPU that runs this test is asked, one instruction at a time. */
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "cpu.hh"

namespace {

using Code = std::vector<unsigned char>;

Code random_branch(std::mt19937_64 &random)
{
	const auto byte = [&] { return static_cast<unsigned char>(random()); };
	const auto rex = static_cast<unsigned char>(0x40 | (random() & 0xf));

	switch (random() % 8) {
	case 0:
		return {static_cast<unsigned char>(0x70 | (random() & 0xf)), byte()};
	case 1:
		return {0x0f, static_cast<unsigned char>(0x80 | (random() & 0xf)), byte(), 0, 0, 0};
	case 2:
		return {static_cast<unsigned char>(0xe0 | (random() & 3)), byte()};
	case 3:
		return {0x67, static_cast<unsigned char>(0xe0 | (random() & 3)), byte()};
	case 4:
		return {0xe8, byte(), static_cast<unsigned char>(random() & 3), 0, 0};
	case 5: /* group 5 with any operand */
		return {rex,
			0xff,
			static_cast<unsigned char>((random() % 2 ? 0x10 : 0x20) | (byte() & 0xc7)),
			byte(),
			byte(),
			0,
			0,
			0};
	case 6:
		return {0xc2, static_cast<unsigned char>(byte() & 0xf8), 0};
	default:
		return {0xc3};
	}
}

void give_registers(user_regs_struct &u, const Cpu &cpu, std::mt19937_64 &random)
{
	unsigned long long *all[] = {&u.rax, &u.rbx, &u.rcx, &u.rdx, &u.rsi, &u.rdi, &u.rbp, &u.r8,
				     &u.r9,  &u.r10, &u.r11, &u.r12, &u.r13, &u.r14, &u.r15};
	const auto data = reinterpret_cast<unsigned long long>(cpu.memory + Cpu::page);

	for (auto *reg : all)
		*reg = random() % 3 ? data + random() % 2048 : random() % 16;
	if (random() % 3 == 0)
		u.rcx = random() % 2 ? random() % 3 : (random() << 32) + random() % 3;
	u.rsp = reinterpret_cast<unsigned long long>(cpu.memory + 2 * Cpu::page + 1024) +
		random() % 512;
	u.rip = reinterpret_cast<unsigned long long>(cpu.memory + 512);
	u.eflags = (u.eflags & ~arithmetic_flags) | (random() & arithmetic_flags);
}

/* Words anywhere in the data and stack pages are addresses in the code page. */
void fill(const Cpu &cpu, std::mt19937_64 &random)
{
	const auto code = reinterpret_cast<std::uintptr_t>(cpu.memory);

	for (std::size_t i = 0; i < 2 * Cpu::page; i += 8) {
		const std::uintptr_t word = code + random() % Cpu::page;

		std::memcpy(cpu.memory + Cpu::page + i, &word, sizeof(word));
	}
}

bool is_in(const Cpu &cpu, unsigned long address)
{
	const auto begin = reinterpret_cast<unsigned long>(cpu.memory) + Cpu::page;

	return address >= begin && address <= begin + 2 * Cpu::page - 8;
}

TEST(Execute, DoesWhatTheCpuDoes)
{
	const char *wanted = std::getenv("PERFRING_SEED");
	const std::uint64_t seed = wanted ? std::strtoull(wanted, nullptr, 0) : 1;
	std::mt19937_64 random(seed);
	Cpu cpu;
	unsigned done = 0;

	if (!cpu.usable)
		GTEST_SKIP() << "ptrace is not allowed here";
	for (unsigned i = 0; i < 20000; i++) {
		Code code = random_branch(random);
		user_regs_struct u = cpu.start;
		x86_decoded decoded;
		x86_branch branch;
		x86_outcome outcome;
		unsigned long word = 0;

		code.resize(15, 0x90);
		fill(cpu, random);
		give_registers(u, cpu, random);
		std::memcpy(cpu.memory + 512, code.data(), code.size());
		const x86_registers before = registers_of(u);

		x86_decode(code.data(), 15, 1, &decoded);
		x86_branch_classify(&decoded, u.rip, &branch);
		if (!branch.executable)
			continue;
		if (x86_branch_reads(&branch)) {
			const unsigned long address = x86_branch_address(&branch, &before);

			if (!is_in(cpu, address))
				continue;
			std::memcpy(&word, reinterpret_cast<void *>(address), sizeof(word));
		}
		if (!x86_branch_execute(&branch, &before, word, &outcome))
			continue;
		unsigned long stored = 0;
		if (!cpu.step(u))
			continue;
		const std::string which = "byte " + std::to_string(code[0]) + " seed " +
					  std::to_string(seed) + " round " + std::to_string(i);
		ASSERT_EQ(u.rip, outcome.to) << which;
		ASSERT_EQ(u.rsp, outcome.sp) << which;
		ASSERT_EQ(u.rcx, outcome.cx) << which;
		ASSERT_EQ(u.eflags & arithmetic_flags, before.flags & arithmetic_flags) << which;
		if (outcome.push_bytes) {
			std::memcpy(&stored, reinterpret_cast<void *>(outcome.sp), sizeof(stored));
			ASSERT_EQ(stored, outcome.pushed) << which;
		}
		done++;
	}
	EXPECT_GT(done, 5000u);
}

TEST(Execute, TargetsThatAreNotCanonicalAreLeftToTheCpu)
{
	x86_branch branch = {};
	x86_registers registers = {};
	x86_outcome outcome;

	branch.kind = X86_RETURN;
	branch.long_mode = 1;
	branch.operand.bytes = 8;
	EXPECT_FALSE(x86_branch_execute(&branch, &registers, 0x800000000000, &outcome));
	EXPECT_FALSE(x86_branch_execute(&branch, &registers, 0xffff7fffffffffff, &outcome));
	EXPECT_TRUE(x86_branch_execute(&branch, &registers, 0x7fffffffffff, &outcome));
	EXPECT_TRUE(x86_branch_execute(&branch, &registers, 0xffffffffff600000, &outcome));
}

TEST(Execute, Wraps32BitCode)
{
	x86_branch branch = {};
	x86_registers registers = {};
	x86_outcome outcome;

	branch.kind = X86_CALL;
	branch.target = 0x10;
	branch.next = 0x20;
	registers.sp = 2;
	ASSERT_TRUE(x86_branch_execute(&branch, &registers, 0, &outcome));
	EXPECT_EQ(outcome.sp, 0xfffffffeu);
	EXPECT_EQ(outcome.push_bytes, 4);
}

} // namespace
