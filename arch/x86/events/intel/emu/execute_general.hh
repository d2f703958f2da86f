/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions on general registers, see executor.hh.
 */
#ifndef X86_EVENTS_EMU_EXECUTE_GENERAL_HH
#define X86_EVENTS_EMU_EXECUTE_GENERAL_HH

#include "executor.hh"

namespace x86_emu {

/* 47 bits and their sign; what uses the fifth level is left to the CPU. */
inline bool is_canonical(u64 address)
{
	return static_cast<u64>(static_cast<s64>(address << 16) >> 16) == address;
}

/* For CMP and TEST, what comes back is of no use. */
template <class T> inline T Interpreter::alu(u8 operation, T a, T b)
{
	T result;
	u64 now;

	/* In the order of how frequent they are, by their bits: tables of jumps are dear in VMs. */
	if ((operation & (alu_sub & alu_cmp)) == (alu_sub & alu_cmp)) {
		flags.note(of_sub, log_size<T>, a, b);
		return static_cast<T>(a - b);
	}
	if (operation == alu_add) {
		flags.note(of_add, log_size<T>, a, b);
		return static_cast<T>(a + b);
	}
	if ((operation & ~1) == alu_adc) {
		now = flags.get();
		result = operation == alu_adc ? native_adc<T>(a, b, now) : native_sbb<T>(a, b, now);
		flags.set(now);
		return result;
	}
	if (operation == alu_test || operation == alu_and)
		result = a & b;
	else
		result = operation == alu_xor ? a ^ b : a | b;
	flags.note(of_logic, log_size<T>, result, 0);
	return result;
}

template <class T> [[gnu::always_inline]] inline bool Interpreter::alu_memory(const x86_op &op, T b)
{
	const bool store = op.operation < alu_cmp;
	u8 *at = memory.at(address(op), sizeof(T), store);

	if (!at)
		return false;
	const T result = alu<T>(op.operation, load_once<T>(at), b);
	if (store)
		store_once<T>(at, result);
	return true;
}

template <class T> [[gnu::always_inline]] inline T Interpreter::unary(u8 operation, T value)
{
	switch (operation) {
	case unary_not:
		return static_cast<T>(~value);
	case unary_neg:
		flags.note(of_sub, log_size<T>, 0, value);
		return static_cast<T>(-value);
	case unary_inc:
		flags.note_step(of_inc, log_size<T>, value);
		return static_cast<T>(value + 1);
	default:
		flags.note_step(of_dec, log_size<T>, value);
		return static_cast<T>(value - 1);
	}
}

/* OF is undefined here, and stays, whereas by CL and in memory it becomes something. */
[[gnu::always_inline]] inline bool leaves_of(const x86_op &op, unsigned count)
{
	return op.operation <= shift_ror && op.from != by_cl && (op.code & ~3) == shift_r &&
	       count != 1;
}

/* SHL, SHR and SAR, whose flags wait to be asked for. */
template <class T> [[gnu::always_inline]] inline T Interpreter::shift(const x86_op &op, T value)
{
	typedef typename std::make_signed<T>::type number;
	constexpr u8 most = sizeof(T) == 8 ? 63 : 31, log = log_size<T>;
	const u8 count = (op.from == by_cl ? get<u8>(cx) : static_cast<u8>(op.immediate)) & most;

	if (!(op.operation & shift_shl)) {
		if (sizeof(T) < 4 || !leaves_of(op, count) || !count)
			return rotate<T>(op, value);
		value = op.operation == shift_rol
				? static_cast<T>(value << count | value >> (8 * sizeof(T) - count))
				: static_cast<T>(value >> count | value << (8 * sizeof(T) - count));
		flags.note_rotation(op.operation == shift_rol ? value & 1
							      : value >> (8 * sizeof(T) - 1));
		return value;
	}
	if (!count)
		return value;
	if (op.operation == shift_shr) {
		flags.note(of_shr, log, value, count);
		return static_cast<T>(static_cast<u64>(value) >> count);
	}
	if (op.operation == shift_sar) {
		flags.note(of_sar, log, value, count);
		return static_cast<T>(static_cast<s64>(static_cast<number>(value)) >> count);
	}
	flags.note(of_shl, log, value, count);
	return static_cast<T>(static_cast<u64>(value) << count);
}

template <class T> [[gnu::noinline]] T Interpreter::rotate(const x86_op &op, T value)
{
	constexpr u8 most = sizeof(T) == 8 ? 63 : 31;
	const u8 count = op.from == by_cl ? get<u8>(cx) : static_cast<u8>(op.immediate);
	const u64 before = flags.get();
	u64 now = before;

	switch (op.operation) {
	case shift_rol:
		value = native_rol<T>(value, count, now);
		break;
	case shift_ror:
		value = native_ror<T>(value, count, now);
		break;
	case shift_rcl:
		value = native_rcl<T>(value, count, now);
		break;
	default:
		value = native_rcr<T>(value, count, now);
		break;
	}
	if (leaves_of(op, count & most))
		now = (now & ~overflow) | (before & overflow);
	flags.set(now);
	return value;
}

template <class T> inline T Interpreter::multiply(T a, T b)
{
	u64 now = flags.get();
	const T result = native_imul<T>(a, b, now);

	flags.set(now);
	return result;
}

template <class T> inline bool Interpreter::wide(u8 operation, T by)
{
	T low = get<T>(ax), high = get<T>(dx);
	u64 now = flags.get();

	if (!native_wide<T>(operation, low, high, by, now))
		return false;
	put<T>(ax, low);
	put<T>(dx, high);
	flags.set(now);
	return true;
}

template <class T> inline T Interpreter::bit(u8 operation, T value, T which)
{
	u64 now = flags.get();

	switch (operation) {
	case bit_test:
		native_bt<T>(value, which, now);
		break;
	case bit_set:
		value = native_bts<T>(value, which, now);
		break;
	case bit_reset:
		value = native_btr<T>(value, which, now);
		break;
	default:
		value = native_btc<T>(value, which, now);
		break;
	}
	flags.set(now);
	return value;
}

template <class T> inline void Interpreter::scan(const x86_op &op, T from)
{
	u64 to = get<u64>(op.to), now = flags.get();

	switch (op.operation) {
	case scan_forward:
		to = native_bsf<T>(to, from, now);
		break;
	case scan_reverse:
		to = native_bsr<T>(to, from, now);
		break;
	case scan_tzcnt:
		to = native_tzcnt<T>(to, from, now);
		break;
	default:
		to = native_lzcnt<T>(to, from, now);
		break;
	}
	put<u64>(op.to, to);
	flags.set(now);
}

/* SHLD, and SHRD with bit 3; by CL with bit 0. */
template <class T> inline T Interpreter::both(const x86_op &op, T low, T high)
{
	const u8 count = op.operation & 1 ? get<u8>(cx) : static_cast<u8>(op.immediate);
	u64 now = flags.get();

	low = op.operation & 8 ? native_shrd<T>(low, high, count, now)
			       : native_shld<T>(low, high, count, now);
	flags.set(now);
	return low;
}

/* INC, DEC, NOT, NEG and shifts. */
template <class T> inline bool Interpreter::change_memory(const x86_op &op)
{
	u8 *at = memory.at(address(op), sizeof(T), true);

	if (!at)
		return false;
	const T value = load_once<T>(at);
	store_once<T>(at, (op.code & ~3) == unary_m ? unary<T>(op.operation, value)
						    : shift<T>(op, value));
	return true;
}

template <class T> inline void Interpreter::sign_data_register()
{
	const bool negative = get<T>(ax) >> (8 * sizeof(T) - 1);

	put<T>(dx, static_cast<T>(negative ? ~T(0) : T(0)));
}

/* Of the source, all that the result may need. */
template <class T> inline u64 Interpreter::widened(u8 operation, T value) const
{
	constexpr unsigned above = 64 - 8 * sizeof(T);

	if (operation & extend_signed)
		return static_cast<u64>(static_cast<s64>(static_cast<u64>(value) << above) >>
					above);
	return value;
}

[[gnu::always_inline]] inline bool Interpreter::extend_value(const x86_op &op, bool in_memory)
{
	u64 value = 0;
	const u8 *at = nullptr;
	const unsigned size = op.operation & 3;

	if (in_memory) {
		at = memory.at(address(op), 1ul << size, false);
		if (!at)
			return false;
	}
	if (size == 0)
		value = widened<u8>(op.operation, at ? load_once<u8>(at) : get<u8>(op.from));
	else if (size == 1)
		value = widened<u16>(op.operation, at ? load_once<u16>(at) : get<u16>(op.from));
	else
		value = widened<u32>(op.operation, at ? load_once<u32>(at) : get<u32>(op.from));
	switch (op.operation >> 2 & 3) {
	case 1:
		put<u16>(op.to, static_cast<u16>(value));
		break;
	case 2:
		put<u32>(op.to, static_cast<u32>(value));
		break;
	default:
		put<u64>(op.to, value);
		break;
	}
	return true;
}

inline bool Interpreter::push(u64 value)
{
	u64 where;

	if (long_mode()) {
		where = get<u64>(sp) - 8;
		if (!store_at<u64>(where, value))
			return false;
		put<u64>(sp, where);
		return true;
	}
	where = static_cast<u32>(get<u64>(sp) - 4);
	if (!store_at<u32>(where, static_cast<u32>(value)))
		return false;
	put<u64>(sp, where);
	return true;
}

template <class T> inline bool Interpreter::pop_as(u64 &value, u64 from, u64 &behind)
{
	T word;

	if (!load_at<T>(from, word))
		return false;
	value = word;
	behind = from + sizeof(T);
	return true;
}

inline bool Interpreter::pop(u64 &value, u64 from, u64 &behind)
{
	if (long_mode())
		return pop_as<u64>(value, from, behind);
	if (!pop_as<u32>(value, static_cast<u32>(from), behind))
		return false;
	behind = static_cast<u32>(behind);
	return true;
}

inline bool Interpreter::leave_frame()
{
	u64 frame, behind;

	if (!pop(frame, get<u64>(bp), behind))
		return false;
	put<u64>(sp, behind);
	put<u64>(bp, frame);
	return true;
}

inline void Interpreter::change_carry(u8 operation)
{
	u64 now = flags.get();

	now = operation == 2 ? now ^ carry : (now & ~carry) | (operation ? carry : 0);
	flags.set(now & arithmetic);
}

inline bool Interpreter::go(u64 where)
{
	to = where;
	return is_canonical(where);
}

inline bool Interpreter::call_to(u64 where)
{
	to = where;
	return is_canonical(where) && push(run->end.next);
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_EXECUTE_GENERAL_HH */
