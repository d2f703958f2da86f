// SPDX-License-Identifier: GPL-2.0
#include "recount.hh"

#include "data/format.hh"
#include "data/writer.hh"

#include <cstring>
#include <map>
#include <utility>

namespace perfring::record {
namespace {

using Counts = std::map<std::pair<std::size_t, std::size_t>, std::uint64_t>;

void count(std::span<const std::byte> records, const EventFacts &facts, Counts &counts)
{
	while (records.size() >= data::header_size) {
		const perf_event_header header = header_of(records.data());

		if (header.size < data::header_size || header.size > records.size())
			return;
		if (header.type == PERF_RECORD_SAMPLE && header.size >= data::header_size + 8) {
			std::uint64_t id;

			/* Every event has PERF_SAMPLE_IDENTIFIER. */
			std::memcpy(&id, records.data() + data::header_size, sizeof(id));
			if (facts.index.find(id) != IdIndex::unknown)
				counts[{facts.ring_index.find(id), facts.index.find(id)}]++;
		} else if (header.type == data::record_compressed) {
			count(data::decompressed(records.first(header.size)), facts, counts);
		}
		records = records.subspan(header.size);
	}
}

} /* namespace */

Recount make_recount(const EventFacts &facts)
{
	return [&facts](std::span<const std::byte> records) {
		Counts counts;
		SampleCounts list;

		count(records, facts, counts);
		for (const auto &[place, number] : counts)
			list.push_back({place.first, place.second, number});
		return list;
	};
}

} /* namespace perfring::record */
