/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions on bits that not every CPU knows, and those that are rare, see executor.hh.
 */
#ifndef X86_EVENTS_EMU_EXECUTE_BITS_HH
#define X86_EVENTS_EMU_EXECUTE_BITS_HH

#include "execute_general.hh"

namespace x86_emu {

#define X86_BITS_1(name, instruction)                                                              \
	template <class T> inline T name(T from, u64 &flags)                                       \
	{                                                                                          \
		u16 ax = packed(flags);                                                            \
		T to;                                                                              \
                                                                                                   \
		asm(X86_WITH_FLAGS(instruction " %2, %1")                                          \
		    : "+a"(ax), "=&r"(to)                                                          \
		    : "r"(from)                                                                    \
		    : "cc");                                                                       \
		flags = unpacked(ax);                                                              \
		return to;                                                                         \
	}

/* In the assembler's order. */
#define X86_BITS_2(name, instruction)                                                              \
	template <class T> inline T name(T first, T second, u64 &flags)                            \
	{                                                                                          \
		u16 ax = packed(flags);                                                            \
		T to;                                                                              \
                                                                                                   \
		asm(X86_WITH_FLAGS(instruction " %2, %3, %1")                                      \
		    : "+a"(ax), "=&r"(to)                                                          \
		    : "r"(first), "r"(second)                                                      \
		    : "cc");                                                                       \
		flags = unpacked(ax);                                                              \
		return to;                                                                         \
	}

X86_BITS_1(native_popcnt, "popcnt")
X86_BITS_1(native_blsr, "blsr")
X86_BITS_1(native_blsmsk, "blsmsk")
X86_BITS_1(native_blsi, "blsi")
X86_BITS_2(native_andn, "andn")
X86_BITS_2(native_bextr, "bextr")
X86_BITS_2(native_bzhi, "bzhi")
X86_BITS_2(native_pdep, "pdep")
X86_BITS_2(native_pext, "pext")

#undef X86_BITS_1
#undef X86_BITS_2

template <class T> inline u64 native_crc32(u64 sum, T value)
{
	if constexpr (sizeof(T) == 1)
		asm("crc32b %1, %q0" : "+r"(sum) : "r"(value));
	else if constexpr (sizeof(T) == 2)
		asm("crc32w %1, %k0" : "+r"(sum) : "r"(value));
	else if constexpr (sizeof(T) == 4)
		asm("crc32l %1, %k0" : "+r"(sum) : "r"(value));
	else
		asm("crc32q %1, %q0" : "+r"(sum) : "r"(value));
	return sum;
}

template <class T> constexpr T bytes_swapped(T value)
{
	if constexpr (sizeof(T) == 2)
		return __builtin_bswap16(value);
	else if constexpr (sizeof(T) == 4)
		return __builtin_bswap32(value);
	else
		return __builtin_bswap64(value);
}

/* Those that set flags, of 4 and 8 bytes. */
template <class T> inline T Interpreter::select_bits(const x86_op &op, T value)
{
	const T other = get<T>(static_cast<u8>(op.immediate));
	u64 now = flags.get();

	switch (op.operation) {
	case bits_andn:
		value = native_andn<T>(value, other, now);
		break;
	case bits_blsr:
		value = native_blsr<T>(value, now);
		break;
	case bits_blsmsk:
		value = native_blsmsk<T>(value, now);
		break;
	case bits_blsi:
		value = native_blsi<T>(value, now);
		break;
	case bits_bextr:
		value = native_bextr<T>(other, value, now);
		break;
	case bits_bzhi:
		value = native_bzhi<T>(other, value, now);
		break;
	case bits_pdep:
		value = native_pdep<T>(value, other, now);
		break;
	default:
		value = native_pext<T>(value, other, now);
		break;
	}
	flags.set(now);
	return value;
}

/* SHLX and so on, RORX, MULX. */
template <class T> inline T Interpreter::pass_bits(const x86_op &op, T value)
{
	typedef typename std::make_signed<T>::type number;
	constexpr unsigned width = 8 * sizeof(T);
	const u8 third = static_cast<u8>(op.immediate);

	if (op.operation == bits_mulx) {
		typedef typename std::conditional<sizeof(T) == 8, unsigned __int128, u64>::type
			twice;
		const twice product = static_cast<twice>(value) * get<T>(dx);

		/* Of the same register twice, the upper half is what stays. */
		put<T>(third, static_cast<T>(product));
		return static_cast<T>(product >> width);
	}
	const unsigned count = (op.operation == bits_ror ? third : get<u8>(third)) & (width - 1);
	if (op.operation == bits_shl)
		return static_cast<T>(value << count);
	if (op.operation == bits_shr)
		return static_cast<T>(value >> count);
	if (op.operation == bits_sar)
		return static_cast<T>(static_cast<number>(value) >> count);
	return static_cast<T>(value >> count | value << (-count & (width - 1)));
}

template <class T> inline bool Interpreter::on_bits(const x86_op &op, T value)
{
	u64 now = 0;

	if (op.operation == bits_crc32) {
		put<u64>(op.to, native_crc32<T>(get<u64>(op.to), value));
		return true;
	}
	if constexpr (sizeof(T) > 1) {
		if (op.operation == bits_load_swapped) {
			put<T>(op.to, bytes_swapped<T>(value));
			return true;
		}
		if (op.operation == bits_count) {
			put<T>(op.to, native_popcnt<T>(value, now));
			flags.set(now);
			return true;
		}
	}
	if constexpr (sizeof(T) > 2)
		put<T>(op.to, op.operation <= bits_mulx ? pass_bits<T>(op, value)
							: select_bits<T>(op, value));
	return true;
}

template <class T> [[gnu::noinline]] bool Interpreter::bits(const x86_op &op, bool in_memory)
{
	T value;

	if (!(machine.can & op.immediate >> bits_can_shift))
		return false;
	if (!in_memory)
		return on_bits<T>(op, get<T>(op.from));
	if constexpr (sizeof(T) > 1)
		if (op.operation == bits_store_swapped)
			return store_at<T>(address(op), bytes_swapped<T>(get<T>(op.to)));
	return load_at<T>(address(op), value) && on_bits<T>(op, value);
}

[[gnu::noinline]] inline bool Interpreter::rarely(u8 operation)
{
	constexpr u64 by_lahf = arithmetic & ~overflow;

	switch (operation) {
	case rare_lahf:
		put<u8>(ax + 1, static_cast<u8>((flags.get() & by_lahf) | 2));
		break;
	case rare_sahf:
		flags.set((flags.get() & overflow) | (get<u8>(ax + 1) & by_lahf));
		break;
	case rare_cld:
		machine.registers->flags &= ~direction;
		break;
	case rare_lfence:
		asm volatile("lfence" : : : "memory");
		break;
	default:
		asm volatile("sfence" : : : "memory");
		break;
	}
	return true;
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_EXECUTE_BITS_HH */
