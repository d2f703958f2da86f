// SPDX-License-Identifier: GPL-2.0
#include "records.hh"

#include <linux/perf_event.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "attr.hh"
#include "writer.hh"

namespace perfring::data {
namespace {

constexpr std::uint16_t fork_of_existing = 1 << 13; /* the mappings follow, none are inherited */
constexpr std::uint16_t build_id_has_size = 1 << 15;
constexpr std::size_t name_alignment = 64; /* of file names in BUILD_ID */
constexpr std::size_t comm_field = 16;	   /* of THREAD_MAP */

enum UpdateKind : std::uint64_t { update_unit, update_scale, update_name, update_cpus };

constexpr std::uint16_t cpus_as_list = 0;

template <class T> std::uint64_t extended(T value)
{
	return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

void put_update(RecordBuilder &record, std::uint64_t id, UpdateKind kind)
{
	record.put<std::uint64_t>(kind);
	record.put(id);
}

template <class Range> void put_cpu_list(RecordBuilder &record, const Range &cpus)
{
	record.put(cpus_as_list);
	record.put(static_cast<std::uint16_t>(cpus.size()));
	for (const auto cpu : cpus)
		record.put(static_cast<std::uint16_t>(cpu));
}

/* What the event's attributes ask for at the end of records that are no samples. */
void put_trailer(RecordBuilder &record, const perf_event_attr &attr, const EventId &place,
		 std::uint64_t time)
{
	if (!attr.sample_id_all)
		return;
	if (attr.sample_type & PERF_SAMPLE_TID) {
		record.put<std::uint32_t>(0);
		record.put<std::uint32_t>(0);
	}
	if (attr.sample_type & PERF_SAMPLE_TIME)
		record.put(time);
	if (attr.sample_type & PERF_SAMPLE_ID)
		record.put(place.id);
	if (attr.sample_type & PERF_SAMPLE_STREAM_ID)
		record.put(place.id);
	if (attr.sample_type & PERF_SAMPLE_CPU) {
		record.put(static_cast<std::uint32_t>(place.cpu));
		record.put<std::uint32_t>(0);
	}
	if (attr.sample_type & PERF_SAMPLE_IDENTIFIER)
		record.put(place.id);
}

} /* namespace */

RecordBuilder::RecordBuilder(std::uint32_t type, std::uint16_t misc)
{
	put(perf_event_header{type, misc, 0});
}

Bytes RecordBuilder::finish(std::size_t trailer)
{
	align(8);
	zeros(trailer);
	if (size() > max_record)
		throw std::length_error("a record of " + std::to_string(size()) +
					" bytes; the largest has 65528");
	patch(offsetof(perf_event_header, size), static_cast<std::uint16_t>(size()));
	return take();
}

Bytes comm(pid_t pid, pid_t tid, std::string_view name, std::size_t trailer)
{
	RecordBuilder record(PERF_RECORD_COMM);

	record.put(pid);
	record.put(tid);
	record.put_name(name);
	return record.finish(trailer);
}

Bytes fork(pid_t pid, pid_t tid, pid_t parent, std::size_t trailer)
{
	RecordBuilder record(PERF_RECORD_FORK, fork_of_existing);

	record.put(pid);
	record.put(parent);
	record.put(tid);
	record.put(parent);
	record.put<std::uint64_t>(0); /* time: before all else */
	return record.finish(trailer);
}

Bytes mmap2(pid_t pid, pid_t tid, const Mapping &mapping, std::size_t trailer)
{
	constexpr std::uint32_t executable = 4; /* PROT_EXEC */
	const std::uint16_t data = mapping.prot & executable ? 0 : PERF_RECORD_MISC_MMAP_DATA;
	RecordBuilder record(PERF_RECORD_MMAP2,
			     static_cast<std::uint16_t>(PERF_RECORD_MISC_USER | data));

	record.put(pid);
	record.put(tid);
	record.put(mapping.start);
	record.put(mapping.length);
	record.put(mapping.file_offset);
	record.put(mapping.major);
	record.put(mapping.minor);
	record.put(mapping.inode);
	record.put<std::uint64_t>(0); /* generation of the inode: /proc does not tell */
	record.put(mapping.prot);
	record.put(mapping.flags);
	record.put_name(mapping.name);
	return record.finish(trailer);
}

Bytes kernel_mmap(std::uint64_t start, std::uint64_t length, std::uint64_t file_offset,
		  std::string_view name, std::size_t trailer)
{
	RecordBuilder record(PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);

	record.put<pid_t>(-1);
	record.put<pid_t>(0);
	record.put(start);
	record.put(length);
	record.put(file_offset);
	record.put_name(name);
	return record.finish(trailer);
}

Bytes thread_map(std::span<const pid_t> threads)
{
	RecordBuilder record(record_thread_map);

	record.put<std::uint64_t>(threads.size());
	for (const pid_t thread : threads) {
		record.put(extended(thread));
		record.zeros(comm_field);
	}
	return record.finish();
}

Bytes cpu_map(std::span<const int> cpus)
{
	RecordBuilder record(record_cpu_map);

	put_cpu_list(record, cpus);
	return record.finish();
}

void id_index(std::span<const EventDescription> events, const Sink &sink)
{
	constexpr std::size_t most = (max_record - 16) / sizeof(IdIndexEntry);
	std::vector<IdIndexEntry> entries;

	for (const auto &event : events)
		for (const auto &place : event.ids)
			entries.push_back({place.id, extended(place.ring), extended(place.cpu),
					   extended(place.tid)});

	for (std::size_t from = 0; from < entries.size(); from += most) {
		const auto some =
			std::span(entries).subspan(from, std::min(most, entries.size() - from));
		RecordBuilder record(record_id_index);

		record.put<std::uint64_t>(some.size());
		record.append(std::as_bytes(some));
		sink(record.finish());
	}
}

Bytes event_name(std::uint64_t id, std::string_view name)
{
	RecordBuilder record(record_event_update);

	put_update(record, id, update_name);
	record.put_name(name);
	return record.finish();
}

Bytes event_unit(std::uint64_t id, std::string_view unit)
{
	RecordBuilder record(record_event_update);

	put_update(record, id, update_unit);
	record.put_name(unit);
	return record.finish();
}

Bytes event_scale(std::uint64_t id, double scale)
{
	RecordBuilder record(record_event_update);

	put_update(record, id, update_scale);
	record.put(scale);
	return record.finish();
}

Bytes event_cpus(std::uint64_t id, std::span<const unsigned> cpus)
{
	RecordBuilder record(record_event_update);

	put_update(record, id, update_cpus);
	put_cpu_list(record, cpus);
	return record.finish();
}

Bytes header_attr(const EventDescription &event)
{
	RecordBuilder record(record_header_attr);

	record.append(encode_attr(event.attr, attr_layout(event.attr)));
	for (const auto &place : event.ids)
		record.put(place.id);
	return record.finish();
}

Bytes header_feature(std::uint64_t feature, ByteView content)
{
	RecordBuilder record(record_header_feature);

	record.put(feature);
	record.append(content);
	return record.finish();
}

Bytes tracing_data(ByteView content)
{
	RecordBuilder record(record_tracing_data);
	const std::size_t size = align_up(content.size(), 8);

	if (size > std::numeric_limits<std::uint32_t>::max())
		throw std::length_error("tracing data of more than 4 GiB");
	record.put(static_cast<std::uint32_t>(size));

	Bytes bytes = record.finish();

	bytes.insert(bytes.end(), content.begin(), content.end());
	bytes.resize(align_up(bytes.size(), 8));
	return bytes;
}

Bytes build_id(std::string_view name, ByteView id, bool kernel)
{
	const auto mode = static_cast<std::uint16_t>(
		(kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) | build_id_has_size);
	const ByteView kept = id.first(std::min(id.size(), max_build_id));
	RecordBuilder record(record_build_id, mode);

	record.put<pid_t>(-1); /* of the host, not of a guest */
	record.append(kept);
	record.zeros(max_build_id - kept.size());
	record.put(static_cast<std::uint32_t>(kept.size())); /* one byte, and three reserved */
	record.append(name);
	record.zeros(align_up(name.size() + 1, name_alignment) - name.size());
	return record.finish();
}

Bytes finished_round()
{
	return RecordBuilder(record_finished_round).finish();
}

Bytes finished_init()
{
	return RecordBuilder(record_finished_init).finish();
}

Bytes auxtrace(const AuxtracePlace &place)
{
	RecordBuilder record(record_auxtrace);

	if (place.size % 8)
		throw std::length_error("AUX data whose size is not a multiple of 8");
	record.put(place.size);
	record.put(place.offset);
	record.put(place.reference);
	record.put(place.idx);
	record.put(place.tid);
	record.put(place.cpu);
	return record.finish();
}

Bytes lost_samples(const EventDescription &event, const EventId &place, std::uint64_t count,
		   std::uint64_t time)
{
	RecordBuilder record(PERF_RECORD_LOST_SAMPLES);

	record.put(count);
	put_trailer(record, event.attr, place, time);
	return record.finish();
}

Bytes lost(const EventDescription &event, const EventId &place, std::uint64_t count,
	   std::uint64_t time)
{
	RecordBuilder record(PERF_RECORD_LOST);

	record.put(place.id);
	record.put(count);
	put_trailer(record, event.attr, place, time);
	return record.finish();
}

} /* namespace perfring::data */
