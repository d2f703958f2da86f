/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of the address filters: ranges of addresses that are traced, or that end the
 * trace (SDM volume 3, "Filtering by IP", "TraceStop").
 *
 * Valid in C and C++, free of kernel headers. Pure functions, any context; a struct
 * belongs to who calls.
 */
#ifndef X86_EVENTS_INTEL_PT_RANGES_H
#define X86_EVENTS_INTEL_PT_RANGES_H

#include "caps.h"

enum pt_range_kind {
	PT_RANGE_FILTER,	/* only this is traced */
	PT_RANGE_STOP,		/* who comes here is not traced any further */
	PT_RANGE_START,		/* the hardware has none such */
};

struct pt_range {
	unsigned long long	first;	/* ADDRn_A */
	unsigned long long	last;	/* ADDRn_B; the address of the last byte */
};

struct pt_ranges {
	unsigned long long	ctl;	/* their fields of IA32_RTIT_CTL */
	unsigned int		count;
	unsigned int		stops;	/* how many of them end the trace */
	struct pt_range		range[PT_CAPS_MOST_RANGES];
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Can the hardware have this filter besides @before others? 0, or -EOPNOTSUPP. @size:
 * bytes; 0 is a single address.
 */
int pt_ranges_check(const unsigned int words[PT_CAPS_WORDS], unsigned int before,
		    unsigned long long size, enum pt_range_kind kind);

/*
 * One more range of @size bytes (not 0) from @start; with @size 0, of what is not in
 * memory yet. The registers take canonical addresses of @address_bits bits only. Nothing
 * executes elsewhere, so what is there is cut off. Beyond the fourth, nothing is added.
 */
void pt_ranges_add(struct pt_ranges *ranges, unsigned long long start, unsigned long long size,
		   enum pt_range_kind kind, unsigned int address_bits);

#ifdef __cplusplus
}
#endif

#endif /* X86_EVENTS_INTEL_PT_RANGES_H */
