/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data ring's algorithm: reserve, nest, commit, publish.
 *
 *        reserve                write                 commit
 *   nest+1, head+size   records' bytes in place   nest-1, outermost: publish
 *
 *   ----+-----------+-----------+-----------+----------------------
 *       | data_tail |           | data_head |            | head
 *       | free ...  | readable  |           | being      | free ...
 *       |           | records   |           | written    |
 *
 * A nested writer takes its bytes behind ours and is done before we go on, so
 * when the outermost writer commits, everything below `head` is written. That
 * is the whole reason why publishing `head` itself is right, and why only the
 * outermost may do it.
 *
 * Letters A and B are edges of Documentation/userspace-api/perf_ring_buffer.rst.
 */
#ifndef PERF_EVENTS_RING_DATA_RING_HH
#define PERF_EVENTS_RING_DATA_RING_HH

#include "data_ring.h"
#include "primitives.hh"

namespace perf_ring {

enum class Direction { forward, backward };

template <class P = Primitives> class DataRing {
    public:
	/*
	 * Bytes that a writer at @head may take while the reader is at @tail.
	 * One byte short of the size, or a full ring would look like an empty
	 * one. Both are taken modulo @size, so that whatever stands in the
	 * user page leads to some answer below @size.
	 */
	template <Direction D>
	static constexpr unsigned long free_space(unsigned long head, unsigned long tail,
						  unsigned long size)
	{
		const unsigned long ahead = D == Direction::forward ? tail - head : head - tail;

		return (ahead - 1) & (size - 1);
	}

	/* Part of whoever writes a record: as a call it would cost a third more. */
	template <Direction D>
	[[gnu::always_inline]] static long reserve(perf_data_ring &ring, perf_ring_handle &handle,
						   unsigned long size, unsigned long lost_size)
	{
		if (__builtin_expect(P::load(ring.paused) != 0, 0))
			return refuse_paused(ring);

		/*
		 * Before `nest` rises: a nested writer that sees nest 0 wakes by
		 * itself, one that sees nest 1 leaves it to us, who notice by
		 * comparing with this stamp. The other way round a nested
		 * writer between the two would have nobody to wake for it.
		 */
		handle.wakeup = P::load(ring.wakeup);
		P::order_nested();
		P::store(ring.nest, P::load(ring.nest) + 1);
		P::order_nested();
		handle.ring = &ring;

		const unsigned long lost = lost_size ? take_lost(ring) : 0;
		const unsigned long wanted = lost ? size + lost_size : size;
		unsigned long from = P::load(ring.head);
		unsigned long to;

		do {
			if (!ring.overwrite) {
				const unsigned long tail =
					P::load_tail(ring.control->data_tail); /* A */

				if (__builtin_expect(free_space<D>(from, tail, ring.size) < wanted,
						     0))
					return refuse_full(ring, handle, lost);
			}
			to = D == Direction::forward ? from + wanted : from - wanted;
		} while (__builtin_expect(!P::exchange_if(ring.head, from, to), 0));
		P::order_nested();

		stamp_watermark(ring, handle, D == Direction::forward ? to : 0 - to);
		place(ring, handle, D == Direction::forward ? from : to);
		return static_cast<long>(lost);
	}

	static bool commit(perf_ring_handle &handle)
	{
		perf_data_ring &ring = *handle.ring;
		const unsigned int depth = P::load(ring.nest);
		unsigned long head;

		if (__builtin_expect(depth > 1, 0)) {
			P::order_nested();
			P::store(ring.nest, depth - 1);
			return false;
		}

		/*
		 * While nest is 1 nobody but us publishes, so data_head cannot
		 * go back. From nest 0 on a nested writer publishes for itself.
		 * One that came in between, after we read head and before nest
		 * fell, did neither: it shows as a moved head, and we go round.
		 */
		do {
			P::store(ring.nest, 1U);
			P::order_nested();
			head = P::load(ring.head);
			P::publish_head(ring.control->data_head, head); /* B */
			P::order_nested();
			P::store(ring.nest, 0U);
			P::order_nested();
		} while (__builtin_expect(P::load(ring.head) != head, 0));

		return P::load(ring.wakeup) != handle.wakeup;
	}

	/*
	 * Events with different intervals may share the ring: each takes its own
	 * interval off the common count, so none starves another.
	 */
	static void count_sample(perf_data_ring &ring, unsigned long every)
	{
		unsigned long seen = P::load(ring.events);

		for (;;) {
			const bool due = seen + 1 >= every;

			if (!P::exchange_if(ring.events, seen, due ? seen + 1 - every : seen + 1))
				continue;
			if (due)
				P::add(ring.wakeup, 1);
			return;
		}
	}

	static void advance(perf_ring_handle &handle, unsigned long len)
	{
		handle.room -= len;
		if (__builtin_expect(handle.room != 0, 1))
			handle.addr = static_cast<char *>(handle.addr) + len;
		else
			enter(*handle.ring, handle, static_cast<unsigned long>(handle.piece) + 1,
			      0);
	}

	static void copy(perf_ring_handle &handle, const void *from, unsigned long len)
	{
		if (__builtin_expect(len == sizeof(unsigned long long) && handle.room > len, 1)) {
			P::copy_word(handle.addr, from);
			handle.addr = static_cast<char *>(handle.addr) + len;
			handle.room -= len;
			return;
		}

		const char *next = static_cast<const char *>(from);

		while (len) {
			const unsigned long now = len < handle.room ? len : handle.room;

			P::copy(handle.addr, next, now);
			advance(handle, now);
			next += now;
			len -= now;
		}
	}

	static void skip(perf_ring_handle &handle, unsigned long len)
	{
		while (len) {
			const unsigned long now = len < handle.room ? len : handle.room;

			advance(handle, now);
			len -= now;
		}
	}

    private:
	/* As many as the return value of reserve() can tell; the rest stays. */
	static unsigned long take_lost(perf_data_ring &ring)
	{
		constexpr unsigned long most = ~0UL >> 1;
		const unsigned long lost = P::exchange(ring.lost, 0UL);

		if (__builtin_expect(lost <= most, 1))
			return lost;
		P::add(ring.lost, lost - most);
		return most;
	}

	static long refuse_paused(perf_data_ring &ring)
	{
		if (!ring.size)
			return PERF_RING_NO_DATA;
		P::add(ring.lost, 1);
		return PERF_RING_FULL;
	}

	/*
	 * What we took over for a LOST record goes back, one more with it. The
	 * commit is for nested writers that relied on us to publish and to wake.
	 */
	static long refuse_full(perf_data_ring &ring, perf_ring_handle &handle, unsigned long lost)
	{
		P::add(ring.lost, lost + 1);
		return commit(handle) ? PERF_RING_FULL_WAKE : PERF_RING_FULL;
	}

	/*
	 * One wake-up for each watermark that the reservation's end has passed,
	 * measured from the stamp of before the reservation: that one is never
	 * ahead of the data. A nested writer that has moved the stamp since, even
	 * beyond our end, makes the exchange fail, and commit() wakes for it.
	 * Measured from the stamp of now, such a writer's data would make the
	 * distance negative, and every record after it would wake.
	 */
	static void stamp_watermark(perf_data_ring &ring, const perf_ring_handle &handle,
				    unsigned long progress)
	{
		unsigned long stamp = handle.wakeup;

		if (__builtin_expect(progress - stamp > ring.watermark, 0))
			P::exchange_if(ring.wakeup, stamp, stamp + ring.watermark);
	}

	static void place(perf_data_ring &ring, perf_ring_handle &handle, unsigned long at)
	{
		enter(ring, handle, at >> ring.piece_shift, at);
	}

	static void enter(perf_data_ring &ring, perf_ring_handle &handle, unsigned long piece,
			  unsigned long at)
	{
		const unsigned long piece_size = 1UL << ring.piece_shift;
		const unsigned long offset = at & (piece_size - 1);

		piece &= (ring.size >> ring.piece_shift) - 1;
		handle.piece = static_cast<int>(piece);
		handle.addr = static_cast<char *>(ring.pieces[piece]) + offset;
		handle.room = piece_size - offset;
	}
};

} // namespace perf_ring

#endif
