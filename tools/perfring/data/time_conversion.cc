// SPDX-License-Identifier: GPL-2.0
#include "time_conversion.hh"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "records.hh"

namespace perfring::data {
namespace {

/* The kernel makes the lock odd, or changes it, while it changes the rest. */
TimeConversion read_page(const volatile perf_event_mmap_page &page)
{
	TimeConversion conversion;
	std::uint32_t before;

	do {
		before = page.lock;
		std::atomic_thread_fence(std::memory_order_acquire);
		conversion.shift = page.time_shift;
		conversion.mult = page.time_mult;
		conversion.zero = page.time_zero;
		conversion.cycles = page.time_cycles;
		conversion.mask = page.time_mask;
		conversion.from_zero = page.cap_user_time_zero;
		conversion.is_short = page.cap_user_time_short;
		std::atomic_thread_fence(std::memory_order_acquire);
	} while ((before & 1) || page.lock != before);
	return conversion;
}

} /* namespace */

std::optional<TimeConversion> read_time_conversion()
{
	const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
	perf_event_attr attr{};

	attr.size = PERF_ATTR_SIZE_VER7;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.exclude_kernel = 1;

	const auto fd = static_cast<int>(
		syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));

	if (fd < 0)
		return std::nullopt;

	void *const page = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
	std::optional<TimeConversion> conversion;

	if (page != MAP_FAILED) {
		conversion = read_page(*static_cast<const perf_event_mmap_page *>(page));
		munmap(page, size);
	}
	close(fd);
	if (!conversion || !conversion->from_zero || !conversion->mult)
		return std::nullopt;
	return conversion;
}

Bytes time_conv(const TimeConversion &conversion)
{
	RecordBuilder record(record_time_conv);

	record.put(conversion.shift);
	record.put(conversion.mult);
	record.put(conversion.zero);
	record.put(conversion.cycles);
	record.put(conversion.mask);
	record.put(static_cast<std::uint8_t>(conversion.from_zero));
	record.put(static_cast<std::uint8_t>(conversion.is_short));
	return record.finish();
}

} /* namespace perfring::data */
