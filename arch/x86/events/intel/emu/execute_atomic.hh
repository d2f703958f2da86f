/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions that change memory at once, see executor.hh: with LOCK the CPU's own one does,
 * on the page that others may be using.
 */
#ifndef X86_EVENTS_EMU_EXECUTE_ATOMIC_HH
#define X86_EVENTS_EMU_EXECUTE_ATOMIC_HH

#include "execute_general.hh"

namespace x86_emu {

#define X86_LOCKED(name, instruction)                                                              \
	template <class T> inline void name(u8 *at, T from, u64 &flags)                            \
	{                                                                                          \
		u16 ax = packed(flags);                                                            \
                                                                                                   \
		asm volatile(X86_WITH_FLAGS("lock " instruction " %2, %1")                         \
			     : "+a"(ax), "+m"(*reinterpret_cast<T *>(at))                          \
			     : "r"(from)                                                           \
			     : "memory", "cc");                                                    \
		flags = unpacked(ax);                                                              \
	}

/* It is memory's size that has to be said here. */
#define X86_LOCKED_ALONE_OF(size, instruction, suffix)                                             \
	if constexpr (sizeof(T) == (size))                                                         \
	asm volatile(X86_WITH_FLAGS("lock " instruction suffix " %1")                              \
		     : "+a"(ax), "+m"(*reinterpret_cast<T *>(at))                                  \
		     :                                                                             \
		     : "memory", "cc")
#define X86_LOCKED_ALONE(name, instruction)                                                        \
	template <class T> inline void name(u8 *at, u64 &flags)                                    \
	{                                                                                          \
		u16 ax = packed(flags);                                                            \
                                                                                                   \
		X86_LOCKED_ALONE_OF(1, instruction, "b");                                          \
		X86_LOCKED_ALONE_OF(2, instruction, "w");                                          \
		X86_LOCKED_ALONE_OF(4, instruction, "l");                                          \
		X86_LOCKED_ALONE_OF(8, instruction, "q");                                          \
		flags = unpacked(ax);                                                              \
	}

X86_LOCKED(locked_add, "add")
X86_LOCKED(locked_or, "or")
X86_LOCKED(locked_adc, "adc")
X86_LOCKED(locked_sbb, "sbb")
X86_LOCKED(locked_and, "and")
X86_LOCKED(locked_sub, "sub")
X86_LOCKED(locked_xor, "xor")
/* Of bits in the operand: others would be somewhere else. */
X86_LOCKED(locked_bts, "bts")
X86_LOCKED(locked_btr, "btr")
X86_LOCKED(locked_btc, "btc")

X86_LOCKED_ALONE(locked_inc, "inc")
X86_LOCKED_ALONE(locked_dec, "dec")
X86_LOCKED_ALONE(locked_not, "not")
X86_LOCKED_ALONE(locked_neg, "neg")

#undef X86_LOCKED
#undef X86_LOCKED_ALONE
#undef X86_LOCKED_ALONE_OF

template <class T> inline T swapped_in(u8 *at, T value)
{
	asm volatile("xchg %0, %1" : "+r"(value), "+m"(*reinterpret_cast<T *>(at)) : : "memory");
	return value;
}

template <class T> inline T locked_xadd(u8 *at, T value)
{
	asm volatile("lock xadd %0, %1"
		     : "+r"(value), "+m"(*reinterpret_cast<T *>(at))
		     :
		     : "memory", "cc");
	return value;
}

/* The whole accumulator: what becomes of its upper half is the CPU's. */
template <class T> inline void locked_cmpxchg(u8 *at, T with, u64 &accumulator)
{
	asm volatile("lock cmpxchg %2, %1"
		     : "+a"(accumulator), "+m"(*reinterpret_cast<T *>(at))
		     : "r"(with)
		     : "memory", "cc");
}

/* The same, and of the register that it is compared with. */
template <class T> inline void native_cmpxchg(u64 &into, T with, u64 &accumulator)
{
	if constexpr (sizeof(T) == 1)
		asm("cmpxchg %2, %b1" : "+a"(accumulator), "+r"(into) : "r"(with) : "cc");
	else if constexpr (sizeof(T) == 2)
		asm("cmpxchg %2, %w1" : "+a"(accumulator), "+r"(into) : "r"(with) : "cc");
	else if constexpr (sizeof(T) == 4)
		asm("cmpxchg %2, %k1" : "+a"(accumulator), "+r"(into) : "r"(with) : "cc");
	else
		asm("cmpxchg %2, %1" : "+a"(accumulator), "+r"(into) : "r"(with) : "cc");
}

/* A register, or the immediate. */
template <class T> inline T Interpreter::source(const x86_op &op) const
{
	return op.from != no_register ? get<T>(op.from) : static_cast<T>(op.immediate);
}

/* What becomes of what the accumulator is compared with. */
template <class T> inline u64 Interpreter::compare_exchange(u64 into, T with)
{
	u64 accumulator = get<u64>(ax);

	flags.note(of_sub, log_size<T>, static_cast<T>(accumulator), static_cast<T>(into));
	native_cmpxchg<T>(into, with, accumulator);
	put<u64>(ax, accumulator);
	return into;
}

/* XADD and CMPXCHG of registers, which may be the same. */
template <class T> [[gnu::noinline]] bool Interpreter::atomic_register(const x86_op &op)
{
	const T with = get<T>(op.from);

	if (op.operation == atomic_add_r) {
		const T value = get<T>(op.to);

		flags.note(of_add, log_size<T>, value, with);
		put<T>(op.from, value);
		put<T>(op.to, static_cast<T>(value + with));
	} else if constexpr (sizeof(T) >= 4) {
		/* What becomes of the upper half is the CPU's. */
		const u64 value = compare_exchange<T>(get<u64>(op.to), with);

		put<u64>(op.to, value);
	} else {
		const u64 value = compare_exchange<T>(get<T>(op.to), with);

		put<T>(op.to, static_cast<T>(value));
	}
	return true;
}

/* Without LOCK, which is to say that nobody else is at it. */
template <class T> [[gnu::noinline]] bool Interpreter::change_alone(const x86_op &op, u8 *at)
{
	const T value = load_once<T>(at);
	T result = value;

	if (op.operation == atomic_compare) {
		result = static_cast<T>(compare_exchange<T>(value, get<T>(op.from)));
	} else if (op.operation == atomic_add) {
		const T with = get<T>(op.from);

		flags.note(of_add, log_size<T>, value, with);
		result = static_cast<T>(value + with);
		put<T>(op.from, value);
	} else if constexpr (sizeof(T) > 1) {
		result = bit<T>(static_cast<u8>(op.operation - atomic_bit_test), value,
				static_cast<T>(op.immediate));
		if (op.operation == atomic_bit_test)
			return true;
	}
	store_once<T>(at, result);
	return true;
}

template <class T> [[gnu::noinline]] bool Interpreter::change_locked(const x86_op &op, u8 *at)
{
	u64 now = flags.get();
	const T from = source<T>(op);

	switch (op.operation) {
	case alu_add:
		locked_add<T>(at, from, now);
		break;
	case alu_or:
		locked_or<T>(at, from, now);
		break;
	case alu_adc:
		locked_adc<T>(at, from, now);
		break;
	case alu_sbb:
		locked_sbb<T>(at, from, now);
		break;
	case alu_and:
		locked_and<T>(at, from, now);
		break;
	case alu_sub:
		locked_sub<T>(at, from, now);
		break;
	case alu_xor:
		locked_xor<T>(at, from, now);
		break;
	case atomic_inc:
		locked_inc<T>(at, now);
		break;
	case atomic_dec:
		locked_dec<T>(at, now);
		break;
	case atomic_not:
		locked_not<T>(at, now);
		break;
	case atomic_neg:
		locked_neg<T>(at, now);
		break;
	default:
		if constexpr (sizeof(T) > 1) {
			const T which = from & (8 * sizeof(T) - 1);

			if (op.operation == atomic_bit_set)
				locked_bts<T>(at, which, now);
			else if (op.operation == atomic_bit_reset)
				locked_btr<T>(at, which, now);
			else
				locked_btc<T>(at, which, now);
		}
		break;
	}
	flags.set(now);
	return true;
}

template <class T> [[gnu::noinline]] bool Interpreter::change_at_once(const x86_op &op)
{
	const bool locked = op.to;

	if (op.operation >= atomic_add_r)
		return atomic_register<T>(op);
	const u64 where = address(op);
	/* In two lines of the cache it would stop all other CPUs, or be #AC. */
	if (locked && where % sizeof(T))
		return false;
	u8 *const at = memory.at(where, sizeof(T), op.operation != atomic_bit_test);
	if (!at)
		return false;
	if (!locked)
		return change_alone<T>(op, at);
	if (op.operation == atomic_compare) {
		u64 accumulator = get<u64>(ax);
		const T expected = static_cast<T>(accumulator);

		/* It is what has been expected, or what has been there. */
		locked_cmpxchg<T>(at, get<T>(op.from), accumulator);
		flags.note(of_sub, log_size<T>, expected, static_cast<T>(accumulator));
		put<u64>(ax, accumulator);
		return true;
	}
	if (op.operation == atomic_add) {
		const T with = get<T>(op.from), value = locked_xadd<T>(at, with);

		flags.note(of_add, log_size<T>, value, with);
		put<T>(op.from, value);
		return true;
	}
	if (op.operation == atomic_exchange) {
		put<T>(op.from, swapped_in<T>(at, get<T>(op.from)));
		return true;
	}
	return change_locked<T>(op, at);
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_EXECUTE_ATOMIC_HH */
