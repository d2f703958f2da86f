/* SPDX-License-Identifier: GPL-2.0 */
/*
 * String instructions, see executor.hh. Page by page the CPU's own instruction does them, in
 * the kernel's mapping: there, as in the task's, elements come one after the other, which is
 * what makes something of overlapping ones, and what others see of them is the same.
 *
 * Those that are repeated may end in the middle, as an interrupt would have it: whole elements
 * are done, and the CPU does the rest. Flags are then still the ones from before, which is how
 * a fault leaves them.
 */
#ifndef X86_EVENTS_EMU_EXECUTE_STRING_HH
#define X86_EVENTS_EMU_EXECUTE_STRING_HH

#include "execute_general.hh"

namespace x86_emu {

/* The kernel's DF is clear, always. */
#define X86_STRING_MOVE(suffix)                                                                    \
	asm volatile("rep movs" suffix : "+D"(to), "+S"(from), "+c"(count) : : "memory")
#define X86_STRING_STORE(suffix)                                                                   \
	asm volatile("rep stos" suffix : "+D"(to), "+c"(count) : "a"(value) : "memory")
#define X86_STRING_COMPARE(prefix, suffix)                                                         \
	asm volatile(prefix " cmps" suffix "\n\tlahf\n\tseto %%al"                                 \
		     : "+D"(to), "+S"(from), "+c"(count), "=a"(flags)                              \
		     :                                                                             \
		     : "memory", "cc")
#define X86_STRING_SCAN(prefix, suffix)                                                            \
	asm volatile(prefix " scas" suffix "\n\tlahf\n\tseto %%al"                                 \
		     : "+D"(to), "+c"(count), "+a"(value)                                          \
		     :                                                                             \
		     : "memory", "cc")
#define X86_STRING(T, does)                                                                        \
	if constexpr (sizeof(T) == 1)                                                              \
		does("b");                                                                         \
	else if constexpr (sizeof(T) == 2)                                                         \
		does("w");                                                                         \
	else if constexpr (sizeof(T) == 4)                                                         \
		does("l");                                                                         \
	else                                                                                       \
		does("q")

template <class T> inline void native_move(u8 *to, const u8 *from, u64 count)
{
	X86_STRING(T, X86_STRING_MOVE);
}

template <class T> inline void native_store(u8 *to, u64 value, u64 count)
{
	X86_STRING(T, X86_STRING_STORE);
}

/* How many are left of them, at least one; flags are the last comparison's. */
template <class T>
inline u64 native_compare(const u8 *from, const u8 *to, u64 count, bool equal, u64 &now)
{
	u64 flags;

#define X86_WHILE_EQUAL(suffix) X86_STRING_COMPARE("repe", suffix)
#define X86_UNTIL_EQUAL(suffix) X86_STRING_COMPARE("repne", suffix)
	if (equal) {
		X86_STRING(T, X86_WHILE_EQUAL);
	} else {
		X86_STRING(T, X86_UNTIL_EQUAL);
	}
#undef X86_WHILE_EQUAL
#undef X86_UNTIL_EQUAL
	now = unpacked(static_cast<u16>(flags));
	return count;
}

template <class T> inline u64 native_scan(u64 value, const u8 *to, u64 count, bool equal, u64 &now)
{
#define X86_WHILE_EQUAL(suffix) X86_STRING_SCAN("repe", suffix)
#define X86_UNTIL_EQUAL(suffix) X86_STRING_SCAN("repne", suffix)
	if (equal) {
		X86_STRING(T, X86_WHILE_EQUAL);
	} else {
		X86_STRING(T, X86_UNTIL_EQUAL);
	}
#undef X86_WHILE_EQUAL
#undef X86_UNTIL_EQUAL
	now = unpacked(static_cast<u16>(value));
	return count;
}

#undef X86_STRING_MOVE
#undef X86_STRING_STORE
#undef X86_STRING_COMPARE
#undef X86_STRING_SCAN
#undef X86_STRING

constexpr bool reads_source(u8 kind)
{
	return kind == string_move || kind == string_compare || kind == string_load;
}

/* Where a string goes on, and what is there. */
struct Place {
	u64 address;
	const bool used;
	u8 *at = nullptr;

	/* How many elements there are from here to the page's end; 0: none can be reached. */
	u64 reach(Memory &memory, u64 size, bool store)
	{
		if (!used)
			return ~0ul;
		at = memory.at(address, size, store);
		return at ? (page_size - (address & ~page_mask)) / size : 0;
	}

	void pass(u64 bytes, bool long_mode)
	{
		if (used)
			address = long_mode ? address + bytes : static_cast<u32>(address + bytes);
	}
};

/* True: the instruction is done, with flags if it compares. */
template <class T> [[gnu::noinline]] bool Interpreter::repeat(const x86_op &op)
{
	const u8 kind = op.operation;
	const bool compares = kind == string_compare || kind == string_scan,
		   stores = kind == string_move || kind == string_store,
		   while_equal = op.from == repeat_while_equal;
	Place from = {counter(si), reads_source(kind)};
	Place to = {counter(di), kind != string_load};
	u64 left = counter(cx), now = 0;
	const u64 before = left;
	bool ended = !left;

	while (!ended) {
		const u64 near = from.reach(memory, sizeof(T), false),
			  far = to.reach(memory, sizeof(T), stores);
		u64 count = near < far ? near : far;

		count = left < count ? left : count;
		count = elements < count ? elements : count;
		if (!count)
			break;
		const u64 wanted = count;
		if (kind == string_move)
			native_move<T>(to.at, from.at, count);
		else if (kind == string_store)
			native_store<T>(to.at, get<u64>(ax), count);
		else if (kind == string_load)
			/* Of all but the last one nobody hears. */
			put<T>(ax, load_once<T>(from.at + (count - 1) * sizeof(T)));
		else if (kind == string_scan)
			count -= native_scan<T>(get<u64>(ax), to.at, count, while_equal, now);
		else
			count -= native_compare<T>(from.at, to.at, count, while_equal, now);
		elements -= count;
		left -= count;
		from.pass(count * sizeof(T), long_mode());
		to.pass(count * sizeof(T), long_mode());
		ended = !left || count != wanted || (compares && !(now & zero) == while_equal);
	}
	if (left != before) {
		put<u64>(cx, left);
		if (from.used)
			put<u64>(si, from.address);
		if (to.used)
			put<u64>(di, to.address);
		if (compares && ended)
			flags.set(now);
	}
	return ended;
}

/* A single one. */
template <class T> [[gnu::noinline]] bool Interpreter::once(const x86_op &op)
{
	const u8 kind = op.operation;
	Place from = {counter(si), reads_source(kind)};
	Place to = {counter(di), kind != string_load};
	T first = get<T>(ax), second;

	if (from.used && !load_at<T>(from.address, first))
		return false;
	if (kind == string_move || kind == string_store) {
		if (!store_at<T>(to.address, first))
			return false;
	} else if (kind == string_load) {
		put<T>(ax, first);
	} else {
		if (!load_at<T>(to.address, second))
			return false;
		flags.note(of_sub, log_size<T>, first, second);
	}
	from.pass(sizeof(T), long_mode());
	to.pass(sizeof(T), long_mode());
	put<u64>(si, from.address);
	put<u64>(di, to.address);
	return true;
}

[[gnu::noinline]] inline bool Interpreter::strings(const x86_op &op)
{
	if (machine.registers->flags & direction)
		return false;
	switch (op.to) {
	case 0:
		return op.from ? repeat<u8>(op) : once<u8>(op);
	case 1:
		return op.from ? repeat<u16>(op) : once<u16>(op);
	case 2:
		return op.from ? repeat<u32>(op) : once<u32>(op);
	default:
		return op.from ? repeat<u64>(op) : once<u64>(op);
	}
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_EXECUTE_STRING_HH */
