/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was kept, what was lost, and why: per event, per ring, per cause.
 *
 * Samples count as kept when the file has them, not when they were read. For each
 * event that counts with period 1, kept + lost is what the kernel's counter says.
 */
#ifndef PERFRING_RECORD_LEDGER_HH
#define PERFRING_RECORD_LEDGER_HH

#include "mutex.hh"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace perfring::record {

enum class Cause : std::size_t {
	ring_full, /* the kernel found no room: PERF_FORMAT_LOST, else PERF_RECORD_LOST */
	hardware,  /* the kernel or the PMU says so: PERF_RECORD_LOST_SAMPLES */
	output,	   /* they did not reach the file: full disk, I/O error, closed pipe */
};
constexpr std::size_t causes = 3;

struct SampleCount {
	std::size_t ring;
	std::size_t event;
	std::uint64_t count;
};
using SampleCounts = std::vector<SampleCount>;

/* What AUX areas lost. */
struct AuxLoss {
	std::uint64_t truncated = 0;	/* records with PERF_AUX_FLAG_TRUNCATED */
	std::uint64_t partial = 0;	/* ... PARTIAL */
	std::uint64_t collisions = 0;	/* ... COLLISION */
	std::uint64_t bytes = 0;	/* as far as the kernel says: PERF_AUX_FLAG_LOST */
	std::uint64_t output_bytes = 0; /* read, but not in the file */
	std::uint64_t kept_bytes = 0;
};

struct RingLoss {
	std::uint64_t lost_records = 0; /* sum of all PERF_RECORD_LOST, also of side-band */
	std::uint64_t damage_times = 0;
	std::uint64_t damage_bytes = 0;
	std::uint64_t throttled = 0; /* PERF_RECORD_THROTTLE: the kernel took no samples */
	AuxLoss aux;
};

/* May be used by several threads. */
class Ledger {
    public:
	Ledger(std::size_t ring_count, std::size_t event_count);

	void keep(const SampleCounts &counts);
	/* What was kept, or never got that far, is lost for this cause. */
	void lose(Cause cause, const SampleCounts &counts);
	void take_back(const SampleCounts &counts); /* undoes keep() */
	void add(std::size_t ring, const RingLoss &loss);

	std::uint64_t kept(std::size_t ring, std::size_t event) const;
	std::uint64_t lost(Cause cause, std::size_t ring, std::size_t event) const;
	std::uint64_t kept_of(std::size_t event) const;
	std::uint64_t lost_of(std::size_t event) const;
	std::uint64_t kept_total() const;
	std::uint64_t lost_total() const;
	RingLoss ring(std::size_t ring) const;
	/* Anything missing at all: samples, records, AUX bytes, damage. */
	bool lossless() const;

	std::size_t rings() const
	{
		return ring_losses.size();
	}
	std::size_t events() const
	{
		return event_count;
	}

    private:
	std::size_t at(std::size_t ring, std::size_t event) const
	{
		return ring * event_count + event;
	}

	mutable Mutex lock;
	std::size_t event_count;
	std::vector<std::uint64_t> kept_samples;
	std::array<std::vector<std::uint64_t>, causes> lost_samples;
	std::vector<RingLoss> ring_losses;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_LEDGER_HH */
