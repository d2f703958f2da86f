/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events as they are written on the command line, in perf's words:
 *
 *	page-faults:u  cycles  r1a8  sched:sched_switch  sched:*  L1-dcache-load-misses
 *	mem:0x404040/8:w:u
 *	intel_pt/tsc=1,mtc=0/u  {cycles,instructions}:S  bpf-output/name=x/
 */
#ifndef PERFRING_RECORD_EVENT_SPEC_HH
#define PERFRING_RECORD_EVENT_SPEC_HH

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfring::record {

/* Where the system describes its events. For tests to put something else there. */
struct EventSources {
	std::string pmus = "/sys/bus/event_source/devices";
	std::string tracefs; /* empty: none is mounted */
};

/* As on this machine; mounts nothing. */
EventSources system_event_sources();

struct EventSpec {
	perf_event_attr attr{}; /* type, config*, exclude_*, precise_ip, pinned, exclusive */
	std::string name;	/* as it was written */
	std::size_t leader = 0; /* index in the list; its own if it is in no group */
	std::string group_name;
	bool sample_read = false;  /* :S */
	bool most_precise = false; /* :P */
	bool has_aux = false;
	bool exclude_set = false; /* some of :ukh was there */
	std::string pmu;
	std::vector<int> pmu_cpus; /* empty: all */
	std::string tracepoint_system;
	std::string tracepoint_name;
	std::string filter; /* of --filter */
	std::string unit;
	double scale = 1;

	/* Terms that are settings of this event alone. */
	std::optional<std::uint64_t> period;
	std::optional<std::uint64_t> frequency;
	std::optional<bool> inherit;
	std::optional<bool> overwrite;
	std::optional<std::uint32_t> aux_sample_size;
	bool aux_output = false;
};

/*
 * Appends the events of one -e. Throws UserError, which says what is wrong and, where
 * there is a choice, what there is.
 */
void parse_events(std::string_view text, const EventSources &sources,
		  std::vector<EventSpec> &events);

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_EVENT_SPEC_HH */
