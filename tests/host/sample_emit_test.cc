// SPDX-License-Identifier: GPL-2.0
/*
 * Samples written at once leave what the same words leave when they are reserved,
 * copied one by one, counted and committed; so do single runs.
 */
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sample_plans.hh"

namespace ring_test {
namespace {

constexpr unsigned int most_words = 1 + most_fixed_fields;

RecordHeader sample_header(unsigned long words, std::uint32_t id = 1)
{
	return {id, static_cast<std::uint16_t>(words), RecordKind::data, 0};
}

/* The long way, in the steps of the ring's own seam. */
long emit_word_by_word(perf_data_ring &ring, Direction direction, const Sample &sample)
{
	const perf_sample_plan &plan = sample.plan;
	perf_ring_handle handle{};
	const long verdict = reserve(ring, handle, direction, plan.size);

	if (verdict != 0)
		return verdict;
	perf_output_copy(&handle, &sample.header, sizeof(sample.header));
	for (unsigned int i = 0; i < plan.end[PERF_SAMPLE_RUN_TAIL]; i++)
		perf_output_copy(&handle, &sample.words[plan.from[i]], 8);
	if (plan.every)
		perf_data_ring_count_sample(&ring, plan.every);
	return perf_data_ring_commit(&handle) ? PERF_SAMPLE_WRITTEN_WAKE : PERF_SAMPLE_WRITTEN;
}

/* Everything that one of the ways could have left otherwise, or nothing. */
std::string difference(RingFixture &a, RingFixture &b)
{
	std::string text;
	const auto compare = [&text](auto one, auto other, const char *what) {
		if (one != other)
			text += std::string(what) + ": " + std::to_string(one) + " and " +
				std::to_string(other) + "; ";
	};

	compare(a.ring.head, b.ring.head, "head");
	compare(a.ring.wakeup, b.ring.wakeup, "wakeup");
	compare(a.ring.lost, b.ring.lost, "lost");
	compare(a.ring.events, b.ring.events, "events");
	compare(a.ring.nest, b.ring.nest, "nest");
	compare(a.ring.paused, b.ring.paused, "paused");
	compare(a.control.data_head, b.control.data_head, "data_head");
	compare(a.control.data_tail, b.control.data_tail, "data_tail");
	for (unsigned long at = 0; at < a.ring.size; at += 8)
		compare(a.word_at(at), b.word_at(at), "a word");
	if (!a.guards_intact())
		text += "a byte beside the data area was written";
	return text;
}

/* Where in its piece the writer stands. */
long offset_of(const RingFixture &fixture, const perf_ring_handle &handle)
{
	return static_cast<char *>(handle.addr) -
	       static_cast<char *>(fixture.ring.pieces[handle.piece]);
}

/* How often each end of a sample was met: a test without one proves nothing of it. */
struct Met {
	unsigned long silent = 0;
	unsigned long woken = 0;
	unsigned long refused = 0;

	void count(long verdict)
	{
		(verdict == PERF_SAMPLE_WRITTEN	       ? silent
		 : verdict == PERF_SAMPLE_WRITTEN_WAKE ? woken
						       : refused)++;
	}
};

struct Ring {
	Geometry geometry;
	Direction direction;

	friend std::ostream &operator<<(std::ostream &out, const Ring &ring)
	{
		return out << ring.geometry << " " << ring.direction;
	}
};

class EveryPlace : public testing::TestWithParam<Ring> {
    protected:
	const Geometry &geometry = GetParam().geometry;
	const Direction direction = GetParam().direction;
	RingFixture at_once{geometry};
	RingFixture by_word{geometry};

	/* Both rings as new, with @unread bytes up to @start and @events counted. */
	void begin(unsigned long start, unsigned long unread, unsigned long events)
	{
		for (RingFixture *fixture : {&at_once, &by_word}) {
			fixture->forget();
			fixture->start_at(start, direction);
			fixture->set_tail(direction == Direction::forward ? start - unread
									  : start + unread);
			fixture->ring.events = events;
			fixture->ring.lost = 0;
		}
	}
};

TEST_P(EveryPlace, AndEveryFillLevelGetsTheSameRecord)
{
	const unsigned long size = geometry.size();
	Met met;

	/* Positions that wrap to 0 on the way. */
	for (unsigned long start = 0UL - size; start != size; start += 8) {
		for (unsigned long unread = 0; unread < size; unread += 8) {
			for (unsigned int words = 1; words <= most_words; words++) {
				const std::uint64_t choice = mix(start + unread, words);
				const unsigned int every = choice % 4;
				const Sample sample(sample_header(words), every);

				begin(start, unread, choice / 4 % 3);

				const long verdict = emit(at_once.ring, direction, sample);

				ASSERT_EQ(verdict,
					  emit_word_by_word(by_word.ring, direction, sample));
				ASSERT_EQ(difference(at_once, by_word), "")
					<< words << " words at " << start << " behind " << unread;
				met.count(verdict);
			}
			if (geometry.overwrite)
				break; /* its reader has no say */
		}
	}
	EXPECT_GT(met.silent, 0U);
	EXPECT_GT(met.woken, 0U);
	EXPECT_EQ(met.refused == 0, geometry.overwrite);
}

/* After each other, as they come: stamps, counts and losses add up. */
TEST_P(EveryPlace, OneSampleAfterTheOtherLeavesTheSame)
{
	Met met;

	begin(0UL - 10 * geometry.size(), 0, 0);
	for (std::uint32_t id = 0; id < 20000; id++) {
		const Sample sample(sample_header(1 + mix(1, id) % most_words, id),
				    static_cast<unsigned int>(mix(2, id) % 3));
		const long verdict = emit(at_once.ring, direction, sample);

		ASSERT_EQ(verdict, emit_word_by_word(by_word.ring, direction, sample));
		ASSERT_EQ(difference(at_once, by_word), "") << "sample " << id;
		met.count(verdict);
		if (mix(3, id) % 4 == 0)
			for (RingFixture *fixture : {&at_once, &by_word})
				fixture->set_tail(fixture->head());
	}
	EXPECT_GT(met.silent, 0U);
	EXPECT_GT(met.woken, 0U);
	EXPECT_EQ(met.refused == 0, geometry.overwrite);
}

/* Each run alone, over whatever boundary; the handle stands behind it as well. */
TEST_P(EveryPlace, TakesARunLikeItsWords)
{
	const unsigned long reserved = std::min(geometry.size() - 8, 8UL * most_words);

	for (unsigned long start = 0UL - geometry.size(); start != geometry.size(); start += 8) {
		for (unsigned int words = 1; words <= most_words; words++) {
			const Sample sample(sample_header(words));
			unsigned int first = 0;

			for (unsigned int run = 0; run < PERF_SAMPLE_RUNS; run++) {
				const unsigned int end = sample.plan.end[run];
				perf_ring_handle one{}, other{};

				begin(start, 0, 0);
				ASSERT_EQ(reserve(at_once.ring, one, direction, reserved), 0);
				ASSERT_EQ(reserve(by_word.ring, other, direction, reserved), 0);
				perf_sample_write_run(&one, &sample.plan,
						      static_cast<perf_sample_run>(run),
						      sample.words.data());
				for (; first < end; first++)
					perf_output_copy(&other,
							 &sample.words[sample.plan.from[first]], 8);

				ASSERT_EQ(one.piece, other.piece);
				ASSERT_EQ(one.room, other.room);
				ASSERT_EQ(offset_of(at_once, one), offset_of(by_word, other));
				perf_data_ring_commit(&one);
				perf_data_ring_commit(&other);
				ASSERT_EQ(difference(at_once, by_word), "")
					<< "run " << run << " of " << words << " words at "
					<< start;
			}
		}
	}
}

/* A sample that is only begun: header and head run, and the place behind them. */
TEST_P(EveryPlace, StartsLikeItsWords)
{
	const unsigned long reserved = std::min(geometry.size() - 8, 8UL * (most_words + 2));
	Met met;

	for (unsigned long start = 0UL - geometry.size(); start != geometry.size(); start += 8) {
		for (unsigned int words = 1; words <= most_words; words++) {
			const unsigned long unread = mix(start, words) % (geometry.size() / 8) * 8;
			const Sample sample(sample_header(words));
			perf_ring_handle one{}, other{};

			begin(start, unread, 0);

			const long verdict =
				emit_start(at_once.ring, one, direction, sample, reserved);

			ASSERT_EQ(verdict, reserve(by_word.ring, other, direction, reserved));
			met.count(verdict);
			if (verdict == 0) {
				perf_output_copy(&other, &sample.header, sizeof(sample.header));
				for (unsigned int i = 0; i < sample.plan.end[PERF_SAMPLE_RUN_HEAD];
				     i++)
					perf_output_copy(&other, &sample.words[sample.plan.from[i]],
							 8);
				ASSERT_EQ(one.piece, other.piece);
				ASSERT_EQ(one.room, other.room);
				ASSERT_EQ(offset_of(at_once, one), offset_of(by_word, other));
				ASSERT_EQ(one.wakeup, other.wakeup);
				perf_data_ring_commit(&one);
				perf_data_ring_commit(&other);
			}
			ASSERT_EQ(difference(at_once, by_word), "")
				<< words << " words at " << start << " behind " << unread;
		}
	}
	EXPECT_GT(met.silent, 0U);
	EXPECT_EQ(met.refused == 0, geometry.overwrite);
}

std::vector<Ring> every_ring()
{
	constexpr struct {
		unsigned int pieces;
		unsigned int piece_shift;
		unsigned long watermark;
	} shapes[] = {{1, 7, 0}, {2, 6, 80}, {4, 5, 0}, {8, 4, 80}, {16, 3, 0}, {2, 7, 80}};
	std::vector<Ring> all;

	for (const auto &[pieces, piece_shift, watermark] : shapes)
		for (const bool overwrite : {false, true})
			for (const Direction direction : {Direction::forward, Direction::backward})
				all.push_back(
					{{pieces, piece_shift, overwrite, watermark}, direction});
	return all;
}

std::string name_of(const testing::TestParamInfo<Ring> &info)
{
	const auto &[geometry, direction] = info.param;

	return std::to_string(geometry.pieces) + "x" + std::to_string(1U << geometry.piece_shift) +
	       (direction == Direction::forward ? "Forward" : "Backward") +
	       (geometry.overwrite ? "Overwrite" : "");
}

INSTANTIATE_TEST_SUITE_P(Samples, EveryPlace, testing::ValuesIn(every_ring()), name_of);

/* --- what is right, without a twin --- */

class BothWays : public testing::TestWithParam<Direction> {
    protected:
	const Direction direction = GetParam();

	/* What a sample of @words words left, read where it has to be. */
	std::string wrong_at(RingFixture &fixture, unsigned long at, const RecordHeader &header)
	{
		if (fixture.word_at(at) != header_word(header))
			return "the header";
		for (std::uint64_t i = 1; i < header.words; i++)
			if (fixture.word_at(at + 8 * i) != payload_word(header, i))
				return "word " + std::to_string(i);
		return "";
	}
	unsigned long lowest(RingFixture &fixture, unsigned long size) const
	{
		return direction == Direction::forward ? fixture.head() - size : fixture.head();
	}
};

TEST_P(BothWays, WordsStandInTheOrderOfThePlan)
{
	for (unsigned int words = 1; words <= most_words; words++) {
		RingFixture fixture({.pieces = 4, .piece_shift = 6});
		const RecordHeader header = sample_header(words);

		EXPECT_EQ(emit(fixture.ring, direction, Sample(header)),
			  words > 16 ? PERF_SAMPLE_WRITTEN_WAKE : PERF_SAMPLE_WRITTEN);
		EXPECT_EQ(wrong_at(fixture, lowest(fixture, header.size()), header), "")
			<< words << " words";
	}
}

TEST_P(BothWays, EveryNthSampleWakesAndIsPublishedByThen)
{
	for (unsigned int every = 1; every < 8; every++) {
		RingFixture fixture(
			{.pieces = 2, .piece_shift = 6, .overwrite = true, .watermark = 128});

		for (std::uint32_t i = 1; i < 100; i++) {
			const RecordHeader header = sample_header(2, i);
			const long verdict = emit(fixture.ring, direction, Sample(header, every));

			/* No wake-up by the watermark in between: it is far enough ahead. */
			fixture.ring.wakeup = direction == Direction::forward
						      ? fixture.ring.head
						      : 0 - fixture.ring.head;
			ASSERT_EQ(verdict,
				  i % every == 0 ? PERF_SAMPLE_WRITTEN_WAKE : PERF_SAMPLE_WRITTEN)
				<< "sample " << i << ", every " << every;
			ASSERT_EQ(wrong_at(fixture, lowest(fixture, 16), header), "");
			ASSERT_EQ(fixture.ring.events, i % every);
		}
	}
}

TEST_P(BothWays, EachWatermarkWakesOnce)
{
	RingFixture fixture({.pieces = 2, .piece_shift = 6, .overwrite = true, .watermark = 40});

	/* 24 bytes each; the first sample that ends beyond 40, 80, 120 ... */
	for (unsigned long i = 1, mark = 40; i < 100; i++) {
		const bool due = i * 24 > mark;

		ASSERT_EQ(emit(fixture.ring, direction, Sample(sample_header(3))),
			  due ? PERF_SAMPLE_WRITTEN_WAKE : PERF_SAMPLE_WRITTEN)
			<< "sample " << i;
		mark += due ? 40 : 0;
		ASSERT_EQ(fixture.ring.events, 0U);
	}
}

TEST_P(BothWays, WhatDoesNotFitIsRefusedAndCounted)
{
	for (unsigned int words = 1; words < 8; words++) {
		RingFixture fixture({.pieces = 2, .piece_shift = 5, .watermark = 64});
		const Sample small(sample_header(8 - words));
		const Sample sample(sample_header(words), 1);

		/* Together as long as the ring: one byte too many. */
		ASSERT_EQ(emit(fixture.ring, direction, small), PERF_SAMPLE_WRITTEN);

		const std::vector<std::byte> before = fixture.image();

		EXPECT_EQ(emit(fixture.ring, direction, sample), PERF_RING_FULL);
		EXPECT_EQ(fixture.ring.lost, 1U);
		EXPECT_EQ(fixture.ring.events, 0U);
		EXPECT_EQ(fixture.ring.nest, 0U);
		EXPECT_EQ(fixture.ring.head, fixture.head());
		EXPECT_EQ(fixture.image(), before);

		/* One word less fits. */
		if (words > 1) {
			EXPECT_EQ(emit(fixture.ring, direction, Sample(sample_header(words - 1))),
				  PERF_SAMPLE_WRITTEN);
			EXPECT_EQ(fixture.ring.lost, 1U) << "for a LOST record to tell";
		}
	}
}

TEST_P(BothWays, APausedRingRefusesAndCounts)
{
	RingFixture fixture({.pieces = 2, .piece_shift = 6});
	const std::vector<std::byte> before = fixture.image();

	perf_data_ring_set_paused(&fixture.ring, 1);
	EXPECT_EQ(emit(fixture.ring, direction, Sample(sample_header(3), 1)), PERF_RING_FULL);
	EXPECT_EQ(fixture.ring.lost, 1U);
	EXPECT_EQ(fixture.ring.events, 0U);
	EXPECT_EQ(fixture.ring.head, 0U);
	EXPECT_EQ(fixture.image(), before);

	perf_data_ring_set_paused(&fixture.ring, 0);
	EXPECT_EQ(emit(fixture.ring, direction, Sample(sample_header(3), 1)),
		  PERF_SAMPLE_WRITTEN_WAKE);
	EXPECT_EQ(fixture.ring.lost, 1U);
}

TEST_P(BothWays, WithoutADataAreaNothingIsEvenCounted)
{
	RingFixture fixture({.pieces = 0});

	EXPECT_EQ(emit(fixture.ring, direction, Sample(sample_header(3), 1)), PERF_RING_NO_DATA);
	EXPECT_EQ(fixture.ring.lost, 0U);
	EXPECT_EQ(fixture.ring.events, 0U);
}

INSTANTIATE_TEST_SUITE_P(Samples, BothWays,
			 testing::Values(Direction::forward, Direction::backward),
			 testing::PrintToStringParamName());

/* --- words in one piece --- */

TEST(RingWords, AreGivenUpToTheEndOfThePiece)
{
	RingFixture fixture({.pieces = 2, .piece_shift = 6});
	perf_ring_handle handle{};

	ASSERT_EQ(reserve(fixture.ring, handle, Direction::forward, 80), 0);
	perf_output_skip(&handle, 24);
	for (unsigned long len = 8; len <= 80; len += 8) {
		const void *words = perf_ring_words(&handle, len);

		EXPECT_EQ(words, len <= 40 ? handle.addr : nullptr) << len << " bytes";
	}
}

} // namespace
} // namespace ring_test
