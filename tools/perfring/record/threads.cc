// SPDX-License-Identifier: GPL-2.0
#include "threads.hh"

#include "data/system_files.hh"

#include <algorithm>
#include <map>
#include <utility>

namespace perfring::record {
namespace {

using Nodes = std::vector<std::vector<unsigned>>;

/* The CPUs of each node that has some. */
Nodes nodes_of(const std::string &root)
{
	const std::string folder = root + "/sys/devices/system/node/";
	Nodes nodes;

	for (const unsigned node :
	     data::parse_list(data::read_text(folder + "online").value_or(""))) {
		const auto list =
			data::read_text(folder + "node" + std::to_string(node) + "/cpulist");
		auto cpus = data::parse_list(list.value_or(""));

		if (!cpus.empty())
			nodes.push_back(std::move(cpus));
	}
	return nodes;
}

/* Where there are no nodes, or none of them has the CPU: the place behind the last. */
std::size_t node_of(const Nodes &nodes, unsigned cpu)
{
	std::size_t at = 0;

	while (at < nodes.size() &&
	       std::find(nodes[at].begin(), nodes[at].end(), cpu) == nodes[at].end())
		at++;
	return at;
}

} // namespace

std::vector<RecordingThread> deal_rings(const std::vector<int> &ring_cpus, Threads threads,
					std::size_t cpus, const std::string &root)
{
	const Nodes nodes = threads == Threads::node ? nodes_of(root) : Nodes();
	const std::size_t hands =
		std::max<std::size_t>(1, threads == Threads::node ? nodes.size() : cpus);
	/* Those with a CPU first, by CPU or node; then those without. */
	std::map<std::pair<bool, std::size_t>, RecordingThread> made;
	std::vector<RecordingThread> all;
	std::size_t dealt = 0;

	for (std::size_t i = 0; i < ring_cpus.size(); i++) {
		const bool has_cpu = ring_cpus[i] >= 0;
		const auto cpu = static_cast<unsigned>(has_cpu ? ring_cpus[i] : 0);

		if (threads == Threads::one) {
			made[{false, 0}].rings.push_back(i);
		} else if (!has_cpu) {
			made[{true, dealt++ % hands}].rings.push_back(i);
		} else if (threads == Threads::cpu) {
			RecordingThread &thread = made[{false, cpu}];

			thread.rings.push_back(i);
			thread.cpus = {cpu};
		} else {
			const std::size_t node = node_of(nodes, cpu);
			RecordingThread &thread = made[{false, node}];

			thread.rings.push_back(i);
			if (node < nodes.size())
				thread.cpus = nodes[node];
		}
	}
	for (auto &[key, thread] : made)
		all.push_back(std::move(thread));
	return all;
}

} /* namespace perfring::record */
