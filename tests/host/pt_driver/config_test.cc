// SPDX-License-Identifier: GPL-2.0
/* attr.config: each bit, under each capability. */
#include <cerrno>
#include <cstdint>

#include <gtest/gtest.h>

#include "config.h"

namespace {

/* What the hardware can do, in the words of this test. */
struct Hardware {
	bool psb_cyc = true;
	bool mtc = true;
	bool ptwrite = true;
	bool power = true;
	bool event = true;
	bool notnt = true;
	unsigned int mtc_periods = 0xffff;
	unsigned int cycle_thresholds = 0xffff;
	unsigned int psb_periods = 0xffff;
	bool branch_always = false;

	int check(std::uint64_t config) const
	{
		const unsigned int words[PT_CAPS_WORDS] = {
			1,
			psb_cyc * 2U | mtc * 8U | ptwrite * 16U | power * 32U | event * 128U |
				notnt * 256U,
			3,
			0,
			mtc_periods << 16,
			cycle_thresholds | psb_periods << 16,
			0,
			0,
		};

		return pt_config_check(words, config, branch_always);
	}
};

constexpr std::uint64_t bit(unsigned int number)
{
	return 1ULL << number;
}

constexpr std::uint64_t pt = bit(0), cyc = bit(1), pwr_evt = bit(4), fup_on_ptw = bit(5),
			mtc = bit(9), tsc = bit(10), noretcomp = bit(11), ptw = bit(12),
			branch = bit(13), event = bit(31), notnt = bit(55);

std::uint64_t mtc_period(std::uint64_t value)
{
	return value << 14;
}
std::uint64_t cyc_thresh(std::uint64_t value)
{
	return value << 19;
}
std::uint64_t psb_period(std::uint64_t value)
{
	return value << 24;
}

TEST(PtConfig, UnknownBits)
{
	const std::uint64_t known = pt | cyc | pwr_evt | fup_on_ptw | mtc | tsc | noretcomp | ptw |
				    branch | event | notnt | mtc_period(15) | cyc_thresh(15) |
				    psb_period(15);

	for (unsigned int number = 0; number < 64; number++) {
		if (known & bit(number))
			continue;
		EXPECT_EQ(Hardware{}.check(bit(number)), -EINVAL) << number;
	}
	EXPECT_EQ(Hardware{}.check(known), 0);
	EXPECT_EQ(Hardware{}.check(0), 0);
}

TEST(PtConfig, WithoutAnyCapability)
{
	const Hardware nothing = {false, false, false, false, false, false, 0, 0, 0, false};

	for (const std::uint64_t config : {tsc, noretcomp, tsc | noretcomp, pt, pt | branch})
		EXPECT_EQ(nothing.check(config), 0) << std::hex << config;
	for (const std::uint64_t config : {cyc, pwr_evt, mtc, ptw, fup_on_ptw, event, notnt,
					   mtc_period(1), cyc_thresh(1), psb_period(1)})
		EXPECT_EQ(nothing.check(config), -EINVAL) << std::hex << config;
}

/* One capability is missing: what needs it is refused, all else is not. */
TEST(PtConfig, EachCapability)
{
	struct {
		bool Hardware::*cap;
		std::uint64_t needs;
	} const cases[] = {
		{&Hardware::psb_cyc, cyc | cyc_thresh(15) | psb_period(15)},
		{&Hardware::mtc, mtc | mtc_period(15)},
		{&Hardware::ptwrite, ptw | fup_on_ptw},
		{&Hardware::power, pwr_evt},
		{&Hardware::event, event},
		{&Hardware::notnt, notnt},
	};
	const std::uint64_t all = cyc | cyc_thresh(15) | psb_period(15) | mtc | mtc_period(15) |
				  ptw | fup_on_ptw | pwr_evt | event | notnt;

	for (const auto &one : cases) {
		Hardware hardware;

		hardware.*one.cap = false;
		EXPECT_EQ(hardware.check(all & ~one.needs), 0) << std::hex << one.needs;
		for (unsigned int number = 0; number < 64; number++) {
			if (!(one.needs & bit(number)))
				continue;
			EXPECT_EQ(hardware.check(bit(number)), -EINVAL) << number;
		}
	}
}

TEST(PtConfig, PeriodsAndThresholds)
{
	for (unsigned int offered = 0; offered < 16; offered++) {
		Hardware hardware;

		hardware.mtc_periods = hardware.cycle_thresholds = hardware.psb_periods =
			1U << offered;
		for (unsigned int wanted = 0; wanted < 16; wanted++) {
			const int fits = wanted == offered ? 0 : -EINVAL;
			/* 0 is what there is without a choice. */
			const int fits_or_none = wanted ? fits : 0;

			EXPECT_EQ(hardware.check(mtc | mtc_period(wanted)), fits);
			EXPECT_EQ(hardware.check(mtc_period(wanted)), fits_or_none);
			EXPECT_EQ(hardware.check(cyc | cyc_thresh(wanted)), fits_or_none);
			EXPECT_EQ(hardware.check(cyc_thresh(wanted)), fits_or_none);
			EXPECT_EQ(hardware.check(psb_period(wanted)), fits_or_none);
		}
	}
}

TEST(PtConfig, AddressesOfPacketsThatAreOff)
{
	EXPECT_EQ(Hardware{}.check(fup_on_ptw), -EINVAL);
	EXPECT_EQ(Hardware{}.check(fup_on_ptw | ptw), 0);
	EXPECT_EQ(Hardware{}.check(ptw), 0);
}

TEST(PtConfig, Branches)
{
	const Hardware erratum = {.branch_always = true};

	EXPECT_EQ(Hardware{}.check(branch), -EINVAL);
	EXPECT_EQ(Hardware{}.check(pt | branch), 0);
	EXPECT_EQ(Hardware{}.check(pt), 0);
	EXPECT_EQ(erratum.check(0), 0);
	EXPECT_EQ(erratum.check(pt | branch), 0);
	EXPECT_EQ(erratum.check(pt), -EINVAL);
}

TEST(PtConfig, ControlWord)
{
	constexpr std::uint64_t os = bit(2), user = bit(3);

	EXPECT_EQ(pt_config_ctl(0, 1, 1), branch | os | user);
	EXPECT_EQ(pt_config_ctl(0, 0, 1), branch | user);
	EXPECT_EQ(pt_config_ctl(0, 1, 0), branch | os);
	EXPECT_EQ(pt_config_ctl(pt, 0, 1), user) << "TraceEn is the driver's";
	EXPECT_EQ(pt_config_ctl(pt | branch, 0, 1), user | branch);
	EXPECT_EQ(pt_config_ctl(tsc | noretcomp | mtc | mtc_period(3) | psb_period(5), 0, 1),
		  tsc | noretcomp | mtc | mtc_period(3) | psb_period(5) | branch | user);
}

} // namespace
