// SPDX-License-Identifier: GPL-2.0
/* When the next sample is due. */
#include "period.h"

extern "C" {

unsigned long long perf_period_passed(long long *left, unsigned long long period)
{
	if (*left < 0)
		return 0;

	const auto over = static_cast<unsigned long long>(*left);
	const unsigned long long passed = over / period + 1;

	*left = static_cast<long long>(over - passed * period);
	return passed;
}

unsigned long long perf_clock_period(unsigned long long period)
{
	return period < PERF_CLOCK_PERIOD_MIN ? PERF_CLOCK_PERIOD_MIN : period;
}

unsigned long long perf_clock_first(long long left, unsigned long long period)
{
	if (left == 0)
		return perf_clock_period(period);
	return left < 0 ? PERF_CLOCK_PERIOD_MIN : static_cast<unsigned long long>(left);
}

} // extern "C"
