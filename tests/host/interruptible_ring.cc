// SPDX-License-Identifier: GPL-2.0
/* data_ring.hh over primitives that can be interrupted. */
#include "interruptible_ring.hh"

#include "data_ring.hh"
#include "sample_plan.hh"

namespace ring_test {
namespace {

using Ring = perf_ring::DataRing<InterruptiblePrimitives>;
using Samples = perf_ring::SampleWriter<InterruptiblePrimitives>;

} // namespace

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
