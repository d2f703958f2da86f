// SPDX-License-Identifier: GPL-2.0
/* Data ring: the writer's place inside a reservation, byte by byte. */
#include <numeric>

#include <gtest/gtest.h>

#include "ring_fixture.hh"

namespace ring_test {
namespace {

class Place : public testing::TestWithParam<Geometry> {
    protected:
	const Geometry geometry = GetParam();
	RingFixture fixture{geometry};
	std::vector<std::byte> expected =
		std::vector<std::byte>(geometry.size(), RingFixture::unwritten);
	perf_ring_handle handle{};
	unsigned long position = 0;

	/* A reservation of the whole area that starts at @start. */
	void begin(unsigned long start)
	{
		position = start;
		fixture.forget();
		std::fill(expected.begin(), expected.end(), RingFixture::unwritten);
		fixture.start_at(start, Direction::forward);
		ASSERT_EQ(reserve(fixture.ring, handle, Direction::forward, geometry.size()), 0);
		expect_place();
	}

	void end()
	{
		perf_data_ring_commit(&handle);
		ASSERT_EQ(fixture.image(), expected);
		ASSERT_TRUE(fixture.guards_intact());
	}

	void expect_place()
	{
		ASSERT_EQ(handle.addr, &fixture.byte_at(position));
		ASSERT_EQ(handle.room, fixture.piece_size - position % fixture.piece_size);
		ASSERT_EQ(static_cast<unsigned long>(handle.piece),
			  position % geometry.size() / fixture.piece_size);
	}

	void copy_bytes(unsigned long len)
	{
		std::vector<std::byte> source(len);

		for (unsigned long i = 0; i < len; i++) {
			source[i] = static_cast<std::byte>(mix(position, i));
			expected[(position + i) % expected.size()] = source[i];
		}
		ASSERT_EQ(perf_output_copy(&handle, source.data(), static_cast<unsigned int>(len)),
			  0U);
		position += len;
		expect_place();
	}

	void skip_bytes(unsigned long len)
	{
		ASSERT_EQ(perf_output_skip(&handle, static_cast<unsigned int>(len)), 0U);
		position += len;
		expect_place();
	}

	/* As the shell does for sources that can fault: write, then move on. */
	void fill_and_advance(unsigned long len)
	{
		while (len) {
			const unsigned long now = std::min(len, handle.room);

			for (unsigned long i = 0; i < now; i++)
				expected[(position + i) % expected.size()] = std::byte{0x3c};
			std::memset(handle.addr, 0x3c, now);
			perf_ring_advance(&handle, now);
			position += now;
			len -= now;
			expect_place();
		}
	}
};

TEST_P(Place, CopyOfEveryLengthAtEveryOffset)
{
	const unsigned long size = geometry.size();

	for (unsigned long start = 0; start < size; start += 8) {
		for (unsigned long before = 0; before < 8; before++) {
			for (unsigned long len = 0; before + len <= size; len++) {
				ASSERT_NO_FATAL_FAILURE(begin(start));
				ASSERT_NO_FATAL_FAILURE(skip_bytes(before));
				ASSERT_NO_FATAL_FAILURE(copy_bytes(len));
				ASSERT_NO_FATAL_FAILURE(end());
			}
		}
	}
}

TEST_P(Place, SkipOfEveryLengthLeavesTheBytes)
{
	const unsigned long size = geometry.size();

	for (unsigned long before = 0; before < 16; before++) {
		for (unsigned long len = 0; before + len + 8 <= size; len++) {
			ASSERT_NO_FATAL_FAILURE(begin(size - 8));
			ASSERT_NO_FATAL_FAILURE(copy_bytes(before));
			ASSERT_NO_FATAL_FAILURE(skip_bytes(len));
			ASSERT_NO_FATAL_FAILURE(copy_bytes(8));
			ASSERT_NO_FATAL_FAILURE(end());
		}
	}
}

TEST_P(Place, AdvanceOfEveryLengthGoesOnInTheNextPiece)
{
	const unsigned long size = geometry.size();

	for (unsigned long start = 0; start < size; start += 8) {
		for (unsigned long len = 0; len <= size; len++) {
			ASSERT_NO_FATAL_FAILURE(begin(start));
			ASSERT_NO_FATAL_FAILURE(fill_and_advance(len));
			ASSERT_NO_FATAL_FAILURE(copy_bytes(size - len));
			ASSERT_NO_FATAL_FAILURE(end());
		}
	}
}

TEST_P(Place, AdvanceByNothingMovesNothing)
{
	ASSERT_NO_FATAL_FAILURE(begin(8));
	perf_ring_advance(&handle, 0);
	ASSERT_NO_FATAL_FAILURE(expect_place());
	ASSERT_NO_FATAL_FAILURE(end());
}

/* Fields as records have them: words, halves, strings, in one reservation. */
TEST_P(Place, MixedFieldsFillTheReservation)
{
	for (unsigned int round = 0; round < 500; round++) {
		unsigned long left = geometry.size();

		ASSERT_NO_FATAL_FAILURE(begin(8 * (round % (geometry.size() / 8))));
		for (unsigned int field = 0; left; field++) {
			const std::uint64_t dice = mix(round, field);
			const unsigned long len =
				std::min(left, dice % 4 ? 8 : 1 + (dice >> 8) % 24);

			if ((dice >> 16) % 4 == 0)
				ASSERT_NO_FATAL_FAILURE(skip_bytes(len));
			else if ((dice >> 16) % 4 == 1)
				ASSERT_NO_FATAL_FAILURE(fill_and_advance(len));
			else
				ASSERT_NO_FATAL_FAILURE(copy_bytes(len));
			left -= len;
		}
		ASSERT_NO_FATAL_FAILURE(end());
	}
}

INSTANTIATE_TEST_SUITE_P(
	Rings, Place,
	testing::Values(Geometry{.pieces = 8, .piece_shift = 3, .overwrite = true},
			Geometry{.pieces = 4, .piece_shift = 4, .overwrite = true},
			Geometry{.pieces = 2, .piece_shift = 6, .overwrite = true},
			Geometry{.pieces = 1, .piece_shift = 6, .overwrite = true}));

/* Whole pages: lengths and offsets around their ends. */
TEST(PagedPlace, CopyAroundEveryPageEnd)
{
	RingFixture fixture{{.pieces = 4, .piece_shift = 12, .overwrite = true}};
	std::vector<std::byte> source(3 * 4096);

	for (std::size_t i = 0; i < source.size(); i++)
		source[i] = static_cast<std::byte>(mix(9, i));

	for (unsigned long page = 1; page <= 4; page++) {
		for (unsigned long before = 0; before <= 32; before += 8) {
			for (unsigned long len = 4096 - 40; len <= 4096 + 40; len++) {
				const unsigned long start = page * 4096 - before;
				perf_ring_handle handle{};

				fixture.start_at(start, Direction::forward);
				ASSERT_EQ(reserve(fixture.ring, handle, Direction::forward, 8192),
					  0);
				perf_output_copy(&handle, source.data(),
						 static_cast<unsigned int>(len));
				perf_data_ring_commit(&handle);
				for (const unsigned long i :
				     {0UL, before, before + 1, len / 2, len - 9, len - 1})
					ASSERT_EQ(fixture.byte_at(start + i), source[i]);
			}
		}
	}
	EXPECT_TRUE(fixture.guards_intact());
}

} // namespace
} // namespace ring_test
