/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The algorithms of data ring and samples with a call before and after each of
 * their memory operations, for tests that run nested writers there. The same functions as
 * the seam's.
 */
#ifndef TESTS_HOST_INTERRUPTIBLE_RING_HH
#define TESTS_HOST_INTERRUPTIBLE_RING_HH

#include "data_ring.h"
#include "ring_fixture.hh"
#include "sample_plan.h"

namespace ring_test {

enum class Operation {
	load,
	store,
	load_tail,
	publish_head,
	exchange_if,
	add,
	exchange,
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
void set_interrupts(Interrupts *interrupts);

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
