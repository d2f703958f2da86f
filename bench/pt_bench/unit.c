// SPDX-License-Identifier: GPL-2.0
/* The unit that both drivers have for their hardware. One CPU. */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "pt_bench.h"
#include "pt_unit.h"

#define BRANCHES	50
#define CR3		0x1000

static struct pt_unit *unit;
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

	unit = kzalloc(pt_unit_size(), GFP_KERNEL);
	if (!unit)
		return -ENOMEM;
	pt_unit_init(unit, &ops, NULL, &features);
	return 0;
}

void bench_unit_free(void)
{
	kfree(unit);
}

u64 bench_unit_read(u32 msr)
{
	unsigned long long value = 0;

	pt_unit_read(unit, msr, &value);
	return value;
}

void bench_unit_write(u32 msr, u64 value)
{
	if (unlikely(pt_unit_write(unit, msr, value)))
		pr_err("0x%llx is refused for MSR 0x%x\n", value, msr);
}

void bench_unit_cpuid(u32 subleaf, u32 registers[4])
{
	pt_unit_cpuid(unit, subleaf, registers);
}

void bench_unit_run(void)
{
	struct pt_unit_retired retired = {
		.kind = PT_UNIT_INDIRECT_JUMP,
		.instructions = 5,
		.mode = PT_UNIT_64,
	};
	int i;

	pt_unit_enter(unit, ip, CR3, PT_UNIT_64);
	for (i = 0; i < BRANCHES; i++) {
		retired.ip = ip;
		retired.next = ip + 2;
		ip += 77;
		retired.to = ip;
		pt_unit_retire(unit, &retired);
	}
	pt_unit_leave(unit, PT_UNIT_ASYNC, ip, 0);
}

u64 bench_unit_faults(void)
{
	struct pt_unit_counts counts;

	pt_unit_counts(unit, &counts);
	return counts.faults;
}
