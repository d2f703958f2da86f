// SPDX-License-Identifier: GPL-2.0
/* aux_test: how much of the stream is due, where a transaction ends, what the words are. */
#include <algorithm>
#include <climits>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "aux_test/stream.h"
#include "choices.hh"

namespace ring_test {
namespace {

using Wide = unsigned __int128;

constexpr unsigned long long second = 1000000000;
constexpr unsigned long long top_rate = (1ULL << 35) - 1;
constexpr unsigned long long rates[] = {1,	   7,	   8,	       9,	   1000,    1 << 20,
					999999999, second, second + 1, 1ULL << 34, top_rate};

/* Whole words of what @rate makes in @elapsed ns: no rounding but this one. */
unsigned long long made(unsigned long long elapsed, unsigned long long rate)
{
	return static_cast<unsigned long long>(static_cast<Wide>(elapsed) * rate / second) & ~7ULL;
}

/* The clock is asked at the ends of @pieces; what it has said by then is never off. */
void expect_no_byte_off(unsigned long long rate, const std::vector<unsigned long long> &pieces)
{
	constexpr unsigned long long start = 12345;
	aux_test_clock clock{};
	unsigned long long elapsed = 0;
	unsigned long long taken = 0;

	aux_test_clock_start(&clock, start);
	for (const unsigned long long piece : pieces) {
		elapsed += piece;
		taken += aux_test_clock_take(&clock, rate, start + elapsed, 0);
		ASSERT_EQ(taken, made(elapsed, rate)) << elapsed << " ns at " << rate;
		ASSERT_EQ(clock.now, start + elapsed);
	}
}

TEST(AuxTestClock, EverySplitOfAShortTime)
{
	for (const unsigned long long rate : rates)
		for (unsigned long long first = 0; first < 40; first++)
			for (unsigned long long next = 0; next < 40; next++)
				ASSERT_NO_FATAL_FAILURE(expect_no_byte_off(
					rate, {first, next, first, next, 1000 * next, first}));
}

TEST(AuxTestClock, LongGaps)
{
	for (const unsigned long long rate : rates) {
		for (const unsigned long long gap :
		     {second - 1, second, second + 1, (1ULL << 28) - 1, 1ULL << 28,
		      (1ULL << 28) + 1, 3 * second + 12345, 86400 * second,
		      400 * 86400 * second + 999999999})
			ASSERT_NO_FATAL_FAILURE(expect_no_byte_off(rate, {gap, 1, gap, 7}));
	}
}

TEST(AuxTestClock, RandomSplits)
{
	RandomChoices random;

	for (unsigned long i = iterations(100000); i; i--) {
		const unsigned long long rate =
			1 + ((static_cast<unsigned long long>(random.choose(1U << 31)) << 4 |
			      random.choose(16)) >>
			     random.choose(35));
		std::vector<unsigned long long> pieces(1 + random.choose(8));

		for (unsigned long long &piece : pieces)
			piece = (static_cast<unsigned long long>(random.choose(1U << 31)) << 4) >>
				random.choose(35);
		ASSERT_NO_FATAL_FAILURE(expect_no_byte_off(std::min(rate, top_rate), pieces));
	}
}

TEST(AuxTestClock, WhatIsReturnedComesAgain)
{
	for (unsigned long long back = 0; back <= 4ULL << 20; back += 1000 * 8) {
		aux_test_clock clock{};

		/* A byte each ns; 5 bytes wait for their word. */
		ASSERT_EQ(aux_test_clock_take(&clock, second, (4ULL << 20) + 5, 0), 4ULL << 20);
		aux_test_clock_return(&clock, back);
		ASSERT_EQ(aux_test_clock_take(&clock, second, (4ULL << 20) + 5, 0), back);
		ASSERT_EQ(aux_test_clock_take(&clock, second, (4ULL << 20) + 8, 0), 8U);
	}
}

TEST(AuxTestClock, WhatComesLateIsNotMade)
{
	for (unsigned long long most = 1; most < 100; most++) {
		aux_test_clock clock{};

		aux_test_clock_start(&clock, 0);
		/* A byte in a nanosecond: 1000 words and 3 bytes. */
		ASSERT_EQ(aux_test_clock_take(&clock, second, 8003, most), most & ~7ULL);
		ASSERT_EQ(aux_test_clock_take(&clock, second, 8003, 0), 0U) << "it is gone";
		ASSERT_EQ(aux_test_clock_take(&clock, second, 8007, 0), 0U);
		ASSERT_EQ(aux_test_clock_take(&clock, second, 8008, 8), 8U);
	}
}

TEST(AuxTestClock, GoesBackForNobody)
{
	aux_test_clock clock{};

	aux_test_clock_start(&clock, 1000);
	EXPECT_EQ(aux_test_clock_take(&clock, second, 900, 0), 0U);
	EXPECT_EQ(aux_test_clock_take(&clock, second, 0, 0), 0U);
	EXPECT_EQ(aux_test_clock_take(&clock, second, 1016, 0), 16U);
}

TEST(AuxTestClock, StartsAnew)
{
	aux_test_clock clock{};

	aux_test_clock_start(&clock, 0);
	aux_test_clock_take(&clock, second, 7, 0);
	aux_test_clock_start(&clock, 100);
	EXPECT_EQ(aux_test_clock_take(&clock, second, 107, 0), 0U);
	EXPECT_EQ(aux_test_clock_take(&clock, second, 108, 0), 8U);
}

/* One step beside the same word by word. */
struct Stepper {
	aux_test_config config{};
	aux_test_area area{};
	aux_test_run run{};

	/* Whether the transaction is as long as it shall be with @written bytes. */
	bool ends_with(unsigned long written) const
	{
		if (config.chunk)
			return written >= config.chunk;
		/* A mark further off than the area is long will not be met in it. */
		if (area.overwrite || run.wakeup - run.head > area.size)
			return false;
		return written >= run.wakeup - run.head;
	}

	bool fits(unsigned long written) const
	{
		return area.overwrite || written <= run.room;
	}

	struct aux_test_step plain(unsigned long due) const
	{
		unsigned long bytes = 0;

		while (bytes < due && bytes < area.size) {
			if (!fits(run.written + bytes + 8))
				return {bytes, AUX_TEST_FULL};
			bytes += 8;
			if (ends_with(run.written + bytes))
				return {bytes, AUX_TEST_END};
		}
		return {bytes, AUX_TEST_GO_ON};
	}

	void expect(unsigned long due) const
	{
		const auto is = aux_test_step(&config, &area, &run, due);
		const auto expected = plain(due);

		ASSERT_EQ(is.bytes, expected.bytes);
		ASSERT_EQ(is.next, expected.next);
	}
};

/* All of an area of 32 bytes: what was written, what there is room for, what is due. */
template <class Check> void in_every_transaction(Stepper stepper, Check check)
{
	stepper.area.size = 32;
	for (stepper.run.room = 0; stepper.run.room < 32; stepper.run.room++)
		for (unsigned long written = 0; written <= stepper.run.room; written += 8)
			for (unsigned long due = 0; due <= 80; due += 8) {
				stepper.run.written = written;
				ASSERT_NO_FATAL_FAILURE(check(stepper, due))
					<< "room " << stepper.run.room << ", written " << written
					<< ", due " << due;
			}
}

TEST(AuxTestStep, EndsWithAChunk)
{
	for (const int overwrite : {0, 1}) {
		for (unsigned long chunk = 8; chunk <= 64; chunk += 8) {
			Stepper stepper;

			stepper.config.chunk = chunk;
			stepper.area.overwrite = overwrite;
			in_every_transaction(stepper, [](const Stepper &at, unsigned long due) {
				if (!at.ends_with(at.run.written))
					at.expect(due);
			});
			ASSERT_FALSE(HasFatalFailure()) << "chunk " << chunk;
		}
	}
}

/* At positions that are no multiples of anything, also where they wrap. */
TEST(AuxTestStep, EndsAtTheWakeup)
{
	for (const unsigned long head : {0UL, 5UL, 1UL << 40, 0UL - 8, 0UL - 3}) {
		for (unsigned long ahead = 0; ahead <= 80; ahead++) {
			/* The first few are behind, which is as good as none. */
			const unsigned long mark = ahead - 9;
			Stepper stepper;

			stepper.run.head = head;
			stepper.run.wakeup = head + mark;
			in_every_transaction(stepper, [](const Stepper &at, unsigned long due) {
				if (!at.ends_with(at.run.written))
					at.expect(due);
			});
			ASSERT_FALSE(HasFatalFailure()) << "head " << head << ", mark " << mark;
		}
	}
}

TEST(AuxTestStep, NeverEndsBySizeInASnapshot)
{
	Stepper stepper;

	stepper.area.overwrite = 1;
	stepper.run.wakeup = 8;
	in_every_transaction(stepper, [](const Stepper &at, unsigned long due) { at.expect(due); });
}

/* The mark was met by a word too much, or moved: one word more, and that is the end. */
TEST(AuxTestStep, EndsWithAWordIfItShouldHaveEnded)
{
	Stepper stepper;

	stepper.area.size = 64;
	stepper.run = {.head = 0, .room = 63, .wakeup = 8, .written = 16};

	const auto step = aux_test_step(&stepper.config, &stepper.area, &stepper.run, 40);

	EXPECT_EQ(step.bytes, 8U);
	EXPECT_EQ(step.next, AUX_TEST_END);

	stepper.config.chunk = 8;

	const auto other = aux_test_step(&stepper.config, &stepper.area, &stepper.run, 40);

	EXPECT_EQ(other.bytes, 8U);
	EXPECT_EQ(other.next, AUX_TEST_END);
}

/* Pages apart and in no order, with words between them that are nobody's. */
class Memory {
    public:
	explicit Memory(unsigned long size) : words(2 * size / 8 + 8, nobodys)
	{
		const unsigned long nr = size / 16;

		for (unsigned long i = 0; i < nr; i++)
			pages.push_back(&words[4 * ((i * 5 + 3) % nr) + 1]);
		area = {pages.data(), size, 4, 0};
	}
	std::uint64_t at(unsigned long place) const
	{
		return static_cast<const std::uint64_t *>(pages[place / 16])[place % 16 / 8];
	}
	std::size_t untouched() const
	{
		return static_cast<std::size_t>(std::count(words.begin(), words.end(), nobodys));
	}

	static constexpr std::uint64_t nobodys = ~0ULL - 1;
	std::vector<std::uint64_t> words;
	std::vector<void *> pages;
	aux_test_area area{};
};

void expect_fill(unsigned long size, unsigned long at, unsigned long bytes, unsigned int id,
		 unsigned long long offset)
{
	Memory memory(size);

	aux_test_fill(&memory.area, at, bytes, id, offset);
	ASSERT_EQ(memory.words.size() - memory.untouched(), bytes / 8);
	for (unsigned long i = 0; i < bytes; i += 8) {
		const std::uint64_t word = memory.at((at + i) % size);

		ASSERT_EQ(word >> AUX_TEST_OFFSET_BITS, id);
		ASSERT_EQ(word << 10 >> 10, (offset + i) << 10 >> 10) << "word at " << at + i;
	}
}

TEST(AuxTestFill, EveryPieceOfAnAreaAroundTheWrapOfPositions)
{
	for (unsigned long size = 16; size <= 128; size *= 2)
		for (unsigned long back = 0; back <= 2 * size; back += 8)
			for (unsigned long bytes = 0; bytes <= size; bytes += 8)
				ASSERT_NO_FATAL_FAILURE(
					expect_fill(size, size - back, bytes, 1023, 8 * back))
					<< size << " bytes, " << bytes << " at " << size - back;
}

TEST(AuxTestFill, WordsSayWhoseTheyAreAndWhere)
{
	for (unsigned int id = 0; id < 1024; id++)
		ASSERT_NO_FATAL_FAILURE(expect_fill(64, 8, 24, id, 1ULL << 53));
	/* An offset that has got too long is cut, and touches no id. */
	ASSERT_NO_FATAL_FAILURE(expect_fill(64, 0, 64, 5, (1ULL << 54) - 16));
	ASSERT_NO_FATAL_FAILURE(expect_fill(64, 0, 64, 5, 0ULL - 16));
}

/* Twice around leaves the later half. */
TEST(AuxTestFill, MoreThanTheAreaEndsWithTheLast)
{
	Memory memory(32);

	aux_test_fill(&memory.area, 8, 64, 0, 0);
	for (unsigned long i = 0; i < 32; i += 8)
		EXPECT_EQ(memory.at((8 + i) % 32), 32 + i);
}

TEST(AuxTestPad, LeadsToTheNextMultiple)
{
	for (unsigned long align = 8; align <= 4096; align *= 2) {
		for (unsigned long i = 0; i <= 2 * align; i++) {
			const unsigned long head = i - align; /* wraps on the way */
			const unsigned long pad = aux_test_pad(head, align);

			ASSERT_LT(pad, align);
			ASSERT_EQ((head + pad) % align, 0U);
		}
	}
}

} // namespace
} // namespace ring_test
