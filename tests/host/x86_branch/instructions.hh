/* SPDX-License-Identifier: GPL-2.0 */
/* Instructions at random: of every opcode, with every prefix, and mere bytes. */
#ifndef PERFRING_X86_BRANCH_INSTRUCTIONS_HH
#define PERFRING_X86_BRANCH_INSTRUCTIONS_HH

#include <cstddef>
#include <initializer_list>
#include <random>

#include "interpret.h"

using Random = std::mt19937_64;

/* Code, of eight of the longest instructions and a branch at most. */
class Bytes {
    public:
	void push_back(unsigned char byte)
	{
		bytes[n++ % sizeof(bytes)] = byte;
	}

	void append(std::initializer_list<unsigned char> more)
	{
		for (const unsigned char byte : more)
			push_back(byte);
	}

	void append(const Bytes &more)
	{
		for (unsigned i = 0; i < more.n; i++)
			push_back(more.bytes[i]);
	}

	void cut(unsigned size)
	{
		n = size;
	}

	unsigned size() const
	{
		return n;
	}

	unsigned char *data()
	{
		return bytes;
	}

	const unsigned char *data() const
	{
		return bytes;
	}

    private:
	unsigned char bytes[192] = {};
	unsigned n = 0;
};

/* An instruction, where its ModR/M byte is (-1: nobody knows), and what the decoder says. */
struct Instruction {
	Bytes bytes;
	int modrm_at = -1;
	x86_decoded decoded = {};
};

class Instructions {
    public:
	Instructions(Random &random, bool long_mode) : random(random), long_mode(long_mode)
	{
	}

	/* One that the interpreter carries out, or at least says so. */
	Instruction known()
	{
		for (;;) {
			Instruction made = any();

			if (is_known(made))
				return made;
		}
	}

	/* Whatever comes. */
	Instruction any()
	{
		Instruction made;

		switch (random() % 8) {
		case 0:
			made = nothing_but_bytes();
			break;
		case 1:
		case 2:
			made = vex();
			break;
		default:
			made = legacy();
		}
		x86_decode(made.bytes.data(), made.bytes.size(), long_mode, &made.decoded);
		if (made.decoded.length)
			made.bytes.cut(made.decoded.length);
		return made;
	}

	bool is_known(const Instruction &made) const
	{
		x86_run run = {};

		if (!made.decoded.length)
			return false;
		x86_run_begin(&run, 0x1000, long_mode ? 2 : 1);
		x86_run_translate(&run, &made.decoded, made.bytes.data());
		return run.ops;
	}

    private:
	unsigned char byte()
	{
		return static_cast<unsigned char>(random());
	}

	template <std::size_t N> unsigned char one_of(const unsigned char (&from)[N])
	{
		return from[random() % N];
	}

	Instruction nothing_but_bytes()
	{
		Instruction made;

		for (unsigned i = 0; i < 18; i++)
			made.bytes.push_back(byte());
		return made;
	}

	/* In any order, more than once, and with REX where it means nothing. */
	void add_prefixes(Bytes &to)
	{
		static constexpr unsigned char all[] = {0x66, 0x66, 0x66, 0xf2, 0xf3, 0xf3,
							0x64, 0x64, 0x65, 0x2e, 0x3e, 0x26,
							0x36, 0x67, 0xf0, 0xf0, 0xf3, 0xf2};
		unsigned n = random() % 2   ? 0
			     : random() % 4 ? 1
					    : static_cast<unsigned>(random() % 4);

		if (random() % 256 == 0)
			n = static_cast<unsigned>(random() % 15);
		while (n--) {
			if (random() % 8 == 0)
				to.push_back(rex());
			to.push_back(one_of(all));
		}
		if (long_mode && random() % 2)
			to.push_back(rex());
	}

	unsigned char rex()
	{
		return static_cast<unsigned char>(0x40 | (random() & 0xf));
	}

	/* What the interpreter knows, twice as often as everything. */
	unsigned char opcode_1()
	{
		static constexpr unsigned char known[] = {
			0x50, 0x58, 0x63, 0x68, 0x69, 0x6a, 0x6b, 0x80, 0x81, 0x83, 0x84, 0x85,
			0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8d, 0x90, 0x98, 0x99, 0xa8, 0xa9,
			0xb0, 0xb8, 0xc0, 0xc1, 0xc6, 0xc7, 0xc9, 0xd0, 0xd1, 0xd2, 0xd3, 0xf5,
			0xf6, 0xf7, 0xf8, 0xf9, 0xfe, 0xff, 0xff, 0xf7, 0xf7, 0xc1, 0xd3, 0xff};

		switch (random() % 8) {
		case 0:
		case 1:
			return byte();
		case 2:
		case 3:
			return byte() & 0x3f;
		case 4:
			return random() % 8 ? 0xa4 + static_cast<unsigned char>(random() % 12)
					    : 0x9c | static_cast<unsigned char>(random() & 3);
		default:
			return one_of(known);
		}
	}

	unsigned char opcode_2()
	{
		static constexpr unsigned char known[] = {
			0x10, 0x11, 0x12, 0x13, 0x16, 0x17, 0x18, 0x1e, 0x1f, 0x28, 0x29, 0x54,
			0x55, 0x56, 0x57, 0x6e, 0x6f, 0x70, 0x77, 0x7e, 0x7f, 0xa3, 0xa4, 0xa5,
			0xab, 0xac, 0xad, 0xaf, 0xb3, 0xb6, 0xb7, 0xba, 0xbb, 0xbc, 0xbd, 0xbe,
			0xbf, 0xc8, 0xd6, 0xd7, 0xef, 0x74, 0xbc, 0xbd, 0xb0, 0xb1, 0xc0, 0xc1,
			0xb0, 0xb1, 0xc0, 0xc1, 0xba, 0xb8, 0xb8, 0xae, 0x0d};
		static constexpr unsigned char vectors[] = {
			0x14, 0x15, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x50, 0x51, 0x58, 0x59,
			0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f, 0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4,
			0xc5, 0xc6, 0xd1, 0xd2, 0xd3, 0xe1, 0xe2, 0xe6, 0xe7, 0xf1, 0xf2, 0xf3};

		switch (random() % 5) {
		case 4:
			return one_of(vectors);
		case 0:
			return byte();
		case 1:
			return static_cast<unsigned char>((random() % 2 ? 0x40 : 0x90) |
							  (random() & 0xf));
		default:
			return one_of(known);
		}
	}

	unsigned char opcode_38()
	{
		return static_cast<unsigned char>(random() % 4	 ? byte() & 0x3f
						  : random() % 2 ? 0xf0 | (random() & 1)
								 : byte());
	}

	unsigned char opcode_3a()
	{
		static constexpr unsigned char known[] = {0x0f, 0x14, 0x15, 0x16, 0x20, 0x22, 0x63};

		return random() % 8 ? one_of(known) : byte();
	}

	Instruction legacy()
	{
		Instruction made;

		if (random() % 12 == 0)
			return locked();
		add_prefixes(made.bytes);
		switch (random() % 16) {
		case 0:
			if (random() % 2)
				made.bytes.push_back(0x66);
			made.bytes.append({0x0f, 0x38, opcode_38()});
			break;
		case 7:
			if (random() % 2)
				made.bytes.push_back(0x66);
			made.bytes.append({0x0f, 0x3a, opcode_3a()});
			break;
		case 1:
		case 2:
		case 3:
		case 4:
		case 5:
		case 6:
			made.bytes.append({0x0f, opcode_2()});
			break;
		default:
			made.bytes.push_back(opcode_1());
		}
		add_operands(made);
		return made;
	}

	/* What LOCK may be in front of, as far as operands are such. */
	Instruction locked()
	{
		static constexpr unsigned char first[] = {0x80, 0x81, 0x83, 0xf6, 0xf7, 0xf7,
							  0xfe, 0xff, 0xff, 0x87, 0x86};
		static constexpr unsigned char second[] = {0xb0, 0xb1, 0xc0, 0xc1, 0xba, 0xba};
		Instruction made;

		if (random() % 3 == 0)
			made.bytes.push_back(0x66);
		if (random() % 8)
			made.bytes.push_back(0xf0);
		if (long_mode && random() % 2)
			made.bytes.push_back(rex());
		if (random() % 3 == 0)
			made.bytes.append({0x0f, one_of(second)});
		else if (random() % 2)
			made.bytes.push_back(one_of(first));
		else
			made.bytes.push_back(static_cast<unsigned char>(random() & 0x39));
		add_operands(made);
		return made;
	}

	/* The third register, the length and W are mostly such that they are allowed. */
	Instruction vex()
	{
		Instruction made;
		const auto other =
			static_cast<unsigned char>(random() % 2 ? 0x78 : random() & 0x78);
		const auto last = static_cast<unsigned char>(other | (random() & 4) |
							     (random() % 3 ? 1 : random() & 3));
		const auto inverted = static_cast<unsigned char>(long_mode ? random() : 0xff);

		if (random() % 16 == 0)
			add_prefixes(made.bytes);
		else if (random() % 16 == 0)
			made.bytes.push_back(0x64);
		if (random() % 2) {
			made.bytes.append({0xc5,
					   static_cast<unsigned char>(last | (inverted & 0x80)),
					   opcode_2()});
		} else {
			static constexpr unsigned char second[] = {
				0x17, 0x58, 0x59, 0x78, 0x79, 0xf2, 0xf3, 0xf5, 0xf6,
				0xf7, 0xf2, 0xf3, 0xf5, 0xf6, 0xf7, 0xf5, 0xf7};
			const auto map = static_cast<unsigned>(random() % 16 ? 1 + random() % 3
									     : random() & 0x1f);
			const unsigned char opcode =
				map == 3   ? (random() % 2 ? 0xf0 : opcode_3a())
				: map == 2 ? (random() % 2 ? one_of(second) : opcode_38())
					   : opcode_2();
			/* Those of general registers have one length, and all kinds. */
			const auto third = static_cast<unsigned char>(
				map == 1 || opcode < 0xf0 || random() % 16 == 0
					? last
					: (last & 0x78) | (map == 3 ? 3 : random() & 3));

			made.bytes.append(
				{0xc4,
				 static_cast<unsigned char>((inverted & 0xe0) | map |
							    (long_mode ? 0 : random() & 0x20)),
				 static_cast<unsigned char>(third | (random() % 4 ? 0 : 0x80)),
				 opcode});
		}
		add_operands(made);
		return made;
	}

	/* Whatever the opcode takes: displacements and immediates that are small, or not. */
	void add_operands(Instruction &made)
	{
		made.modrm_at = static_cast<int>(made.bytes.size());
		made.bytes.push_back(random() % 4 ? byte() : byte() | 0xc0);
		for (unsigned i = 0; i < 2; i++) {
			static constexpr unsigned char special[] = {0,	  1,	0x1f, 0x20, 0x3f,
								    0x40, 0x80, 0xff, 0x7f};

			made.bytes.push_back(random() % 4 ? byte() : one_of(special));
		}
		const unsigned char above = random() % 4 == 0 ? byte() : random() % 2 ? 0 : 0xff;
		for (unsigned i = 0; i < 14; i++)
			made.bytes.push_back(random() % 16 ? above : byte());
	}

	Random &random;
	const bool long_mode;
};

#endif /* PERFRING_X86_BRANCH_INSTRUCTIONS_HH */
