/* SPDX-License-Identifier: GPL-2.0 */
/* The capabilities' fields: where CPUID leaf 0x14 has them. */
#ifndef X86_EVENTS_INTEL_PT_CAPS_HH
#define X86_EVENTS_INTEL_PT_CAPS_HH

#include "caps.h"

namespace pt {

class Caps {
    public:
	enum Register : unsigned char { eax, ebx, ecx };

	struct Field {
		const char *name;
		unsigned char subleaf;
		Register in;
		unsigned char shift;
		unsigned int mask; /* of the shifted value */
	};

	static constexpr Field fields[] = {
		{"max_subleaf", 0, eax, 0, ~0u},
		{"cr3_filtering", 0, ebx, 0, 1},
		{"psb_cyc", 0, ebx, 1, 1},
		{"ip_filtering", 0, ebx, 2, 1},
		{"mtc", 0, ebx, 3, 1},
		{"ptwrite", 0, ebx, 4, 1},
		{"power_event_trace", 0, ebx, 5, 1},
		{"event_trace", 0, ebx, 7, 1},
		{"tnt_disable", 0, ebx, 8, 1},
		{"topa_output", 0, ecx, 0, 1},
		{"topa_multiple_entries", 0, ecx, 1, 1},
		{"single_range_output", 0, ecx, 2, 1},
		{"output_subsys", 0, ecx, 3, 1},
		{"payloads_lip", 0, ecx, 31, 1},
		{"num_address_ranges", 1, eax, 0, 0x7},
		{"mtc_periods", 1, eax, 16, 0xffff},
		{"cycle_thresholds", 1, ebx, 0, 0xffff},
		{"psb_periods", 1, ebx, 16, 0xffff},
	};

	static constexpr unsigned int word_of(const Field &field)
	{
		return 4u * field.subleaf + field.in;
	}

	static constexpr unsigned int field(const unsigned int *words, pt_cap cap)
	{
		const Field &field = fields[cap];

		return words[word_of(field)] >> field.shift & field.mask;
	}
};

static_assert(sizeof(Caps::fields) / sizeof(Caps::fields[0]) == PT_CAPS);

} // namespace pt

#endif
