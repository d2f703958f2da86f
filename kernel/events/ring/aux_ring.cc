// SPDX-License-Identifier: GPL-2.0
/* The AUX ring behind its seam: aux_ring.hh with the kernel's primitives. */
#include "aux_ring.hh"
#include "data_ring.h"

namespace {

struct Primitives : perf_ring::Primitives {};

using Ring = perf_ring::AuxRing<Primitives>;

constexpr unsigned int log2_down(unsigned long value)
{
	return static_cast<unsigned int>(8 * sizeof(value) - 1) -
	       static_cast<unsigned int>(__builtin_clzl(value));
}

} // namespace

static_assert(sizeof(perf_aux_control) == PERF_AUX_CONTROL_LOST + 8);

extern "C" {

struct perf_aux_layout perf_aux_layout(unsigned long nr_pages, unsigned int page_shift,
				       unsigned long watermark, int overwrite,
				       enum perf_aux_pages_wanted wanted)
{
	constexpr unsigned long most = 0xffffffffUL;
	struct perf_aux_layout layout = {0, 0, 0};
	const unsigned int whole = log2_down(nr_pages);

	if (!overwrite) {
		const unsigned long half = nr_pages << (page_shift - 1);

		layout.watermark = watermark ? watermark : half < most ? half : most;
	}
	if (wanted == PERF_AUX_PAGES_ANY)
		return layout;

	if (overwrite) {
		layout.max_order = whole;
		layout.one_chunk = wanted == PERF_AUX_PAGES_CONTIGUOUS;
		return layout;
	}

	const unsigned long pages = layout.watermark >> page_shift;
	const unsigned int order = pages ? log2_down(pages) : 0;
	const unsigned int half_order = whole ? whole - 1 : 0;

	layout.max_order = order < half_order ? order : half_order;
	return layout;
}

int perf_aux_ring_setup(perf_aux_ring *ring, perf_aux_control *control, unsigned long size,
			unsigned long watermark, int overwrite)
{
	return Ring::setup(*ring, control, size, watermark, overwrite != 0);
}

enum perf_aux_verdict perf_aux_ring_begin(perf_aux_ring *ring, perf_aux_handle *handle)
{
	return Ring::begin(*ring, *handle);
}

unsigned int perf_aux_ring_refuse(perf_aux_ring *ring, perf_aux_report *report)
{
	return Ring::refuse(*ring, *report);
}

int perf_aux_ring_end_quietly(perf_aux_ring *ring, perf_aux_handle *handle, unsigned long size)
{
	return Ring::end_quietly(*ring, *handle, size);
}

unsigned int perf_aux_ring_commit(perf_aux_ring *ring, const perf_aux_handle *handle,
				  unsigned long size, perf_aux_report *report)
{
	return Ring::commit(*ring, *handle, size, *report);
}

void perf_aux_ring_untold(perf_aux_ring *ring, const perf_aux_report *report)
{
	Ring::untold(*ring, *report);
}

unsigned int perf_aux_ring_publish(perf_aux_ring *ring)
{
	return Ring::publish(*ring);
}

void perf_aux_ring_close(perf_aux_ring *ring)
{
	Ring::close(*ring);
}

int perf_aux_ring_skip(perf_aux_ring *ring, perf_aux_handle *handle, unsigned long size)
{
	return Ring::skip(*ring, *handle, size);
}

unsigned int perf_aux_ring_lose(perf_aux_ring *ring, unsigned long bytes, unsigned long long since,
				perf_aux_report *report)
{
	return Ring::lose(*ring, bytes, since, *report);
}

unsigned long perf_aux_copy(perf_ring_handle *to_handle, void *const *pages,
			    unsigned int page_shift, unsigned long size, unsigned long from,
			    unsigned long to)
{
	const unsigned long page_size = 1UL << page_shift;
	const unsigned long between = (to - from) & (size - 1);
	const unsigned long wanted = between ? between : size;
	unsigned long left = wanted;

	while (left) {
		const unsigned long at = from & (size - 1);
		const unsigned long offset = at & (page_size - 1);
		const unsigned long in_page = page_size - offset;
		const unsigned long now = left < in_page ? left : in_page;

		perf_output_copy(to_handle,
				 static_cast<const char *>(pages[at >> page_shift]) + offset,
				 static_cast<unsigned int>(now));
		from += now;
		left -= now;
	}
	return wanted;
}

} // extern "C"
