/* SPDX-License-Identifier: GPL-2.0 */
/* What was recorded when: a file's records in equal slices of time. */
#ifndef PERFRING_DATA_TIMELINE_HH
#define PERFRING_DATA_TIMELINE_HH

#include <cstdint>
#include <map>
#include <vector>

#include "bytes.hh"

namespace perfring::data {

struct TimelineSlice {
	std::uint64_t samples = 0, bytes = 0;
	std::uint64_t lost = 0; /* records and samples that were said to be lost then */
};

struct Timeline {
	std::uint64_t start = 0; /* ns, by the events' clock */
	std::uint64_t slice = 0; /* ns; 0: records have no times */
	/* By CPU; CPU 0 alone if records do not tell. All have the same number. */
	std::map<std::uint32_t, std::vector<TimelineSlice>> cpus;
};

/* The times are from a Survey. @slices > 0. */
Timeline timeline(ByteView file, std::uint64_t first_time, std::uint64_t last_time,
		  std::size_t slices);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_TIMELINE_HH */
