/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One output: who writes where, and how much of it is there.
 *
 * Each writer takes a place first, then writes, then says how it ended, in any order.
 * The file is good up to the first place where writing failed. What stands behind it
 * is lost, and is counted so.
 *
 * For a regular file, a thread starts writing to the disk once more than a quarter of
 * the bound is in memory, and may_write() says no while there is more than the bound:
 * a recorder must not take all the machine's memory for what its disk cannot take.
 */
#ifndef PERFRING_RECORD_OUTPUT_HH
#define PERFRING_RECORD_OUTPUT_HH

#include "ledger.hh"
#include "mutex.hh"
#include "stream_writer.hh"

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <thread>

namespace perfring::record {

/* What stands in a piece of the output. */
struct Content {
	SampleCounts samples;
	std::size_t ring = 0; /* whose AUX data */
	std::uint64_t aux_bytes = 0;
	std::uint64_t aux_record = 0; /* size of the AUXTRACE record before the data, or 0 */
};

/* May be used by several threads. */
class Output {
    public:
	struct Segment {
		std::uint64_t bytes;
		Content content;
	};

	/*
	 * fd: owned. start: where the first place is. stream: not a regular file.
	 * dirty_limit: 0 for none.
	 */
	Output(int fd, std::uint64_t start, bool stream, std::uint64_t dirty_limit, Ledger &books);
	~Output();

	Output(const Output &) = delete;
	Output &operator=(const Output &) = delete;

	/* A place for so many bytes, and the duty to call ended() for it. */
	std::uint64_t place(std::uint64_t bytes);
	void ended(std::uint64_t offset, std::uint64_t bytes, Content content, int error);

	/* Places, writes and ends; waits. For one thread. Returns 0 or an errno. */
	int append(std::span<const std::byte> bytes);

	/* A queue for one thread, if this is a stream; gone before the output. */
	std::unique_ptr<WriteQueue> stream_queue()
	{
		return writer->queue();
	}

	/* Waits until all that had a place by now has ended. Somebody has to poll. */
	void wait_whole();

	bool may_write() const
	{
		return !dirty_limit || dirty.load(std::memory_order_relaxed) <= dirty_limit;
	}

	/* errno of the first write that failed, 0 if none did. */
	int error() const
	{
		return first_error.load(std::memory_order_relaxed);
	}

	/* Once it would be beyond this position, writes to an eventfd; may be called again. */
	void watch_position(std::uint64_t beyond, int eventfd);
	std::uint64_t position() const;
	/* All before this position has ended, and nothing there has failed. */
	bool is_good_until(std::uint64_t position) const;
	/* Bytes that are in the output. */
	std::uint64_t written() const
	{
		return good_bytes.load(std::memory_order_relaxed);
	}

	int fd() const
	{
		return file;
	}
	bool is_stream() const
	{
		return stream;
	}

	/*
	 * With nothing in flight: cuts off what stands behind the first failure. Returns
	 * where the good part ends.
	 */
	std::uint64_t settle();

	/*
	 * After settle(): gives up whole pieces at the end, at least so many bytes, to make
	 * room on a full disk. Returns the new end; the same one if nothing is left to give.
	 */
	std::uint64_t give_up(std::uint64_t bytes);

	/* File offset and record size of each AUXTRACE in the good part. */
	std::map<std::uint64_t, std::uint64_t> auxtraces() const;

    private:
	void lose(const Content &content);
	void flush_loop();
	void tell_watcher();
	std::uint64_t whole_until() const; /* everything before has ended */

	int file;
	bool stream;
	std::uint64_t dirty_limit;
	Ledger &ledger;

	mutable Mutex lock;
	std::uint64_t next;
	std::uint64_t watched_position = UINT64_MAX;
	int watcher = -1;
	std::set<std::uint64_t> open_places;
	std::map<std::uint64_t, Segment> segments;
	std::map<std::uint64_t, std::uint64_t> aux_records;
	std::uint64_t failed_at = UINT64_MAX;
	std::atomic<int> first_error{0};
	std::atomic<std::uint64_t> good_bytes{0};

	/* Bytes in the page cache that the disk may not have yet. */
	std::atomic<std::uint64_t> dirty{0};
	std::uint64_t flushed;
	Condition more;
	Condition less;
	std::unique_ptr<StreamWriter> writer;
	std::unique_ptr<WriteQueue> own_queue;
	bool stopping = false;
	std::thread flusher;
};

/* Writes all of it, whatever it takes. Returns 0 or an errno. */
int write_fully(int fd, std::span<const std::byte> bytes, off_t offset);

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_OUTPUT_HH */
