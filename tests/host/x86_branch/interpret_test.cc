// SPDX-License-Identifier: GPL-2.0
/*
 * What instructions do to registers, flags and memory: random runs of them are carried out
 * by the interpreter, and stepped by the CPU that runs this test.
 */
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cpu.hh"
#include "known.hh"
#include "op.hh"
#include "sanitized.hh"

namespace {

using Code = std::vector<unsigned char>;
using Random = std::mt19937_64;

constexpr std::size_t page = Cpu::page;

std::uint64_t seed()
{
	const char *wanted = std::getenv("PERFRING_SEED");

	return wanted ? std::strtoull(wanted, nullptr, 0) : 1;
}

/* PERFRING_ITERATIONS of a hundred. */
unsigned rounds(unsigned usual)
{
	const char *wanted = std::getenv("PERFRING_ITERATIONS");

	return wanted ? static_cast<unsigned>(std::strtoul(wanted, nullptr, 0)) : usual;
}

template <class T> T pick(Random &random, std::initializer_list<T> from)
{
	return from.begin()[random() % from.size()];
}

/* Opcodes that the interpreter knows, and some that it does not. */
unsigned char one_byte_opcode(Random &random)
{
	switch (random() % 9) {
	case 8:
		return static_cast<unsigned char>(random() % 8 ? 0xa4 + random() % 12 : 0xfc);
	case 0:
	case 1:
		return static_cast<unsigned char>((random() & 7) << 3 | random() % 6);
	case 2:
		return static_cast<unsigned char>(0x50 | (random() & 0xf));
	case 3:
		return static_cast<unsigned char>(0x80 | (random() & 0xf));
	case 4:
		return static_cast<unsigned char>(0x90 | (random() & 0xf));
	case 5:
		return static_cast<unsigned char>(0xb0 | (random() & 0xf));
	case 6:
		return pick<unsigned char>(random, {0xc0, 0xc1, 0xd0, 0xd1, 0xd2, 0xd3, 0xf6, 0xf7,
						    0xf6, 0xf7, 0xfe, 0xff, 0x69, 0x6b, 0x63});
	default:
		return pick<unsigned char>(random,
					   {0x40, 0x4f, 0x68, 0x6a, 0xa8, 0xa9, 0xc6, 0xc7, 0xc9,
					    0xf5, 0xf8, 0xf9, 0x8d, 0x63, 0x86, 0x87});
	}
}

unsigned char two_byte_opcode(Random &random)
{
	return pick<unsigned char>(random, {static_cast<unsigned char>(0x40 | (random() & 0xf)),
					    static_cast<unsigned char>(0x90 | (random() & 0xf)),
					    0xb6,
					    0xb7,
					    0xbe,
					    0xbf,
					    0xaf,
					    0xa3,
					    0xab,
					    0xb3,
					    0xbb,
					    0xba,
					    0xbc,
					    0xbd,
					    0xa4,
					    0xa5,
					    0xac,
					    0xad,
					    0x1f,
					    0x18,
					    static_cast<unsigned char>(0xc8 | (random() & 7)),
					    0xbc,
					    0xbd,
					    0xb6,
					    0xbe,
					    0xb0,
					    0xb1,
					    0xc0,
					    0xc1,
					    0xba,
					    0xb8,
					    0xae,
					    0x0d});
}

/* POPCNT, CRC32, MOVBE, and what VEX makes of general registers. */
void add_bits_opcode(Code &code, Random &random, bool long_mode)
{
	const auto rex = static_cast<unsigned char>(0x40 | (random() & 0xf));

	if (random() % 3) {
		const bool third = random() % 4 == 0;

		code.insert(code.end(),
			    {0xc4,
			     static_cast<unsigned char>((long_mode ? random() & 0xe0 : 0xe0) |
							(third ? 3 : 2)),
			     static_cast<unsigned char>((random() & 0x80) |
							(third ? 0x7b : random() & 0x7b)),
			     third ? static_cast<unsigned char>(0xf0)
				   : pick<unsigned char>(random, {0xf2, 0xf3, 0xf5, 0xf6, 0xf7})});
		return;
	}
	if (random() % 4 == 0)
		code.push_back(0x66);
	if (random() % 3 == 0)
		code.push_back(0xf3);
	else if (random() % 2)
		code.push_back(0xf2);
	if (long_mode && random() % 2)
		code.push_back(rex);
	if (random() % 3 == 0)
		code.insert(code.end(), {0x0f, 0xb8});
	else
		code.insert(code.end(),
			    {0x0f, 0x38, static_cast<unsigned char>(0xf0 | random() % 2)});
}

/* Of vectors: an opcode behind 0F, with a prefix that makes something of it. */
void add_vector_opcode(Code &code, Random &random, bool long_mode)
{
	const unsigned char opcode =
		pick<unsigned char>(random, {0x10,
					     0x11,
					     0x12,
					     0x13,
					     0x16,
					     0x17,
					     0x28,
					     0x29,
					     0x54,
					     0x55,
					     0x56,
					     0x57,
					     0x6e,
					     0x7e,
					     0xd6,
					     0x6f,
					     0x7f,
					     0x70,
					     0xd7,
					     0x77,
					     0x6e,
					     0x7e,
					     0x6f,
					     0x7f,
					     static_cast<unsigned char>(0x60 | (random() & 0xf)),
					     static_cast<unsigned char>(0x70 | (random() & 0xf)),
					     static_cast<unsigned char>(0xd0 | (random() & 0xf)),
					     static_cast<unsigned char>(0xe0 | (random() & 0xf)),
					     static_cast<unsigned char>(0xf0 | (random() & 0xf))});

	if (random() % 2) {
		if (random() % 8)
			code.push_back(pick<unsigned char>(random, {0x66, 0x66, 0xf3, 0xf2}));
		if (long_mode && random() % 2)
			code.push_back(static_cast<unsigned char>(0x40 | (random() & 0xf)));
		code.insert(code.end(), {0x0f, opcode});
		return;
	}
	/* VEX: mostly without a third register, or with 66; in 32-bit code all bits set. */
	const auto other = static_cast<unsigned char>(random() % 2 ? 0x78 : random() & 0x78);
	const auto last = static_cast<unsigned char>(other | (random() & 4) |
						     (random() % 2 ? 1 : random() & 3));
	if (random() % 2) {
		code.insert(code.end(), {0xc5,
					 static_cast<unsigned char>(
						 last | (long_mode ? random() & 0x80 : 0x80)),
					 opcode});
		return;
	}
	const bool second = random() % 3 == 0;
	code.insert(code.end(),
		    {0xc4,
		     static_cast<unsigned char>((long_mode ? random() & 0xe0 : 0xe0) |
						(second ? 2 : 1)),
		     static_cast<unsigned char>(last | (random() % 4 ? 0 : 0x80)),
		     second ? pick<unsigned char>(random, {0x17, 0x58, 0x59, 0x78, 0x79, 0x5a})
			    : opcode});
}

/* Prefixes, opcode, and what fits behind any opcode, with displacements that lead to data. */
Code random_instruction(Random &random, bool long_mode)
{
	Code code;

	const bool bits = random() % 8 == 0, vector = bits || random() % 3 == 0;

	if (!vector && random() % 5 == 0)
		code.push_back(0x66);
	if (long_mode && random() % 12 == 0)
		code.push_back(pick<unsigned char>(random, {0x64, 0x2e, 0x65}));
	if (!vector && random() % 6 == 0)
		code.push_back(pick<unsigned char>(random, {0xf3, 0xf2, 0xf0, 0xf0, 0xf3, 0x67}));
	if (!vector && long_mode && random() % 3)
		code.push_back(static_cast<unsigned char>(0x40 | (random() & 0xf)));
	if (bits) {
		add_bits_opcode(code, random, long_mode);
	} else if (vector) {
		add_vector_opcode(code, random, long_mode);
	} else if (random() % 3 == 0) {
		code.push_back(0x0f);
		code.push_back(two_byte_opcode(random));
	} else {
		code.push_back(one_byte_opcode(random));
	}
	code.push_back(static_cast<unsigned char>(random()));
	if (random() % 2)
		code.push_back(static_cast<unsigned char>(random()));
	code.push_back(static_cast<unsigned char>(random()));
	code.push_back(pick<unsigned char>(random, {0, 0x10, 0xff}));
	for (unsigned i = 0; i < 9; i++)
		code.push_back(static_cast<unsigned char>(i < 2 || random() % 4 ? 0 : random()));
	return code;
}

Code random_end(Random &random)
{
	const auto byte = [&] { return static_cast<unsigned char>(random()); };

	switch (random() % 6) {
	case 0:
		return {static_cast<unsigned char>(0x70 | (random() & 0xf)), byte()};
	case 1:
		return {0x0f, static_cast<unsigned char>(0x80 | (random() & 0xf)), byte(), 0, 0, 0};
	case 2:
		return {0xe8, byte(), static_cast<unsigned char>(random() & 3), 0, 0};
	case 3:
		return {0xff,
			static_cast<unsigned char>((random() % 2 ? 0x10 : 0x20) | (byte() & 0xc7)),
			byte(),
			byte(),
			0,
			0};
	case 4:
		return random() % 2 ? Code{0xc3}
				    : Code{0xc2, static_cast<unsigned char>(byte() & 0xf8), 0};
	default:
		return {0xeb, byte()};
	}
}

/* As the stepper builds it. */
x86_run build(const unsigned char *code, unsigned long start, unsigned char mode)
{
	x86_run run = {};
	x86_decoded decoded;

	std::memcpy(run.code, code, X86_RUN_BYTES);
	x86_run_begin(&run, start, mode);
	do {
		x86_decode(run.code + run.bytes, X86_RUN_BYTES - run.bytes, mode == 2, &decoded);
		x86_run_translate(&run, &decoded, run.code + run.bytes);
	} while (x86_run_add(&run, &decoded, ~0ul));
	return run;
}

/*
 * Shifts by an immediate other than 1: OF is undefined (SDM volume 2, SAL, RCL, SHLD), and
 * CPUs make of it something else than for the same count in CL.
 */
bool leaves_of_undefined(const x86_decoded &d)
{
	const bool by_immediate =
		d.map == X86_MAP_1 ? (d.opcode & 0xfe) == 0xc0
				   : d.map == X86_MAP_0F && (d.opcode == 0xa4 || d.opcode == 0xac);

	return by_immediate && (d.immediate & 63) != 1;
}

/*
 * A machine whose memory is a copy of the CPU's, its pages apart from one another. They can be
 * withheld, or not be there for stores.
 */
class Machine {
    public:
	explicit Machine(const Cpu &cpu) : cpu(cpu), copy(6 * page)
	{
		for (unsigned i = 0; i < 3; i++)
			std::memcpy(copy_of(i), cpu.memory + i * page, page);
		memory.find = find;
		memory.context = this;
		machine.memory = &memory;
		x86_memory_forget(&memory);
		machine.registers = &registers;
	}

	/*
	 * With the vectors that are given in this CPU's registers, as the kernel has the
	 * task's, and what has become of them.
	 */
	x86_progress run(const x86_run &run, Vectors &vectors)
	{
		x86_progress progress;

		if (machine.can & X86_CAN_SSE2)
			with_vectors(run, progress, vectors);
		else
			x86_interpret(&machine, &run, &progress);
		return progress;
	}

	/* Vector registers are the task's here as well. */
	[[gnu::target("general-regs-only")]] static void *find(void *context, unsigned long address,
							       int store)
	{
		auto &self = *static_cast<Machine *>(context);
		const unsigned long offset =
			address - reinterpret_cast<unsigned long>(self.cpu.memory);

		if (address % page)
			std::abort();
		/* Not into the code: that is the stepper's business. */
		if (offset >= 3 * page || (store && offset < page))
			return nullptr;
		if (self.withheld >> offset / page & 1 ||
		    (store && self.read_only >> offset / page & 1))
			return nullptr;
		return self.copy_of(offset / page);
	}

	[[gnu::target("avx2"), gnu::noinline]] void
	with_vectors(const x86_run &run, x86_progress &progress, Vectors &vectors)
	{
#define LOAD(n) "vmovups 32*" #n "(%%rbx), %%ymm" #n "\n\t"
#define STORE(n) "vmovups %%ymm" #n ", 32*" #n "(%%rbx)\n\t"
#define ALL(do)                                                                                    \
	do                                                                                         \
	(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(  \
		14) do(15)
		register void (*entry)(x86_machine *, const x86_run *, x86_progress *) asm("r13") =
			x86_interpret;
		x86_machine *first = &machine;
		const x86_run *second = &run;
		x86_progress *third = &progress;

		asm volatile(
			"mov %%rsp, %%r12\n\tsub $256, %%rsp\n\tand $-64, %%rsp\n\t" ALL(
				LOAD) "call *%%r13\n\t" ALL(STORE) "vzeroupper\n\tmov %%r12, %%rsp"
			: "+D"(first), "+S"(second), "+d"(third)
			: "b"(vectors.data()), "r"(entry)
			: "rax", "rcx", "r8", "r9", "r10", "r11", "r12", "memory", "cc", "xmm0",
			  "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			  "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#undef LOAD
#undef STORE
#undef ALL
	}

	unsigned char *copy_of(std::size_t which)
	{
		return copy.data() + 2 * page * which;
	}

	bool is_same(std::size_t which, const unsigned char *as)
	{
		return std::memcmp(copy_of(which), as, page) == 0;
	}

	const Cpu &cpu;
	std::vector<unsigned char> copy;
	x86_memory memory = {};
	x86_machine machine = {};
	x86_registers registers = {};
	unsigned withheld = 0;
	unsigned read_only = 0;
};

void give_registers(user_regs_struct &u, const Cpu &cpu, Random &random, bool long_mode)
{
	unsigned long long *all[] = {&u.rax, &u.rbx, &u.rcx, &u.rdx, &u.rsi, &u.rdi, &u.rbp, &u.r8,
				     &u.r9,  &u.r10, &u.r11, &u.r12, &u.r13, &u.r14, &u.r15};
	const auto memory = reinterpret_cast<unsigned long long>(cpu.memory);

	for (auto *reg : all) {
		switch (random() % 6) {
		case 0:
			*reg = random();
			break;
		case 1:
			*reg = random() % 16 - 8;
			break;
		case 2:
			*reg = 1ull << random() % 64;
			break;
		default:
			*reg = memory + page + 256 + random() % 7168;
		}
		if (!long_mode)
			*reg &= 0xffffffff;
	}
	if (random() % 2)
		u.rcx = random() % 24;
	u.rsp = memory + 2 * page + 1024 + random() % 512 * 4;
	u.rip = memory + 512;
	u.eflags = (u.eflags & ~arithmetic_flags) | (random() & arithmetic_flags);
	u.fs_base = long_mode ? memory + page + random() % 512 - memory % 8 : 0;
	if (!long_mode) {
		u.cs = 0x23;
		u.ds = u.es = u.ss = 0x2b;
		u.r8 = u.r9 = u.r10 = u.r11 = u.r12 = u.r13 = u.r14 = u.r15 = 0;
	}
}

std::string bytes_of(const x86_run &run)
{
	static const char digits[] = "0123456789abcdef";
	std::string text;

	for (unsigned i = 0; i < run.bytes; i++) {
		text += digits[run.code[i] >> 4];
		text += digits[run.code[i] & 15];
		text += i + 1 < run.bytes && run.begins[(i + 1) / 64] >> (i + 1) % 64 & 1 ? " | "
											  : " ";
	}
	return text;
}

class Interpret : public testing::Test {
    protected:
	void SetUp() override
	{
		if (!cpu.usable)
			GTEST_SKIP() << "ptrace is not allowed here";
	}

	/* Code and data at random; the run is what the code begins with. */
	x86_run prepare(unsigned instructions, bool long_mode)
	{
		unsigned char *to = cpu.memory + 512, *end = to + X86_RUN_BYTES;

		for (std::size_t i = 0; i < 3 * page; i += 8) {
			const std::uint64_t word =
				random() % 2 ? random()
					     : reinterpret_cast<std::uint64_t>(cpu.memory) +
						       random() % page;

			std::memcpy(cpu.memory + i, &word, sizeof(word));
		}
		while (instructions-- && to + 17 < end) {
			const Code code = random_instruction(random, long_mode);
			x86_decoded decoded;

			x86_decode(code.data(), 15, long_mode, &decoded);
			std::memcpy(to, code.data(), decoded.length);
			to += decoded.length;
			/* TEST, so that nobody sees it. */
			if (leaves_of_undefined(decoded)) {
				*to++ = 0x84;
				*to++ = 0xc0;
			}
		}
		const Code code = random_end(random);
		std::memcpy(to, code.data(), code.size());
		return build(cpu.memory + 512, reinterpret_cast<unsigned long>(cpu.memory) + 512,
			     long_mode ? 2 : 1);
	}

	Vectors random_vectors()
	{
		Vectors vectors;

		for (auto &vector : vectors)
			for (auto &byte : vector.byte)
				byte = static_cast<unsigned char>(random() % 3 ? random() : 0);
		return vectors;
	}

	static bool is_of_undefined_behind(const x86_run &run, unsigned instructions)
	{
		x86_decoded decoded;

		if (!instructions || instructions > run.ops)
			return false;
		const unsigned at = run.op[instructions - 1].offset;
		x86_decode(run.code + at, 15, run.mode == 2, &decoded);
		return leaves_of_undefined(decoded);
	}

	/* The CPU stops behind each element. */
	bool step_all(user_regs_struct &u, bool is_string)
	{
		const unsigned long long ip = u.rip;

		do {
			if (!cpu.step(u))
				return false;
		} while (is_string && u.rip == ip);
		return true;
	}

	/* Elements that have been done of a string that has not; flags are not its own yet. */
	bool step_part(user_regs_struct &u, const x86_run &run, const x86_progress &progress,
		       const x86_registers &ours)
	{
		const unsigned next = progress.instructions;
		const unsigned long long flags = u.eflags;

		if (next >= run.ops || run.op[next].code != x86_emu::string)
			return true;
		while (u.rcx != ours.cx)
			if (!cpu.step(u) || u.rip != progress.to)
				return false;
		u.eflags = flags;
		return true;
	}

	/* What both make of it. False: the interpreter has done nothing. */
	void compare(const x86_run &run, const user_regs_struct &given, Machine &machine,
		     const std::string &which)
	{
		user_regs_struct u = given;

		machine.registers = registers_of(given);
		machine.machine.fs_base = given.fs_base;
		Vectors vectors = random_vectors(), then = {};
		machine.machine.can = known_to_cpu();
		if (has_vectors) {
			machine.machine.can |=
				X86_CAN_SSE2 | X86_CAN_AVX2 | X86_CAN_SSE4 | X86_CAN_FLOAT;
			ASSERT_TRUE(cpu.set_vectors(vectors));
		}
		const std::vector<unsigned char> before(cpu.memory, cpu.memory + 3 * page);
		const x86_progress progress = machine.run(run, vectors);
		for (unsigned i = 0; i < progress.instructions; i++)
			ASSERT_TRUE(step_all(u, i < run.ops && run.op[i].code == x86_emu::string))
				<< which << ": the CPU does not do " << i;
		ASSERT_TRUE(step_part(u, run, progress, machine.registers))
			<< which << ": the CPU does not do the elements";
		x86_registers wanted = registers_of(u);
		if (is_of_undefined_behind(run, progress.instructions))
			wanted.flags =
				(wanted.flags & ~0x800ul) | (machine.registers.flags & 0x800);
		ASSERT_EQ(machine.registers.ip, progress.instructions ? progress.to : given.rip)
			<< which;
		done += progress.instructions;
		for (unsigned i = 0; i < progress.instructions && i < run.ops; i++)
			codes[run.op[i].code]++;
		const auto *a = reinterpret_cast<const unsigned long *>(&machine.registers);
		const auto *b = reinterpret_cast<const unsigned long *>(&wanted);
		for (unsigned i = 0; i < sizeof(wanted) / sizeof(long); i++)
			ASSERT_EQ(a[i], b[i])
				<< which << ": word " << i << " after " << progress.instructions;
		if (has_vectors) {
			ASSERT_TRUE(cpu.vectors(then));
			for (unsigned i = 0; i < (run.mode == 2 ? 16 : 8); i++)
				ASSERT_EQ(std::memcmp(&vectors[i], &then[i], 32), 0)
					<< which << ": vector register " << i;
		}
		for (unsigned i = 0; i < 3; i++) {
			ASSERT_TRUE(machine.is_same(i, cpu.memory + i * page))
				<< which << ": page " << i;
			if (machine.read_only >> i & 1) {
				ASSERT_TRUE(machine.is_same(i, before.data() + i * page))
					<< which << ": page " << i << " was not to be written to";
			}
		}
	}

	void random_runs(bool long_mode, unsigned usual, unsigned least)
	{
		for (unsigned i = 0; i < rounds(usual) && !HasFatalFailure(); i++) {
			const x86_run run = prepare(static_cast<unsigned>(random() % 6), long_mode);
			user_regs_struct u = cpu.start;

			give_registers(u, cpu, random, long_mode);
			Machine machine(cpu);
			machine.withheld = random() % 4 ? 0 : random() & 7;
			machine.read_only = random() % 4 ? 0 : random() & 7;
			compare(run, u, machine,
				bytes_of(run) + "seed " + std::to_string(seed()) + " round " +
					std::to_string(i));
		}
		if (!std::getenv("PERFRING_ITERATIONS")) {
			EXPECT_GT(done, least);
		}
	}

	Random random{seed()};
	Cpu cpu;
	const bool has_vectors = !is_sanitized && __builtin_cpu_supports("avx2");
	unsigned done = 0;
	std::map<unsigned, unsigned> codes;
};

TEST_F(Interpret, DoesWhatTheCpuDoesIn64Bits)
{
	random_runs(true, 48000, 20000);
	/* Each kind of operation has had its turn. */
	EXPECT_GT(codes.size(), has_vectors ? 132u : 112u);
}

TEST_F(Interpret, DoesWhatTheCpuDoesIn32Bits)
{
	random_runs(false, 30000, 15000);
	EXPECT_GT(codes.size(), has_vectors ? 90u : 70u);
}

/* How many instructions of some code are carried out, with AX, DX and CX as given. */
unsigned carried_out(Code code, unsigned long ax, unsigned long dx, unsigned long cx)
{
	x86_machine machine = {};
	x86_memory memory = {};
	x86_registers registers = {};
	x86_progress progress;

	code.resize(X86_RUN_BYTES, 0xf4);
	const x86_run run = build(code.data(), 0x1000, 2);
	memory.find = [](void *, unsigned long, int) -> void * { return nullptr; };
	machine.memory = &memory;
	x86_memory_forget(&memory);
	machine.registers = &registers;
	machine.can = X86_CAN_SSE2 | X86_CAN_AVX2;
	registers.ax = ax, registers.dx = dx, registers.cx = cx;
	x86_interpret(&machine, &run, &progress);
	if (progress.instructions == 0) {
		EXPECT_EQ(registers.ax, ax);
		EXPECT_EQ(registers.dx, dx);
	}
	return progress.instructions;
}

TEST(Interpreter, LeavesDivideErrorsToTheCpu)
{
	const Code div = {0x48, 0xf7, 0xf1}, idiv = {0x48, 0xf7, 0xf9}, idiv_32 = {0xf7, 0xf9};
	const unsigned long lowest = 1ul << 63;

	EXPECT_EQ(carried_out(div, 7, 0, 2), 1u);
	EXPECT_EQ(carried_out(div, 7, 0, 0), 0u);
	EXPECT_EQ(carried_out(div, 7, 2, 2), 0u);
	EXPECT_EQ(carried_out(idiv, 7, 0, 2), 1u);
	EXPECT_EQ(carried_out(idiv, 7, 0, 0), 0u);
	EXPECT_EQ(carried_out(idiv, lowest, ~0ul, ~0ul), 0u);
	EXPECT_EQ(carried_out(idiv, lowest, ~0ul, 1), 1u);
	EXPECT_EQ(carried_out(idiv_32, 1ul << 31, 0xffffffff, 0xffffffff), 0u);
	EXPECT_EQ(carried_out(idiv, 7, 1, 2), 0u);
}

TEST(Interpreter, LeavesToTheCpuWhatIsItsOwn)
{
	const Code left[] = {
		{0xf0, 0x48, 0x89, 0x08}, /* LOCK that is not allowed */
		{0x65, 0x48, 0x8b, 0x08}, /* GS */
		{0x67, 0x8b, 0x08},	  /* 32-bit addresses */
		{0x0f, 0x05},		  /* SYSCALL */
		{0x0f, 0xa2},		  /* CPUID */
		{0x64, 0x48, 0xa5},	  /* MOVS from FS */
		{0xcc},			  /* INT3 */
		{0x8e, 0xd0},		  /* MOV SS */
		{0x9c},			  /* PUSHF */
		{0x0f, 0x0b},		  /* UD2 */
		{0xe4, 0x10},		  /* IN */
		{0xd9, 0xc0},		  /* x87 */
		{0x0f, 0xef, 0xc1},	  /* MMX */
		{0xf2, 0x0f, 0x58, 0xc1}, /* ADDSD */
		{0x0f, 0x01, 0xef},	  /* WRPKRU */
		{0xe2, 0xfe},		  /* LOOP: the stepper's */
	};

	for (const Code &code : left)
		EXPECT_EQ(carried_out(code, 0, 0, 1), 0u)
			<< unsigned(code[0]) << " " << unsigned(code[1 % code.size()]);
	EXPECT_EQ(carried_out({0x90, 0x90, 0xcc}, 0, 0, 0), 2u);
}

/* Also where the page is known already. */
TEST(Interpreter, LeavesAccessesOfTwoPagesToTheCpu)
{
	static std::array<unsigned char, page> data;
	x86_machine machine = {};
	x86_memory memory = {};
	x86_registers registers = {};
	x86_progress progress;
	/* mov -8(%rcx), %rax; mov -7(%rcx), %rdx */
	Code code = {0x48, 0x8b, 0x41, 0xf8, 0x48, 0x8b, 0x51, 0xf9};

	code.resize(X86_RUN_BYTES, 0xf4);
	const x86_run run = build(code.data(), 0x1000, 2);
	memory.find = [](void *, unsigned long address, int) -> void * {
		return address == 0x5000 ? data.data() : nullptr;
	};
	machine.memory = &memory;
	x86_memory_forget(&memory);
	machine.registers = &registers;
	registers.cx = 0x6000;
	x86_interpret(&machine, &run, &progress);
	EXPECT_EQ(progress.instructions, 1u);
	EXPECT_EQ(registers.ip, 0x1004u);
}

TEST(Interpreter, GoesNoFurtherThanWhatHasBeenPrepared)
{
	const Code nops(40, 0x90);

	EXPECT_EQ(carried_out(nops, 0, 0, 0), unsigned(X86_RUN_OPS));
}

} // namespace
