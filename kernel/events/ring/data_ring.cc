// SPDX-License-Identifier: GPL-2.0
/* The data ring behind its seam: data_ring.hh with the kernel's primitives. */
#include "data_ring.hh"

namespace {

/* A type of this file: the algorithm's functions stay local to the object. */
struct Primitives : perf_ring::Primitives {};

using Ring = perf_ring::DataRing<Primitives>;
using perf_ring::Direction;

} // namespace

static_assert(sizeof(perf_ring_control) == PERF_RING_CONTROL_OFFSET + 16);
static_assert(sizeof(perf_data_ring) <= 2 * 64, "the hot members share the first cache line");

extern "C" {

void perf_data_ring_init(perf_data_ring *ring, perf_ring_control *control, void **pieces,
			 unsigned int nr_pieces, unsigned int piece_shift, unsigned long watermark,
			 int overwrite)
{
	ring->control = control;
	ring->pieces = pieces;
	ring->piece_shift = piece_shift;
	ring->size = static_cast<unsigned long>(nr_pieces) << piece_shift;
	ring->overwrite = overwrite != 0;
	ring->paused = nr_pieces == 0;

	if (watermark == 0)
		ring->watermark = ring->size / 2;
	else
		ring->watermark = watermark < ring->size ? watermark : ring->size;
}

long perf_data_ring_reserve_forward(perf_data_ring *ring, perf_ring_handle *handle,
				    unsigned long size, unsigned long lost_size)
{
	return Ring::reserve<Direction::forward>(*ring, *handle, size, lost_size);
}

long perf_data_ring_reserve_backward(perf_data_ring *ring, perf_ring_handle *handle,
				     unsigned long size, unsigned long lost_size)
{
	return Ring::reserve<Direction::backward>(*ring, *handle, size, lost_size);
}

int perf_data_ring_commit(perf_ring_handle *handle)
{
	return Ring::commit(*handle);
}

void perf_data_ring_count_sample(perf_data_ring *ring, unsigned int every)
{
	Ring::count_sample(*ring, every);
}

void perf_data_ring_count_lost(perf_data_ring *ring)
{
	Primitives::add(ring->lost, 1);
}

void perf_data_ring_set_paused(perf_data_ring *ring, int paused)
{
	Primitives::store(ring->paused, static_cast<unsigned int>(paused != 0 || ring->size == 0));
}

unsigned int perf_output_copy(perf_ring_handle *handle, const void *buf, unsigned int len)
{
	Ring::copy(*handle, buf, len);
	return 0;
}

unsigned int perf_output_skip(perf_ring_handle *handle, unsigned int len)
{
	Ring::skip(*handle, len);
	return 0;
}

void perf_ring_advance(perf_ring_handle *handle, unsigned long len)
{
	Ring::advance(*handle, len);
}

} // extern "C"
