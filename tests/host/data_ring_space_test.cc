// SPDX-License-Identifier: GPL-2.0
/* Data ring: which reservations fit, and where their bytes go. */
#include <climits>
#include <tuple>

#include <gtest/gtest.h>

#include "ring_fixture.hh"

namespace ring_test {
namespace {

/* Places of a record: [first, first + len) for a writer that starts at @head. */
unsigned long first_byte(unsigned long head, unsigned long len, Direction direction)
{
	return direction == Direction::forward ? head : head - len;
}

unsigned long moved(unsigned long head, unsigned long len, Direction direction)
{
	return direction == Direction::forward ? head + len : head - len;
}

/*
 * Bytes that may be taken at @head until the reader's place comes next: found
 * by walking, so that any tail has an answer.
 */
unsigned long room_by_walking(unsigned long head, unsigned long tail, unsigned long size,
			      Direction direction)
{
	for (unsigned long room = 0; room < size; room++) {
		const unsigned long next = moved(head, room + 1, direction);

		if (next % size == tail % size)
			return room;
	}
	ADD_FAILURE() << "no place of the area is the reader's";
	return 0;
}

/* Take @len bytes without writing them. */
bool take(RingFixture &fixture, Direction direction, unsigned long len)
{
	perf_ring_handle handle{};

	if (reserve(fixture.ring, handle, direction, len) < 0)
		return false;
	perf_data_ring_commit(&handle);
	return true;
}

const Geometry tiny_rings[] = {
	{.pieces = 1, .piece_shift = 6}, {.pieces = 2, .piece_shift = 5},
	{.pieces = 8, .piece_shift = 3}, {.pieces = 1, .piece_shift = 7},
	{.pieces = 4, .piece_shift = 5}, {.pieces = 1, .piece_shift = 8},
	{.pieces = 4, .piece_shift = 6},
};

class Space : public testing::TestWithParam<Direction> {
    protected:
	const Direction direction = GetParam();

	template <class Check> void in_every_ring(Check check)
	{
		for (const Geometry &geometry : tiny_rings) {
			RingFixture fixture{geometry};

			ASSERT_NO_FATAL_FAILURE(check(fixture)) << geometry;
			ASSERT_EQ(fixture.ring.nest, 0U);
			ASSERT_TRUE(fixture.guards_intact()) << geometry;
		}
	}

	unsigned long moved_on(unsigned long head, unsigned long len) const
	{
		return moved(head, len, direction);
	}

	static void expect_only(RingFixture &fixture, const Words &record, unsigned long from)
	{
		std::vector<std::byte> expected(fixture.ring.size, RingFixture::unwritten);

		for (unsigned long i = 0; i < bytes(record); i++)
			expected[(from + i) % expected.size()] =
				reinterpret_cast<const std::byte *>(record.data())[i];
		ASSERT_EQ(fixture.image(), expected);
	}

	/* One record of @size where @used bytes from @start on are unread. */
	void expect_rule(RingFixture &fixture, unsigned long start, unsigned long used,
			 unsigned long size)
	{
		const unsigned long head = moved_on(start, used);
		const Words record = data_record(7, size);

		fixture.forget();
		fixture.ring.lost = 0;
		fixture.start_at(start, direction);
		if (used) {
			ASSERT_TRUE(take(fixture, direction, used));
		}

		const Outcome outcome = write(fixture, direction, record);
		const bool fits = used + size <= fixture.ring.size - 8;

		ASSERT_EQ(outcome.verdict, fits ? 0 : PERF_RING_FULL);
		ASSERT_EQ(fixture.ring.lost, fits ? 0U : 1U);
		ASSERT_EQ(fixture.ring.head, fits ? moved_on(head, size) : head);
		expect_only(fixture, fits ? record : Words{}, first_byte(head, size, direction));
	}
};

TEST_P(Space, EveryFillLevelAndSizeAtEveryPlace)
{
	in_every_ring([this](RingFixture &fixture) {
		const unsigned long area = fixture.ring.size;

		/* From where positions wrap back over a whole area. */
		for (unsigned long back = 0; back < area; back += 8)
			for (unsigned long used = 0; used < area; used += 8)
				for (unsigned long size = 8; size <= area + 16; size += 8)
					ASSERT_NO_FATAL_FAILURE(
						expect_rule(fixture, 0 - back, used, size))
						<< "from " << 0 - back << ", " << used << " used, "
						<< size << " wanted";
	});
}

TEST_P(Space, AnyTailLeavesSomeRoomBelowTheSize)
{
	in_every_ring([this](RingFixture &fixture) {
		const unsigned long area = fixture.ring.size;
		std::vector<unsigned long> tails = {ULONG_MAX, ULONG_MAX - 1, LONG_MAX, 1UL << 63};

		for (unsigned long i = 0; i < 2 * area; i++)
			tails.insert(tails.end(), {256 + i, 256 - i}); /* also odd */

		for (const unsigned long tail : tails) {
			for (unsigned long size = 8; size <= area + 8; size += 8) {
				fixture.start_at(256, direction);
				fixture.set_tail(tail);
				ASSERT_EQ(take(fixture, direction, size),
					  size <= room_by_walking(256, tail, area, direction))
					<< "tail " << tail << ", " << size << " wanted";
			}
		}
	});
}

TEST_P(Space, AStreamThatFollowsTheReaderCrossesTheWrapOfPositions)
{
	in_every_ring([this](RingFixture &fixture) {
		const unsigned long area = fixture.ring.size;

		for (unsigned long size = 8; size < area; size += 8) {
			fixture.start_at(moved_on(0, 0 - 3 * area), direction);

			for (std::uint32_t id = 0; id < 6 * area / size; id++) {
				const unsigned long head = fixture.head();
				const Words record = data_record(id, size);

				fixture.forget();
				ASSERT_EQ(write(fixture, direction, record).verdict, 0);
				ASSERT_EQ(fixture.head(), moved_on(head, size));
				ASSERT_NO_FATAL_FAILURE(expect_only(
					fixture, record, first_byte(head, size, direction)));
				fixture.set_tail(fixture.head());
			}
		}
	});
}

TEST_P(Space, WhatIsLongerThanTheAreaIsRefused)
{
	in_every_ring([this](RingFixture &fixture) {
		for (const unsigned long size :
		     {fixture.ring.size, 65528UL, 1UL << 31, 1UL << 40}) {
			fixture.start_at(0, direction);
			EXPECT_FALSE(take(fixture, direction, size)) << size;
			EXPECT_EQ(fixture.ring.head, 0U);
			EXPECT_EQ(fixture.head(), 0U);
		}
	});
}

TEST_P(Space, TheAreaIsFilledButForOneWord)
{
	in_every_ring([this](RingFixture &fixture) {
		unsigned long kept = 0;

		while (take(fixture, direction, 8))
			kept += 8;
		EXPECT_EQ(kept, fixture.ring.size - 8);

		fixture.set_tail(moved_on(0, 8));
		EXPECT_TRUE(take(fixture, direction, 8));
		EXPECT_FALSE(take(fixture, direction, 8));
	});
}

TEST_P(Space, ARecordIsPublishedByItsCommit)
{
	in_every_ring([this](RingFixture &fixture) {
		perf_ring_handle handle{};

		fixture.start_at(64, direction);
		ASSERT_EQ(reserve(fixture.ring, handle, direction, 16), 0);
		EXPECT_EQ(fixture.head(), 64U);
		EXPECT_EQ(fixture.ring.nest, 1U);
		copy(handle, data_record(1, 16));
		EXPECT_EQ(fixture.head(), 64U);
		perf_data_ring_commit(&handle);
		EXPECT_EQ(fixture.head(), moved_on(64, 16));
	});
}

TEST_P(Space, TheOutermostOfNestedWritersPublishesAll)
{
	in_every_ring([this](RingFixture &fixture) {
		perf_ring_handle task{};
		perf_ring_handle irq{};
		perf_ring_handle nmi{};

		ASSERT_EQ(reserve(fixture.ring, task, direction, 16), 0);
		ASSERT_EQ(reserve(fixture.ring, irq, direction, 8), 0);
		ASSERT_EQ(reserve(fixture.ring, nmi, direction, 8), 0);
		EXPECT_EQ(fixture.ring.nest, 3U);
		EXPECT_FALSE(perf_data_ring_commit(&nmi));
		EXPECT_EQ(fixture.head(), 0U);
		EXPECT_FALSE(perf_data_ring_commit(&irq));
		EXPECT_EQ(fixture.head(), 0U);
		perf_data_ring_commit(&task);
		EXPECT_EQ(fixture.head(), moved_on(0, 32));
	});
}

INSTANTIATE_TEST_SUITE_P(Directions, Space,
			 testing::Values(Direction::forward, Direction::backward));

/* The kernel's smallest piece is a page: every level and size, not every place. */
class PagedSpace : public testing::TestWithParam<std::tuple<Geometry, Direction>> {};

TEST_P(PagedSpace, EveryFillLevelAndSize)
{
	const auto &[geometry, direction] = GetParam();
	const unsigned long size = geometry.size();
	const unsigned long start = moved(0, 0UL - 4096, direction);
	RingFixture fixture{geometry};

	for (unsigned long used = 0; used < size; used += 8) {
		for (unsigned long wanted = 8; wanted <= size + 16; wanted += 8) {
			fixture.start_at(start, direction);
			if (used) {
				ASSERT_TRUE(take(fixture, direction, used));
			}
			ASSERT_EQ(take(fixture, direction, wanted), used + wanted <= size - 8)
				<< used << " used, " << wanted << " wanted";
		}
	}
	EXPECT_EQ(fixture.ring.nest, 0U);
}

TEST_P(PagedSpace, ARecordOfManyPagesIsWhereItBelongs)
{
	const auto &[geometry, direction] = GetParam();
	RingFixture fixture{geometry};

	for (unsigned long start = 4096 - 24; start <= 4096 + 24; start += 8) {
		for (unsigned long size = geometry.size() - 48; size < geometry.size(); size += 8) {
			const Words record = data_record(3, size);
			const unsigned long from = first_byte(start, size, direction);

			fixture.start_at(start, direction);
			ASSERT_EQ(write(fixture, direction, record).verdict, 0);
			for (unsigned long i = 0; i < record.size(); i++)
				ASSERT_EQ(fixture.word_at(from + 8 * i), record[i]);
		}
	}
	EXPECT_TRUE(fixture.guards_intact());
}

const Geometry paged_rings[] = {
	{.pieces = 1, .piece_shift = 12}, /* one page */
	{.pieces = 2, .piece_shift = 12}, /* two pages, apart */
	{.pieces = 1, .piece_shift = 13}, /* two pages in one block, as of vmalloc() */
};

INSTANTIATE_TEST_SUITE_P(Pages, PagedSpace,
			 testing::Combine(testing::ValuesIn(paged_rings),
					  testing::Values(Direction::forward,
							  Direction::backward)));

class Overwrite : public testing::TestWithParam<Direction> {};

TEST_P(Overwrite, IgnoresTheTailAndNeverRefuses)
{
	const Direction direction = GetParam();
	RingFixture fixture{{.pieces = 4, .piece_shift = 5, .overwrite = true}};
	unsigned long head = 0;

	for (std::uint32_t id = 0; id < 1000; id++) {
		const unsigned long size = 8 + 8 * (id % 15);
		const Words record = data_record(id, size);
		const unsigned long from = first_byte(head, size, direction);

		fixture.set_tail(id % 3 ? head : ULONG_MAX);
		ASSERT_EQ(write(fixture, direction, record).verdict, 0);
		head = moved(head, size, direction);
		ASSERT_EQ(fixture.head(), head);
		for (unsigned long i = 0; i < record.size(); i++)
			ASSERT_EQ(fixture.word_at(from + 8 * i), record[i]);
	}
	EXPECT_EQ(fixture.ring.lost, 0U);
}

/* It overwrites its own beginning: useless, but nothing else may come to harm. */
TEST_P(Overwrite, ARecordLargerThanTheRingStaysInTheRing)
{
	const Direction direction = GetParam();
	RingFixture fixture{{.pieces = 4, .piece_shift = 5, .overwrite = true}};

	for (unsigned long size = 128; size <= 520; size += 8) {
		const Words record = data_record(1, size);
		const unsigned long from = first_byte(fixture.head(), size, direction);

		ASSERT_EQ(write(fixture, direction, record).verdict, 0);
		for (unsigned long i = record.size() - 16; i < record.size(); i++)
			ASSERT_EQ(fixture.word_at(from + 8 * i), record[i]);
		ASSERT_TRUE(fixture.guards_intact());
	}
}

INSTANTIATE_TEST_SUITE_P(Directions, Overwrite,
			 testing::Values(Direction::forward, Direction::backward));

} // namespace
} // namespace ring_test
