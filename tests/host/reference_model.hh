/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a data ring does, without a ring: records in a queue, counts instead of
 * positions, a stack of writers. Slow and plain, to be compared with the core.
 */
#ifndef TESTS_HOST_REFERENCE_MODEL_HH
#define TESTS_HOST_REFERENCE_MODEL_HH

#include <algorithm>
#include <deque>
#include <vector>

#include "ring_fixture.hh"

namespace ring_test {

class ReferenceModel {
    public:
	struct Record {
		Words words; /* as far as written; a LOST record first */
		unsigned long size;
	};

	explicit ReferenceModel(const Geometry &geometry)
		: capacity(geometry.size()),
		  overwrite(geometry.overwrite),
		  watermark(geometry.watermark ? std::min(geometry.watermark, capacity)
					       : capacity / 2),
		  to_next_mark(static_cast<long>(watermark))
	{
	}

	/* What reserve has to return. On 0 or more, a writer is inside. */
	long begin(unsigned long size, bool tells_lost)
	{
		const unsigned long lost_size = tells_lost && lost ? lost_record_size : 0;
		const unsigned long wanted = size + lost_size;

		if (capacity == 0)
			return PERF_RING_NO_DATA;
		if (paused || (!overwrite && unread + wanted >= capacity)) {
			lost++;
			return PERF_RING_FULL;
		}

		const unsigned long told = lost_size ? lost : 0;

		if (lost_size)
			lost = 0;
		writers.push_back({wakeups, removed + records.size()});
		records.push_back({{}, wanted});
		unread += wanted;
		reserved += wanted;
		pass(wanted);
		return static_cast<long>(told);
	}

	/* The innermost writer adds to its record. */
	void write(const Words &words)
	{
		Words &record = records[writers.back().record - removed].words;

		record.insert(record.end(), words.begin(), words.end());
	}

	void count_sample(unsigned int every)
	{
		if (++samples < every)
			return;
		samples -= every;
		to_next_mark++;
		wakeups++;
	}

	/* The innermost writer is done. Whether the reader has to be woken. */
	bool end()
	{
		const Writer done = writers.back();

		writers.pop_back();
		if (!writers.empty())
			return false;
		published = records.size();
		readable = reserved;
		return wakeups != done.wakeups;
	}

	/* The reader takes the oldest published record. */
	Record read()
	{
		Record record = records.front();

		records.pop_front();
		removed++;
		published--;
		unread -= record.size;
		return record;
	}

	bool paused = false;
	unsigned long lost = 0;
	unsigned long samples = 0;
	unsigned long reserved = 0; /* bytes, ever */
	unsigned long readable = 0; /* bytes, ever */
	std::deque<Record> records; /* in order of reservation */
	std::size_t published = 0;  /* of them */
	unsigned long unread = 0;   /* bytes in them */

	std::size_t depth() const
	{
		return writers.size();
	}

    private:
	struct Writer {
		unsigned long wakeups; /* when it began */
		std::size_t record;    /* counted from the first ever */
	};

	/* The mark moves on by one watermark when a record ends beyond it. */
	void pass(unsigned long len)
	{
		to_next_mark -= static_cast<long>(len);
		if (to_next_mark >= 0)
			return;
		to_next_mark += static_cast<long>(watermark);
		wakeups++;
	}

	const unsigned long capacity;
	const bool overwrite;
	const unsigned long watermark;
	long to_next_mark;
	unsigned long wakeups = 0;
	std::size_t removed = 0; /* records that were read or overwritten */
	std::vector<Writer> writers;
};

} // namespace ring_test

#endif
