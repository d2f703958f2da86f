/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Are the AUX bytes that the kernel announced (AUX records) the bytes that are in the
 * file (AUXTRACE records)? Per buffer, by positions in its stream.
 */
#ifndef PERFRING_DATA_AUX_COVERAGE_HH
#define PERFRING_DATA_AUX_COVERAGE_HH

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "reader.hh"

namespace perfring::data {

/* One buffer, or all of them. Bytes, unless it says otherwise. */
struct AuxTotals {
	std::uint64_t announced = 0;	       /* by AUX records */
	std::uint64_t stored = 0;	       /* behind AUXTRACE records, padding included */
	std::uint64_t missing = 0;	       /* announced and not stored */
	std::uint64_t doubled = 0;	       /* stored twice */
	std::uint64_t surplus = 0;	       /* stored and not announced */
	std::uint64_t lost = 0;		       /* as the kernel says, see linux/perf_aux.h */
	std::uint64_t records = 0, traces = 0; /* AUX, AUXTRACE: how many */
	std::uint64_t truncated = 0, partial = 0, collisions = 0; /* AUX records with the flag */

	AuxTotals &operator+=(const AuxTotals &other);
};

class AuxCoverage {
    public:
	/* Any record; ID_INDEX must come before the AUX records that it is about. @fields:
	 * of its sample_id. */
	void note(const Record &record, const std::optional<Sample> &fields);
	/* After the last. By buffer. */
	std::map<std::uint32_t, AuxTotals> totals() const;
	/* Snapshots repeat and leave out as they like: only stored and lost mean anything. */
	bool snapshots() const
	{
		return snapshots_;
	}

    private:
	struct Range {
		std::uint64_t start, end;
	};
	using Ranges = std::vector<Range>;
	struct Buffer {
		Ranges announced, stored;
		AuxTotals totals;
	};

	void note_info(const Record &record);
	void note_index(const Record &record);
	void note_aux(const Record &record, const std::optional<Sample> &fields);
	void note_trace(const Record &record);
	std::uint32_t buffer_of(const std::optional<Sample> &fields) const;

	static Ranges merged(Ranges ranges, std::uint64_t &doubled);
	static std::uint64_t beyond(const Ranges &ranges, const Ranges &cover);

	std::map<std::uint32_t, Buffer> buffers_;
	std::unordered_map<std::uint64_t, std::uint32_t> by_id_;
	bool snapshots_ = false;
};

} /* namespace perfring::data */

#endif /* PERFRING_DATA_AUX_COVERAGE_HH */
