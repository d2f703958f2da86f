/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Vector instructions to ops: SSE up to 4.2, AVX and AVX2, integers and floating point. SDM
 * volume 2, section 2.3 and appendix A.
 */
#ifndef X86_EVENTS_EMU_VECTOR_OPERANDS_HH
#define X86_EVENTS_EMU_VECTOR_OPERANDS_HH

#include "floats.hh"
#include "interpret.h"
#include "lanes.hh"
#include "operands.hh"

namespace x86_emu {

/* What VEX says, or what legacy prefixes say. */
struct VectorPrefix {
	bool vex = false;
	bool wide = false;
	bool w = false;
	unsigned char rex = 0;	 /* as REX would have it */
	unsigned char map = 1;	 /* 1: behind 0F, 2: 0F 38, 3: 0F 3A */
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
	if (d.map != X86_MAP_1 && d.map != X86_MAP_VECTOR) {
		p.map = d.map == X86_MAP_0F ? 1 : d.map == X86_MAP_0F38 ? 2 : 3;
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
		if (kind == 4 || !begin())
			return false;
		op.to = number();
		op.from = low_number();
		op.immediate = code[d.length - 1] |
			       (long_mode ? other : other & 7) << vector_other_shift |
			       (vex ? vector_vex : 0) | (wide ? vector_wide : 0);
		op.immediate |= kind << vector_kind_shift;
		return (map == 1 ? map_1() : map == 2 ? map_2() : map == 3 && map_3()) && needs();
	}

    private:
	/* Has to be there for this one. */
	bool needs()
	{
		unsigned all = vex ? X86_CAN_AVX2 : X86_CAN_SSE2;

		if (map != 1 || op.code == vector_spread_r || op.code == vector_spread_m)
			all |= X86_CAN_SSE4;
		if (op.code >= vector_float_r && op.code <= vector_to_integer_m)
			all |= X86_CAN_FLOAT;
		op.immediate |= static_cast<int>(all << vector_needs_shift);
		return true;
	}

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
		/* The count is 16 bytes, however wide the rest is. */
		if (kind == 1 && is_shift(d.opcode))
			return !wide && binary(d.opcode);
		if (is_float(d.opcode, kind))
			return calculation();
		switch (d.opcode) {
		case 0x10:
		case 0x11:
			if (kind >= 2)
				return scalar(kind);
			return move(d.opcode & 1, false);
		case 0x12:
		case 0x16:
			if (kind >= 2)
				return spread();
			return is_register() ? half_move() : half();
		case 0x13:
		case 0x17:
			return half();
		/* UNPCKLPS and its like are PUNPCKLDQ and its like. */
		case 0x14:
		case 0x15:
			return kind < 2 &&
			       binary(d.opcode & 1 ? (kind ? 0x6d : 0x6a) : (kind ? 0x6c : 0x62));
		case 0x2a:
			return integer_to_float();
		case 0x2b:
		case 0xe7:
			return kind == (d.opcode == 0xe7) && !is_register() && move(true, true);
		case 0x2c:
		case 0x2d:
			return float_to_integer();
		case 0x2e:
		case 0x2f:
			op.operation = d.opcode == 0x2e;
			return kind < 2 && !wide && alone() && reg_or_memory(vector_order_r);
		case 0x50:
			op.to = reg(long_size);
			op.operation = kind ? 3 : 2;
			return kind < 2 && alone() && is_register() && set(vector_signs);
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
			op.operation = kind == 2;
			return kind && alone() &&
			       reg_or_memory(kind == 1 ? vector_shuffle_r : vector_words_r);
		case 0x71:
		case 0x72:
		case 0x73:
			return shift();
		case 0xc2:
			return code[d.length - 1] < 8 && !(wide && kind >= 2) &&
			       reg_or_memory(vector_compare_r);
		case 0xc4:
			return kind == 1 && !wide && insertion(1);
		case 0xc5:
			op.to = reg(long_size);
			op.operation = 1;
			return kind == 1 && !wide && alone() && is_register() &&
			       set(vector_extract_r);
		case 0xc6:
			op.operation = kind == 1;
			return kind < 2 && reg_or_memory(vector_pick_r);
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

	/* 0F 71 to 73, on registers alone. */
	bool shift()
	{
		constexpr unsigned char codes[3][8] = {
			{0, 0, 0xd1, 0, 0xe1, 0, 0xf1, 0},
			{0, 0, 0xd2, 0, 0xe2, 0, 0xf2, 0},
			{0, 0, 0xd3, 0, 0, 0, 0xf3, 0},
		};

		if (kind != 1 || !is_register())
			return false;
		if (d.opcode == 0x73 && (field() & 3) == 3) {
			op.operation = field() == 7;
			return set(vector_slide);
		}
		op.operation = codes[d.opcode - 0x71][field()];
		return op.operation && set(vector_shift);
	}

	/* MOVSLDUP, MOVSHDUP, MOVDDUP */
	bool spread()
	{
		op.operation = kind == 3 ? 2 : d.opcode == 0x16;
		return (kind == 2 || d.opcode == 0x12) && alone() && reg_or_memory(vector_spread_r);
	}

	/* MOVHLPS, MOVLHPS */
	bool half_move()
	{
		op.operation = d.opcode == 0x16;
		return !kind && !wide && set(vector_half_move);
	}

	bool insertion(unsigned size)
	{
		op.operation = static_cast<unsigned char>(size);
		if (is_register())
			op.from = rm(long_size);
		return either(vector_insert_r, vector_insert_m, 0);
	}

	/* Its operand is what ModR/M has for a destination. */
	bool extraction(unsigned size)
	{
		op.operation = static_cast<unsigned char>(size);
		op.from = number();
		if (is_register())
			op.to = rm(long_size);
		return alone() && either(vector_extract_r, vector_extract_m, 0);
	}

	/* Of those with one operand, VEX names no other register. */
	bool calculation()
	{
		const bool converts = d.opcode == 0x5a || d.opcode == 0x5b || d.opcode == 0xe6,
			   scalar = kind >= 2 && d.opcode != 0x5b && d.opcode != 0xe6;

		if (wide && (scalar || (converts && d.opcode != 0x5b)))
			return false;
		if ((converts || d.opcode == 0x51) && !scalar && !alone())
			return false;
		op.operation = d.opcode;
		return reg_or_memory(vector_float_r);
	}

	bool integer_to_float()
	{
		op.operation = w && long_mode ? 3 : 2;
		if (is_register())
			op.from = rm(long_size);
		return kind >= 2 && !wide &&
		       either(vector_from_integer_r, vector_from_integer_m, 0);
	}

	bool float_to_integer()
	{
		op.to = reg(long_size);
		op.operation = static_cast<unsigned char>((w && long_mode ? 3 : 2) |
							  (d.opcode & 1 ? 0 : vector_truncates));
		return kind >= 2 && !wide && alone() && reg_or_memory(vector_to_integer_r);
	}

	bool map_3()
	{
		if (kind != 1)
			return false;
		switch (d.opcode) {
		case 0x0f:
			return reg_or_memory(vector_align_r);
		case 0x14:
			return !wide && extraction(0);
		case 0x15:
			return !wide && extraction(1);
		case 0x16:
			return !wide && extraction(w && long_mode ? 3 : 2);
		case 0x20:
			return !wide && insertion(0);
		case 0x22:
			return !wide && insertion(w && long_mode ? 3 : 2);
		case 0x63:
			return !wide && alone() && reg_or_memory(vector_strings_r);
		default:
			return false;
		}
	}

	bool map_2()
	{
		if (kind != 1)
			return false;
		op.operation = d.opcode;
		if (is_lane_operation_38(d.opcode))
			return reg_or_memory(vector_38_r);
		if (is_lane_operation_38_of_one(d.opcode))
			return alone() && reg_or_memory(vector_38_r);
		if (is_widening_38(d.opcode))
			return !wide && alone() && reg_or_memory(vector_widen_r);
		if (d.opcode == 0x17)
			return alone() && reg_or_memory(vector_test_r);
		return vex && broadcast();
	}

	/* VPBROADCASTB and its like. */
	bool broadcast()
	{
		switch (d.opcode) {
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
