// SPDX-License-Identifier: GPL-2.0
/* AUX ring: random areas and random operations, beside the model. */
#include <gtest/gtest.h>

#include "aux_duel.hh"

namespace ring_test {
namespace {

TEST(AuxModel, RandomOperationsLeadToTheSame)
{
	constexpr unsigned long operations_per_ring = 1000;
	RandomChoices random;
	unsigned long left = iterations(500000);
	const bool enough = left >= 500000;
	AuxDuel::Setting setting{};
	unsigned long refused = 0;
	unsigned long merged = 0;
	unsigned long gaps = 0;
	unsigned long wakeups = 0;
	unsigned long quiet = 0;
	unsigned long kept_out = 0;

	while (left) {
		setting = AuxDuel::choose_setting(random);

		AuxDuel duel(setting, random);

		for (unsigned long i = std::min(left, operations_per_ring); i; i--, left--)
			ASSERT_EQ(duel.step(), "") << setting << ", " << left << " operations left";
		ASSERT_EQ(duel.finish(), "") << setting;
		refused += duel.refused;
		merged += duel.merged;
		gaps += duel.gaps;
		wakeups += duel.wakeups;
		quiet += duel.quiet;
		kept_out += duel.kept_out;
	}
	std::cout << refused << " refused, " << merged << " merged, " << gaps << " with gaps, "
		  << wakeups << " wake-ups, " << quiet << " quiet ends, " << kept_out
		  << " areas kept out" << std::endl;
	/* What never came up has not been compared. */
	EXPECT_TRUE(!enough || (refused && merged && gaps && wakeups && quiet && kept_out));
}

} // namespace
} // namespace ring_test
