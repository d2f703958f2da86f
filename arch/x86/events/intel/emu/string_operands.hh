/* SPDX-License-Identifier: GPL-2.0 */
/* String instructions to ops. SDM volume 2, MOVS, CMPS, STOS, LODS, SCAS, REP. */
#ifndef X86_EVENTS_EMU_STRING_OPERANDS_HH
#define X86_EVENTS_EMU_STRING_OPERANDS_HH

#include "operands.hh"

namespace x86_emu {

class StringTranslator : public Operands {
    public:
	using Operands::Operands;

	/* False: it is not in the repertoire. */
	bool run()
	{
		if (!begin() || d.prefixes & X86_PREFIX_LOCK || segment_given() ||
		    d.map != X86_MAP_1)
			return false;
		switch (d.opcode & 0xfe) {
		case 0xa4:
			return strings(string_move);
		case 0xa6:
			return strings(string_compare);
		case 0xaa:
			return strings(string_store);
		case 0xac:
			return strings(string_load);
		case 0xae:
			return strings(string_scan);
		default:
			return false;
		}
	}

    private:
	bool strings(String operation)
	{
		const bool compares = operation == string_compare || operation == string_scan;

		/* REPNE in front of the others is reserved. */
		if (!compares && d.prefixes & X86_PREFIX_REPNE)
			return false;
		op.operation = operation;
		op.to = static_cast<unsigned char>(width());
		op.from = d.prefixes & X86_PREFIX_REP	  ? repeat_while_equal
			  : d.prefixes & X86_PREFIX_REPNE ? repeat_until_equal
							  : repeat_never;
		return set(string);
	}
};

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_STRING_OPERANDS_HH */
