// SPDX-License-Identifier: GPL-2.0
#include "tracing_data.hh"

#include <fmt/core.h>
#include <unistd.h>

#include <bit>
#include <map>
#include <set>

#include "system_files.hh"

namespace perfring::data {
namespace {

using Systems = std::map<std::string, std::set<std::string>>;

Systems tracepoints(std::span<const EventDescription> events)
{
	Systems systems;

	for (const auto &event : events)
		if (!event.tracepoint_system.empty())
			systems[event.tracepoint_system].insert(event.tracepoint_name);
	return systems;
}

void put_zero_ended(Builder &out, std::string_view text)
{
	out.append(text);
	out.zeros(1);
}

/* Its size as a Size, then the text. */
template <class Size> void put_file(Builder &out, const std::string &text)
{
	out.put(static_cast<Size>(text.size()));
	out.append(text);
}

/* The formats that can be read, with their number before them. */
void put_formats(Builder &out, const std::string &directory, const std::set<std::string> &names)
{
	const std::size_t at = out.size();
	std::uint32_t count = 0;

	out.put(count);
	for (const auto &name : names) {
		const auto format = read_file(fmt::format("{}/{}/format", directory, name));

		if (!format)
			continue;
		put_file<std::uint64_t>(out, *format);
		count++;
	}
	out.patch(at, count);
}

void put_head(Builder &out)
{
	const bool big = std::endian::native == std::endian::big;

	out.append("\x17\x08\x44tracing");
	put_zero_ended(out, "0.6");
	out.put<std::uint8_t>(big);
	out.put<std::uint8_t>(sizeof(long));
	out.put(static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE)));
}

} /* namespace */

std::optional<Bytes> tracing_data_of(std::span<const EventDescription> events,
				     const std::string &tracefs)
{
	Systems systems = tracepoints(events);
	const std::string directory = tracefs + "/events/";
	const auto page = read_file(directory + "header_page");
	const auto event = read_file(directory + "header_event");
	Builder out;

	if (systems.empty() || !page || !event)
		return std::nullopt;

	put_head(out);
	put_zero_ended(out, "header_page");
	put_file<std::uint64_t>(out, *page);
	put_zero_ended(out, "header_event");
	put_file<std::uint64_t>(out, *event);

	/* ftrace's own events stand apart. */
	put_formats(out, directory + "ftrace", systems["ftrace"]);
	systems.erase("ftrace");
	out.put(static_cast<std::uint32_t>(systems.size()));
	for (const auto &[system, names] : systems) {
		put_zero_ended(out, system);
		put_formats(out, directory + system, names);
	}

	out.put<std::uint32_t>(0); /* no kallsyms: readers have their own */
	put_file<std::uint32_t>(out, read_file(tracefs + "/printk_formats").value_or(""));
	put_file<std::uint64_t>(out, read_file(tracefs + "/saved_cmdlines").value_or(""));
	return out.take();
}

std::string find_tracefs()
{
	for (const char *const path : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
		if (access((std::string(path) + "/events").c_str(), R_OK) == 0)
			return path;
	return {};
}

} /* namespace perfring::data */
