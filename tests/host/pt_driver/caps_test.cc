// SPDX-License-Identifier: GPL-2.0
/* Capabilities: their places in CPUID, and no trust in what cannot be. */
#include <bit>
#include <cstring>

#include <gtest/gtest.h>

#include "caps.h"

namespace {

struct Place {
	const char *name;
	unsigned int word; /* EAX, EBX, ECX, EDX of subleaf 0, then of 1 */
	unsigned int mask;
};

/* SDM volume 2, CPUID leaf 14H. */
constexpr Place places[PT_CAPS] = {
	{"max_subleaf", 0, 0xffffffff},
	{"cr3_filtering", 1, 1U << 0},
	{"psb_cyc", 1, 1U << 1},
	{"ip_filtering", 1, 1U << 2},
	{"mtc", 1, 1U << 3},
	{"ptwrite", 1, 1U << 4},
	{"power_event_trace", 1, 1U << 5},
	{"event_trace", 1, 1U << 7},
	{"tnt_disable", 1, 1U << 8},
	{"topa_output", 2, 1U << 0},
	{"topa_multiple_entries", 2, 1U << 1},
	{"single_range_output", 2, 1U << 2},
	{"output_subsys", 2, 1U << 3},
	{"payloads_lip", 2, 1U << 31},
	{"num_address_ranges", 4, 0x7},
	{"mtc_periods", 4, 0xffff0000},
	{"cycle_thresholds", 5, 0x0000ffff},
	{"psb_periods", 5, 0xffff0000},
};

TEST(PtCaps, EachFieldIsWhereCpuidHasIt)
{
	for (int cap = 0; cap < PT_CAPS; cap++) {
		const Place &place = places[cap];
		const auto which = static_cast<pt_cap>(cap);

		EXPECT_STREQ(pt_caps_name(which), place.name);
		for (unsigned int word = 0; word < PT_CAPS_WORDS; word++) {
			for (unsigned int bit = 0; bit < 32; bit++) {
				unsigned int words[PT_CAPS_WORDS] = {};
				unsigned int wanted = 0;

				words[word] = 1U << bit;
				if (word == place.word)
					wanted = (place.mask & words[word]) /
						 (place.mask & -place.mask);
				EXPECT_EQ(pt_caps_field(words, which), wanted)
					<< place.name << " word " << word << " bit " << bit;
			}
		}
	}
}

class PtCapsBound : public testing::Test {
    protected:
	PtCapsBound()
	{
		std::memset(words, 0xff, sizeof(words));
		words[0] = 1;
	}

	unsigned int bounded(pt_cap cap)
	{
		pt_caps_bound(words);
		return pt_caps_field(words, cap);
	}

	unsigned int words[PT_CAPS_WORDS];
};

TEST_F(PtCapsBound, MoreRangesThanThereAreRegisters)
{
	EXPECT_EQ(bounded(PT_CAPS_NUM_ADDRESS_RANGES), 4U);
	EXPECT_EQ(pt_caps_field(words, PT_CAPS_MTC_PERIODS), 0xffffU);
}

TEST_F(PtCapsBound, WhatIsPossibleStays)
{
	for (unsigned int ranges = 0; ranges <= 4; ranges++) {
		words[4] = (words[4] & ~7U) | ranges;
		EXPECT_EQ(bounded(PT_CAPS_NUM_ADDRESS_RANGES), ranges);
	}
	for (int cap = 1; cap < PT_CAPS; cap++)
		EXPECT_NE(pt_caps_field(words, static_cast<pt_cap>(cap)), 0U) << places[cap].name;
}

TEST_F(PtCapsBound, RangesWithoutFiltering)
{
	words[1] &= ~(1U << 2);
	EXPECT_EQ(bounded(PT_CAPS_NUM_ADDRESS_RANGES), 0U);
}

TEST_F(PtCapsBound, PeriodsOfPacketsThatThereAreNot)
{
	words[1] &= ~(1U << 3 | 1U << 1);
	EXPECT_EQ(bounded(PT_CAPS_MTC_PERIODS), 0U);
	EXPECT_EQ(pt_caps_field(words, PT_CAPS_CYCLE_THRESHOLDS), 0U);
	EXPECT_EQ(pt_caps_field(words, PT_CAPS_PSB_PERIODS), 0U);
}

TEST_F(PtCapsBound, NoSecondSubleaf)
{
	words[0] = 0;
	pt_caps_bound(words);
	for (unsigned int at = 4; at < PT_CAPS_WORDS; at++)
		EXPECT_EQ(words[at], 0U);
	EXPECT_EQ(pt_caps_field(words, PT_CAPS_TOPA_OUTPUT), 1U);
}

TEST_F(PtCapsBound, NoTables)
{
	words[2] &= ~1U;
	EXPECT_EQ(bounded(PT_CAPS_TOPA_MULTIPLE_ENTRIES), 0U);
	EXPECT_EQ(pt_caps_usable(words), 0);
	words[2] |= 1U;
	EXPECT_NE(pt_caps_usable(words), 0);
}

TEST_F(PtCapsBound, RangeOfMemory)
{
	for (const unsigned int pages : {1U, 2U, 512U}) {
		const auto order = static_cast<unsigned int>(std::bit_width(pages)) - 1;

		/* Where more than a page does not work, a table serves. */
		EXPECT_EQ(pt_caps_ranged(words, pages, order, 1, 1), pages == 1);
		EXPECT_EQ(pt_caps_ranged(words, pages, order, 1, 0), 1);
		/* Neither stop nor interrupt, so never for what is read while it fills. */
		EXPECT_EQ(pt_caps_ranged(words, pages, order, 0, 0), 0);
	}
	EXPECT_EQ(pt_caps_ranged(words, 4, 1, 1, 0), 0) << "two chunks";
	words[2] &= ~4U;
	EXPECT_EQ(pt_caps_ranged(words, 1, 0, 1, 0), 0) << "not offered";
}

} // namespace
