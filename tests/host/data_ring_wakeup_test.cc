// SPDX-License-Identifier: GPL-2.0
/* Data ring: when the reader is woken, by bytes and by samples. */
#include <climits>
#include <cstdlib>
#include <numeric>

#include <gtest/gtest.h>

#include "ring_fixture.hh"

namespace ring_test {
namespace {

TEST(Watermark, DefaultsToHalfTheAreaAndEndsAtTheArea)
{
	struct {
		unsigned long asked;
		unsigned long got;
	} const table[] = {{0, 64},    {1, 1},	   {64, 64},	    {127, 127},
			   {128, 128}, {129, 128}, {ULONG_MAX, 128}};

	for (const auto &[asked, got] : table) {
		RingFixture fixture{{.pieces = 4, .piece_shift = 5, .watermark = asked}};

		EXPECT_EQ(fixture.ring.watermark, got) << asked << " asked";
		EXPECT_EQ(fixture.ring.size, 128U);
	}
}

TEST(Watermark, WithoutDataAreaThereIsNone)
{
	for (const unsigned long asked : {0UL, 1UL, 4096UL}) {
		RingFixture fixture{{.pieces = 0, .piece_shift = 12, .watermark = asked}};

		EXPECT_EQ(fixture.ring.watermark, 0U);
		EXPECT_EQ(fixture.ring.size, 0U);
	}
}

/*
 * Wake-ups by bytes: a mark stands one watermark ahead; the record that ends
 * beyond it wakes and moves it by one watermark, however far beyond that is.
 */
class Mark {
    public:
	explicit Mark(unsigned long watermark) : step(watermark), next(watermark)
	{
	}
	bool passed_by(unsigned long len)
	{
		written += len;
		if (written <= next)
			return false;
		next += step;
		return true;
	}
	/* A wake-up by count stands for one byte. */
	void woken_by_count()
	{
		next++;
	}

    private:
	const unsigned long step;
	unsigned long next;
	unsigned long written = 0;
};

class ByBytes : public testing::TestWithParam<unsigned long> {
    protected:
	RingFixture fixture{{.pieces = 4, .piece_shift = 6, .watermark = GetParam()}};

	/* Both directions, from the beginning and over the wraps of positions. */
	template <class Check> void in_every_position(Check check)
	{
		for (const unsigned long start : {0UL, 64UL, 0UL - 64, (1UL << 63) - 64}) {
			for (const Direction direction :
			     {Direction::forward, Direction::backward}) {
				fixture.start_at(start, direction);
				ASSERT_NO_FATAL_FAILURE(check(direction))
					<< direction << " from " << start;
			}
		}
	}

	/* Records of @size_of(index). Returns the wake-ups. */
	template <class Size>
	unsigned long stream(Direction direction, unsigned int records, Size size_of)
	{
		Mark mark(fixture.ring.watermark);
		unsigned long wakeups = 0;

		for (std::uint32_t i = 0; i < records && !HasFailure(); i++) {
			const Outcome outcome =
				write(fixture, direction, data_record(i, size_of(i)));

			EXPECT_TRUE(outcome.kept());
			EXPECT_EQ(outcome.woken, mark.passed_by(size_of(i))) << "record " << i;
			wakeups += outcome.woken;
			fixture.set_tail(fixture.head());
		}
		return wakeups;
	}
};

TEST_P(ByBytes, EqualRecordsOfEverySize)
{
	for (unsigned long size = 8; size < 256; size += 8) {
		in_every_position([&](Direction direction) {
			const unsigned long wakeups =
				stream(direction, 200, [=](auto) { return size; });

			/* While no record is longer than a watermark, each is told of once. */
			if (size <= fixture.ring.watermark) {
				EXPECT_EQ(wakeups, (200 * size - 1) / fixture.ring.watermark);
			}
			ASSERT_FALSE(HasFailure()) << "size " << size;
		});
	}
}

TEST_P(ByBytes, MixedRecords)
{
	in_every_position([this](Direction direction) {
		stream(direction, 1000, [](std::uint32_t i) { return 8 + 8 * (mix(1, i) % 31); });
		ASSERT_FALSE(HasFailure());
	});
}

TEST_P(ByBytes, ARefusalNeitherWakesNorCounts)
{
	in_every_position([this](Direction direction) {
		while (write(fixture, direction, data_record(0, 8)).kept())
			;

		const unsigned long stamp = fixture.ring.wakeup;

		for (int i = 0; i < 100; i++)
			ASSERT_EQ(write(fixture, direction, data_record(0, 8)).verdict,
				  PERF_RING_FULL);
		ASSERT_EQ(fixture.ring.wakeup, stamp);
		fixture.ring.lost = 0;
	});
}

TEST_P(ByBytes, TheOutermostWakesForTheNested)
{
	in_every_position([this](Direction direction) {
		perf_ring_handle task{};
		perf_ring_handle irq{};

		ASSERT_EQ(reserve(fixture.ring, task, direction, 8), 0);
		ASSERT_EQ(reserve(fixture.ring, irq, direction, 240), 0);
		ASSERT_FALSE(perf_data_ring_commit(&irq));
		ASSERT_EQ(perf_data_ring_commit(&task) != 0, fixture.ring.watermark < 248);
	});
}

INSTANTIATE_TEST_SUITE_P(Watermarks, ByBytes, testing::Values(0, 1, 8, 20, 64, 200, 256));

/* Wake-ups by samples, on a ring whose watermark no record reaches. */
class BySamples : public testing::Test {
    protected:
	RingFixture fixture{{.pieces = 1, .piece_shift = 16, .watermark = 65536}};

	bool sample(unsigned int every)
	{
		perf_ring_handle handle{};

		fixture.start_at(0, Direction::forward);
		EXPECT_EQ(reserve(fixture.ring, handle, Direction::forward, 8), 0);
		perf_data_ring_count_sample(&fixture.ring, every);
		return perf_data_ring_commit(&handle) != 0;
	}
};

TEST_F(BySamples, EveryNthWakes)
{
	for (unsigned int every = 1; every <= 20; every++) {
		fixture.ring.events = 0;
		for (unsigned int i = 1; i <= 10 * every; i++)
			ASSERT_EQ(sample(every), i % every == 0) << i << "th of " << every;
		EXPECT_EQ(fixture.ring.events, 0U);
	}
}

TEST_F(BySamples, TheLargestIntervalIsStillAnInterval)
{
	fixture.ring.events = UINT_MAX - 2UL;
	EXPECT_FALSE(sample(UINT_MAX));
	EXPECT_TRUE(sample(UINT_MAX));
	EXPECT_EQ(fixture.ring.events, 0U);
}

/* Samples counted are either in the count or in intervals that woke. */
TEST_F(BySamples, EachEventTakesItsOwnIntervalOffTheCommonCount)
{
	const unsigned int intervals[] = {1, 3, 7, 10};
	unsigned long counted = 0;
	unsigned long taken = 0;

	for (unsigned int i = 0; i < 100000; i++) {
		const std::size_t event = mix(5, i) % std::size(intervals);
		const bool due = fixture.ring.events + 1 >= intervals[event];
		const bool woken = sample(intervals[event]);

		counted++;
		taken += woken ? intervals[event] : 0;
		ASSERT_EQ(woken, due) << "sample " << i;
		ASSERT_EQ(fixture.ring.events, counted - taken);
	}
	EXPECT_GT(taken, counted - 10);
}

TEST_F(BySamples, AShortIntervalLeavesTheRestToALongOne)
{
	for (unsigned int i = 1; i < 10; i++)
		ASSERT_FALSE(sample(10));
	EXPECT_TRUE(sample(2));
	EXPECT_EQ(fixture.ring.events, 8U);
	EXPECT_FALSE(sample(10));
	EXPECT_TRUE(sample(10));
}

/* Bytes and samples together; one record may be due by both and wakes once. */
TEST(Wakeup, ByCountAndByBytesInOneRing)
{
	RingFixture fixture{{.pieces = 1, .piece_shift = 8, .watermark = 100}};
	Mark mark(100);
	unsigned long samples = 0;

	for (std::uint32_t i = 0; i < 3000; i++) {
		const bool by_bytes = mark.passed_by(8);
		const bool counts = mix(3, i) % 2;
		const bool by_count = counts && ++samples % 10 == 0;
		perf_ring_handle handle{};

		if (by_count)
			mark.woken_by_count();
		ASSERT_EQ(reserve(fixture.ring, handle, Direction::forward, 8), 0);
		if (counts)
			perf_data_ring_count_sample(&fixture.ring, 10);
		ASSERT_EQ(perf_data_ring_commit(&handle) != 0, by_bytes || by_count) << i;
		fixture.set_tail(fixture.head());
	}
}

} // namespace
} // namespace ring_test
