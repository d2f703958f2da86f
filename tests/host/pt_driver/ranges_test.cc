// SPDX-License-Identifier: GPL-2.0
/* Address filters: what the registers get. */
#include <cerrno>
#include <cstdint>

#include <gtest/gtest.h>

#include "ranges.h"

namespace {

constexpr unsigned int bits = 48;
constexpr std::uint64_t low_end = (1ULL << 47) - 1;
constexpr std::uint64_t high_start = ~low_end;

struct Words {
	explicit Words(unsigned int ranges) : words{1, 4, 3, 0, ranges, 0, 0, 0}
	{
	}

	unsigned int words[PT_CAPS_WORDS];
};

TEST(PtRanges, WhatTheHardwareHas)
{
	for (unsigned int there = 0; there <= 4; there++) {
		for (unsigned int before = 0; before <= 5; before++) {
			const int wanted = before < there ? 0 : -EOPNOTSUPP;

			EXPECT_EQ(pt_ranges_check(Words(there).words, before, 1, PT_RANGE_FILTER),
				  wanted);
			EXPECT_EQ(pt_ranges_check(Words(there).words, before, 1, PT_RANGE_STOP),
				  wanted);
		}
	}
	EXPECT_EQ(pt_ranges_check(Words(4).words, 0, 1, PT_RANGE_START), -EOPNOTSUPP);
	EXPECT_EQ(pt_ranges_check(Words(4).words, 0, 0, PT_RANGE_FILTER), -EOPNOTSUPP);
}

void expect_range(std::uint64_t start, std::uint64_t size, std::uint64_t first, std::uint64_t last)
{
	pt_ranges ranges = {};

	pt_ranges_add(&ranges, start, size, PT_RANGE_FILTER, bits);
	EXPECT_EQ(ranges.count, 1U);
	EXPECT_EQ(ranges.range[0].first, first) << std::hex << start << "+" << size;
	EXPECT_EQ(ranges.range[0].last, last) << std::hex << start << "+" << size;
}

TEST(PtRanges, FirstAndLast)
{
	expect_range(0x1000, 0x10, 0x1000, 0x100f);
	expect_range(0x1000, 1, 0x1000, 0x1000);
	expect_range(high_start, 1, high_start, high_start);
	expect_range(low_end, 1, low_end, low_end);
	expect_range(0, low_end + 1, 0, low_end);
}

TEST(PtRanges, OnlyCanonicalAddresses)
{
	expect_range(low_end, 2, low_end, low_end);
	expect_range(0x1000, 1ULL << 50, 0x1000, low_end);
	expect_range(0x1000, high_start, 0x1000, high_start + 0xfff);
	expect_range(low_end + 5, high_start - low_end, high_start, high_start + 4);
	/* All of it is where nothing executes. */
	expect_range(low_end + 1, 0x1000, 0, 0);
	expect_range(high_start - 1, 1, 0, 0);
}

TEST(PtRanges, BeyondTheLastAddress)
{
	expect_range(~0ULL, 1, ~0ULL, ~0ULL);
	expect_range(~0ULL - 1, 100, ~0ULL - 1, ~0ULL);
	expect_range(high_start, ~0ULL, high_start, ~0ULL);
	expect_range(0, ~0ULL, 0, ~0ULL - 1);
}

TEST(PtRanges, ControlFields)
{
	pt_ranges ranges = {};

	pt_ranges_add(&ranges, 0x1000, 1, PT_RANGE_FILTER, bits);
	pt_ranges_add(&ranges, 0x2000, 1, PT_RANGE_STOP, bits);
	pt_ranges_add(&ranges, 0x3000, 0, PT_RANGE_FILTER, bits);
	EXPECT_EQ(ranges.ctl, 0x121ULL << 32);
	EXPECT_EQ(ranges.stops, 1U);
	EXPECT_EQ(ranges.range[2].first, 0U) << "not in memory";
	EXPECT_EQ(ranges.range[2].last, 0U);
	pt_ranges_add(&ranges, 0x4000, 1, PT_RANGE_STOP, bits);
	EXPECT_EQ(ranges.ctl, 0x2121ULL << 32);
	EXPECT_EQ(ranges.count, 4U);
	pt_ranges_add(&ranges, 0x5000, 1, PT_RANGE_STOP, bits);
	EXPECT_EQ(ranges.count, 4U);
	EXPECT_EQ(ranges.ctl, 0x2121ULL << 32);
	EXPECT_EQ(ranges.stops, 2U);
}

} // namespace
