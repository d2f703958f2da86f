/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An AUX ring with its user page, and the ways of the kernel's shell through it.
 * There is no area: the ring knows positions only.
 */
#ifndef TESTS_HOST_AUX_FIXTURE_HH
#define TESTS_HOST_AUX_FIXTURE_HH

#include <ostream>

#include <linux/perf_event.h>
/* Behind it, as it adds to it. */
#include <linux/perf_aux.h>

#include "aux_ring.h"

inline std::ostream &operator<<(std::ostream &out, const perf_aux_report &report)
{
	return out << "offset " << report.offset << ", size " << report.size << ", flags "
		   << std::hex << report.flags << std::dec << ", lost " << report.lost << " since "
		   << report.lost_since;
}

inline bool operator==(const perf_aux_report &a, const perf_aux_report &b)
{
	return a.offset == b.offset && a.size == b.size && a.flags == b.flags && a.lost == b.lost &&
	       a.lost_since == b.lost_since;
}

namespace ring_test {

/* Todo bits as the plain numbers that they are. */
inline constexpr unsigned int tell = PERF_AUX_TELL;
inline constexpr unsigned int stop = PERF_AUX_STOP;
inline constexpr unsigned int wake = PERF_AUX_WAKE;
inline constexpr unsigned int wrong = PERF_AUX_WRONG;

inline constexpr unsigned long aux_sizes[] = {8, 16, 32, 64};

struct AuxFixture {
	explicit AuxFixture(unsigned long size, unsigned long watermark = 1, bool overwrite = false,
			    unsigned long start = 0)
	{
		ring.head = start;
		control.aux_head = start;
		control.aux_tail = start;
		perf_aux_ring_setup(&ring, &control, size, watermark, overwrite);
	}
	AuxFixture(const AuxFixture &) = delete;
	AuxFixture &operator=(const AuxFixture &) = delete;

	/* As if @unread bytes up to @position were written and told, and those before read. */
	void be_at(unsigned long position, unsigned long unread)
	{
		ring.head = position;
		ring.wakeup = position - position % ring.watermark;
		control.aux_head = position;
		control.aux_tail = position - unread;
	}

	perf_aux_verdict begin()
	{
		return perf_aux_ring_begin(&ring, &handle);
	}
	/* Todo bits of commit alone. */
	unsigned int commit(unsigned long size)
	{
		return perf_aux_ring_commit(&ring, &handle, size, &report);
	}
	/* All of an end, told. */
	unsigned int end(unsigned long size)
	{
		unsigned int todo = commit(size);

		todo |= perf_aux_ring_publish(&ring);
		perf_aux_ring_close(&ring);
		return todo;
	}
	/* All of an end whose record the data ring refuses. */
	unsigned int end_untold(unsigned long size)
	{
		unsigned int todo = commit(size);

		perf_aux_ring_untold(&ring, &report);
		todo |= perf_aux_ring_publish(&ring);
		perf_aux_ring_close(&ring);
		return todo;
	}
	unsigned int refuse()
	{
		const unsigned int todo = perf_aux_ring_refuse(&ring, &report);

		perf_aux_ring_close(&ring);
		return todo;
	}
	unsigned int lose(unsigned long bytes, unsigned long long since)
	{
		return perf_aux_ring_lose(&ring, bytes, since, &report);
	}

	perf_aux_ring ring{};
	perf_aux_control control{};
	perf_aux_handle handle{};
	perf_aux_report report{};
};

/* Each byte of these is something that has to be set to be right. */
inline constexpr perf_aux_handle stale_handle{nullptr, nullptr, ~0UL, ~0UL, ~0ULL, ~0UL, ~0};
inline constexpr perf_aux_report stale_report{~0UL, ~0UL, ~0ULL, ~0UL, ~0ULL};

} // namespace ring_test

#endif
