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

constexpr unsigned int times(unsigned long long read_format)
{
	return ((read_format & total_time_enabled) != 0) +
	       ((read_format & total_time_running) != 0);
}

constexpr unsigned int words_of_member(unsigned long long read_format)
{
	return 1 + ((read_format & id) != 0) + ((read_format & lost) != 0);
}

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
	unsigned int words = times(read_format);

	if (read_format & group)
		words += 1 + words_of_member(read_format) * (1 + nr_siblings);
	else
		words += words_of_member(read_format);
	return words * word_size;
}

unsigned int perf_sample_read_members(unsigned long long read_format, unsigned int bytes)
{
	const unsigned int words = bytes / word_size;
	const unsigned int fixed = times(read_format) + 1;

	return words > fixed ? (words - fixed) / words_of_member(read_format) : 0;
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

long perf_sample_start_forward(perf_data_ring *ring, perf_ring_handle *handle,
			       const perf_sample_plan *plan, unsigned long size,
			       unsigned long long header, const unsigned long long *words)
{
	return Writer::start<Direction::forward>(*ring, *handle, *plan, size, header, words);
}

long perf_sample_start_backward(perf_data_ring *ring, perf_ring_handle *handle,
				const perf_sample_plan *plan, unsigned long size,
				unsigned long long header, const unsigned long long *words)
{
	return Writer::start<Direction::backward>(*ring, *handle, *plan, size, header, words);
}

void perf_sample_write_run(perf_ring_handle *handle, const perf_sample_plan *plan,
			   enum perf_sample_run run, const unsigned long long *words)
{
	Writer::write_run(*handle, *plan, run, words);
}

} // extern "C"
