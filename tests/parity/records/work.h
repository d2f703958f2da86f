/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deterministic work: page faults with known registers, stack and addresses,
 * and the acts that make side-band records.
 */
#ifndef PARITY_WORK_H
#define PARITY_WORK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define PAGE 4096ul

#define FAULT_REGION 0x20000000ul
#define FAULT_PAGES 4096ul
#define CHAIN_DEPTH 12

/* Maps what the functions below use and makes their own pages present. */
void prepare_work(void);

/* Makes one page fault in each of @count pages, from FAULT_REGION up. */
void fault_pages(size_t count);
/* Leaves the first pages alone, which are present already. */
void fault_pages_from(size_t first, size_t count);
/* The same, but the kernel faults: it copies 8 bytes into each page. */
void fault_pages_in_kernel(size_t count);

/* Stays on the instruction at spin_address() @count times. */
void spin(size_t count);
uint64_t spin_address(void);

/* One PERF_RECORD_COMM; "p0042" for a number. */
void rename_self(const char *name);
void rename_numbered(unsigned int number);

/* Runs @child in a new process and waits for it. */
void in_child(void (*child)(const void *argument), const void *argument);
void in_thread(void (*thread)(const void *argument), const void *argument);

uint64_t monotonic_now(void);

/* The number in a small file of /sys or /proc; ends the case if there is none. */
unsigned long number_in(const char *path);

#endif
