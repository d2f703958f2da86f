/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The algorithms of data ring and samples with a call before and after each of
 * their memory operations, for tests that run nested writers there. The same functions as
 * the seam's.
 */
#ifndef TESTS_HOST_INTERRUPTIBLE_RING_HH
#define TESTS_HOST_INTERRUPTIBLE_RING_HH

#include "data_ring.h"
#include "interruptible_primitives.hh"
#include "ring_fixture.hh"
#include "sample_plan.h"

namespace ring_test {

namespace interruptible {

long reserve(perf_data_ring &ring, perf_ring_handle &handle, Direction direction,
	     unsigned long size, unsigned long lost_size);
bool commit(perf_ring_handle &handle);
void copy(perf_ring_handle &handle, const void *from, unsigned long len);
void count_sample(perf_data_ring &ring, unsigned int every);
long emit(perf_data_ring &ring, Direction direction, const perf_sample_plan &plan,
	  unsigned long long header, const unsigned long long *words);
void write_run(perf_ring_handle &handle, const perf_sample_plan &plan, perf_sample_run run,
	       const unsigned long long *words);

} // namespace interruptible

} // namespace ring_test

#endif
