// SPDX-License-Identifier: GPL-2.0
/* The checks that the driver's KUnit suite runs as well. */
#include <chrono>
#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>

#include "check.h"

namespace {

struct Free {
	void operator()(void *memory) const
	{
		std::free(memory);
	}
};

class PtCheck : public testing::Test {
    protected:
	void run(void (*function)(pt_check *), unsigned int rounds = 1)
	{
		const std::unique_ptr<void, Free> memory(std::aligned_alloc(4096, PT_CHECK_MEMORY));
		const char *seed = std::getenv("PERFRING_SEED");
		pt_check check = {};

		check.memory = memory.get();
		check.size = PT_CHECK_MEMORY;
		check.seed = seed ? std::strtoull(seed, nullptr, 0) | 1 : 4711;
		check.rounds = rounds;
		function(&check);
		EXPECT_EQ(check.failed, nullptr)
			<< check.failed << ", line " << check.line << ": " << check.got
			<< " instead of " << check.wanted << ", seed " << check.seed;
		EXPECT_GT(check.held, 1000U);
	}
};

TEST_F(PtCheck, TablesAreAsTheHardwareWantsThem)
{
	run(pt_check_tables, 60);
}

TEST_F(PtCheck, EveryStopAndInterrupt)
{
	run(pt_check_marks);
}

TEST_F(PtCheck, ReaderAndWriterAtRandom)
{
	run(pt_check_stream, 400);
}

TEST_F(PtCheck, OverwriteGoesRound)
{
	run(pt_check_wrap, 200);
}

TEST_F(PtCheck, TablesOfOneEntry)
{
	run(pt_check_single_entry);
}

TEST_F(PtCheck, NonsenseMovesNothing)
{
	run(pt_check_nonsense, 1000);
}

TEST_F(PtCheck, LookupInALargeBuffer)
{
	run(pt_check_lookup);
}

} // namespace
