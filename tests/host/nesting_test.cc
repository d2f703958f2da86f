// SPDX-License-Identifier: GPL-2.0
/*
 * Data ring: nested writers, the reader and pause at every point of a writer.
 *
 * Every schedule up to three interruptions is run, for rings that are small
 * enough to be full, to wrap and to wake within one schedule.
 */
#include <gtest/gtest.h>

#include "nested_world.hh"

namespace ring_test {
namespace {

/* 64 to 128 bytes, with positions that wrap to 0 on the way. */
constexpr unsigned long before_wrap = 0UL - 24;

const Scenario scenarios[] = {
	{
		.name = "PlentyOfRoom",
		.geometry = {.pieces = 4, .piece_shift = 5, .watermark = 20},
		.direction = Direction::forward,
		.start = before_wrap,
		.earlier = {},
		.task = {write_of(16)},
		.others = {write_of(8), write_of(24)},
	},
	{
		.name = "AlmostFull",
		.geometry = {.pieces = 2, .piece_shift = 5, .watermark = 48},
		.direction = Direction::forward,
		.start = before_wrap,
		.earlier = {write_of(32)},
		.task = {write_of(8), write_of(16)},
		.others = {write_of(16), read_one},
	},
	{
		.name = "LossPending",
		.geometry = {.pieces = 2, .piece_shift = 5, .watermark = 24},
		.direction = Direction::forward,
		.start = before_wrap,
		.earlier = {write_of(16), pause, write_of(8), write_of(8), resume},
		.task = {write_of(16)},
		.others = {write_of(8), write_of(32), read_all},
	},
	{
		.name = "Paused",
		.geometry = {.pieces = 4, .piece_shift = 4, .watermark = 16},
		.direction = Direction::forward,
		.start = before_wrap,
		.earlier = {write_of(16)},
		.task = {write_of(16)},
		.others = {write_of(8), pause, resume},
	},
	{
		.name = "Counted",
		.geometry = {.pieces = 4, .piece_shift = 5, .watermark = 40},
		.direction = Direction::forward,
		.start = before_wrap,
		.earlier = {write_of(8, 3), write_of(8, 3)},
		.task = {write_of(8, 3)},
		.others = {write_of(8, 3), write_of(16)},
	},
	{
		.name = "BackwardOverwrite",
		.geometry = {.pieces = 4, .piece_shift = 5, .overwrite = true, .watermark = 20},
		.direction = Direction::backward,
		.start = 0UL - before_wrap,
		.earlier = {},
		.task = {write_of(16)},
		.others = {write_of(8), write_of(24)},
	},
	{
		.name = "BackwardAlmostFull",
		.geometry = {.pieces = 2, .piece_shift = 5, .watermark = 48},
		.direction = Direction::backward,
		.start = 0UL - before_wrap,
		.earlier = {write_of(32)},
		.task = {write_of(8), write_of(16)},
		.others = {write_of(16), read_one},
	},
	{
		.name = "ForwardOverwrite",
		.geometry = {.pieces = 8, .piece_shift = 4, .overwrite = true, .watermark = 32},
		.direction = Direction::forward,
		.start = before_wrap,
		.earlier = {pause, write_of(8), resume},
		.task = {write_of(16)},
		.others = {write_of(8), write_of(24)},
	},
};

struct Depth {
	Scenario scenario;
	unsigned int levels;
};

void PrintTo(const Depth &depth, std::ostream *out)
{
	*out << depth.scenario.name << " to depth " << depth.levels;
}

std::vector<Depth> every_depth()
{
	std::vector<Depth> all;

	for (unsigned int levels = 1; levels <= 3; levels++) {
		for (const Scenario &scenario : scenarios) {
			all.push_back({scenario, levels});
			all.back().scenario.nesting = levels;
			all.back().scenario.interruptions = levels;
		}
	}
	return all;
}

std::string name_of(const testing::TestParamInfo<Depth> &info)
{
	return info.param.scenario.name + "ToDepth" + std::to_string(info.param.levels);
}

class EverySchedule : public testing::TestWithParam<Depth> {};

TEST_P(EverySchedule, KeepsTheRingWhole)
{
	const auto &[scenario, levels] = GetParam();
	EveryPath path;
	NestedWorld world(scenario, path);
	unsigned long schedules = 0;

	do {
		ASSERT_EQ(world.run(), "") << "schedule" << path.describe();
		schedules++;
	} while (path.next());

	std::cout << schedules << " schedules" << std::endl;
	EXPECT_EQ(world.seen.deepest, levels);
	EXPECT_GT(world.seen.woken, 0U);
	EXPECT_GT(world.seen.published_for_others, 0U);
}

INSTANTIATE_TEST_SUITE_P(Exhaustive, EverySchedule, testing::ValuesIn(every_depth()), name_of);

} // namespace
} // namespace ring_test
