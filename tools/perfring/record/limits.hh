/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What to tell a user whom the kernel has refused something: which limit it is, what it
 * would have to be, and how that is done.
 */
#ifndef PERFRING_RECORD_LIMITS_HH
#define PERFRING_RECORD_LIMITS_HH

#include <linux/perf_event.h>

#include <cstddef>
#include <string>

namespace perfring::record {

struct OpenRefusal {
	int error;
	const perf_event_attr *attr;
	std::string event;
	int cpu;
	int tid;
	std::size_t fds_wanted; /* of all events together */
};
std::string explain_open(const OpenRefusal &refusal);

struct MapRefusal {
	int error;
	std::size_t rings;
	std::size_t data_pages; /* of one ring */
	std::size_t aux_bytes;	/* of one ring */
};
std::string explain_map(const MapRefusal &refusal);

/* perf_event_paranoid, 2 if it cannot be read. */
int paranoid();

/* Raises the soft limit of open files as far as it goes. */
void raise_fd_limit();

/* Total memory of the machine, or of the control group that we are in. */
std::size_t machine_memory();

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_LIMITS_HH */
