/* SPDX-License-Identifier: GPL-2.0 */
/* The AUX bytes in a perf.data, and what perf script has decoded of them. */
#ifndef TESTS_PT_PERF_DATA_HH
#define TESTS_PT_PERF_DATA_HH

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

namespace pt_oracle {

/* The streams by perf's index of the ring: a task's or a CPU's. Throws. */
std::map<std::uint32_t, std::vector<std::uint8_t>> aux_streams(const std::filesystem::path &file);

struct Script {
	/* Instructions by tid, in their order. */
	std::map<int, std::vector<std::uint64_t>> tasks;
	std::uint64_t errors = 0; /* lines that tell of one */
};

/* What `perf script --itrace=i1ie -F tid,ip` has printed. Throws. */
Script read_script(const std::filesystem::path &file);

} // namespace pt_oracle

#endif
