/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic flags of the interpreter: what sets them is noted, and what they are is worked
 * out when somebody asks.
 */
#ifndef X86_EVENTS_EMU_FLAGS_HH
#define X86_EVENTS_EMU_FLAGS_HH

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
	explicit Flags(x86_machine &machine) : machine(machine)
	{
	}

	/* Of operands that are as wide as `size` says, zeros above. */
	void note(Pending operation, u8 size, u64 a, u64 b)
	{
		machine.flags.a = a;
		machine.flags.b = b;
		machine.flags.kind = static_cast<u16>(operation | size << 8);
	}

	/* Into the registers. */
	void settle();

	/* All flags; the others may be in any state. */
	u64 get()
	{
		settle();
		return machine.registers->flags;
	}

	/* The arithmetic ones, all of them. */
	void set(u64 flags)
	{
		machine.registers->flags = (machine.registers->flags & ~arithmetic) | flags;
	}

	/* Does a condition, the low 4 bits of Jcc, hold? */
	bool hold(u8 code);

    private:
	template <class T> void settle_as();

	x86_machine &machine;
};

template <class T> inline void Flags::settle_as()
{
	const T a = static_cast<T>(machine.flags.a), b = static_cast<T>(machine.flags.b);
	u64 result = 0;

	switch (machine.flags.operation) {
	case of_add:
		native_add<T>(a, b, result);
		break;
	case of_sub:
		native_sub<T>(a, b, result);
		break;
	default:
		native_or<T>(a, a, result);
		break;
	}
	set(result);
}

inline void Flags::settle()
{
	if (machine.flags.operation == settled)
		return;
	switch (machine.flags.size) {
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
	machine.flags.operation = settled;
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
	const unsigned above = 64 - (8u << machine.flags.size);
	const u64 a = machine.flags.a << above, b = machine.flags.b << above;
	const bool is_sub = machine.flags.operation == of_sub;
	bool holds;

	if (!is_sub && machine.flags.operation != of_logic)
		return x86_emu::holds(code, get());
	/*
	 * The flags of a logical result are those of comparing it with 0, but for AF and PF. One
	 * question after the other, the most frequent first: a table of jumps is dear in a VM.
	 */
	unsigned which = code >> 1;
	if (which == 2) {
		holds = a == b;
	} else if (is_still(which, 6)) {
		holds = static_cast<s64>(a) < static_cast<s64>(b);
	} else if (is_still(which, 1)) {
		holds = a < b;
	} else if (is_still(which, 7)) {
		holds = static_cast<s64>(a) <= static_cast<s64>(b);
	} else if (is_still(which, 3)) {
		holds = a <= b;
	} else if (is_still(which, 4)) {
		holds = static_cast<s64>(a - b) < 0;
	} else {
		return x86_emu::holds(code, get());
	}
	return holds != (code & 1);
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_FLAGS_HH */
