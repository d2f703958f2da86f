// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of page faults, period 1: each sample_type bit by itself and in the
 * mixtures that perf uses, forward and backward, from user and kernel mode.
 */
#include <stdio.h>

#include "case.h"
#include "ring.h"
#include "work.h"

#define FAULTS 6
#define ALL_REGISTERS 0xff0fffull	/* segment registers are not for sampling */
#define SHOWN_STACK 256

#define BIT(field) PERF_SAMPLE_##field

/* Every bit that a software event may have, less the variable parts. */
#define FIXED_FIELDS (BIT(IDENTIFIER) | BIT(IP) | BIT(TID) | BIT(TIME) | BIT(ADDR) | BIT(ID) | \
	BIT(STREAM_ID) | BIT(CPU) | BIT(PERIOD) | BIT(WEIGHT) | BIT(DATA_SRC) | \
	BIT(TRANSACTION) | BIT(PHYS_ADDR) | BIT(CGROUP) | BIT(DATA_PAGE_SIZE) | \
	BIT(CODE_PAGE_SIZE))
#define USER_FIELDS (BIT(READ) | BIT(CALLCHAIN) | BIT(RAW) | BIT(REGS_USER) | BIT(STACK_USER))

enum {
	BACKWARD = 1 << 0,
	IN_KERNEL = 1 << 1,
	MONOTONIC = 1 << 2,
	MINOR = 1 << 3,		/* counted once the page is there */
	NO_USER_CHAIN = 1 << 4,
	NO_KERNEL_CHAIN = 1 << 5,
	SHORT_CHAIN = 1 << 6,
	NO_KERNEL = 1 << 7,
	NO_USER = 1 << 8,
	THIRD = 1 << 9,		/* period 3 */
	BIG_STACK = 1 << 10,
	FEW_REGISTERS = 1 << 11,
	ALL_IDS = 1 << 12,	/* sample_id_all */
};

struct shape {
	const char *name;
	uint64_t sample_type;
	unsigned int flags;
	uint64_t read_format;
};

static const char * const bit_names[] = {
	"ip", "tid", "time", "addr", "read", "callchain", "id", "cpu", "period", "stream_id",
	"raw", "branch_stack", "regs_user", "stack_user", "weight", "data_src", "identifier",
	"transaction", "regs_intr", "phys_addr", "aux", "cgroup", "data_page_size",
	"code_page_size", "weight_struct",
};

static const struct shape mixtures[] = {
	{ "nothing", 0, 0, 0 },
	{ "perf-default", BIT(IP) | BIT(TID) | BIT(TIME) | BIT(PERIOD), ALL_IDS, 0 },
	{ "perf-wide", BIT(IP) | BIT(TID) | BIT(TIME) | BIT(ID) | BIT(CPU) | BIT(PERIOD),
	  ALL_IDS, 0 },
	{ "perf-data", BIT(IP) | BIT(TID) | BIT(TIME) | BIT(ADDR) | BIT(DATA_SRC) | BIT(PHYS_ADDR),
	  0, 0 },
	{ "perf-graph", BIT(IP) | BIT(TID) | BIT(TIME) | BIT(PERIOD) | BIT(CALLCHAIN), 0, 0 },
	{ "perf-dwarf", BIT(IP) | BIT(TID) | BIT(TIME) | BIT(PERIOD) | BIT(CALLCHAIN) |
	  BIT(REGS_USER) | BIT(STACK_USER), 0, 0 },
	{ "fixed", FIXED_FIELDS, 0, 0 },
	{ "everything", FIXED_FIELDS | USER_FIELDS, 0, 31 & ~PERF_FORMAT_GROUP },
	{ "everything-group", FIXED_FIELDS | USER_FIELDS, ALL_IDS, 31 },
	{ "everything-intr", FIXED_FIELDS | USER_FIELDS | BIT(REGS_INTR), MONOTONIC, 0 },
	{ "minor", FIXED_FIELDS, MINOR, 0 },
	{ "monotonic", BIT(TIME), MONOTONIC, 0 },
	{ "third", BIT(IP) | BIT(PERIOD) | BIT(READ), THIRD, 0 },
	{ "chain-no-user", BIT(CALLCHAIN), NO_USER_CHAIN, 0 },
	{ "chain-no-kernel", BIT(CALLCHAIN), NO_KERNEL_CHAIN, 0 },
	{ "chain-none", BIT(CALLCHAIN), NO_USER_CHAIN | NO_KERNEL_CHAIN, 0 },
	{ "chain-short", BIT(CALLCHAIN) | BIT(IP), SHORT_CHAIN, 0 },
	{ "no-kernel", BIT(IP) | BIT(TID) | BIT(CALLCHAIN), NO_KERNEL, 0 },
	{ "no-user", BIT(IP) | BIT(TID) | BIT(CALLCHAIN), NO_USER, 0 },
	{ "big-stack", BIT(IP) | BIT(STACK_USER) | BIT(REGS_USER), BIG_STACK, 0 },
	{ "few-registers", BIT(REGS_USER) | BIT(REGS_INTR), FEW_REGISTERS, 0 },
	{ "both-weights", BIT(WEIGHT) | BIT(WEIGHT_STRUCT), 0, 0 },
	{ "read-times", BIT(READ), 0, 3 },
	{ "read-id", BIT(READ), 0, PERF_FORMAT_ID },
	{ "read-lost", BIT(READ), 0, PERF_FORMAT_LOST },
	{ "read-all", BIT(READ), 0, 31 & ~PERF_FORMAT_GROUP },
	{ "read-group", BIT(READ), 0, 31 },
};

static struct perf_event_attr attr_of(const struct shape *shape)
{
	unsigned int flags = shape->flags;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = flags & MINOR ? PERF_COUNT_SW_PAGE_FAULTS_MIN : PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = flags & THIRD ? 3 : 1,
		.sample_type = shape->sample_type,
		.read_format = shape->read_format,
		.disabled = 1,
		.write_backward = !!(flags & BACKWARD),
		.exclude_kernel = !!(flags & NO_KERNEL),
		.exclude_user = !!(flags & NO_USER),
		.exclude_callchain_user = !!(flags & NO_USER_CHAIN),
		.exclude_callchain_kernel = !!(flags & NO_KERNEL_CHAIN),
		.sample_id_all = !!(flags & ALL_IDS),
		.sample_max_stack = flags & SHORT_CHAIN ? 5 : 0,
		.use_clockid = !!(flags & MONOTONIC),
		.clockid = flags & MONOTONIC ? CLOCK_MONOTONIC : 0,
	};

	if (shape->sample_type & (BIT(REGS_USER) | BIT(REGS_INTR)))
		attr.sample_regs_user = flags & FEW_REGISTERS ? 0x10081 : ALL_REGISTERS;
	if (shape->sample_type & BIT(REGS_INTR))
		attr.sample_regs_intr = attr.sample_regs_user;
	if (shape->sample_type & BIT(STACK_USER))
		attr.sample_stack_user = flags & BIG_STACK ? 65520 : SHOWN_STACK;
	if (shape->sample_type & BIT(BRANCH_STACK))
		attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	if (shape->sample_type & BIT(AUX))
		attr.aux_sample_size = 64;
	return attr;
}

static void sample(const void *argument)
{
	const struct shape *shape = argument;
	struct perf_event_attr attr = attr_of(shape);
	struct ring ring;
	int fd = try_open(&attr, 0, -1, -1);

	if (fd < 0) {
		say_result("open", fd);
		return;
	}
	open_own(&ring, &attr);
	map_ring(&ring, 32, RING_READ_WRITE);
	enable(&ring);
	if (shape->flags & (IN_KERNEL | NO_USER))
		fault_pages_in_kernel(FAULTS);
	else
		fault_pages(FAULTS);
	disable(&ring);
	dump_ring(&ring);
	dump_counts(&ring);
}

static void run_shape(const char *name, struct shape shape, unsigned int extra, const char *suffix)
{
	char full[64];

	shape.flags |= extra;
	snprintf(full, sizeof(full), "sample-%s%s", name, suffix);
	run_case(full, sample, &shape);
}

static void run_variants(const char *name, struct shape shape)
{
	run_shape(name, shape, 0, "");
	run_shape(name, shape, BACKWARD, "-backward");
	/* What the kernel keeps in its own registers is its own affair. */
	if (!(shape.sample_type & BIT(REGS_INTR)))
		run_shape(name, shape, IN_KERNEL, "-in-kernel");
}

void sample_cases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(bit_names); i++)
		run_variants(bit_names[i], (struct shape){ .sample_type = 1ull << i });
	for (size_t i = 0; i < ARRAY_SIZE(mixtures); i++)
		run_variants(mixtures[i].name, mixtures[i]);
}
