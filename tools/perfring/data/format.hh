/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of perf.data files, version 2, little-endian and big-endian alike in
 * the byte order of the machine that wrote them. What the kernel defines
 * (attributes, records up to number 63) is in linux/perf_event.h.
 *
 * A file:
 *
 *	FileHeader │ ids of each event │ FileAttr of each event │ data │ Section of
 *	each feature, by number │ what those sections hold
 *
 * A stream ("pipe format"): PipeHeader, then records only; attributes and features
 * are records there.
 */
#ifndef PERFRING_DATA_FORMAT_HH
#define PERFRING_DATA_FORMAT_HH

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>

namespace perfring::data {

/* "PERFILE2" as a number on the machine that wrote it. */
inline constexpr std::uint64_t magic = 0x32454c4946524550;

struct Section {
	std::uint64_t offset; /* bytes from the file's start */
	std::uint64_t size;   /* bytes */
};

struct FileHeader {
	std::uint64_t magic;
	std::uint64_t size;	 /* of this structure */
	std::uint64_t attr_size; /* distance of one FileAttr to the next */
	Section attrs;
	Section data;		   /* the table of features follows at its end */
	Section event_types;	   /* no longer used: zero */
	std::uint64_t features[4]; /* one bit for each Feature */
};
static_assert(sizeof(FileHeader) == 104);

struct PipeHeader {
	std::uint64_t magic;
	std::uint64_t size; /* of this structure: what tells the two formats apart */
};
static_assert(sizeof(PipeHeader) == 16);

/* Numbers of the feature sections. */
enum class Feature : unsigned int {
	tracing_data = 1,
	build_id,
	hostname,
	osrelease,
	version,
	arch,
	nrcpus,
	cpudesc,
	cpuid,
	total_mem,
	cmdline,
	event_desc,
	cpu_topology,
	numa_topology,
	branch_stack,
	pmu_mappings,
	group_desc,
	auxtrace,
	stat,
	cache,
	sample_time,
	mem_topology,
	clockid,
	dir_format,
	bpf_prog_info,
	bpf_btf,
	compressed,
	cpu_pmu_caps,
	clock_data,
	hybrid_topology,
	pmu_caps,
};
inline constexpr unsigned int max_features = 256;
/*
 * Ends the HEADER_FEATURE records of a stream. perf's reports of 5.19 to 6.15 take
 * this number only; others read it as a feature without content.
 */
inline constexpr std::uint64_t last_feature = 32;

/* Records that a recorder adds to those of the kernel. */
enum UserRecord : std::uint32_t {
	record_header_attr = 64,
	record_tracing_data = 66, /* followed by its data */
	record_build_id = 67,
	record_finished_round = 68,
	record_id_index = 69,
	record_auxtrace_info = 70,
	record_auxtrace = 71, /* followed by its data */
	record_auxtrace_error = 72,
	record_thread_map = 73,
	record_cpu_map = 74,
	record_event_update = 78,
	record_time_conv = 79,
	record_header_feature = 80,
	record_compressed = 81,
	record_finished_init = 82,
	record_compressed2 = 83, /* with a size of its own, then padding */
	first_user_record = 64,
	end_of_user_records = 84,
};

/* Types of AUXTRACE_INFO. */
enum class Trace : std::uint32_t {
	none,
	intel_pt,
	intel_bts,
	cs_etm,
};

/* A record's size is 16 bits, and records follow each other at multiples of 8. */
inline constexpr std::size_t max_record = 65528;
inline constexpr std::size_t header_size = sizeof(perf_event_header);
inline constexpr std::size_t max_build_id = 20;

struct RecordAuxtrace {
	std::uint32_t type;
	std::uint16_t misc, length;
	std::uint64_t size;	 /* bytes that follow this record, a multiple of 8 */
	std::uint64_t offset;	 /* AUX position of the first of them */
	std::uint64_t reference; /* grows with each piece of one buffer */
	std::uint32_t idx;	 /* which buffer, as in ID_INDEX */
	std::uint32_t tid;	 /* -1: of a CPU */
	std::uint32_t cpu;	 /* -1: of a thread on any CPU */
	std::uint32_t reserved;
};
static_assert(sizeof(RecordAuxtrace) == 48);

struct IdIndexEntry {
	std::uint64_t id;
	std::uint64_t idx; /* which buffer */
	std::uint64_t cpu; /* -1: any */
	std::uint64_t tid; /* -1: any */
};

struct AuxIndexEntry {
	std::uint64_t offset; /* of an AUXTRACE record in the file */
	std::uint64_t size;   /* of the record without its data */
};

} /* namespace perfring::data */

#endif /* PERFRING_DATA_FORMAT_HH */
