// SPDX-License-Identifier: GPL-2.0
/* Which vector an address in the ways into the kernel belongs to. */
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "entries.h"

namespace {

TEST(X86Entries, AnEmptyTableKnowsNothing)
{
	x86_entries entries{};

	x86_entries_sort(&entries);
	EXPECT_EQ(x86_entries_find(&entries, 0), X86_ENTRY_NONE);
	EXPECT_EQ(x86_entries_find(&entries, ~0UL), X86_ENTRY_NONE);
}

/* Against a map, with any order of additions; two of the same begin: the first counts. */
TEST(X86Entries, TheNearestAtOrBelow)
{
	std::mt19937_64 random(1);

	for (int round = 0; round < 200; round++) {
		std::map<unsigned long, int> model;
		x86_entries entries{};

		for (int i = 0; i < 64; i++) {
			const unsigned long begin = 0xffffffff81000000 + random() % 400 * 16;
			const int vector = static_cast<int>(random() % 258) - 2;

			x86_entries_add(&entries, begin, vector);
			model.emplace(begin, vector);
		}
		x86_entries_sort(&entries);
		for (int i = 0; i < 500; i++) {
			const unsigned long address = 0xffffffff81000000 - 64 + random() % 8000;
			auto above = model.upper_bound(address);
			int wanted = X86_ENTRY_NONE;

			if (above != model.begin() && address - std::prev(above)->first < 1024)
				wanted = std::prev(above)->second;
			ASSERT_EQ(x86_entries_find(&entries, address), wanted)
				<< std::hex << address;
		}
	}
}

TEST(X86Entries, NoMoreThanThereIsRoomFor)
{
	std::vector<x86_entries> two(2);
	x86_entries &entries = two[0];

	for (unsigned int i = 0; i < 300; i++)
		x86_entries_add(&entries, i * 16, 5);
	EXPECT_EQ(entries.count, static_cast<unsigned int>(X86_ENTRIES_MAX));
	EXPECT_EQ(two[1].count, 0U);
}

TEST(X86Entries, TheHighestVectorInService)
{
	unsigned int words[8] = {};

	EXPECT_EQ(x86_vector_in_service(words), X86_ENTRY_NONE);
	for (unsigned int vector = 16; vector < 256; vector++) {
		words[vector / 32] |= 1U << vector % 32;
		EXPECT_EQ(x86_vector_in_service(words), static_cast<int>(vector));
	}
	words[7] = 0;
	EXPECT_EQ(x86_vector_in_service(words), 223);
}

} // namespace
