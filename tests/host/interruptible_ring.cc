// SPDX-License-Identifier: GPL-2.0
/* data_ring.hh over primitives that can be interrupted. */
#include "interruptible_ring.hh"

#include "data_ring.hh"
#include "sample_plan.hh"

namespace ring_test {
namespace {

Interrupts *interrupts;

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

using Ring = perf_ring::DataRing<InterruptiblePrimitives>;
using Samples = perf_ring::SampleWriter<InterruptiblePrimitives>;

} // namespace

void set_interrupts(Interrupts *whom)
{
	interrupts = whom;
}

namespace interruptible {

long reserve(perf_data_ring &ring, perf_ring_handle &handle, Direction direction,
	     unsigned long size, unsigned long lost_size)
{
	using perf_ring::Direction::backward;
	using perf_ring::Direction::forward;

	return direction == Direction::forward
		       ? Ring::reserve<forward>(ring, handle, size, lost_size)
		       : Ring::reserve<backward>(ring, handle, size, lost_size);
}

bool commit(perf_ring_handle &handle)
{
	return Ring::commit(handle);
}

void copy(perf_ring_handle &handle, const void *from, unsigned long len)
{
	Ring::copy(handle, from, len);
}

void count_sample(perf_data_ring &ring, unsigned int every)
{
	Ring::count_sample(ring, every);
}

long emit(perf_data_ring &ring, Direction direction, const perf_sample_plan &plan,
	  unsigned long long header, const unsigned long long *words)
{
	using perf_ring::Direction::backward;
	using perf_ring::Direction::forward;

	return direction == Direction::forward ? Samples::emit<forward>(ring, plan, header, words)
					       : Samples::emit<backward>(ring, plan, header, words);
}

void write_run(perf_ring_handle &handle, const perf_sample_plan &plan, perf_sample_run run,
	       const unsigned long long *words)
{
	Samples::write_run(handle, plan, run, words);
}

} // namespace interruptible

} // namespace ring_test
