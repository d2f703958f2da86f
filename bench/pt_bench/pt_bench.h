/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two drivers, each over an emulated unit, and what measures them.
 */
#ifndef PT_BENCH_H
#define PT_BENCH_H

#include <linux/perf_event.h>
#include <linux/types.h>

enum bench_driver {
	BENCH_BASE,
	BENCH_OURS,
	BENCH_DRIVERS
};

/*
 * ---- unit.c: the hardware. With interrupts off. ----
 *
 * Each driver has its own: both remember what they have written to its registers.
 */

int bench_unit_init(void);
void bench_unit_free(void);
u64 bench_unit_read(enum bench_driver driver, u32 msr);
void bench_unit_write(enum bench_driver driver, u32 msr, u64 value);
void bench_unit_cpuid(enum bench_driver driver, u32 subleaf, u32 registers[4]);
/* The task runs in user mode: some indirect branches, then an interrupt. */
void bench_unit_run(enum bench_driver driver);
/* Accesses that were refused so far. */
u64 bench_unit_faults(enum bench_driver driver);

/* ---- measure.c ---- */

/* A driver is ready: its events are counted from now on. */
int bench_register(enum bench_driver driver, struct pmu *pmu);

/* ---- the drivers ---- */

int bench_base_init(void);
int bench_our_init(void);

#endif /* PT_BENCH_H */
