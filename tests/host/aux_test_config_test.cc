// SPDX-License-Identifier: GPL-2.0
/* aux_test: what attr.config, config1 and config2 mean. */
#include <cstring>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <linux/perf_event.h>

#include "aux_test/config.h"

namespace ring_test {
namespace {

using Words = std::array<unsigned long long, AUX_TEST_CONFIGS>;

constexpr int invalid = -22;

const aux_test_field &field(const std::string &name)
{
	const aux_test_field *found = aux_test_fields();

	while (found->name && name != found->name)
		found++;
	EXPECT_NE(found->name, nullptr) << "there is no field " << name;
	return *found;
}

unsigned long long largest(const aux_test_field &field)
{
	const int bits = field.last_bit - field.first_bit + 1;

	return (1ULL << bits) - 1;
}

/* As perf makes it of NAME=VALUE,... */
Words words_of(const std::map<std::string, unsigned long long> &values)
{
	Words words{};

	for (const auto &[name, value] : values) {
		const aux_test_field &at = field(name);

		EXPECT_LE(value, largest(at)) << name;
		words[static_cast<std::size_t>(at.config)] |= value << at.first_bit;
	}
	return words;
}

int verdict(const std::map<std::string, unsigned long long> &values)
{
	aux_test_config config;

	return aux_test_parse(&config, words_of(values).data());
}

aux_test_config parse(const std::map<std::string, unsigned long long> &values)
{
	aux_test_config config;

	std::memset(&config, 0xff, sizeof(config));
	EXPECT_EQ(aux_test_parse(&config, words_of(values).data()), 0);
	return config;
}

TEST(AuxTestFields, AreApartAndWithinTheirWords)
{
	Words taken{};
	std::set<std::string> names;

	for (const aux_test_field *f = aux_test_fields(); f->name; f++) {
		ASSERT_GE(f->config, 0);
		ASSERT_LT(f->config, AUX_TEST_CONFIGS);
		ASSERT_GE(f->first_bit, 0);
		ASSERT_LE(f->first_bit, f->last_bit);
		ASSERT_LT(f->last_bit, 64);

		const unsigned long long bits = largest(*f) << f->first_bit;

		ASSERT_EQ(taken[static_cast<std::size_t>(f->config)] & bits, 0U) << f->name;
		taken[static_cast<std::size_t>(f->config)] |= bits;
		ASSERT_TRUE(names.insert(f->name).second) << f->name;
	}
	EXPECT_EQ(names.size(), 14U);
}

/* Programs have these by heart, so they are as they are. */
TEST(AuxTestFields, AreWhereTheyHaveAlwaysBeen)
{
	const aux_test_field expected[] = {
		{"rate", 0, 0, 34},	  {"overrun", 0, 35, 36},   {"raise", 0, 48, 63},
		{"chunk", 1, 0, 31},	  {"burst", 1, 32, 63},	    {"fail_setup", 2, 0, 3},
		{"fail_begin", 2, 4, 15}, {"slow_stop", 2, 16, 31}, {"late_end", 2, 32, 32},
		{"hw_id", 2, 33, 33},	  {"align", 2, 34, 37},	    {"drop", 2, 38, 53},
		{"id", 2, 54, 63},	  {"strict", 0, 37, 37},
	};

	for (const aux_test_field &f : expected) {
		EXPECT_EQ(field(f.name).config, f.config) << f.name;
		EXPECT_EQ(field(f.name).first_bit, f.first_bit) << f.name;
		EXPECT_EQ(field(f.name).last_bit, f.last_bit) << f.name;
	}
}

TEST(AuxTestConfig, BitsOfNoFieldAreRefused)
{
	Words known{};

	for (const aux_test_field *f = aux_test_fields(); f->name; f++)
		known[static_cast<std::size_t>(f->config)] |= largest(*f) << f->first_bit;
	ASSERT_NE(~known[0], 0U) << "there is nothing to be refused";

	for (std::size_t i = 0; i < known.size(); i++) {
		for (int bit = 0; bit < 64; bit++) {
			Words words{};
			aux_test_config config;

			words[i] = 1ULL << bit;
			if (!(words[i] & known[i])) {
				EXPECT_EQ(aux_test_parse(&config, words.data()), invalid)
					<< "config" << i << " bit " << bit;
			}
		}
	}
}

TEST(AuxTestConfig, DefaultsAreThoseOfTheManual)
{
	const aux_test_config config = parse({});

	EXPECT_EQ(config.rate, 1U << 20);
	EXPECT_EQ(config.burst, 1048U) << "a millisecond's worth in whole words";
	EXPECT_EQ(config.chunk, 0U);
	EXPECT_EQ(config.align, 8U);
	EXPECT_EQ(config.interval, 1048ULL * 1000000000 / (1 << 20));
	EXPECT_EQ(config.raise, 0U);
	EXPECT_EQ(config.overrun, AUX_TEST_STOP);
	EXPECT_EQ(config.drop, 0U);
	EXPECT_EQ(config.fail_setup, 0U);
	EXPECT_EQ(config.fail_begin, 0U);
	EXPECT_EQ(config.slow_stop, 0U);
	EXPECT_EQ(config.late_end, 0);
	EXPECT_EQ(config.hw_id, 0);
	EXPECT_EQ(config.id, 0U);
}

/* Each field with its smallest and largest value, and a value of its own beside all others. */
TEST(AuxTestConfig, FieldsHaveTheirValues)
{
	EXPECT_EQ(parse({{"rate", 1}}).rate, 1U);
	EXPECT_EQ(parse({{"rate", (1ULL << 35) - 1}}).rate, (1ULL << 35) - 1);
	EXPECT_EQ(parse({{"chunk", 8}}).chunk, 8U);
	EXPECT_EQ(parse({{"chunk", 0xfffffff8}}).chunk, 0xfffffff8U);
	EXPECT_EQ(parse({{"burst", 8}}).burst, 8U);
	EXPECT_EQ(parse({{"burst", 0xfffffff8}}).burst, 0xfffffff8U);
	EXPECT_EQ(parse({{"drop", 1}}).drop, 1U);
	EXPECT_EQ(parse({{"drop", 0xffff}}).drop, 0xffffU);
	EXPECT_EQ(parse({{"fail_setup", 15}}).fail_setup, 15U);
	EXPECT_EQ(parse({{"fail_begin", 0xfff}}).fail_begin, 0xfffU);
	EXPECT_EQ(parse({{"slow_stop", 0xffff}}).slow_stop, 0xffffU);
	EXPECT_EQ(parse({{"hw_id", 1}}).hw_id, 1);
	EXPECT_EQ(parse({{"hw_id", 1}}).strict, 0);
	EXPECT_EQ(parse({{"strict", 1}}).strict, 1);
	EXPECT_EQ(parse({{"id", 1023}}).id, 1023U);

	const aux_test_config all = parse({{"rate", 3000},
					   {"overrun", 2},
					   {"raise", 0x0108},
					   {"chunk", 16},
					   {"burst", 24},
					   {"fail_setup", 5},
					   {"fail_begin", 6},
					   {"slow_stop", 7},
					   {"late_end", 1},
					   {"hw_id", 1},
					   {"align", 4},
					   {"drop", 9},
					   {"id", 10}});

	EXPECT_EQ(all.rate, 3000U);
	EXPECT_EQ(all.overrun, AUX_TEST_HOLD);
	EXPECT_EQ(all.raise, 0x0108U);
	EXPECT_EQ(all.chunk, 16U);
	EXPECT_EQ(all.burst, 24U);
	EXPECT_EQ(all.fail_setup, 5U);
	EXPECT_EQ(all.fail_begin, 6U);
	EXPECT_EQ(all.slow_stop, 7U);
	EXPECT_EQ(all.late_end, 1);
	EXPECT_EQ(all.hw_id, 1);
	EXPECT_EQ(all.align, 16U);
	EXPECT_EQ(all.drop, 9U);
	EXPECT_EQ(all.id, 10U);
}

TEST(AuxTestConfig, SizesAreWholeWords)
{
	for (unsigned long long bytes = 0; bytes < 64; bytes++) {
		EXPECT_EQ(verdict({{"chunk", bytes}}), bytes % 8 ? invalid : 0) << bytes;
		EXPECT_EQ(verdict({{"burst", bytes}}), bytes % 8 ? invalid : 0) << bytes;
	}
}

TEST(AuxTestConfig, AlignmentsAreBetweenAWordAndAPage)
{
	for (unsigned long long log = 0; log < 16; log++) {
		const bool good = log == 0 || (log >= 3 && log <= 12);

		EXPECT_EQ(verdict({{"align", log}}), good ? 0 : invalid) << log;
		if (good) {
			EXPECT_EQ(parse({{"align", log}}).align, log ? 1UL << log : 8);
		}
	}
}

TEST(AuxTestConfig, OverrunsAreThree)
{
	EXPECT_EQ(parse({{"overrun", 0}}).overrun, AUX_TEST_STOP);
	EXPECT_EQ(parse({{"overrun", 1}}).overrun, AUX_TEST_RUN_ON);
	EXPECT_EQ(parse({{"overrun", 2}}).overrun, AUX_TEST_HOLD);
	EXPECT_EQ(verdict({{"overrun", 3}}), invalid);
}

TEST(AuxTestConfig, FlagsAreThoseThatADriverMayRaise)
{
	const unsigned long long may = PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL |
				       PERF_AUX_FLAG_COLLISION | PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK;

	for (int bit = 0; bit < 16; bit++) {
		const unsigned long long flag = 1ULL << bit;

		EXPECT_EQ(verdict({{"raise", flag}}), flag & may ? 0 : invalid) << flag;
	}
	EXPECT_EQ(parse({{"raise", may}}).raise, may);
}

TEST(AuxTestConfig, AnEndIsLateOnlyIfItTakesTime)
{
	EXPECT_EQ(verdict({{"late_end", 1}}), invalid);
	EXPECT_EQ(verdict({{"slow_stop", 1}}), 0);
	EXPECT_EQ(parse({{"late_end", 1}, {"slow_stop", 1}}).late_end, 1);
}

TEST(AuxTestConfig, ABurstIsAMillisecondsWorthUnlessAskedFor)
{
	for (const unsigned long long rate : {1ULL, 999ULL, 7999ULL, 8000ULL, 8001ULL, 15999ULL,
					      16000ULL, 1ULL << 30, (1ULL << 35) - 1}) {
		const unsigned long long exact = rate / 1000;
		const unsigned long burst = parse({{"rate", rate}}).burst;

		EXPECT_EQ(burst % 8, 0U) << rate;
		EXPECT_GE(burst, 8U) << rate;
		EXPECT_LE(burst, exact < 8 ? 8 : exact) << rate;
		EXPECT_GT(burst + 8, exact) << rate;
		EXPECT_EQ(parse({{"rate", rate}, {"burst", 80}}).burst, 80U);
	}
}

/* As long as the rate takes for a burst, within what a timer and a test can bear. */
TEST(AuxTestConfig, TheIntervalIsThatOfABurst)
{
	const auto interval = [](unsigned long long rate, unsigned long long burst) {
		return parse({{"rate", rate}, {"burst", burst}}).interval;
	};

	for (unsigned long long burst = 8; burst < 100000; burst += 808)
		EXPECT_EQ(interval(1000000, burst), burst * 1000 < 10000 ? 10000 : burst * 1000);
	EXPECT_EQ(interval(1, 8), 1000000000U);
	EXPECT_EQ(interval(8, 8), 1000000000U);
	EXPECT_EQ(interval(9, 8), 888888888U);
	EXPECT_EQ(interval(1, 0xfffffff8), 1000000000U);
	EXPECT_EQ(interval((1ULL << 35) - 1, 8), 10000U);
	EXPECT_EQ(interval((1ULL << 35) - 1, 0xfffffff8), 124999999U);
	EXPECT_EQ(interval(800000, 8), 10000U);
	EXPECT_EQ(interval(799992, 8), 10000U);
	EXPECT_EQ(interval(799920, 8), 10001U);
}

} // namespace
} // namespace ring_test
