/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which rings a recording thread reads, and on which CPUs it runs.
 */
#ifndef PERFRING_RECORD_THREADS_HH
#define PERFRING_RECORD_THREADS_HH

#include <cstddef>
#include <string>
#include <vector>

namespace perfring::record {

/* One thread on each CPU, one for each NUMA node, or one in all. */
enum class Threads { cpu, node, one };

struct RecordingThread {
	std::vector<std::size_t> rings; /* their places in what was given */
	std::vector<unsigned> cpus;	/* to stay on; none: any */
};

/*
 * ring_cpus: the CPU of each ring, or -1. Rings without one are dealt out to so many threads as
 * there are CPUs or nodes. @root: as in data/system_files.hh; a machine that says nothing of
 * nodes has one.
 */
std::vector<RecordingThread> deal_rings(const std::vector<int> &ring_cpus, Threads threads,
					std::size_t cpus, const std::string &root = "");

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_THREADS_HH */
