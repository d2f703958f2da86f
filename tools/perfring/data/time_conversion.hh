/* SPDX-License-Identifier: GPL-2.0 */
/* Between the CPU's cycle counter and the clock of events. */
#ifndef PERFRING_DATA_TIME_CONVERSION_HH
#define PERFRING_DATA_TIME_CONVERSION_HH

#include <cstdint>
#include <optional>

#include "bytes.hh"

namespace perfring::data {

/* As in struct perf_event_mmap_page: time = zero + (cycles * mult >> shift). */
struct TimeConversion {
	std::uint64_t shift = 0, mult = 0, zero = 0;
	std::uint64_t cycles = 0, mask = 0; /* of counters of fewer than 64 bits */
	bool from_zero = false;		    /* zero is known */
	bool is_short = false;		    /* cycles and mask are */
};

/* Of this machine, from an event of its own. Nothing where the kernel has none. */
std::optional<TimeConversion> read_time_conversion();

/* A TIME_CONV record. */
Bytes time_conv(const TimeConversion &conversion);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_TIME_CONVERSION_HH */
