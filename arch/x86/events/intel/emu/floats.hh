/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Floating-point instructions, done by the CPU's own with the task's MXCSR, which has all
 * exceptions masked: what they set in it is what the task's would. XMM0 is borrowed.
 */
#ifndef X86_EVENTS_EMU_FLOATS_HH
#define X86_EVENTS_EMU_FLOATS_HH

#include "vector.hh"

namespace x86_emu {

/* What the prefix makes of an opcode: PS, PD, SS, SD. */
enum FloatKind : unsigned char { float_ps, float_pd, float_ss, float_sd };

/* opcode, kind: one number. */
constexpr unsigned float_key(unsigned opcode, unsigned kind)
{
	return opcode << 2 | kind;
}

// clang-format off

#define X86_FLOAT_4(x, opcode, name)                                                               \
	x(opcode, float_ps, name "ps") x(opcode, float_pd, name "pd")                              \
	x(opcode, float_ss, name "ss") x(opcode, float_sd, name "sd")

/* SDM volume 2, table A-3. */
#define X86_FLOATS(x)                                                                              \
	X86_FLOAT_4(x, 0x51, "sqrt") X86_FLOAT_4(x, 0x58, "add") X86_FLOAT_4(x, 0x59, "mul")       \
	X86_FLOAT_4(x, 0x5c, "sub") X86_FLOAT_4(x, 0x5d, "min") X86_FLOAT_4(x, 0x5e, "div")        \
	X86_FLOAT_4(x, 0x5f, "max")                                                                \
	x(0x5a, float_ps, "cvtps2pd") x(0x5a, float_pd, "cvtpd2ps")                                \
	x(0x5a, float_ss, "cvtss2sd") x(0x5a, float_sd, "cvtsd2ss")                                \
	x(0x5b, float_ps, "cvtdq2ps") x(0x5b, float_pd, "cvtps2dq") x(0x5b, float_ss, "cvttps2dq") \
	x(0xe6, float_pd, "cvttpd2dq") x(0xe6, float_ss, "cvtdq2pd") x(0xe6, float_sd, "cvtpd2dq")

#define X86_COMPARISONS(x, kind, suffix)                                                           \
	x(kind, 0, "cmpeq" suffix) x(kind, 1, "cmplt" suffix) x(kind, 2, "cmple" suffix)           \
	x(kind, 3, "cmpunord" suffix) x(kind, 4, "cmpneq" suffix) x(kind, 5, "cmpnlt" suffix)      \
	x(kind, 6, "cmpnle" suffix) x(kind, 7, "cmpord" suffix)

// clang-format on

constexpr bool is_float(unsigned opcode, unsigned kind)
{
	switch (float_key(opcode, kind)) {
#define X86_ONE(code, kind, name) case float_key(code, kind):
		X86_FLOATS(X86_ONE)
#undef X86_ONE
		return true;
	default:
		return false;
	}
}

/* Logarithm of the bytes of an operand in memory, of those that is_float() knows. */
constexpr unsigned float_operand(unsigned opcode, unsigned kind)
{
	const bool half =
		(opcode == 0x5a && kind == float_ps) || (opcode == 0xe6 && kind == float_ss);

	if (half || (kind == float_sd && opcode != 0xe6))
		return 3;
	return kind == float_ss && opcode != 0x5b ? 2 : 4;
}

#define X86_ON_XMM0(instruction)                                                                   \
	asm volatile("movups %%xmm0, %1\n\tmovups %0, %%xmm0\n\t" instruction                      \
		     " %2, %%xmm0\n\tmovups %%xmm0, %0\n\tmovups %1, %%xmm0"                       \
		     : "+m"(to), "=m"(saved)                                                       \
		     : "m"(from))

inline void operate_on_floats(unsigned opcode, unsigned kind, Half &to, const Half &from)
{
	Half saved;

	switch (float_key(opcode, kind)) {
#define X86_ONE(code, kind, name)                                                                  \
	case float_key(code, kind):                                                                \
		X86_ON_XMM0(name);                                                                 \
		break;
		X86_FLOATS(X86_ONE)
#undef X86_ONE
	default:
		break;
	}
}

/* CMPPS and its like, by the predicates that there are without VEX. */
inline void compare_floats(unsigned predicate, unsigned kind, Half &to, const Half &from)
{
	Half saved;

	switch (float_key(predicate, kind)) {
#define X86_ONE(kind, predicate, name)                                                             \
	case float_key(predicate, kind):                                                           \
		X86_ON_XMM0(name);                                                                 \
		break;
		X86_COMPARISONS(X86_ONE, float_ps, "ps")
		X86_COMPARISONS(X86_ONE, float_pd, "pd")
		X86_COMPARISONS(X86_ONE, float_ss, "ss")
		X86_COMPARISONS(X86_ONE, float_sd, "sd")
#undef X86_ONE
	default:
		break;
	}
}

#undef X86_ON_XMM0

/* UCOMISS, UCOMISD, COMISS, COMISD: the arithmetic flags. */
inline unsigned long order_of_floats(bool quiet, bool twice, const Half &a, const Half &b)
{
	Half saved;
	unsigned long flags = 0;

#define X86_ORDER(instruction)                                                                     \
	asm volatile("movups %%xmm0, %1\n\tmovups %2, %%xmm0\n\t" instruction                      \
		     " %3, %%xmm0\n\tlahf\n\tmovups %1, %%xmm0"                                    \
		     : "+a"(flags), "=m"(saved)                                                    \
		     : "m"(a), "m"(b)                                                              \
		     : "cc")
	if (twice && quiet)
		X86_ORDER("ucomisd");
	else if (twice)
		X86_ORDER("comisd");
	else if (quiet)
		X86_ORDER("ucomiss");
	else
		X86_ORDER("comiss");
#undef X86_ORDER
	/* All but ZF, PF and CF are cleared. */
	return flags >> 8 & (zero | parity | carry);
}

/* CVTSI2SS, CVTSI2SD. */
inline void float_from_integer(bool twice, bool wide, unsigned long from, Half &to)
{
	Half saved;

#define X86_CONVERT(instruction, value)                                                            \
	asm volatile("movups %%xmm0, %1\n\tmovups %0, %%xmm0\n\t" instruction                      \
		     " %2, %%xmm0\n\tmovups %%xmm0, %0\n\tmovups %1, %%xmm0"                       \
		     : "+m"(to), "=m"(saved)                                                       \
		     : "r"(value))
	if (twice && wide)
		X86_CONVERT("cvtsi2sdq", from);
	else if (twice)
		X86_CONVERT("cvtsi2sdl", static_cast<unsigned>(from));
	else if (wide)
		X86_CONVERT("cvtsi2ssq", from);
	else
		X86_CONVERT("cvtsi2ssl", static_cast<unsigned>(from));
#undef X86_CONVERT
}

/* CVTTSS2SI, CVTTSD2SI and, rounding, CVTSS2SI, CVTSD2SI. */
inline unsigned long integer_from_float(bool twice, bool truncates, bool wide, const Half &from)
{
	unsigned long to = 0;
	unsigned narrow = 0;
	Half saved;

#define X86_CONVERT(instruction, value)                                                            \
	asm volatile("movups %%xmm0, %1\n\tmovups %2, %%xmm0\n\t" instruction                      \
		     " %%xmm0, %0\n\tmovups %1, %%xmm0"                                            \
		     : "=r"(value), "=m"(saved)                                                    \
		     : "m"(from))
	switch (twice << 2 | truncates << 1 | wide) {
	case 0:
		X86_CONVERT("cvtss2si", narrow);
		break;
	case 1:
		X86_CONVERT("cvtss2si", to);
		break;
	case 2:
		X86_CONVERT("cvttss2si", narrow);
		break;
	case 3:
		X86_CONVERT("cvttss2si", to);
		break;
	case 4:
		X86_CONVERT("cvtsd2si", narrow);
		break;
	case 5:
		X86_CONVERT("cvtsd2si", to);
		break;
	case 6:
		X86_CONVERT("cvttsd2si", narrow);
		break;
	default:
		X86_CONVERT("cvttsd2si", to);
		break;
	}
#undef X86_CONVERT
	return wide ? to : narrow;
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_FLOATS_HH */
