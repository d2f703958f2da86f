/* SPDX-License-Identifier: GPL-2.0 */
/* Names of the events that every PMU driver of a kind knows. */
#ifndef PERFRING_RECORD_EVENT_NAMES_HH
#define PERFRING_RECORD_EVENT_NAMES_HH

#include <cstdint>
#include <optional>
#include <string_view>

namespace perfring::record {

struct NamedEvent {
	std::uint32_t type;
	std::uint64_t config;
};

/* Software, hardware and cache events by perf's names, or nothing. */
std::optional<NamedEvent> named_event(std::string_view name);

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_EVENT_NAMES_HH */
