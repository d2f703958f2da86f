/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of the capabilities: what CPUID leaf 0x14 says (SDM volume 3, "Enumeration
 * of Intel PT").
 *
 * Valid in C and C++, free of kernel headers. Pure functions, any context.
 */
#ifndef X86_EVENTS_INTEL_PT_CAPS_H
#define X86_EVENTS_INTEL_PT_CAPS_H

#define PT_CAPS_SUBLEAVES	2
#define PT_CAPS_WORDS		(4 * PT_CAPS_SUBLEAVES)
#define PT_CAPS_MOST_RANGES	4u	/* ADDRn registers that the architecture has */

/* As many as, and in the order of, enum pt_capabilities of asm/intel_pt.h. */
enum pt_cap {
	PT_CAPS_MAX_SUBLEAF,
	PT_CAPS_CR3_FILTERING,
	PT_CAPS_PSB_CYC,
	PT_CAPS_IP_FILTERING,
	PT_CAPS_MTC,
	PT_CAPS_PTWRITE,
	PT_CAPS_POWER_EVENT_TRACE,
	PT_CAPS_EVENT_TRACE,
	PT_CAPS_TNT_DISABLE,
	PT_CAPS_TOPA_OUTPUT,
	PT_CAPS_TOPA_MULTIPLE_ENTRIES,
	PT_CAPS_SINGLE_RANGE_OUTPUT,
	PT_CAPS_OUTPUT_SUBSYS,
	PT_CAPS_PAYLOADS_LIP,
	PT_CAPS_NUM_ADDRESS_RANGES,
	PT_CAPS_MTC_PERIODS,
	PT_CAPS_CYCLE_THRESHOLDS,
	PT_CAPS_PSB_PERIODS,
	PT_CAPS
};

#ifdef __cplusplus
extern "C" {
#endif

/* The field's value in @words: EAX, EBX, ECX, EDX of subleaf 0, then of subleaf 1. */
unsigned int pt_caps_field(const unsigned int words[PT_CAPS_WORDS], enum pt_cap cap);

/* Its name, as sysfs shows it. */
const char *pt_caps_name(enum pt_cap cap);

/*
 * Take back what @words claims and cannot be: ranges beyond four or without IP
 * filtering, periods of packets that there are not, a subleaf beyond the last.
 */
void pt_caps_bound(unsigned int words[PT_CAPS_WORDS]);

/*
 * Is a buffer of @nr_pages, whose first chunk has 2^@order pages, to be written without
 * tables? Such output can neither stop nor interrupt, so it is for overwrite mode.
 * @page_only: the CPU cannot do it for more than a page (errata TGL052, ADL037, RPL017).
 */
int pt_caps_ranged(const unsigned int words[PT_CAPS_WORDS], unsigned int nr_pages,
		   unsigned int order, int overwrite, int page_only);

/* Can the driver work with this at all? It needs tables. Non-zero: yes. */
int pt_caps_usable(const unsigned int words[PT_CAPS_WORDS]);

#ifdef __cplusplus
}
#endif

#endif /* X86_EVENTS_INTEL_PT_CAPS_H */
