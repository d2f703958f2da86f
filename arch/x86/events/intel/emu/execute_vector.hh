/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Vector instructions, see executor.hh.
 */
#ifndef X86_EVENTS_EMU_EXECUTE_VECTOR_HH
#define X86_EVENTS_EMU_EXECUTE_VECTOR_HH

#include "executor.hh"
#include "floats.hh"
#include "lanes.hh"
#include "shuffles.hh"
#include "strings.hh"

namespace x86_emu {

inline void Interpreter::read(u8 number, Vector &vector, bool wide) const
{
	vector.word[2] = vector.word[3] = 0;
	if (wide)
		read_32(number, &vector);
	else
		read_16(number, &vector);
}

inline void Interpreter::write(const x86_op &op, const void *from) const
{
	if (op.immediate & vector_wide)
		write_32_clear(op.to, from);
	else if (op.immediate & vector_vex)
		write_16_clear(op.to, from);
	else
		write_16(op.to, from);
}

inline void operate(const x86_op &op, Vector &to, const Vector &from)
{
	Half *halves = reinterpret_cast<Half *>(&to);
	const Half *others = reinterpret_cast<const Half *>(&from);

	for (int i = 0; i < (op.immediate & vector_wide ? 2 : 1); i++) {
		if (op.code >= vector_38_r)
			operate_on_16_38(op.operation, halves[i], others[i]);
		else
			operate_on_16(op.operation, halves[i], others[i]);
	}
}

/* The register that only VEX names. */
inline u8 other_register(const x86_op &op)
{
	return static_cast<u8>(op.immediate >> vector_other_shift & 15);
}

/* The first source of a result: VEX names it. */
inline void Interpreter::read_first(const x86_op &op, Vector &vector) const
{
	read(op.immediate & vector_vex ? other_register(op) : op.to, vector,
	     op.immediate & vector_wide);
}

/* The operand in ModR/M, of which memory has no more than the given bytes. */
inline bool Interpreter::take_part(const x86_op &op, bool in_memory, unsigned log, Vector &vector)
{
	u64 &word = vector.word[0];

	if (!in_memory) {
		read(op.from, vector, false);
		return true;
	}
	vector.word[1] = vector.word[2] = vector.word[3] = 0;
	return load_sized(address(op), log, word);
}

inline bool Interpreter::load_sized(u64 where, unsigned log, u64 &word)
{
	const u8 *at = memory.at(where, 1ul << log, false);

	if (!at)
		return false;
	word = log == 0	  ? load_once<u8>(at)
	       : log == 1 ? load_once<u16>(at)
	       : log == 2 ? load_once<u32>(at)
			  : load_once<u64>(at);
	return true;
}

inline bool Interpreter::store_sized(u64 where, unsigned log, u64 word)
{
	switch (log) {
	case 0:
		return store_at<u8>(where, static_cast<u8>(word));
	case 1:
		return store_at<u16>(where, static_cast<u16>(word));
	case 2:
		return store_at<u32>(where, static_cast<u32>(word));
	default:
		return store_at<u64>(where, word);
	}
}

/* The operand in ModR/M. In memory SSE wants it to be aligned, but for PCMPISTRI. */
inline bool Interpreter::take(const x86_op &op, bool in_memory, Vector &vector)
{
	const bool wide = op.immediate & vector_wide;

	if (!in_memory) {
		read(op.from, vector, wide);
		return true;
	}
	const u64 where = address(op), words = wide ? 4 : 2;
	const u8 *at = memory.at(where, 8 * words, false);

	if (!at || (!(op.immediate & vector_vex) && op.code != vector_strings_m && where % 16))
		return false;
	vector.word[2] = vector.word[3] = 0;
	for (u64 i = 0; i < words; i++)
		vector.word[i] = load_once<u64>(at + 8 * i);
	return true;
}

inline bool Interpreter::move_vector(const x86_op &op)
{
	const bool wide = op.immediate & vector_wide;
	const u64 bytes = wide ? 32 : 16, where = address(op);
	u8 *at = memory.at(where, bytes, op.code == vector_store);

	if (!at || (op.immediate & vector_aligned && where % bytes))
		return false;
	if (op.code == vector_load)
		write(op, at);
	else if (wide)
		read_32(op.from, at);
	else
		read_16(op.from, at);
	return true;
}

/* 4 or 8 bytes, zeros above them. */
inline bool Interpreter::move_part(const x86_op &op)
{
	const bool quad = op.operation == 3;
	Vector vector = {};

	switch (op.code) {
	case vector_part_load:
		if (!load_sized(address(op), op.operation, vector.word[0]))
			return false;
		break;
	case vector_part_store:
		read(op.from, vector, false);
		return store_sized(address(op), op.operation, vector.word[0]);
	case vector_part_move:
		read(op.from, vector, false);
		vector.word[1] = 0;
		break;
	case vector_from_general:
		vector.word[0] = quad ? get<u64>(op.from) : get<u32>(op.from);
		break;
	default:
		read(op.from, vector, false);
		if (quad)
			put<u64>(op.to, vector.word[0]);
		else
			put<u32>(op.to, static_cast<u32>(vector.word[0]));
		return true;
	}
	write(op, &vector);
	return true;
}

/* PTEST */
inline void Interpreter::test(const Vector &a, const Vector &b, bool wide)
{
	u64 both = 0, missing = 0;

	for (u64 i = 0; i < (wide ? 4 : 2); i++) {
		both |= a.word[i] & b.word[i];
		missing |= ~a.word[i] & b.word[i];
	}
	flags.set((both ? 0 : zero) | (missing ? 0 : carry));
}

constexpr u64 replicated(u64 value, unsigned size)
{
	constexpr u64 factor[] = {0x0101010101010101, 0x0001000100010001, 0x0000000100000001, 1};
	constexpr u64 mask[] = {0xff, 0xffff, 0xffffffff, ~0ul};

	return (value & mask[size & 3]) * factor[size & 3];
}

/* What two operands of the whole size make. */
inline bool Interpreter::combine(const x86_op &op, bool in_memory)
{
	const bool wide = op.immediate & vector_wide;
	const u8 order = static_cast<u8>(op.immediate);
	Vector operand, result;

	if (!take(op, in_memory, operand))
		return false;
	for (unsigned i = 0; i < (wide ? 4 : 2); i += 2) {
		switch (op.code) {
		case vector_shuffle_r:
		case vector_shuffle_m:
			shuffle(operand.word + i, order, result.word + i);
			break;
		case vector_words_r:
		case vector_words_m:
			result.word[i] = op.operation ? operand.word[i]
						      : shuffle_words(operand.word[i], order);
			result.word[i + 1] = op.operation
						     ? shuffle_words(operand.word[i + 1], order)
						     : operand.word[i + 1];
			break;
		case vector_spread_r:
		case vector_spread_m:
			result.word[i] = operand.word[i];
			result.word[i + 1] = operand.word[i + 1];
			spread(op.operation, result.word + i);
			break;
		case vector_pick_r:
		case vector_pick_m:
			if (!i)
				read_first(op, result);
			/* Of SHUFPD each 16 bytes have bits of their own. */
			pick(op.operation, op.operation ? order >> i : order, result.word + i,
			     operand.word + i, result.word + i);
			break;
		default:
			if (!i)
				read_first(op, result);
			slide(operand.word + i, result.word + i, order, result.word + i);
			break;
		}
	}
	write(op, &result);
	return true;
}

inline bool Interpreter::calculate(const x86_op &op, bool in_memory)
{
	Vector operand, result;

	if (!take(op, in_memory, operand))
		return false;
	read_first(op, result);
	operate(op, result, operand);
	write(op, &result);
	return true;
}

/* PTEST, PCMPISTRI */
inline bool Interpreter::question(const x86_op &op, bool in_memory)
{
	const bool strings = op.code == vector_strings_r || op.code == vector_strings_m;
	Vector operand, first;
	u64 now;

	if (!take(op, in_memory, operand))
		return false;
	read(op.to, first, op.immediate & vector_wide);
	if (!strings) {
		test(first, operand, op.immediate & vector_wide);
		return true;
	}
	put<u32>(cx, compare_strings(static_cast<u8>(op.immediate),
				     reinterpret_cast<const Half &>(first),
				     reinterpret_cast<const Half &>(operand), now));
	flags.set(now);
	return true;
}

/* PSLLW and its like by an immediate, PSLLDQ, PSRLDQ: the result is where VEX says. */
inline bool Interpreter::shift_vector(const x86_op &op)
{
	const bool wide = op.immediate & vector_wide;
	const u8 by = static_cast<u8>(op.immediate);
	const Vector count = {{by, 0, by, 0}};
	x86_op to = op;
	Vector value;

	read(op.from, value, wide);
	if (op.code == vector_shift) {
		Half *halves = reinterpret_cast<Half *>(&value);

		for (int i = 0; i < (wide ? 2 : 1); i++)
			operate_on_16(op.operation, halves[i],
				      reinterpret_cast<const Half &>(count));
	} else {
		slide_alone(op.operation, by, value.word);
		slide_alone(op.operation, by, value.word + 2);
	}
	to.to = op.immediate & vector_vex ? other_register(op) : op.from;
	write(to, &value);
	return true;
}

/* PMOVSX, PMOVZX: from so many bytes. */
inline bool Interpreter::widen_vector(const x86_op &op, bool in_memory)
{
	constexpr u8 logs[] = {3, 2, 1, 3, 2, 3};
	Vector operand, result = {};

	if (!take_part(op, in_memory, logs[op.operation & 7], operand))
		return false;
	operate_on_16_38(op.operation, reinterpret_cast<Half &>(result),
			 reinterpret_cast<const Half &>(operand));
	write(op, &result);
	return true;
}

/* PINSR: of 1, 2, 4 or 8 bytes. */
inline bool Interpreter::insert(const x86_op &op, bool in_memory)
{
	const unsigned log = op.operation, at = static_cast<u8>(op.immediate) & ((16u >> log) - 1),
		       bits = 8u << log, shift = at * bits % 64;
	const u64 mask = (log == 3 ? ~0ul : (1ul << bits) - 1) << shift;
	Vector result;
	u64 word;

	if (!in_memory)
		word = get<u64>(op.from);
	else if (!load_sized(address(op), log, word))
		return false;
	read_first(op, result);
	u64 &place = result.word[at * bits / 64];
	place = (place & ~mask) | (word << shift & mask);
	write(op, &result);
	return true;
}

/* PEXTR; a register is cleared above. */
inline bool Interpreter::extract(const x86_op &op, bool in_memory)
{
	const unsigned log = op.operation, at = static_cast<u8>(op.immediate) & ((16u >> log) - 1),
		       bits = 8u << log;
	Vector value;

	read(op.from, value, false);
	const u64 word = value.word[at * bits / 64] >> at * bits % 64;
	if (!in_memory) {
		put<u64>(op.to, log == 3 ? word : word & ((1ul << bits) - 1));
		return true;
	}
	return store_sized(address(op), log, word);
}

/* MOVMSKPS and MOVMSKPD */
inline bool Interpreter::collect_signs(const x86_op &op)
{
	const bool wide = op.immediate & vector_wide;
	Vector value;
	u64 all = 0;

	read(op.from, value, wide);
	for (unsigned i = 0; i < (wide ? 4 : 2); i++) {
		if (op.operation == 3)
			all |= value.word[i] >> 63 << i;
		else
			all |= (value.word[i] >> 63 << 1 | (value.word[i] >> 31 & 1)) << 2 * i;
	}
	put<u64>(op.to, all);
	return true;
}

/* MOVHLPS and MOVLHPS */
inline bool Interpreter::move_half(const x86_op &op)
{
	Vector from, result;

	read(op.from, from, false);
	read_first(op, result);
	if (op.operation)
		result.word[1] = from.word[0];
	else
		result.word[0] = from.word[1];
	write(op, &result);
	return true;
}

inline bool Interpreter::vector(const x86_op &op)
{
	const bool wide = op.immediate & vector_wide;
	const unsigned needs = static_cast<unsigned>(op.immediate) >> vector_needs_shift;
	Vector value = {};
	u64 word = 0;

	if (~machine.can & needs)
		return false;
	switch (op.code) {
	case vector_load:
	case vector_store:
		return move_vector(op);
	case vector_move:
		read(op.from, value, wide);
		write(op, &value);
		return true;
	case vector_binary_r:
	case vector_38_r:
		return calculate(op, false);
	case vector_binary_m:
	case vector_38_m:
		return calculate(op, true);
	case vector_test_r:
	case vector_strings_r:
		return question(op, false);
	case vector_test_m:
	case vector_strings_m:
		return question(op, true);
	case vector_shuffle_r:
	case vector_words_r:
	case vector_pick_r:
	case vector_spread_r:
	case vector_align_r:
		return combine(op, false);
	case vector_shuffle_m:
	case vector_words_m:
	case vector_pick_m:
	case vector_align_m:
		return combine(op, true);
	case vector_spread_m:
		/* Of MOVDDUP, memory has 8 bytes. */
		if (op.operation != 2 || wide)
			return combine(op, true);
		if (!load_at<u64>(address(op), word))
			return false;
		value.word[0] = value.word[1] = word;
		write(op, &value);
		return true;
	case vector_widen_r:
		return widen_vector(op, false);
	case vector_widen_m:
		return widen_vector(op, true);
	case vector_shift:
	case vector_slide:
		return shift_vector(op);
	case vector_half_move:
		return move_half(op);
	case vector_insert_r:
		return insert(op, false);
	case vector_insert_m:
		return insert(op, true);
	case vector_extract_r:
		return extract(op, false);
	case vector_extract_m:
		return extract(op, true);
	case vector_signs:
		return collect_signs(op);
	case vector_broadcast_r:
		read(op.from, value, false);
		word = value.word[0];
		break;
	case vector_broadcast_m:
		if (!load_sized(address(op), op.operation, word))
			return false;
		break;
	case vector_half_load:
		if (!load_at<u64>(address(op), word))
			return false;
		read_first(op, value);
		value.word[op.operation] = word;
		write(op, &value);
		return true;
	case vector_half_store:
		read(op.from, value, false);
		return store_at<u64>(address(op), value.word[op.operation]);
	case vector_mask:
		read(op.from, value, wide);
		for (unsigned i = 0; i < (wide ? 4 : 2); i++)
			word |= static_cast<u64>(highest_bits(value.word[i])) << 8 * i;
		put<u64>(op.to, word);
		return true;
	case vector_clear:
		asm volatile("vzeroupper" : : : "memory");
		return true;
	case vector_part_load:
	case vector_part_store:
	case vector_part_move:
	case vector_from_general:
	case vector_to_general:
		return move_part(op);
	default:
		return float_op(op);
	}
	for (u64 &each : value.word)
		each = replicated(word, op.operation);
	write(op, &value);
	return true;
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_EXECUTE_VECTOR_HH */
