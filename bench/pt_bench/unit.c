// SPDX-License-Identifier: GPL-2.0
/* The units that the drivers have for their hardware. One CPU. */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "pt_bench.h"
#include "pt_unit.h"

#define BRANCHES	50
#define CR3		0x1000

static struct pt_unit *units[BENCH_DRIVERS];
static u64 ip = 0x400000;

static void *memory(void *context, unsigned long long physical)
{
	return pfn_valid(PHYS_PFN(physical)) ? phys_to_virt(physical) : NULL;
}

static unsigned long long tsc(void *context)
{
	static unsigned long long now = 1000000;

	return now += 100;
}

/* Rooms are so large that none is needed. */
static void interrupt(void *context)
{
}

int bench_unit_init(void)
{
	const struct pt_unit_ops ops = {
		.memory = memory,
		.tsc = tsc,
		.interrupt = interrupt,
	};
	const struct pt_unit_features features = {
		.address_ranges = 4,
		.single_range = 1,
		.bus_ratio = 10,
	};

	int driver;

	for (driver = 0; driver < BENCH_DRIVERS; driver++) {
		units[driver] = kzalloc(pt_unit_size(), GFP_KERNEL);
		if (!units[driver])
			return -ENOMEM;
		pt_unit_init(units[driver], &ops, NULL, &features);
	}
	return 0;
}

void bench_unit_free(void)
{
	int driver;

	for (driver = 0; driver < BENCH_DRIVERS; driver++)
		kfree(units[driver]);
}

u64 bench_unit_read(enum bench_driver driver, u32 msr)
{
	unsigned long long value = 0;

	pt_unit_read(units[driver], msr, &value);
	return value;
}

void bench_unit_write(enum bench_driver driver, u32 msr, u64 value)
{
	if (unlikely(pt_unit_write(units[driver], msr, value)))
		pr_err("0x%llx is refused for MSR 0x%x\n", value, msr);
}

void bench_unit_cpuid(enum bench_driver driver, u32 subleaf, u32 registers[4])
{
	pt_unit_cpuid(units[driver], subleaf, registers);
}

void bench_unit_run(enum bench_driver driver)
{
	struct pt_unit_retired retired = {
		.kind = PT_UNIT_INDIRECT_JUMP,
		.instructions = 5,
		.mode = PT_UNIT_64,
	};
	int i;

	pt_unit_enter(units[driver], ip, CR3, PT_UNIT_64);
	for (i = 0; i < BRANCHES; i++) {
		retired.ip = ip;
		retired.next = ip + 2;
		ip += 77;
		retired.to = ip;
		pt_unit_retire(units[driver], &retired);
	}
	pt_unit_leave(units[driver], PT_UNIT_ASYNC, ip, 0);
}

u64 bench_unit_faults(enum bench_driver driver)
{
	struct pt_unit_counts counts;

	pt_unit_counts(units[driver], &counts);
	return counts.faults;
}
