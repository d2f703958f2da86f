/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of an event's configuration: what attr.config may ask for, and the control
 * word that comes of it.
 *
 * attr.config has the bits of IA32_RTIT_CTL, but bit 0: with it set, BranchEn is what
 * attr.config says; without, branches are traced and BranchEn must not be asked for,
 * as in the first version of this interface.
 *
 * Valid in C and C++, free of kernel headers. Pure functions, any context.
 */
#ifndef X86_EVENTS_INTEL_PT_CONFIG_H
#define X86_EVENTS_INTEL_PT_CONFIG_H

#include "caps.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * 0, or -EINVAL for what is unknown or not among the capabilities @words.
 * @branch_always: the CPU faults if BranchEn is clear (erratum BDM106).
 */
int pt_config_check(const unsigned int words[PT_CAPS_WORDS], unsigned long long config,
		    int branch_always);

/* IA32_RTIT_CTL for a checked @config: without TraceEn, ToPA and address ranges. */
unsigned long long pt_config_ctl(unsigned long long config, int kernel, int user);

#ifdef __cplusplus
}
#endif

#endif /* X86_EVENTS_INTEL_PT_CONFIG_H */
