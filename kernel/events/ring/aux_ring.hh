/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The AUX ring's algorithm. A transaction:
 *
 *    begin            driver writes           commit      tell      publish  close
 *   A: load tail   head .. head + size     head += size   record   B: store
 *                                                                  aux_head
 *
 * The record is written before aux_head is moved: who sees the data can also have
 * been told about them. A record that the data ring refuses is kept and merged
 * into the next one, so that a reader who catches up hears of every byte and flag.
 */
#ifndef PERF_EVENTS_RING_AUX_RING_HH
#define PERF_EVENTS_RING_AUX_RING_HH

#include "aux_flags.hh"
#include "aux_ring.h"
#include "primitives.hh"

namespace perf_ring {

template <class P = Primitives> class AuxRing {
    public:
	static bool setup(perf_aux_ring &ring, perf_aux_control *control, unsigned long size,
			  unsigned long watermark, bool overwrite)
	{
		/* Who found the earlier area can still want to begin, or to lose. */
		if (!P::try_lock(ring.open))
			return false;

		ring.control = control;
		ring.size = size;
		ring.watermark = watermark;
		ring.overwrite = overwrite;
		ring.wakeup = watermark ? ring.head - ring.head % watermark : 0;
		ring.cut = 0;
		ring.untold.size = 0;
		close(ring);
		return true;
	}

	static perf_aux_verdict begin(perf_aux_ring &ring, perf_aux_handle &handle)
	{
		/* In one step against an NMI that begins as well and stays open. */
		if (!P::try_lock(ring.open))
			return PERF_AUX_BUSY;

		handle.head = ring.head;
		handle.size = 0;
		handle.flags = 0;
		if (!ring.overwrite) {
			handle.wakeup = ring.wakeup + ring.watermark;
			handle.size = room(ring, P::load_tail(ring.control->aux_tail)); /* A */
			if (__builtin_expect(handle.size == 0, 0))
				return PERF_AUX_FULL;
		}
		return PERF_AUX_OPENED;
	}

	static unsigned int refuse(perf_aux_ring &ring, perf_aux_report &report)
	{
		if (ring.cut && !pending(ring))
			return PERF_AUX_STOP | PERF_AUX_WAKE;

		report = {ring.head, 0, aux_truncated, 0, 0};
		merge(ring, report);
		ring.cut = 1;
		return PERF_AUX_TELL | PERF_AUX_STOP | PERF_AUX_WAKE;
	}

	/*
	 * Many transactions have nothing to say: of an event that is switched in and out,
	 * of one that overwrites. Nobody has to hear of those.
	 */
	[[gnu::always_inline]] static bool end_quietly(perf_aux_ring &ring, perf_aux_handle &handle,
						       unsigned long size)
	{
		if (size || (handle.flags & ~(aux_format_mask | aux_overwrite)) || pending(ring))
			return false;

		ring.cut = 0;
		if (ring.overwrite) {
			ring.head = handle.head;
			P::publish_head(ring.control->aux_head, ring.head); /* B */
		}
		/* First, or an NMI's begin on the same handle would be wiped out. */
		handle.event = nullptr;
		close(ring);
		return true;
	}

	static unsigned int commit(perf_aux_ring &ring, const perf_aux_handle &handle,
				   unsigned long size, perf_aux_report &report)
	{
		unsigned int todo = 0;

		report.flags = handle.flags & ~aux_overwrite;
		report.size = size;
		if (ring.overwrite) {
			report.flags |= aux_overwrite;
			report.offset = ring.head = handle.head;
		} else {
			/* Room is one byte short, but the last page may be filled up. */
			if (__builtin_expect(size > handle.size + 1, 0))
				todo |= PERF_AUX_WRONG;
			report.offset = ring.head;
			ring.head += size;
		}

		ring.cut = (report.flags & aux_truncated) != 0;
		if (ring.cut)
			todo |= PERF_AUX_STOP | PERF_AUX_WAKE;

		merge(ring, report);
		if (says_something(report))
			todo |= PERF_AUX_TELL;
		return todo;
	}

	static void untold(perf_aux_ring &ring, const perf_aux_report &report)
	{
		ring.untold = report;
		/* Back to the count, where later losses join it. */
		if (report.lost) {
			P::add(ring.lost, report.lost);
			P::store(ring.lost_since, report.lost_since);
		}
	}

	static unsigned int publish(perf_aux_ring &ring)
	{
		P::publish_head(ring.control->aux_head, ring.head); /* B */
		return wake_due(ring) ? PERF_AUX_WAKE : 0;
	}

	static void close(perf_aux_ring &ring)
	{
		P::unlock(ring.open);
	}

	static int skip(perf_aux_ring &ring, perf_aux_handle &handle, unsigned long size)
	{
		constexpr int no_space = -28;
		unsigned int todo;

		if (size > handle.size)
			return no_space;

		ring.head += size;
		todo = publish(ring);
		handle.head = ring.head;
		handle.size -= size;
		handle.wakeup = ring.wakeup + ring.watermark;
		return static_cast<int>(todo);
	}

	static unsigned int lose(perf_aux_ring &ring, unsigned long bytes, unsigned long long since,
				 perf_aux_report &report)
	{
		if (!bytes)
			return 0;
		P::add(ring.lost_total, bytes);
		show_lost(ring);
		count_lost(ring, bytes, since);

		/* The end of a transaction tells it, if there is one. */
		if (!P::try_lock(ring.open))
			return 0;
		P::order_nested();
		report = {ring.head, 0, ring.overwrite ? aux_overwrite : 0, 0, 0};
		merge(ring, report);
		if (says_something(report))
			return PERF_AUX_TELL;

		/* An NMI that lost as well has told ours. */
		close(ring);
		return 0;
	}

    private:
	/*
	 * One byte short of the size: drivers for hardware that compares places in
	 * the area, not positions, would take full for empty. A tail that is not
	 * behind the head within one size is no tail: there is no room.
	 */
	static unsigned long room(const perf_aux_ring &ring, unsigned long tail)
	{
		const unsigned long unread = ring.head - tail;

		return unread < ring.size ? ring.size - 1 - unread : 0;
	}

	/*
	 * One at a time: our older sum must not follow an NMI's newer one. An NMI that
	 * finds us at it leaves its bytes to us.
	 */
	static void show_lost(perf_aux_ring &ring)
	{
		unsigned long total;

		do {
			unsigned long idle = 0;

			if (!P::exchange_if(ring.showing, idle, 1UL))
				return;
			P::order_nested();
			total = P::load(ring.lost_total);
			P::store(ring.control->aux_lost, static_cast<unsigned long long>(total));
			P::order_nested();
			P::store(ring.showing, 0UL);
			P::order_nested();
		} while (P::load(ring.lost_total) != total);
	}

	/*
	 * An NMI may tell, and so take, what was counted before us: the time is that of
	 * the first of what is left.
	 */
	static void count_lost(perf_aux_ring &ring, unsigned long bytes, unsigned long long since)
	{
		unsigned long seen = P::load(ring.lost);

		do {
			if (!seen)
				P::store(ring.lost_since, since);
			P::order_nested();
		} while (!P::exchange_if(ring.lost, seen, seen + bytes));
	}

	static bool says_something(const perf_aux_report &report)
	{
		return report.size || (report.flags & ~(aux_format_mask | aux_overwrite));
	}

	static bool wake_due(perf_aux_ring &ring)
	{
		if (ring.overwrite || ring.head - ring.wakeup < ring.watermark)
			return false;
		ring.wakeup = ring.head - ring.head % ring.watermark;
		return true;
	}

	/* Is there something that no record has told yet? */
	static bool pending(const perf_aux_ring &ring)
	{
		return ring.untold.size || ring.untold.flags || P::load(ring.lost);
	}

	/* Add to @report what is still to be told. */
	static void merge(perf_aux_ring &ring, perf_aux_report &report)
	{
		if (__builtin_expect(ring.untold.size || ring.untold.flags, 0))
			merge_untold(ring, report);

		report.lost = 0;
		report.lost_since = 0;
		if (__builtin_expect(P::load(ring.lost) == 0, 1))
			return;

		report.lost_since = P::load(ring.lost_since);
		P::order_nested();
		report.lost = P::exchange(ring.lost, 0UL);
		report.flags |= aux_lost;
		if (!(report.flags & aux_truncated))
			report.flags |= aux_partial;
	}

	static void merge_untold(perf_aux_ring &ring, perf_aux_report &report)
	{
		perf_aux_report &untold = ring.untold;

		/* The mode is that of this area, and not of an earlier one. */
		report.flags |= untold.flags & ~(aux_lost | aux_overwrite | aux_format_mask);
		/* The format is a number, and that of the latest data. */
		if (!report.size && untold.size)
			report.flags = (report.flags & ~aux_format_mask) |
				       (untold.flags & aux_format_mask);
		if (!ring.overwrite && untold.size) {
			/* What was skipped in between comes along, and is no data. */
			if (untold.offset + untold.size != report.offset)
				report.flags |= aux_partial;
			report.size += report.offset - untold.offset;
			report.offset = untold.offset;
		}
		untold = {};
	}
};

} // namespace perf_ring

#endif
