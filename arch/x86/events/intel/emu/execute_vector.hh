/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Vector instructions, see executor.hh.
 */
#ifndef X86_EVENTS_EMU_EXECUTE_VECTOR_HH
#define X86_EVENTS_EMU_EXECUTE_VECTOR_HH

#include "executor.hh"

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

/* The operand in ModR/M. In memory SSE wants it to be aligned. */
inline bool Interpreter::take(const x86_op &op, bool in_memory, Vector &vector)
{
	const bool wide = op.immediate & vector_wide;

	if (!in_memory) {
		read(op.from, vector, wide);
		return true;
	}
	const u64 where = address(op), words = wide ? 4 : 2;
	const u8 *at = memory.at(where, 8 * words, false);

	if (!at || (!(op.immediate & vector_vex) && where % 16))
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
	u32 half;

	switch (op.code) {
	case vector_part_load:
		if (quad ? !load_at<u64>(address(op), vector.word[0])
			 : !load_at<u32>(address(op), half))
			return false;
		if (!quad)
			vector.word[0] = half;
		break;
	case vector_part_store:
		read(op.from, vector, false);
		return quad ? store_at<u64>(address(op), vector.word[0])
			    : store_at<u32>(address(op), static_cast<u32>(vector.word[0]));
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

/* PSHUFD on 16 bytes. */
inline void shuffle(const u64 *from, unsigned order, u64 *to)
{
	const auto word = [&](unsigned n) {
		const unsigned which = order >> 2 * n & 3;

		return static_cast<u64>(static_cast<u32>(from[which / 2] >> which % 2 * 32));
	};

	to[0] = word(0) | word(1) << 32;
	to[1] = word(2) | word(3) << 32;
}

inline bool Interpreter::combine(const x86_op &op, bool in_memory)
{
	const bool wide = op.immediate & vector_wide;
	const u8 other = static_cast<u8>(op.immediate >> vector_other_shift & 15);
	Vector operand, result;

	if (!take(op, in_memory, operand))
		return false;
	switch (op.code) {
	case vector_binary_r:
	case vector_binary_m:
		read(op.immediate & vector_vex ? other : op.to, result, wide);
		operate(op.operation, result, operand, wide);
		break;
	case vector_test_r:
	case vector_test_m:
		read(op.to, result, wide);
		test(result, operand, wide);
		return true;
	default:
		shuffle(operand.word, static_cast<u8>(op.immediate), result.word);
		shuffle(operand.word + 2, static_cast<u8>(op.immediate), result.word + 2);
		break;
	}
	write(op, &result);
	return true;
}

inline bool Interpreter::vector(const x86_op &op)
{
	const bool vex = op.immediate & vector_vex, wide = op.immediate & vector_wide;
	const u8 other = static_cast<u8>(op.immediate >> vector_other_shift & 15);
	Vector value = {};
	u64 word = 0;
	const u8 *at;

	if (!(machine.can & (vex ? X86_CAN_AVX2 : X86_CAN_SSE2)))
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
	case vector_test_r:
	case vector_shuffle_r:
		return combine(op, false);
	case vector_binary_m:
	case vector_test_m:
	case vector_shuffle_m:
		return combine(op, true);
	case vector_broadcast_r:
		read(op.from, value, false);
		word = value.word[0];
		break;
	case vector_broadcast_m:
		at = memory.at(address(op), 1ul << op.operation, false);
		if (!at)
			return false;
		word = op.operation == 0   ? load_once<u8>(at)
		       : op.operation == 1 ? load_once<u16>(at)
		       : op.operation == 2 ? load_once<u32>(at)
					   : load_once<u64>(at);
		break;
	case vector_half_load:
		if (!load_at<u64>(address(op), word))
			return false;
		read(vex ? other : op.to, value, false);
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
	default:
		return move_part(op);
	}
	for (u64 &each : value.word)
		each = replicated(word, op.operation);
	write(op, &value);
	return true;
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_EXECUTE_VECTOR_HH */
