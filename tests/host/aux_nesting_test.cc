// SPDX-License-Identifier: GPL-2.0
/*
 * AUX ring: an NMI at every point of a transaction, of a refusal and of a loss, and
 * another one in that.
 */
#include <gtest/gtest.h>

#include "aux_nested_world.hh"

namespace ring_test {
namespace {

using enum AuxDeed;

/* Two pieces fit, and the area is full. */
const AuxScenario scenarios[] = {
	{
		.name = "Losses",
		.earlier = {},
		.task = {lose},
		.others = {lose, write},
		.expected = {.busy = 1, .told_for_others = 1, .shown_for_others = 1},
	},
	{
		.name = "LossPending",
		.earlier = {data_full, lose, data_room},
		.task = {lose},
		.others = {lose, write},
		.expected = {.untold = 1, .told_for_others = 1, .nothing_left = 1},
	},
	{
		.name = "Transaction",
		.earlier = {write},
		.task = {write},
		.others = {lose, write},
		.expected = {.busy = 1, .full = 1, .told_for_others = 1},
	},
	{
		.name = "TransactionThatStaysOpen",
		.earlier = {},
		.task = {lose, write},
		.others = {open, end, lose},
		.expected = {.busy = 1, .told_for_others = 1, .nothing_left = 1},
	},
	{
		.name = "AreaFull",
		.earlier = {write, write},
		.task = {write},
		.others = {lose, write, read_all},
		.expected = {.full = 1, .told_for_others = 1},
	},
	{
		.name = "DataRingFull",
		.earlier = {data_full, write},
		.task = {write, lose},
		.others = {lose, data_full, data_room},
		.expected = {.untold = 1, .shown_for_others = 1},
	},
	{
		.name = "DataRingFullAndNested",
		.earlier = {lose, data_full},
		.task = {lose},
		.others = {lose, write, data_room},
		.expected = {.busy = 1, .untold = 1, .nothing_left = 1},
	},
	{
		.name = "Overwrite",
		.overwrite = true,
		.earlier = {data_full, write, lose, data_room},
		.task = {lose, write},
		.others = {lose, write},
		.expected = {.busy = 1, .untold = 1, .told_for_others = 1},
	},
	{
		.name = "NothingToSay",
		.earlier = {},
		.task = {idle},
		.others = {idle, lose, write},
		.expected = {.busy = 1, .told_for_others = 1, .quiet = 1, .not_quiet = 1},
	},
	{
		.name = "NothingToSayInASnapshot",
		.overwrite = true,
		.earlier = {},
		.task = {idle},
		.others = {idle, lose, write},
		.expected = {.busy = 1, .told_for_others = 1, .quiet = 1, .not_quiet = 1},
	},
	{
		.name = "NothingToSayButWhatWasRefused",
		.earlier = {data_full, write},
		.task = {idle, idle},
		.others = {lose, idle, data_room},
		.expected = {.busy = 1, .untold = 1, .quiet = 1, .not_quiet = 1},
	},
	{
		.name = "AnotherArea",
		.earlier = {data_full, write, data_room},
		.task = {map, idle},
		.others = {open, end, lose},
		.expected = {.busy = 1, .quiet = 1, .not_quiet = 1, .kept_out = 1},
	},
};

std::vector<AuxScenario> to_every_depth()
{
	std::vector<AuxScenario> all;

	for (unsigned int levels = 1; levels <= 3; levels++) {
		for (AuxScenario scenario : scenarios) {
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

std::vector<AuxScenario> with_many_interruptions()
{
	std::vector<AuxScenario> all(std::begin(scenarios), std::end(scenarios));

	for (AuxScenario &scenario : all) {
		scenario.nesting = 4;
		scenario.interruptions = 12;
		scenario.quiet = 10;
		scenario.task.insert(scenario.task.end(),
				     {lose, write, idle, read_all, map, write});
	}
	return all;
}

/* What never came up has not been tested. */
void expect_sightings(const AuxSightings &seen, const AuxScenario &scenario)
{
	std::cout << seen.busy << " busy, " << seen.full << " full, " << seen.untold << " untold, "
		  << seen.told_for_others << " told for others, " << seen.nothing_left
		  << " with nothing left, " << seen.shown_for_others << " shown for others, "
		  << seen.quiet << " quiet, " << seen.not_quiet << " not, " << seen.kept_out
		  << " areas kept out" << std::endl;
	EXPECT_GE(seen.busy, scenario.expected.busy);
	EXPECT_GE(seen.full, scenario.expected.full);
	EXPECT_GE(seen.untold, scenario.expected.untold);
	EXPECT_GE(seen.told_for_others, scenario.expected.told_for_others);
	EXPECT_GE(seen.nothing_left, scenario.expected.nothing_left);
	EXPECT_GE(seen.shown_for_others, scenario.expected.shown_for_others);
	EXPECT_GE(seen.quiet, scenario.expected.quiet);
	EXPECT_GE(seen.not_quiet, scenario.expected.not_quiet);
	EXPECT_GE(seen.kept_out, scenario.expected.kept_out);
	EXPECT_EQ(seen.deepest, scenario.nesting);
}

class AuxSchedules : public testing::TestWithParam<AuxScenario> {};

std::string name_of(const testing::TestParamInfo<AuxScenario> &info)
{
	return info.param.name;
}

using AuxEvery = AuxSchedules;

TEST_P(AuxEvery, ScheduleKeepsTheRingWhole)
{
	EveryPath path;
	AuxNestedWorld world(GetParam(), path);
	unsigned long schedules = 0;

	do {
		ASSERT_EQ(world.run(), "") << "schedule" << path.describe();
		schedules++;
	} while (path.next());

	std::cout << schedules << " schedules" << std::endl;
	expect_sightings(world.seen, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Exhaustive, AuxEvery, testing::ValuesIn(to_every_depth()), name_of);

using AuxLong = AuxSchedules;

TEST_P(AuxLong, ScheduleKeepsTheRingWhole)
{
	RandomChoices random;
	AuxNestedWorld world(GetParam(), random);
	const unsigned long schedules = iterations(20000);

	for (unsigned long i = 0; i < schedules; i++)
		ASSERT_EQ(world.run(), "") << "schedule " << i;
	if (schedules >= 20000)
		expect_sightings(world.seen, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Random, AuxLong, testing::ValuesIn(with_many_interruptions()), name_of);

} // namespace
} // namespace ring_test
