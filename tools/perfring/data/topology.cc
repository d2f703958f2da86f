// SPDX-License-Identifier: GPL-2.0
/* Feature sections: CPUs, nodes, memory blocks and caches, as sysfs tells of them. */
#include <algorithm>
#include <cstdlib>

#include "machine.hh"
#include "system_files.hh"

namespace perfring::data {
namespace {

std::string cpu_directory(const std::string &root, unsigned cpu)
{
	return root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
}

std::string node_directory(const std::string &root, unsigned node)
{
	return root + "/sys/devices/system/node/node" + std::to_string(node);
}

/* The number behind @prefix in "cpu12", "memory3"; nothing for "memory", "cpufreq". */
std::optional<unsigned> numbered(std::string_view name, std::string_view prefix)
{
	if (!name.starts_with(prefix) || name.size() == prefix.size())
		return std::nullopt;
	name.remove_prefix(prefix.size());
	if (name.find_first_not_of("0123456789") != name.npos || name.size() > 7)
		return std::nullopt;
	return static_cast<unsigned>(std::strtoul(std::string(name).c_str(), nullptr, 10));
}

/* The different values of a file over all CPUs. */
std::vector<std::string> different(const std::string &root, unsigned cpus, const char *file,
				   const char *former_name)
{
	std::vector<std::string> values;

	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		const std::string topology = cpu_directory(root, cpu) + "/topology/";
		auto value = read_text(topology + file);

		if (!value && former_name)
			value = read_text(topology + former_name);
		if (value && std::ranges::find(values, *value) == values.end())
			values.push_back(*value);
	}
	return values;
}

void put_strings(Builder &feature, const std::vector<std::string> &strings)
{
	feature.put(static_cast<std::uint32_t>(strings.size()));
	for (const auto &string : strings)
		feature.put_string(string);
}

/* -1 for a CPU that is offline. */
void put_topology_number(Builder &feature, const std::string &root, unsigned cpu, const char *file)
{
	const auto number = read_number(cpu_directory(root, cpu) + "/topology/" + file);

	feature.put(static_cast<std::int32_t>(number.value_or(-1)));
}

struct Cache {
	std::uint32_t level, line, sets, ways;
	std::string type, size, cpus;

	bool operator==(const Cache &) const = default;
};

std::optional<Cache> read_cache(const std::string &directory)
{
	const auto level = read_number(directory + "level");

	if (!level)
		return std::nullopt;

	const auto number = [&directory](const char *file) {
		return static_cast<std::uint32_t>(read_number(directory + file).value_or(0));
	};
	const auto text = [&directory](const char *file) {
		return read_text(directory + file).value_or("");
	};

	return Cache{static_cast<std::uint32_t>(*level),
		     number("coherency_line_size"),
		     number("number_of_sets"),
		     number("ways_of_associativity"),
		     text("type"),
		     text("size"),
		     text("shared_cpu_list")};
}

void add_caches(const std::string &root, unsigned cpu, std::vector<Cache> &caches)
{
	for (unsigned index = 0;; index++) {
		const auto cache = read_cache(cpu_directory(root, cpu) + "/cache/index" +
					      std::to_string(index) + "/");

		if (!cache)
			return;
		if (std::ranges::find(caches, *cache) == caches.end())
			caches.push_back(*cache);
	}
}

/* Which blocks of memory belong to a node: a bitmap with its size in bits before it. */
void put_memory_blocks(Builder &feature, const std::string &directory)
{
	std::vector<std::uint64_t> words;
	std::uint64_t bits = 0;

	for (const auto &name : list_directory(directory)) {
		const auto block = numbered(name, "memory");

		if (!block)
			continue;
		if (words.size() <= *block / 64)
			words.resize(*block / 64 + 1);
		words[*block / 64] |= 1ULL << *block % 64;
		bits = std::max<std::uint64_t>(bits, *block + 1);
	}
	feature.put(bits);
	feature.put(bits); /* once for the node, once for the bitmap */
	feature.append(std::as_bytes(std::span(words)));
}

} /* namespace */

std::optional<Bytes> cpu_topology(const std::string &root)
{
	const unsigned cpus = present_cpus(root);
	const auto packages = different(root, cpus, "package_cpus_list", "core_siblings_list");
	const auto cores = different(root, cpus, "core_cpus_list", "thread_siblings_list");
	const auto dies = different(root, cpus, "die_cpus_list", nullptr);
	Builder feature;

	if (packages.empty())
		return std::nullopt;
	put_strings(feature, packages);
	put_strings(feature, cores);
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		put_topology_number(feature, root, cpu, "core_id");
		put_topology_number(feature, root, cpu, "physical_package_id");
	}
	if (dies.empty())
		return feature.take();
	put_strings(feature, dies);
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		put_topology_number(feature, root, cpu, "die_id");
	return feature.take();
}

std::optional<Bytes> numa_topology(const std::string &root)
{
	const auto online = read_text(root + "/sys/devices/system/node/online");
	const auto nodes = parse_list(online.value_or(""));
	Builder feature;

	if (nodes.empty())
		return std::nullopt;
	feature.put(static_cast<std::uint32_t>(nodes.size()));
	for (const unsigned node : nodes) {
		const std::string directory = node_directory(root, node);
		const std::string info = read_file(directory + "/meminfo").value_or("");
		/* "Node 0 MemTotal:   16384 kB" */
		const auto kilobytes = [&](const char *what) {
			const std::string key = "Node " + std::to_string(node) + " " + what;

			return static_cast<std::uint64_t>(
				std::strtoull(field(info, key).value_or("").c_str(), nullptr, 10));
		};

		feature.put<std::uint32_t>(node);
		feature.put(kilobytes("MemTotal"));
		feature.put(kilobytes("MemFree"));
		feature.put_string(read_text(directory + "/cpulist").value_or(""));
	}
	return feature.take();
}

std::optional<Bytes> memory_topology(const std::string &root)
{
	const auto block = read_hex(root + "/sys/devices/system/memory/block_size_bytes");
	std::vector<unsigned> nodes;
	Builder feature;

	for (const auto &name : list_directory(root + "/sys/devices/system/node"))
		if (const auto node = numbered(name, "node"))
			nodes.push_back(*node);
	if (!block || nodes.empty())
		return std::nullopt;
	std::ranges::sort(nodes);
	feature.put<std::uint64_t>(1); /* version */
	feature.put(*block);
	feature.put<std::uint64_t>(nodes.size());
	for (const unsigned node : nodes) {
		feature.put<std::uint64_t>(node);
		put_memory_blocks(feature, node_directory(root, node));
	}
	return feature.take();
}

std::optional<Bytes> cache_levels(const std::string &root)
{
	const unsigned cpus = present_cpus(root);
	std::vector<Cache> caches;
	Builder feature;

	for (unsigned cpu = 0; cpu < cpus; cpu++)
		add_caches(root, cpu, caches);
	if (caches.empty())
		return std::nullopt;
	std::ranges::stable_sort(caches, {}, &Cache::level);
	feature.put<std::uint32_t>(1); /* version */
	feature.put(static_cast<std::uint32_t>(caches.size()));
	for (const auto &cache : caches) {
		feature.put(cache.level);
		feature.put(cache.line);
		feature.put(cache.sets);
		feature.put(cache.ways);
		feature.put_string(cache.type);
		feature.put_string(cache.size);
		feature.put_string(cache.cpus);
	}
	return feature.take();
}

} /* namespace perfring::data */
