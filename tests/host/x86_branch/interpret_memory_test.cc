// SPDX-License-Identifier: GPL-2.0
/* Instructions on memory whose ends matter: strings, and those that change it at once. */
#include <array>
#include <atomic>
#include <cstring>
#include <initializer_list>
#include <thread>

#include <gtest/gtest.h>

#include "interpret.h"

namespace {

using Code = std::initializer_list<unsigned char>;

constexpr unsigned char bits_32 = 1, bits_64 = 2;
constexpr unsigned long page = 4096, arithmetic = 0x8d5, carry = 1, parity = 4, adjust = 0x10,
			zero = 0x40, overflow = 0x800, direction = 0x400;

/* Two pages of data in a row, nothing behind them, and one that is not to be written to. */
constexpr unsigned long data = 0x10000, end = data + 2 * page, fixed = 0x20000;

/* The same page again and again. */
constexpr unsigned long endless = 0x100000, endless_end = 0x200000;

class Small {
    public:
	explicit Small(Code code, unsigned char mode = bits_64)
	{
		x86_decoded decoded;

		std::memset(run.code, 0xf4, sizeof(run.code));
		std::memcpy(run.code, std::data(code), code.size());
		x86_run_begin(&run, 0x1000, mode);
		do {
			x86_decode(run.code + run.bytes, X86_RUN_BYTES - run.bytes, mode == bits_64,
				   &decoded);
			x86_run_translate(&run, &decoded, run.code + run.bytes);
		} while (x86_run_add(&run, &decoded, ~0ul));
		registers.ip = 0x1000;
		registers.flags = 0x202;
		memory.find = find;
		memory.context = this;
		machine.memory = &memory;
		x86_memory_forget(&memory);
		machine.registers = &registers;
		for (unsigned i = 0; i < bytes.size(); i++)
			bytes[i] = static_cast<unsigned char>(i % 251);
	}

	Small(const Small &) = delete;
	Small &operator=(const Small &) = delete;

	/* Is its only instruction done? */
	bool does()
	{
		x86_progress progress;

		x86_interpret(&machine, &run, &progress);
		EXPECT_EQ(registers.ip, 0x1000u + (progress.instructions ? run.behind_ops : 0));
		return progress.instructions;
	}

	unsigned known() const
	{
		return run.ops;
	}

	unsigned char *at(unsigned long address)
	{
		return &bytes[address - data];
	}

	template <class T> T word(unsigned long address)
	{
		T value;

		std::memcpy(&value, at(address), sizeof(value));
		return value;
	}

	template <class T> void put(unsigned long address, T value)
	{
		std::memcpy(at(address), &value, sizeof(value));
	}

	void forget()
	{
		x86_memory_forget(&memory);
	}

	unsigned finds = 0;
	x86_registers registers = {};
	x86_machine machine = {};
	alignas(64) std::array<unsigned char, 2 * page> bytes;

    private:
	static void *find(void *context, unsigned long address, int store)
	{
		auto &self = *static_cast<Small *>(context);

		self.finds++;
		if (address >= data && address < end)
			return self.at(address);
		if (address >= endless && address < endless_end)
			return self.at(data);
		return address == fixed && !store ? self.at(data) : nullptr;
	}

	x86_run run = {};
	x86_memory memory = {};
};

/* ---- the table of pages ---- */

TEST(InterpreterMemory, IsLookedUpOnceUntilItIsForgotten)
{
	/* mov (%rsi), %rax */
	Small load({0x48, 0x8b, 0x06});

	load.registers.si = data;
	/* More often than there are generations. */
	for (unsigned i = 1; i < 5000; i++) {
		EXPECT_TRUE(load.does());
		load.registers.ip = 0x1000;
		EXPECT_TRUE(load.does());
		load.registers.ip = 0x1000;
		ASSERT_EQ(load.finds, i);
		load.forget();
	}
}

/* ---- strings ---- */

TEST(InterpreterStrings, BytesThatOverlapAreReplicated)
{
	Small movs({0xf3, 0xa4});

	*movs.at(data + page - 20) = 0xaa;
	movs.registers.si = data + page - 20;
	movs.registers.di = data + page - 19;
	movs.registers.cx = 100;
	EXPECT_TRUE(movs.does());
	for (unsigned i = 0; i <= 100; i++)
		EXPECT_EQ(*movs.at(data + page - 20 + i), 0xaa) << i;
	EXPECT_EQ(*movs.at(data + page + 81), (page + 81) % 251);
	EXPECT_EQ(movs.registers.cx, 0u);
	EXPECT_EQ(movs.registers.si, data + page + 80);
	EXPECT_EQ(movs.registers.di, data + page + 81);
}

TEST(InterpreterStrings, WordsThatOverlapComeOneAfterTheOther)
{
	Small movs({0xf3, 0x48, 0xa5});

	movs.registers.si = data;
	movs.registers.di = data + 3;
	movs.registers.cx = 40;
	auto wanted = movs.bytes;
	for (unsigned i = 0; i < 40; i++) {
		unsigned char word[8];

		std::memcpy(word, &wanted[8 * i], 8);
		std::memcpy(&wanted[8 * i + 3], word, 8);
	}
	EXPECT_TRUE(movs.does());
	EXPECT_EQ(movs.bytes, wanted);
}

TEST(InterpreterStrings, EndInFrontOfAPageThatIsNotThere)
{
	Small stos({0xf3, 0x66, 0xab});

	stos.registers.ax = 0x1234;
	stos.registers.di = end - 21;
	stos.registers.cx = 50;
	EXPECT_FALSE(stos.does());
	EXPECT_EQ(stos.registers.cx, 40u);
	EXPECT_EQ(stos.registers.di, end - 1);
	EXPECT_EQ(stos.word<unsigned short>(end - 3), 0x1234);
	EXPECT_EQ(*stos.at(end - 1), (2 * page - 1) % 251);
	/* The CPU is to do what is left, of which this is none. */
	EXPECT_FALSE(stos.does());
	EXPECT_EQ(stos.registers.cx, 40u);
}

TEST(InterpreterStrings, AnElementInTwoPagesIsTheCpus)
{
	Small movs({0xf3, 0x48, 0xa5});

	movs.registers.si = data + 8;
	movs.registers.di = data + page - 20;
	movs.registers.cx = 5;
	EXPECT_FALSE(movs.does());
	EXPECT_EQ(movs.registers.cx, 3u);
	EXPECT_EQ(movs.registers.si, data + 24);
	EXPECT_EQ(movs.registers.di, data + page - 4);
}

TEST(InterpreterStrings, NothingIsStoredWhereOnlyReadingIsAllowed)
{
	Small stos({0xaa}), lods({0xac});

	stos.registers.di = lods.registers.si = fixed + 7;
	EXPECT_FALSE(stos.does());
	EXPECT_TRUE(lods.does());
	EXPECT_EQ(lods.registers.ax, 7u);
	EXPECT_EQ(lods.registers.si, fixed + 8);
}

TEST(InterpreterStrings, OfNoneNothingIsTouched)
{
	for (const Code code : {Code{0xf3, 0xa4}, Code{0xf3, 0x48, 0xab}, Code{0xf3, 0xad},
				Code{0xf3, 0xa6}, Code{0xf2, 0xae}}) {
		Small none(code);

		none.registers.si = none.registers.di = 5;
		none.registers.ax = ~0ul;
		none.registers.flags |= arithmetic;
		EXPECT_TRUE(none.does());
		EXPECT_EQ(none.registers.si, 5u);
		EXPECT_EQ(none.registers.di, 5u);
		EXPECT_EQ(none.registers.ax, ~0ul);
		EXPECT_EQ(none.registers.flags, 0x202 | arithmetic);
	}
}

TEST(InterpreterStrings, In32BitsTheCounterAndThePointersHave32)
{
	Small movs({0xf3, 0xa5}, bits_32);

	movs.registers.cx = 0xffffffff00000003;
	movs.registers.si = 0xffffffff00000000 | data;
	movs.registers.di = 0xffffffff00000000 | (data + 1000);
	/* Pages are looked for where 32 bits lead to. */
	EXPECT_TRUE(movs.does());
	EXPECT_EQ(movs.registers.cx, 0u);
	EXPECT_EQ(movs.registers.si, data + 12);
	EXPECT_EQ(movs.registers.di, data + 1012);
	EXPECT_EQ(std::memcmp(movs.at(data), movs.at(data + 1000), 12), 0);
}

TEST(InterpreterStrings, DownwardsIsTheCpus)
{
	for (const Code code : {Code{0xf3, 0xa4}, Code{0xa4}}) {
		Small movs(code);

		movs.registers.si = data + 100;
		movs.registers.di = data + 200;
		movs.registers.cx = 4;
		movs.registers.flags |= direction;
		EXPECT_FALSE(movs.does());
		EXPECT_EQ(movs.registers.si, data + 100);
	}
}

/* SDM volume 2, REP: a fault leaves the flags as they were in front of the instruction. */
TEST(InterpreterStrings, ScansTellOnlyWhenTheyAreDone)
{
	Small scas({0xf2, 0xae}), other({0xf2, 0xae});

	std::memset(scas.at(data), 1, 2 * page);
	*scas.at(data + page + 3) = 0x80;
	scas.registers.di = data + page - 10;
	scas.registers.ax = 0x80;
	scas.registers.cx = ~0ul;
	scas.registers.flags |= overflow | carry;
	EXPECT_TRUE(scas.does());
	EXPECT_EQ(scas.registers.di, data + page + 4);
	EXPECT_EQ(scas.registers.cx, ~0ul - 14);
	EXPECT_EQ(scas.registers.flags & arithmetic, zero | parity);

	std::memset(other.at(data), 1, 2 * page);
	other.registers.di = end - 10;
	other.registers.cx = 100;
	other.registers.flags |= overflow | zero;
	EXPECT_FALSE(other.does());
	EXPECT_EQ(other.registers.di, end);
	EXPECT_EQ(other.registers.cx, 90u);
	EXPECT_EQ(other.registers.flags, 0x202 | overflow | zero);
}

TEST(InterpreterStrings, ComparisonsEndWhereStringsDiffer)
{
	Small cmps({0xf3, 0xa6});

	std::memset(cmps.at(data), 7, 2 * page);
	*cmps.at(data + 105) = 8;
	cmps.registers.si = data;
	cmps.registers.di = data + 100;
	cmps.registers.cx = 20;
	EXPECT_TRUE(cmps.does());
	EXPECT_EQ(cmps.registers.cx, 14u);
	EXPECT_EQ(cmps.registers.si, data + 6);
	/* 7 - 8 */
	EXPECT_EQ(cmps.registers.flags & arithmetic, carry | adjust | parity | 0x80);
}

TEST(InterpreterStrings, WhoeverWaitsDoesNotWaitForLong)
{
	Small stos({0xf3, 0xaa});

	stos.registers.di = endless;
	stos.registers.cx = 100000;
	EXPECT_FALSE(stos.does());
	EXPECT_LE(100000 - stos.registers.cx, 10000u);
	EXPECT_GE(100000 - stos.registers.cx, 500u);
	EXPECT_EQ(stos.registers.di, endless + 100000 - stos.registers.cx);
}

TEST(InterpreterStrings, WhatIsOutOfTheOrdinaryIsTheCpus)
{
	EXPECT_EQ(Small({0xf2, 0xa4}).known(), 0u);
	EXPECT_EQ(Small({0x64, 0xa4}).known(), 0u);
	EXPECT_EQ(Small({0x2e, 0xa4}).known(), 0u);
	EXPECT_EQ(Small({0x67, 0xf3, 0xa4}).known(), 0u);
	EXPECT_EQ(Small({0xf0, 0xa4}).known(), 0u);
	EXPECT_EQ(Small({0xf3, 0xf2, 0xa6}).known(), 0u);
	EXPECT_EQ(Small({0xf2, 0xa6}).known(), 1u);
}

/* ---- at once ---- */

TEST(InterpreterLocks, AddToWhatIsThere)
{
	/* LOCK ADD %ecx, (%rdi) */
	Small add({0xf0, 0x01, 0x0f});

	add.put<unsigned>(data + page - 4, 0x7fffffff);
	add.registers.di = data + page - 4;
	add.registers.cx = 1;
	EXPECT_TRUE(add.does());
	EXPECT_EQ(add.word<unsigned>(data + page - 4), 0x80000000u);
	EXPECT_EQ(add.registers.flags & arithmetic, overflow | 0x80 | adjust | parity);
}

TEST(InterpreterLocks, WhatIsNotAlignedIsTheCpus)
{
	/* LOCK ADD, LOCK XADD, LOCK CMPXCHG, XCHG, LOCK INCQ, LOCK BTS */
	for (const Code code :
	     {Code{0xf0, 0x01, 0x0f}, Code{0xf0, 0x0f, 0xc1, 0x0f}, Code{0xf0, 0x0f, 0xb1, 0x0f},
	      Code{0x87, 0x0f}, Code{0xf0, 0x48, 0xff, 0x07}, Code{0xf0, 0x0f, 0xba, 0x2f, 0x01}}) {
		for (const unsigned long address : {data + 2, data + 62, data + page - 2}) {
			Small odd(code);
			const auto before = odd.bytes;

			odd.registers.di = address;
			odd.registers.cx = 3;
			EXPECT_FALSE(odd.does());
			EXPECT_EQ(odd.bytes, before);
			EXPECT_EQ(odd.registers.cx, 3u);
		}
		Small even(code);
		even.registers.di = data + 64;
		EXPECT_TRUE(even.does());
	}
}

TEST(InterpreterLocks, WithoutLockItNeedNotBeAligned)
{
	/* XADD %ecx, (%rdi) */
	Small xadd({0x0f, 0xc1, 0x0f});

	xadd.put<unsigned>(data + 62, 5);
	xadd.registers.di = data + 62;
	xadd.registers.cx = ~0ul;
	EXPECT_TRUE(xadd.does());
	EXPECT_EQ(xadd.word<unsigned>(data + 62), 4u);
	EXPECT_EQ(xadd.registers.cx, 5u);
	EXPECT_EQ(xadd.registers.flags & arithmetic, carry | adjust);
}

/* SDM volume 2, LOCK: #UD without a memory operand, and of any other instruction. */
TEST(InterpreterLocks, WhereLockIsNotAllowedItIsTheCpus)
{
	for (const Code code :
	     {Code{0xf0, 0x01, 0xcf}, Code{0xf0, 0x39, 0x0f}, Code{0xf0, 0x03, 0x0f},
	      Code{0xf0, 0x89, 0x0f}, Code{0xf0, 0x83, 0x3f, 0x01}, Code{0xf0, 0x85, 0x0f},
	      Code{0xf0, 0xf7, 0x07, 1, 0, 0, 0}, Code{0xf0, 0x0f, 0xba, 0x27, 0x01},
	      Code{0xf0, 0x0f, 0xb1, 0xcf}, Code{0xf0, 0x0f, 0xc1, 0xcf}, Code{0xf0, 0x87, 0xcf},
	      Code{0xf0, 0x90}, Code{0xf0, 0xff, 0x37}, Code{0xf0, 0xff, 0x17}, Code{0xf0, 0x04, 1},
	      Code{0xf0, 0x0f, 0x1f, 0x07}, Code{0xf0, 0xd1, 0x07}})
		EXPECT_EQ(Small(code).known(), 0u) << unsigned(std::data(code)[1]);
}

TEST(InterpreterLocks, TransactionsHintsAreTheCpus)
{
	EXPECT_EQ(Small({0xf2, 0xf0, 0x01, 0x0f}).known(), 0u);
	EXPECT_EQ(Small({0xf3, 0x87, 0x0f}).known(), 0u);
}

TEST(InterpreterLocks, GsIsGsBehindLock)
{
	EXPECT_EQ(Small({0x64, 0xf0, 0x01, 0x0f}).known(), 1u);
	EXPECT_EQ(Small({0xf0, 0x64, 0x01, 0x0f}).known(), 1u);
	EXPECT_EQ(Small({0xf0, 0x65, 0x01, 0x0f}).known(), 0u);
}

/* It is written to, even if it stays what it was. */
TEST(InterpreterLocks, AComparisonThatFailsStoresAsWell)
{
	/* LOCK CMPXCHG %rcx, (%rdi), and without */
	for (const Code code : {Code{0xf0, 0x48, 0x0f, 0xb1, 0x0f}, Code{0x48, 0x0f, 0xb1, 0x0f}}) {
		Small there(code), read_only(code);

		there.put<unsigned long>(data, 7);
		there.registers.di = data;
		there.registers.ax = 8;
		there.registers.cx = 9;
		EXPECT_TRUE(there.does());
		EXPECT_EQ(there.registers.ax, 7u);
		EXPECT_EQ(there.word<unsigned long>(data), 7u);
		EXPECT_EQ(there.registers.flags & arithmetic, 0u);

		read_only.registers.di = fixed;
		read_only.registers.ax = 8;
		EXPECT_FALSE(read_only.does());
		EXPECT_EQ(read_only.registers.ax, 8u);

		there.registers.ip = 0x1000;
		EXPECT_TRUE(there.does());
		EXPECT_EQ(there.registers.ax, 7u);
		EXPECT_EQ(there.word<unsigned long>(data), 9u);
		EXPECT_EQ(there.registers.flags & arithmetic, zero | parity);
	}
}

TEST(InterpreterLocks, ExchangeIsLockedByItself)
{
	/* XCHG %cl, (%rdi) */
	Small xchg({0x86, 0x0f});

	xchg.registers.di = data + 9;
	xchg.registers.cx = 0x1234;
	EXPECT_TRUE(xchg.does());
	EXPECT_EQ(xchg.registers.cx, 0x1209u);
	EXPECT_EQ(*xchg.at(data + 9), 0x34);
}

/* Others use the same page meanwhile. */
TEST(InterpreterLocks, NothingIsLostBetweenCpus)
{
	constexpr unsigned times = 100000;

	/* LOCK INCQ; LOCK ADD %rcx; LOCK XADD %rcx; LOCK SUB $-1; LOCK ADC $1 with CF clear */
	for (const Code code :
	     {Code{0xf0, 0x48, 0xff, 0x07}, Code{0xf0, 0x48, 0x01, 0x0f},
	      Code{0xf0, 0x48, 0x0f, 0xc1, 0x0f}, Code{0xf0, 0x48, 0x83, 0x2f, 0xff},
	      Code{0xf0, 0x48, 0x83, 0x17, 1}}) {
		Small mine(code);
		auto *const word = reinterpret_cast<unsigned long *>(mine.at(data + 64));

		mine.put<unsigned long>(data + 64, 0);
		std::atomic<bool> stops{false};
		std::atomic<unsigned long> others{0};
		std::thread other([&] {
			while (!stops) {
				__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
				others++;
			}
		});
		while (!others)
			std::this_thread::yield();
		for (unsigned i = 0; i < times; i++) {
			mine.registers.ip = 0x1000;
			mine.registers.di = data + 64;
			mine.registers.cx = 1;
			mine.registers.flags = 0x202;
			ASSERT_TRUE(mine.does());
		}
		stops = true;
		other.join();
		EXPECT_EQ(mine.word<unsigned long>(data + 64), others + times);
	}
}

/* ---- what not every CPU knows, and what is rare ---- */

TEST(InterpreterBits, WhatTheCpuDoesNotKnowIsItsOwn)
{
	/* POPCNT, CRC32, MOVBE, ANDN, RORX */
	for (const Code code : {Code{0xf3, 0x0f, 0xb8, 0xc1}, Code{0xf2, 0x0f, 0x38, 0xf0, 0xc1},
				Code{0x0f, 0x38, 0xf0, 0x07}, Code{0xc4, 0xe2, 0x78, 0xf2, 0xc1},
				Code{0xc4, 0xe3, 0x7b, 0xf0, 0xc1, 0x05}}) {
		Small lacking(code);

		lacking.registers.di = data;
		lacking.machine.can = X86_CAN_SSE2 | X86_CAN_AVX2;
		EXPECT_EQ(lacking.known(), 1u);
		EXPECT_FALSE(lacking.does());
		EXPECT_EQ(lacking.registers.ax, 0u);
	}
}

/* SDM volume 2, section 2.6.16 */
TEST(InterpreterBits, WhatIsUndefinedIsTheCpus)
{
	/* ANDN with VEX.L; RORX with a third register; BLSR's neighbour; MOVBE of registers */
	EXPECT_EQ(Small({0xc4, 0xe2, 0x7c, 0xf2, 0xc1}).known(), 0u);
	EXPECT_EQ(Small({0xc4, 0xe3, 0x73, 0xf0, 0xc1, 0x05}).known(), 0u);
	EXPECT_EQ(Small({0xc4, 0xe2, 0x78, 0xf3, 0xc1}).known(), 0u);
	EXPECT_EQ(Small({0xc4, 0xe2, 0x78, 0xf3, 0xc9}).known(), 1u);
	EXPECT_EQ(Small({0x0f, 0x38, 0xf0, 0xc1}).known(), 0u);
	EXPECT_EQ(Small({0xf0, 0x0f, 0x38, 0xf1, 0x07}).known(), 0u);
}

TEST(InterpreterRarities, FlagsGoToAhAndComeFromThere)
{
	Small lahf({0x9f}), sahf({0x9e});

	lahf.registers.flags = 0x202 | arithmetic;
	EXPECT_TRUE(lahf.does());
	EXPECT_EQ(lahf.registers.ax, 0xd700u);
	sahf.registers.ax = 0xff00;
	EXPECT_TRUE(sahf.does());
	EXPECT_EQ(sahf.registers.flags, 0x202 | (arithmetic & ~overflow));
}

TEST(InterpreterRarities, OrderAndDirection)
{
	Small cld({0xfc});

	cld.registers.flags |= direction | carry;
	EXPECT_TRUE(cld.does());
	EXPECT_EQ(cld.registers.flags, 0x202u | carry);
	/* LFENCE, SFENCE, PREFETCHW */
	for (const Code code :
	     {Code{0x0f, 0xae, 0xe8}, Code{0x0f, 0xae, 0xf8}, Code{0x0f, 0x0d, 0x0f}}) {
		Small fence(code);

		EXPECT_TRUE(fence.does());
	}
	/* MFENCE, STD, CLFLUSH, TPAUSE, INCSSP */
	EXPECT_EQ(Small({0x0f, 0xae, 0xf0}).known(), 0u);
	EXPECT_EQ(Small({0xfd}).known(), 0u);
	EXPECT_EQ(Small({0x0f, 0xae, 0x3f}).known(), 0u);
	EXPECT_EQ(Small({0x66, 0x0f, 0xae, 0xf0}).known(), 0u);
	EXPECT_EQ(Small({0xf3, 0x0f, 0xae, 0xe8}).known(), 0u);
}

} // namespace
