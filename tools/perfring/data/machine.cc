// SPDX-License-Identifier: GPL-2.0
#include "machine.hh"

#include <sys/utsname.h>

#include <algorithm>

#include "system_files.hh"

namespace perfring::data {
namespace {

Bytes string_feature(std::string_view text)
{
	Builder feature;

	feature.put_string(text);
	return feature.take();
}

Bytes uname_feature(Feature which)
{
	utsname names{};

	uname(&names);
	if (which == Feature::hostname)
		return string_feature(names.nodename);
	return string_feature(which == Feature::osrelease ? names.release : names.machine);
}

std::optional<Bytes> cpu_count(const std::string &root)
{
	const auto online = read_text(root + "/sys/devices/system/cpu/online");
	const unsigned present = present_cpus(root);

	if (!online || !present)
		return std::nullopt;

	Builder feature;

	feature.put<std::uint32_t>(present);
	feature.put(static_cast<std::uint32_t>(parse_list(*online).size()));
	return feature.take();
}

/* Each run of white space is one space: vendors pad their names. */
std::string squeezed(std::string_view text)
{
	std::string result;

	for (const char c : text)
		if (c != ' ' || result.empty() || result.back() != ' ')
			result.push_back(c);
	return result;
}

std::optional<Bytes> cpu_description(const std::string &root)
{
	const auto info = read_file(root + "/proc/cpuinfo");

	if (!info)
		return std::nullopt;
	for (const std::string_view key : {"model name", "Processor", "cpu model", "cpu"})
		if (const auto name = field(*info, key))
			return string_feature(squeezed(*name));
	return std::nullopt;
}

/* What perf looks its event tables up by: on x86 four fields, on arm64 a register. */
std::optional<Bytes> cpu_id(const std::string &root)
{
	if (const auto midr =
		    read_text(root + "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"))
		return string_feature(*midr);

	const std::string info = read_file(root + "/proc/cpuinfo").value_or("");
	std::string id;

	for (const std::string_view key : {"vendor_id", "cpu family", "model", "stepping"}) {
		const auto part = field(info, key);

		if (!part)
			return std::nullopt;
		id += (id.empty() ? "" : ",") + *part;
	}
	return string_feature(id);
}

std::optional<Bytes> total_memory(const std::string &root)
{
	const std::string info = read_file(root + "/proc/meminfo").value_or("");
	const auto total = field(info, "MemTotal"); /* "16384 kB" */

	if (!total)
		return std::nullopt;

	Builder feature;

	feature.put<std::uint64_t>(std::strtoull(total->c_str(), nullptr, 10));
	return feature.take();
}

std::optional<Bytes> pmu_mappings(const std::string &root)
{
	const std::string devices = root + "/sys/bus/event_source/devices/";
	Builder feature;
	std::uint32_t count = 0;

	feature.put(count);
	for (const auto &name : list_directory(devices)) {
		const auto type = read_number(devices + name + "/type");

		if (!type)
			continue;
		feature.put(static_cast<std::uint32_t>(*type));
		feature.put_string(name);
		count++;
	}
	if (!count)
		return std::nullopt;
	feature.patch(0, count);
	return feature.take();
}

} /* namespace */

unsigned present_cpus(const std::string &root)
{
	const auto list = read_text(root + "/sys/devices/system/cpu/present");
	const auto cpus = parse_list(list.value_or(""));

	return cpus.empty() ? 0 : *std::ranges::max_element(cpus) + 1;
}

std::optional<Bytes> machine_feature(Feature feature, const std::string &root)
{
	switch (feature) {
	case Feature::hostname:
	case Feature::osrelease:
	case Feature::arch:
		return uname_feature(feature);
	case Feature::nrcpus:
		return cpu_count(root);
	case Feature::cpudesc:
		return cpu_description(root);
	case Feature::cpuid:
		return cpu_id(root);
	case Feature::total_mem:
		return total_memory(root);
	case Feature::cpu_topology:
		return cpu_topology(root);
	case Feature::numa_topology:
		return numa_topology(root);
	case Feature::pmu_mappings:
		return pmu_mappings(root);
	case Feature::cache:
		return cache_levels(root);
	case Feature::mem_topology:
		return memory_topology(root);
	default:
		return std::nullopt;
	}
}

} /* namespace perfring::data */
