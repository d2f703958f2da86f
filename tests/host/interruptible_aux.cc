// SPDX-License-Identifier: GPL-2.0
/* aux_ring.hh over primitives that can be interrupted. */
#include "interruptible_aux.hh"

#include "aux_ring.hh"

namespace ring_test::interruptible {
namespace {

using Ring = perf_ring::AuxRing<InterruptiblePrimitives>;

} // namespace

bool aux_setup(perf_aux_ring &ring, perf_aux_control &control, unsigned long size,
	       unsigned long watermark, bool overwrite)
{
	return Ring::setup(ring, &control, size, watermark, overwrite);
}

perf_aux_verdict aux_begin(perf_aux_ring &ring, perf_aux_handle &handle)
{
	return Ring::begin(ring, handle);
}

unsigned int aux_refuse(perf_aux_ring &ring, perf_aux_report &report)
{
	return Ring::refuse(ring, report);
}

bool aux_end_quietly(perf_aux_ring &ring, perf_aux_handle &handle, unsigned long size)
{
	return Ring::end_quietly(ring, handle, size);
}

unsigned int aux_commit(perf_aux_ring &ring, const perf_aux_handle &handle, unsigned long size,
			perf_aux_report &report)
{
	return Ring::commit(ring, handle, size, report);
}

void aux_untold(perf_aux_ring &ring, const perf_aux_report &report)
{
	Ring::untold(ring, report);
}

unsigned int aux_publish(perf_aux_ring &ring)
{
	return Ring::publish(ring);
}

void aux_close(perf_aux_ring &ring)
{
	Ring::close(ring);
}

unsigned int aux_lose(perf_aux_ring &ring, unsigned long bytes, unsigned long long since,
		      perf_aux_report &report)
{
	return Ring::lose(ring, bytes, since, report);
}

} // namespace ring_test::interruptible
