/* SPDX-License-Identifier: GPL-2.0 */
/* One walk through a file: what is in it, what is missing, what cannot be right. */
#ifndef PERFRING_DATA_SURVEY_HH
#define PERFRING_DATA_SURVEY_HH

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aux_coverage.hh"
#include "reader.hh"

namespace perfring::data {

struct Amount {
	std::uint64_t count = 0, bytes = 0;

	void add(std::uint64_t more_bytes)
	{
		count++;
		bytes += more_bytes;
	}
};

struct EventTotals {
	std::string name;
	Amount samples;
	std::uint64_t lost_records = 0; /* LOST records of its rings: of whatever event */
	std::uint64_t lost_samples = 0; /* LOST_SAMPLES: of this event */
	std::uint64_t throttled = 0;	/* times */
};

/* By the CPU that a record names. */
struct CpuTotals {
	Amount samples, others;
	std::uint64_t lost_records = 0, lost_samples = 0;
	std::uint64_t last = 0; /* time of the record before */
};

/* How often something was found, and where first. */
struct Finding {
	std::uint64_t count = 0;
	std::uint64_t first = 0; /* offset in the file */

	void note(std::uint64_t offset)
	{
		if (!count++)
			first = offset;
	}
};

struct Survey {
	std::vector<EventTotals> events;
	std::map<std::uint32_t, CpuTotals> cpus; /* empty: records do not tell */
	std::map<std::uint32_t, Amount> types;	 /* by the records' type */
	std::uint64_t records = 0;
	std::uint64_t first_time = ~0ULL, last_time = 0; /* ns; first > last: no times */

	/* Cannot be right: */
	Finding unknown_types;
	Finding unreadable; /* records shorter than what the event says they have */
	Finding strangers;  /* samples of no event in the file */
	Finding late;	    /* older than what a FINISHED_ROUND has let readers go on from */

	/*
	 * Stepping back in time on one CPU. Events nest: one that interrupts another in
	 * between its look at the clock and its writing stands before it. A little is right.
	 */
	Finding steps_back;
	std::uint64_t largest_step = 0; /* ns */

	std::uint64_t rounds = 0;
	std::uint64_t bpf_lost = 0; /* samples that a BPF filter has dropped: not lost */
	std::map<std::uint32_t, AuxTotals> aux; /* by buffer */
	bool snapshots = false;

	std::uint64_t samples() const;
	std::uint64_t lost_records() const;
	std::uint64_t lost_samples() const;
	AuxTotals all_aux() const;
};

/* Reads @reader to its end; its fault(), if any, is left there. */
Survey survey(Reader &reader);

/* "SAMPLE", "FINISHED_ROUND"; nothing for a type that is not known here. */
std::optional<std::string> record_name(std::uint32_t type);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_SURVEY_HH */
