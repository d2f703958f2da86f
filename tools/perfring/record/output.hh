/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One output: who writes where, and how much of it is there.
 *
 * Each writer takes a place first, then writes, then says how it ended, in any order.
 * The file is good up to the first place where writing failed. On a full disk that is
 * filled as far as possible at the end, from what had its place behind it, too: the file
 * has all that the disk takes, in whole records. The rest is lost, and is counted so.
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
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <thread>
#include <vector>

namespace perfring::record {

/* What stands in a piece of the output. */
struct Content {
	SampleCounts samples;
	std::size_t ring = 0; /* whose AUX data */
	std::uint64_t aux_bytes = 0;
	std::uint64_t aux_record = 0; /* size of the AUXTRACE record before the data, or 0 */
};

/* Which samples are in so many whole records. */
using Recount = std::function<SampleCounts(std::span<const std::byte> records)>;

/* May be used by several threads. */
class Output {
    public:
	struct Segment {
		std::uint64_t bytes;
		Content content;
	};

	/*
	 * fd: owned. start: where the first place is. stream: not a regular file.
	 * dirty_limit: 0 for none. recount: to keep parts of what was written together;
	 * without it, such goes as a whole.
	 */
	Output(int fd, std::uint64_t start, bool stream, std::uint64_t dirty_limit, Ledger &books,
	       Recount recount = {});
	~Output();

	Output(const Output &) = delete;
	Output &operator=(const Output &) = delete;

	/* A place for so many bytes, and the duty to call ended() for it. */
	std::uint64_t place(std::uint64_t bytes);
	/* rest: with an error, what is not written; it is copied. nullptr: nothing is. */
	void ended(std::uint64_t offset, std::uint64_t bytes, Content content, int error,
		   const Write *rest = nullptr);

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
	 * With nothing in flight: writes what failed once more, in the room of what stands
	 * behind it if there is no other, and cuts off what cannot follow. Returns where the
	 * good part ends.
	 */
	std::uint64_t settle();

	/*
	 * After settle(): gives up records at the end, at least so many bytes, to make room
	 * on a full disk. Returns the new end; the same one if nothing is left to give.
	 */
	std::uint64_t give_up(std::uint64_t bytes);

	/* File offset and record size of each AUXTRACE in the good part. */
	std::map<std::uint64_t, std::uint64_t> auxtraces() const;

    private:
	struct Failure {
		std::uint64_t bytes; /* of the place */
		Content content;
		std::uint64_t rest_offset;
		std::vector<std::byte> rest; /* empty: not kept */
	};

	void lose(const Content &content);
	void fail(std::uint64_t offset, Failure failure, int error);
	bool write_rest(std::uint64_t offset, Failure &failure);
	bool mend(std::uint64_t offset, Failure &failure);
	bool drop_last(std::uint64_t behind);
	void keep(std::uint64_t offset, std::uint64_t bytes, Content content);
	void shorten(std::uint64_t offset, std::uint64_t most);
	void shorten_aux(std::uint64_t offset, Segment &segment, std::uint64_t most);
	void cut(std::uint64_t end);
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
	std::map<std::uint64_t, Failure> failures;
	std::size_t rest_bytes = 0; /* of all failures */
	Recount recount;
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
