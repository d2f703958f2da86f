// SPDX-License-Identifier: GPL-2.0
/* PT output: tables, regions, their ends, and what is wrong with them. */
#include <gtest/gtest.h>

#include "pt_machine.hh"

namespace pt_test {
namespace {

constexpr std::uint64_t on = ctl::trace_en | ctl::user | ctl::branch_en;
constexpr std::uint64_t table_on = on | ctl::topa;
constexpr std::uint64_t halted = status::error | status::stopped;

/* A table of one-page regions and what stands behind them. */
class PtOutput : public testing::Test {
    protected:
	PtMachine machine{all_features()};
	std::uint64_t table = machine.allocate(page_size);
	std::vector<std::uint64_t> regions;

	void add(std::uint64_t flags, unsigned int size = 0)
	{
		const std::uint64_t bytes = page_size << size;

		regions.push_back(machine.allocate(bytes, bytes));
		machine.put(table + 8 * (regions.size() - 1),
			    regions.back() | flags | static_cast<std::uint64_t>(size) << 6);
	}
	void end(std::uint64_t next)
	{
		machine.put(table + 8 * regions.size(), next | topa_end);
	}
	bool start(std::uint64_t mask = 0)
	{
		EXPECT_TRUE(machine.write(msr::output_base, table));
		EXPECT_TRUE(machine.write(msr::output_mask, mask));
		EXPECT_TRUE(machine.write(msr::ctl, table_on));
		return !(machine.read(msr::status) & halted);
	}
	std::uint64_t place()
	{
		return machine.read(msr::output_mask);
	}
	/* Packets of three to nine bytes each. */
	void run(unsigned int branches)
	{
		pt_unit_enter(machine.unit(), 0x400000, 0, PT_UNIT_64);
		for (unsigned int i = 0; i < branches; i++) {
			const pt_unit_retired retired = {
				PT_UNIT_INDIRECT_JUMP, 1, 0x400000, 0x400002,
				0x400000 + 16ULL * i,  0, 0,	    PT_UNIT_64};

			pt_unit_retire(machine.unit(), &retired);
		}
	}
};

TEST_F(PtOutput, RegionsInARowAndBackToTheFirst)
{
	add(0);
	add(topa_int, 1);
	end(table);
	ASSERT_TRUE(start());
	EXPECT_EQ(place() >> 32, 22U); /* PSB, CBR, PSBEND */
	run(1400);
	EXPECT_EQ(place() >> 7 & 0x1ffffff, 1U);
	EXPECT_EQ(machine.interrupts, 0U);
	run(3000);
	EXPECT_EQ(place() >> 7 & 0x1ffffff, 0U);
	EXPECT_EQ(machine.interrupts, 1U);
	EXPECT_EQ(machine.read(msr::output_base), table);
}

TEST_F(PtOutput, AnEndLeadsToAnotherTable)
{
	const std::uint64_t second = machine.allocate(page_size);
	const std::uint64_t region = machine.allocate(page_size);

	add(0);
	end(second);
	machine.put(second, region);
	machine.put(second + 8, table | topa_end);
	ASSERT_TRUE(start());
	run(1400);
	EXPECT_EQ(machine.read(msr::output_base), second);
	EXPECT_EQ(place() & 0xffffffff, 0x7fU);
	EXPECT_NE(place() >> 32, 0U);
	EXPECT_NE(*machine.at(region), 0);
}

TEST_F(PtOutput, AStopFillsUpAndTellsTheLossAtTheNextStart)
{
	add(topa_int | topa_stop);
	end(table);
	ASSERT_TRUE(start());
	run(2000);
	EXPECT_EQ(machine.read(msr::status) & halted, status::stopped);
	EXPECT_EQ(machine.interrupts, 1U);
	EXPECT_EQ(machine.counts().overflows, 1U);
	EXPECT_FALSE(pt_unit_follows(machine.unit(), 0));
	/* It stands at the region's end. */
	EXPECT_EQ(place(), page_size << 32 | 0x7f);
	/* Whole packets, then nothing but PADs. */
	EXPECT_EQ(*machine.at(regions[0] + page_size - 1), 0);

	/* Stopped stays: TraceEn alone does not go on. */
	machine.write(msr::ctl, 0);
	machine.write(msr::ctl, table_on);
	EXPECT_EQ(machine.read(msr::status) & halted, status::stopped);
	machine.write(msr::ctl, 0);
	machine.write(msr::status, 0x100ULL << 32);
	ASSERT_TRUE(start());
	EXPECT_EQ(place() >> 32, 24U); /* PSB, CBR, PSBEND, OVF */
	const std::vector<std::uint8_t> told = machine.bytes(regions[0] + 20, 4);

	EXPECT_EQ(told, (std::vector<std::uint8_t>{0x02, 0x23, 0x02, 0xf3}));
}

/* The next event's buffer says nothing of what this one's has lost. */
TEST_F(PtOutput, ALossIsToldInItsOwnBufferOnly)
{
	add(topa_stop);
	end(table);
	ASSERT_TRUE(start());
	run(3000);
	ASSERT_TRUE(machine.read(msr::status) & status::stopped);
	EXPECT_TRUE(machine.write(msr::ctl, 0));
	EXPECT_TRUE(machine.write(msr::status, 0));

	table = machine.allocate(page_size);
	regions.clear();
	add(topa_stop);
	end(table);
	ASSERT_TRUE(start());
	EXPECT_EQ(place() >> 32, 22U); /* PSB, CBR, PSBEND */
}

TEST_F(PtOutput, AStopBehindOtherRegionsStaysInItsEntry)
{
	add(0);
	add(topa_stop, 1);
	add(0);
	end(table);
	ASSERT_TRUE(start());
	run(6000);
	EXPECT_EQ(machine.read(msr::status) & halted, status::stopped);
	EXPECT_EQ(place(), 2 * page_size << 32 | 1 << 7 | 0x7f);
	EXPECT_EQ(*machine.at(regions[2]), 0);
}

/* Between a stop and a start the driver may do to its tables what it likes. */
TEST_F(PtOutput, AMarkMovedBetweenStopAndStartCounts)
{
	add(0);
	add(0);
	end(table);
	ASSERT_TRUE(start());
	machine.write(msr::ctl, table_on & ~ctl::trace_en);
	machine.put(table, regions[0] | topa_stop | topa_int);
	machine.write(msr::ctl, table_on);
	run(2000);
	EXPECT_EQ(machine.read(msr::status) & halted, status::stopped);
	EXPECT_EQ(machine.interrupts, 1U);
	EXPECT_EQ(place(), page_size << 32 | 0x7f);
}

TEST_F(PtOutput, AnEntryChangedBetweenStopAndStartCounts)
{
	const std::uint64_t other = machine.allocate(page_size);

	add(0);
	end(table);
	ASSERT_TRUE(start());
	machine.write(msr::ctl, table_on & ~ctl::trace_en);

	const std::uint64_t before = place() >> 32;

	machine.put(table, other);
	machine.write(msr::ctl, table_on);
	run(10);
	EXPECT_EQ(*machine.at(regions[0] + before), 0);
	EXPECT_NE(*machine.at(other + before), 0);

	machine.write(msr::ctl, table_on & ~ctl::trace_en);
	machine.put(table, other | 1 << 1);
	machine.write(msr::ctl, table_on);
	EXPECT_EQ(machine.read(msr::status) & halted, status::error);
}

TEST_F(PtOutput, AnotherEntryOfTheSameTable)
{
	add(0);
	add(0);
	end(table);
	ASSERT_TRUE(start());
	machine.write(msr::ctl, table_on & ~ctl::trace_en);

	const std::uint64_t offset = place() >> 32;

	ASSERT_TRUE(start(offset << 32 | 1 << 7));
	run(10);
	EXPECT_EQ(*machine.at(regions[0] + offset), 0);
	EXPECT_NE(*machine.at(regions[1] + offset), 0);
}

TEST_F(PtOutput, ALaterPlaceInTheSameRegion)
{
	add(0, 1);
	end(table);
	ASSERT_TRUE(start());
	machine.write(msr::ctl, table_on & ~ctl::trace_en);
	ASSERT_TRUE(start(page_size << 32));
	run(10);
	EXPECT_NE(*machine.at(regions[0] + page_size), 0);

	machine.write(msr::ctl, table_on & ~ctl::trace_en);
	EXPECT_FALSE(start(2 * page_size << 32));
	EXPECT_EQ(machine.read(msr::status) & halted, status::error);
}

/* The same numbers again, the other way round. */
TEST_F(PtOutput, ASingleRangeAfterATableAtTheSamePlace)
{
	add(0);
	end(table);
	ASSERT_TRUE(start());
	machine.write(msr::ctl, 0);

	const std::uint64_t offset = place() >> 32;

	machine.write(msr::ctl, on);
	run(3);
	EXPECT_EQ(*machine.at(regions[0] + offset), 0);
	EXPECT_NE(*machine.at(table + offset), 0);
}

TEST_F(PtOutput, ThreePlacesTakeTurns)
{
	std::uint64_t bases[3];
	std::uint64_t pages[3];
	std::uint64_t masks[3] = {0x7f, 0x7f, 0x7f};

	for (unsigned int i = 0; i < 3; i++) {
		bases[i] = machine.allocate(page_size);
		pages[i] = machine.allocate(page_size);
		machine.put(bases[i], pages[i]);
		machine.put(bases[i] + 8, bases[i] | topa_end);
	}
	for (const unsigned int i : {0U, 1U, 0U, 1U, 2U, 0U, 2U, 2U, 1U, 0U}) {
		EXPECT_TRUE(machine.write(msr::output_base, bases[i]));
		EXPECT_TRUE(machine.write(msr::output_mask, masks[i]));
		EXPECT_TRUE(machine.write(msr::ctl, table_on));
		run(5);
		EXPECT_TRUE(machine.write(msr::ctl, table_on & ~ctl::trace_en));
		/* What has been written is there, and nothing behind it. */
		EXPECT_GT(place(), masks[i]);
		masks[i] = place();
		EXPECT_EQ(machine.read(msr::output_base), bases[i]);
		EXPECT_NE(*machine.at(pages[i] + (masks[i] >> 32) - 1), 0);
		EXPECT_EQ(*machine.at(pages[i] + (masks[i] >> 32)), 0);
	}
}

/* The same numbers mean something else with a table and without. */
TEST_F(PtOutput, ATableAfterASingleRangeAtTheSamePlace)
{
	add(0);
	end(table);

	const std::uint64_t range = machine.allocate(page_size);

	machine.write(msr::output_base, range);
	machine.write(msr::output_mask, 0xfff);
	machine.write(msr::ctl, on);
	EXPECT_EQ(machine.read(msr::output_mask) >> 32, 22U);
	machine.write(msr::ctl, 0);

	/* In a table this is entry 31, which is none. */
	machine.write(msr::ctl, table_on);
	EXPECT_EQ(machine.read(msr::status) & halted, status::error);
	machine.write(msr::ctl, 0);
	machine.write(msr::status, 0);
	ASSERT_TRUE(start());
	EXPECT_EQ(*machine.at(regions[0]), 0x02);
}

TEST_F(PtOutput, TablesThatAreWrong)
{
	const std::uint64_t region = machine.allocate(2 * page_size, 2 * page_size);
	const std::uint64_t good = machine.allocate(page_size);
	const struct {
		std::uint64_t first;
		std::uint64_t second;
		std::uint64_t mask;
	} bad[] = {
		{good | topa_end, 0, 0},	       /* END in entry 0 */
		{(region + page_size) | 1 << 6, 0, 0}, /* not aligned to its size */
		{region | 1 << 1, 0, 0},	       /* reserved bits */
		{region | 1 << 3, 0, 0},
		{region | 1 << 5, 0, 0},
		{region | 1 << 10, 0, 0},
		{region | 1ULL << 52, 0, 0},
		{region, table | topa_end | topa_int, 1 << 7},	/* INT with END */
		{region, table | topa_end | topa_stop, 1 << 7}, /* STOP with END */
		{region, 0, page_size << 32},			/* offset behind the region */
		{0x70000000000, 0, 0},				/* no memory */
	};

	machine.put(good, region);
	for (const auto &each : bad) {
		machine.put(table, each.first);
		machine.put(table + 8, each.second);
		EXPECT_FALSE(start(each.mask)) << std::hex << each.first << " " << each.second;
		EXPECT_EQ(machine.read(msr::status) & halted, status::error);
		EXPECT_FALSE(pt_unit_follows(machine.unit(), 0));
		machine.write(msr::ctl, 0);
		machine.write(msr::status, 0);
	}
	EXPECT_EQ(machine.counts().errors, std::size(bad));
	machine.put(table, region);
	EXPECT_TRUE(start());
}

TEST_F(PtOutput, MemoryThatIsGoneIsAnErrorAndALoss)
{
	add(0);
	add(0);
	end(table);
	ASSERT_TRUE(start());
	machine.remove(regions[1]);
	run(2000);
	EXPECT_EQ(machine.read(msr::status) & halted, status::error);
	EXPECT_EQ(machine.counts().errors, 1U);
	EXPECT_EQ(machine.counts().overflows, 1U);
}

TEST(PtOutputForms, OneEntryAndEndWhereThatIsAll)
{
	pt_unit_features features = all_features();

	features.single_entry = 1;
	PtMachine machine(features);
	const std::uint64_t table = machine.allocate(page_size);
	const std::uint64_t region = machine.allocate(page_size);

	machine.put(table, region);
	machine.put(table + 8, region);
	machine.write(msr::output_base, table);
	machine.write(msr::output_mask, 1 << 7);
	machine.write(msr::ctl, table_on);
	EXPECT_EQ(machine.read(msr::status) & halted, status::error);
}

TEST(PtOutputForms, ASingleRangeGoesRound)
{
	PtMachine machine(all_features());
	const std::uint64_t range = machine.allocate(page_size);

	machine.write(msr::output_base, range);
	machine.write(msr::output_mask, (page_size - 1) | (page_size - 10) << 32);
	ASSERT_TRUE(machine.write(msr::ctl, on));
	EXPECT_EQ(machine.read(msr::output_mask), (page_size - 1) | 12ULL << 32);
	EXPECT_EQ(*machine.at(range + page_size - 10), 0x02);
	EXPECT_EQ(*machine.at(range + 11), 0x23);
}

TEST(PtOutputForms, ASingleRangeThatIsWrong)
{
	const struct {
		std::uint64_t base;
		std::uint64_t mask;
	} bad[] = {
		{0x100080, 0xfff},		/* not aligned */
		{0x100000, 0x2fff},		/* no power of two */
		{0x100000, 0xfff | 1ULL << 44}, /* offset behind it */
	};

	for (const auto &each : bad) {
		PtMachine machine(all_features());

		machine.allocate(4 * page_size);
		machine.write(msr::output_base, each.base);
		machine.write(msr::output_mask, each.mask);
		machine.write(msr::ctl, on);
		EXPECT_EQ(machine.read(msr::status) & halted, status::error) << each.mask;
	}
}

} // namespace
} // namespace pt_test
