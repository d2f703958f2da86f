/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The AUX ring's algorithm with a call before and after each of its memory
 * operations. The same functions as the seam's.
 */
#ifndef TESTS_HOST_INTERRUPTIBLE_AUX_HH
#define TESTS_HOST_INTERRUPTIBLE_AUX_HH

#include "aux_ring.h"
#include "interruptible_primitives.hh"

namespace ring_test::interruptible {

bool aux_setup(perf_aux_ring &ring, perf_aux_control &control, unsigned long size,
	       unsigned long watermark, bool overwrite);
perf_aux_verdict aux_begin(perf_aux_ring &ring, perf_aux_handle &handle);
unsigned int aux_refuse(perf_aux_ring &ring, perf_aux_report &report);
bool aux_end_quietly(perf_aux_ring &ring, perf_aux_handle &handle, unsigned long size);
unsigned int aux_commit(perf_aux_ring &ring, const perf_aux_handle &handle, unsigned long size,
			perf_aux_report &report);
void aux_untold(perf_aux_ring &ring, const perf_aux_report &report);
unsigned int aux_publish(perf_aux_ring &ring);
void aux_close(perf_aux_ring &ring);
unsigned int aux_lose(perf_aux_ring &ring, unsigned long bytes, unsigned long long since,
		      perf_aux_report &report);

} // namespace ring_test::interruptible

#endif
