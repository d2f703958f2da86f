/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data ring's algorithm with a call before and after each of its memory
 * operations, for tests that run nested writers there. The same functions as
 * the seam's.
 */
#ifndef TESTS_HOST_INTERRUPTIBLE_RING_HH
#define TESTS_HOST_INTERRUPTIBLE_RING_HH

#include "data_ring.h"
#include "ring_fixture.hh"

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

} // namespace interruptible

} // namespace ring_test

#endif
