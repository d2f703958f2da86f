// SPDX-License-Identifier: GPL-2.0
#include "survey.hh"

#include <array>

namespace perfring::data {
namespace {

/* By number, from linux/perf_event.h. */
constexpr std::array of_kernel = {
	"",
	"MMAP",
	"LOST",
	"COMM",
	"EXIT",
	"THROTTLE",
	"UNTHROTTLE",
	"FORK",
	"READ",
	"SAMPLE",
	"MMAP2",
	"AUX",
	"ITRACE_START",
	"LOST_SAMPLES",
	"SWITCH",
	"SWITCH_CPU_WIDE",
	"NAMESPACES",
	"KSYMBOL",
	"BPF_EVENT",
	"CGROUP",
	"TEXT_POKE",
	"AUX_OUTPUT_HW_ID",
};

/* From first_user_record on; some numbers only perf stat uses. */
constexpr std::array of_recorders = {
	"HEADER_ATTR",
	"HEADER_EVENT_TYPE",
	"HEADER_TRACING_DATA",
	"HEADER_BUILD_ID",
	"FINISHED_ROUND",
	"ID_INDEX",
	"AUXTRACE_INFO",
	"AUXTRACE",
	"AUXTRACE_ERROR",
	"THREAD_MAP",
	"CPU_MAP",
	"STAT_CONFIG",
	"STAT",
	"STAT_ROUND",
	"EVENT_UPDATE",
	"TIME_CONV",
	"HEADER_FEATURE",
	"COMPRESSED",
	"FINISHED_INIT",
	"COMPRESSED2",
};
static_assert(of_recorders.size() == end_of_user_records - first_user_record);

} /* namespace */

std::optional<std::string> record_name(std::uint32_t type)
{
	if (type && type < of_kernel.size())
		return of_kernel[type];
	if (type >= first_user_record && type < end_of_user_records)
		return of_recorders[type - first_user_record];
	return std::nullopt;
}

} /* namespace perfring::data */
