// SPDX-License-Identifier: GPL-2.0
/* Records the way the base's sample path writes them. */
#include <stdlib.h>

#include "kernel.h"

static void begin(struct bench_ring *ring, struct perf_output_handle *handle,
		  struct perf_sample_data *data, unsigned int size)
{
	struct perf_event *event = ring->state;	/* its first member */
	const int error = ring->backward ? perf_output_begin_backward(handle, data, event, size) :
					   perf_output_begin_forward(handle, data, event, size);

	if (unlikely(error))
		abort();
}

void base_write_fields(struct bench_ring *ring, const uint64_t *words, unsigned int count)
{
	struct perf_sample_data data;
	struct perf_output_handle handle;

	begin(ring, &handle, &data, count * 8);
	for (unsigned int i = 0; i < count; i++)
		perf_output_put(&handle, words[i]);
	perf_output_end(&handle);
}

void base_write_in_one(struct bench_ring *ring, const uint64_t *words, unsigned int count)
{
	struct perf_sample_data data;
	struct perf_output_handle handle;

	begin(ring, &handle, &data, count * 8);
	perf_output_put(&handle, words[0]);
	perf_output_copy(&handle, words + 1, (count - 1) * 8);
	perf_output_end(&handle);
}
