/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading perf.data, files and streams, ours or anyone's. Nothing that stands in there is
 * trusted: a size or place that cannot be is a Fault, and reading ends before it.
 */
#ifndef PERFRING_DATA_READER_HH
#define PERFRING_DATA_READER_HH

#include <linux/perf_event.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bytes.hh"
#include "format.hh"
#include "sample.hh"

namespace perfring::data {

/* Why reading ended before the end. */
struct Fault {
	std::uint64_t offset; /* in the file */
	std::string what;     /* a sentence's end: "the record's size is 0" */
};

/* Views are good until the next record is read. */
struct Record {
	std::uint64_t offset = 0; /* in the file; of the COMPRESSED record if it was in one */
	bool was_compressed = false;
	perf_event_header header{};
	ByteView bytes;	  /* all of it, header included */
	ByteView payload; /* what follows an AUXTRACE or TRACING_DATA record */

	ByteView body() const
	{
		return bytes.subspan(sizeof(perf_event_header));
	}
	/* The value at @at bytes from the start of the record. */
	template <class T> std::optional<T> at(std::size_t at) const
	{
		return load<T>(bytes, at);
	}
	/* Only these have a sample_id, if any. */
	bool from_kernel() const
	{
		return header.type < first_user_record;
	}
};

struct ReadEvent {
	perf_event_attr attr{};
	std::string name; /* "event 2" if the file does not tell */
	std::vector<std::uint64_t> ids;
};

class Reader {
    public:
	/* @file, the whole of it, must outlive the Reader. */
	explicit Reader(ByteView file);
	~Reader();
	Reader(const Reader &) = delete;
	Reader &operator=(const Reader &) = delete;

	/*
	 * The next record, or nothing: at the end, or with a fault(). COMPRESSED ones are
	 * replaced by what is in them. What a stream says of events and features is taken
	 * note of, and returned as well.
	 */
	std::optional<Record> next();

	const std::optional<Fault> &fault() const
	{
		return fault_;
	}
	/* A feature section that cannot be had. The records can. */
	const std::optional<Fault> &feature_fault() const
	{
		return feature_fault_;
	}
	bool is_stream() const
	{
		return stream_;
	}
	/*
	 * The writer did not get to the end: the header names no data, more than there
	 * are, or those up to a checkpoint. Then there may be more than next() brings.
	 */
	bool unfinished() const
	{
		return unfinished_;
	}
	std::uint64_t data_offset() const
	{
		return data_offset_;
	}
	/* Behind the data. */
	std::uint64_t data_end() const
	{
		return data_end_;
	}

	/* In the order of the file; of a stream, those so far. */
	const std::vector<ReadEvent> &events() const
	{
		return events_;
	}
	/* Content of a feature section. */
	std::optional<ByteView> feature(Feature feature) const;
	/* Numbers of all there are. */
	std::vector<unsigned int> feature_numbers() const;

	/* Which event a record of the kernel is of, as an index; the first in doubt.
	 * Nothing: there are no events, or it names one that is not there. */
	std::optional<std::size_t> event_of(const Record &record) const;
	std::optional<std::size_t> event_by_id(std::uint64_t id) const;
	/* The fields of a sample, or of another record's sample_id. Nothing: it is none of
	 * the kernel's, or they are not all there. */
	std::optional<Sample> sample_of(const Record &record) const;

    private:
	struct Inflater;

	void fail(std::uint64_t offset, std::string what);
	void open_stream();
	void open_file(const FileHeader &header);
	bool read_events(const FileHeader &header);
	bool read_ids(ReadEvent &event, const Section &section);
	void read_features(const FileHeader &header);
	void name_events();
	void add_event(ReadEvent event);
	std::optional<Record> next_plain();
	std::optional<Record> next_inflated();
	bool attach_payload(Record &record);
	bool inflate(const Record &record);
	void note(const Record &record);

	ByteView file_;
	bool stream_ = false;
	bool unfinished_ = false;
	std::uint64_t data_offset_ = 0, data_end_ = 0, position_ = 0;
	std::optional<Fault> fault_, feature_fault_;
	std::vector<ReadEvent> events_;
	std::unordered_map<std::uint64_t, std::size_t> by_id_;
	std::map<unsigned int, ByteView> features_;
	std::map<unsigned int, Bytes> stream_features_;
	std::unique_ptr<Inflater> inflater_;
};

} /* namespace perfring::data */

#endif /* PERFRING_DATA_READER_HH */
