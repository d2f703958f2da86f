// SPDX-License-Identifier: GPL-2.0
#include "event_spec.hh"

#include "event_names.hh"
#include "pmu.hh"
#include "text.hh"

#include <fmt/core.h>
#include <fnmatch.h>
#include <linux/hw_breakpoint.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace perfring::record {
namespace {

constexpr std::string_view modifier_letters = "ukhpPGHISDeW";

/* Sets what the letters behind an event say. False: one of them says nothing. */
bool apply_modifiers(std::string_view letters, EventSpec &event)
{
	bool user = false, kernel = false, hypervisor = false, guest = false, host = false;
	unsigned precise = 0;

	for (const char letter : letters) {
		user |= letter == 'u';
		kernel |= letter == 'k';
		hypervisor |= letter == 'h';
		guest |= letter == 'G';
		host |= letter == 'H';
		precise += letter == 'p';
		event.most_precise |= letter == 'P';
		event.sample_read |= letter == 'S';
		if (letter == 'I')
			event.attr.exclude_idle = 1;
		if (letter == 'D')
			event.attr.pinned = 1;
		if (letter == 'e')
			event.attr.exclusive = 1;
		if (modifier_letters.find(letter) == std::string_view::npos)
			return false;
	}
	if (precise > 3)
		return false;
	if (user || kernel || hypervisor) {
		event.attr.exclude_user = !user;
		event.attr.exclude_kernel = !kernel;
		event.attr.exclude_hv = !hypervisor;
		event.exclude_set = true;
	}
	if (guest || host) {
		event.attr.exclude_guest = !guest;
		event.attr.exclude_host = !host;
	}
	if (precise)
		event.attr.precise_ip = precise & 3;
	return true;
}

EventSpec fresh(std::string_view name)
{
	EventSpec event;

	event.attr.size = sizeof(event.attr);
	event.attr.exclude_guest = 1;
	event.name = name;
	return event;
}

/* Terms that are about the event, not the PMU. False: it is not one of them. */
bool apply_setting(EventSpec &event, std::string_view term, std::string_view value)
{
	const auto needed = [&] {
		const auto parsed = number(value);

		if (!parsed)
			throw UserError(
				fmt::format("{}: the term {} needs a number", event.name, term));
		return *parsed;
	};

	if (term == "period")
		event.period = needed();
	else if (term == "freq")
		event.frequency = needed();
	else if (term == "name")
		event.name = value;
	else if (term == "inherit" || term == "no-inherit")
		event.inherit = term == "inherit";
	else if (term == "overwrite" || term == "no-overwrite")
		event.overwrite = term == "overwrite";
	else if (term == "aux-sample-size")
		event.aux_sample_size = static_cast<std::uint32_t>(needed());
	else if (term == "aux-output")
		event.aux_output = true;
	else
		return false;
	return true;
}

void apply_terms(EventSpec &event, const Pmu &pmu, std::string_view terms, bool may_be_event)
{
	for (const auto part : split(terms, ',')) {
		const std::string_view whole = trim(part);
		const std::size_t equals = whole.find('=');
		const std::string_view term = whole.substr(0, equals);
		const bool has_value = equals != std::string_view::npos;
		const std::string_view value = has_value ? whole.substr(equals + 1) : "";

		if (whole.empty() || apply_setting(event, term, value))
			continue;
		if (const auto named =
			    has_value || !may_be_event ? std::nullopt : pmu.event_terms(term)) {
			apply_terms(event, pmu, *named, false);
			event.unit = pmu.event_attribute(term, "unit").value_or("");
			if (const auto scale = pmu.event_attribute(term, "scale"))
				event.scale = std::atof(scale->c_str());
			continue;
		}
		const auto parsed = number(value);

		if (has_value && !parsed)
			throw UserError(fmt::format("{}: {} is not a number", event.name, whole));
		pmu.apply_term(event.attr, term, parsed);
	}
}

EventSpec pmu_event(std::string_view text, const EventSources &sources)
{
	const std::size_t open = text.find('/');
	const std::size_t close = text.rfind('/');
	EventSpec event = fresh(text);

	if (close == open)
		throw UserError(fmt::format("{}: the second / is missing", text));
	const std::string_view name = text.substr(0, open);
	const std::string_view terms = text.substr(open + 1, close - open - 1);
	std::string_view letters = text.substr(close + 1);

	if (letters.starts_with(':'))
		letters.remove_prefix(1);
	/* What has a name everywhere can have terms too: cycles/period=1000/ */
	if (const auto known = named_event(name)) {
		event.attr.type = known->type;
		event.attr.config = known->config;
		for (const auto part : split(terms, ',')) {
			const std::size_t equals = part.find('=');

			if (!part.empty() && !apply_setting(event, part.substr(0, equals),
							    equals == std::string_view::npos
								    ? ""
								    : part.substr(equals + 1)))
				throw UserError(fmt::format("{} has no term \"{}\"", name, part));
		}
	} else {
		const auto pmu = Pmu::find(sources.pmus, name);

		if (!pmu)
			throw UserError(
				fmt::format("there is no PMU \"{}\" in {}", name, sources.pmus));
		event.attr.type = pmu->type;
		event.pmu = pmu->name;
		event.pmu_cpus = pmu->cpus();
		event.has_aux = pmu->has_aux();
		pmu->apply_defaults(event.attr);
		apply_terms(event, *pmu, terms, true);
	}
	if (!apply_modifiers(letters, event))
		throw UserError(fmt::format("{}: \"{}\" is no modifier", text, letters));
	return event;
}

void tracepoints(std::string_view system, std::string_view name, std::string_view letters,
		 const EventSources &sources, std::vector<EventSpec> &events)
{
	std::vector<std::pair<std::string, std::string>> found;
	const std::string system_pattern(system), name_pattern(name);
	std::error_code error;

	if (sources.tracefs.empty())
		throw UserError(fmt::format("{}:{}: tracefs is not mounted, or not readable: "
					    "mount -t tracefs tracefs /sys/kernel/tracing",
					    system, name));
	for (const auto &folder :
	     std::filesystem::directory_iterator(sources.tracefs + "/events", error)) {
		const std::string its_system = folder.path().filename();

		if (fnmatch(system_pattern.c_str(), its_system.c_str(), 0))
			continue;
		std::error_code none;

		for (const auto &entry : std::filesystem::directory_iterator(folder.path(), none)) {
			const std::string its_name = entry.path().filename();

			if (!fnmatch(name_pattern.c_str(), its_name.c_str(), 0) &&
			    read_text(entry.path() / "id"))
				found.emplace_back(its_system, its_name);
		}
	}
	if (found.empty())
		throw UserError(fmt::format("there is no tracepoint {}:{} in {}/events", system,
					    name, sources.tracefs));
	std::sort(found.begin(), found.end());
	for (const auto &[its_system, its_name] : found) {
		EventSpec event = fresh(fmt::format("{}:{}", its_system, its_name));
		const auto id = read_text(
			fmt::format("{}/events/{}/{}/id", sources.tracefs, its_system, its_name));

		event.attr.type = PERF_TYPE_TRACEPOINT;
		event.attr.config = number(id.value_or("")).value_or(0);
		event.tracepoint_system = its_system;
		event.tracepoint_name = its_name;
		if (!letters.empty()) {
			event.name += ":" + std::string(letters);
			if (!apply_modifiers(letters, event))
				throw UserError(fmt::format("{}: \"{}\" is no modifier", event.name,
							    letters));
		}
		events.push_back(std::move(event));
	}
}

/* mem:ADDRESS[/LENGTH][:ACCESS][:MODIFIERS]; ACCESS is of r, w and x. */
constexpr std::string_view breakpoint_prefix = "mem:";

EventSpec breakpoint(std::string_view text)
{
	EventSpec event = fresh(text);
	auto parts = split(text.substr(breakpoint_prefix.size()), ':');
	const std::size_t slash = parts[0].find('/');
	const auto address = number(parts[0].substr(0, slash));
	unsigned access = 0;

	if (!address)
		throw UserError(fmt::format("{}: \"{}\" is no address; 0x401000 is", text,
					    parts[0].substr(0, slash)));
	if (parts.size() > 1 && parts[1].find_first_not_of("rwx") == std::string_view::npos) {
		for (const char letter : parts[1])
			access |= letter == 'r'	  ? HW_BREAKPOINT_R
				  : letter == 'w' ? HW_BREAKPOINT_W
						  : HW_BREAKPOINT_X;
		parts.erase(parts.begin() + 1);
	}
	if (parts.size() > 2 || (parts.size() == 2 && !apply_modifiers(parts[1], event)))
		throw UserError(fmt::format("{}: \"{}\" is neither an access, of r, w and x, nor "
					    "a modifier",
					    text, parts.back()));
	event.attr.type = PERF_TYPE_BREAKPOINT;
	event.attr.bp_type = access ? access : unsigned{HW_BREAKPOINT_RW};
	event.attr.bp_addr = *address;
	event.attr.bp_len =
		access == HW_BREAKPOINT_X ? sizeof(long) : std::size_t{HW_BREAKPOINT_LEN_4};
	if (slash != std::string_view::npos) {
		const auto length = number(parts[0].substr(slash + 1));

		if (!length || *length < 1 || *length > 8)
			throw UserError(fmt::format("{}: a breakpoint's length is 1 to 8", text));
		event.attr.bp_len = *length;
	}
	return event;
}

bool raw_config(std::string_view name, std::uint64_t &config)
{
	if (name.size() < 2 || name.size() > 17 || name[0] != 'r' ||
	    name.find_first_not_of("0123456789abcdefABCDEF", 1) != std::string_view::npos)
		return false;
	config = number("0x" + std::string(name.substr(1))).value_or(0);
	return true;
}

void single(std::string_view text, const EventSources &sources, std::vector<EventSpec> &events)
{
	if (text.empty())
		throw UserError("an event without a name");
	if (text.starts_with(breakpoint_prefix)) {
		events.push_back(breakpoint(text));
		return;
	}
	if (text.find('/') != std::string_view::npos) {
		events.push_back(pmu_event(text, sources));
		return;
	}
	const auto parts = split(text, ':');
	EventSpec event = fresh(text);
	std::uint64_t raw;

	if (const auto known = named_event(parts[0]); known && parts.size() <= 2) {
		event.attr.type = known->type;
		event.attr.config = known->config;
		if (parts.size() == 2 && !apply_modifiers(parts[1], event))
			throw UserError(fmt::format("{}: \"{}\" is no modifier", text, parts[1]));
		events.push_back(std::move(event));
	} else if (raw_config(parts[0], raw) && parts.size() <= 2) {
		event.attr.type = PERF_TYPE_RAW;
		event.attr.config = raw;
		if (parts.size() == 2 && !apply_modifiers(parts[1], event))
			throw UserError(fmt::format("{}: \"{}\" is no modifier", text, parts[1]));
		events.push_back(std::move(event));
	} else if (parts.size() == 2 || parts.size() == 3) {
		tracepoints(parts[0], parts[1], parts.size() == 3 ? parts[2] : "", sources, events);
	} else {
		throw UserError(fmt::format("there is no event \"{}\"", text));
	}
}

/*
 * Where the event that begins the text ends: at a comma that is not inside of // or {}.
 * A breakpoint's / begins nothing.
 */
std::size_t event_end(std::string_view text)
{
	bool slashes = false;
	int braces = 0;
	std::size_t start = 0;

	for (std::size_t i = 0; i < text.size(); i++) {
		if (!slashes && (text[i] == ',' || text[i] == '{'))
			start = i + 1;
		if (text[i] == '/' && !trim(text.substr(start)).starts_with(breakpoint_prefix))
			slashes = !slashes;
		else if (!slashes && text[i] == '{')
			braces++;
		else if (!slashes && text[i] == '}')
			braces--;
		else if (!slashes && !braces && text[i] == ',')
			return i;
	}
	return text.size();
}

void group(std::string_view text, const EventSources &sources, std::vector<EventSpec> &events)
{
	const std::size_t open = text.find('{');
	const std::size_t close = text.rfind('}');
	const std::size_t leader = events.size();

	if (close == std::string_view::npos || close < open)
		throw UserError(fmt::format("{}: the closing brace is missing", text));
	std::string_view letters = text.substr(close + 1);
	std::string_view members = text.substr(open + 1, close - open - 1);

	if (letters.starts_with(':'))
		letters.remove_prefix(1);
	while (!members.empty()) {
		const std::size_t end = event_end(members);

		single(trim(members.substr(0, end)), sources, events);
		members.remove_prefix(std::min(members.size(), end + 1));
	}
	if (events.size() == leader)
		throw UserError(fmt::format("{}: a group without events", text));
	for (std::size_t i = leader; i < events.size(); i++) {
		events[i].leader = leader;
		if (!apply_modifiers(letters, events[i]))
			throw UserError(fmt::format("{}: \"{}\" is no modifier", text, letters));
	}
	events[leader].group_name = std::string(trim(text.substr(0, open)));
	if (events[leader].group_name.ends_with(':'))
		events[leader].group_name.pop_back();
}

} /* namespace */

EventSources system_event_sources()
{
	EventSources sources;

	for (const char *folder : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
		if (access((std::string(folder) + "/events").c_str(), R_OK | X_OK) == 0) {
			sources.tracefs = folder;
			break;
		}
	return sources;
}

void parse_events(std::string_view text, const EventSources &sources,
		  std::vector<EventSpec> &events)
{
	text = trim(text);
	if (text.empty())
		throw UserError("-e needs an event");
	for (;;) {
		const std::size_t end = event_end(text);
		const std::string_view one = trim(text.substr(0, end));
		const std::size_t before = events.size();

		if (one.find('{') != std::string_view::npos && one.find('/') > one.find('{')) {
			group(one, sources, events);
		} else {
			single(one, sources, events);
			for (std::size_t i = before; i < events.size(); i++)
				events[i].leader = i;
		}
		if (end == text.size())
			return;
		text.remove_prefix(end + 1);
	}
}

} /* namespace perfring::record */
