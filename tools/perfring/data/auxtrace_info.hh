/* SPDX-License-Identifier: GPL-2.0 */
/* AUXTRACE_INFO: what a decoder has to know of the trace. */
#ifndef PERFRING_DATA_AUXTRACE_INFO_HH
#define PERFRING_DATA_AUXTRACE_INFO_HH

#include <cstdint>
#include <optional>
#include <string>

#include "bytes.hh"
#include "format.hh"
#include "session.hh"
#include "time_conversion.hh"

namespace perfring::data {

/* By the PMU's name in sysfs: which decoder. Trace::none: no one's. */
Trace trace_kind(const std::string &pmu);

/*
 * The record for the session's AUX event. Nothing without one, for a PMU whose trace has
 * no decoder, and for CoreSight as long as nobody reads its registers here. Without
 * @time, decoders cannot place the trace in time. @root as in system_files.hh.
 */
std::optional<Bytes> auxtrace_info(const Session &session,
				   const std::optional<TimeConversion> &time,
				   const std::string &root = {});

/*
 * The bits of config that a PMU's term stands for, from its sysfs directory: "tsc" may
 * be 0x400. 0: no such term, or not in config. The whole field.
 */
std::uint64_t config_bits(const std::string &pmu_directory, const std::string &term);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_AUXTRACE_INFO_HH */
