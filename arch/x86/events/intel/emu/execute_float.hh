/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Floating-point instructions, see executor.hh.
 */
#ifndef X86_EVENTS_EMU_EXECUTE_FLOAT_HH
#define X86_EVENTS_EMU_EXECUTE_FLOAT_HH

#include "execute_vector.hh"

namespace x86_emu {

constexpr unsigned float_kind(const x86_op &op)
{
	return op.immediate >> vector_kind_shift & 3;
}

/* ADDPS and its like, CMPPS and its like. */
inline bool Interpreter::calculate_floats(const x86_op &op, bool in_memory)
{
	const bool compares = op.code == vector_compare_r || op.code == vector_compare_m;
	const unsigned kind = float_kind(op), log = compares ? (kind == float_ss   ? 2
								: kind == float_sd ? 3
										   : 4)
							     : float_operand(op.operation, kind);
	Vector operand, result;
	Half *halves = reinterpret_cast<Half *>(&result);
	const Half *others = reinterpret_cast<const Half *>(&operand);

	if (!(log == 4 ? take(op, in_memory, operand) : take_part(op, in_memory, log, operand)))
		return false;
	read_first(op, result);
	for (int i = 0; i < (op.immediate & vector_wide ? 2 : 1); i++) {
		if (compares)
			compare_floats(static_cast<u8>(op.immediate), kind, halves[i], others[i]);
		else
			operate_on_floats(op.operation, kind, halves[i], others[i]);
	}
	write(op, &result);
	return true;
}

inline bool Interpreter::order(const x86_op &op, bool in_memory)
{
	const bool twice = float_kind(op) & 1;
	Vector operand, first;

	if (!take_part(op, in_memory, twice ? 3 : 2, operand))
		return false;
	read(op.to, first, false);
	flags.set(order_of_floats(op.operation, twice, reinterpret_cast<const Half &>(first),
				  reinterpret_cast<const Half &>(operand)));
	return true;
}

inline bool Interpreter::from_integer(const x86_op &op, bool in_memory)
{
	Vector result;
	u64 word;

	if (!in_memory)
		word = get<u64>(op.from);
	else if (!load_sized(address(op), op.operation, word))
		return false;
	read_first(op, result);
	float_from_integer(float_kind(op) == float_sd, op.operation == 3, word,
			   reinterpret_cast<Half &>(result));
	write(op, &result);
	return true;
}

inline bool Interpreter::to_integer(const x86_op &op, bool in_memory)
{
	const bool twice = float_kind(op) == float_sd;
	Vector operand;

	if (!take_part(op, in_memory, twice ? 3 : 2, operand))
		return false;
	put<u64>(op.to,
		 integer_from_float(twice, op.operation & vector_truncates, (op.operation & 3) == 3,
				    reinterpret_cast<const Half &>(operand)));
	return true;
}

[[gnu::noinline]] inline bool Interpreter::float_op(const x86_op &op)
{
	switch (op.code) {
	case vector_float_r:
	case vector_compare_r:
		return calculate_floats(op, false);
	case vector_float_m:
	case vector_compare_m:
		return calculate_floats(op, true);
	case vector_order_r:
	case vector_order_m:
		return order(op, op.code == vector_order_m);
	case vector_from_integer_r:
	case vector_from_integer_m:
		return from_integer(op, op.code == vector_from_integer_m);
	default:
		return to_integer(op, op.code == vector_to_integer_m);
	}
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_EXECUTE_FLOAT_HH */
