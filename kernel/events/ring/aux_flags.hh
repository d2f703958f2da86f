/* SPDX-License-Identifier: GPL-2.0 */
/* The flags of PERF_RECORD_AUX, as the ABI numbers them; the shell asserts them. */
#ifndef PERF_EVENTS_RING_AUX_FLAGS_HH
#define PERF_EVENTS_RING_AUX_FLAGS_HH

namespace perf_ring {

constexpr unsigned long long aux_truncated = 0x01;
constexpr unsigned long long aux_overwrite = 0x02;
constexpr unsigned long long aux_partial = 0x04;
constexpr unsigned long long aux_format_mask = 0xff00;
constexpr unsigned long long aux_lost = 1ULL << 32;

} // namespace perf_ring

#endif
