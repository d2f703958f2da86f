/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of what is written to a CPU's registers before a trace starts, apart from
 * IA32_RTIT_CTL, which starts it. Only what differs from what is there is written.
 *
 * Valid in C and C++, free of kernel headers. A struct pt_shadow belongs to one CPU and
 * is used there with interrupts off.
 */
#ifndef X86_EVENTS_INTEL_PT_PROGRAM_H
#define X86_EVENTS_INTEL_PT_PROGRAM_H

#include "output.h"
#include "ranges.h"

/* What the registers hold, as far as it is known. */
struct pt_shadow {
	unsigned long long	base;
	unsigned long long	mask;
	struct pt_range		range[PT_CAPS_MOST_RANGES];
};

struct pt_write {
	unsigned int		msr;
	unsigned long long	value;
};

#define PT_PROGRAM_MOST	(3 + 2 * PT_CAPS_MOST_RANGES)

#ifdef __cplusplus
extern "C" {
#endif

/* Nothing is known: the CPU comes up, or wakes up. */
void pt_shadow_forget(struct pt_shadow *shadow);

/*
 * The writes that make the hardware go to @output, filtered by @ranges, in their order:
 * how many. @resync: also clear STATUS, and the count of packet bytes in it, so that the
 * trace begins with a PSB. The caller carries them all out, TraceEn being clear.
 */
unsigned int pt_program(struct pt_shadow *shadow, const struct pt_output *output,
			const struct pt_ranges *ranges, int resync,
			struct pt_write writes[PT_PROGRAM_MOST]);

#ifdef __cplusplus
}
#endif

/* The usual case, in line: would pt_program() write the output's place and no more? */
static inline int pt_program_is_place(const struct pt_ranges *ranges, int resync)
{
	return !ranges->count && !resync;
}

#endif /* X86_EVENTS_INTEL_PT_PROGRAM_H */
