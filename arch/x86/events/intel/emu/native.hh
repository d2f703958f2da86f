/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPU's own arithmetic: an instruction is carried out on values, with flags that are
 * handed in, and says what the flags are then. What the SDM leaves undefined is what this
 * CPU makes of it.
 */
#ifndef X86_EVENTS_EMU_NATIVE_HH
#define X86_EVENTS_EMU_NATIVE_HH

#include "op.hh"

namespace x86_emu {

/* As LAHF has them, and OF in the lowest bit. */
inline unsigned short packed(unsigned long flags)
{
	return static_cast<unsigned short>((flags & 0xff) << 8 | (flags >> 11 & 1));
}

inline unsigned long unpacked(unsigned short ax)
{
	constexpr unsigned long by_lahf = carry | parity | adjust | zero | sign;

	return (ax >> 8 & by_lahf) | (ax & 1ul) << 11;
}

/* 0x7f + 1 overflows, and SAHF leaves OF alone. */
#define X86_WITH_FLAGS(instruction)                                                                \
	"addb $0x7f, %%al\n\tsahf\n\t" instruction "\n\tlahf\n\tseto %%al"

#define X86_NATIVE_1(name, instruction)                                                            \
	template <class T> inline T name(T to, unsigned long &flags)                               \
	{                                                                                          \
		unsigned short ax = packed(flags);                                                 \
                                                                                                   \
		asm(X86_WITH_FLAGS(instruction) : "+a"(ax), "+r"(to) : : "cc");                    \
		flags = unpacked(ax);                                                              \
		return to;                                                                         \
	}

/* With %%b and so on, the operand says its own size. */
#define X86_NATIVE_2(name, instruction)                                                            \
	template <class T> inline T name(T to, T from, unsigned long &flags)                       \
	{                                                                                          \
		unsigned short ax = packed(flags);                                                 \
                                                                                                   \
		asm(X86_WITH_FLAGS(instruction " %2, %1")                                          \
		    : "+a"(ax), "+r"(to)                                                           \
		    : "r"(from)                                                                    \
		    : "cc");                                                                       \
		flags = unpacked(ax);                                                              \
		return to;                                                                         \
	}

/* By CL. */
#define X86_NATIVE_SHIFT(name, instruction)                                                        \
	template <class T> inline T name(T to, unsigned char count, unsigned long &flags)          \
	{                                                                                          \
		unsigned short ax = packed(flags);                                                 \
                                                                                                   \
		asm(X86_WITH_FLAGS(instruction " %%cl, %1")                                        \
		    : "+a"(ax), "+r"(to)                                                           \
		    : "c"(count)                                                                   \
		    : "cc");                                                                       \
		flags = unpacked(ax);                                                              \
		return to;                                                                         \
	}

X86_NATIVE_2(native_add, "add")
X86_NATIVE_2(native_or, "or")
X86_NATIVE_2(native_adc, "adc")
X86_NATIVE_2(native_sbb, "sbb")
X86_NATIVE_2(native_sub, "sub")
X86_NATIVE_2(native_imul, "imul")
X86_NATIVE_2(native_bt, "bt")
X86_NATIVE_2(native_bts, "bts")
X86_NATIVE_2(native_btr, "btr")
X86_NATIVE_2(native_btc, "btc")

X86_NATIVE_1(native_inc, "inc %1")
X86_NATIVE_1(native_dec, "dec %1")

X86_NATIVE_SHIFT(native_rol, "rol")
X86_NATIVE_SHIFT(native_ror, "ror")
X86_NATIVE_SHIFT(native_rcl, "rcl")
X86_NATIVE_SHIFT(native_rcr, "rcr")
X86_NATIVE_SHIFT(native_shl, "shl")
X86_NATIVE_SHIFT(native_shr, "shr")
X86_NATIVE_SHIFT(native_sar, "sar")

template <class T> inline T native_shld(T to, T from, unsigned char count, unsigned long &flags)
{
	unsigned short ax = packed(flags);

	asm(X86_WITH_FLAGS("shld %%cl, %2, %1")
	    : "+a"(ax), "+r"(to)
	    : "r"(from), "c"(count)
	    : "cc");
	flags = unpacked(ax);
	return to;
}

template <class T> inline T native_shrd(T to, T from, unsigned char count, unsigned long &flags)
{
	unsigned short ax = packed(flags);

	asm(X86_WITH_FLAGS("shrd %%cl, %2, %1")
	    : "+a"(ax), "+r"(to)
	    : "r"(from), "c"(count)
	    : "cc");
	flags = unpacked(ax);
	return to;
}

/* The whole register: what comes of its upper half when there is no bit is the CPU's. */
#define X86_NATIVE_SCAN(name, instruction)                                                         \
	template <class T>                                                                         \
	inline unsigned long name(unsigned long to, T from, unsigned long &flags)                  \
	{                                                                                          \
		unsigned short ax = packed(flags);                                                 \
                                                                                                   \
		if constexpr (sizeof(T) == 2)                                                      \
			asm(X86_WITH_FLAGS(instruction " %w2, %w1")                                \
			    : "+a"(ax), "+r"(to)                                                   \
			    : "r"(from)                                                            \
			    : "cc");                                                               \
		else if constexpr (sizeof(T) == 4)                                                 \
			asm(X86_WITH_FLAGS(instruction " %k2, %k1")                                \
			    : "+a"(ax), "+r"(to)                                                   \
			    : "r"(from)                                                            \
			    : "cc");                                                               \
		else                                                                               \
			asm(X86_WITH_FLAGS(instruction " %q2, %q1")                                \
			    : "+a"(ax), "+r"(to)                                                   \
			    : "r"(from)                                                            \
			    : "cc");                                                               \
		flags = unpacked(ax);                                                              \
		return to;                                                                         \
	}

X86_NATIVE_SCAN(native_bsf, "bsf")
X86_NATIVE_SCAN(native_bsr, "bsr")
X86_NATIVE_SCAN(native_tzcnt, "rep bsf")
X86_NATIVE_SCAN(native_lzcnt, "rep bsr")

#undef X86_NATIVE_SCAN

/* The accumulator is the instruction's own here: flags come in and go out by a neighbour. */
#define X86_NATIVE_WIDE(name, instruction)                                                         \
	template <class T> inline void name(T &low, T &high, T by, unsigned long &flags)           \
	{                                                                                          \
		unsigned long a = packed(flags), d = high, l = low;                                \
		asm("addb $0x7f, %%al\n\tsahf\n\tmov %1, %%rax\n\t" instruction                    \
		    " %3\n\tmov %%rax, %1\n\tlahf\n\tseto %%al"                                    \
		    : "+&a"(a), "+r"(l), "+&d"(d)                                                  \
		    : "r"(by)                                                                      \
		    : "cc");                                                                       \
		low = static_cast<T>(l);                                                           \
		high = static_cast<T>(d);                                                          \
		flags = unpacked(static_cast<unsigned short>(a));                                  \
	}

X86_NATIVE_WIDE(native_mul, "mul")
X86_NATIVE_WIDE(native_imul_wide, "imul")
X86_NATIVE_WIDE(native_div, "div")
X86_NATIVE_WIDE(native_idiv, "idiv")

#undef X86_NATIVE_WIDE

/* False: the CPU would raise #DE, or could. */
template <class T>
inline bool native_wide(unsigned char operation, T &low, T &high, T by, unsigned long &flags)
{
	constexpr T top = static_cast<T>(T(1) << (8 * sizeof(T) - 1));

	switch (operation) {
	case wide_mul:
		native_mul<T>(low, high, by, flags);
		return true;
	case wide_imul:
		native_imul_wide<T>(low, high, by, flags);
		return true;
	case wide_div:
		if (high >= by)
			return false;
		native_div<T>(low, high, by, flags);
		return true;
	default:
		/* Only what was widened by CWD and its like, and has a quotient. */
		if (high != static_cast<T>(low & top ? ~T(0) : T(0)) || !by ||
		    (by == static_cast<T>(~T(0)) && low == top))
			return false;
		native_idiv<T>(low, high, by, flags);
		return true;
	}
}

#undef X86_NATIVE_1
#undef X86_NATIVE_2
#undef X86_NATIVE_SHIFT

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_NATIVE_HH */
