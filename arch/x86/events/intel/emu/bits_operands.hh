/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions on the bits of general registers to ops that not every CPU knows: POPCNT, CRC32,
 * MOVBE, BMI1 and BMI2. SDM volume 2, section 2.6.16 for those behind VEX.
 */
#ifndef X86_EVENTS_EMU_BITS_OPERANDS_HH
#define X86_EVENTS_EMU_BITS_OPERANDS_HH

#include "vector_operands.hh"

namespace x86_emu {

/* Of an instruction whose REX is what VEX says, if there is any. */
class BitsTranslator : public Operands {
    public:
	BitsTranslator(const VectorPrefix &prefix, const x86_decoded &decoded,
		       const unsigned char *code, unsigned char mode, unsigned offset)
		: Operands(decoded, code, mode, offset),
		  prefix(prefix)
	{
	}

	/* False: it is not in the repertoire. */
	bool run()
	{
		if (!begin() || d.prefixes & X86_PREFIX_LOCK)
			return false;
		if (prefix.vex)
			return vex();
		if (d.map == X86_MAP_0F)
			return d.opcode == 0xb8 && d.prefixes & X86_PREFIX_REP &&
			       takes(bits_count, X86_CAN_POPCNT, full);
		return d.map == X86_MAP_0F38 && (d.opcode & 0xfe) == 0xf0 && swap_or_sum();
	}

    private:
	bool takes(Bits operation, unsigned can, unsigned size)
	{
		op.operation = operation;
		op.to = reg(long_size);
		op.from = rm(size);
		op.immediate |= static_cast<int>(can << bits_can_shift);
		return either(bits_r, bits_m, size);
	}

	bool swap_or_sum()
	{
		op.immediate = 0;
		if (d.prefixes & X86_PREFIX_REPNE) {
			/* With 66 in front, bytes are nothing that anybody writes. */
			if (!(d.opcode & 1) && d.prefixes & X86_PREFIX_OPERAND)
				return false;
			return takes(bits_crc32, X86_CAN_CRC32, width());
		}
		if (d.prefixes & X86_PREFIX_REP || is_register())
			return false;
		return takes(d.opcode & 1 ? bits_store_swapped : bits_load_swapped, X86_CAN_MOVBE,
			     full);
	}

	bool vex()
	{
		const unsigned size = prefix.w && long_mode ? 3 : 2;

		if (prefix.wide)
			return false;
		if (prefix.map == 3) {
			op.immediate = code[d.length - 1];
			return d.opcode == 0xf0 && prefix.kind == 3 && !prefix.other &&
			       takes(bits_ror, X86_CAN_BMI, size);
		}
		op.immediate = register_place[long_mode ? prefix.other : prefix.other & 7];
		if (prefix.map != 2)
			return false;
		switch (d.opcode) {
		case 0xf2:
			return prefix.kind == 0 && takes(bits_andn, X86_CAN_BMI, size);
		case 0xf3:
			return prefix.kind == 0 && lowest(size);
		case 0xf5:
			return prefix.kind != 1 && takes(prefix.kind == 0   ? bits_bzhi
							 : prefix.kind == 2 ? bits_pext
									    : bits_pdep,
							 X86_CAN_BMI, size);
		case 0xf6:
			return prefix.kind == 3 && takes(bits_mulx, X86_CAN_BMI, size);
		case 0xf7:
			return takes(prefix.kind == 0	? bits_bextr
				     : prefix.kind == 1 ? bits_shl
				     : prefix.kind == 2 ? bits_sar
							: bits_shr,
				     X86_CAN_BMI, size);
		default:
			return false;
		}
	}

	/* BLSR, BLSMSK, BLSI: the third register is the only one. */
	bool lowest(unsigned size)
	{
		const unsigned which = field();
		const int to = op.immediate;

		if (which < 1 || which > 3 ||
		    !takes(static_cast<Bits>(bits_blsr + which - 1), X86_CAN_BMI, size))
			return false;
		op.to = static_cast<unsigned char>(to);
		return true;
	}

	const VectorPrefix &prefix;
};

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_BITS_OPERANDS_HH */
