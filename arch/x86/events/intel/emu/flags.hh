/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic flags of the interpreter: what sets them is noted, and what they are is worked
 * out when somebody asks.
 */
#ifndef X86_EVENTS_EMU_FLAGS_HH
#define X86_EVENTS_EMU_FLAGS_HH

#include <type_traits>

#include "native.hh"

namespace x86_emu {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long;
using s64 = long;

template <class T>
constexpr u8 log_size = sizeof(T) == 8	 ? 3
			: sizeof(T) == 4 ? 2
			: sizeof(T) == 2 ? 1
					 : 0;

class Flags {
    public:
	/* They are kept in the registers' flags, whose others stay. */
	explicit Flags(u64 &kept) : kept(kept)
	{
	}

	/* Of operands that are as wide as `size` says, zeros above. */
	[[gnu::always_inline]] void note(Pending operation, u8 size, u64 first, u64 second)
	{
		a = first;
		b = second;
		kind = static_cast<u16>(operation | size << 8);
	}

	/* INC or DEC: what CF is stays. */
	[[gnu::always_inline]] void note_step(Pending operation, u8 size, u64 from)
	{
		keep_carry();
		/* As a comparison they are ones with -1 and 1, but for CF and AF. */
		note(operation, size, from, operation == of_inc ? ~0ul >> above(size) : 1);
	}

	/* ROL and ROR that leave OF alone. */
	[[gnu::always_inline]] void note_rotation(bool now)
	{
		kind = static_cast<u16>((kind & ~(rotated | rotated_out)) | rotated |
					(now ? rotated_out : 0));
	}

	/* Into the registers. */
	void settle();

	/* All flags; the others may be in any state. */
	u64 get()
	{
		settle();
		return kept;
	}

	/* The arithmetic ones, all of them. */
	void set(u64 flags)
	{
		kind = settled;
		kept = (kept & ~arithmetic) | flags;
	}

	/* Does a condition, the low 4 bits of Jcc, hold? */
	bool hold(u8 code);

    private:
	template <class T> void settle_as();
	void settle_operation();
	[[gnu::always_inline]] void keep_carry();

	u8 operation() const
	{
		return static_cast<u8>(kind);
	}

	u8 size() const
	{
		return kind >> 8 & 3;
	}

	/* An operand's sign is the highest bit. */
	s64 number(u64 operand) const
	{
		return static_cast<s64>(operand << above(size()));
	}

	/* Bits above an operand. */
	static constexpr unsigned above(unsigned size)
	{
		return 64 - (8u << size);
	}

	/* Of kind: CF is not the operation's, but has come out of a rotation behind it. */
	static constexpr u16 rotated = 0x1000, rotated_out = 0x2000;

	u64 &kept;
	/* The last operation that set flags, unless they are settled. */
	u64 a = 0;
	u64 b = 0;
	/* enum Pending, and above it the logarithm of the operands' bytes. */
	u16 kind = settled;
};

template <class T> inline void Flags::settle_as()
{
	const T first = static_cast<T>(a), second = static_cast<T>(b);
	u64 result = kept;

	switch (operation()) {
	case of_add:
		native_add<T>(first, second, result);
		break;
	case of_sub:
		native_sub<T>(first, second, result);
		break;
	case of_inc:
		native_inc<T>(first, result);
		break;
	case of_dec:
		native_dec<T>(first, result);
		break;
	case of_shl:
		native_shl<T>(first, static_cast<u8>(b), result);
		break;
	case of_shr:
		native_shr<T>(first, static_cast<u8>(b), result);
		break;
	case of_sar:
		native_sar<T>(first, static_cast<u8>(b), result);
		break;
	default:
		native_or<T>(first, first, result);
		break;
	}
	set(result);
}

inline void Flags::settle()
{
	const u16 all = kind;

	if (!all)
		return;
	if (operation() != settled)
		settle_operation();
	kind = settled;
	if (all & rotated)
		kept = (kept & ~carry) | (all & rotated_out ? carry : 0);
}

[[gnu::noinline]] inline void Flags::settle_operation()
{
	switch (size()) {
	case 0:
		settle_as<u8>();
		break;
	case 1:
		settle_as<u16>();
		break;
	case 2:
		settle_as<u32>();
		break;
	default:
		settle_as<u64>();
		break;
	}
}

inline void Flags::keep_carry()
{
	bool now;

	if (kind & rotated) {
		settle();
		return;
	}
	switch (operation()) {
	case of_sub:
		now = a < b;
		break;
	case of_add:
		now = (a + b) << above(size()) < a << above(size());
		break;
	case of_logic:
		now = false;
		break;
	case of_inc:
	case of_dec:
	case settled:
		return;
	default:
		settle();
		return;
	}
	kept = (kept & ~carry) | (now ? carry : 0);
}

/* Compares, and has the compiler make no table of the comparisons. */
[[gnu::always_inline]] inline bool is_still(unsigned &value, unsigned wanted)
{
	asm("" : "+r"(value));
	return value == wanted;
}

/* As if the flags of a subtraction, or of a result, had been settled. */
[[gnu::always_inline]] inline bool Flags::hold(u8 code)
{
	const u8 of = operation();
	unsigned which = code >> 1;
	bool holds;

	/* CF is not among those of INC and DEC. */
	if (kind & rotated || of < of_sub || of > of_dec ||
	    (of > of_logic && (which == 1 || which == 3)))
		return x86_emu::holds(code, get());
	/*
	 * The flags of a logical result are those of comparing it with 0, but for AF and PF. One
	 * question after the other, the most frequent first: a table of jumps is dear in a VM.
	 */
	if (which == 2)
		holds = a == b;
	else if (is_still(which, 6))
		holds = number(a) < number(b);
	else if (is_still(which, 1))
		holds = a < b;
	else if (is_still(which, 7))
		holds = number(a) <= number(b);
	else if (is_still(which, 3))
		holds = a <= b;
	else if (is_still(which, 4))
		holds = number(a - b) < 0;
	else
		return x86_emu::holds(code, get());
	return holds != (code & 1);
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_FLAGS_HH */
