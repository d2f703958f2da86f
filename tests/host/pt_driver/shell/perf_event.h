/* SPDX-License-Identifier: GPL-2.0 */
/* Stands for arch/x86/events/perf_event.h. */
void intel_pt_interrupt(void);
