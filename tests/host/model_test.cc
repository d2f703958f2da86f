// SPDX-License-Identifier: GPL-2.0
/* Data ring: random rings and random operations, beside the reference model. */
#include <gtest/gtest.h>

#include "ring_duel.hh"

namespace ring_test {
namespace {

TEST(Model, RandomOperationsLeadToTheSame)
{
	constexpr unsigned long operations_per_ring = 1000;
	RandomChoices random;
	unsigned long left = iterations(500000);

	while (left) {
		const RingDuel::Setting setting = RingDuel::choose_setting(random);
		RingDuel duel(setting, random);

		for (unsigned long i = std::min(left, operations_per_ring); i; i--, left--)
			ASSERT_EQ(duel.step(), "") << setting << ", " << left << " operations left";
		ASSERT_EQ(duel.finish(), "") << setting;
	}
}

} // namespace
} // namespace ring_test
