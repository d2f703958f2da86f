// SPDX-License-Identifier: GPL-2.0
/* Data ring: every record that is refused is told of, once. */
#include <climits>

#include <gtest/gtest.h>

#include "ring_fixture.hh"

namespace ring_test {
namespace {

class Lost : public testing::TestWithParam<Direction> {
    protected:
	const Direction direction = GetParam();
	RingFixture fixture{{.pieces = 2, .piece_shift = 5}};

	unsigned long distance(unsigned long from, unsigned long to) const
	{
		return direction == Direction::forward ? to - from : from - to;
	}
	Outcome write_one(std::uint32_t id, unsigned long size)
	{
		return write(fixture, direction, data_record(id, size));
	}
	void fill()
	{
		while (write_one(0, 8).kept())
			;
		fixture.ring.lost = 0;
	}
	void read_all()
	{
		fixture.set_tail(fixture.head());
	}
};

TEST_P(Lost, KeptAndToldAndPendingMakeProduced)
{
	unsigned long kept = 0;
	unsigned long told = 0;

	for (std::uint32_t produced = 1; produced <= 5000; produced++) {
		const std::uint64_t dice = mix(42, produced);
		const Outcome outcome = write_one(produced, 8 + 8 * (dice % 9));

		kept += outcome.kept();
		told += outcome.told_lost();
		ASSERT_EQ(kept + told + fixture.ring.lost, produced);
		if ((dice >> 8) % 4 == 0)
			read_all();
		perf_data_ring_set_paused(&fixture.ring, (dice >> 16) % 8 == 0);
	}
	EXPECT_GT(kept, 100U);
	EXPECT_GT(told, 100U);
}

TEST_P(Lost, TheLostRecordComesFirstInTheSameReservation)
{
	fill();
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(write_one(1, 16).verdict, PERF_RING_FULL);
	read_all();

	const unsigned long before = fixture.head();
	const Words record = data_record(2, 16);
	const Outcome outcome = write(fixture, direction, record);

	EXPECT_EQ(outcome.verdict, 3);
	EXPECT_EQ(fixture.ring.lost, 0U);
	ASSERT_EQ(distance(before, fixture.head()), lost_record_size + bytes(record));

	const unsigned long from = direction == Direction::forward ? before : fixture.head();

	EXPECT_EQ(fixture.word_at(from), lost_record(3)[0]);
	EXPECT_EQ(fixture.word_at(from + 8), 3U);
	EXPECT_EQ(fixture.word_at(from + 16), record[0]);
	EXPECT_EQ(fixture.word_at(from + 24), record[1]);
}

TEST_P(Lost, BothRecordsFitOrNeitherIsTaken)
{
	/* 64 bytes, one word of which stays free. */
	for (unsigned long used = 0; used <= 56; used += 8) {
		for (unsigned long size = 8; size <= 56; size += 8) {
			fixture.start_at(0, direction);
			fixture.ring.lost = 0;
			if (used) {
				ASSERT_TRUE(write_one(0, used).kept());
			}
			fixture.ring.lost = 9;

			const Outcome outcome = write_one(1, size);
			const bool fits = used + size + lost_record_size <= 56;

			ASSERT_EQ(outcome.verdict, fits ? 9 : PERF_RING_FULL);
			ASSERT_EQ(fixture.ring.lost, fits ? 0U : 10U);
			ASSERT_EQ(fixture.ring.nest, 0U);
		}
	}
}

TEST_P(Lost, WhoLeavesNoBytesForItIsNotTold)
{
	perf_ring_handle handle{};

	fixture.ring.lost = 5;
	ASSERT_EQ(reserve(fixture.ring, handle, direction, 16, 0), 0);
	perf_data_ring_commit(&handle);
	EXPECT_EQ(fixture.ring.lost, 5U);
	EXPECT_EQ(distance(0, fixture.head()), 16U);
}

TEST_P(Lost, MoreThanAReturnValueHoldsIsToldOfInParts)
{
	for (const unsigned long rest : {0UL, 1UL, 1UL << 63}) {
		fixture.start_at(0, direction);
		fixture.ring.lost = LONG_MAX + rest;
		EXPECT_EQ(write_one(1, 8).verdict, LONG_MAX);
		EXPECT_EQ(fixture.ring.lost, rest);
	}
}

TEST_P(Lost, WithoutLossTheBytesForItAreNotTaken)
{
	perf_ring_handle handle{};

	ASSERT_EQ(reserve(fixture.ring, handle, direction, 16, lost_record_size), 0);
	perf_data_ring_commit(&handle);
	EXPECT_EQ(distance(0, fixture.head()), 16U);
}

TEST_P(Lost, PauseRefusesAndCounts)
{
	perf_data_ring_set_paused(&fixture.ring, 1);
	for (unsigned long i = 1; i <= 10; i++) {
		EXPECT_EQ(write_one(0, 8).verdict, PERF_RING_FULL);
		EXPECT_EQ(fixture.ring.lost, i);
	}
	EXPECT_EQ(fixture.ring.head, 0U);
	EXPECT_EQ(fixture.ring.nest, 0U);

	perf_data_ring_set_paused(&fixture.ring, 0);
	EXPECT_EQ(write_one(1, 8).verdict, 10);
}

TEST_P(Lost, PauseLetsAWriterInsideFinish)
{
	perf_ring_handle handle{};
	const Words record = data_record(4, 24);

	ASSERT_EQ(reserve(fixture.ring, handle, direction, bytes(record)), 0);
	perf_data_ring_set_paused(&fixture.ring, -1);
	EXPECT_EQ(write_one(5, 8).verdict, PERF_RING_FULL);
	copy(handle, record);
	perf_data_ring_commit(&handle);
	EXPECT_EQ(distance(0, fixture.head()), bytes(record));
	EXPECT_EQ(fixture.ring.nest, 0U);
	EXPECT_EQ(fixture.ring.lost, 1U);
}

TEST_P(Lost, PauseHoldsForOverwriteToo)
{
	RingFixture overwritten{{.pieces = 2, .piece_shift = 5, .overwrite = true}};

	perf_data_ring_set_paused(&overwritten.ring, 1);
	EXPECT_EQ(write(overwritten, direction, data_record(0, 8)).verdict, PERF_RING_FULL);
	EXPECT_EQ(overwritten.ring.lost, 1U);
	perf_data_ring_set_paused(&overwritten.ring, 0);
	EXPECT_EQ(write(overwritten, direction, data_record(0, 8)).verdict, 1);
}

TEST_P(Lost, WithoutDataAreaNothingIsCounted)
{
	for (const bool overwrite : {false, true}) {
		RingFixture empty{{.pieces = 0, .piece_shift = 12, .overwrite = overwrite}};

		for (const int paused : {0, 1, 0}) {
			EXPECT_EQ(write(empty, direction, data_record(0, 8)).verdict,
				  PERF_RING_NO_DATA);
			perf_data_ring_set_paused(&empty.ring, paused);
		}
		EXPECT_EQ(write(empty, direction, data_record(0, 8)).verdict, PERF_RING_NO_DATA);
		EXPECT_EQ(empty.ring.lost, 0U);
		EXPECT_EQ(empty.ring.nest, 0U);
		EXPECT_EQ(empty.ring.head, 0U);
	}
}

INSTANTIATE_TEST_SUITE_P(Directions, Lost,
			 testing::Values(Direction::forward, Direction::backward));

} // namespace
} // namespace ring_test
