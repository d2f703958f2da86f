// SPDX-License-Identifier: GPL-2.0
#include "limits.hh"

#include "text.hh"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace perfring::record {
namespace {

std::uint64_t setting(const char *path, std::uint64_t otherwise)
{
	const auto text = read_text(path);
	const auto value = text ? number(*text) : std::nullopt;

	return value.value_or(otherwise);
}

std::string no_permission(const OpenRefusal &refusal)
{
	const bool system_wide = refusal.tid == -1;
	const bool tracepoint = refusal.attr->type == PERF_TYPE_TRACEPOINT;
	const int needed = tracepoint ? -1 : system_wide ? 0 : refusal.attr->exclude_kernel ? 2 : 1;

	if (!system_wide && paranoid() <= needed)
		return fmt::format(
			"{}: no permission to watch task {}, which belongs to somebody else: "
			"this takes CAP_PERFMON and CAP_SYS_PTRACE, or root",
			refusal.event, refusal.tid);
	return fmt::format(
		"{}: no permission: kernel.perf_event_paranoid is {}, and {} takes at most "
		"{}, or CAP_PERFMON.\n  sysctl kernel.perf_event_paranoid={}",
		refusal.event, paranoid(),
		tracepoint    ? "a tracepoint"
		: system_wide ? "recording a whole CPU"
			      : "recording the kernel (an event without :u)",
		needed, needed);
}

std::string too_many_files(const OpenRefusal &refusal)
{
	rlimit limit{};

	getrlimit(RLIMIT_NOFILE, &limit);
	return fmt::format(
		"{} file descriptors are needed, one for each event on each CPU or of each "
		"thread; the limit of open files (RLIMIT_NOFILE) is {}, hard {}.\n"
		"  ulimit -n {}",
		refusal.fds_wanted + 64, limit.rlim_cur, limit.rlim_max, refusal.fds_wanted + 64);
}

} /* namespace */

int paranoid()
{
	const auto text = read_text("/proc/sys/kernel/perf_event_paranoid");

	return text ? std::atoi(text->c_str()) : 2;
}

std::string explain_open(const OpenRefusal &refusal)
{
	switch (refusal.error) {
	case EPERM:
	case EACCES:
		return no_permission(refusal);
	case EMFILE:
		return too_many_files(refusal);
	case ENFILE:
		return fmt::format("the system's table of open files is full (fs.file-max is {})",
				   setting("/proc/sys/fs/file-max", 0));
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return fmt::format(
			"{}: this machine cannot do that{}", refusal.event,
			refusal.attr->type == PERF_TYPE_HARDWARE ||
					refusal.attr->type == PERF_TYPE_HW_CACHE ||
					refusal.attr->type == PERF_TYPE_RAW
				? ": it has no such hardware counter, or none that a guest "
				  "may use; cpu-clock samples without one"
				: "");
	case ESRCH:
		return fmt::format("{}: there is no task {}", refusal.event, refusal.tid);
	case EBUSY:
		return fmt::format("{}: somebody else is using it, and it is there only once",
				   refusal.event);
	case ENOSYS:
		return "this kernel has no perf events (CONFIG_PERF_EVENTS)";
	case EINVAL:
		if (refusal.attr->freq &&
		    refusal.attr->sample_freq >
			    setting("/proc/sys/kernel/perf_event_max_sample_rate", ~0ULL))
			return fmt::format(
				"{}: {} samples a second are more than "
				"kernel.perf_event_max_sample_rate, which is {}.\n"
				"  sysctl kernel.perf_event_max_sample_rate={}",
				refusal.event, refusal.attr->sample_freq,
				setting("/proc/sys/kernel/perf_event_max_sample_rate", 0),
				refusal.attr->sample_freq);
		return fmt::format("{}: the kernel does not take these settings", refusal.event);
	default:
		return fmt::format("{}: {}", refusal.event, error_text(refusal.error));
	}
}

std::string explain_map(const MapRefusal &refusal)
{
	const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
	const std::size_t one = (refusal.data_pages + 1) * page + refusal.aux_bytes;
	const std::size_t needed = refusal.rings * one / 1024;

	if (refusal.error != EPERM && refusal.error != ENOMEM)
		return fmt::format("mapping a ring of {} pages: {}", refusal.data_pages,
				   error_text(refusal.error));
	if (refusal.error == ENOMEM)
		return fmt::format(
			"there is no memory for {} ring(s) of {} pages and {} of AUX area "
			"each: {} KiB in all. Smaller ones (-m) or fewer CPUs (-C) take less",
			refusal.rings, refusal.data_pages,
			human_bytes(static_cast<double>(refusal.aux_bytes)), needed);
	rlimit locked{};

	getrlimit(RLIMIT_MEMLOCK, &locked);
	return fmt::format(
		"{} KiB of locked memory are needed for {} ring(s). A user has "
		"kernel.perf_event_mlock_kb, which is {}, for each CPU, in all processes together, and "
		"beyond that each process has RLIMIT_MEMLOCK, which is {} KiB.\n"
		"  ulimit -l {}      or   sysctl kernel.perf_event_mlock_kb={}\n"
		"  or CAP_IPC_LOCK, or smaller rings (-m)",
		needed, refusal.rings, setting("/proc/sys/kernel/perf_event_mlock_kb", 516),
		locked.rlim_cur / 1024, needed, one / 1024);
}

void raise_fd_limit()
{
	rlimit limit{};

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

std::size_t machine_memory()
{
	const auto pages = static_cast<std::size_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
	const std::size_t physical = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
	const auto text = read_text("/sys/fs/cgroup/memory.max");
	const auto group = text ? number(*text) : std::nullopt;

	return std::min<std::size_t>(physical, group.value_or(physical));
}

} /* namespace perfring::record */
