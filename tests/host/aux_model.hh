/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an AUX ring does, without one: bytes in queues, a count-down to the wake-up.
 * Slow and plain, to be compared with the core.
 */
#ifndef TESTS_HOST_AUX_MODEL_HH
#define TESTS_HOST_AUX_MODEL_HH

#include <algorithm>
#include <deque>

#include "aux_fixture.hh"

namespace ring_test {

class AuxModel {
    public:
	struct Area {
		unsigned long size;
		unsigned long watermark;
		bool overwrite;
	};

	explicit AuxModel(const Area &area_, unsigned long start) : position(start)
	{
		map(area_);
	}

	void map(const Area &area_)
	{
		area = area_;
		cut = false;
		dropped += data_in(untold);
		untold.clear();
		untold_data = false;
		if (!area.overwrite)
			aim();
	}

	unsigned long room() const
	{
		unsigned long room = area.size;

		if (hostile || unread.size() >= room)
			return 0;
		for (std::size_t i = 0; i < unread.size(); i++)
			room--;
		return room - 1;
	}

	/* Where the reader is woken. */
	unsigned long mark() const
	{
		return position + to_mark;
	}

	/* Bytes that the reader may take: not what is there, if that was skipped. */
	void write(unsigned long bytes)
	{
		put(bytes, Byte::data);
		untold.insert(untold.end(), bytes, Byte::data);
	}
	void skip(unsigned long bytes)
	{
		put(bytes, Byte::skipped);
		/* In front of data it is nothing, behind untold data it becomes a gap. */
		if (!untold.empty())
			untold.insert(untold.end(), bytes, Byte::skipped);
	}
	void read(unsigned long bytes)
	{
		while (bytes--)
			unread.pop_front();
	}

	/* Whether a wake-up has become due since. */
	bool wakes()
	{
		const bool due = marks_passed != 0;

		if (due)
			aim();
		return due;
	}

	/* The end of a transaction has been told of, or tried to. */
	perf_aux_report end(unsigned long long flags, unsigned long bytes)
	{
		perf_aux_report report = to_tell(flags, bytes);

		cut = flags & PERF_AUX_FLAG_TRUNCATED;
		if (area.overwrite)
			report.size = bytes;
		return report;
	}

	/* Nothing, if the reader knows. */
	bool refuse(perf_aux_report &report)
	{
		if (cut && untold.empty() && !untold_flags && !lost)
			return false;
		report = to_tell(PERF_AUX_FLAG_TRUNCATED);
		cut = true;
		return true;
	}

	void lose(unsigned long bytes, unsigned long long now)
	{
		if (!lost)
			since = now;
		lost += bytes;
		lost_ever += bytes;
	}

	/* All that nobody has heard of, with @bytes of the latest. */
	perf_aux_report to_tell(unsigned long long flags, unsigned long bytes = 0) const
	{
		constexpr unsigned long long format = PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK;
		const bool of_untold = untold_data && !bytes;
		const unsigned long long named = (of_untold ? untold_flags : flags) & format;

		flags = ((flags | untold_flags) & ~format) | named;
		if (area.overwrite)
			flags |= PERF_AUX_FLAG_OVERWRITE;
		if (std::count(untold.begin(), untold.end(), Byte::skipped))
			flags |= PERF_AUX_FLAG_PARTIAL;
		if (lost)
			flags |= PERF_AUX_FLAG_LOST;
		if (lost && !(flags & PERF_AUX_FLAG_TRUNCATED))
			flags |= PERF_AUX_FLAG_PARTIAL;
		return {position - untold.size(), untold.size(), flags, lost, lost ? since : 0};
	}

	void told()
	{
		data_told += data_in(untold);
		untold.clear();
		kept_quiet();
		lost_told += lost;
		lost = 0;
	}
	void refused(const perf_aux_report &report)
	{
		untold_flags = report.flags & ~(PERF_AUX_FLAG_LOST | PERF_AUX_FLAG_OVERWRITE);
		refused_flags = report.flags;
		untold_data = report.size != 0;
	}
	/* What says nothing is not even tried. */
	void kept_quiet()
	{
		untold_flags = 0;
		refused_flags = 0;
		untold_data = false;
	}
	/* Is there something left of earlier records, be it that they were of a snapshot? */
	bool anything_untold() const
	{
		return untold_data || refused_flags || lost;
	}

	Area area{};
	unsigned long position;
	bool hostile = false; /* the reader's tail is nonsense */
	unsigned long lost_ever = 0;
	unsigned long lost_told = 0;
	unsigned long data_written = 0;
	unsigned long data_told = 0;
	unsigned long dropped = 0; /* untold when their area went */
	unsigned long lost = 0;

	unsigned long nr_unread() const
	{
		return unread.size();
	}
	unsigned long nr_untold() const
	{
		return data_in(untold);
	}
	void forget_unread()
	{
		unread.clear();
	}

    private:
	enum class Byte { data, skipped };
	using Bytes = std::deque<Byte>;

	static unsigned long data_in(const Bytes &bytes)
	{
		return static_cast<unsigned long>(
			std::count(bytes.begin(), bytes.end(), Byte::data));
	}

	void put(unsigned long bytes, Byte what)
	{
		if (what == Byte::data)
			data_written += bytes;
		for (; bytes; bytes--) {
			unread.push_back(what);
			position++;
			if (--to_mark == 0) {
				marks_passed++;
				to_mark = area.watermark;
			}
		}
	}

	/* At the next multiple of the watermark, as positions have it. */
	void aim()
	{
		marks_passed = 0;
		to_mark = area.watermark - position % area.watermark;
	}

	Bytes unread; /* in the area */
	Bytes untold; /* from the first byte on that no record has told of */
	unsigned long long untold_flags = 0;
	unsigned long long refused_flags = 0; /* all that the record had */
	bool untold_data = false;	      /* has the last record that was refused any? */
	unsigned long long since = 0;
	unsigned long to_mark = 0;
	unsigned long marks_passed = 0;
	bool cut = false;
};

} // namespace ring_test

#endif
