/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two drivers over one emulated unit, and what measures them.
 */
#ifndef PT_BENCH_H
#define PT_BENCH_H

#include <linux/perf_event.h>
#include <linux/types.h>

/* ---- unit.c: the hardware of both drivers. With interrupts off. ---- */

int bench_unit_init(void);
void bench_unit_free(void);
u64 bench_unit_read(u32 msr);
void bench_unit_write(u32 msr, u64 value);
void bench_unit_cpuid(u32 subleaf, u32 registers[4]);
/* The task runs in user mode: some indirect branches, then an interrupt. */
void bench_unit_run(void);
/* Accesses that were refused so far. */
u64 bench_unit_faults(void);

/* ---- measure.c ---- */

enum bench_driver {
	BENCH_BASE,
	BENCH_OURS,
	BENCH_DRIVERS
};

/* A driver is ready: its events are counted from now on. */
int bench_register(enum bench_driver driver, struct pmu *pmu);

/* ---- the drivers ---- */

int bench_base_init(void);
int bench_our_init(void);
/* The other driver has used the registers. */
void bench_our_forget(void);

#endif /* PT_BENCH_H */
