/* SPDX-License-Identifier: GPL-2.0 */
/* One op after the other, see executor.hh. */
#ifndef X86_EVENTS_EMU_INTERPRET_HH
#define X86_EVENTS_EMU_INTERPRET_HH

#include "execute_atomic.hh"
#include "execute_bits.hh"
#include "execute_sized.hh"
#include "execute_float.hh"
#include "execute_string.hh"

namespace x86_emu {

[[gnu::always_inline]] inline bool Interpreter::step(const x86_op &op)
{
	u64 value, behind;
	u8 *at;

	switch (op.code) {
#define X86_SIZED(code)                                                                            \
	case (code) + 0:                                                                           \
		return sized<u8>(op, code);                                                        \
	case (code) + 1:                                                                           \
		return sized<u16>(op, code);                                                       \
	case (code) + 2:                                                                           \
		return sized<u32>(op, code);                                                       \
	case (code) + 3:                                                                           \
		return sized<u64>(op, code);
		X86_SIZED(alu_rr)
		X86_SIZED(alu_ri)
		X86_SIZED(alu_rm)
		X86_SIZED(alu_mr)
		X86_SIZED(alu_mi)
		X86_SIZED(mov_rr)
		X86_SIZED(mov_ri)
		X86_SIZED(load)
		X86_SIZED(store)
		X86_SIZED(store_i)
		X86_SIZED(lea)
		X86_SIZED(unary_r)
		X86_SIZED(unary_m)
		X86_SIZED(shift_r)
		X86_SIZED(shift_m)
		X86_SIZED(exchange)
		X86_SIZED(multiply_rr)
		X86_SIZED(multiply_rm)
		X86_SIZED(multiply_rri)
		X86_SIZED(multiply_rmi)
		X86_SIZED(wide_r)
		X86_SIZED(wide_m)
		X86_SIZED(bit_rr)
		X86_SIZED(bit_ri)
		X86_SIZED(scan_rr)
		X86_SIZED(scan_rm)
		X86_SIZED(double_rr)
		X86_SIZED(cmov_rr)
		X86_SIZED(cmov_rm)
		X86_SIZED(sign_data)
		X86_SIZED(swap_bytes)
#undef X86_SIZED
	/* From half of the register to the whole. */
	case widen + 1:
		put<u16>(ax, static_cast<u16>(widened<u8>(extend_signed, get<u8>(ax))));
		return true;
	case widen + 2:
		put<u32>(ax, static_cast<u32>(widened<u16>(extend_signed, get<u16>(ax))));
		return true;
	case widen + 3:
		put<u64>(ax, widened<u32>(extend_signed, get<u32>(ax)));
		return true;
	case mov_wide:
		put<u64>(op.to, static_cast<u32>(op.displacement) |
					static_cast<u64>(static_cast<u32>(op.immediate)) << 32);
		return true;
	case extend_r:
		return extend_value(op, false);
	case extend_m:
		return extend_value(op, true);
	case set_r:
		put<u8>(op.to, flags.hold(op.operation));
		return true;
	case set_m:
		at = memory.at(address(op), 1, true);
		if (!at)
			return false;
		store_once<u8>(at, flags.hold(op.operation));
		return true;
	case push_r:
		return push(get<u64>(op.from));
	case push_i:
		return push(static_cast<u64>(static_cast<s64>(op.immediate)));
	case push_m:
		return pop(value, address(op), behind) && push(value);
	case pop_r:
		if (!pop(value, get<u64>(sp), behind))
			return false;
		put<u64>(sp, behind);
		put<u64>(op.to, value);
		return true;
	case leave:
		return leave_frame();
	case nop:
		return true;
	case carry_flag:
		change_carry(op.operation);
		return true;
	case branch_if:
		taken = flags.hold(op.operation);
		to = taken ? run->end.target : run->end.next;
		return true;
	case jump:
		to = run->end.target;
		return true;
	case call:
		return call_to(run->end.target);
	case ret:
		if (!pop(value, get<u64>(sp), behind) || !go(value))
			return false;
		behind += static_cast<u32>(op.immediate);
		put<u64>(sp, long_mode() ? behind : static_cast<u32>(behind));
		return true;
	case jump_r:
		return go(long_mode() ? get<u64>(op.from) : get<u32>(op.from));
	case jump_m:
		return pop(value, address(op), behind) && go(value);
	case call_r:
		return call_to(long_mode() ? get<u64>(op.from) : get<u32>(op.from));
	case call_m:
		return pop(value, address(op), behind) && call_to(value);
#define X86_SIZED(code, does)                                                                      \
	case (code) + 0:                                                                           \
		return does(u8);                                                                   \
	case (code) + 1:                                                                           \
		return does(u16);                                                                  \
	case (code) + 2:                                                                           \
		return does(u32);                                                                  \
	case (code) + 3:                                                                           \
		return does(u64);
#define X86_ATOMIC(T) change_at_once<T>(op)
#define X86_BITS_R(T) bits<T>(op, false)
#define X86_BITS_M(T) bits<T>(op, true)
		X86_SIZED(atomic, X86_ATOMIC)
		X86_SIZED(bits_r, X86_BITS_R)
		X86_SIZED(bits_m, X86_BITS_M)
#undef X86_SIZED
#undef X86_ATOMIC
#undef X86_BITS_R
#undef X86_BITS_M
	case string:
		return strings(op);
	case rare:
		return rarely(op.operation);
	case first_vector ... last_vector:
		return vector(op);
	default:
		__builtin_unreachable();
	}
}

inline void Interpreter::run_through(const x86_run &which, x86_progress &progress)
{
	const x86_op *op = which.op, *const end = op + which.ops;

	run = &which;
	taken = false;
	while (op != end && step(*op))
		op++;
	progress.instructions = static_cast<unsigned>(op - which.op);
	progress.taken = taken;
	progress.branched = 0;
	if (progress.instructions != which.instructions) {
		progress.to = which.start + (op != end ? op->offset : which.behind_ops);
	} else if (which.end.kind == X86_PLAIN) {
		progress.to = which.end.ip;
	} else {
		progress.branched = 1;
		progress.to = to;
	}
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_INTERPRET_HH */
