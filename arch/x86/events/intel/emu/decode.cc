// SPDX-License-Identifier: GPL-2.0
/*
 * Where an instruction ends, and its parts. SDM volume 2, chapter 2 and the opcode maps of
 * appendix A; AMD's manual, volume 3, for XOP, 3DNow! and SSE4a. An encoding that no CPU
 * carries out may get any length: it never retires.
 */
#include "branch.h"

namespace {

constexpr unsigned longest = 15;

/* Sets of opcodes: bit n of word n / 32. */
struct opcode_set {
	unsigned bits[8];

	constexpr bool has(unsigned opcode) const
	{
		return bits[opcode >> 5] >> (opcode & 31) & 1;
	}
};

struct range {
	unsigned char first, last;
};

template <unsigned N> constexpr opcode_set set_of(const range (&ranges)[N])
{
	opcode_set set = {};

	for (const range &r : ranges)
		for (unsigned o = r.first; o <= r.last; o++)
			set.bits[o >> 5] |= 1u << (o & 31);
	return set;
}

/* The one-byte map. */
constexpr opcode_set modrm_1 = set_of({{0x00, 0x03},
				       {0x08, 0x0b},
				       {0x10, 0x13},
				       {0x18, 0x1b},
				       {0x20, 0x23},
				       {0x28, 0x2b},
				       {0x30, 0x33},
				       {0x38, 0x3b},
				       {0x62, 0x63},
				       {0x69, 0x69},
				       {0x6b, 0x6b},
				       {0x80, 0x8f},
				       {0xc0, 0xc1},
				       {0xc4, 0xc7},
				       {0xd0, 0xd3},
				       {0xd8, 0xdf},
				       {0xf6, 0xf7},
				       {0xfe, 0xff}});
constexpr opcode_set imm8_1 =
	set_of({{0x04, 0x04}, {0x0c, 0x0c}, {0x14, 0x14}, {0x1c, 0x1c}, {0x24, 0x24},
		{0x2c, 0x2c}, {0x34, 0x34}, {0x3c, 0x3c}, {0x6a, 0x6b}, {0x70, 0x7f},
		{0x80, 0x80}, {0x82, 0x83}, {0xa8, 0xa8}, {0xb0, 0xb7}, {0xc0, 0xc1},
		{0xc6, 0xc6}, {0xcd, 0xcd}, {0xd4, 0xd5}, {0xe0, 0xe7}, {0xeb, 0xeb}});
/* 16 or 32 bits, by the operand size. */
constexpr opcode_set immz_1 = set_of({{0x05, 0x05},
				      {0x0d, 0x0d},
				      {0x15, 0x15},
				      {0x1d, 0x1d},
				      {0x25, 0x25},
				      {0x2d, 0x2d},
				      {0x35, 0x35},
				      {0x3d, 0x3d},
				      {0x68, 0x69},
				      {0x81, 0x81},
				      {0xa9, 0xa9},
				      {0xc7, 0xc7},
				      {0xe8, 0xe9}});

/* The map behind 0F: what has no ModR/M byte. */
constexpr opcode_set bare_2 = set_of({{0x04, 0x0c},
				      {0x0e, 0x0e},
				      {0x30, 0x37},
				      {0x77, 0x77},
				      {0x80, 0x8f},
				      {0xa0, 0xa2},
				      {0xa8, 0xaa},
				      {0xc8, 0xcf}});
constexpr opcode_set imm8_2 = set_of({{0x0f, 0x0f},
				      {0x70, 0x73},
				      {0xa4, 0xa4},
				      {0xac, 0xac},
				      {0xba, 0xba},
				      {0xc2, 0xc2},
				      {0xc4, 0xc6}});

class reader {
    public:
	reader(const unsigned char *code, unsigned n) : code(code), left(n < longest ? n : longest)
	{
	}

	bool peek(unsigned char &byte) const
	{
		if (at == left)
			return false;
		byte = code[at];
		return true;
	}

	bool next(unsigned char &byte)
	{
		if (!peek(byte))
			return false;
		at++;
		return true;
	}

	/* A little-endian number, sign-extended; more than 4 bytes are passed over. */
	bool number(unsigned bytes, int &value)
	{
		unsigned result = 0;

		if (left - at < bytes)
			return false;
		for (unsigned i = 0; i < bytes && i < 4; i++)
			result |= static_cast<unsigned>(code[at + i]) << 8 * i;
		if (bytes == 1)
			value = static_cast<int>(result ^ 0x80) - 0x80;
		else if (bytes == 2)
			value = static_cast<short>(result);
		else
			value = static_cast<int>(result);
		at += bytes;
		return true;
	}

	unsigned position() const
	{
		return at;
	}

    private:
	const unsigned char *code;
	unsigned left;
	unsigned at = 0;
};

class decoder {
    public:
	decoder(const unsigned char *code, unsigned n, x86_decoded &decoded)
		: in(code, n),
		  d(decoded)
	{
	}

	bool run()
	{
		unsigned char byte = 0;

		if (!take_prefixes() || !in.next(byte) || !take_opcode(byte))
			return false;
		if (has_modrm() && !take_modrm())
			return false;
		if (!take_immediates())
			return false;
		d.length = static_cast<unsigned char>(in.position());
		return true;
	}

    private:
	/* REX only counts right before the opcode. */
	bool take_prefixes()
	{
		unsigned char byte;

		for (;;) {
			if (!in.peek(byte))
				return false;
			const unsigned char flag = prefix_flag(byte);

			if (flag) {
				d.prefixes = static_cast<unsigned char>(d.prefixes | flag);
				d.rex = 0;
			} else if (d.long_mode && (byte & 0xf0) == 0x40) {
				d.rex = byte;
			} else {
				return true;
			}
			in.next(byte);
		}
	}

	static unsigned char prefix_flag(unsigned char byte)
	{
		switch (byte) {
		case 0x66:
			return X86_PREFIX_OPERAND;
		case 0x67:
			return X86_PREFIX_ADDRESS;
		case 0xf2:
			return X86_PREFIX_REPNE;
		case 0xf3:
			return X86_PREFIX_REP;
		case 0xf0:
			return X86_PREFIX_LOCK;
		case 0x64:
		case 0x65:
			return X86_PREFIX_FS_GS;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
			return X86_PREFIX_SEGMENT;
		default:
			return 0;
		}
	}

	bool take_opcode(unsigned char byte)
	{
		if (byte == 0x0f)
			return take_escaped();
		if (is_vector_prefix(byte))
			return take_vector(byte);
		d.map = X86_MAP_1;
		d.opcode = byte;
		return true;
	}

	bool take_escaped()
	{
		if (!in.next(d.opcode))
			return false;
		d.map = X86_MAP_0F;
		if (d.opcode == 0x38)
			d.map = X86_MAP_0F38;
		else if (d.opcode == 0x3a)
			d.map = X86_MAP_0F3A;
		else
			return true;
		return in.next(d.opcode);
	}

	/* In 32-bit code these are LES, LDS and BOUND, unless "ModR/M" names a register. */
	bool is_vector_prefix(unsigned char byte) const
	{
		unsigned char following;

		if (byte != 0xc4 && byte != 0xc5 && byte != 0x62 && byte != 0x8f)
			return false;
		if (!in.peek(following))
			return false;
		if (byte == 0x8f) /* XOP; POP has a 0 there */
			return (following & 0x1f) >= 8;
		return d.long_mode || following >> 6 == 3;
	}

	bool take_vector(unsigned char byte)
	{
		unsigned char payload[3];
		const unsigned n = byte == 0xc5 ? 1 : byte == 0x62 ? 3 : 2;

		for (unsigned i = 0; i < n; i++)
			if (!in.next(payload[i]))
				return false;
		d.map = X86_MAP_VECTOR;
		vector_map = byte == 0xc5 ? 1 : payload[0] & (byte == 0x62 ? 7 : 0x1f);
		return in.next(d.opcode);
	}

	bool has_modrm() const
	{
		switch (d.map) {
		case X86_MAP_1:
			return modrm_1.has(d.opcode);
		case X86_MAP_0F:
			return !bare_2.has(d.opcode);
		case X86_MAP_VECTOR:
			return vector_map != 1 || d.opcode != 0x77;
		default:
			return true;
		}
	}

	bool take_modrm()
	{
		d.has_modrm = 1;
		if (!in.next(d.modrm))
			return false;
		const unsigned mod = d.modrm >> 6, rm = d.modrm & 7;

		/* MOV to and from control and debug registers know no memory. */
		if (mod == 3 || (d.map == X86_MAP_0F && (d.opcode & 0xfc) == 0x20))
			return true;
		if (!d.long_mode && d.prefixes & X86_PREFIX_ADDRESS)
			return take_displacement(mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0);
		if (rm == 4) {
			d.has_sib = 1;
			if (!in.next(d.sib))
				return false;
		}
		const unsigned base = rm == 4 ? d.sib & 7u : rm;

		return take_displacement(mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0);
	}

	bool take_displacement(unsigned bytes)
	{
		d.has_displacement = bytes > 0;
		return in.number(bytes, d.displacement);
	}

	unsigned immz() const
	{
		return d.prefixes & X86_PREFIX_OPERAND && !(d.rex & 8) ? 2 : 4;
	}

	bool take_immediates()
	{
		int ignored;

		switch (d.map) {
		case X86_MAP_1:
			return take_immediates_1();
		case X86_MAP_0F:
			return take_immediates_2();
		case X86_MAP_0F3A:
			return in.number(1, d.immediate);
		case X86_MAP_VECTOR:
			if (vector_map == 0xa)
				return in.number(4, ignored);
			if (vector_map == 3 || vector_map == 8 ||
			    (vector_map == 1 && d.opcode != 0x0f && d.opcode != 0xa4 &&
			     d.opcode != 0xac && d.opcode != 0xba && imm8_2.has(d.opcode)))
				return in.number(1, ignored);
			return true;
		default:
			return true;
		}
	}

	bool take_immediates_1()
	{
		const unsigned reg = d.modrm >> 3 & 7;

		if (imm8_1.has(d.opcode))
			return in.number(1, d.immediate);
		if (immz_1.has(d.opcode))
			return in.number(is_near_branch() ? near_bytes() : immz(), d.immediate);
		switch (d.opcode) {
		case 0xf6:
			return reg > 1 || in.number(1, d.immediate);
		case 0xf7:
			return reg > 1 || in.number(immz(), d.immediate);
		case 0xa0:
		case 0xa1:
		case 0xa2:
		case 0xa3:
			return in.number(address_bytes(), d.immediate);
		case 0xc2:
		case 0xca:
			return in.number(2, d.immediate);
		case 0xc8:
			return in.number(3, d.immediate);
		case 0x9a:
		case 0xea:
			return in.number(immz() + 2, d.immediate);
		default:
			break;
		}
		if (d.opcode >= 0xb8 && d.opcode <= 0xbf)
			return in.number(d.rex & 8 ? 8 : immz(), d.immediate);
		return true;
	}

	bool is_near_branch() const
	{
		return d.opcode == 0xe8 || d.opcode == 0xe9;
	}

	/* In 64-bit code near branches have 32 bits on Intel's CPUs, whatever the prefix. */
	unsigned near_bytes() const
	{
		return d.long_mode ? 4 : immz();
	}

	unsigned address_bytes() const
	{
		const unsigned whole = d.long_mode ? 8 : 4;

		return d.prefixes & X86_PREFIX_ADDRESS ? whole / 2 : whole;
	}

	bool take_immediates_2()
	{
		int ignored;

		if ((d.opcode & 0xf0) == 0x80)
			return in.number(near_bytes(), d.immediate);
		/* EXTRQ and INSERTQ */
		if (d.opcode == 0x78 && d.prefixes & (X86_PREFIX_OPERAND | X86_PREFIX_REPNE))
			return in.number(2, ignored);
		return !imm8_2.has(d.opcode) || in.number(1, d.immediate);
	}

	reader in;
	x86_decoded &d;
	unsigned vector_map = 0;
};

} // namespace

extern "C" void x86_decode(const unsigned char *code, unsigned int n, int long_mode,
			   x86_decoded *decoded)
{
	const unsigned char mode = long_mode != 0;

	*decoded = {};
	decoded->long_mode = mode;
	if (decoder(code, n, *decoded).run())
		return;
	*decoded = {};
	decoded->long_mode = mode;
}
