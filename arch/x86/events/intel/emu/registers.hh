/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers by their numbers, and what their flags say. SDM volume 1, "EFLAGS Register" and
 * appendix B.
 */
#ifndef X86_EVENTS_EMU_REGISTERS_HH
#define X86_EVENTS_EMU_REGISTERS_HH

namespace x86_emu {

constexpr unsigned long carry = 1, parity = 1 << 2, adjust = 1 << 4, zero = 1 << 6, sign = 1 << 7,
			overflow = 1 << 11,
			arithmetic = carry | parity | adjust | zero | sign | overflow,
			direction = 1 << 10;

/* Where each register number is in x86_registers, counted in bytes. */
constexpr unsigned char register_place[16] = {10 * 8, 11 * 8, 12 * 8, 5 * 8, 19 * 8, 4 * 8,
					      13 * 8, 14 * 8, 9 * 8,  8 * 8, 7 * 8,  6 * 8,
					      3 * 8,  2 * 8,  1 * 8,  0 * 8};

/* Does a condition, the low 4 bits of Jcc, hold? SDM volume 1, appendix B. */
constexpr bool holds(unsigned condition, unsigned long flags)
{
	bool result = false;

	switch (condition >> 1 & 7) {
	case 0:
		result = flags & overflow;
		break;
	case 1:
		result = flags & carry;
		break;
	case 2:
		result = flags & zero;
		break;
	case 3:
		result = flags & (carry | zero);
		break;
	case 4:
		result = flags & sign;
		break;
	case 5:
		result = flags & parity;
		break;
	case 6:
		result = !(flags & sign) != !(flags & overflow);
		break;
	case 7:
		result = flags & zero || !(flags & sign) != !(flags & overflow);
		break;
	}
	return result != (condition & 1);
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_REGISTERS_HH */
