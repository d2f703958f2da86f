/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory operations that the ring's algorithms are written in.
 *
 * Two kinds of others can look at a ring while a writer works on it:
 *  - nested writers on the same CPU, which run to their end at any point of
 *    ours. Against them an operation has to be one instruction and stay where
 *    the program put it; it need not be a locked one.
 *  - the reader, on any CPU, through the user page. Against it the lettered
 *    edges hold.
 *
 * The algorithms take these operations as a template parameter, so that tests
 * can put their own in and run a nested writer between any two of them.
 */
#ifndef PERF_EVENTS_RING_PRIMITIVES_HH
#define PERF_EVENTS_RING_PRIMITIVES_HH

namespace perf_ring {

#if defined(__SANITIZE_THREAD__)
#define PERF_RING_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PERF_RING_THREAD_SANITIZER 1
#endif
#endif

/* Even where nothing else is inlined: an operation is an instruction, not a call. */
#define PERF_RING_OP [[gnu::always_inline]] static inline

struct Primitives {
	/*
	 * Positions in the user page have 64 bits. A 32-bit CPU moves them in
	 * halves, of which only the low one ever changes.
	 */
	static constexpr bool positions_are_whole = sizeof(long) == sizeof(long long);

	/*
	 * Whole-value load and store: nested writers see all of it or none. What is wider
	 * than the CPU's words moves in halves; no algorithm builds on more.
	 */
	template <class T> PERF_RING_OP T load(const T &from)
	{
		if constexpr (sizeof(T) > sizeof(long))
			return *static_cast<const volatile T *>(&from);
		else
			return __atomic_load_n(&from, __ATOMIC_RELAXED);
	}

	template <class T> PERF_RING_OP void store(T &to, T value)
	{
		if constexpr (sizeof(T) > sizeof(long))
			*static_cast<volatile T *>(&to) = value;
		else
			__atomic_store_n(&to, value, __ATOMIC_RELAXED);
	}

	/*
	 * Edge A. The branch that the tail decides already orders the record's
	 * stores after this load on every CPU; acquire says the same in a form
	 * that the compiler has to keep and that a race detector can check. On
	 * x86 it is the same instruction.
	 */
	PERF_RING_OP unsigned long load_tail(const unsigned long long &tail)
	{
		if constexpr (positions_are_whole)
			return static_cast<unsigned long>(__atomic_load_n(&tail, __ATOMIC_ACQUIRE));

		const auto value = static_cast<unsigned long>(
			*static_cast<const volatile unsigned long long *>(&tail));

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		return value;
	}

	/* Edge B. */
	PERF_RING_OP void publish_head(unsigned long long &head, unsigned long value)
	{
		if constexpr (positions_are_whole) {
			__atomic_store_n(&head, static_cast<unsigned long long>(value),
					 __ATOMIC_RELEASE);
		} else {
			__atomic_thread_fence(__ATOMIC_RELEASE);
			*static_cast<volatile unsigned long long *>(&head) = value;
		}
	}

	/*
	 * Keep what stands before apart from what stands behind, as a nested
	 * writer sees it. Costs no instruction.
	 */
	PERF_RING_OP void order_nested()
	{
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	}

	/*
	 * Compare and exchange against nested writers; on failure @expected
	 * becomes what was found.
	 */
	PERF_RING_OP bool exchange_if(unsigned long &at, unsigned long &expected,
				      unsigned long desired)
	{
#if defined(__x86_64__) && !defined(PERF_RING_THREAD_SANITIZER)
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

	PERF_RING_OP void add(unsigned long &to, unsigned long value)
	{
#if defined(__x86_64__) && !defined(PERF_RING_THREAD_SANITIZER)
		__asm__ volatile("addq %[value], %[to]"
				 : [to] "+m"(to)
				 : [value] "er"(value)
				 : "memory", "cc");
#else
		__atomic_fetch_add(&to, value, __ATOMIC_RELAXED);
#endif
	}

	PERF_RING_OP unsigned long exchange(unsigned long &at, unsigned long value)
	{
		return __atomic_exchange_n(&at, value, __ATOMIC_RELAXED);
	}

	/*
	 * Become the one who works on what @lock guards, or not, and cease to be. Also
	 * against other CPUs: an event that has moved finds what it left open on its
	 * old CPU being closed there.
	 */
	PERF_RING_OP bool try_lock(unsigned long &lock)
	{
		return !__atomic_exchange_n(&lock, 1UL, __ATOMIC_ACQUIRE);
	}

	PERF_RING_OP void unlock(unsigned long &lock)
	{
		__atomic_store_n(&lock, 0UL, __ATOMIC_RELEASE);
	}

	/* Fixed-size store of one word, the unit that records are made of. */
	PERF_RING_OP void copy_word(void *to, const void *from)
	{
		__builtin_memcpy(to, from, sizeof(unsigned long long));
	}

	PERF_RING_OP void copy(void *to, const void *from, unsigned long len)
	{
		__builtin_memcpy(to, from, len);
	}
};

} // namespace perf_ring

#endif
