// SPDX-License-Identifier: GPL-2.0
/* Where records begin and end. What a file says of itself: reader_header.cc. */
#include "reader.hh"

#include "inflater.hh"

namespace perfring::data {
namespace {

/* Whether one record is all at the front of @bytes; a reason if it never can be. */
const char *impossible(const perf_event_header &header)
{
	if (header.size < header_size)
		return header.size ? "the record's size is less than its header's"
				   : "the record's size is 0";
	return nullptr;
}

} /* namespace */

void Reader::fail(std::uint64_t offset, std::string what)
{
	if (!fault_)
		fault_ = {offset, std::move(what)};
}

std::optional<Record> Reader::next()
{
	while (!fault_) {
		std::optional<Record> record = next_inflated();

		if (!record && !fault_) {
			record = next_plain();
			if (!record)
				break;
			if (record->header.type == record_compressed ||
			    record->header.type == record_compressed2) {
				if (!inflate(*record))
					break;
				continue;
			}
		}
		if (record)
			note(*record);
		return record;
	}
	return std::nullopt;
}

/* A record that is in the file as it is. */
std::optional<Record> Reader::next_plain()
{
	const std::uint64_t left = data_end_ - position_;
	const ByteView rest = file_.subspan(position_, left);
	Record record;

	if (!left) {
		if (inflater_ && !inflater_->rest().empty())
			fail(inflater_->offset, "compressed data end within a record");
		return std::nullopt;
	}
	record.offset = position_;

	const auto header = load<perf_event_header>(rest, 0);

	if (!header) {
		fail(position_, "the data end within a record's header");
		return std::nullopt;
	}
	if (const char *const reason = impossible(*header)) {
		fail(position_, reason);
		return std::nullopt;
	}
	if (header->size > left) {
		fail(position_, "the data end within a record");
		return std::nullopt;
	}
	record.header = *header;
	record.bytes = rest.first(header->size);
	position_ += header->size;
	if (!attach_payload(record))
		return std::nullopt;
	return record;
}

/* One of those that the last COMPRESSED record brought. */
std::optional<Record> Reader::next_inflated()
{
	if (!inflater_)
		return std::nullopt;

	const ByteView rest = inflater_->rest();
	const auto header = load<perf_event_header>(rest, 0);
	Record record;

	if (!header)
		return std::nullopt;
	if (const char *const reason = impossible(*header)) {
		fail(inflater_->offset, std::string("within compressed data, ") + reason);
		return std::nullopt;
	}
	if (header->size > rest.size())
		return std::nullopt;
	record.offset = inflater_->offset;
	record.was_compressed = true;
	record.header = *header;
	record.bytes = rest.first(header->size);
	inflater_->position += header->size;
	return record;
}

/* The size of what follows stands in the record. */
bool Reader::attach_payload(Record &record)
{
	std::optional<std::uint64_t> size = 0;

	if (record.header.type == record_auxtrace)
		size = record.bytes.size() < sizeof(RecordAuxtrace)
			       ? std::nullopt
			       : record.at<std::uint64_t>(offsetof(RecordAuxtrace, size));
	else if (record.header.type == record_tracing_data)
		size = record.at<std::uint32_t>(header_size);

	if (!size)
		fail(record.offset, "the record is too short for what it has to say");
	else if (*size > data_end_ - position_)
		fail(record.offset, "the data end within what belongs to a record");
	if (fault_)
		return false;
	record.payload = file_.subspan(position_, *size);
	position_ += *size;
	return true;
}

bool Reader::inflate(const Record &record)
{
	ByteView frame = record.body();

	if (record.header.type == record_compressed2) {
		const auto size = load<std::uint64_t>(frame, 0);

		if (!size || *size > frame.size() - sizeof(*size)) {
			fail(record.offset, "the compressed data are longer than their record");
			return false;
		}
		frame = frame.subspan(sizeof(*size), *size);
	}
	if (!inflater_)
		inflater_ = std::make_unique<Inflater>();
	if (const char *const reason = inflater_->add(frame, record.offset)) {
		fail(record.offset, std::string("the record cannot be decompressed: ") + reason);
		return false;
	}
	return true;
}

std::optional<std::size_t> Reader::event_of(const Record &record) const
{
	if (events_.empty() || !record.from_kernel())
		return std::nullopt;

	const perf_event_attr &first = events_.front().attr;
	const bool sample = record.header.type == PERF_RECORD_SAMPLE;

	if (!sample && !first.sample_id_all)
		return 0;

	const auto id = sample ? sample_event_id(first, record.body())
			       : trailer_event_id(first, record.body());

	/* Records that a recorder has made say 0. */
	if (!id || (!sample && !*id))
		return 0;

	const auto found = event_by_id(*id);

	return found || events_.size() > 1 ? found : 0;
}

std::optional<std::size_t> Reader::event_by_id(std::uint64_t id) const
{
	const auto found = by_id_.find(id);

	if (found == by_id_.end())
		return std::nullopt;
	return found->second;
}

std::optional<Sample> Reader::sample_of(const Record &record) const
{
	const auto event = event_of(record);

	if (!event)
		return std::nullopt;

	const perf_event_attr &attr = events_[*event].attr;

	return record.header.type == PERF_RECORD_SAMPLE ? parse_sample(attr, record.body())
							: parse_trailer(attr, record.body());
}

} /* namespace perfring::data */
