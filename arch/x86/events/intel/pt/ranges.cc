// SPDX-License-Identifier: GPL-2.0
/* Address filters, as the registers take them. */
#include "ranges.h"
#include "caps.hh"
#include "rtit.h"

namespace {

constexpr int eopnotsupp = -95;

constexpr unsigned long long cfg_filter = 1;
constexpr unsigned long long cfg_stop = 2;

/* The part of [first, last] that is canonical, from its first address to its last. */
pt_range canonical(unsigned long long first, unsigned long long last, unsigned int address_bits)
{
	const unsigned long long low_end = (1ull << (address_bits - 1)) - 1;
	const unsigned long long high_start = ~low_end;

	if (first > low_end && first < high_start)
		first = high_start;
	if (last > low_end && last < high_start)
		last = low_end;
	/* None of it: as a range that is not in memory. */
	if (last < first)
		return {0, 0};
	return {first, last};
}

} // namespace

extern "C" {

int pt_ranges_check(const unsigned int words[PT_CAPS_WORDS], unsigned int before,
		    unsigned long long size, enum pt_range_kind kind)
{
	if (!size || kind == PT_RANGE_START)
		return eopnotsupp;
	return before < pt::Caps::field(words, PT_CAPS_NUM_ADDRESS_RANGES) ? 0 : eopnotsupp;
}

void pt_ranges_add(pt_ranges *ranges, unsigned long long start, unsigned long long size,
		   enum pt_range_kind kind, unsigned int address_bits)
{
	const unsigned int at = ranges->count;
	pt_range range = {0, 0};

	if (at == PT_CAPS_MOST_RANGES)
		return;
	if (size) {
		const unsigned long long last = start + (size - 1);

		range = canonical(start, last < start ? ~0ull : last, address_bits);
	}
	ranges->range[at] = range;
	ranges->ctl |= (kind == PT_RANGE_FILTER ? cfg_filter : cfg_stop)
		       << (PT_CTL_ADDR0_SHIFT + 4 * at);
	ranges->stops += kind != PT_RANGE_FILTER;
	ranges->count = at + 1;
}

} // extern "C"
