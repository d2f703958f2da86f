/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The primitives of the rings' algorithms with a call before and after each, for
 * tests that run nested writers there.
 */
#ifndef TESTS_HOST_INTERRUPTIBLE_PRIMITIVES_HH
#define TESTS_HOST_INTERRUPTIBLE_PRIMITIVES_HH

#include "primitives.hh"

namespace ring_test {

enum class Operation {
	load,
	store,
	load_tail,
	publish_head,
	exchange_if,
	add,
	exchange,
	try_lock,
	unlock,
	copy,
};

class Interrupts {
    public:
	/* Whatever this does, happens before @next as one nested stretch. */
	virtual void before(Operation next) = 0;
	/* In one step with the operation: it may look, but not touch. */
	virtual void after(Operation last) = 0;

    protected:
	~Interrupts() = default;
};

/* Whom to call; nobody until then. Not for several threads. */
inline Interrupts *interrupts;

inline void set_interrupts(Interrupts *whom)
{
	interrupts = whom;
}

/* One operation that nothing comes into, between two calls. */
class Step {
    public:
	explicit Step(Operation operation_) : operation(operation_)
	{
		if (interrupts)
			interrupts->before(operation);
	}
	~Step()
	{
		if (interrupts)
			interrupts->after(operation);
	}
	Step(const Step &) = delete;
	Step &operator=(const Step &) = delete;

    private:
	const Operation operation;
};

struct InterruptiblePrimitives {
	using Real = perf_ring::Primitives;

	template <class T> static T load(const T &from)
	{
		const Step step(Operation::load);

		return Real::load(from);
	}
	template <class T> static void store(T &to, T value)
	{
		const Step step(Operation::store);

		Real::store(to, value);
	}
	static unsigned long load_tail(const unsigned long long &tail)
	{
		const Step step(Operation::load_tail);

		return Real::load_tail(tail);
	}
	static void publish_head(unsigned long long &head, unsigned long value)
	{
		const Step step(Operation::publish_head);

		Real::publish_head(head, value);
	}
	static void order_nested()
	{
		Real::order_nested();
	}
	static bool exchange_if(unsigned long &at, unsigned long &expected, unsigned long desired)
	{
		const Step step(Operation::exchange_if);

		return Real::exchange_if(at, expected, desired);
	}
	static void add(unsigned long &to, unsigned long value)
	{
		const Step step(Operation::add);

		Real::add(to, value);
	}
	static unsigned long exchange(unsigned long &at, unsigned long value)
	{
		const Step step(Operation::exchange);

		return Real::exchange(at, value);
	}
	static bool try_lock(unsigned long &lock)
	{
		const Step step(Operation::try_lock);

		return Real::try_lock(lock);
	}
	static void unlock(unsigned long &lock)
	{
		const Step step(Operation::unlock);

		Real::unlock(lock);
	}
	static void copy_word(void *to, const void *from)
	{
		const Step step(Operation::copy);

		Real::copy_word(to, from);
	}
	/* A block is copied piecemeal: half-written is a state to be seen. */
	static void copy(void *to, const void *from, unsigned long len)
	{
		while (len) {
			const unsigned long now =
				len < sizeof(unsigned long long) ? len : sizeof(unsigned long long);
			const Step step(Operation::copy);

			Real::copy(to, from, now);
			to = static_cast<char *>(to) + now;
			from = static_cast<const char *>(from) + now;
			len -= now;
		}
	}
};

} // namespace ring_test

#endif
