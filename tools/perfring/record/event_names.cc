// SPDX-License-Identifier: GPL-2.0
#include "event_names.hh"

#include <linux/perf_event.h>

#include <array>

namespace perfring::record {
namespace {

struct Name {
	std::string_view name;
	std::uint32_t type;
	std::uint64_t config;
};

constexpr std::array names = {
	Name{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	Name{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	Name{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	Name{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	Name{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	Name{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	Name{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	Name{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	Name{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	Name{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	Name{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
	Name{"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
	Name{"dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
	Name{"bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT},
	Name{"cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES},
	Name{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	Name{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	Name{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	Name{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	Name{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	Name{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	Name{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	Name{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	Name{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	Name{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	Name{"idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	Name{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	Name{"idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	Name{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
};

struct Part {
	std::string_view name;
	std::uint64_t value;
};

constexpr std::array caches = {
	Part{"L1-dcache", PERF_COUNT_HW_CACHE_L1D}, Part{"L1-icache", PERF_COUNT_HW_CACHE_L1I},
	Part{"LLC", PERF_COUNT_HW_CACHE_LL},	    Part{"dTLB", PERF_COUNT_HW_CACHE_DTLB},
	Part{"iTLB", PERF_COUNT_HW_CACHE_ITLB},	    Part{"branch", PERF_COUNT_HW_CACHE_BPU},
	Part{"node", PERF_COUNT_HW_CACHE_NODE},
};

/* "-load-misses" counts misses, "-loads" accesses. */
constexpr std::array operations = {
	Part{"load", PERF_COUNT_HW_CACHE_OP_READ},
	Part{"store", PERF_COUNT_HW_CACHE_OP_WRITE},
	Part{"prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH},
};

std::optional<NamedEvent> cache_event(std::string_view name)
{
	for (const auto &cache : caches) {
		if (!name.starts_with(cache.name))
			continue;
		const std::string_view rest = name.substr(cache.name.size());

		for (const auto &operation : operations) {
			if (rest.size() <= operation.name.size() || rest[0] != '-' ||
			    !rest.substr(1).starts_with(operation.name))
				continue;
			const std::string_view end = rest.substr(1 + operation.name.size());
			const bool misses = end == "-misses";

			if (!misses && end != "s" && end != "es")
				continue;
			return NamedEvent{PERF_TYPE_HW_CACHE,
					  cache.value | operation.value << 8 |
						  static_cast<std::uint64_t>(misses) << 16};
		}
	}
	return std::nullopt;
}

} /* namespace */

std::optional<NamedEvent> named_event(std::string_view name)
{
	for (const auto &one : names)
		if (one.name == name)
			return NamedEvent{one.type, one.config};
	return cache_event(name);
}

} /* namespace perfring::record */
