/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instructions whose operands come in four sizes, see executor.hh.
 */
#ifndef X86_EVENTS_EMU_EXECUTE_SIZED_HH
#define X86_EVENTS_EMU_EXECUTE_SIZED_HH

#include "execute_general.hh"

namespace x86_emu {

/* Those whose operands come in four sizes. */
template <class T> [[gnu::always_inline]] inline bool Interpreter::sized(const x86_op &op, u8 code)
{
	const T immediate = static_cast<T>(op.immediate);
	T value;

	switch (code) {
	case alu_rr:
	case alu_ri:
		value = alu<T>(op.operation, get<T>(op.to),
			       code == alu_rr ? get<T>(op.from) : immediate);
		if (op.operation < alu_cmp)
			put<T>(op.to, value);
		return true;
	case alu_rm:
		if (!load_at<T>(address(op), value))
			return false;
		value = alu<T>(op.operation, get<T>(op.to), value);
		if (op.operation < alu_cmp)
			put<T>(op.to, value);
		return true;
	case alu_mr:
		return alu_memory<T>(op, get<T>(op.from));
	case alu_mi:
		return alu_memory<T>(op, immediate);
	case mov_rr:
		put<T>(op.to, get<T>(op.from));
		return true;
	case mov_ri:
		put<T>(op.to, immediate);
		return true;
	case load:
		if (!load_at<T>(address(op), value))
			return false;
		put<T>(op.to, value);
		return true;
	case store:
		return store_at<T>(address(op), get<T>(op.from));
	case store_i:
		return store_at<T>(address(op), immediate);
	case unary_r:
		put<T>(op.to, unary<T>(op.operation, get<T>(op.to)));
		return true;
	case shift_r:
		put<T>(op.to, shift<T>(op, get<T>(op.to)));
		return true;
	case unary_m:
	case shift_m:
		return change_memory<T>(op);
	case exchange:
		value = get<T>(op.to);
		put<T>(op.to, get<T>(op.from));
		put<T>(op.from, value);
		return true;
	default:
		break;
	}
	if constexpr (sizeof(T) > 1) {
		switch (code) {
		case lea:
			put<T>(op.to, static_cast<T>(address(op)));
			return true;
		case multiply_rr:
			put<T>(op.to, multiply<T>(get<T>(op.to), get<T>(op.from)));
			return true;
		case multiply_rm:
		case multiply_rmi:
			if (!load_at<T>(address(op), value))
				return false;
			put<T>(op.to,
			       multiply<T>(value, code == multiply_rm ? get<T>(op.to) : immediate));
			return true;
		case multiply_rri:
			put<T>(op.to, multiply<T>(get<T>(op.from), immediate));
			return true;
		case wide_r:
			return wide<T>(op.operation, get<T>(op.from));
		case wide_m:
			return load_at<T>(address(op), value) && wide<T>(op.operation, value);
		case bit_rr:
		case bit_ri:
			value = code == bit_rr ? get<T>(op.from) : immediate;
			value = bit<T>(op.operation, get<T>(op.to), value);
			if (op.operation != bit_test)
				put<T>(op.to, value);
			return true;
		case scan_rr:
			scan<T>(op, get<T>(op.from));
			return true;
		case scan_rm:
			if (!load_at<T>(address(op), value))
				return false;
			scan<T>(op, value);
			return true;
		case cmov_rr:
			put<T>(op.to, flags.hold(op.operation) ? get<T>(op.from) : get<T>(op.to));
			return true;
		case cmov_rm:
			if (!load_at<T>(address(op), value))
				return false;
			put<T>(op.to, flags.hold(op.operation) ? value : get<T>(op.to));
			return true;
		case sign_data:
			sign_data_register<T>();
			return true;
		default:
			break;
		}
	}
	if constexpr (sizeof(T) > 2) {
		switch (code) {
		case double_rr:
			put<T>(op.to, both<T>(op, get<T>(op.to), get<T>(op.from)));
			return true;
		case swap_bytes:
			put<T>(op.to, sizeof(T) == 8
					      ? static_cast<T>(__builtin_bswap64(get<T>(op.to)))
					      : static_cast<T>(__builtin_bswap32(
							static_cast<u32>(get<T>(op.to)))));
			return true;
		default:
			break;
		}
	}
	return false;
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_EXECUTE_SIZED_HH */
