/* SPDX-License-Identifier: GPL-2.0 */
/* One mapped ring, and the AUX area beside it. */
#ifndef PERFRING_RECORD_RING_MAP_HH
#define PERFRING_RECORD_RING_MAP_HH

#include <linux/perf_event.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace perfring::record {

struct RingMap {
	std::size_t index = 0;
	int cpu = -1;	      /* -1: any */
	pid_t tid = -1;	      /* -1: any */
	std::vector<int> fds; /* of all events that write to it; the first one is mapped */
	bool backward = false;

	perf_event_mmap_page *page = nullptr;
	std::byte *data = nullptr;
	std::size_t data_size = 0;

	std::vector<int> aux_fds; /* of those that fill the AUX area; fds[0] is one of them */
	std::byte *aux = nullptr;
	std::size_t aux_size = 0;
	std::atomic<bool> aux_off{false}; /* by a command */
	bool aux_snapshot = false;

	/*
	 * Maps fds[0]. data_pages and aux_bytes: powers of two; aux_bytes can be 0. A
	 * backward ring is mapped read only, and so is the AUX area of a snapshot. Returns
	 * 0 or an errno, and then nothing is mapped.
	 */
	int map(std::size_t data_pages, std::size_t aux_bytes);
	void unmap();
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_RING_MAP_HH */
