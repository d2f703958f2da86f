// SPDX-License-Identifier: GPL-2.0
#include "tally.hh"

#include <linux/perf_aux.h>

#include <utility>

namespace perfring::record {
namespace {

std::uint64_t word(std::span<const std::byte> record, std::size_t at)
{
	std::uint64_t value = 0;

	if (at + 8 <= record.size())
		std::memcpy(&value, record.data() + at, 8);
	return value;
}

std::size_t time_offset(std::uint64_t sample_type)
{
	std::size_t at = 8;

	if (!(sample_type & PERF_SAMPLE_TIME))
		return 0;
	for (const auto before : {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID})
		at += sample_type & before ? 8 : 0;
	return at;
}

std::size_t id_count(const std::vector<data::EventDescription> &events)
{
	std::size_t sum = 0;

	for (const auto &event : events)
		sum += event.ids.size();
	return sum;
}

} /* namespace */

EventFacts::EventFacts(const std::vector<data::EventDescription> &events)
	: index(id_count(events)),
	  ring_index(id_count(events)),
	  count(events.size())
{
	for (std::uint32_t i = 0; i < events.size(); i++) {
		for (const auto &id : events[i].ids) {
			index.add(id.id, i);
			ring_index.add(id.id, static_cast<std::uint32_t>(id.ring));
		}
		time_at.push_back(time_offset(events[i].attr.sample_type));
	}
}

void Tally::other(const perf_event_header &header, std::span<const std::byte> record)
{
	switch (header.type) {
	case PERF_RECORD_LOST:
		/* The id comes first, then the count. */
		loss.lost_records += word(record, 16);
		lost += word(record, 16);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		lost_samples(record);
		break;
	case PERF_RECORD_THROTTLE:
		loss.throttled++;
		break;
	case PERF_RECORD_AUX:
		aux(record);
		break;
	default:
		break;
	}
	seen.observe(record);
}

/* The event is named in the trailer, whose last word is the id. */
void Tally::lost_samples(std::span<const std::byte> record)
{
	const std::uint32_t event = facts.index.find(word(record, record.size() - 8));

	lost += word(record, 8);
	hardware.push_back({0, event == IdIndex::unknown ? 0 : event, word(record, 8)});
}

void Tally::aux(std::span<const std::byte> record)
{
	const std::uint64_t flags = word(record, 24);

	loss.aux.truncated += flags & PERF_AUX_FLAG_TRUNCATED ? 1 : 0;
	loss.aux.partial += flags & PERF_AUX_FLAG_PARTIAL ? 1 : 0;
	loss.aux.collisions += flags & PERF_AUX_FLAG_COLLISION ? 1 : 0;
	loss.aux.bytes += flags & PERF_AUX_FLAG_LOST ? word(record, 32) : 0;
}

void Tally::collect(std::size_t ring, SampleCounts &counts)
{
	for (std::size_t event = 0; event < samples.size(); event++) {
		if (samples[event])
			counts.push_back({ring, event, samples[event]});
		samples[event] = 0;
	}
}

RingLoss Tally::losses()
{
	return std::exchange(loss, {});
}

SampleCounts Tally::hardware_losses(std::size_t ring)
{
	for (auto &one : hardware)
		one.ring = ring;
	return std::exchange(hardware, {});
}

} /* namespace perfring::record */
