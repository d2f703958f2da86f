/* SPDX-License-Identifier: GPL-2.0 */
/* What of general registers' instructions the CPU that runs the test knows. */
#ifndef PERFRING_X86_BRANCH_KNOWN_HH
#define PERFRING_X86_BRANCH_KNOWN_HH

#include <cpuid.h>

#include "interpret.h"

inline unsigned short known_to_cpu()
{
	unsigned a, b, c = 0, d;
	unsigned known = 0;

	__get_cpuid(1, &a, &b, &c, &d);
	known |= c & bit_SSE4_2 ? X86_CAN_CRC32 : 0;
	known |= c & bit_MOVBE ? X86_CAN_MOVBE : 0;
	known |= c & bit_POPCNT ? X86_CAN_POPCNT : 0;
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_BMI && b & bit_BMI2)
		known |= X86_CAN_BMI;
	return static_cast<unsigned short>(known);
}

#endif /* PERFRING_X86_BRANCH_KNOWN_HH */
