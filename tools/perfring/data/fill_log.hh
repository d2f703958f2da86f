/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How full the rings were, and what they lost, over the time of a recording; kept behind
 * everything else in a perf.data file, where only we look for it:
 *
 *	FillHeader │ FillEntry ... by ring and time │ FillFooter at the file's end
 */
#ifndef PERFRING_DATA_FILL_LOG_HH
#define PERFRING_DATA_FILL_LOG_HH

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "bytes.hh"

namespace perfring::data {

/* One ring over one slice of time. */
struct FillEntry {
	std::uint32_t ring = 0;
	std::uint32_t slice = 0;
	std::uint64_t fullest = 0; /* most bytes that it held when it was looked at */
	std::uint64_t size = 0;	   /* of the ring, bytes */
	std::uint64_t bytes = 0;   /* that were taken from it */
	std::uint64_t lost = 0;	   /* records */
};

struct FillHistory {
	std::uint64_t start = 0; /* ns, by the clock of whoever noted it */
	std::uint64_t slice = 0; /* ns */
	std::vector<FillEntry> entries;
};

/*
 * Collects that. Memory is bounded: slices double when a recording gets longer. Times may
 * come in any order, but none before @start. One thread; several logs can be merged.
 */
class FillLog {
    public:
	static constexpr std::uint32_t most_slices = 512; /* a ring */

	explicit FillLog(std::uint64_t start, std::uint64_t slice = 1'000'000);

	/* At @time a ring of @size bytes held @held of them, all taken away now; @lost:
	 * records that it has lost since the last time. */
	void note(std::uint32_t ring, std::uint64_t time, std::uint64_t held, std::uint64_t size,
		  std::uint64_t lost);
	void merge(const FillLog &other);

	/* For the end of the file. */
	Bytes encode() const;
	FillHistory history() const;

    private:
	void coarsen();
	std::uint32_t slice_at(std::uint64_t time);
	void add(const FillEntry &entry);

	std::uint64_t start_, slice_;
	std::map<std::uint64_t, FillEntry> entries_; /* by ring and slice */
};

/* Of a whole file. Nothing: it has none. */
std::optional<FillHistory> read_fill_history(ByteView file);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_FILL_LOG_HH */
