/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operands of an instruction, as ops have them. SDM volume 2, chapter 2.
 */
#ifndef X86_EVENTS_EMU_OPERANDS_HH
#define X86_EVENTS_EMU_OPERANDS_HH

#include "op.hh"

namespace x86_emu {

constexpr unsigned long_size = 3;

class Operands {
    public:
	Operands(const x86_decoded &decoded, const unsigned char *code, unsigned char mode,
		 unsigned offset)
		: d(decoded),
		  code(code),
		  long_mode(mode == 2),
		  offset(offset)
	{
	}

	x86_op op = {};

    protected:
	/* What all have in common. False: it is nobody's. */
	bool begin()
	{
		constexpr unsigned repeats = X86_PREFIX_REP | X86_PREFIX_REPNE;

		/* Of both REP prefixes, the last one counts. */
		if (!d.length || d.prefixes & X86_PREFIX_ADDRESS ||
		    (d.prefixes & repeats) == repeats || (!long_mode && segment_given()))
			return false;
		full = d.rex & 8 ? 3 : d.prefixes & X86_PREFIX_OPERAND ? 1 : 2;
		stack = long_mode ? 3 : 2;
		op.base = op.index = no_register;
		op.offset = static_cast<unsigned char>(offset);
		op.immediate = d.immediate;
		return true;
	}

	bool segment_given() const
	{
		return d.prefixes & (X86_PREFIX_SEGMENT | X86_PREFIX_FS_GS);
	}

	bool repeated() const
	{
		return d.prefixes & (X86_PREFIX_REP | X86_PREFIX_REPNE);
	}

	bool is_register() const
	{
		return d.modrm >> 6 == 3;
	}

	unsigned field() const
	{
		return d.modrm >> 3 & 7u;
	}

	/* Without REX, byte registers 4 to 7 are the second bytes of the first four. */
	unsigned char place(unsigned number, unsigned size) const
	{
		if (size == 0 && !d.rex && number >= 4)
			return static_cast<unsigned char>(register_place[number & 3] + 1);
		return register_place[number & 15];
	}

	unsigned char reg(unsigned size) const
	{
		return place(field() | (d.rex & 4u) << 1, size);
	}

	unsigned char rm(unsigned size) const
	{
		return place((d.modrm & 7u) | (d.rex & 1u) << 3, size);
	}

	/* The register that the opcode itself names. */
	unsigned char named(unsigned size) const
	{
		return place((d.opcode & 7u) | (d.rex & 1u) << 3, size);
	}

	unsigned width() const
	{
		return d.opcode & 1 ? full : 0;
	}

	bool set(unsigned base, unsigned size = 0)
	{
		op.code = static_cast<unsigned char>(base + size);
		return true;
	}

	/* FS or GS: the decoder does not tell which. */
	bool take_segment()
	{
		if (!(d.prefixes & X86_PREFIX_FS_GS))
			return true;
		if (d.prefixes & X86_PREFIX_SEGMENT)
			return false;
		for (unsigned i = 0; i < d.length && is_prefix(code[i]); i++)
			if (code[i] == 0x65)
				return false;
		op.address |= address_fs;
		return true;
	}

	/* Of 64-bit code. REX may be in front of others, and means nothing there. */
	static bool is_prefix(unsigned char byte)
	{
		return byte == 0x64 || byte == 0x65 || byte == 0x66 || byte == 0xf0 ||
		       byte == 0xf2 || byte == 0xf3 || (byte & 0xf0) == 0x40;
	}

	/* SDM volume 2, "ModR/M and SIB Bytes". False: it is not in the repertoire. */
	bool memory(bool accessed = true)
	{
		const unsigned mod = d.modrm >> 6, low = d.modrm & 7;

		if (is_register() || (accessed && !take_segment()))
			return false;
		if (!long_mode)
			op.address |= address_narrow;
		op.displacement = d.has_displacement ? d.displacement : 0;
		if (d.has_sib)
			return take_sib(mod);
		if (mod != 0 || low != 5) {
			op.base = rm(long_size);
			return true;
		}
		return !long_mode || take_relative();
	}

	bool take_sib(unsigned mod)
	{
		const unsigned index = (d.sib >> 3 & 7u) | (d.rex & 2u) << 2;

		if ((d.sib & 7) != 5 || mod != 0)
			op.base = register_place[(d.sib & 7u) | (d.rex & 1u) << 3];
		if (index != 4)
			op.index = register_place[index];
		op.address |= static_cast<unsigned char>(d.sib >> 6);
		return true;
	}

	/* What is relative to the instruction behind becomes relative to the run. */
	bool take_relative()
	{
		const long sum = static_cast<long>(d.displacement) + offset + d.length;

		if (sum != static_cast<int>(sum))
			return false;
		op.displacement = static_cast<int>(sum);
		op.address |= address_relative;
		return true;
	}

	/* An operand in ModR/M: the code for registers, or the one for memory. */
	bool either(unsigned in_register, unsigned in_memory, unsigned size)
	{
		if (is_register())
			return set(in_register, size);
		return memory() && set(in_memory, size);
	}

	const x86_decoded &d;
	const unsigned char *code;
	const bool long_mode;
	const unsigned offset;
	/* Logarithms of the operand's and the stack's size. */
	unsigned full = 0, stack = 0;
};

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_OPERANDS_HH */
