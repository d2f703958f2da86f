/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reading side of one AUX area, in full mode: what is there, what is on its way
 * to the file, and how far the area can be given back. Pieces may get safe in any
 * order; the tail only moves over those that are all safe.
 */
#ifndef PERFRING_RECORD_AUX_READER_HH
#define PERFRING_RECORD_AUX_READER_HH

#include "ring_reader.hh"

#include <deque>

namespace perfring::record {

class AuxReader {
    public:
	AuxReader(perf_event_mmap_page *user_page, std::size_t area_size)
		: page(user_page),
		  size(area_size),
		  position(user_page->aux_tail),
		  tail(position)
	{
	}

	/*
	 * Bytes that are there and not yet taken. A head that cannot be is damage: the
	 * reader goes on there, and what lies between is lost.
	 */
	std::size_t ready()
	{
		const std::uint64_t head =
			__atomic_load_n(&page->aux_head, __ATOMIC_ACQUIRE); /* C */
		const std::uint64_t available = head - position;

		if (head - tail > size) {
			damages.times++;
			damages.bytes += available;
			take(available);
			safe_until(position);
			return 0;
		}
		return static_cast<std::size_t>(available);
	}

	/* Takes the next bytes; returns where in the stream they begin. */
	std::uint64_t take(std::uint64_t bytes)
	{
		const std::uint64_t at = position;

		position += bytes;
		pieces.push_back({position, false});
		return at;
	}

	/* The oldest piece that ends at this position is no longer needed. */
	void safe_until(std::uint64_t end)
	{
		for (auto &piece : pieces) {
			if (piece.end == end && !piece.is_safe) {
				piece.is_safe = true;
				break;
			}
		}
		release();
	}

	/* Bytes that were taken and are still needed where they are. */
	std::size_t held() const
	{
		return static_cast<std::size_t>(position - tail);
	}
	std::uint64_t taken_until() const
	{
		return position;
	}
	const Damage &damage() const
	{
		return damages;
	}

    private:
	struct Piece {
		std::uint64_t end;
		bool is_safe;
	};

	void release()
	{
		const std::uint64_t before = tail;

		while (!pieces.empty() && pieces.front().is_safe) {
			tail = pieces.front().end;
			pieces.pop_front();
		}
		if (tail != before)
			__atomic_store_n(&page->aux_tail, tail, __ATOMIC_RELEASE); /* D */
	}

	perf_event_mmap_page *page;
	std::size_t size;
	std::uint64_t position;
	std::uint64_t tail;
	std::deque<Piece> pieces;
	Damage damages;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_AUX_READER_HH */
