// SPDX-License-Identifier: GPL-2.0
/* attr.config, checked against the capabilities. */
#include "config.h"
#include "caps.hh"
#include "rtit.h"

namespace {

constexpr int einval = -22;

constexpr unsigned long long own_branch_choice = PT_CTL_TRACEEN;

constexpr unsigned long long known =
	own_branch_choice | PT_CTL_CYCEN | PT_CTL_PWREVTEN | PT_CTL_FUPONPTW | PT_CTL_MTCEN |
	PT_CTL_TSCEN | PT_CTL_DISRETC | PT_CTL_PTWEN | PT_CTL_BRANCHEN | PT_CTL_MTCFREQ |
	PT_CTL_CYCTHRESH | PT_CTL_PSBFREQ | PT_CTL_EVENTEN | PT_CTL_DISTNT;

/* Bits that a capability permits; without it they are reserved, and setting one faults. */
struct Need {
	unsigned long long bits;
	pt_cap cap;
};

constexpr Need needs[] = {
	{PT_CTL_CYCEN | PT_CTL_CYCTHRESH | PT_CTL_PSBFREQ, PT_CAPS_PSB_CYC},
	{PT_CTL_MTCEN | PT_CTL_MTCFREQ, PT_CAPS_MTC},
	{PT_CTL_PWREVTEN, PT_CAPS_POWER_EVENT_TRACE},
	{PT_CTL_EVENTEN, PT_CAPS_EVENT_TRACE},
	{PT_CTL_DISTNT, PT_CAPS_TNT_DISABLE},
	{PT_CTL_PTWEN | PT_CTL_FUPONPTW, PT_CAPS_PTWRITE},
};

/* A field whose values CPUID lists in a bitmap. */
struct Choice {
	unsigned long long bits; /* the choice is made if one of these is set */
	unsigned int shift;
	pt_cap cap;
};

constexpr Choice choices[] = {
	{PT_CTL_PSBFREQ, PT_CTL_PSBFREQ_SHIFT, PT_CAPS_PSB_PERIODS},
	{PT_CTL_CYCTHRESH, PT_CTL_CYCTHRESH_SHIFT, PT_CAPS_CYCLE_THRESHOLDS},
	/* Period 0 has to be listed as well. */
	{PT_CTL_MTCEN | PT_CTL_MTCFREQ, PT_CTL_MTCFREQ_SHIFT, PT_CAPS_MTC_PERIODS},
};

} // namespace

extern "C" {

int pt_config_check(const unsigned int words[PT_CAPS_WORDS], unsigned long long config,
		    int branch_always)
{
	if (config & ~known)
		return einval;
	for (const Need &need : needs) {
		if ((config & need.bits) && !pt::Caps::field(words, need.cap))
			return einval;
	}
	for (const Choice &choice : choices) {
		const unsigned int value = config >> choice.shift & 0xf;

		if ((config & choice.bits) && !(pt::Caps::field(words, choice.cap) >> value & 1))
			return einval;
	}

	/* An address for packets that do not come. */
	if ((config & PT_CTL_FUPONPTW) && !(config & PT_CTL_PTWEN))
		return einval;

	const bool branches = config & PT_CTL_BRANCHEN;

	if (config & own_branch_choice)
		return branch_always && !branches ? einval : 0;
	return branches ? einval : 0;
}

unsigned long long pt_config_ctl(unsigned long long config, int kernel, int user)
{
	unsigned long long ctl = config & known & ~own_branch_choice;

	if (!(config & own_branch_choice))
		ctl |= PT_CTL_BRANCHEN;
	if (kernel)
		ctl |= PT_CTL_OS;
	if (user)
		ctl |= PT_CTL_USER;
	return ctl;
}

} // extern "C"
