// SPDX-License-Identifier: GPL-2.0
/*
 * Sample plans: the layout that the ABI's text gives, item by item, for every
 * combination of fields.
 */
#include <bit>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <linux/perf_event.h>

#include "choices.hh"
#include "sample_plan.hh"
#include "sample_plans.hh"

namespace ring_test {
namespace {

using Type = unsigned long long;
using perf_ring::Field;

/* --- the core's numbers are the ABI's --- */

constexpr bool is_bit(Field field, Type abi)
{
	return 1ULL << static_cast<unsigned int>(field) == abi;
}

static_assert(is_bit(Field::ip, PERF_SAMPLE_IP));
static_assert(is_bit(Field::tid, PERF_SAMPLE_TID));
static_assert(is_bit(Field::time, PERF_SAMPLE_TIME));
static_assert(is_bit(Field::addr, PERF_SAMPLE_ADDR));
static_assert(is_bit(Field::read, PERF_SAMPLE_READ));
static_assert(is_bit(Field::callchain, PERF_SAMPLE_CALLCHAIN));
static_assert(is_bit(Field::id, PERF_SAMPLE_ID));
static_assert(is_bit(Field::cpu, PERF_SAMPLE_CPU));
static_assert(is_bit(Field::period, PERF_SAMPLE_PERIOD));
static_assert(is_bit(Field::stream_id, PERF_SAMPLE_STREAM_ID));
static_assert(is_bit(Field::raw, PERF_SAMPLE_RAW));
static_assert(is_bit(Field::branch_stack, PERF_SAMPLE_BRANCH_STACK));
static_assert(is_bit(Field::regs_user, PERF_SAMPLE_REGS_USER));
static_assert(is_bit(Field::stack_user, PERF_SAMPLE_STACK_USER));
static_assert(is_bit(Field::weight, PERF_SAMPLE_WEIGHT));
static_assert(is_bit(Field::data_src, PERF_SAMPLE_DATA_SRC));
static_assert(is_bit(Field::identifier, PERF_SAMPLE_IDENTIFIER));
static_assert(is_bit(Field::transaction, PERF_SAMPLE_TRANSACTION));
static_assert(is_bit(Field::regs_intr, PERF_SAMPLE_REGS_INTR));
static_assert(is_bit(Field::phys_addr, PERF_SAMPLE_PHYS_ADDR));
static_assert(is_bit(Field::aux, PERF_SAMPLE_AUX));
static_assert(is_bit(Field::cgroup, PERF_SAMPLE_CGROUP));
static_assert(is_bit(Field::data_page_size, PERF_SAMPLE_DATA_PAGE_SIZE));
static_assert(is_bit(Field::code_page_size, PERF_SAMPLE_CODE_PAGE_SIZE));
static_assert(is_bit(Field::weight_struct, PERF_SAMPLE_WEIGHT_STRUCT));
static_assert(PERF_SAMPLE_MAX == 1ULL << PERF_SAMPLE_BITS);
static_assert(perf_ring::header_size == sizeof(perf_event_header));

/* --- the ABI's text, for the layouts to be compared with --- */

enum class Size { fixed, variable };

struct Item {
	Type selected_by;
	Size size;
};

/* The table above PERF_RECORD_SAMPLE in the section "Decoding a sample". */
constexpr Item items[] = {
	{PERF_SAMPLE_IDENTIFIER, Size::fixed},
	{PERF_SAMPLE_IP, Size::fixed},
	{PERF_SAMPLE_TID, Size::fixed},
	{PERF_SAMPLE_TIME, Size::fixed},
	{PERF_SAMPLE_ADDR, Size::fixed},
	{PERF_SAMPLE_ID, Size::fixed},
	{PERF_SAMPLE_STREAM_ID, Size::fixed},
	{PERF_SAMPLE_CPU, Size::fixed},
	{PERF_SAMPLE_PERIOD, Size::fixed},
	{PERF_SAMPLE_READ, Size::variable},
	{PERF_SAMPLE_CALLCHAIN, Size::variable},
	{PERF_SAMPLE_RAW, Size::variable},
	{PERF_SAMPLE_BRANCH_STACK, Size::variable},
	{PERF_SAMPLE_REGS_USER, Size::variable},
	{PERF_SAMPLE_STACK_USER, Size::variable},
	{PERF_SAMPLE_WEIGHT_TYPE, Size::fixed},
	{PERF_SAMPLE_DATA_SRC, Size::fixed},
	{PERF_SAMPLE_TRANSACTION, Size::fixed},
	{PERF_SAMPLE_REGS_INTR, Size::variable},
	{PERF_SAMPLE_PHYS_ADDR, Size::fixed},
	{PERF_SAMPLE_CGROUP, Size::fixed},
	{PERF_SAMPLE_DATA_PAGE_SIZE, Size::fixed},
	{PERF_SAMPLE_CODE_PAGE_SIZE, Size::fixed},
	{PERF_SAMPLE_AUX, Size::variable},
};

/* The table "Id trailer". */
constexpr Type trailer_items[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
};

/* What a value is made of: "of the page at IP" and the like. */
constexpr struct {
	Type item;
	Type made_of;
} ingredients[] = {
	{PERF_SAMPLE_CODE_PAGE_SIZE, PERF_SAMPLE_IP},
	{PERF_SAMPLE_DATA_PAGE_SIZE, PERF_SAMPLE_ADDR},
	{PERF_SAMPLE_PHYS_ADDR, PERF_SAMPLE_ADDR},
	{PERF_SAMPLE_STACK_USER, PERF_SAMPLE_REGS_USER}, /* the stack pointer */
};

constexpr perf_sample_sources sources = shuffled_sources();

class Expected {
    public:
	Expected(Type type, unsigned int every)
	{
		plan.size = sizeof(perf_event_header);
		plan.wanted = type;
		plan.every = every;
		for (const Item &item : items) {
			if (item.size == Size::variable)
				variable(item.selected_by & type);
			else
				fixed(item.selected_by, type);
		}
		end(PERF_SAMPLE_RUN_TAIL);
		for (const Type item : trailer_items) {
			if (item & type) {
				add(item);
				plan.id_size += 8;
			}
		}
		plan.end[PERF_SAMPLE_RUN_ID] = words;
		for (const auto &[item, made_of] : ingredients)
			if (type & item)
				plan.wanted |= made_of;
	}

	perf_sample_plan plan{};

    private:
	/* Ends the run that was going on, if any. */
	void variable(Type selected)
	{
		plan.variable |= selected;
		if (in_run)
			end(run);
		in_run = false;
	}

	/* The first after one of variable size begins a run. */
	void fixed(Type selected_by, Type type)
	{
		if (!in_run)
			run++;
		in_run = true;
		if (selected_by & type) {
			add(selected_by);
			plan.size = static_cast<unsigned short>(plan.size + 8);
		}
	}

	void add(Type item)
	{
		plan.from[words++] = sources.word[std::countr_zero(item)];
	}
	void end(int which)
	{
		plan.end[which] = words;
	}

	unsigned char words = 0;
	int run = -1;
	bool in_run = false;
};

std::ostream &operator<<(std::ostream &out, const perf_sample_plan &plan)
{
	unsigned int word = 0;

	out << "wanted " << std::hex << plan.wanted << ", variable " << plan.variable << std::dec
	    << ", every " << plan.every << ", size " << plan.size << ", id_size " << plan.id_size;
	for (const unsigned int end : plan.end) {
		out << " |";
		for (; word < end && word < PERF_SAMPLE_PLAN_WORDS; word++)
			out << " " << static_cast<unsigned int>(plan.from[word]);
	}
	return out;
}

bool same(const perf_sample_plan &a, const perf_sample_plan &b)
{
	return a.wanted == b.wanted && a.variable == b.variable && a.every == b.every &&
	       a.size == b.size && a.id_size == b.id_size &&
	       std::equal(std::begin(a.end), std::end(a.end), b.end) &&
	       std::equal(std::begin(a.from), std::end(a.from), b.from);
}

/* What is wrong with the plan that the core makes, or nothing. */
std::string difference(Type type, std::uint64_t count = 0)
{
	const auto every = static_cast<unsigned int>(count);
	const perf_sample_plan plan = compiled_plan(type, every);
	const Expected expected(type, every);

	if (same(plan, expected.plan))
		return "";

	std::ostringstream text;

	text << "sample_type " << std::hex << type << std::dec << ":\n  plan     " << plan
	     << "\n  expected " << expected.plan;
	return text.str();
}

/* --- combinations --- */

std::vector<Type> bits_of(Size size)
{
	std::vector<Type> bits;

	for (const Item &item : items)
		for (Type rest = item.selected_by; item.size == size && rest; rest &= rest - 1)
			bits.push_back(rest & (0 - rest));
	return bits;
}

/* The bits of @number choose among @bits. */
Type combination(std::uint64_t number, const std::vector<Type> &bits)
{
	Type type = 0;

	for (std::size_t i = 0; i < bits.size(); i++)
		if (number >> i & 1)
			type |= bits[i];
	return type;
}

const std::vector<Type> fixed_bits = bits_of(Size::fixed);
const std::vector<Type> variable_bits = bits_of(Size::variable);
const std::uint64_t fixed_combinations = 1ULL << fixed_bits.size();
const std::uint64_t variable_combinations = 1ULL << variable_bits.size();

TEST(SamplePlan, TheTextNamesEveryField)
{
	EXPECT_EQ(fixed_bits.size(), 17U);
	EXPECT_EQ(variable_bits.size(), 8U);
	EXPECT_EQ(combination(~0ULL, fixed_bits) | combination(~0ULL, variable_bits),
		  PERF_SAMPLE_MAX - 1ULL);
}

/* Layouts that were counted by hand. */
TEST(SamplePlan, PlainRecordingHasFourWords)
{
	const perf_sample_plan plan = compiled_plan(PERF_SAMPLE_IP | PERF_SAMPLE_TID |
						    PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD);

	EXPECT_EQ(plan.size, 40);
	EXPECT_EQ(plan.id_size, 16);
	EXPECT_EQ(plan.variable, 0U);
	EXPECT_EQ(plan.end[PERF_SAMPLE_RUN_HEAD], 4);
	EXPECT_EQ(plan.end[PERF_SAMPLE_RUN_MIDDLE], 4);
	EXPECT_EQ(plan.end[PERF_SAMPLE_RUN_TAIL], 4);
	EXPECT_EQ(plan.end[PERF_SAMPLE_RUN_ID], 6);
	EXPECT_EQ(plan.from[0], 3);  /* IP, bit 0 */
	EXPECT_EQ(plan.from[1], 10); /* TID, bit 1 */
	EXPECT_EQ(plan.from[2], 17); /* TIME, bit 2 */
	EXPECT_EQ(plan.from[3], 27); /* PERIOD, bit 8 */
	EXPECT_EQ(plan.from[4], 10);
	EXPECT_EQ(plan.from[5], 17);
}

TEST(SamplePlan, EverythingFillsThePlan)
{
	const perf_sample_plan plan = compiled_plan(PERF_SAMPLE_MAX - 1);

	EXPECT_EQ(plan.size, 8 + 16 * 8);
	EXPECT_EQ(plan.id_size, 6 * 8);
	EXPECT_EQ(plan.end[PERF_SAMPLE_RUN_HEAD], 9);
	EXPECT_EQ(plan.end[PERF_SAMPLE_RUN_MIDDLE], 12);
	EXPECT_EQ(plan.end[PERF_SAMPLE_RUN_TAIL], 16);
	EXPECT_EQ(plan.end[PERF_SAMPLE_RUN_ID], PERF_SAMPLE_PLAN_WORDS);
}

TEST(SamplePlan, EveryCombinationOfFixedFields)
{
	for (std::uint64_t i = 0; i < fixed_combinations; i++)
		ASSERT_EQ(difference(combination(i, fixed_bits), i & 1), "");
}

TEST(SamplePlan, EachVariableFieldWithEveryCombinationOfFixedOnes)
{
	for (const Type variable : variable_bits)
		for (std::uint64_t i = 0; i < fixed_combinations; i++)
			ASSERT_EQ(difference(variable | combination(i, fixed_bits)), "");
}

TEST(SamplePlan, EveryCombinationOfVariableFields)
{
	for (const Type fixed : {Type{0}, combination(~0ULL, fixed_bits)})
		for (std::uint64_t i = 0; i < variable_combinations; i++)
			ASSERT_EQ(difference(fixed | combination(i, variable_bits)), "");
}

TEST(SamplePlan, RandomCombinationsOfAllFields)
{
	RandomChoices random;

	for (unsigned long i = iterations(200000); i; i--) {
		const Type type = random.choose(PERF_SAMPLE_MAX);

		ASSERT_EQ(difference(type, random.choose(1U << 31)), "");
	}
}

TEST(SamplePlan, UnknownBitsAreLeftOut)
{
	RandomChoices random;

	for (unsigned int unknown = PERF_SAMPLE_BITS; unknown < 64; unknown++) {
		for (unsigned int i = 0; i < 100; i++) {
			const Type type = random.choose(PERF_SAMPLE_MAX);
			const Type unknowns = ~(PERF_SAMPLE_MAX - 1ULL) << random.choose(40);

			ASSERT_TRUE(
				same(compiled_plan(type | 1ULL << unknown), compiled_plan(type)))
				<< "bit " << unknown;
			ASSERT_TRUE(same(compiled_plan(type | unknowns), compiled_plan(type)))
				<< std::hex << type << " and " << unknowns;
		}
	}
}

/* The words of a trailer, by name: for a table that can be read. */
std::string trailer(const perf_sample_plan &plan)
{
	std::string names;

	for (unsigned int i = plan.end[PERF_SAMPLE_RUN_TAIL]; i < plan.end[PERF_SAMPLE_RUN_ID];
	     i++) {
		const auto source = [&](Type item) {
			return sources.word[std::countr_zero(item)] == plan.from[i];
		};

		names += source(PERF_SAMPLE_TID)	  ? "TID "
			 : source(PERF_SAMPLE_TIME)	  ? "TIME "
			 : source(PERF_SAMPLE_ID)	  ? "ID "
			 : source(PERF_SAMPLE_STREAM_ID)  ? "STREAM_ID "
			 : source(PERF_SAMPLE_CPU)	  ? "CPU "
			 : source(PERF_SAMPLE_IDENTIFIER) ? "IDENTIFIER "
							  : "? ";
	}
	return names;
}

TEST(SamplePlan, TrailersOfEveryCombinationWhateverElseIsSampled)
{
	const std::vector<Type> bits(std::begin(trailer_items), std::end(trailer_items));
	const Type others = ~combination(~0ULL, bits);

	for (std::uint64_t i = 0; i < 1U << bits.size(); i++) {
		const Type type = combination(i, bits);
		std::string expected;
		unsigned int size = 0;
		const auto add = [&](Type item, const char *name) {
			if (type & item) {
				expected += name;
				size += 8;
			}
		};

		add(PERF_SAMPLE_TID, "TID ");
		add(PERF_SAMPLE_TIME, "TIME ");
		add(PERF_SAMPLE_ID, "ID ");
		add(PERF_SAMPLE_STREAM_ID, "STREAM_ID ");
		add(PERF_SAMPLE_CPU, "CPU ");
		add(PERF_SAMPLE_IDENTIFIER, "IDENTIFIER ");
		for (const Type more : {Type{0}, others}) {
			const perf_sample_plan plan = compiled_plan(type | more);

			EXPECT_EQ(trailer(plan), expected);
			EXPECT_EQ(plan.id_size, size);
		}
	}
}

} // namespace
} // namespace ring_test
