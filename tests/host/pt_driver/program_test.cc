// SPDX-License-Identifier: GPL-2.0
/* The registers before a start: what is written, in which order, and what is not. */
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "buffer.hh"
#include "program.h"

namespace {

using pt_driver_test::Buffer;
using pt_driver_test::Memory;

using Writes = std::vector<std::pair<unsigned int, unsigned long long>>;

class PtProgram : public testing::Test {
    protected:
	PtProgram() : buffer(memory, {0, 1, 0}, false, false)
	{
		pt_shadow_forget(&shadow);
	}

	Writes program(bool resync)
	{
		pt_write writes[PT_PROGRAM_MOST];
		const unsigned int count =
			pt_program(&shadow, &buffer.output, &ranges, resync, writes);
		Writes all;

		EXPECT_LE(count, PT_PROGRAM_MOST);
		for (unsigned int at = 0; at < count; at++)
			all.emplace_back(writes[at].msr, writes[at].value);
		return all;
	}

	Memory memory;
	Buffer buffer;
	pt_shadow shadow;
	pt_ranges ranges = {};
};

TEST_F(PtProgram, EverythingOnce)
{
	const unsigned long long base = buffer.output.topa.tables[0].physical;

	pt_ranges_add(&ranges, 0x1000, 0x10, PT_RANGE_FILTER, 48);
	pt_ranges_add(&ranges, 0x2000, 0x10, PT_RANGE_STOP, 48);
	EXPECT_EQ(program(true), (Writes{{0x571, 0},
					 {0x580, 0x1000},
					 {0x581, 0x100f},
					 {0x582, 0x2000},
					 {0x583, 0x200f},
					 {0x560, base},
					 {0x561, 0x7f}}));
	EXPECT_EQ(program(false), Writes{});
	EXPECT_EQ(program(true), (Writes{{0x571, 0}}));
}

TEST_F(PtProgram, OnlyWhatDiffers)
{
	pt_ranges_add(&ranges, 0x1000, 0x10, PT_RANGE_FILTER, 48);
	program(false);
	ranges.range[0].last = 0x100e;
	EXPECT_EQ(program(false), (Writes{{0x581, 0x100e}}));
	ASSERT_EQ(pt_output_begin(&buffer.output, 0x1234, 0x3fff, 0x2000), 0);
	/* In the second region, of two pages. */
	EXPECT_EQ(program(false), (Writes{{0x561, 0x7f | 1 << 7 | 0x234ULL << 32}}));
	/* Filters that there are no more need not be taken out: CTL says which there are. */
	ranges = {};
	EXPECT_EQ(program(false), Writes{});
}

TEST_F(PtProgram, AllAgainAfterSleep)
{
	program(false);
	pt_shadow_forget(&shadow);
	EXPECT_EQ(program(false).size(), 2U);
}

TEST_F(PtProgram, AllFourRanges)
{
	for (unsigned int at = 0; at < 4; at++)
		pt_ranges_add(&ranges, 0x1000 * at, 0x10, PT_RANGE_FILTER, 48);
	EXPECT_EQ(program(true).size(), PT_PROGRAM_MOST);
}

TEST_F(PtProgram, RangeOfMemory)
{
	pt_output &output = buffer.output;

	output = {};
	output.ranged = output.overwrite = 1;
	output.range = 0x5000;
	output.size = 0x1000;
	pt_output_init(&output);
	ASSERT_EQ(pt_output_begin(&output, 0x7123, 0, 0), 0);
	EXPECT_EQ(program(false), (Writes{{0x560, 0x5000}, {0x561, 0xfff | 0x123ULL << 32}}));
}

} // namespace
