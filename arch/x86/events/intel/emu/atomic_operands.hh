/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions that change memory at once to ops: LOCK and what implies it, and those made
 * for it. SDM volume 2, LOCK, XADD, CMPXCHG, XCHG, BTS.
 */
#ifndef X86_EVENTS_EMU_ATOMIC_OPERANDS_HH
#define X86_EVENTS_EMU_ATOMIC_OPERANDS_HH

#include "operands.hh"

namespace x86_emu {

class AtomicTranslator : public Operands {
    public:
	using Operands::Operands;

	/* False: it is not in the repertoire. */
	bool run()
	{
		/* REP in front of LOCK is a transaction's, where there are any. */
		if (!begin() || repeated())
			return false;
		locked = d.prefixes & X86_PREFIX_LOCK;
		op.to = locked;
		op.from = no_register;
		if (d.map == X86_MAP_1)
			return one_byte();
		return d.map == X86_MAP_0F && two_bytes();
	}

    private:
	/* Of memory alone: with registers, LOCK is #UD. */
	bool changes(unsigned operation, unsigned size)
	{
		op.operation = static_cast<unsigned char>(operation);
		return memory() && set(atomic, size);
	}

	bool changes_by_register(unsigned operation)
	{
		op.from = reg(width());
		return changes(operation, width());
	}

	bool one_byte()
	{
		const unsigned char opcode = d.opcode;

		if (opcode == 0x86 || opcode == 0x87) {
			op.to = 1;
			return changes_by_register(atomic_exchange);
		}
		if (!locked)
			return false;
		if (opcode < 0x38)
			return (opcode & 7) < 2 && changes_by_register(opcode >> 3);
		switch (opcode) {
		case 0x80:
		case 0x81:
		case 0x83:
			return field() != alu_cmp && changes(field(), width());
		case 0xf6:
		case 0xf7:
			return (field() & 6) == 2 &&
			       changes(field() == 2 ? atomic_not : atomic_neg, width());
		case 0xfe:
		case 0xff:
			return field() < 2 && changes(field() ? atomic_dec : atomic_inc, width());
		default:
			return false;
		}
	}

	bool two_bytes()
	{
		switch (d.opcode) {
		case 0xb0:
		case 0xb1:
			return anywhere(atomic_compare, atomic_compare_r);
		case 0xc0:
		case 0xc1:
			return anywhere(atomic_add, atomic_add_r);
		case 0xba:
			return field() >= (locked ? 5 : 4) &&
			       changes(atomic_bit_test + (field() & 3), full);
		default:
			return false;
		}
	}

	bool anywhere(Atomic in_memory, Atomic in_register)
	{
		if (!is_register())
			return changes_by_register(in_memory);
		op.operation = in_register;
		op.from = reg(width());
		op.to = rm(width());
		return !locked && set(atomic, width());
	}

	bool locked = false;
};

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_ATOMIC_OPERANDS_HH */
