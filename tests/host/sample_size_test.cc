// SPDX-License-Identifier: GPL-2.0
/*
 * Sizes in samples: counters, the stack and AUX data, so that the whole is a
 * record. Everything near a limit is tried.
 */
#include <climits>

#include <gtest/gtest.h>

#include <linux/perf_event.h>

#include "choices.hh"
#include "sample_plan.h"
#include "sample_size.h"

namespace ring_test {
namespace {

constexpr unsigned long record_max = 65528; /* the largest multiple of 8 in 16 bits */
static_assert(PERF_RECORD_SIZE_MAX == record_max);
static_assert(record_max % 8 == 0 && record_max <= USHRT_MAX && record_max + 8 > USHRT_MAX);

/* --- counters --- */

/* The table above enum perf_event_read_format, line by line. */
unsigned long read_words(unsigned long format, unsigned int members)
{
	unsigned long words = 0;

	words++; /* count, or number of members */
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		words++;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		words++;
	if (!(format & PERF_FORMAT_GROUP)) {
		if (format & PERF_FORMAT_ID)
			words++;
		if (format & PERF_FORMAT_LOST)
			words++;
		return words;
	}
	for (unsigned int i = 0; i < members; i++) {
		words++; /* count */
		if (format & PERF_FORMAT_ID)
			words++;
		if (format & PERF_FORMAT_LOST)
			words++;
	}
	return words;
}

TEST(SampleReadSize, EveryFormatWithEveryNumberOfSiblings)
{
	for (unsigned long format = 0; format < PERF_FORMAT_MAX; format++)
		for (unsigned int siblings = 0; siblings < 3000; siblings++)
			ASSERT_EQ(perf_sample_read_size(format, siblings),
				  8 * read_words(format, 1 + siblings))
				<< "read_format " << format << ", " << siblings << " siblings";
}

TEST(SampleReadSize, TellsTheMembersAgain)
{
	for (unsigned long format = 0; format < PERF_FORMAT_MAX; format++) {
		if (!(format & PERF_FORMAT_GROUP))
			continue;
		for (unsigned int siblings = 0; siblings < 3000; siblings++)
			ASSERT_EQ(perf_sample_read_members(format,
							   perf_sample_read_size(format, siblings)),
				  1 + siblings)
				<< "read_format " << format;
		EXPECT_EQ(perf_sample_read_members(format, 0), 0U);
		EXPECT_EQ(perf_sample_read_members(format, 8), 0U);
	}
}

TEST(SampleReadSize, UnknownBitsTakeNothing)
{
	for (unsigned int bit = 5; bit < 64; bit++)
		EXPECT_EQ(perf_sample_read_size(1ULL << bit, 3), 8U) << "bit " << bit;
}

/* --- the stack --- */

/* Whatever is largest and right. */
unsigned long stack_by_trial(unsigned long asked, unsigned long available, unsigned long used)
{
	for (unsigned long dump = std::min(asked, available); dump; dump--)
		if (dump % 8 == 0 && used + 8 + dump + 8 <= record_max)
			return dump;
	return 0;
}

unsigned long aux_by_trial(unsigned long asked, unsigned long available, unsigned long used)
{
	for (unsigned long dump = std::min(asked, available + 7); dump; dump--)
		if (dump % 8 == 0 && used + 8 + dump <= record_max)
			return dump;
	return 0;
}

constexpr unsigned long near = 100; /* bytes to both sides of a limit */

TEST(SampleStack, WhatIsAskedAndAvailableAtTheEndOfTheRecord)
{
	for (unsigned long used = record_max - near + 4; used <= record_max + near; used += 8)
		for (unsigned int asked = 0; asked < near; asked++)
			for (unsigned int available = 0; available < near; available++)
				ASSERT_EQ(perf_sample_stack_dump(asked, available, used),
					  stack_by_trial(asked, available, used))
					<< asked << " of " << available << " after " << used;
}

TEST(SampleStack, WholeRecordsFullOfStack)
{
	for (unsigned long used = 8; used < near; used += 8) {
		for (unsigned int asked = record_max - near; asked < record_max + near; asked++) {
			for (const unsigned int available :
			     {asked, asked - 1, asked + 1, 65535U, UINT_MAX}) {
				ASSERT_EQ(perf_sample_stack_dump(asked, available, used),
					  stack_by_trial(asked, available, used))
					<< asked << " of " << available << " after " << used;
				ASSERT_EQ(perf_sample_stack_dump(available, asked, used),
					  stack_by_trial(available, asked, used))
					<< available << " of " << asked << " after " << used;
			}
		}
	}
}

TEST(SampleStack, NothingWithoutRoomStackOrWish)
{
	EXPECT_EQ(perf_sample_stack_dump(0, 65535, 48), 0U);
	EXPECT_EQ(perf_sample_stack_dump(8192, 0, 48), 0U);
	EXPECT_EQ(perf_sample_stack_dump(8192, 7, 48), 0U);
	EXPECT_EQ(perf_sample_stack_dump(8192, 8192, record_max - 16), 0U);
	EXPECT_EQ(perf_sample_stack_dump(8192, 8192, record_max), 0U);
	EXPECT_EQ(perf_sample_stack_dump(8192, 8192, record_max + 8), 0U);
	EXPECT_EQ(perf_sample_stack_dump(8192, 8192, UINT_MAX), 0U);
	EXPECT_EQ(perf_sample_stack_dump(8192, 8192, ULONG_MAX - 7), 0U);
	EXPECT_EQ(perf_sample_stack_field(0), 8U);
}

TEST(SampleStack, AFieldIsItsBytesBetweenTwoWords)
{
	for (unsigned int dump = 8; dump <= record_max - 24; dump += 8)
		ASSERT_EQ(perf_sample_stack_field(dump), 8 + dump + 8);
}

/* --- AUX data --- */

TEST(SampleAux, WhatIsAskedAndAvailableAtTheEndOfTheRecord)
{
	for (unsigned long used = record_max - near + 4; used <= record_max + near; used += 8)
		for (unsigned int asked = 0; asked < near; asked++)
			for (unsigned long available = 0; available < near; available++)
				ASSERT_EQ(perf_sample_aux_dump(asked, available, used),
					  aux_by_trial(asked, available, used))
					<< asked << " of " << available << " after " << used;
}

TEST(SampleAux, WholeRecordsFullOfAux)
{
	for (unsigned long used = 8; used < near; used += 8) {
		for (unsigned int asked = record_max - near; asked < record_max + near; asked++) {
			for (const unsigned long available :
			     {asked - 9UL, asked - 1UL, asked + 0UL, asked + 1UL, 1UL << 40}) {
				ASSERT_EQ(perf_sample_aux_dump(asked, available, used),
					  aux_by_trial(asked, available, used))
					<< asked << " of " << available << " after " << used;
			}
		}
	}
}

TEST(SampleAux, NothingWithoutRoomDataOrWish)
{
	EXPECT_EQ(perf_sample_aux_dump(0, 4096, 48), 0U);
	EXPECT_EQ(perf_sample_aux_dump(7, 4096, 48), 0U);
	EXPECT_EQ(perf_sample_aux_dump(4096, 0, 48), 0U);
	EXPECT_EQ(perf_sample_aux_dump(4096, 4096, record_max - 8), 0U);
	EXPECT_EQ(perf_sample_aux_dump(4096, 4096, record_max), 0U);
	EXPECT_EQ(perf_sample_aux_dump(4096, 4096, UINT_MAX), 0U);
	EXPECT_EQ(perf_sample_aux_dump(4096, ULONG_MAX, ULONG_MAX - 7), 0U);
}

TEST(SampleAux, TheLastWordIsFilledUp)
{
	EXPECT_EQ(perf_sample_aux_dump(4096, 1, 48), 8U);
	EXPECT_EQ(perf_sample_aux_dump(4096, 9, 48), 16U);
	EXPECT_EQ(perf_sample_aux_dump(12, 9, 48), 8U);
}

/* --- both, for values of any size --- */

/* Mostly sizes that occur, near a limit or not, and some that never should. */
unsigned long any_size(RandomChoices &random)
{
	const unsigned long small = random.choose(70000);

	switch (random.choose(4)) {
	case 0:
		return record_max - near + small % (2 * near);
	case 1:
		return (1UL << random.choose(32)) - 1 + small % 16;
	default:
		return small;
	}
}

TEST(SampleSize, AnyStackGivesARecordAndNeverLessForMore)
{
	RandomChoices random;

	for (unsigned long i = iterations(2000000); i; i--) {
		const unsigned int asked = static_cast<unsigned int>(any_size(random));
		const unsigned int available = static_cast<unsigned int>(any_size(random));
		const unsigned long used = any_size(random) & ~7UL;
		const unsigned int more = random.choose(32);
		const unsigned int dump = perf_sample_stack_dump(asked, available, used);
		const unsigned long record = used + perf_sample_stack_field(dump);

		ASSERT_EQ(dump % 8, 0U);
		ASSERT_LE(dump, std::min(asked, available));
		if (dump || used + 8 <= record_max) {
			ASSERT_LE(record, record_max) << asked << " of " << available;
		}
		if (asked <= UINT_MAX - more) {
			ASSERT_LE(dump, perf_sample_stack_dump(asked + more, available, used));
		}
		if (available <= UINT_MAX - more) {
			ASSERT_LE(dump, perf_sample_stack_dump(asked, available + more, used));
		}
		ASSERT_GE(dump, perf_sample_stack_dump(asked, available, used + 8UL * more));
	}
}

TEST(SampleSize, AnyAuxDataGivesARecordAndNeverLessForMore)
{
	RandomChoices random;

	for (unsigned long i = iterations(2000000); i; i--) {
		const unsigned int asked = static_cast<unsigned int>(any_size(random));
		const unsigned long available = any_size(random);
		const unsigned long used = any_size(random) & ~7UL;
		const unsigned int more = random.choose(32);
		const unsigned int dump = perf_sample_aux_dump(asked, available, used);

		ASSERT_EQ(dump % 8, 0U);
		ASSERT_LE(dump, asked);
		ASSERT_LT(dump, available + 8);
		if (dump || used + 8 <= record_max) {
			ASSERT_LE(used + 8 + dump, record_max) << asked << " of " << available;
		}
		if (asked <= UINT_MAX - more) {
			ASSERT_LE(dump, perf_sample_aux_dump(asked + more, available, used));
		}
		ASSERT_LE(dump, perf_sample_aux_dump(asked, available + more, used));
		ASSERT_GE(dump, perf_sample_aux_dump(asked, available, used + 8UL * more));
	}
}

} // namespace
} // namespace ring_test
