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

/* All that a ring has in it, but for where its user page is. */
inline bool operator==(const perf_aux_ring &a, const perf_aux_ring &b)
{
	return a.head == b.head && a.wakeup == b.wakeup && a.watermark == b.watermark &&
	       a.size == b.size && a.open == b.open && a.overwrite == b.overwrite &&
	       a.cut == b.cut && a.lost == b.lost && a.lost_since == b.lost_since &&
	       a.lost_total == b.lost_total && a.showing == b.showing && a.untold == b.untold;
}

inline std::ostream &operator<<(std::ostream &out, const perf_aux_ring &ring)
{
	return out << "head " << ring.head << ", wakeup " << ring.wakeup << ", watermark "
		   << ring.watermark << ", size " << ring.size << ", open " << ring.open
		   << ", overwrite " << ring.overwrite << ", cut " << ring.cut << ", lost "
		   << ring.lost << " since " << ring.lost_since << ", in all " << ring.lost_total
		   << ", untold: " << ring.untold;
}

inline bool operator==(const perf_aux_handle &a, const perf_aux_handle &b)
{
	return a.event == b.event && a.rb == b.rb && a.wakeup == b.wakeup && a.size == b.size &&
	       a.flags == b.flags && a.head == b.head && a.unused == b.unused;
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
		setup(size, watermark, overwrite);
	}
	AuxFixture(const AuxFixture &) = delete;
	AuxFixture &operator=(const AuxFixture &) = delete;

	bool setup(unsigned long size, unsigned long watermark, bool overwrite = false)
	{
		return perf_aux_ring_setup(&ring, &control, size, watermark, overwrite) != 0;
	}

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
	bool end_quietly(unsigned long size)
	{
		return perf_aux_ring_end_quietly(&ring, &handle, size) != 0;
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
