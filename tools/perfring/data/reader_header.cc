// SPDX-License-Identifier: GPL-2.0
/* What files and streams say of themselves: events, features, sizes. */
#include <algorithm>
#include <bit>

#include "attr.hh"
#include "features.hh"
#include "inflater.hh"
#include "reader.hh"

namespace perfring::data {
namespace {

constexpr std::uint64_t magic_1 = 0x454c494646524550; /* "PERFFILE" */
constexpr std::uint64_t largest_attr = 4096;	      /* bytes; the kernel's own limit */

constexpr std::uint64_t event_update_name = 2;

const char *unreadable(std::uint64_t found)
{
	if (found == __builtin_bswap64(magic))
		return "it was written on a machine of the other byte order";
	if (found == magic_1)
		return "it is of version 1 of the format, from before 2009";
	return found == magic ? nullptr : "it is no perf.data file";
}

bool within(const Section &section, ByteView file)
{
	return section.offset <= file.size() && section.size <= file.size() - section.offset;
}

} /* namespace */

Reader::Reader(ByteView file) : file_(file)
{
	const auto start = load<PipeHeader>(file, 0);
	const auto header = load<FileHeader>(file, 0);

	if (!start)
		fail(0, "it is too short for a header");
	else if (const char *const reason = unreadable(start->magic))
		fail(0, reason);
	else if (start->size == sizeof(PipeHeader))
		open_stream();
	else if (!header || header->size != sizeof(FileHeader))
		fail(0, "its header has a size that no version has");
	else
		open_file(*header);
}

Reader::~Reader() = default;

void Reader::open_stream()
{
	stream_ = true;
	data_offset_ = position_ = sizeof(PipeHeader);
	data_end_ = file_.size();
}

void Reader::open_file(const FileHeader &header)
{
	if (!read_events(header))
		return;
	if (header.data.offset > file_.size())
		return fail(0, "its data begin behind its end");

	data_offset_ = position_ = header.data.offset;
	unfinished_ = !header.data.size || !within(header.data, file_) || header.features[0] & 1;
	data_end_ = header.data.size && within(header.data, file_)
			    ? header.data.offset + header.data.size
			    : file_.size();
	read_features(header);
	name_events();
}

bool Reader::read_events(const FileHeader &header)
{
	if (header.attr_size < PERF_ATTR_SIZE_VER0 + sizeof(Section) ||
	    header.attr_size > largest_attr) {
		fail(offsetof(FileHeader, attr_size), "the size of an event is impossible");
		return false;
	}
	if (!within(header.attrs, file_)) {
		fail(offsetof(FileHeader, attrs), "the events are beyond the file's end");
		return false;
	}
	for (std::uint64_t i = 0; i < header.attrs.size / header.attr_size; i++) {
		const std::uint64_t at = header.attrs.offset + i * header.attr_size;
		const ByteView entry = file_.subspan(at, header.attr_size);
		const auto attr = decode_attr(entry.first(entry.size() - sizeof(Section)));
		const auto ids = attr ? load<Section>(entry, attr->size) : std::nullopt;
		ReadEvent event;

		if (!ids) {
			fail(at, "the event's attributes are not well-formed");
			return false;
		}
		event.attr = *attr;
		if (!read_ids(event, *ids)) {
			fail(at, "the event's ids are beyond the file's end");
			return false;
		}
		add_event(std::move(event));
	}
	return true;
}

bool Reader::read_ids(ReadEvent &event, const Section &section)
{
	if (!within(section, file_))
		return false;

	Cursor ids(file_.subspan(section.offset, section.size));

	while (const auto id = ids.take<std::uint64_t>())
		event.ids.push_back(*id);
	return true;
}

void Reader::add_event(ReadEvent event)
{
	for (const std::uint64_t id : event.ids)
		by_id_.emplace(id, events_.size());
	event.name = "event " + std::to_string(events_.size());
	events_.push_back(std::move(event));
}

/* A table entry for each bit, in the order of their numbers. */
void Reader::read_features(const FileHeader &header)
{
	std::uint64_t at = data_end_;

	/* Where it would be, nobody has said, or the file does not reach. */
	if (!header.data.size || !within(header.data, file_))
		return;
	for (unsigned int i = 0; i < max_features; i++) {
		if (!(header.features[i / 64] >> i % 64 & 1))
			continue;

		const auto section = load<Section>(file_, at);

		if (i == 0) { /* no feature: see Writer::checkpoint() */
		} else if (section && within(*section, file_)) {
			features_[i] = file_.subspan(section->offset, section->size);
		} else if (!feature_fault_) {
			feature_fault_ = {at, "feature " + std::to_string(i) +
						      " is beyond the file's end"};
		}
		at += sizeof(Section);
	}
}

void Reader::name_events()
{
	const auto section = feature(Feature::event_desc);

	if (!section)
		return;

	const auto described = parse_event_desc(*section);

	for (std::size_t i = 0; i < std::min(described.size(), events_.size()); i++)
		events_[i].name = described[i].name;
}

std::optional<ByteView> Reader::feature(Feature feature) const
{
	const auto number = static_cast<unsigned int>(feature);
	const auto found = features_.find(number);

	if (found != features_.end())
		return found->second;

	const auto streamed = stream_features_.find(number);

	if (streamed != stream_features_.end())
		return streamed->second;
	return std::nullopt;
}

std::vector<unsigned int> Reader::feature_numbers() const
{
	std::vector<unsigned int> numbers;

	for (const auto &[number, content] : features_)
		numbers.push_back(number);
	for (const auto &[number, content] : stream_features_)
		numbers.push_back(number);
	return numbers;
}

/* What a stream has in place of a header, and what any may add to it. */
void Reader::note(const Record &record)
{
	if (record.header.type == record_header_attr && stream_) {
		const auto attr = decode_attr(record.body());
		ReadEvent event;

		if (!attr)
			return fail(record.offset, "the event's attributes are not well-formed");
		event.attr = *attr;

		Cursor ids(record.body().subspan(attr->size));

		while (const auto id = ids.take<std::uint64_t>())
			event.ids.push_back(*id);
		add_event(std::move(event));
	} else if (record.header.type == record_header_feature) {
		const auto number = record.at<std::uint64_t>(sizeof(perf_event_header));

		if (!number || *number >= max_features || *number == last_feature)
			return;

		const ByteView content = record.body().subspan(sizeof(*number));

		stream_features_[static_cast<unsigned int>(*number)] = {content.begin(),
									content.end()};
		if (*number == static_cast<std::uint64_t>(Feature::event_desc))
			name_events();
	} else if (record.header.type == record_event_update) {
		const auto kind = record.at<std::uint64_t>(8);
		const auto id = record.at<std::uint64_t>(16);

		if (!id || kind != event_update_name)
			return;

		const auto event = by_id_.find(*id);

		if (event != by_id_.end())
			events_[event->second].name = Cursor::text(record.bytes.subspan(24));
	}
}

} /* namespace perfring::data */
