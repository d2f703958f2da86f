/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing a perf.data file: what stands in it, not how it gets to the disk.
 *
 * A file is
 *
 *	file_head()          header, attributes, ids, features known at the start
 *	the data section     start_records(), then what the rings brought, then
 *	                     FINISHED_ROUND, AUXTRACE, LOST_SAMPLES ... as they come
 *	file_tail()          the table of features, and those known at the end
 *
 * and the header is written once more at the end, when sizes are known
 * (finished_header()). A stream (pipe) is stream_head() followed by the same data.
 *
 * So that a file whose writer is killed can be read up to a moment before, the data
 * section has checkpoint()s in it, and the header is replaced by checkpoint_header()
 * whenever all bytes up to one of them, and its own, are written.
 *
 * Nothing here does I/O on the output and nothing is shared: who writes decides when
 * and where the bytes go. All functions may throw std::bad_alloc; what cannot be read
 * from /proc or /sys is left out of the file, as perf does.
 */
#ifndef PERFRING_DATA_WRITER_HH
#define PERFRING_DATA_WRITER_HH

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bytes.hh"
#include "fill_log.hh"
#include "records.hh"
#include "session.hh"

namespace perfring::data {

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
	std::uint64_t compressed_bytes = 0;	     /* what uncompressed_bytes have become */
	const Observations *seen = nullptr;
	const FillLog *fill = nullptr; /* goes to the very end of the file */
};

class Writer {
    public:
	explicit Writer(Session session);
	~Writer();

	/* Bytes at offset 0; the data section starts right behind, at data_offset(). */
	Bytes file_head() const;
	std::uint64_t data_offset() const;

	/*
	 * In place of file_head() in a stream: HEADER, ATTR, FEATURE, TRACING_DATA ...
	 * Throws std::length_error if an event has more ids than a record can name.
	 */
	Bytes stream_head() const;

	/*
	 * Records that stand before all others: TIME_CONV, ID_INDEX, AUXTRACE_INFO,
	 * EVENT_UPDATE, THREAD_MAP, CPU_MAP, and state() after them.
	 */
	void start_records(const Sink &sink) const;

	/*
	 * The world as it is now: kernel and module mappings, BPF and ksymbols if asked
	 * for, COMM, FORK, MMAP2 of the targets or of all tasks. Again at the start of
	 * each file that an overwrite ring is dumped to. The Writer remembers the mappings
	 * for build ids.
	 */
	void state(const Sink &sink) const;

	/*
	 * A record of the data section, always the same one, that readers pass over, and
	 * a header for data that end where it begins: @data_bytes behind data_offset().
	 * Readers who are told so find the table of features in place of the record.
	 *
	 * After a full disk: where the last record began that may go, the checkpoint fits
	 * over what is there, and the header as well. Neither takes new space.
	 */
	Bytes checkpoint() const;
	Bytes checkpoint_header(std::uint64_t data_bytes) const;

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

/* The Session's compressed_unit need not be more. */
inline constexpr std::size_t compressed_unit_limit = 256 << 10;

/* The records that one COMPRESSED record of a Compressor stands for; none if it is damaged. */
Bytes decompressed(std::span<const std::byte> record);

/*
 * zstd in perf's way. Not to be shared between threads; the blocks of several
 * compressors may be mixed in a file in any order.
 */
class Compressor {
    public:
	explicit Compressor(int level);
	~Compressor();
	Compressor(Compressor &&) noexcept;

	/*
	 * Appends records to out that stand for these whole records, COMPRESSED ones and,
	 * for what does not get smaller, themselves. AUXTRACE and its data are not to be
	 * given. A COMPRESSED record stands for at most compressed_unit_limit bytes.
	 */
	void compress(std::span<const std::byte> records, Bytes &out);

    private:
	struct State;
	std::unique_ptr<State> state;
};

} /* namespace perfring::data */

#endif /* PERFRING_DATA_WRITER_HH */
