/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Vector instructions to ops: moves, and what works on integers lane by lane; SSE2, AVX and
 * AVX2. Nothing that could raise a floating-point exception. SDM volume 2, sections 2.3 and
 * appendix A.
 */
#ifndef X86_EVENTS_EMU_VECTOR_OPERANDS_HH
#define X86_EVENTS_EMU_VECTOR_OPERANDS_HH

#include "operands.hh"
#include "vector.hh"

namespace x86_emu {

/* What VEX says, or what legacy prefixes say. */
struct VectorPrefix {
	bool vex = false;
	bool wide = false;
	bool w = false;
	unsigned char rex = 0;	 /* as REX would have it */
	unsigned char map = 1;	 /* 1: behind 0F */
	unsigned char kind = 0;	 /* 0 none, 1: 66, 2: F3, 3: F2 */
	unsigned char other = 0; /* the register that only VEX names */
};

/* The prefix is not one of these: kind is 4. */
inline VectorPrefix vector_prefix(const x86_decoded &d, const unsigned char *code)
{
	constexpr unsigned kinds = X86_PREFIX_OPERAND | X86_PREFIX_REP | X86_PREFIX_REPNE;
	VectorPrefix p;

	p.kind = 4;
	if (d.prefixes & (X86_PREFIX_LOCK | X86_PREFIX_ADDRESS))
		return p;
	if (d.map == X86_MAP_0F) {
		p.rex = d.rex;
		p.w = d.rex & 8;
		switch (d.prefixes & kinds) {
		case 0:
			p.kind = 0;
			break;
		case X86_PREFIX_OPERAND:
			p.kind = 1;
			break;
		case X86_PREFIX_REP:
			p.kind = 2;
			break;
		case X86_PREFIX_REPNE:
			p.kind = 3;
			break;
		default:
			break;
		}
		return p;
	}
	/* VEX alone, or behind FS. */
	const unsigned char *at = code + ((d.prefixes & X86_PREFIX_FS_GS) != 0);
	if (d.map != X86_MAP_VECTOR || d.prefixes & (kinds | X86_PREFIX_SEGMENT) || d.rex ||
	    (*at != 0xc4 && *at != 0xc5))
		return p;
	const unsigned char last = at[*at == 0xc4 ? 2 : 1], first = at[1];
	p.vex = true;
	p.kind = last & 3;
	p.wide = last & 4;
	p.other = ~last >> 3 & 0xf;
	p.rex = first & 0x80 ? 0 : 4;
	if (*at == 0xc4) {
		p.map = first & 0x1f;
		p.w = last & 0x80;
		p.rex = static_cast<unsigned char>(p.rex | (first & 0x40 ? 0 : 2) |
						   (first & 0x20 ? 0 : 1));
	}
	return p;
}

/* Decoded, with REX as VEX has it. */
inline x86_decoded with_rex(const x86_decoded &decoded, unsigned char rex, bool long_mode)
{
	x86_decoded d = decoded;

	d.rex = long_mode ? rex : 0;
	return d;
}

/* Of an instruction whose REX is what the prefix says, see with_rex(). */
class VectorTranslator : private VectorPrefix, public Operands {
    public:
	VectorTranslator(const VectorPrefix &prefix, const x86_decoded &decoded,
			 const unsigned char *code, unsigned char mode, unsigned offset)
		: VectorPrefix(prefix),
		  Operands(decoded, code, mode, offset)
	{
	}

	/* False: it is not in the repertoire. */
	bool run()
	{
		if (!d.length || kind == 4 || (!long_mode && segment_given()))
			return false;
		op.base = op.index = no_register;
		op.offset = static_cast<unsigned char>(offset);
		op.to = number();
		op.from = low_number();
		op.immediate = code[d.length - 1] |
			       (long_mode ? other : other & 7) << vector_other_shift |
			       (vex ? vector_vex : 0) | (wide ? vector_wide : 0);
		if (map == 1)
			return map_1();
		return vex && map == 2 && kind == 1 && map_2();
	}

    private:
	unsigned char number() const
	{
		return static_cast<unsigned char>(field() | (d.rex & 4u) << 1);
	}

	unsigned char low_number() const
	{
		return static_cast<unsigned char>((d.modrm & 7u) | (d.rex & 1u) << 3);
	}

	/* VEX names a third register where there is none: #UD. */
	bool alone() const
	{
		return !other;
	}

	bool map_1()
	{
		if (kind == 1 && is_lane_operation(d.opcode))
			return binary(d.opcode);
		switch (d.opcode) {
		case 0x10:
		case 0x11:
			if (kind >= 2)
				return scalar(kind);
			return move(d.opcode & 1, false);
		case 0x12:
		case 0x13:
		case 0x16:
		case 0x17:
			return half();
		case 0x28:
		case 0x29:
			return kind < 2 && move(d.opcode & 1, true);
		case 0x54:
		case 0x55:
		case 0x56:
		case 0x57:
			return kind < 2 && binary(logic_of(d.opcode));
		case 0x6e:
		case 0x7e:
		case 0xd6:
			return part();
		case 0x6f:
		case 0x7f:
			return (kind == 1 || kind == 2) && move(d.opcode & 0x10, kind == 1);
		case 0x70:
			return kind == 1 && alone() && reg_or_memory(vector_shuffle_r);
		case 0x77:
			/* 32-bit code clears only those that it has; all is the kernel's. */
			return long_mode && vex && !wide && !kind && alone() && set(vector_clear);
		case 0xd7:
			op.to = reg(long_size);
			return kind == 1 && alone() && is_register() && set(vector_mask);
		default:
			return false;
		}
	}

	/* ANDPS, ANDNPS, ORPS, XORPS are PAND, PANDN, POR and PXOR. */
	static unsigned char logic_of(unsigned char opcode)
	{
		constexpr unsigned char codes[] = {0xdb, 0xdf, 0xeb, 0xef};

		return codes[opcode & 3];
	}

	/* The code for registers has the one for memory behind it. */
	bool reg_or_memory(unsigned base)
	{
		return either(base, base + 1, 0);
	}

	bool binary(unsigned char operation)
	{
		op.operation = operation;
		return reg_or_memory(vector_binary_r);
	}

	bool move(bool to_memory, bool aligned)
	{
		if (!alone())
			return false;
		if (to_memory) {
			op.to = low_number();
			op.from = number();
		}
		if (aligned)
			op.immediate |= vector_aligned;
		return either(vector_move, to_memory ? vector_store : vector_load, 0);
	}

	/* MOVSS, MOVSD and memory. */
	bool scalar(unsigned size)
	{
		op.operation = static_cast<unsigned char>(size);
		if (wide || !alone() || !memory())
			return false;
		op.from = op.to;
		return set(d.opcode & 1 ? vector_part_store : vector_part_load);
	}

	/* MOVLPS, MOVHPS and memory. */
	bool half()
	{
		op.operation = (d.opcode & 4) != 0;
		if (wide || kind > 1 || !memory())
			return false;
		op.from = op.to;
		if (d.opcode & 1)
			return alone() && set(vector_half_store);
		return set(vector_half_load);
	}

	/* MOVD, MOVQ */
	bool part()
	{
		const bool to_memory = d.opcode == 0xd6 || (d.opcode == 0x7e && kind == 1);
		const bool quad = d.opcode == 0xd6 || kind == 2 || (w && long_mode);

		if (wide || !alone() || (kind != 1 && !(kind == 2 && d.opcode == 0x7e)))
			return false;
		op.operation = quad ? 3 : 2;
		if (to_memory)
			op.from = number();
		if (!is_register())
			return memory() && set(to_memory ? vector_part_store : vector_part_load);
		if (d.opcode == 0x6e) {
			op.from = rm(long_size);
			return set(vector_from_general);
		}
		if (d.opcode == 0x7e && kind == 1) {
			op.to = rm(long_size);
			return set(vector_to_general);
		}
		if (to_memory)
			op.to = low_number();
		return set(vector_part_move);
	}

	bool map_2()
	{
		switch (d.opcode) {
		case 0x17:
			return alone() && reg_or_memory(vector_test_r);
		case 0x58:
		case 0x59:
			return broadcast(d.opcode == 0x58 ? 2 : 3);
		case 0x78:
		case 0x79:
			return broadcast(d.opcode & 1);
		default:
			return false;
		}
	}

	bool broadcast(unsigned size)
	{
		op.operation = static_cast<unsigned char>(size);
		return alone() && !w && reg_or_memory(vector_broadcast_r);
	}
};

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_VECTOR_OPERANDS_HH */
