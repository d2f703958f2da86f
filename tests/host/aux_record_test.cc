// SPDX-License-Identifier: GPL-2.0
/* AUX ring: what the records say, and what becomes of those that cannot be written. */
#include <vector>

#include <gtest/gtest.h>

#include "aux_fixture.hh"

namespace ring_test {
namespace {

using Flags = unsigned long long;

constexpr Flags truncated = PERF_AUX_FLAG_TRUNCATED;
constexpr Flags overwrite = PERF_AUX_FLAG_OVERWRITE;
constexpr Flags partial = PERF_AUX_FLAG_PARTIAL;
constexpr Flags collision = PERF_AUX_FLAG_COLLISION;
constexpr Flags lost = PERF_AUX_FLAG_LOST;
constexpr Flags format = PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK;

constexpr unsigned int stop_and_wake = stop | wake;
constexpr unsigned int tell_stop_and_wake = tell | stop_and_wake;

/* Far from the end of anything, so that only records are in question. */
struct AuxRecord : testing::Test {
	static constexpr unsigned long start = 1UL << 20;

	AuxFixture aux{1UL << 16, 1UL << 15, false, start};

	void begin(Flags flags = 0)
	{
		ASSERT_EQ(aux.begin(), PERF_AUX_OPENED);
		aux.handle.flags = flags;
	}
	/* A transaction whose record gets into the data ring. */
	unsigned int write(unsigned long size, Flags flags = 0)
	{
		begin(flags);
		aux.report = stale_report;
		return aux.end(size);
	}
	/* One whose record does not. */
	void write_untold(unsigned long size, Flags flags = 0)
	{
		begin(flags);
		aux.end_untold(size);
	}
	/* The reader stays where it is, and all is full. */
	void fill_up()
	{
		aux.control.aux_tail = aux.ring.head - (aux.ring.size - 1);
	}
	/* What becomes of a begin then. */
	unsigned int refuse()
	{
		EXPECT_EQ(aux.begin(), PERF_AUX_FULL);
		aux.report = stale_report;
		return aux.refuse();
	}
	void refuse_untold()
	{
		EXPECT_EQ(aux.begin(), PERF_AUX_FULL);
		perf_aux_ring_refuse(&aux.ring, &aux.report);
		perf_aux_ring_untold(&aux.ring, &aux.report);
		perf_aux_ring_close(&aux.ring);
	}
	void lose_within(unsigned long bytes, unsigned long long since)
	{
		EXPECT_EQ(aux.lose(bytes, since), 0U);
	}
	void expect_report(unsigned long offset, unsigned long size, Flags flags,
			   unsigned long lost_bytes = 0, unsigned long long since = 0)
	{
		EXPECT_EQ(aux.report,
			  (perf_aux_report{start + offset, size, flags, lost_bytes, since}));
	}
};

/* Which ends are told, for all that a driver can say, written or not, with loss or not. */
TEST_F(AuxRecord, OfAnEndIsToldIfItSaysSomething)
{
	for (unsigned int set = 0; set < 1 << 6; set++) {
		const Flags flags = (set & 1 ? truncated : 0) | (set & 2 ? partial : 0) |
				    (set & 4 ? collision : 0) | (set & 8 ? 0x0100 : 0) |
				    (set & 16 ? 0x8000 : 0) | (set & 32 ? overwrite : 0);

		for (const unsigned long size : {0UL, 8UL}) {
			for (const unsigned long gone : {0UL, 5UL}) {
				AuxFixture ring(64);

				ring.begin();
				ring.handle.flags = flags;
				perf_aux_ring_lose(&ring.ring, gone, 77, &ring.report);

				const unsigned int todo = ring.commit(size);
				const Flags gap = flags & truncated ? 0 : partial;
				const Flags expected =
					(flags & ~overwrite) | (gone ? lost | gap : 0);
				const bool says =
					size || gone || flags & (truncated | partial | collision);

				ASSERT_EQ(todo, (says ? tell : 0) |
							(flags & truncated ? stop_and_wake : 0));
				ASSERT_EQ(ring.report, (perf_aux_report{0, size, expected, gone,
									gone ? 77U : 0U}));
			}
		}
	}
}

TEST_F(AuxRecord, OfASnapshotAlwaysSaysSo)
{
	AuxFixture ring(64, 0, true);

	for (const Flags flags : {Flags{0}, overwrite, truncated, collision, format}) {
		const bool says = flags & (truncated | collision);

		for (const unsigned long size : {0UL, 8UL}) {
			ring.begin();
			ring.handle.flags = flags;
			EXPECT_EQ(ring.end(size), (says || size ? tell : 0) |
							  (flags & truncated ? stop_and_wake : 0));
			EXPECT_EQ(ring.report.flags, flags | overwrite);
		}
	}
}

TEST_F(AuxRecord, OfACutIsToldOnce)
{
	fill_up();
	EXPECT_EQ(refuse(), tell_stop_and_wake);
	expect_report(0, 0, truncated);
	EXPECT_EQ(refuse(), stop_and_wake);
	EXPECT_EQ(refuse(), stop_and_wake);

	/* It went on meanwhile, so this is another cut. */
	aux.control.aux_tail = aux.ring.head;
	write(8);
	fill_up();
	EXPECT_EQ(refuse(), tell_stop_and_wake);
	expect_report(8, 0, truncated);
}

/* As it is after a driver has found no room itself: the event comes back to the same. */
TEST_F(AuxRecord, OfACutByTheDriverIsToldOnce)
{
	EXPECT_EQ(write(8, truncated), tell_stop_and_wake);
	fill_up();
	EXPECT_EQ(refuse(), stop_and_wake);
}

TEST_F(AuxRecord, OfACutIsToldAgainInAnotherArea)
{
	write(8, truncated);
	perf_aux_ring_setup(&aux.ring, &aux.control, 1UL << 16, 1UL << 15, 0);
	fill_up();
	EXPECT_EQ(refuse(), tell_stop_and_wake);
}

TEST_F(AuxRecord, OfACutIsToldAgainWithWhatIsNew)
{
	fill_up();
	refuse();
	aux.begin();
	lose_within(5, 50);
	aux.refuse();
	expect_report(0, 0, truncated | lost, 5, 50);
	EXPECT_EQ(refuse(), stop_and_wake);

	aux.control.aux_tail = aux.ring.head;
	write(0);
	fill_up();
	refuse_untold();
	EXPECT_EQ(refuse(), tell_stop_and_wake) << "nobody has heard of it";
	expect_report(0, 0, truncated);
	EXPECT_EQ(refuse(), stop_and_wake);
}

TEST_F(AuxRecord, ThatWasRefusedIsMergedIntoTheNext)
{
	write_untold(8, collision);
	write_untold(16, 0x0100);
	EXPECT_EQ(write(24), tell);
	expect_report(0, 48, collision);
	EXPECT_EQ(write(8), tell);
	expect_report(48, 8, 0);
}

/* Of zero bytes, with nothing to say of its own. */
TEST_F(AuxRecord, ThatWasRefusedIsToldByAnEndOfNothing)
{
	write_untold(8);
	EXPECT_EQ(write(0), tell);
	expect_report(0, 8, 0);
	EXPECT_EQ(write(0), 0U);

	write_untold(0, collision);
	EXPECT_EQ(write(0), tell);
	expect_report(8, 0, collision);
}

TEST_F(AuxRecord, ThatWasRefusedIsToldByARefusalAndByALoss)
{
	write_untold(8, partial);
	fill_up();
	EXPECT_EQ(refuse(), tell_stop_and_wake);
	expect_report(0, 8, truncated | partial);

	aux.control.aux_tail = aux.ring.head;
	write_untold(16);
	EXPECT_EQ(aux.lose(5, 50), tell);
	expect_report(8, 16, lost | partial, 5, 50);
	perf_aux_ring_close(&aux.ring);
}

TEST_F(AuxRecord, OfACutThatWasRefusedDoesNotStopTheNextTransaction)
{
	write_untold(8, truncated);
	EXPECT_EQ(write(8), tell);
	expect_report(0, 16, truncated);
	fill_up();
	EXPECT_EQ(refuse(), tell_stop_and_wake) << "the transaction has begun since";
}

/*
 * The format is a number and not bits: that of the latest data, whoever tells them. All
 * that two records can be that are refused, in front of one that is not.
 */
TEST_F(AuxRecord, ThatIsMergedHasTheFormatOfItsLatestData)
{
	struct Part {
		unsigned long size;
		Flags flags;
	};
	std::vector<Part> parts;

	for (const unsigned long size : {0UL, 8UL})
		for (const Flags of : {0x0000ULL, 0x0100ULL, 0x0600ULL, 0xff00ULL})
			parts.push_back({size, of | collision});

	for (const Part &first : parts) {
		for (const Part &second : parts) {
			for (const Part &last : parts) {
				const Part &data = last.size	 ? last
						   : second.size ? second
						   : first.size	 ? first
								 : last;

				aux.be_at(start, 0);
				write_untold(first.size, first.flags);
				write_untold(second.size, second.flags);
				EXPECT_EQ(write(last.size, last.flags), tell);
				expect_report(0, first.size + second.size + last.size,
					      collision | (data.flags & format));
				ASSERT_FALSE(HasFailure()) << std::hex << first.flags << ' '
							   << second.flags << ' ' << last.flags;
			}
		}
	}
}

/* Refusals and losses have no data of their own, so no format. */
TEST_F(AuxRecord, ThatWasRefusedKeepsItsFormatInARefusalAndALoss)
{
	write_untold(8, 0x0600);
	write_untold(0, collision | 0x0100);
	EXPECT_EQ(aux.lose(5, 50), tell);
	expect_report(0, 8, collision | lost | partial | 0x0600, 5, 50);
	perf_aux_ring_untold(&aux.ring, &aux.report);
	perf_aux_ring_close(&aux.ring);
	fill_up();
	EXPECT_EQ(refuse(), tell_stop_and_wake);
	expect_report(0, 8, collision | lost | partial | truncated | 0x0600, 5, 50);

	aux.control.aux_tail = aux.ring.head;
	write_untold(0, collision | 0x0100);
	fill_up();
	EXPECT_EQ(refuse(), tell_stop_and_wake);
	expect_report(8, 0, collision | truncated);
}

TEST_F(AuxRecord, ThatWasRefusedLeavesNoFormatToAnotherArea)
{
	write_untold(8, collision | 0x0600);
	ASSERT_TRUE(aux.setup(1UL << 12, 1UL << 11));
	EXPECT_EQ(write(0), tell);
	expect_report(8, 0, collision);
}

TEST_F(AuxRecord, OfASnapshotHasTheFormatOfTheLatest)
{
	AuxFixture ring(64, 0, true);

	for (const unsigned long size : {0UL, 8UL}) {
		ring.begin();
		ring.handle.flags = 0x0600;
		ring.end_untold(8);
		ring.begin();
		ring.handle.flags = 0x0100 | collision;
		EXPECT_EQ(ring.end(size), tell);
		EXPECT_EQ(ring.report.flags, overwrite | collision | (size ? 0x0100 : 0x0600));
	}
}

TEST_F(AuxRecord, HasAGapWhereBytesWereSkipped)
{
	write_untold(8);
	begin();
	ASSERT_EQ(perf_aux_ring_skip(&aux.ring, &aux.handle, 24), 0);
	aux.end(16);
	expect_report(0, 48, partial);

	begin();
	ASSERT_EQ(perf_aux_ring_skip(&aux.ring, &aux.handle, 16), 0);
	aux.end(8);
	expect_report(64, 8, 0);

	write_untold(0, collision);
	begin();
	ASSERT_EQ(perf_aux_ring_skip(&aux.ring, &aux.handle, 8), 0);
	aux.end(8);
	expect_report(80, 8, collision);
}

TEST_F(AuxRecord, CrossesTheEndOfPositions)
{
	AuxFixture ring(64, 32, false, 0UL - 12);

	ring.begin();
	ring.end_untold(8);
	ring.begin();
	ring.end(16);
	EXPECT_EQ(ring.report, (perf_aux_report{0UL - 12, 24, 0, 0, 0}));
}

/* The data of a snapshot are all in the area: the last record has it all. */
TEST_F(AuxRecord, OfASnapshotIsNotMergedButForItsFlags)
{
	AuxFixture ring(64, 0, true);

	ring.begin();
	ring.handle.head = 40;
	ring.handle.flags = collision;
	ring.end_untold(40);
	ring.begin();
	ring.handle.head = 16;
	EXPECT_EQ(ring.end(8), tell);
	EXPECT_EQ(ring.report, (perf_aux_report{16, 8, overwrite | collision, 0, 0}));
	ring.begin();
	EXPECT_EQ(ring.end(0), 0U);
}

TEST_F(AuxRecord, ThatWasRefusedLeavesItsFlagsToAnotherArea)
{
	write_untold(8, collision | partial);
	perf_aux_ring_setup(&aux.ring, &aux.control, 1UL << 12, 1UL << 11, 0);
	EXPECT_EQ(write(16), tell);
	expect_report(8, 16, collision | partial);
}

/* A reader takes a record of a snapshot for something else. */
TEST_F(AuxRecord, OfASnapshotThatWasRefusedMakesNoSnapshotOfAnotherArea)
{
	perf_aux_ring_setup(&aux.ring, &aux.control, 1UL << 12, 0, 1);
	begin(collision);
	aux.end_untold(40);
	perf_aux_ring_setup(&aux.ring, &aux.control, 1UL << 12, 1UL << 11, 0);
	EXPECT_EQ(write(16), tell);
	expect_report(0, 16, collision);
}

TEST_F(AuxRecord, OfALossHasAllThatWasLostSinceTheLast)
{
	begin();
	lose_within(5, 50);
	lose_within(6, 60);
	EXPECT_EQ(aux.end(8), tell);
	expect_report(0, 8, lost | partial, 11, 50);
	write(8);
	expect_report(8, 8, 0);

	begin(truncated);
	lose_within(7, 70);
	EXPECT_EQ(aux.end(0), tell_stop_and_wake);
	expect_report(16, 0, lost | truncated, 7, 70);
	EXPECT_EQ(aux.control.aux_lost, 18U);
}

TEST_F(AuxRecord, OfALossBetweenTransactionsIsOneOfItsOwn)
{
	write(8);
	aux.report = stale_report;
	EXPECT_EQ(aux.lose(5, 50), tell);
	expect_report(8, 0, lost | partial, 5, 50);
	EXPECT_EQ(aux.begin(), PERF_AUX_BUSY);
	lose_within(6, 60);
	perf_aux_ring_close(&aux.ring);
	EXPECT_EQ(aux.lose(7, 70), tell);
	expect_report(8, 0, lost | partial, 13, 60);
	perf_aux_ring_close(&aux.ring);
	EXPECT_EQ(write(8), tell);
	expect_report(8, 8, 0);
}

TEST_F(AuxRecord, OfALossInASnapshotSaysThatItIsOne)
{
	AuxFixture ring(64, 0, true, 40);

	EXPECT_EQ(ring.lose(5, 50), tell);
	EXPECT_EQ(ring.report, (perf_aux_report{40, 0, overwrite | lost | partial, 5, 50}));
}

TEST_F(AuxRecord, OfNoLossIsNone)
{
	EXPECT_EQ(aux.lose(0, 50), 0U);
	write_untold(8);
	EXPECT_EQ(aux.lose(0, 50), 0U) << "it is no occasion to tell, either";
	EXPECT_EQ(aux.begin(), PERF_AUX_OPENED);
	EXPECT_EQ(aux.control.aux_lost, 0U);
}

/* The count goes back, and the time of the first stays. */
TEST_F(AuxRecord, OfALossThatWasRefusedIsToldWithTheNext)
{
	begin();
	lose_within(5, 50);
	aux.end_untold(8);
	EXPECT_EQ(aux.ring.lost, 5U);
	begin();
	lose_within(6, 60);
	aux.end(8);
	expect_report(0, 16, lost | partial, 11, 50);
	EXPECT_EQ(aux.ring.lost, 0U);
	EXPECT_EQ(aux.control.aux_lost, 11U);
}

/* Between taking the count and giving it back: an NMI's loss is later than ours. */
TEST_F(AuxRecord, OfALossThatWasRefusedKeepsItsTimeBesideALaterOne)
{
	begin();
	lose_within(5, 50);
	aux.commit(8);
	perf_aux_report none;

	EXPECT_EQ(perf_aux_ring_lose(&aux.ring, 6, 60, &none), 0U);
	perf_aux_ring_untold(&aux.ring, &aux.report);
	perf_aux_ring_close(&aux.ring);
	write(0);
	expect_report(0, 8, lost | partial, 11, 50);
}

TEST_F(AuxRecord, OfALossSurvivesTheArea)
{
	begin();
	lose_within(5, 50);
	aux.end_untold(8);
	perf_aux_ring_setup(&aux.ring, &aux.control, 64, 0, 1);
	aux.begin();
	EXPECT_EQ(aux.end(0), tell);
	expect_report(8, 0, overwrite | lost | partial, 5, 50);
	EXPECT_EQ(aux.control.aux_lost, 5U);
}

} // namespace
} // namespace ring_test
