/* SPDX-License-Identifier: GPL-2.0 */
/* An intel_pt event of one task, user mode only, and its AUX area. */
#ifndef TESTS_PT_PT_EVENT_HH
#define TESTS_PT_PT_EVENT_HH

#include "log.hh"

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

struct perf_event_mmap_page;

namespace pt_oracle {

/* "tsc,mtc_period=3": config as the PMU's format/ has it. Throws if it has not. */
std::uint64_t pt_config(const std::string &terms);

class PtEvent {
    public:
	/* Opens and enables it; the task does not run. Throws std::runtime_error. */
	PtEvent(pid_t tid, std::uint64_t config, std::size_t aux_size);
	~PtEvent();
	PtEvent(const PtEvent &) = delete;
	PtEvent &operator=(const PtEvent &) = delete;

	/* Bytes of the stream so far. Exact while the task does not run. */
	std::uint64_t head() const;

	/* Makes room if half of either ring is full. */
	void drain_if_needed();

	/* All that is there. */
	void drain();

	std::vector<std::uint8_t> stream;
	Losses losses;

    private:
	void drain_records();
	void take_record(std::uint64_t position);

	int fd = -1;
	perf_event_mmap_page *page = nullptr;
	std::uint8_t *aux = nullptr;
	std::size_t mapped_size;
	std::size_t aux_size;
};

} // namespace pt_oracle

#endif
