// SPDX-License-Identifier: GPL-2.0
/* Mapping rules, each against a formulation of its own. */
#include <cerrno>
#include <climits>
#include <map>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "map_rules.h"

static bool operator==(const perf_map_page &a, const perf_map_page &b)
{
	return a.kind == b.kind && a.index == b.index;
}

namespace {

/* --- data area --- */

class DataPages : public testing::TestWithParam<unsigned long> {};

TEST_P(DataPages, EveryShortLength)
{
	const unsigned long shift = GetParam();
	const unsigned long page = 1UL << shift;
	std::map<unsigned long, long> good = {{page, 0}};

	for (const long pages : {1, 2, 4, 8, 16, 32, 64})
		good[(1 + static_cast<unsigned long>(pages)) * page] = pages;

	/* With large pages not every byte, but each page's ends. */
	for (unsigned long pages = 0; pages <= 70; pages++) {
		for (unsigned long rest = 0; rest < page; rest += rest < 9 ? 1 : page / 8) {
			const unsigned long length = pages * page + rest;
			const auto found = good.find(length);

			EXPECT_EQ(perf_map_data_pages(length, shift),
				  found == good.end() ? -EINVAL : found->second)
				<< length << " bytes";
		}
	}
}

TEST_P(DataPages, PowersOfTwoUpToWhatAnIntHolds)
{
	const unsigned long shift = GetParam();

	for (unsigned int log = 0; log + shift < 63; log++) {
		const unsigned long length = ((1UL << log) + 1) << shift;

		EXPECT_EQ(perf_map_data_pages(length, shift),
			  log < 31 ? 1L << log : static_cast<long>(-ENOMEM))
			<< "2^" << log << " pages";
		EXPECT_EQ(perf_map_data_pages(length - 1, shift), -EINVAL);
		EXPECT_EQ(perf_map_data_pages(length + 1, shift), -EINVAL);
		if (log > 1) {
			EXPECT_EQ(perf_map_data_pages(length + (1UL << shift), shift), -EINVAL);
			EXPECT_EQ(perf_map_data_pages(length - (1UL << shift), shift), -EINVAL);
		}
	}
	EXPECT_EQ(perf_map_data_pages(ULONG_MAX, shift), -EINVAL);
	EXPECT_EQ(perf_map_data_pages(0UL - (1UL << shift), shift), -EINVAL);
}

INSTANTIATE_TEST_SUITE_P(PageShifts, DataPages, testing::Values(4, 12, 16));

/* --- AUX area --- */

/* A request for an AUX area, and everything it is judged by. */
struct AuxRequest {
	perf_map_geometry have;
	perf_aux_request asked;
	unsigned long first;
	unsigned long length;

	long answer() const
	{
		return perf_map_aux_pages(&have, &asked, first, length);
	}
};

AuxRequest good_request(unsigned long shift, unsigned long data_pages, unsigned long gap,
			unsigned long pages, bool mapped)
{
	const unsigned long first = 1 + data_pages + gap;

	return {{shift, data_pages, mapped ? pages : 0, mapped ? first : 0},
		{static_cast<unsigned long long>(first) << shift,
		 static_cast<unsigned long long>(pages) << shift},
		first,
		pages << shift};
}

template <class Check> void for_good_requests(Check check)
{
	for (const unsigned long shift : {4UL, 12UL, 16UL})
		for (const unsigned long data_pages : {0UL, 1UL, 2UL, 64UL, 1UL << 30})
			for (const unsigned long gap : {0UL, 1UL, 2UL, 1000UL, 1UL << 31})
				for (const unsigned long pages : {1UL, 2UL, 8UL, 1UL << 30})
					for (const bool mapped : {false, true})
						check(good_request(shift, data_pages, gap, pages,
								   mapped),
						      static_cast<long>(pages));
}

TEST(AuxPages, AGoodRequestGetsItsPages)
{
	for_good_requests(
		[](const AuxRequest &request, long pages) { EXPECT_EQ(request.answer(), pages); });
}

/* Moves area and request together. */
void move_to(AuxRequest &request, unsigned long first)
{
	request.first = first;
	request.asked.offset = static_cast<unsigned long long>(first) << request.have.page_shift;
	if (request.have.aux_pages)
		request.have.aux_first = first;
}

void resize_to(AuxRequest &request, unsigned long length)
{
	request.length = length;
	request.asked.size = length;
}

struct Fault {
	const char *name;
	void (*spoil)(AuxRequest &request);
};

/* Each alone makes a good request a bad one. */
const Fault faults[] = {
	{"asked for a byte further on", [](AuxRequest &r) { r.asked.offset++; }},
	{"asked for a byte before", [](AuxRequest &r) { r.asked.offset--; }},
	{"asked for a page further on",
	 [](AuxRequest &r) { r.asked.offset += 1ULL << r.have.page_shift; }},
	{"asked for nowhere", [](AuxRequest &r) { r.asked.offset = ~0ULL; }},
	{"asked for no place", [](AuxRequest &r) { r.asked.offset = 0; }},
	{"mapped a page further on", [](AuxRequest &r) { r.first++; }},
	{"mapped where the offset in bytes wraps",
	 [](AuxRequest &r) { r.first += 1UL << (64 - r.have.page_shift); }},
	{"over the last data page", [](AuxRequest &r) { move_to(r, r.have.data_pages); }},
	{"over the user page", [](AuxRequest &r) { move_to(r, 0); }},
	{"asked for a byte more", [](AuxRequest &r) { r.asked.size++; }},
	{"asked for a byte less", [](AuxRequest &r) { r.asked.size--; }},
	{"asked for nothing", [](AuxRequest &r) { r.asked.size = 0; }},
	{"asked for 4 GiB times 4 GiB more", [](AuxRequest &r) { r.asked.size |= 1ULL << 63; }},
	{"mapped a page more", [](AuxRequest &r) { r.length += 1UL << r.have.page_shift; }},
	{"no pages", [](AuxRequest &r) { resize_to(r, 0); }},
	{"less than a page", [](AuxRequest &r) { resize_to(r, (1UL << r.have.page_shift) - 1); }},
	{"a page and a byte", [](AuxRequest &r) { resize_to(r, (1UL << r.have.page_shift) + 1); }},
	{"three pages", [](AuxRequest &r) { resize_to(r, 3UL << r.have.page_shift); }},
	{"INT_MAX pages",
	 [](AuxRequest &r) {
		 resize_to(r, static_cast<unsigned long>(INT_MAX) << r.have.page_shift);
	 }},
	{"another place than the area's",
	 [](AuxRequest &r) {
		 r.have.aux_pages = r.length >> r.have.page_shift;
		 r.have.aux_first = r.first + 1;
	 }},
	{"another size than the area's",
	 [](AuxRequest &r) {
		 r.have.aux_pages = 2 * (r.length >> r.have.page_shift);
		 r.have.aux_first = r.first;
	 }},
};

TEST(AuxPages, EachFaultAloneIsRefused)
{
	for (const Fault &fault : faults) {
		if (HasFatalFailure())
			return;
		for_good_requests([&](AuxRequest request, long pages) {
			fault.spoil(request);
			ASSERT_EQ(request.answer(), -EINVAL)
				<< fault.name << ", page shift " << request.have.page_shift << ", "
				<< request.have.data_pages << " data pages, " << pages << " pages";
		});
	}
}

TEST(AuxPages, MoreThanAnIntHoldsIsTooLarge)
{
	for (const unsigned long shift : {4UL, 12UL, 16UL}) {
		for (const unsigned int log : {31U, 32U, 40U, 47U}) {
			AuxRequest request = good_request(shift, 4, 0, 1, false);

			resize_to(request, 1UL << log << shift);
			EXPECT_EQ(request.answer(), -ENOMEM) << "2^" << log << " pages";
			/* Size comes before everything else. */
			request.asked.offset = 0;
			EXPECT_EQ(request.answer(), -ENOMEM) << "2^" << log << " pages";
		}
	}
}

/* --- pages of the file --- */

/* The file page by page, up to some way behind its last area. */
std::vector<perf_map_page> layout_of(const perf_map_geometry &have)
{
	std::vector<perf_map_page> pages = {{PERF_MAP_USER_PAGE, 0}};

	for (unsigned long i = 0; i < have.data_pages; i++)
		pages.push_back({PERF_MAP_DATA, i});
	if (have.aux_pages) {
		pages.resize(have.aux_first, {PERF_MAP_NONE, 0});
		for (unsigned long i = 0; i < have.aux_pages; i++)
			pages.push_back({PERF_MAP_AUX, i});
	}
	pages.resize(pages.size() + 200, {PERF_MAP_NONE, 0});
	return pages;
}

TEST(MapPage, EveryOffset)
{
	for (const unsigned long data_pages : {0UL, 1UL, 2UL, 8UL, 64UL}) {
		for (const unsigned long gap : {0UL, 1UL, 5UL, 64UL}) {
			for (const unsigned long aux_pages : {0UL, 1UL, 2UL, 16UL}) {
				const perf_map_geometry have = {12, data_pages, aux_pages,
								1 + data_pages + gap};
				const std::vector<perf_map_page> layout = layout_of(have);

				for (unsigned long i = 0; i < layout.size(); i++)
					EXPECT_TRUE(perf_map_page_at(&have, i) == layout[i])
						<< "page " << i << " of 1 + " << data_pages
						<< " + gap of " << gap << " + " << aux_pages;
			}
		}
	}
}

TEST(MapPage, NothingIsFarOut)
{
	for (const unsigned long aux_pages : {0UL, 16UL}) {
		const perf_map_geometry have = {12, 8, aux_pages, 9};

		for (const unsigned long offset :
		     {9 + aux_pages, 1UL << 31, 1UL << 32, (1UL << 32) + 1, 1UL << 52, ULONG_MAX})
			EXPECT_EQ(perf_map_page_at(&have, offset).kind, PERF_MAP_NONE) << offset;
	}
}

/* While there is no AUX area, its place means nothing. */
TEST(MapPage, APlaceWithoutAnAreaIsNoArea)
{
	for (const unsigned long aux_first : {0UL, 1UL, 4UL, ULONG_MAX}) {
		const perf_map_geometry have = {12, 8, 0, aux_first};

		EXPECT_EQ(perf_map_page_at(&have, 0).kind, PERF_MAP_USER_PAGE);
		for (unsigned long i = 1; i <= 8; i++)
			EXPECT_EQ(perf_map_page_at(&have, i).kind, PERF_MAP_DATA);
		EXPECT_EQ(perf_map_page_at(&have, 9).kind, PERF_MAP_NONE);
	}
}

/* --- locked memory --- */

TEST(LockSplit, PageByPage)
{
	for (unsigned long pages = 0; pages <= 20; pages++) {
		for (unsigned long used = 0; used <= 20; used++) {
			for (unsigned long allowance = 0; allowance <= 20; allowance++) {
				unsigned long user = 0;
				unsigned long mm = 0;

				for (unsigned long i = 0; i < pages; i++)
					++(used + user < allowance ? user : mm);

				const struct perf_lock_split split =
					perf_lock_split(pages, used, allowance);

				ASSERT_EQ(split.user, user);
				ASSERT_EQ(split.mm, mm);
			}
		}
	}
}

TEST(LockSplit, NothingIsCountedTwiceOrWraps)
{
	const unsigned long values[] = {0, 1, 129, LONG_MAX, ULONG_MAX - 1, ULONG_MAX};

	for (const unsigned long pages : values) {
		for (const unsigned long used : values) {
			for (const unsigned long allowance : values) {
				const struct perf_lock_split split =
					perf_lock_split(pages, used, allowance);
				const auto in_use =
					static_cast<unsigned __int128>(used) + split.user;

				EXPECT_EQ(split.user + split.mm, pages);
				EXPECT_LE(split.user, pages);
				EXPECT_TRUE(in_use <= allowance || split.user == 0);
				EXPECT_TRUE(split.mm == 0 || in_use >= allowance);
			}
		}
	}
}

/* --- redirection --- */

const int things[4] = {};

std::vector<perf_output_end_point> every_end_point()
{
	std::vector<perf_output_end_point> all;

	for (const void *event : {&things[0], &things[1]})
		for (const void *task : {static_cast<const int *>(nullptr), &things[0], &things[1]})
			for (const void *clock : {&things[0], &things[1]})
				for (const void *pmu :
				     {static_cast<const int *>(nullptr), &things[2], &things[3]})
					for (const int cpu : {-1, 0, 1})
						for (const int backward : {0, 1, 2})
							all.push_back({event, task, clock, pmu, cpu,
								       backward});
	return all;
}

/* Why @from cannot write to the ring of @to, or nullptr. */
const char *conflict(const perf_output_end_point &from, const perf_output_end_point &to)
{
	if (from.event == to.event)
		return "an event is not redirected to itself";
	if (from.cpu != to.cpu)
		return "two CPUs";
	if (from.cpu < 0 && from.task != to.task)
		return "two tasks that may run on two CPUs";
	if (from.clock != to.clock)
		return "two clocks";
	if ((from.backward != 0) != (to.backward != 0))
		return "two directions";
	if (from.aux_pmu != nullptr && to.aux_pmu != nullptr && from.aux_pmu != to.aux_pmu)
		return "two PMUs for one AUX area";
	return nullptr;
}

TEST(OutputCompatible, EveryPair)
{
	const std::vector<perf_output_end_point> all = every_end_point();
	unsigned long compatible = 0;

	for (const perf_output_end_point &from : all) {
		for (const perf_output_end_point &to : all) {
			const char *why = conflict(from, to);

			ASSERT_EQ(perf_output_compatible(&from, &to), why ? -EINVAL : 0)
				<< (why ? why : "nothing in the way");
			ASSERT_EQ(perf_output_compatible(&to, &from), why ? -EINVAL : 0);
			compatible += why == nullptr;
		}
	}

	/*
	 * 2 pairs of events; with CPU -1 the same of 3 tasks, on 2 CPUs 9 pairs of
	 * tasks each; 2 clocks; 1 + 4 pairs of directions; of 9 pairs of PMUs
	 * the 2 with different ones not.
	 */
	EXPECT_EQ(compatible, 2U * (3 + 2 * 9) * 2 * (1 + 4) * 7);
}

TEST(CpusMeet, AnyCpuMeetsAll)
{
	for (int cpu = -1; cpu < 4; cpu++)
		for (int other = -1; other < 4; other++) {
			const bool bound = cpu >= 0 && other >= 0;

			EXPECT_EQ(perf_cpus_meet(cpu, other) != 0, !bound || cpu == other)
				<< cpu << " and " << other;
		}
}

} // namespace
