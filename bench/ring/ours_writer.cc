// SPDX-License-Identifier: GPL-2.0
/*
 * The core's ring, with what the shell (kernel/events/output.c) does around it
 * for a record: preemption off, look whether a LOST record is due, wake.
 */
#include <cstdlib>
#include <cstring>

#include "../../kernel/events/ring/data_ring.h"
#include "writers.h"

namespace {

constexpr unsigned int page_shift = 12;
static_assert(BENCH_PAGE == 1 << page_shift);

struct State {
	perf_data_ring ring;
	perf_ring_control *control;
	void *pages[BENCH_RING_PAGES];
};

void *pages(size_t count)
{
	void *memory = std::aligned_alloc(BENCH_PAGE, count * BENCH_PAGE);

	if (!memory)
		std::abort();
	return std::memset(memory, 0, count * BENCH_PAGE);
}

State &state_of(const bench_ring *ring)
{
	return *static_cast<State *>(ring->state);
}

void begin(bench_ring *ring, perf_ring_handle &handle, unsigned int size)
{
	perf_data_ring &data = state_of(ring).ring;

	bench_preempt_disable();
	handle.event = ring;
	handle.flags = 0;

	const unsigned long lost = __atomic_load_n(&data.lost, __ATOMIC_RELAXED);
	const unsigned long lost_size = __builtin_expect(lost != 0, 0) ? 24 : 0;
	const long verdict =
		ring->backward ? perf_data_ring_reserve_backward(&data, &handle, size, lost_size)
			       : perf_data_ring_reserve_forward(&data, &handle, size, lost_size);

	if (__builtin_expect(verdict != 0, 0))
		std::abort();
}

void end(perf_ring_handle &handle)
{
	if (__builtin_expect(perf_data_ring_commit(&handle), 0))
		bench_wake();
	bench_preempt_enable();
}

} // namespace

extern "C" {

void ours_ring_create(bench_ring *ring)
{
	auto *state = static_cast<State *>(std::calloc(1, sizeof(State)));

	if (!state)
		std::abort();
	state->control = static_cast<perf_ring_control *>(pages(1));
	state->pages[0] = pages(BENCH_RING_PAGES);
	for (int i = 1; i < BENCH_RING_PAGES; i++)
		state->pages[i] = static_cast<char *>(state->pages[i - 1]) + BENCH_PAGE;
	perf_data_ring_init(&state->ring, state->control, state->pages, BENCH_RING_PAGES,
			    page_shift, BENCH_RING_PAGES * BENCH_PAGE, ring->backward);
	ring->state = state;
	ring->data_head = reinterpret_cast<uint64_t *>(&state->control->data_head);
	ring->data_tail = reinterpret_cast<uint64_t *>(&state->control->data_tail);
}

void ours_ring_destroy(bench_ring *ring)
{
	State &state = state_of(ring);

	std::free(state.pages[0]);
	std::free(state.control);
	std::free(&state);
}

void ours_write_fields(bench_ring *ring, const uint64_t *words, unsigned int count)
{
	perf_ring_handle handle;

	begin(ring, handle, count * 8);
	for (unsigned int i = 0; i < count; i++)
		perf_output_copy(&handle, &words[i], 8);
	end(handle);
}

void ours_write_in_one(bench_ring *ring, const uint64_t *words, unsigned int count)
{
	perf_ring_handle handle;

	begin(ring, handle, count * 8);
	perf_output_copy(&handle, words, 8);
	perf_output_copy(&handle, words + 1, (count - 1) * 8);
	end(handle);
}

/* Another way of writing goes here, with a line of its own in native.cc's writers[]. */

} // extern "C"
