// SPDX-License-Identifier: GPL-2.0
#include "timeline.hh"

#include <linux/perf_event.h>

#include <algorithm>

#include "reader.hh"

namespace perfring::data {
namespace {

std::uint64_t lost_in(const Record &record)
{
	if (record.header.type == PERF_RECORD_LOST)
		return record.at<std::uint64_t>(16).value_or(0);
	if (record.header.type == PERF_RECORD_LOST_SAMPLES)
		return record.at<std::uint64_t>(8).value_or(0);
	return 0;
}

} /* namespace */

Timeline timeline(ByteView file, std::uint64_t first_time, std::uint64_t last_time,
		  std::size_t slices)
{
	Timeline result;
	Reader reader(file);

	if (first_time > last_time)
		return result;
	result.start = first_time;
	result.slice = (last_time - first_time) / slices + 1;

	while (const auto record = reader.next()) {
		const auto fields = reader.sample_of(*record);

		if (!fields || !fields->time || *fields->time < first_time ||
		    *fields->time > last_time)
			continue;

		auto &lane = result.cpus[fields->cpu.value_or(0)];

		lane.resize(slices);

		TimelineSlice &slice = lane[(*fields->time - first_time) / result.slice];

		slice.samples += record->header.type == PERF_RECORD_SAMPLE;
		slice.bytes += record->bytes.size();
		slice.lost += lost_in(*record);
	}
	return result;
}

} /* namespace perfring::data */
