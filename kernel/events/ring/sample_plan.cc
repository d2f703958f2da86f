// SPDX-License-Identifier: GPL-2.0
/* The sample's fixed part behind its seam: sample_plan.hh in the kernel's words. */
#include "sample_plan.hh"

namespace {

/* A type of this file: the algorithm's functions stay local to the object. */
struct Primitives : perf_ring::Primitives {};

using Writer = perf_ring::SampleWriter<Primitives>;
using perf_ring::Direction;
using perf_ring::word_size;

/* Bits of attr.read_format. */
enum ReadFormat : unsigned long long {
	total_time_enabled = 1 << 0,
	total_time_running = 1 << 1,
	id = 1 << 2,
	group = 1 << 3,
	lost = 1 << 4,
};

static_assert(sizeof(perf_sample_plan) == 56, "every event has one");

} // namespace

extern "C" {

void perf_sample_plan_compile(perf_sample_plan *plan, const perf_sample_sources *sources,
			      unsigned long long sample_type, unsigned int every)
{
	perf_ring::compile(*plan, *sources, sample_type, every);
}

unsigned int perf_sample_read_size(unsigned long long read_format, unsigned int nr_siblings)
{
	unsigned int words = 0;
	unsigned int entry = 1;

	words += (read_format & total_time_enabled) != 0;
	words += (read_format & total_time_running) != 0;
	entry += (read_format & id) != 0;
	entry += (read_format & lost) != 0;
	if (read_format & group)
		return (words + 1 + entry * (1 + nr_siblings)) * word_size;
	return (words + entry) * word_size;
}

long perf_sample_emit_forward(perf_data_ring *ring, const perf_sample_plan *plan,
			      unsigned long long header, const unsigned long long *words)
{
	return Writer::emit<Direction::forward>(*ring, *plan, header, words);
}

long perf_sample_emit_backward(perf_data_ring *ring, const perf_sample_plan *plan,
			       unsigned long long header, const unsigned long long *words)
{
	return Writer::emit<Direction::backward>(*ring, *plan, header, words);
}

void perf_sample_write_run(perf_ring_handle *handle, const perf_sample_plan *plan,
			   enum perf_sample_run run, const unsigned long long *words)
{
	Writer::write_run(*handle, *plan, run, words);
}

} // extern "C"
