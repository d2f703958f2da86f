/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A data ring with its memory: what the kernel's shell provides, and the
 * reader's view of it. Rings can be tiny, since the size of a piece is a
 * parameter.
 */
#ifndef TESTS_HOST_RING_FIXTURE_HH
#define TESTS_HOST_RING_FIXTURE_HH

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <vector>

#include "data_ring.h"
#include "test_record.hh"

namespace ring_test {

enum class Direction { forward, backward };

inline std::ostream &operator<<(std::ostream &out, Direction direction)
{
	return out << (direction == Direction::forward ? "forward" : "backward");
}

struct Geometry {
	unsigned int pieces = 1;
	unsigned int piece_shift = 6;
	bool overwrite = false;
	unsigned long watermark = 0; /* as handed to perf_data_ring_init() */

	unsigned long size() const
	{
		return static_cast<unsigned long>(pieces) << piece_shift;
	}
	friend std::ostream &operator<<(std::ostream &out, const Geometry &g)
	{
		out << g.pieces << "x" << (1UL << g.piece_shift);
		if (g.overwrite)
			out << " overwrite";
		if (g.watermark)
			out << " watermark " << g.watermark;
		return out;
	}
};

/*
 * Pieces lie apart, in descending order and between guards, so that a writer
 * who takes the area for one block, or leaves it, is found out.
 */
class RingFixture {
    public:
	static constexpr std::byte unwritten{0xee};

	explicit RingFixture(const Geometry &geometry)
		: piece_size(1UL << geometry.piece_shift),
		  memory(geometry.pieces * (piece_size + guard_size) + guard_size, guard),
		  pieces(geometry.pieces)
	{
		for (unsigned int i = 0; i < geometry.pieces; i++)
			pieces[i] = piece_memory(geometry.pieces - 1 - i);
		forget();
		perf_data_ring_init(&ring, &control, pieces.data(), geometry.pieces,
				    geometry.piece_shift, geometry.watermark, geometry.overwrite);
	}
	RingFixture(const RingFixture &) = delete;
	RingFixture &operator=(const RingFixture &) = delete;

	/* As if everything up to @position had been written, read and told of. */
	void start_at(unsigned long position, Direction direction)
	{
		ring.head = position;
		ring.wakeup = direction == Direction::forward ? position : 0 - position;
		control.data_head = position;
		control.data_tail = position;
	}

	/* The data area is as if nothing had been written. */
	void forget()
	{
		for (void *piece : pieces)
			std::memset(piece, static_cast<int>(unwritten), piece_size);
	}

	/* Only what a reader consumed is as if nothing had been written. */
	void forget(unsigned long position, unsigned long len)
	{
		for (; len; len--)
			byte_at(position++) = unwritten;
	}

	std::byte &byte_at(unsigned long position)
	{
		const unsigned long place = position % ring.size;

		return static_cast<std::byte *>(pieces[place / piece_size])[place % piece_size];
	}

	/* Words never straddle a piece: positions and pieces are multiples of 8. */
	std::uint64_t word_at(unsigned long position)
	{
		std::uint64_t word;

		std::memcpy(&word, &byte_at(position), sizeof(word));
		return word;
	}

	/* The whole area, byte by byte in order of place. */
	std::vector<std::byte> image()
	{
		std::vector<std::byte> all(ring.size);

		for (unsigned long i = 0; i < all.size(); i++)
			all[i] = byte_at(i);
		return all;
	}

	bool guards_intact() const
	{
		for (std::size_t at = 0; at < memory.size(); at += piece_size + guard_size) {
			const auto from = memory.begin() + static_cast<std::ptrdiff_t>(at);

			if (!std::all_of(from, from + guard_size,
					 [](std::byte b) { return b == guard; }))
				return false;
		}
		return true;
	}

	unsigned long head() const
	{
		return static_cast<unsigned long>(control.data_head);
	}
	void set_tail(unsigned long tail)
	{
		control.data_tail = tail;
	}

	const unsigned long piece_size;
	perf_data_ring ring{};
	perf_ring_control control{};

    private:
	static constexpr int guard_size = 32;
	static constexpr std::byte guard{0xa5};

	std::byte *piece_memory(unsigned int slot)
	{
		return memory.data() + guard_size + slot * (piece_size + guard_size);
	}

	std::vector<std::byte> memory;
	std::vector<void *> pieces;
};

inline long reserve(perf_data_ring &ring, perf_ring_handle &handle, Direction direction,
		    unsigned long size, unsigned long lost_size = 0)
{
	return direction == Direction::forward
		       ? perf_data_ring_reserve_forward(&ring, &handle, size, lost_size)
		       : perf_data_ring_reserve_backward(&ring, &handle, size, lost_size);
}

inline void copy(perf_ring_handle &handle, const Words &words)
{
	perf_output_copy(&handle, words.data(), static_cast<unsigned int>(bytes(words)));
}

/* What became of one record. */
struct Outcome {
	long verdict; /* of reserve */
	bool woken;

	bool kept() const
	{
		return verdict >= 0;
	}
	unsigned long told_lost() const
	{
		return verdict > 0 ? static_cast<unsigned long>(verdict) : 0;
	}
};

/* One whole record, in the steps of the kernel's shell. */
inline Outcome write(RingFixture &fixture, Direction direction, const Words &record)
{
	perf_ring_handle handle{};
	const unsigned long lost_size = fixture.ring.lost ? lost_record_size : 0;
	const long verdict = reserve(fixture.ring, handle, direction, bytes(record), lost_size);

	if (verdict < 0)
		return {verdict, verdict == PERF_RING_FULL_WAKE};
	if (verdict > 0)
		copy(handle, lost_record(static_cast<std::uint64_t>(verdict)));
	copy(handle, record);
	return {verdict, perf_data_ring_commit(&handle) != 0};
}

} // namespace ring_test

#endif
