/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing a perf.data file: what stands in it, not how it gets to the disk.
 *
 * A file is
 *
 *	file_head()          header, attributes, ids
 *	the data section     start_records(), then what the rings brought, then
 *	                     FINISHED_ROUND, AUXTRACE, LOST_SAMPLES ... as they come
 *	file_tail()          feature sections
 *
 * and the header is written once more at the end, when sizes are known
 * (finished_header()). A stream (pipe) is stream_head() followed by the same data.
 *
 * Nothing here does I/O on the output and nothing is shared: who writes decides when
 * and where the bytes go. All functions may throw std::bad_alloc; what cannot be read
 * from /proc or /sys is left out of the file, as perf does.
 */
#ifndef PERFRING_DATA_WRITER_HH
#define PERFRING_DATA_WRITER_HH

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace perfring::data {

using Bytes = std::vector<std::byte>;

/* Where one file descriptor of an event counts, and the id of its records. */
struct EventId {
	std::uint64_t id;
	int cpu;   /* -1: any */
	pid_t tid; /* -1: any */
	int ring;  /* index of the ring that it writes to: idx of ID_INDEX and AUXTRACE */
};

/* One event as it was opened. */
struct EventDescription {
	perf_event_attr attr{};	       /* as accepted by the kernel, after all fallbacks */
	std::string name;	       /* as perf names it: "page-faults:u", "sched:sched_switch" */
	std::vector<EventId> ids;      /* in the order of rings */
	std::size_t leader = 0;	       /* index of its group's leader; its own if it has none */
	std::string group_name;	       /* of a leader: what stood before {}, may be empty */
	std::string tracepoint_system; /* "sched", empty for anything but tracepoints */
	std::string tracepoint_name;   /* "sched_switch" */
	std::string pmu;	       /* name in sysfs, "software", "intel_pt" */
	std::vector<unsigned> pmu_cpus; /* of the PMU's cpumask, empty if none */
};

/* The AUX area's side, if one of the events fills one. */
struct AuxDescription {
	std::size_t event = 0;	     /* index of the event */
	std::uint64_t aux_bytes = 0; /* size of one AUX area */
	bool snapshot = false;
	bool per_cpu = false; /* rings are one a CPU, not one a thread */
};

/* What is recorded. Fixed from the moment when the events are open. */
struct Session {
	std::vector<EventDescription> events;
	std::optional<AuxDescription> aux;
	std::vector<std::string> command_line; /* argv of perfring */
	bool sample_id_all = true;
	std::optional<int> clockid; /* of --clockid */
	std::vector<int> cpus;	    /* with rings; empty: per thread */
	std::vector<pid_t> threads; /* the targets; empty: system wide */
	bool system_wide = false;
	int compression_level = 0;	   /* 0: none */
	std::uint64_t compressed_unit = 0; /* most bytes that one compress() is given */
};

/*
 * What was seen while the data went by. One per thread, merged at the end; observe()
 * gets each record that is not a sample, whole and in order, from one thread.
 * Remembers executable mappings for build ids.
 */
class Observations {
    public:
	Observations();
	~Observations();
	Observations(Observations &&) noexcept;
	Observations &operator=(Observations &&) noexcept;

	void observe(std::span<const std::byte> record);
	void sample_time(std::uint64_t first, std::uint64_t last);
	void merge(const Observations &other);

    private:
	friend class Writer;
	struct State;
	std::unique_ptr<State> state;
};

/* What is known at the end only. */
struct Outcome {
	std::uint64_t data_bytes = 0; /* size of the data section */
	std::uint64_t uncompressed_bytes = 0;
	std::vector<std::uint64_t> auxtrace_offsets; /* file offsets of AUXTRACE records */
	std::vector<std::uint64_t> auxtrace_sizes;   /* sizes of these records, less data */
	const Observations *seen = nullptr;
};

/* Takes one whole record of the data section. */
using Sink = std::function<void(std::span<const std::byte> record)>;

class Writer {
    public:
	explicit Writer(Session session);
	~Writer();

	/* Bytes at offset 0; the data section starts right behind, at data_offset(). */
	Bytes file_head() const;
	std::uint64_t data_offset() const;

	/* In place of file_head() in a stream: HEADER, ATTR, FEATURE, TRACING_DATA ... */
	Bytes stream_head() const;

	/*
	 * Records that stand before all others: ID_INDEX, TIME_CONV, AUXTRACE_INFO,
	 * THREAD_MAP, CPU_MAP, EVENT_UPDATE, and state() after them.
	 */
	void start_records(const Sink &sink) const;

	/*
	 * The world as it is now: kernel and module mappings, BPF and ksymbols if asked
	 * for, COMM, FORK, MMAP2 of the targets or of all tasks. Again at the start of
	 * each file that an overwrite ring is dumped to.
	 */
	void state(const Sink &sink) const;

	/* The feature sections, for after the data section, and the final header. */
	Bytes file_tail(const Outcome &outcome) const;
	Bytes finished_header(const Outcome &outcome) const;

	const Session &session() const;

    private:
	struct State;
	std::unique_ptr<State> own;
};

/* Records of perf's own numbers (above PERF_RECORD_MAX) that the recorder inserts. */
Bytes finished_round();
Bytes finished_init();

/* Announces size bytes of an AUX area, which follow it in the data section. */
struct AuxtracePlace {
	std::uint64_t size;	 /* a multiple of 8: pad with zeros */
	std::uint64_t offset;	 /* in the AUX stream */
	std::uint64_t reference; /* a time, from rdtsc or the clock: only compared */
	std::uint32_t idx;	 /* of the ring */
	pid_t tid;		 /* -1 for per-CPU rings */
	int cpu;		 /* -1 for per-thread rings */
};
Bytes auxtrace(const AuxtracePlace &place);

/*
 * LOST_SAMPLES for one file descriptor of an event, with the trailer that its
 * attributes ask for: TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER. count > 0.
 */
Bytes lost_samples(const EventDescription &event, const EventId &place, std::uint64_t count,
		   std::uint64_t time);

/*
 * zstd in perf's way. Not to be shared between threads; the blocks of several
 * compressors may be mixed in a file in any order.
 */
class Compressor {
    public:
	explicit Compressor(int level);
	~Compressor();
	Compressor(Compressor &&) noexcept;

	/* Appends COMPRESSED records to out that stand for these whole records. */
	void compress(std::span<const std::byte> records, Bytes &out);

    private:
	struct State;
	std::unique_ptr<State> state;
};

} /* namespace perfring::data */

#endif /* PERFRING_DATA_WRITER_HH */
