// SPDX-License-Identifier: GPL-2.0
/* A CPU's registers, brought to what a trace needs with the fewest writes. */
#include "program.h"
#include "rtit.h"

namespace {

/* No register can hold this: it is not canonical, and reserved bits are set. */
constexpr unsigned long long impossible = 1ull << 62;

class Writes {
    public:
	explicit Writes(pt_write *to) : to_(to)
	{
	}

	void put(unsigned int msr, unsigned long long value)
	{
		to_[count_++] = {msr, value};
	}

	/* Unless the register has it. */
	void need(unsigned int msr, unsigned long long &shadow, unsigned long long value)
	{
		if (shadow == value)
			return;
		shadow = value;
		put(msr, value);
	}

	unsigned int count() const
	{
		return count_;
	}

    private:
	pt_write *to_;
	unsigned int count_ = 0;
};

} // namespace

extern "C" {

void pt_shadow_forget(pt_shadow *shadow)
{
	shadow->base = shadow->mask = impossible;
	for (pt_range &range : shadow->range)
		range = {impossible, impossible};
}

unsigned int pt_program(pt_shadow *shadow, const pt_output *output, const pt_ranges *ranges,
			int resync, pt_write writes[PT_PROGRAM_MOST])
{
	Writes list(writes);

	if (resync)
		list.put(PT_MSR_STATUS, 0);
	for (unsigned int at = 0; at < ranges->count; at++) {
		pt_range &have = shadow->range[at];
		const pt_range &want = ranges->range[at];

		list.need(PT_MSR_ADDR0_A + 2 * at, have.first, want.first);
		list.need(PT_MSR_ADDR0_A + 2 * at + 1, have.last, want.last);
	}
	list.need(PT_MSR_OUTPUT_BASE, shadow->base, output->place.base);
	list.need(PT_MSR_OUTPUT_MASK, shadow->mask, pt_output_mask(output));
	return list.count();
}

} // extern "C"
