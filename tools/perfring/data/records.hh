/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records that a recorder makes itself: those of its own numbers, and such of the
 * kernel's as tell of what was there before the recording began. What the Writer's
 * header declares too (finished_round(), auxtrace(), lost_samples() ...) is there.
 *
 * @trailer: bytes of zeros in place of a sample_id, trailer_size() of the first event.
 * All sizes come out as multiples of 8. Throws std::length_error if a record would
 * not fit into its 16-bit size.
 */
#ifndef PERFRING_DATA_RECORDS_HH
#define PERFRING_DATA_RECORDS_HH

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "bytes.hh"
#include "format.hh"
#include "session.hh"

namespace perfring::data {

/* Takes one whole record. */
using Sink = std::function<void(ByteView record)>;

/* Begins a record and gives it its size at the end. */
class RecordBuilder : public Builder {
    public:
	explicit RecordBuilder(std::uint32_t type, std::uint16_t misc = 0);
	/* Pads the record to a multiple of 8, after @trailer bytes of zeros. */
	Bytes finish(std::size_t trailer = 0);
};

/* An executable mapping, or any other, of a process. */
struct Mapping {
	std::uint64_t start, length, file_offset;
	std::uint32_t major, minor;
	std::uint64_t inode;
	std::uint32_t prot, flags; /* PROT_*, MAP_* */
	std::string_view name;	   /* path, "[vdso]", "//anon" ... */
};

Bytes comm(pid_t pid, pid_t tid, std::string_view name, std::size_t trailer);
/* A process or thread that exists already. */
Bytes fork(pid_t pid, pid_t tid, pid_t parent, std::size_t trailer);
Bytes mmap2(pid_t pid, pid_t tid, const Mapping &mapping, std::size_t trailer);
/* Of the kernel or a module; @file_offset: for the kernel, where its first symbol is. */
Bytes kernel_mmap(std::uint64_t start, std::uint64_t length, std::uint64_t file_offset,
		  std::string_view name, std::size_t trailer);

/* -1: all threads there are. */
Bytes thread_map(std::span<const pid_t> threads);
/* -1: threads on whichever CPU. */
Bytes cpu_map(std::span<const int> cpus);
/* As many records as it takes. */
void id_index(std::span<const EventDescription> events, const Sink &sink);

Bytes event_name(std::uint64_t id, std::string_view name);
Bytes event_unit(std::uint64_t id, std::string_view unit);
Bytes event_scale(std::uint64_t id, double scale);
Bytes event_cpus(std::uint64_t id, std::span<const unsigned> cpus);

Bytes header_attr(const EventDescription &event);
Bytes header_feature(std::uint64_t feature, ByteView content);
/* The content follows the record, padded with zeros to a multiple of 8. */
Bytes tracing_data(ByteView content);

/* @name at @id as BUILD_ID sections and streams have it; @kernel: not user space. */
Bytes build_id(std::string_view name, ByteView id, bool kernel);

/* As the kernel writes it: @count records of the ring behind @place are missing. */
Bytes lost(const EventDescription &event, const EventId &place, std::uint64_t count,
	   std::uint64_t time);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_RECORDS_HH */
