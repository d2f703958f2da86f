// SPDX-License-Identifier: GPL-2.0
/* Sampling periods, beside arithmetic that cannot overflow. */
#include <climits>

#include <gtest/gtest.h>

#include "choices.hh"
#include "period.h"

namespace ring_test {
namespace {

using Wide = __int128;

/* What attr.sample_period may be. */
constexpr unsigned long long longest = LLONG_MAX;

struct Passed {
	Wide periods;
	Wide left;
};

Passed plain(Wide left, Wide period)
{
	if (left < 0)
		return {0, left};
	return {left / period + 1, left % period - period};
}

void expect_plain(long long left, unsigned long long period)
{
	const Passed expected = plain(left, static_cast<Wide>(period));
	long long after = left;
	const unsigned long long passed = perf_period_passed(&after, period);

	ASSERT_TRUE(static_cast<Wide>(passed) == expected.periods &&
		    static_cast<Wide>(after) == expected.left)
		<< left << " left of " << period << ": " << passed << " passed and " << after
		<< " are left, expected " << static_cast<unsigned long long>(expected.periods)
		<< " and " << static_cast<long long>(expected.left);
	ASSERT_LT(after, 0);
	ASSERT_GE(after, left < 0 ? left : -static_cast<Wide>(period));
}

TEST(Period, SmallOnesExhaustively)
{
	for (unsigned long long period = 1; period <= 300; period++)
		for (long long left = -400; left <= 1000; left++)
			ASSERT_NO_FATAL_FAILURE(expect_plain(left, period));
}

TEST(Period, LimitsOfTheNumbers)
{
	for (const unsigned long long period :
	     {1ULL, 2ULL, 3ULL, longest / 3, longest / 2, longest - 1, longest})
		for (long long off = 0; off < 5; off++)
			for (const long long left :
			     {off, -1 - off, LLONG_MAX - off, LLONG_MIN + off, LLONG_MAX / 2 + off,
			      static_cast<long long>(period) - off})
				ASSERT_NO_FATAL_FAILURE(expect_plain(left, period));
}

TEST(Period, RandomOnesOfEverySize)
{
	RandomChoices random;

	/* 63 bits and fewer, each size as often. */
	const auto number = [&random] {
		const unsigned long long low = random.choose(1U << 31);
		const unsigned long long middle = random.choose(1U << 31);
		const unsigned long long high = random.choose(2);

		return (high << 62 | middle << 31 | low) >> random.choose(63);
	};

	for (unsigned long i = iterations(1000000); i; i--) {
		const unsigned long long period = number() | 1;
		const long long left = static_cast<long long>(number());

		ASSERT_NO_FATAL_FAILURE(expect_plain(left, period + (period < longest)));
		ASSERT_NO_FATAL_FAILURE(expect_plain(left, period));
		ASSERT_NO_FATAL_FAILURE(expect_plain(-1 - left, period));
	}
}

/* From -period up: after n of whatever is counted, n / period samples were due. */
TEST(Period, AnEventIsDueOncePerPeriodHoweverItIsCounted)
{
	for (unsigned long long period = 1; period < 20; period++) {
		for (unsigned int step = 1; step < 50; step++) {
			long long left = -static_cast<long long>(period);
			unsigned long long samples = 0;

			for (unsigned int counted = step; counted < 20 * step; counted += step) {
				left += step;
				samples += perf_period_passed(&left, period);
				ASSERT_EQ(samples, counted / period)
					<< counted << " by " << step << ", period " << period;
			}
		}
	}
}

TEST(Clock, TimersAreNotFasterThanTheLimit)
{
	static_assert(PERF_CLOCK_PERIOD_MIN == 10000, "10 us");
	for (unsigned long long period = 0; period < 20000; period++)
		ASSERT_EQ(perf_clock_period(period), period < 10000 ? 10000 : period);
	EXPECT_EQ(perf_clock_period(longest), longest);
}

TEST(Clock, GoesOnWhereItWasStopped)
{
	for (const unsigned long long period : {1ULL, 9999ULL, 10000ULL, 10001ULL, longest}) {
		EXPECT_EQ(perf_clock_first(0, period), perf_clock_period(period));
		for (long long left = 1; left < 20000; left++)
			ASSERT_EQ(perf_clock_first(left, period),
				  static_cast<unsigned long long>(left));
		for (long long left = -20000; left < 0; left++)
			ASSERT_EQ(perf_clock_first(left, period), 10000U);
		EXPECT_EQ(perf_clock_first(LLONG_MAX, period), longest);
		EXPECT_EQ(perf_clock_first(LLONG_MIN, period), 10000U);
	}
}

} // namespace
} // namespace ring_test
