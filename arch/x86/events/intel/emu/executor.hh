/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What carries ops out. An access that cannot be made comes before anything is changed.
 * Most arithmetic is noted and not worked out: the next instruction that sets the flags
 * makes the last ones' flags nobody's business.
 */
#ifndef X86_EVENTS_EMU_EXECUTOR_HH
#define X86_EVENTS_EMU_EXECUTOR_HH

#include "flags.hh"
#include "memory.hh"
#include "vector.hh"

namespace x86_emu {

class Interpreter {
    public:
	explicit Interpreter(x86_machine &machine)
		: machine(machine),
		  flags(machine.registers->flags),
		  registers(reinterpret_cast<u8 *>(machine.registers)),
		  memory(*machine.memory)
	{
	}

	[[gnu::always_inline]] void run_through(const x86_run &which, x86_progress &progress);

	/* The registers are what they are to be. */
	void finish()
	{
		flags.settle();
	}

    private:
	/* False: nothing has changed, but for whole elements of a string. */
	[[gnu::always_inline]] bool step(const x86_op &op);

	/* ---- registers ---- */

	template <class T> T get(u8 place) const
	{
		typedef T __attribute__((may_alias)) value;

		return *reinterpret_cast<const value *>(registers + place);
	}

	/* What is written to the lower half of a register clears the upper one. */
	template <class T> void put(u8 place, T word)
	{
		typedef T __attribute__((may_alias)) value;
		typedef u64 __attribute__((may_alias)) whole;

		if constexpr (sizeof(T) == 4)
			*reinterpret_cast<whole *>(registers + place) = word;
		else
			*reinterpret_cast<value *>(registers + place) = word;
	}

	/* ---- memory ---- */

	[[gnu::always_inline]] u64 address(const x86_op &op) const
	{
		u64 sum = static_cast<u64>(static_cast<s64>(op.displacement));

		if (op.base != no_register)
			sum += get<u64>(op.base);
		if (op.index != no_register)
			sum += get<u64>(op.index) << (op.address & address_shift);
		if (__builtin_expect(op.address & address_special, 0)) {
			if (op.address & address_relative)
				sum += run->start;
			if (op.address & address_fs)
				sum += machine.fs_base;
			if (op.address & address_narrow)
				sum = static_cast<u32>(sum);
		}
		return sum;
	}

	template <class T> [[gnu::always_inline]] bool load_at(u64 where, T &value)
	{
		const u8 *at = memory.at(where, sizeof(T), false);

		if (!at)
			return false;
		value = load_once<T>(at);
		return true;
	}

	template <class T> [[gnu::always_inline]] bool store_at(u64 where, T value)
	{
		u8 *at = memory.at(where, sizeof(T), true);

		if (!at)
			return false;
		store_once<T>(at, value);
		return true;
	}

	/* ---- instructions ---- */

	template <class T> [[gnu::always_inline]] T alu(u8 operation, T a, T b);
	template <class T> bool alu_memory(const x86_op &op, T b);
	template <class T> T unary(u8 operation, T value);
	template <class T> T shift(const x86_op &op, T value);
	template <class T> T rotate(const x86_op &op, T value);
	template <class T> T multiply(T a, T b);
	template <class T> bool wide(u8 operation, T by);
	template <class T> T bit(u8 operation, T value, T which);
	template <class T> void scan(const x86_op &op, T from);
	template <class T> T both(const x86_op &op, T low, T high);
	template <class T> bool change_memory(const x86_op &op);
	template <class T> void sign_data_register();
	template <class T> u64 widened(u8 operation, T value) const;
	bool extend_value(const x86_op &op, bool in_memory);
	bool push(u64 value);
	template <class T> bool pop_as(u64 &value, u64 from, u64 &behind);
	bool pop(u64 &value, u64 from, u64 &behind);
	bool leave_frame();
	void change_carry(u8 operation);
	bool go(u64 where);
	bool call_to(u64 where);
	template <class T> bool sized(const x86_op &op, u8 code);

	/* ---- strings, see execute_string.hh ---- */

	/* As wide as addresses are. */
	u64 counter(u8 place) const
	{
		return long_mode() ? get<u64>(place) : get<u32>(place);
	}

	template <class T> bool repeat(const x86_op &op);
	template <class T> bool once(const x86_op &op);
	bool strings(const x86_op &op);

	/* ---- atomic ones and those on bits, see execute_atomic.hh and execute_bits.hh ---- */

	template <class T> T source(const x86_op &op) const;
	template <class T> u64 compare_exchange(u64 into, T with);
	template <class T> bool atomic_register(const x86_op &op);
	template <class T> bool change_alone(const x86_op &op, u8 *at);
	template <class T> bool change_locked(const x86_op &op, u8 *at);
	template <class T> bool change_at_once(const x86_op &op);
	template <class T> T select_bits(const x86_op &op, T value);
	template <class T> T pass_bits(const x86_op &op, T value);
	template <class T> bool on_bits(const x86_op &op, T value);
	template <class T> bool bits(const x86_op &op, bool in_memory);
	bool rarely(u8 operation);

	/* ---- vectors ---- */

	void read(u8 number, Vector &vector, bool wide) const;
	void write(const x86_op &op, const void *from) const;
	bool take(const x86_op &op, bool in_memory, Vector &vector);
	bool move_vector(const x86_op &op);
	bool move_part(const x86_op &op);
	void test(const Vector &a, const Vector &b, bool wide);
	void read_first(const x86_op &op, Vector &vector) const;
	bool take_part(const x86_op &op, bool in_memory, unsigned log, Vector &vector);
	bool load_sized(u64 where, unsigned log, u64 &word);
	bool store_sized(u64 where, unsigned log, u64 word);
	bool combine(const x86_op &op, bool in_memory);
	bool calculate(const x86_op &op, bool in_memory);
	bool question(const x86_op &op, bool in_memory);
	bool shift_vector(const x86_op &op);
	bool widen_vector(const x86_op &op, bool in_memory);
	bool insert(const x86_op &op, bool in_memory);
	bool extract(const x86_op &op, bool in_memory);
	bool collect_signs(const x86_op &op);
	bool move_half(const x86_op &op);
	bool calculate_floats(const x86_op &op, bool in_memory);
	bool order(const x86_op &op, bool in_memory);
	bool from_integer(const x86_op &op, bool in_memory);
	bool to_integer(const x86_op &op, bool in_memory);
	bool float_op(const x86_op &op);
	bool vector(const x86_op &op);

	bool long_mode() const
	{
		return run->mode == 2;
	}

	x86_machine &machine;
	Flags flags;
	u8 *registers;
	Memory memory;
	const x86_run *run = nullptr;
	/* Elements of repeated strings that may still be done: whoever waits does not for long. */
	u64 elements = 8192;
	/* What the run's end has done. */
	u64 to = 0;
	bool taken = false;
};

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_EXECUTOR_HH */
