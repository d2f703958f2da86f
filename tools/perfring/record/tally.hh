/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one look at each record of a ring tells: which event's sample it is, what it
 * says was lost, and when.
 */
#ifndef PERFRING_RECORD_TALLY_HH
#define PERFRING_RECORD_TALLY_HH

#include "data/writer.hh"
#include "id_index.hh"
#include "ledger.hh"
#include "ring_reader.hh"

#include <vector>

namespace perfring::record {

/* What has to be known of all events to look at records. Shared, read only. */
struct EventFacts {
	IdIndex index;			  /* from an id to its event */
	IdIndex ring_index;		  /* and to its ring */
	std::size_t count;		  /* of events */
	std::vector<std::size_t> time_at; /* byte of TIME in a sample of each event, 0: none */

	explicit EventFacts(const std::vector<data::EventDescription> &events);
};

/* One ring's; used by the thread that reads it. */
class Tally {
    public:
	Tally(const EventFacts &event_facts, data::Observations &observations)
		: facts(event_facts),
		  seen(observations),
		  samples(event_facts.count)
	{
	}

	void look(std::span<const std::byte> record)
	{
		const perf_event_header header = header_of(record.data());

		if (header.type == PERF_RECORD_SAMPLE)
			sample(record);
		else
			other(header, record);
	}

	/* Samples since the last call, for the block that they went into. */
	void collect(std::size_t ring, SampleCounts &counts);

	/* Losses since the last call. */
	RingLoss losses();

	std::uint64_t sample_total() const
	{
		return total;
	}
	std::uint64_t lost_total() const
	{
		return lost;
	}
	/* Times that an AUX area was full, and its event was stopped. */
	std::uint64_t truncated_total() const
	{
		return loss.aux.truncated;
	}
	std::uint64_t first_time() const
	{
		return first;
	}
	std::uint64_t last_time() const
	{
		return last;
	}

    private:
	void sample(std::span<const std::byte> record)
	{
		std::uint64_t id = 0;

		total++;
		/* Every event is opened with PERF_SAMPLE_IDENTIFIER: it comes first. */
		if (record.size() >= 16)
			std::memcpy(&id, record.data() + 8, 8);
		const std::uint32_t event = facts.index.find(id);

		if (event == IdIndex::unknown) {
			strays++;
			return;
		}
		samples[event]++;
		const std::size_t at = facts.time_at[event];

		if (at && at + 8 <= record.size()) {
			std::memcpy(&id, record.data() + at, 8);
			first = std::min(first, id);
			last = std::max(last, id);
		}
	}
	void other(const perf_event_header &header, std::span<const std::byte> record);
	void lost_samples(std::span<const std::byte> record);
	void aux(std::span<const std::byte> record);

	const EventFacts &facts;
	data::Observations &seen;
	std::vector<std::uint64_t> samples;
	SampleCounts hardware;
	RingLoss loss;
	std::uint64_t total = 0;
	std::uint64_t lost = 0;
	std::uint64_t strays = 0;
	std::uint64_t first = UINT64_MAX;
	std::uint64_t last = 0;

    public:
	/* LOST_SAMPLES of the hardware since the last call, by event. */
	SampleCounts hardware_losses(std::size_t ring);
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_TALLY_HH */
