// SPDX-License-Identifier: GPL-2.0
/*
 * The interpreter against the CPU that runs this test: runs of any instructions that the
 * interpreter takes, with memory that begins and ends anywhere, at either end of what 32-bit
 * code and user mode have of addresses. Whatever one of them makes of it, the other has to;
 * and what the interpreter leaves to the CPU must not have changed anything.
 *
 * A failure names the seed of its batch: PERFRING_SEED=it PERFRING_ITERATIONS=1 repeats it.
 * PERFRING_ITERATIONS is the number of batches, as many as one likes.
 */
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../drivers/hwtracing/emu/pt_unit.h"
#include "guest.hh"
#include "instructions.hh"
#include "known.hh"
#include "op.hh"
#include "sanitized.hh"

namespace {

constexpr std::size_t page = 4096;
constexpr unsigned long arithmetic = 0x8d5, defined = 0xd5, direction = 0x400;

unsigned long number(const char *name, unsigned long usual)
{
	const char *wanted = std::getenv(name);

	return wanted ? std::strtoul(wanted, nullptr, 0) : usual;
}

/*
 * What OF becomes of shifts by other counts than 1 is undefined, and the interpreter makes of it
 * what one kind of CPU does: one that leaves it alone when a register is rotated.
 */
bool is_of_left_by_rotations()
{
	unsigned char one = 1, other = 0, changed = 0;

	/* Of 1 and 0 in it, each behind an addition that has set or cleared OF. */
	for (unsigned value = 0; value < 256; value++) {
		unsigned long rotated = value * 0x0101010101010101ul;

		asm("addb $0x7f, %b0\n\trolq $2, %2\n\tseto %b0\n\t"
		    "addb $0x7f, %b1\n\trolq $2, %2\n\tseto %b1"
		    : "+q"(one), "+q"(other), "+r"(rotated)
		    :
		    : "cc");
		changed = static_cast<unsigned char>(changed | (one != 1) | (other != 0));
	}
	return !changed;
}

enum class Kind : unsigned char { absent, code, data, fixed };

/* Pages in a row; the last one may be the last that there is. */
constexpr Kind layout[] = {Kind::absent, Kind::code,   Kind::code, Kind::data,
			   Kind::data,	 Kind::absent, Kind::data, Kind::fixed,
			   Kind::data,	 Kind::absent, Kind::data, Kind::data,
			   Kind::absent, Kind::data,   Kind::code, Kind::code};
constexpr unsigned pages = std::size(layout);

struct World {
	unsigned char *base;
	bool has_32_bits;
};

/* The native one; empty if there is something else. */
World make_world(unsigned long wanted)
{
	constexpr int anywhere = MAP_PRIVATE | MAP_ANONYMOUS;
	void *const base = mmap(std::bit_cast<void *>(wanted), pages * page, PROT_NONE,
				anywhere | (wanted ? MAP_FIXED_NOREPLACE : MAP_32BIT), -1, 0);

	if (base == MAP_FAILED)
		return {};
	auto *const at = static_cast<unsigned char *>(base);
	return {at, reinterpret_cast<unsigned long>(at) < 1ul << 32};
}

int protection(Kind kind)
{
	switch (kind) {
	case Kind::code:
		return PROT_READ | PROT_WRITE | PROT_EXEC;
	case Kind::data:
		return PROT_READ | PROT_WRITE;
	case Kind::fixed:
		return PROT_READ;
	default:
		return PROT_NONE;
	}
}

/* What the child tells, also when it has crashed. */
struct Report {
	unsigned long seed;
	unsigned long runs, instructions, left, forms, elements;
	char text[16384];
};

/* As the kernel has it: pages here and there, which are found or not. */
class Machine {
    public:
	Machine()
	{
		memory.find = find;
		memory.context = this;
		machine.memory = &memory;
		x86_memory_forget(&memory);
		machine.registers = &state.registers;
	}

	/* Code is the task's, but not to be written to: that is the stepper's business. */
	[[gnu::target("general-regs-only")]] static void *find(void *context, unsigned long address,
							       int store)
	{
		Machine &self = *static_cast<Machine *>(context);
		const unsigned long which =
			(address - reinterpret_cast<unsigned long>(self.world.base)) / page;

		self.asked_oddly |= address % page != 0;
		if (which >= pages || layout[which] == Kind::absent || self.withheld >> which & 1 ||
		    (store && layout[which] != Kind::data))
			return nullptr;
		return self.copy_of(which);
	}

	/* Every other page: none lies behind another one. */
	[[gnu::target("general-regs-only")]] unsigned char *copy_of(unsigned long which)
	{
		return copies + 2 * page * (which * 7 % pages);
	}

	void forget_pages()
	{
		x86_memory_forget(&memory);
	}

	void interpret(const x86_run &run, x86_progress &progress)
	{
		machine.fs_base = state.fs_base;
		if (!has_vectors())
			x86_interpret(&machine, &run, &progress);
		else if (__builtin_cpu_supports("avx512f"))
			with_zmm(run, progress);
		else
			with_ymm(run, progress);
	}

	bool has_vectors() const
	{
		return machine.can & (X86_CAN_SSE2 | X86_CAN_AVX2);
	}

	GuestState state = {};
	World world = {};
	unsigned withheld = 0;
	bool asked_oddly = false;
	x86_machine machine = {};
	x86_memory memory = {};

    private:
/* In this CPU's registers, as the kernel has the task's. */
#define EACH(do)                                                                                   \
	do                                                                                         \
	(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(  \
		14) do(15)
#define LOAD_YMM(n) "vmovups 64*" #n "(%%rbx), %%ymm" #n "\n\t"
#define STORE_YMM(n) "vmovups %%ymm" #n ", 64*" #n "(%%rbx)\n\t"
#define LOAD_ZMM(n) "vmovups 64*" #n "(%%rbx), %%zmm" #n "\n\t"
#define STORE_ZMM(n) "vmovups %%zmm" #n ", 64*" #n "(%%rbx)\n\t"
#define INTERPRET_WITH(LOAD, STORE)                                                                \
	register void (*entry)(x86_machine *, const x86_run *, x86_progress *) asm("r13") =        \
		x86_interpret;                                                                     \
	x86_machine *first = &machine;                                                             \
	const x86_run *second = &run;                                                              \
	x86_progress *third = &progress;                                                           \
                                                                                                   \
	asm volatile("mov %%rsp, %%r12\n\tsub $256, %%rsp\n\tand $-64, %%rsp\n\t" EACH(            \
			     LOAD) "call *%%r13\n\t" EACH(STORE) "vzeroupper\n\t"                  \
								 "mov %%r12, %%rsp"                \
		     : "+D"(first), "+S"(second), "+d"(third)                                      \
		     : "b"(state.vectors.data()), "r"(entry)                                       \
		     : "rax", "rcx", "r8", "r9", "r10", "r11", "r12", "memory", "cc", "xmm0",      \
		       "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",     \
		       "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")

	[[gnu::target("avx2"), gnu::noinline]] void with_ymm(const x86_run &run,
							     x86_progress &progress)
	{
		INTERPRET_WITH(LOAD_YMM, STORE_YMM);
	}

	[[gnu::target("avx512f"), gnu::noinline]] void with_zmm(const x86_run &run,
								x86_progress &progress)
	{
		INTERPRET_WITH(LOAD_ZMM, STORE_ZMM);
	}
#undef EACH
#undef LOAD_YMM
#undef STORE_YMM
#undef LOAD_ZMM
#undef STORE_ZMM
#undef INTERPRET_WITH

	alignas(page) unsigned char copies[2 * pages * page];
};

constexpr unsigned long x86_registers::*by_number[] = {
	&x86_registers::ax,  &x86_registers::cx,   &x86_registers::dx,	&x86_registers::bx,
	&x86_registers::sp,  &x86_registers::bp,   &x86_registers::si,	&x86_registers::di,
	&x86_registers::r8,  &x86_registers::r9,   &x86_registers::r10, &x86_registers::r11,
	&x86_registers::r12, &x86_registers::r13,  &x86_registers::r14, &x86_registers::r15,
	&x86_registers::ip,  &x86_registers::flags};
constexpr const char *names[] = {"ax", "cx",  "dx",  "bx",  "sp",  "bp",  "si",	 "di", "r8",
				 "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ip", "flags"};

class Duel {
    public:
	explicit Duel(Report &report) : report(report)
	{
		for (const unsigned long wanted :
		     {0ul, (1ul << 32) - pages * page, (1ul << 47) - (pages + 1) * page}) {
			const World world = make_world(wanted);

			if (!world.base)
				continue;
			for (unsigned i = 0; i < pages; i++)
				mprotect(world.base + i * page, page, protection(layout[i]));
			worlds.push_back(world);
		}
	}

	~Duel()
	{
		delete machine;
	}

	Duel(const Duel &) = delete;
	Duel &operator=(const Duel &) = delete;

	/* False: they differ. */
	bool batch(std::uint64_t seed)
	{
		report.seed = seed;
		random.seed(seed);
		do {
			world = worlds[random() % worlds.size()];
			long_mode = random() % 3 != 0;
		} while (!long_mode && !world.has_32_bits);
		machine->world = world;
		const auto kinds = static_cast<unsigned>(random() % 8);
		machine->machine.can = static_cast<unsigned short>(
			known_to_cpu() | (kinds > 2    ? all_vectors
					  : kinds == 2 ? random() & all_vectors
						       : 0));
		fill();
		for (unsigned i = 0; i < 24; i++) {
			which = i;
			if (!one())
				return false;
		}
		report.forms = forms.size();
		return true;
	}

    private:
	unsigned long address(unsigned which, unsigned long offset = 0) const
	{
		return reinterpret_cast<unsigned long>(world.base) + which * page + offset;
	}

	/* Near where a page begins or ends, as often as not. */
	unsigned long somewhere()
	{
		unsigned which;
		unsigned long offset;

		do {
			which = static_cast<unsigned>(random() % pages);
		} while (layout[which] == Kind::absent && random() % 8);
		switch (random() % 4) {
		case 0:
			offset = page - random() % 40;
			break;
		case 1:
			offset = random() % 40 - 16;
			break;
		default:
			offset = random() % page;
		}
		return address(which, offset & (random() % 3 ? ~0ul : ~31ul));
	}

	unsigned long some_code()
	{
		static constexpr unsigned from[] = {1, 2, 14, 15};

		return address(from[random() % 4], random() % page);
	}

	void fill()
	{
		for (unsigned i = 0; i < pages; i++) {
			unsigned char *const copy = machine->copy_of(i);

			if (layout[i] == Kind::absent)
				continue;
			for (unsigned at = 0; at < page; at += 8) {
				const unsigned long word = random() % 4	  ? random()
							   : random() % 2 ? some_code()
									  : somewhere();

				std::memcpy(copy + at, &word, 8);
			}
			if (layout[i] == Kind::fixed)
				mprotect(world.base + i * page, page, PROT_READ | PROT_WRITE);
			std::memcpy(world.base + i * page, copy, page);
			if (layout[i] == Kind::fixed)
				mprotect(world.base + i * page, page, PROT_READ);
		}
	}

	unsigned long value()
	{
		unsigned long made;

		switch (random() % 8) {
		case 0:
			made = random();
			break;
		case 1:
			made = random() % 16 - 8;
			break;
		case 2:
			made = 1ul << random() % 64;
			break;
		case 3:
			made = random() & 0x80ff80ff7f;
			break;
		case 4:
			made = some_code();
			break;
		default:
			made = somewhere();
		}
		return long_mode ? made : made & 0xffffffff;
	}

	void give_state()
	{
		GuestState &state = machine->state;

		for (unsigned i = 0; i < 16; i++)
			state.registers.*by_number[i] = value();
		if (random() % 4) {
			static constexpr unsigned stacks[] = {3, 4, 6, 8, 10, 11, 13};

			state.registers.sp =
				address(stacks[random() % std::size(stacks)],
					random() % 4 ? random() % 512 * 8 : random() % 17);
		}
		state.registers.flags = 0x202 | (random() & (arithmetic | direction));
		state.fs_base = guest.has_bases() && long_mode
					? random() % 2 ? somewhere() : random() >> 17 & ~0xful
					: 0;
		for (GuestVector &vector : state.vectors)
			for (unsigned at = 0; at < 64; at += 8) {
				const std::uint64_t word = random() % 3 ? random() : 0;

				std::memcpy(vector.byte + at, &word, 8);
			}
		if (!machine->has_vectors())
			state.vectors = {};
	}

	static bool is_string(const x86_decoded &d)
	{
		return d.map == X86_MAP_1 && d.opcode >= 0xa4 && d.opcode <= 0xaf &&
		       (d.opcode & 0xfe) != 0xa8;
	}

	/* Strings that are short, and lie over one another more often than by chance. */
	void aim_string(unsigned &pinned)
	{
		constexpr unsigned those = 1u << 1 | 1u << 6 | 1u << 7;
		x86_registers &r = machine->state.registers;

		if (pinned & those || random() % 16 == 0)
			return;
		pinned |= those;
		r.si = somewhere();
		r.di = random() % 2 ? somewhere() : r.si + random() % 32 - 8;
		r.cx = random() % 8 ? random() % 40 : random() % 6000;
		if (random() % 4)
			r.flags &= ~direction;
		if (!long_mode)
			r.si &= 0xffffffff, r.di &= 0xffffffff;
	}

	/* Makes the operand's address one that is worth it, if nobody else needs the register. */
	void aim(Instruction &made, unsigned long ip, unsigned &pinned)
	{
		const x86_decoded &d = made.decoded;
		const unsigned mod = d.modrm >> 6, low = d.modrm & 7;
		x86_registers &r = machine->state.registers;
		unsigned long target = somewhere();
		unsigned base = low | (d.rex & 1u) << 3;

		if (is_string(d))
			aim_string(pinned);
		if (!d.has_modrm || mod == 3 || made.modrm_at < 0 || random() % 16 == 0)
			return;
		/* Locked ones are for operands that are aligned. */
		if (d.prefixes & X86_PREFIX_LOCK && random() % 4)
			target &= ~7ul;
		if (d.prefixes & X86_PREFIX_FS_GS)
			target -= machine->state.fs_base;
		target -= static_cast<unsigned long>(static_cast<long>(d.displacement));
		if (d.has_sib) {
			const unsigned index = (d.sib >> 3 & 7u) | (d.rex & 2u) << 2;

			base = (d.sib & 7u) | (d.rex & 1u) << 3;
			if (index == base)
				return;
			if (index != 4) {
				target -= r.*by_number[index] << (d.sib >> 6);
				pinned |= 1u << index;
			}
		}
		if (mod == 0 && (base & 7) == 5 && (d.has_sib || low == 5)) {
			target += static_cast<unsigned long>(static_cast<long>(d.displacement));
			if (long_mode && !d.has_sib)
				target -= ip + d.length;
			const auto word = static_cast<std::uint32_t>(target);
			std::memcpy(made.bytes.data() + made.modrm_at + 1 + d.has_sib, &word, 4);
			return;
		}
		if (pinned >> base & 1)
			return;
		r.*by_number[base] = long_mode ? target : target & 0xffffffff;
		pinned |= 1u << base;
	}

	/* Near branches, most of them to where an instruction of these begins. */
	Bytes end(const std::vector<unsigned> &begins, unsigned at)
	{
		const auto byte = [&] { return static_cast<unsigned char>(random()); };
		const unsigned to = begins[random() % begins.size()];
		const unsigned kind = static_cast<unsigned>(random() % 9);
		const bool wide = kind != 8 && random() % 2;
		Bytes code;

		if (random() % 4 == 0)
			code.push_back(random() % 2 ? 0xf2 : random() % 2 ? 0x2e : 0x3e);
		if (kind < 4) {
			if (kind == 0)
				code.push_back(wide ? 0xe9 : 0xeb);
			else if (wide)
				code.append({0x0f, static_cast<unsigned char>(0x80 | byte() % 16)});
			else
				code.push_back(static_cast<unsigned char>(0x70 | byte() % 16));
		} else if (kind == 4) {
			code.push_back(0xe8);
		} else if (kind == 5) {
			code.push_back(random() % 2 ? 0xc3 : 0xc2);
			code.append({byte(), static_cast<unsigned char>(random() & 7)});
			return code;
		} else if (kind == 8) {
			if (random() % 4 == 0)
				code.push_back(0x67);
			code.push_back(static_cast<unsigned char>(0xe0 | (byte() & 3)));
		} else {
			code.append({0xff,
				     static_cast<unsigned char>((random() % 2 ? 0x10 : 0x20) |
								(byte() & 0xc7)),
				     byte(), byte(), 0, 0});
			return code;
		}
		const bool is_wide = wide || kind == 4;
		std::uint32_t distance =
			static_cast<std::uint32_t>(to - (at + code.size() + (is_wide ? 4 : 1)));
		if (random() % 8 == 0)
			distance = static_cast<std::uint32_t>(random());
		for (unsigned i = 0; i < (is_wide ? 4 : 1); i++)
			code.push_back(static_cast<unsigned char>(distance >> 8 * i));
		return code;
	}

	/* Code, and registers that fit; at the end of a page as often as not. */
	void prepare()
	{
		static constexpr unsigned from[] = {1, 2, 14, 15};
		const unsigned where = from[random() % 4];
		Instructions instructions(random, long_mode);
		std::vector<Instruction> made;
		std::vector<unsigned> begins;
		Bytes code;
		unsigned pinned = random() % 4 ? 1u << 4 : 0;

		give_state();
		for (unsigned n = static_cast<unsigned>(random() % 8) + 1; n--;)
			made.push_back(random() % 64 ? instructions.known() : instructions.any());
		unsigned size = 0;
		for (const Instruction &each : made)
			size += each.bytes.size();
		unsigned long offset = random() % (page - 256);
		if (random() % 2)
			offset = page - (random() % 2 ? size : random() % (size + 8)) % page;
		const unsigned long start = address(where, offset);
		for (Instruction &each : made) {
			begins.push_back(code.size());
			aim(each, start + code.size(), pinned);
			code.append(each.bytes);
		}
		if (random() % 2) {
			const Bytes last = end(begins, code.size());

			code.append(last);
		}
		put_code(start, code);
		machine->state.registers.ip = start;
	}

	void put_code(unsigned long start, const Bytes &code)
	{
		for (unsigned i = 0; i < code.size(); i++) {
			const unsigned long which = (start + i - address(0)) / page;

			if (which >= pages || layout[which] == Kind::absent ||
			    layout[which] == Kind::fixed)
				continue;
			world.base[start + i - address(0)] = code.data()[i];
			machine->copy_of(which)[(start + i) % page] = code.data()[i];
		}
	}

	/* As the stepper builds it, of pages that may be executed. */
	bool build(x86_run &run, unsigned long ip)
	{
		unsigned char code[X86_RUN_BYTES];
		unsigned n = 0;
		x86_decoded decoded;

		for (; n < X86_RUN_BYTES; n++) {
			const unsigned long which = (ip + n - address(0)) / page;

			if (which >= pages || layout[which] != Kind::code)
				break;
			code[n] = machine->copy_of(which)[(ip + n) % page];
		}
		if (!n)
			return false;
		run = {};
		std::memcpy(run.code, code, n);
		x86_run_begin(&run, ip, long_mode ? 2 : 1);
		do {
			x86_decode(run.code + run.bytes, n - run.bytes, long_mode, &decoded);
			x86_run_translate(&run, &decoded, run.code + run.bytes);
			note(decoded, run);
		} while (x86_run_add(&run, &decoded, ~0ul));
		return run.ops || run.end.kind == X86_COUNTED;
	}

	/* Which encodings have been met: opcode, prefixes that matter, kind of operands. */
	void note(const x86_decoded &d, const x86_run &run)
	{
		std::uint64_t form = d.opcode;

		if (!d.length || run.ops <= run.instructions)
			return;
		form |= static_cast<std::uint64_t>(d.map) << 8 |
			static_cast<std::uint64_t>(d.prefixes) << 12 |
			static_cast<std::uint64_t>(d.rex >> 3 & 1) << 20 |
			static_cast<std::uint64_t>(long_mode) << 21 |
			static_cast<std::uint64_t>(run.op[run.instructions].code) << 22;
		if (d.has_modrm)
			form |= static_cast<std::uint64_t>(d.modrm >> 6 == 3) << 30 |
				static_cast<std::uint64_t>(d.modrm >> 3 & 7) << 31;
		if (d.map == X86_MAP_VECTOR)
			form |= static_cast<std::uint64_t>(run.op[run.instructions].immediate >> 12)
				<< 34;
		forms.insert(form);
	}

	bool one()
	{
		prepare();
		machine->withheld =
			random() % 4 ? 0 : static_cast<unsigned>(random() & random() & 0xffff);
		machine->forget_pages();
		if (!machine->has_vectors() && random() % 2)
			return session();
		for (unsigned turns = 0; turns < 6; turns++) {
			x86_run run;
			bool goes_on = false;

			if (!build(run, machine->state.registers.ip))
				return true;
			if (!turn(run, goes_on))
				return false;
			if (!goes_on)
				return true;
		}
		return true;
	}

	/* What a session asks for: nothing is kept, as code may have been changed by itself. */
	static const x86_run *run_at(void *context, unsigned long ip)
	{
		Duel &self = *static_cast<Duel *>(context);

		return self.build(self.latest, ip) ? &self.latest : nullptr;
	}

	/* Runs in a row: flags wait from one to the next. */
	bool session()
	{
		static const unsigned char interrupt = 0;
		static const unsigned long work = 0;
		x86_run slots[2] = {};
		const x86_runs none = {slots, 1};
		x86_session session = {};
		x86_progress progress = {};

		before = machine->state;
		machine->machine.fs_base = before.fs_base;
		session.machine = machine->machine;
		session.runs = &none;
		session.find = run_at;
		session.context = this;
		session.interrupt = &interrupt;
		session.work = &work;
		/* With and without address ranges. */
		session.key = random() % 2;
		session.budget = static_cast<unsigned>(random() % 40) + 1;
		std::snprintf(report.text, sizeof(report.text), "a session");
		latest = {};
		told = 0;
		progress.instructions = x86_session_run(&session);
		progress.to = machine->state.registers.ip;
		GuestState native = before;
		for (unsigned i = 0; i < progress.instructions; i++)
			if (!step_all(native, is_string_at(native.registers.ip)))
				return differ(latest, native, progress, "the CPU does not do it");
		if (is_string_at(native.registers.ip) && build(latest, native.registers.ip)) {
			x86_progress none_yet = {};

			none_yet.to = progress.to;
			if (!step_part(native, latest, none_yet))
				return differ(latest, native, progress, "the CPU does not do it");
		}
		report.instructions += progress.instructions;
		const char *what = difference(machine->state, native, progress);
		if (!what && told != progress.instructions)
			what = "what is told";
		return !what || differ(latest, native, progress, what);
	}

	/* As the CPU has the code now. */
	bool is_string_at(unsigned long ip)
	{
		x86_run run = {};
		x86_decoded decoded;
		const unsigned long which = (ip - address(0)) / page;

		if (which >= pages || layout[which] == Kind::absent)
			return false;
		const bool has_next = which + 1 < pages && layout[which + 1] != Kind::absent;
		const unsigned long left = has_next ? page : page - ip % page;
		const auto n = static_cast<unsigned>(left < 15 ? left : 15);
		const unsigned char *const code = world.base + (ip - address(0));

		x86_decode(code, n, long_mode, &decoded);
		x86_run_begin(&run, ip, long_mode ? 2 : 1);
		x86_run_translate(&run, &decoded, code);
		return run.ops && run.op[0].code == x86_emu::string;
	}

	/* The CPU stops behind each element. */
	bool step_all(GuestState &native, bool is_string)
	{
		const unsigned long ip = native.registers.ip;

		do {
			if (!guest.step(native, long_mode))
				return false;
		} while (is_string && native.registers.ip == ip);
		return true;
	}

	/* Elements that have been done of a string that has not; flags are not its own yet. */
	bool step_part(GuestState &native, const x86_run &run, const x86_progress &progress)
	{
		const unsigned next = progress.instructions;
		const unsigned long flags = native.registers.flags, mask = long_mode ? ~0ul : ~0u;
		unsigned long n =
			(native.registers.cx & mask) - (machine->state.registers.cx & mask);

		if (next >= run.ops || run.op[next].code != x86_emu::string)
			return true;
		report.elements += n;
		for (; n; n--)
			if (!guest.step(native, long_mode) || native.registers.ip != progress.to)
				return false;
		native.registers.flags = flags;
		return true;
	}

	/* False: they differ. */
	bool turn(const x86_run &run, bool &goes_on)
	{
		x86_progress progress = {};

		before = machine->state;
		std::snprintf(report.text, sizeof(report.text), "%s", bytes_of(run).c_str());
		machine->interpret(run, progress);
		GuestState native = before;
		for (unsigned i = 0; i < progress.instructions; i++)
			if (!step_all(native, i < run.ops && run.op[i].code == x86_emu::string))
				return differ(run, native, progress, "the CPU does not do it");
		if (!step_part(native, run, progress))
			return differ(run, native, progress, "the CPU does not do the elements");
		report.runs++;
		report.instructions += progress.instructions;
		const char *what = difference(machine->state, native, progress);
		if (what)
			return differ(run, native, progress, what);
		goes_on = progress.instructions == run.instructions;
		if (goes_on)
			return true;
		if (progress.instructions + 1 == run.instructions && run.end.kind == X86_COUNTED &&
		    run.end.executable)
			return counted(run, goes_on);
		if (progress.instructions >= run.ops)
			return true;
		/* In two lines of the cache it would cost the whole machine. */
		if (run.op[progress.instructions].code >= x86_emu::atomic &&
		    run.op[progress.instructions].code < x86_emu::bits_r)
			return true;
		return left_to_the_cpu(goes_on);
	}

	/* LOOP and JCXZ are no operations of the interpreter's, but what it leaves is done next. */
	bool counted(const x86_run &run, bool &goes_on)
	{
		GuestState native = before = machine->state;
		x86_registers &ours = machine->state.registers;
		x86_progress progress = {};
		x86_outcome outcome;

		if (!x86_branch_execute(&run.end, &machine->state.registers, 0, &outcome))
			return left_to_the_cpu(goes_on);
		goes_on = true;
		if (!guest.step(native, long_mode))
			return differ(run, native, progress, "the CPU does not do it");
		progress.to = ours.ip = outcome.to;
		ours.sp = outcome.sp;
		ours.cx = outcome.cx;
		const char *const what = difference(machine->state, native, progress);
		return !what || differ(run, native, progress, what);
	}

	/* Known, but not done: the CPU does it, or faults. */
	bool left_to_the_cpu(bool &goes_on)
	{
		report.left++;
		goes_on = guest.step(machine->state, long_mode);
		machine->state.registers.flags &= ~0x10000ul;
		for (unsigned i = 0; i < pages; i++)
			if (layout[i] != Kind::absent)
				std::memcpy(machine->copy_of(i), world.base + i * page, page);
		return true;
	}

	const char *difference(const GuestState &ours, const GuestState &native,
			       const x86_progress &progress)
	{
		const unsigned long flags = direction | (leaves_of ? arithmetic : defined);

		for (unsigned i = 0; i < 17; i++)
			if (ours.registers.*by_number[i] != native.registers.*by_number[i])
				return names[i];
		if ((ours.registers.flags ^ native.registers.flags) & flags)
			return "flags";
		if (progress.to != native.registers.ip)
			return "to";
		if (machine->has_vectors() &&
		    std::memcmp(&ours.vectors, &native.vectors, sizeof(native.vectors)) != 0)
			return "vectors";
		for (unsigned i = 0; i < pages; i++)
			if (layout[i] != Kind::absent &&
			    std::memcmp(machine->copy_of(i), world.base + i * page, page) != 0)
				return "memory";
		return machine->asked_oddly ? "find" : nullptr;
	}

	static std::string bytes_of(const x86_run &run)
	{
		static const char digits[] = "0123456789abcdef";
		std::string text;

		for (unsigned i = 0; i < run.bytes; i++) {
			if (i && run.begins[i / 64] >> i % 64 & 1)
				text += "| ";
			text += digits[run.code[i] >> 4];
			text += digits[run.code[i] & 15];
			text += ' ';
		}
		return text;
	}

	void say(const char *format, ...) __attribute__((format(printf, 2, 3)))
	{
		const std::size_t used = std::strlen(report.text);
		va_list arguments;

		va_start(arguments, format);
		std::vsnprintf(report.text + used, sizeof(report.text) - used, format, arguments);
		va_end(arguments);
	}

	bool differ(const x86_run &run, const GuestState &native, const x86_progress &progress,
		    const char *what)
	{
		report.text[0] = 0;
		say("%s\n%s of batch %lu, case %u, %d bits, after %u of %u instructions, signal %d\n",
		    bytes_of(run).c_str(), what, report.seed, which, long_mode ? 64 : 32,
		    progress.instructions, run.instructions, guest.signal());
		say("%-6s %18s %18s %18s\n", "", "given", "ours", "the CPU's");
		for (unsigned i = 0; i < std::size(names); i++)
			say("%-6s %18lx %18lx %18lx\n", names[i], before.registers.*by_number[i],
			    machine->state.registers.*by_number[i], native.registers.*by_number[i]);
		for (unsigned i = 0; i < 16; i++)
			if (std::memcmp(&machine->state.vectors[i], &native.vectors[i], 64) != 0)
				say("vector %u\n", i);
		for (unsigned i = 0; i < pages; i++)
			for (unsigned at = 0; layout[i] != Kind::absent && at < page; at++)
				if (machine->copy_of(i)[at] != world.base[i * page + at]) {
					say("memory at %lx\n", address(i, at));
					break;
				}
		return false;
	}

    public:
	/* Instructions that the unit has been told of. */
	static inline unsigned told;

    private:
	x86_run latest = {};
	Report &report;
	const unsigned all_vectors =
		!is_sanitized && __builtin_cpu_supports("avx2")
			? X86_CAN_SSE2 | X86_CAN_AVX2 | X86_CAN_SSE4 | X86_CAN_FLOAT
			: 0;
	const bool leaves_of = is_of_left_by_rotations();
	Random random;
	Guest guest;
	Machine *machine = new Machine;
	GuestState before = {};
	std::vector<World> worlds;
	World world = {};
	bool long_mode = true;
	unsigned which = 0;
	std::unordered_set<std::uint64_t> forms;
};

} // namespace

/* In place of the unit. */
extern "C" void pt_unit_retire(pt_unit *, const pt_unit_retired *retired)
{
	Duel::told += retired->instructions;
}

namespace {

/* In a child, whose signals and segments are not the test's. */
[[noreturn]] void duel(Report &report, unsigned long seed, unsigned long batches)
{
	/* Hours of it must not outlive whoever waits. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);

	Duel *const duel = new Duel(report);

	for (unsigned long i = 0; i < batches; i++)
		if (!duel->batch(seed + i))
			_exit(1);
	_exit(0);
}

TEST(InterpreterAndCpu, MakeTheSameOfAnyInstructions)
{
	const unsigned long seed = number("PERFRING_SEED", 1),
			    batches = number("PERFRING_ITERATIONS", 2500);
	auto *const report =
		static_cast<Report *>(mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	int status = 0;

	std::printf("seed %lu, %lu batches\n", seed, batches);
	std::fflush(stdout);
	const pid_t child = fork();
	if (child == 0)
		duel(*report, seed, batches);
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0) << "PERFRING_SEED=" << report->seed << "\n" << report->text;
	std::printf("%lu runs, %lu instructions of %lu forms, %lu left to the CPU behind %lu "
		    "elements\n",
		    report->runs, report->instructions, report->forms, report->left,
		    report->elements);
	if (batches >= 1000) {
		EXPECT_GT(report->instructions, batches * 40);
		EXPECT_GT(report->forms, 1000u);
	}
}

} // namespace
