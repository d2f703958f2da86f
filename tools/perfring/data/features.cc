// SPDX-License-Identifier: GPL-2.0
#include "features.hh"

#include <ctime>
#include <filesystem>
#include <optional>

#include "attr.hh"

namespace perfring::data {
namespace {

constexpr std::uint64_t second = 1000000000;

std::uint64_t nanoseconds(const timespec &time)
{
	return static_cast<std::uint64_t>(time.tv_sec) * second +
	       static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t now(int clockid)
{
	timespec time{};

	clock_gettime(clockid, &time);
	return nanoseconds(time);
}

} /* namespace */

Bytes string_feature(const std::string &text)
{
	Builder feature;

	feature.put_string(text);
	return feature.take();
}

Bytes command_line_feature(const std::vector<std::string> &argv)
{
	std::error_code error;
	const std::string program = std::filesystem::read_symlink("/proc/self/exe", error);
	Builder feature;

	feature.put(static_cast<std::uint32_t>(argv.size()));
	for (std::size_t i = 0; i < argv.size(); i++)
		feature.put_string(i || program.empty() ? argv[i] : program);
	return feature.take();
}

Bytes event_desc_feature(std::span<const EventDescription> events, std::uint32_t attr_size)
{
	Builder feature;

	feature.put(static_cast<std::uint32_t>(events.size()));
	feature.put(attr_size);
	for (const auto &event : events) {
		feature.append(encode_attr(event.attr, attr_size));
		feature.put(static_cast<std::uint32_t>(event.ids.size()));
		feature.put_string(event.name);
		for (const auto &place : event.ids)
			feature.put(place.id);
	}
	return feature.take();
}

Bytes group_desc_feature(std::span<const EventDescription> events)
{
	std::vector<std::uint32_t> members(events.size());
	std::uint32_t groups = 0;
	Builder feature;

	for (const auto &event : events)
		if (event.leader < members.size() && members[event.leader]++ == 1)
			groups++;

	feature.put(groups);
	for (std::size_t i = 0; i < events.size(); i++) {
		if (members[i] < 2)
			continue;
		feature.put_string(events[i].group_name.empty() ? "{anon_group}"
								: events[i].group_name);
		feature.put(static_cast<std::uint32_t>(i));
		feature.put(members[i]);
	}
	return feature.take();
}

Bytes clockid_feature(int clockid)
{
	timespec resolution{};
	Builder feature;

	clock_getres(clockid, &resolution);
	feature.put(nanoseconds(resolution));
	return feature.take();
}

Bytes clock_data_feature(int clockid)
{
	Builder feature;

	feature.put<std::uint32_t>(1); /* version */
	feature.put(static_cast<std::uint32_t>(clockid));
	feature.put(now(CLOCK_REALTIME));
	feature.put(now(clockid));
	return feature.take();
}

Bytes compressed_feature(int level, std::uint32_t ratio, std::uint32_t unit)
{
	Builder feature;

	feature.put<std::uint32_t>(1); /* version */
	feature.put<std::uint32_t>(1); /* zstd */
	feature.put(static_cast<std::uint32_t>(level));
	feature.put(ratio);
	feature.put(unit);
	return feature.take();
}

std::vector<DescribedEvent> parse_event_desc(ByteView section)
{
	std::vector<DescribedEvent> events;
	Cursor cursor(section);
	const auto count = cursor.take<std::uint32_t>();
	const auto size = cursor.take<std::uint32_t>();

	if (!count || !size)
		return {};
	for (std::uint32_t i = 0; i < *count; i++) {
		const auto attr_bytes = cursor.take_bytes(*size);
		const auto attr = attr_bytes ? decode_attr(*attr_bytes) : std::nullopt;
		const auto ids = cursor.take<std::uint32_t>();
		const auto name = cursor.take_string();

		if (!attr || !ids || !name || *ids > cursor.left() / 8)
			break;

		DescribedEvent event{*attr, std::string(*name), {}};

		for (std::uint32_t k = 0; k < *ids; k++)
			event.ids.push_back(cursor.take<std::uint64_t>().value_or(0));
		events.push_back(std::move(event));
	}
	return events;
}

} /* namespace perfring::data */
