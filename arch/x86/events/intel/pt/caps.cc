// SPDX-License-Identifier: GPL-2.0
/* What CPUID says of Intel PT, field by field. */
#include "caps.hh"

namespace {

using pt::Caps;

void clear(unsigned int *words, pt_cap cap)
{
	const Caps::Field &field = Caps::fields[cap];

	words[Caps::word_of(field)] &= ~(field.mask << field.shift);
}

} // namespace

extern "C" {

unsigned int pt_caps_field(const unsigned int words[PT_CAPS_WORDS], enum pt_cap cap)
{
	return Caps::field(words, cap);
}

const char *pt_caps_name(enum pt_cap cap)
{
	return Caps::fields[cap].name;
}

void pt_caps_bound(unsigned int words[PT_CAPS_WORDS])
{
	/* Beyond the last subleaf CPUID gives what it likes. */
	if (!Caps::field(words, PT_CAPS_MAX_SUBLEAF)) {
		for (unsigned int at = 4; at < PT_CAPS_WORDS; at++)
			words[at] = 0;
	}

	const unsigned int ranges = Caps::field(words, PT_CAPS_NUM_ADDRESS_RANGES);

	if (ranges > PT_CAPS_MOST_RANGES || !Caps::field(words, PT_CAPS_IP_FILTERING)) {
		clear(words, PT_CAPS_NUM_ADDRESS_RANGES);
		if (Caps::field(words, PT_CAPS_IP_FILTERING))
			words[Caps::word_of(Caps::fields[PT_CAPS_NUM_ADDRESS_RANGES])] |=
				PT_CAPS_MOST_RANGES;
	}
	if (!Caps::field(words, PT_CAPS_MTC))
		clear(words, PT_CAPS_MTC_PERIODS);
	if (!Caps::field(words, PT_CAPS_PSB_CYC)) {
		clear(words, PT_CAPS_CYCLE_THRESHOLDS);
		clear(words, PT_CAPS_PSB_PERIODS);
	}
	/* A table of many entries is a table. */
	if (!Caps::field(words, PT_CAPS_TOPA_OUTPUT))
		clear(words, PT_CAPS_TOPA_MULTIPLE_ENTRIES);
}

int pt_caps_ranged(const unsigned int words[PT_CAPS_WORDS], unsigned int nr_pages,
		   unsigned int order, int overwrite, int page_only)
{
	if (!overwrite || !Caps::field(words, PT_CAPS_SINGLE_RANGE_OUTPUT))
		return 0;
	return 1ull << order == nr_pages && (!page_only || nr_pages == 1);
}

int pt_caps_usable(const unsigned int words[PT_CAPS_WORDS])
{
	return Caps::field(words, PT_CAPS_TOPA_OUTPUT) != 0;
}

} // extern "C"
