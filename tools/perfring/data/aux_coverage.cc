// SPDX-License-Identifier: GPL-2.0
#include "aux_coverage.hh"

#include <linux/perf_aux.h>

#include <algorithm>

namespace perfring::data {
namespace {

/* The last AUXTRACE of a buffer is padded to a multiple of 8, and the next begins where
 * the data ended. */
constexpr std::uint64_t most_padding = 7;

/* Word of an AUXTRACE_INFO that says whether snapshots were taken, by kind of trace. */
std::optional<std::size_t> snapshot_word(std::uint32_t kind)
{
	switch (static_cast<Trace>(kind)) {
	case Trace::intel_pt:
		return 8;
	case Trace::intel_bts:
		return 5;
	case Trace::cs_etm:
		return 2;
	case Trace::none:
		break;
	}
	return std::nullopt;
}

} /* namespace */

AuxTotals &AuxTotals::operator+=(const AuxTotals &other)
{
	announced += other.announced;
	stored += other.stored;
	missing += other.missing;
	doubled += other.doubled;
	surplus += other.surplus;
	lost += other.lost;
	records += other.records;
	traces += other.traces;
	truncated += other.truncated;
	partial += other.partial;
	collisions += other.collisions;
	return *this;
}

void AuxCoverage::note(const Record &record, const std::optional<Sample> &fields)
{
	switch (record.header.type) {
	case record_auxtrace_info:
		return note_info(record);
	case record_id_index:
		return note_index(record);
	case PERF_RECORD_AUX:
		return note_aux(record, fields);
	case record_auxtrace:
		return note_trace(record);
	default:
		return;
	}
}

void AuxCoverage::note_info(const Record &record)
{
	const auto word = snapshot_word(record.at<std::uint32_t>(8).value_or(0));

	if (word && record.at<std::uint64_t>(16 + *word * 8).value_or(0))
		snapshots_ = true;
}

void AuxCoverage::note_index(const Record &record)
{
	Cursor cursor(record.body());

	cursor.take<std::uint64_t>(); /* their number: there are no more than fit */
	while (const auto entry = cursor.take<IdIndexEntry>())
		by_id_[entry->id] = static_cast<std::uint32_t>(entry->idx);
}

/* Without an index there is but one buffer that anybody could mean. */
std::uint32_t AuxCoverage::buffer_of(const std::optional<Sample> &fields) const
{
	const auto found = fields && fields->id ? by_id_.find(*fields->id) : by_id_.end();

	return found == by_id_.end() ? 0 : found->second;
}

void AuxCoverage::note_aux(const Record &record, const std::optional<Sample> &fields)
{
	const auto offset = record.at<std::uint64_t>(8);
	const auto size = record.at<std::uint64_t>(16);
	const auto flags = record.at<std::uint64_t>(24);

	if (!flags)
		return;

	Buffer &buffer = buffers_[buffer_of(fields)];

	buffer.totals.records++;
	buffer.totals.truncated += (*flags & PERF_AUX_FLAG_TRUNCATED) != 0;
	buffer.totals.partial += (*flags & PERF_AUX_FLAG_PARTIAL) != 0;
	buffer.totals.collisions += (*flags & PERF_AUX_FLAG_COLLISION) != 0;
	if (*flags & PERF_AUX_FLAG_LOST)
		buffer.totals.lost += record.at<std::uint64_t>(32).value_or(0);
	if (*flags & PERF_AUX_FLAG_OVERWRITE)
		snapshots_ = true;
	buffer.totals.announced += *size;
	if (*size && *size <= ~0ULL - *offset)
		buffer.announced.push_back({*offset, *offset + *size});
}

void AuxCoverage::note_trace(const Record &record)
{
	const auto trace = record.at<RecordAuxtrace>(0);

	if (!trace)
		return;

	Buffer &buffer = buffers_[trace->idx];

	buffer.totals.traces++;
	buffer.totals.stored += trace->size;
	if (trace->size && trace->size <= ~0ULL - trace->offset)
		buffer.stored.push_back({trace->offset, trace->offset + trace->size});
}

/* In order, those that touch made one. What is there twice is counted, padding is not. */
AuxCoverage::Ranges AuxCoverage::merged(Ranges ranges, std::uint64_t &doubled)
{
	Ranges result;

	std::ranges::sort(ranges, {}, &Range::start);
	for (const Range &range : ranges) {
		if (result.empty() || range.start > result.back().end) {
			result.push_back(range);
			continue;
		}

		const std::uint64_t both = std::min(result.back().end, range.end) - range.start;

		if (both > most_padding)
			doubled += both;
		result.back().end = std::max(result.back().end, range.end);
	}
	return result;
}

/* Bytes of @ranges that are not in @cover; both merged. */
std::uint64_t AuxCoverage::beyond(const Ranges &ranges, const Ranges &cover)
{
	std::uint64_t bytes = 0;
	std::size_t next = 0;

	for (const Range &range : ranges) {
		std::uint64_t at = range.start;

		while (next < cover.size() && cover[next].end <= at)
			next++;
		for (std::size_t i = next; i < cover.size() && cover[i].start < range.end; i++) {
			if (cover[i].start > at)
				bytes += cover[i].start - at;
			at = std::max(at, cover[i].end);
		}
		if (at < range.end)
			bytes += range.end - at;
	}
	return bytes;
}

std::map<std::uint32_t, AuxTotals> AuxCoverage::totals() const
{
	std::map<std::uint32_t, AuxTotals> all;

	for (const auto &[index, buffer] : buffers_) {
		AuxTotals totals = buffer.totals;
		std::uint64_t announced_twice = 0;
		const Ranges announced = merged(buffer.announced, announced_twice);
		const Ranges stored = merged(buffer.stored, totals.doubled);

		totals.missing = beyond(announced, stored);
		totals.surplus = beyond(stored, announced);
		/* Padding is at the end of each stretch at most. */
		if (totals.surplus <= most_padding * stored.size())
			totals.surplus = 0;
		all[index] = totals;
	}
	return all;
}

} /* namespace perfring::data */
