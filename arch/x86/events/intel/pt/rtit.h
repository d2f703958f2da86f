/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers of Intel PT: registers, their fields, table entries (SDM volume 3, chapter
 * "Intel Processor Trace"). Valid in C and C++, free of kernel headers; pmu.c asserts
 * that the kernel's own definitions are the same.
 */
#ifndef X86_EVENTS_INTEL_PT_RTIT_H
#define X86_EVENTS_INTEL_PT_RTIT_H

/* Model-specific registers. */
#define PT_MSR_OUTPUT_BASE	0x560u
#define PT_MSR_OUTPUT_MASK	0x561u
#define PT_MSR_CTL		0x570u
#define PT_MSR_STATUS		0x571u
#define PT_MSR_ADDR0_A		0x580u	/* then ADDR0_B, ADDR1_A, ... */

/* IA32_RTIT_CTL */
#define PT_CTL_TRACEEN		(1ull << 0)
#define PT_CTL_CYCEN		(1ull << 1)
#define PT_CTL_OS		(1ull << 2)
#define PT_CTL_USER		(1ull << 3)
#define PT_CTL_PWREVTEN		(1ull << 4)
#define PT_CTL_FUPONPTW		(1ull << 5)
#define PT_CTL_TOPA		(1ull << 8)
#define PT_CTL_MTCEN		(1ull << 9)
#define PT_CTL_TSCEN		(1ull << 10)
#define PT_CTL_DISRETC		(1ull << 11)
#define PT_CTL_PTWEN		(1ull << 12)
#define PT_CTL_BRANCHEN		(1ull << 13)
#define PT_CTL_MTCFREQ_SHIFT	14
#define PT_CTL_MTCFREQ		(0xfull << PT_CTL_MTCFREQ_SHIFT)
#define PT_CTL_CYCTHRESH_SHIFT	19
#define PT_CTL_CYCTHRESH	(0xfull << PT_CTL_CYCTHRESH_SHIFT)
#define PT_CTL_PSBFREQ_SHIFT	24
#define PT_CTL_PSBFREQ		(0xfull << PT_CTL_PSBFREQ_SHIFT)
#define PT_CTL_EVENTEN		(1ull << 31)
#define PT_CTL_ADDR0_SHIFT	32	/* four bits for each range */
#define PT_CTL_DISTNT		(1ull << 55)

/* IA32_RTIT_STATUS */
#define PT_STATUS_ERROR		(1ull << 4)
#define PT_STATUS_STOPPED	(1ull << 5)

/* IA32_RTIT_OUTPUT_MASK_PTRS: the lowest bits read as ones. */
#define PT_MASK_ONES		0x7full
#define PT_MASK_INDEX_SHIFT	7
#define PT_MASK_OFFSET_SHIFT	32

/* An entry of a table of physical addresses (ToPA). */
#define PT_ENTRY_END		(1ull << 0)
#define PT_ENTRY_INT		(1ull << 2)
#define PT_ENTRY_STOP		(1ull << 4)
#define PT_ENTRY_SIZE_SHIFT	6	/* log2 of the region's pages of 4 KiB */
#define PT_ENTRY_MOST_ORDER	15u	/* 128 MiB */

#define PT_PAGE_SHIFT		12
#define PT_PAGE_SIZE		(1ul << PT_PAGE_SHIFT)

#endif /* X86_EVENTS_INTEL_PT_RTIT_H */
