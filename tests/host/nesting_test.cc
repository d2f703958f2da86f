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
		.start = before_wrap,
		.earlier = {},
		.task = {write_of(16)},
		.others = {write_of(8), write_of(24)},
		.expected = {},
	},
	{
		.name = "AlmostFull",
		.geometry = {.pieces = 2, .piece_shift = 5, .watermark = 48},
		.start = before_wrap,
		.earlier = {write_of(32)},
		.task = {write_of(8), write_of(16)},
		.others = {write_of(16), read_one},
		.expected = {.refused = 1, .refused_with_wakeup = 1, .told_lost = 1},
	},
	{
		.name = "LossPending",
		.geometry = {.pieces = 2, .piece_shift = 5, .watermark = 24},
		.start = before_wrap,
		.earlier = {write_of(16), pause, write_of(8), write_of(8), resume},
		.task = {write_of(16)},
		.others = {write_of(8), write_of(32), read_all},
		.expected = {.refused = 1, .refused_with_wakeup = 1, .told_lost = 1},
	},
	{
		.name = "Paused",
		.geometry = {.pieces = 4, .piece_shift = 4, .watermark = 16},
		.start = before_wrap,
		.earlier = {write_of(16)},
		.task = {write_of(16)},
		.others = {write_of(8), pause, resume},
		.expected = {.refused = 1, .told_lost = 1},
	},
	{
		.name = "Counted",
		.geometry = {.pieces = 4, .piece_shift = 5, .watermark = 40},
		.start = before_wrap,
		.earlier = {write_of(8, 3), write_of(8, 3)},
		.task = {write_of(8, 3)},
		.others = {write_of(8, 3), write_of(16)},
		.expected = {},
	},
	{
		.name = "BackwardOverwrite",
		.geometry = {.pieces = 4, .piece_shift = 5, .overwrite = true, .watermark = 20},
		.direction = Direction::backward,
		.start = 0UL - before_wrap,
		.earlier = {},
		.task = {write_of(16)},
		.others = {write_of(8), write_of(24)},
		.expected = {},
	},
	{
		.name = "BackwardAlmostFull",
		.geometry = {.pieces = 2, .piece_shift = 5, .watermark = 48},
		.direction = Direction::backward,
		.start = 0UL - before_wrap,
		.earlier = {write_of(32)},
		.task = {write_of(8), write_of(16)},
		.others = {write_of(16), read_one},
		.expected = {.refused = 1, .refused_with_wakeup = 1, .told_lost = 1},
	},
	{
		.name = "ForwardOverwrite",
		.geometry = {.pieces = 8, .piece_shift = 4, .overwrite = true, .watermark = 32},
		.start = before_wrap,
		.earlier = {pause, write_of(8), resume},
		.task = {write_of(16)},
		.others = {write_of(8), write_of(24)},
		.expected = {.refused = 1, .told_lost = 1},
	},
	{
		.name = "Samples",
		.geometry = {.pieces = 4, .piece_shift = 5, .watermark = 24},
		.start = before_wrap,
		.earlier = {},
		.task = {sample_of(24)},
		.others = {sample_of(16), write_of(8)},
		.expected = {.emitted = 1},
	},
	{
		.name = "SamplesCounted",
		.geometry = {.pieces = 2, .piece_shift = 6, .watermark = 40},
		.start = before_wrap,
		.earlier = {sample_of(8, 3), sample_of(16, 3)},
		.task = {sample_of(16, 3)},
		.others = {sample_of(8, 3), sample_of(24)},
		.expected = {.emitted = 1},
	},
	{
		.name = "SamplesAlmostFull",
		.geometry = {.pieces = 2, .piece_shift = 5, .watermark = 48},
		.start = before_wrap,
		.earlier = {sample_of(32)},
		.task = {sample_of(8), sample_of(16)},
		.others = {sample_of(16), read_one},
		.expected = {.refused = 1, .refused_with_wakeup = 1, .told_lost = 1, .emitted = 1},
	},
	{
		.name = "SamplesBackward",
		.geometry = {.pieces = 4, .piece_shift = 4, .watermark = 16},
		.direction = Direction::backward,
		.start = 0UL - before_wrap,
		.earlier = {sample_of(16)},
		.task = {sample_of(24)},
		.others = {sample_of(8), pause, resume},
		.expected = {.refused = 1, .told_lost = 1, .emitted = 1},
	},
	{
		.name = "SamplesBackwardOverwrite",
		.geometry = {.pieces = 4, .piece_shift = 5, .overwrite = true, .watermark = 20},
		.direction = Direction::backward,
		.start = 0UL - before_wrap,
		.earlier = {},
		.task = {sample_of(32)},
		.others = {sample_of(8), sample_of(16)},
		.expected = {.emitted = 1},
	},
};

void expect_sightings(const Sightings &seen, const Scenario &scenario)
{
	EXPECT_GE(seen.refused, scenario.expected.refused);
	EXPECT_GE(seen.refused_with_wakeup, scenario.expected.refused_with_wakeup);
	EXPECT_GE(seen.told_lost, scenario.expected.told_lost);
	EXPECT_GE(seen.emitted, scenario.expected.emitted);
	EXPECT_EQ(seen.deepest, scenario.nesting);
	EXPECT_GT(seen.woken, 0U);
	EXPECT_GT(seen.published_for_others, 0U);
}

std::vector<Scenario> to_every_depth()
{
	std::vector<Scenario> all;

	for (unsigned int levels = 1; levels <= 3; levels++) {
		for (Scenario scenario : scenarios) {
			scenario.name += "ToDepth" + std::to_string(levels);
			scenario.nesting = levels;
			scenario.interruptions = levels;
			if (levels < 3)
				scenario.expected = {};
			all.push_back(scenario);
		}
	}
	return all;
}

std::vector<Scenario> with_many_interruptions()
{
	std::vector<Scenario> all(std::begin(scenarios), std::end(scenarios));

	for (Scenario &scenario : all) {
		scenario.nesting = 4;
		scenario.interruptions = 12;
		scenario.quiet = 10;
		scenario.task.insert(scenario.task.end(), 2, scenario.task.front());
		if (scenario.geometry.overwrite)
			scenario.geometry.piece_shift += 3; /* all that is unpublished has room */
	}
	return all;
}

class Schedules : public testing::TestWithParam<Scenario> {};

std::string name_of(const testing::TestParamInfo<Scenario> &info)
{
	return info.param.name;
}

using Every = Schedules;

TEST_P(Every, ScheduleKeepsTheRingWhole)
{
	EveryPath path;
	NestedWorld world(GetParam(), path);
	unsigned long schedules = 0;

	do {
		ASSERT_EQ(world.run(), "") << "schedule" << path.describe();
		schedules++;
	} while (path.next());

	std::cout << schedules << " schedules" << std::endl;
	expect_sightings(world.seen, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Exhaustive, Every, testing::ValuesIn(to_every_depth()), name_of);

using Long = Schedules;

TEST_P(Long, ScheduleKeepsTheRingWhole)
{
	RandomChoices random;
	NestedWorld world(GetParam(), random);
	const unsigned long schedules = iterations(20000);

	for (unsigned long i = 0; i < schedules; i++)
		ASSERT_EQ(world.run(), "") << "schedule " << i;
	if (schedules >= 20000)
		expect_sightings(world.seen, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Random, Long, testing::ValuesIn(with_many_interruptions()), name_of);

} // namespace
} // namespace ring_test
