// SPDX-License-Identifier: GPL-2.0
/* What registers mean where they leave room for doubt. */
#include <gtest/gtest.h>

#include "buffer.hh"

namespace {

using pt_driver_test::Buffer;
using pt_driver_test::Memory;

class PtOutput : public testing::Test {
    protected:
	PtOutput() : buffer(memory, {0, 0, 0, 0}, false, false), output(buffer.output)
	{
		EXPECT_EQ(pt_output_begin(&output, 0, output.size - 1, output.size), 0);
	}

	pt_written end(unsigned int index, unsigned long long offset, unsigned long long status)
	{
		pt_written written = {};

		pt_output_end(&output, output.topa.tables[0].physical,
			      PT_MASK_ONES | index << PT_MASK_INDEX_SHIFT |
				      offset << PT_MASK_OFFSET_SHIFT,
			      status, &written);
		return written;
	}

	Memory memory;
	Buffer buffer;
	pt_output &output;
};

TEST_F(PtOutput, NothingIsNotAWholeLap)
{
	EXPECT_EQ(end(0, 0, 0).bytes, 0U);
}

TEST_F(PtOutput, AWholeLapIsNotNothing)
{
	const pt_written written = end(0, 0, PT_STATUS_STOPPED);

	EXPECT_EQ(written.bytes, output.size);
	EXPECT_NE(written.cut, 0U);
}

TEST_F(PtOutput, AStopFilterHasWrittenNothing)
{
	output.stop_filter = 1;

	const pt_written written = end(0, 0, PT_STATUS_STOPPED);

	EXPECT_EQ(written.bytes, 0U);
	EXPECT_EQ(written.cut, 0U);
	EXPECT_NE(written.resync, 0U);
}

TEST_F(PtOutput, AWholeLapInSpiteOfAStopFilter)
{
	output.stop_filter = 1;
	EXPECT_EQ(end(3, PT_PAGE_SIZE, PT_STATUS_STOPPED).bytes, output.size);
}

TEST_F(PtOutput, AStopFilterCutsNothing)
{
	output.stop_filter = 1;

	const pt_written written = end(1, 100, PT_STATUS_STOPPED);

	EXPECT_EQ(written.bytes, PT_PAGE_SIZE + 100);
	EXPECT_EQ(written.cut, 0U);
	EXPECT_NE(written.resync, 0U);
}

TEST_F(PtOutput, BeyondARegionOrATable)
{
	EXPECT_NE(end(1, PT_PAGE_SIZE + 1, 0).error, 0U);
	EXPECT_NE(end(5, 0, 0).error, 0U);
	EXPECT_NE(end(4, 1, 0).error, 0U);
	EXPECT_EQ(output.position, 0U);
	/* On END: the beginning, all the way round. */
	EXPECT_EQ(end(4, 0, PT_STATUS_STOPPED).bytes, output.size);
}

} // namespace
