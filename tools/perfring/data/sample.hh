/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is in a sample, and in the trailer (sample_id) of other records, by the
 * attributes of the event that it is of. Views point into the record's bytes.
 */
#ifndef PERFRING_DATA_SAMPLE_HH
#define PERFRING_DATA_SAMPLE_HH

#include <cstdint>
#include <linux/perf_event.h>
#include <optional>
#include <span>

#include "bytes.hh"

namespace perfring::data {

/* Fields that the event does not have are absent. */
struct Sample {
	std::optional<std::uint64_t> id; /* of IDENTIFIER, or of ID */
	std::optional<std::uint64_t> ip;
	std::optional<std::uint32_t> pid, tid;
	std::optional<std::uint64_t> time; /* ns, by the event's clock */
	std::optional<std::uint64_t> addr;
	std::optional<std::uint64_t> stream_id;
	std::optional<std::uint32_t> cpu;
	std::optional<std::uint64_t> period;
	ByteView read;	    /* counters, in the event's read_format */
	ByteView callchain; /* u64 each */
	ByteView raw;
	ByteView branches; /* perf_branch_entry each */
	ByteView user_regs;
	ByteView user_stack; /* as much as was dumped */
	ByteView intr_regs;
	std::optional<std::uint64_t> weight, data_src, transaction, phys_addr, cgroup;
	std::optional<std::uint64_t> data_page_size, code_page_size;
	ByteView aux;
};

/*
 * The content of a PERF_RECORD_SAMPLE: @body is the record without its header.
 * Nothing if a field, or what a field says of its own size, is beyond the end.
 */
std::optional<Sample> parse_sample(const perf_event_attr &attr, ByteView body);

/*
 * The trailer of a record of the kernel other than a sample: @body as above. Without
 * sample_id_all there is none, which is an empty Sample.
 */
std::optional<Sample> parse_trailer(const perf_event_attr &attr, ByteView body);

/* Size of that trailer: bytes, at most 48. */
std::size_t trailer_size(const perf_event_attr &attr);

/*
 * The id that a sample or a trailer carries, without knowing which event it is of:
 * where all events agree on its place, as readers require. Nothing: the record is too
 * short, or this event's have no id.
 */
std::optional<std::uint64_t> sample_event_id(const perf_event_attr &attr, ByteView body);
std::optional<std::uint64_t> trailer_event_id(const perf_event_attr &attr, ByteView body);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_SAMPLE_HH */
