// SPDX-License-Identifier: GPL-2.0
#include "writer.hh"

#include <algorithm>
#include <map>
#include <optional>

#include "attr.hh"
#include "auxtrace_info.hh"
#include "features.hh"
#include "format.hh"
#include "kernel_map.hh"
#include "machine.hh"
#include "observations_state.hh"
#include "records.hh"
#include "sample.hh"
#include "tasks.hh"
#include "time_conversion.hh"
#include "tracing_data.hh"

namespace perfring::data {
namespace {

using Features = std::map<Feature, Bytes>;

/* A record without meaning: readers take it for an ancient one that they pass over. */
constexpr std::uint32_t ignored_record = 65;

constexpr Feature of_machine[] = {
	Feature::hostname,	Feature::osrelease,    Feature::arch,	   Feature::nrcpus,
	Feature::cpudesc,	Feature::cpuid,	       Feature::total_mem, Feature::cpu_topology,
	Feature::numa_topology, Feature::pmu_mappings, Feature::cache,	   Feature::mem_topology,
};

bool any_event(const Session &session, std::uint64_t field)
{
	return std::ranges::any_of(session.events, [field](const auto &event) {
		return (event.attr.sample_type & field) != 0;
	});
}

Features known_at_start(const Session &session, std::uint32_t attr_size)
{
	Features features;

	for (const Feature feature : of_machine)
		if (auto content = machine_feature(feature))
			features[feature] = std::move(*content);
	features[Feature::version] = string_feature("perfring");
	features[Feature::cmdline] = command_line_feature(session.command_line);
	features[Feature::event_desc] = event_desc_feature(session.events, attr_size);
	features[Feature::group_desc] = group_desc_feature(session.events);
	if (auto content = tracing_data_of(session.events, find_tracefs()))
		features[Feature::tracing_data] = std::move(*content);
	if (any_event(session, PERF_SAMPLE_BRANCH_STACK))
		features[Feature::branch_stack] = {};
	if (session.clockid) {
		features[Feature::clockid] = clockid_feature(*session.clockid);
		features[Feature::clock_data] = clock_data_feature(*session.clockid);
	}
	if (session.compression_level)
		features[Feature::compressed] =
			compressed_feature(session.compression_level, 1,
					   static_cast<std::uint32_t>(session.compressed_unit));
	return features;
}

void set_feature(FileHeader &header, unsigned int number)
{
	header.features[number / 64] |= 1ULL << number % 64;
}

std::uint64_t count_ids(const Session &session)
{
	std::uint64_t count = 0;

	for (const auto &event : session.events)
		count += event.ids.size();
	return count;
}

/* Why not the section of each: streams have no room for what only seeking finds. */
bool in_streams(Feature feature, ByteView content)
{
	return feature != Feature::tracing_data && feature != Feature::branch_stack &&
	       content.size() + 16 <= max_record;
}

} /* namespace */

struct Writer::State {
	Session session;
	std::uint32_t attr_size = PERF_ATTR_SIZE_VER7; /* one layout for all */
	Features fixed;				       /* known at the start */
	std::map<Feature, Section> places;	       /* of these, in the file */
	std::uint64_t ids_at = sizeof(FileHeader);
	std::uint64_t attrs_at = 0, data_at = 0;
	Observations synthesized;
	std::optional<Features> last; /* of file_tail(): files may change or go */

	explicit State(Session what);
	void lay_out();
	FileHeader header(std::uint64_t data_bytes) const;
	Features known_at_end(const Outcome &outcome) const;
	Bytes head() const;
	std::size_t trailer() const
	{
		return session.events.empty() ? 0 : trailer_size(session.events[0].attr);
	}
};

Writer::State::State(Session what) : session(std::move(what))
{
	if (session.compression_level && !session.compressed_unit)
		session.compressed_unit = compressed_unit_limit;
	for (const auto &event : session.events)
		attr_size = std::max(attr_size, attr_layout(event.attr));
	fixed = known_at_start(session, attr_size);
	lay_out();
}

void Writer::State::lay_out()
{
	attrs_at = ids_at + count_ids(session) * sizeof(std::uint64_t);
	data_at = attrs_at + session.events.size() * (attr_size + sizeof(Section));
	for (const auto &[feature, content] : fixed) {
		places[feature] = {data_at, content.size()};
		data_at = align_up(data_at + content.size(), 8);
	}
}

FileHeader Writer::State::header(std::uint64_t data_bytes) const
{
	FileHeader header{};

	header.magic = magic;
	header.size = sizeof(header);
	header.attr_size = attr_size + sizeof(Section);
	header.attrs = {attrs_at, session.events.size() * header.attr_size};
	header.data = {data_at, data_bytes};
	return header;
}

Bytes Writer::State::head() const
{
	std::uint64_t ids = ids_at;
	Builder out;

	out.put(header(0));
	for (const auto &event : session.events)
		for (const auto &place : event.ids)
			out.put(place.id);
	for (const auto &event : session.events) {
		const Section section{ids, event.ids.size() * sizeof(std::uint64_t)};

		out.append(encode_attr(event.attr, attr_size));
		out.put(section);
		ids += section.size;
	}
	for (const auto &[feature, content] : fixed) {
		out.append(content);
		out.align(8);
	}
	return out.take();
}

Features Writer::State::known_at_end(const Outcome &outcome) const
{
	Features features;
	Observations all;
	Builder builder;

	all.merge(synthesized);
	if (outcome.seen)
		all.merge(*outcome.seen);
	if (Bytes ids = all.state->build_ids(); !ids.empty())
		features[Feature::build_id] = std::move(ids);

	const bool any = all.state->first <= all.state->last;

	builder.put<std::uint64_t>(any ? all.state->first : 0);
	builder.put<std::uint64_t>(any ? all.state->last : 0);
	features[Feature::sample_time] = builder.take();

	if (session.aux) {
		const std::size_t count = outcome.auxtrace_offsets.size();
		Builder index;

		index.put<std::uint64_t>(count);
		for (std::size_t i = 0; i < count; i++)
			index.put(AuxIndexEntry{outcome.auxtrace_offsets[i],
						outcome.auxtrace_sizes.at(i)});
		features[Feature::auxtrace] = index.take();
	}
	if (session.compression_level && outcome.compressed_bytes)
		features[Feature::compressed] = compressed_feature(
			session.compression_level,
			static_cast<std::uint32_t>(std::max<std::uint64_t>(
				1, outcome.uncompressed_bytes / outcome.compressed_bytes)),
			static_cast<std::uint32_t>(session.compressed_unit));
	return features;
}

Writer::Writer(Session session) : own(std::make_unique<State>(std::move(session)))
{
}

Writer::~Writer() = default;

const Session &Writer::session() const
{
	return own->session;
}

Bytes Writer::file_head() const
{
	return own->head();
}

std::uint64_t Writer::data_offset() const
{
	return own->data_at;
}

Bytes Writer::stream_head() const
{
	Builder out;

	out.put(PipeHeader{magic, sizeof(PipeHeader)});
	for (const auto &event : own->session.events)
		out.append(header_attr(event));
	for (const auto &[feature, content] : own->fixed)
		if (in_streams(feature, content))
			out.append(header_feature(static_cast<std::uint64_t>(feature), content));
	out.append(header_feature(last_feature, {}));

	const auto formats = own->fixed.find(Feature::tracing_data);

	if (formats != own->fixed.end())
		out.append(tracing_data(formats->second));
	for (const auto &event : own->session.events)
		if (!event.ids.empty())
			out.append(event_name(event.ids[0].id, event.name));
	return out.take();
}

void Writer::start_records(const Sink &sink) const
{
	const Session &session = own->session;
	const auto time = read_time_conversion();
	const pid_t everybody = -1;
	const int any_cpu = -1;

	if (time)
		sink(time_conv(*time));
	id_index(session.events, sink);
	if (const auto info = auxtrace_info(session, time))
		sink(*info);
	for (const auto &event : session.events) {
		if (event.ids.empty())
			continue;
		if (!event.unit.empty())
			sink(event_unit(event.ids[0].id, event.unit));
		if (event.scale != 1)
			sink(event_scale(event.ids[0].id, event.scale));
		if (!event.pmu_cpus.empty())
			sink(event_cpus(event.ids[0].id, event.pmu_cpus));
	}
	sink(thread_map(session.threads.empty() ? std::span(&everybody, 1)
						: std::span(session.threads)));
	sink(cpu_map(session.cpus.empty() ? std::span(&any_cpu, 1) : std::span(session.cpus)));
	state(sink);
}

void Writer::state(const Sink &sink) const
{
	const Session &session = own->session;
	const bool no_kernel = std::ranges::all_of(
		session.events, [](const auto &event) { return event.attr.exclude_kernel != 0; });
	TaskOptions options;

	const Sink remembering = [&](ByteView record) {
		own->synthesized.observe(record);
		sink(record);
	};

	options.trailer = own->trailer();
	options.data_mappings = std::ranges::any_of(
		session.events, [](const auto &event) { return event.attr.mmap_data != 0; });
	if (!no_kernel)
		synthesize_kernel(remembering, options.trailer);
	if (session.system_wide)
		synthesize_all(remembering, options);
	else if (session.child)
		synthesize_comm(*session.child, remembering, options);
	else
		synthesize_threads(session.threads, remembering, options);
}

/*
 * The first word is a record's header where this stands among the data, and the offset of
 * feature 0, which does not exist and which nobody looks for, where it is the table.
 */
Bytes Writer::checkpoint() const
{
	RecordBuilder record(ignored_record);

	record.put<std::uint64_t>(0); /* the size of feature 0 */
	for (const auto &[feature, place] : own->places)
		record.put(place);
	return record.finish();
}

Bytes Writer::checkpoint_header(std::uint64_t data_bytes) const
{
	FileHeader header = own->header(data_bytes);
	Builder out;

	set_feature(header, 0);
	for (const auto &[feature, place] : own->places)
		set_feature(header, static_cast<unsigned int>(feature));
	out.put(header);
	return out.take();
}

Bytes Writer::file_tail(const Outcome &outcome) const
{
	const Features &last = own->last.emplace(own->known_at_end(outcome));
	std::map<Feature, Section> places = own->places;
	Builder table, contents;

	for (const auto &[feature, content] : last)
		places[feature] = {};

	const std::uint64_t start =
		own->data_at + outcome.data_bytes + places.size() * sizeof(Section);

	for (const auto &[feature, content] : last) {
		places[feature] = {start + contents.size(), content.size()};
		contents.append(content);
		contents.align(8);
	}
	for (const auto &[feature, place] : places)
		table.put(place);
	table.append(contents.take());
	if (outcome.fill)
		table.append(outcome.fill->encode());
	return table.take();
}

Bytes Writer::finished_header(const Outcome &outcome) const
{
	FileHeader header = own->header(outcome.data_bytes);
	Builder out;

	if (!own->last)
		own->last = own->known_at_end(outcome);
	for (const auto &[feature, place] : own->places)
		set_feature(header, static_cast<unsigned int>(feature));
	for (const auto &[feature, content] : *own->last)
		set_feature(header, static_cast<unsigned int>(feature));
	out.put(header);
	return out.take();
}

} /* namespace perfring::data */
