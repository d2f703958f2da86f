/* SPDX-License-Identifier: GPL-2.0 */
/* The feature sections that tell of the machine. */
#ifndef PERFRING_DATA_MACHINE_HH
#define PERFRING_DATA_MACHINE_HH

#include <optional>
#include <string>

#include "bytes.hh"
#include "format.hh"

namespace perfring::data {

/*
 * The content of a feature section: HOSTNAME, OSRELEASE, ARCH, NRCPUS, CPUDESC, CPUID,
 * TOTAL_MEM, CPU_TOPOLOGY, NUMA_TOPOLOGY, PMU_MAPPINGS, CACHE, MEM_TOPOLOGY. Nothing for
 * another one, and where the machine does not tell. @root as in system_files.hh;
 * what uname() says is never the test's.
 */
std::optional<Bytes> machine_feature(Feature feature, const std::string &root = {});

/* Parts of it: topology.cc. */
std::optional<Bytes> cpu_topology(const std::string &root);
std::optional<Bytes> numa_topology(const std::string &root);
std::optional<Bytes> memory_topology(const std::string &root);
std::optional<Bytes> cache_levels(const std::string &root);

/* CPUs that are or could be plugged in: one more than the highest number. */
unsigned present_cpus(const std::string &root);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_MACHINE_HH */
