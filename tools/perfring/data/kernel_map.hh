/* SPDX-License-Identifier: GPL-2.0 */
/* Where the kernel and its modules are. */
#ifndef PERFRING_DATA_KERNEL_MAP_HH
#define PERFRING_DATA_KERNEL_MAP_HH

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytes.hh"
#include "records.hh"

namespace perfring::data {

struct KernelText {
	std::uint64_t start, end;
	std::string symbol; /* at the start: by it, readers see how far a kernel was moved */
};

/*
 * From /proc/kallsyms. Nothing if it cannot be read or shows no addresses, which is what
 * kernel.kptr_restrict and kernel.perf_event_paranoid do to who may not see them.
 */
std::optional<KernelText> kernel_text(const std::string &root = {});

struct Module {
	std::string name;
	std::string path; /* of its file, or "[name]" where none was found */
	std::uint64_t start, size;
};

/* From /proc/modules; the same rule for addresses. */
std::vector<Module> modules(const std::string &root = {});

/* A record for each of them. */
void synthesize_kernel(const Sink &sink, std::size_t trailer, const std::string &root = {});

} /* namespace perfring::data */

#endif /* PERFRING_DATA_KERNEL_MAP_HH */
