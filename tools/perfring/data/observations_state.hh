/* SPDX-License-Identifier: GPL-2.0 */
/* What Observations of writer.hh remember. Nobody else's business. */
#ifndef PERFRING_DATA_OBSERVATIONS_STATE_HH
#define PERFRING_DATA_OBSERVATIONS_STATE_HH

#include <linux/perf_event.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bytes.hh"
#include "writer.hh"

namespace perfring::data {

/* A file that was mapped to be executed. */
struct Mapped {
	bool kernel = false;
	Bytes id; /* empty: not known yet */
};

struct Observations::State {
	std::map<std::string, Mapped> mappings; /* by name */
	std::vector<std::string> order;		/* as they came: perf lists them so */
	std::uint64_t first = ~0ULL, last = 0;	/* times of samples, ns; first > last: none */

	Mapped &find(const std::string &name);
	/* @record: an MMAP or MMAP2. */
	void note_mapping(ByteView record, const perf_event_header &header);
	/* The section BUILD_ID; reads the files. Empty if none has an id. */
	Bytes build_ids() const;
};

} /* namespace perfring::data */

#endif /* PERFRING_DATA_OBSERVATIONS_STATE_HH */
