// SPDX-License-Identifier: GPL-2.0
/* The limit: the same bytes into the same amount of memory, and no protocol. */
#include <cstdlib>
#include <cstring>

#include "writers.h"

namespace {

constexpr size_t room = size_t{BENCH_RING_PAGES} * BENCH_PAGE;

struct State {
	char *memory;
	size_t at;
};

/* With the size known to the compiler, which is how memcpy() is fastest. */
template <unsigned int words_in_record> void write(State &state, const uint64_t *words)
{
	constexpr size_t size = size_t{words_in_record} * 8;

	if (state.at + size > room)
		state.at = 0;
	std::memcpy(state.memory + state.at, words, size);
	state.at += size;
}

} // namespace

extern "C" {

void limit_ring_create(bench_ring *ring)
{
	auto *state = static_cast<State *>(std::calloc(1, sizeof(State)));

	if (!state)
		std::abort();
	state->memory = static_cast<char *>(std::aligned_alloc(BENCH_PAGE, room));
	if (!state->memory)
		std::abort();
	std::memset(state->memory, 0, room);
	ring->state = state;
	ring->data_head = nullptr;
	ring->data_tail = nullptr;
}

void limit_ring_destroy(bench_ring *ring)
{
	auto *state = static_cast<State *>(ring->state);

	std::free(state->memory);
	std::free(state);
}

void limit_write(bench_ring *ring, const uint64_t *words, unsigned int count)
{
	State &state = *static_cast<State *>(ring->state);

	switch (count) {
	case 1:
		return write<1>(state, words);
	case 2:
		return write<2>(state, words);
	case 5:
		return write<5>(state, words);
	case 8:
		return write<8>(state, words);
	case 16:
		return write<16>(state, words);
	case 128:
		return write<128>(state, words);
	default:
		std::abort();
	}
}

} // extern "C"
