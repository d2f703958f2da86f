/* SPDX-License-Identifier: GPL-2.0 */
/* The registers that say where the hardware writes. */
#ifndef X86_EVENTS_INTEL_PT_OUTPUT_HH
#define X86_EVENTS_INTEL_PT_OUTPUT_HH

#include "output.h"
#include "rtit.h"

namespace pt {

/* IA32_RTIT_OUTPUT_BASE and _MASK_PTRS for the place where @output is. */
struct Pointers {
	[[gnu::always_inline]] explicit Pointers(const pt_output &output)
	{
		const pt_place &place = output.place;
		unsigned long long low;

		if (output.ranged) {
			base = output.range;
			low = output.size - 1;
		} else {
			base = output.topa.tables[place.table].physical;
			low = static_cast<unsigned long long>(place.index) << PT_MASK_INDEX_SHIFT;
		}
		mask = PT_MASK_ONES | low |
		       static_cast<unsigned long long>(place.offset) << PT_MASK_OFFSET_SHIFT;
	}

	unsigned long long base;
	unsigned long long mask;
};

} // namespace pt

#endif
