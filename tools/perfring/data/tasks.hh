/* SPDX-License-Identifier: GPL-2.0 */
/* Records for the tasks that exist already, from /proc. A task that exits meanwhile is
 * left out, or ends in the middle. */
#ifndef PERFRING_DATA_TASKS_HH
#define PERFRING_DATA_TASKS_HH

#include <sys/types.h>

#include <span>
#include <string>

#include "records.hh"

namespace perfring::data {

struct TaskOptions {
	std::size_t trailer = 0;
	bool data_mappings = false; /* also those that are not executable */
	std::string root;
};

/* COMM of one task. False if there is no such task. */
bool synthesize_comm(pid_t tid, const Sink &sink, const TaskOptions &options);

/* COMM and, for leaders of processes, MMAP2 of these and of their leaders. */
void synthesize_threads(std::span<const pid_t> threads, const Sink &sink,
			const TaskOptions &options);

/* FORK, COMM and MMAP2 of all there are. */
void synthesize_all(const Sink &sink, const TaskOptions &options);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_TASKS_HH */
