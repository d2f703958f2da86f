/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory operations against one's own CPU: an NMI can come between any two of them, and
 * has ended when the next one goes on.
 */
#ifndef HWTRACING_EMU_NESTED_HH
#define HWTRACING_EMU_NESTED_HH

#include <cstdint>

#ifdef EMU_NESTED_POINT
/* Tests define it as a function in which an NMI may come. */
void EMU_NESTED_POINT();
#else
#define EMU_NESTED_POINT() static_cast<void>(0)
#endif

namespace emu {

/* Keeps what stands before apart from what stands behind, as an NMI sees it. */
[[gnu::always_inline]] inline void order_nested()
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	EMU_NESTED_POINT();
}

template <class T> [[gnu::always_inline]] inline T load(const T &from)
{
	EMU_NESTED_POINT();
	return *static_cast<const volatile T *>(&from);
}

template <class T> [[gnu::always_inline]] inline void store(T &to, T value)
{
	EMU_NESTED_POINT();
	*static_cast<volatile T *>(&to) = value;
}

/* One instruction; no lock prefix, other CPUs do not write here. */
[[gnu::always_inline]] inline bool exchange_if(std::uint64_t &at, std::uint64_t expected,
					       std::uint64_t desired)
{
	EMU_NESTED_POINT();
#if defined(__x86_64__)
	bool done;

	__asm__ volatile("cmpxchgq %[desired], %[at]"
			 : "=@ccz"(done), [at] "+m"(at), "+a"(expected)
			 : [desired] "r"(desired)
			 : "memory");
	return done;
#else
	return __atomic_compare_exchange_n(&at, &expected, desired, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
#endif
}

} // namespace emu

#endif
