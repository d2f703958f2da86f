/* SPDX-License-Identifier: GPL-2.0 */
/* The feature sections that tell of the recording, and what readers want of those. */
#ifndef PERFRING_DATA_FEATURES_HH
#define PERFRING_DATA_FEATURES_HH

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bytes.hh"
#include "session.hh"

namespace perfring::data {

Bytes string_feature(const std::string &text);
/* The program's own path in place of argv[0]. */
Bytes command_line_feature(const std::vector<std::string> &argv);
/* All events in the same layout of perf_event_attr, @attr_size bytes. */
Bytes event_desc_feature(std::span<const EventDescription> events, std::uint32_t attr_size);
/* Groups of more than one event. */
Bytes group_desc_feature(std::span<const EventDescription> events);
/* ns that a tick of the clock takes. */
Bytes clockid_feature(int clockid);
/* Now, by the clock and by the wall clock. */
Bytes clock_data_feature(int clockid);
/* @ratio: of the sizes before and after, at least 1. */
Bytes compressed_feature(int level, std::uint32_t ratio, std::uint32_t unit);

/* One event of an EVENT_DESC section. */
struct DescribedEvent {
	perf_event_attr attr;
	std::string name;
	std::vector<std::uint64_t> ids;
};
/* As many as are well-formed. */
std::vector<DescribedEvent> parse_event_desc(ByteView section);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_FEATURES_HH */
