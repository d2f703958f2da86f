// SPDX-License-Identifier: GPL-2.0
#include "ledger.hh"

namespace perfring::record {

Ledger::Ledger(std::size_t ring_count, std::size_t events)
	: event_count(events),
	  kept_samples(ring_count * events),
	  ring_losses(ring_count)
{
	for (auto &cause : lost_samples)
		cause.resize(ring_count * events);
}

void Ledger::keep(const SampleCounts &counts)
{
	const std::scoped_lock guard(lock);

	for (const auto &one : counts)
		kept_samples[at(one.ring, one.event)] += one.count;
}

void Ledger::take_back(const SampleCounts &counts)
{
	const std::scoped_lock guard(lock);

	for (const auto &one : counts)
		kept_samples[at(one.ring, one.event)] -= one.count;
}

void Ledger::lose(Cause cause, const SampleCounts &counts)
{
	const std::scoped_lock guard(lock);

	for (const auto &one : counts)
		lost_samples[static_cast<std::size_t>(cause)][at(one.ring, one.event)] += one.count;
}

void Ledger::add(std::size_t ring, const RingLoss &loss)
{
	const std::scoped_lock guard(lock);
	RingLoss &sum = ring_losses[ring];

	sum.lost_records += loss.lost_records;
	sum.damage_times += loss.damage_times;
	sum.damage_bytes += loss.damage_bytes;
	sum.throttled += loss.throttled;
	sum.aux.truncated += loss.aux.truncated;
	sum.aux.partial += loss.aux.partial;
	sum.aux.collisions += loss.aux.collisions;
	sum.aux.bytes += loss.aux.bytes;
	sum.aux.output_bytes += loss.aux.output_bytes;
	sum.aux.kept_bytes += loss.aux.kept_bytes;
}

std::uint64_t Ledger::kept(std::size_t ring, std::size_t event) const
{
	const std::scoped_lock guard(lock);

	return kept_samples[at(ring, event)];
}

std::uint64_t Ledger::lost(Cause cause, std::size_t ring, std::size_t event) const
{
	const std::scoped_lock guard(lock);

	return lost_samples[static_cast<std::size_t>(cause)][at(ring, event)];
}

std::uint64_t Ledger::kept_of(std::size_t event) const
{
	std::uint64_t sum = 0;

	for (std::size_t ring = 0; ring < rings(); ring++)
		sum += kept(ring, event);
	return sum;
}

std::uint64_t Ledger::lost_of(std::size_t event) const
{
	std::uint64_t sum = 0;

	for (std::size_t ring = 0; ring < rings(); ring++)
		for (std::size_t cause = 0; cause < causes; cause++)
			sum += lost(static_cast<Cause>(cause), ring, event);
	return sum;
}

std::uint64_t Ledger::kept_total() const
{
	std::uint64_t sum = 0;

	for (std::size_t event = 0; event < event_count; event++)
		sum += kept_of(event);
	return sum;
}

std::uint64_t Ledger::lost_total() const
{
	std::uint64_t sum = 0;

	for (std::size_t event = 0; event < event_count; event++)
		sum += lost_of(event);
	return sum;
}

RingLoss Ledger::ring(std::size_t ring) const
{
	const std::scoped_lock guard(lock);

	return ring_losses[ring];
}

bool Ledger::lossless() const
{
	for (std::size_t index = 0; index < rings(); index++) {
		const RingLoss loss = ring(index);

		if (loss.lost_records || loss.damage_times || loss.aux.truncated ||
		    loss.aux.partial || loss.aux.collisions || loss.aux.bytes ||
		    loss.aux.output_bytes)
			return false;
	}
	return lost_total() == 0;
}

} /* namespace perfring::record */
