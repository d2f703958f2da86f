// SPDX-License-Identifier: GPL-2.0
/*
 * Registers in a sample: those of user code, and those that the event met. The
 * test faults with registers that it has set, so that it knows each of them.
 */
#include "perf_ring_regs.h"

#include <sched.h>
#include <time.h>

static struct perf_event_attr attr;
static struct fault_area area;
static struct ring ring;
static struct sample sample;
static int fd;

static void open_with(uint64_t fields)
{
	attr.sample_type |= fields;
	fd = open_self(&attr);
	ring_map(&ring, fd, 64);
}

static void set_up(void)
{
	touch_stack();
	attr = minor_fault_attr(0);
	area = fault_area(16);
	fault_again(&area);
}

static void close_ring(void)
{
	ring_unmap(&ring);
	close(fd);
	attr = minor_fault_attr(0);
}

static volatile char *next_page(void)
{
	static size_t page;

	if (page == area.pages) {
		fault_again(&area);
		page = 0;
	}
	return page_of(&area, page++);
}

static void sample_with(const struct registers *regs)
{
	enable(fd);
	fault_with(regs);
	disable(fd);
	expect_sample(&ring, &sample, &attr);
	expect_end(&ring);
	ring_release(&ring);
}

/* ---- registers ---- */

static void check_registers(const uint64_t *got, uint64_t mask,
			    const struct registers *want)
{
	for (int reg = 0; reg < NR_REGS; reg++) {
		if (!(mask >> reg & 1))
			continue;
		if (reg == R_FLAGS)
			CHECK_EQ(*got & STATUS_FLAGS,
				 want->of[reg] & STATUS_FLAGS);
		else
			CHECK_EQ(*got, want->of[reg]);
		got++;
	}
}

static void user_registers_with(uint64_t mask)
{
	struct registers regs = numbered_registers(next_page());

	attr.sample_regs_user = mask;
	open_with(PERF_SAMPLE_REGS_USER);
	sample_with(&regs);
	CHECK_EQ(sample.user_abi, PERF_SAMPLE_REGS_ABI_64);
	check_registers(sample.user_regs, mask, &regs);
	close_ring();
}

static void interrupted_registers_with(uint64_t mask)
{
	struct registers regs = numbered_registers(next_page());

	attr.sample_regs_intr = mask;
	open_with(PERF_SAMPLE_REGS_INTR);
	sample_with(&regs);
	CHECK_EQ(sample.intr_abi, PERF_SAMPLE_REGS_ABI_64);
	check_registers(sample.intr_regs, mask, &regs);
	close_ring();
}

/* Each alone, each left out, runs of them, and no known one. */
static void with_many_masks(void (*try)(uint64_t mask))
{
	set_up();
	for (int from = 0; from < NR_REGS; from++) {
		uint64_t bit = 1ULL << from & KNOWN_REGS;

		if (!bit)
			continue;
		try(bit);
		try(KNOWN_REGS & ~bit);
		try(KNOWN_REGS & ((bit - 1) | bit));
	}
	try(0x5555555555 & KNOWN_REGS);
	try(0xaaaaaaaaaa & KNOWN_REGS);
}

static void each_user_register(void)
{
	with_many_masks(user_registers_with);
}

static void each_interrupted_register(void)
{
	with_many_masks(interrupted_registers_with);
}

static void registers_of_both_kinds_are_apart(void)
{
	struct registers regs;

	set_up();
	regs = numbered_registers(next_page());
	attr.sample_regs_user = 1 << R_AX | 1 << R_R8;
	attr.sample_regs_intr = 1 << R_IP | 1 << R_SP | 1 << R_BX;
	open_with(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR |
		  PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC);
	sample_with(&regs);
	check_registers(sample.user_regs, attr.sample_regs_user, &regs);
	check_registers(sample.intr_regs, attr.sample_regs_intr, &regs);
	CHECK_EQ(sample.weight, 0);
	CHECK_EQ(sample.data_src, DATA_SRC_NA);
}

static void refused_registers(uint64_t mask, int error)
{
	attr.sample_type = PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = mask;
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), error);
	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = mask;
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), error);
}

static void unknown_registers_are_refused(void)
{
	set_up();
	refused_registers(0, EINVAL);
	for (int reg = 0; reg < 32; reg++) {
		if (!(KNOWN_REGS >> reg & 1)) {
			refused_registers(1ULL << reg, EINVAL);
			refused_registers(1ULL << reg | KNOWN_REGS, EINVAL);
		}
	}
}

/* The wide ones are known, but a software event does not have them. */
static void wide_registers_are_refused(void)
{
	set_up();
	for (int reg = 32; reg < 64; reg += 2)
		refused_registers(3ULL << reg, EOPNOTSUPP);
}

/* A fault in a system call: the kernel's registers, and those of its caller. */
static void the_caller_of_the_kernel_has_user_registers(void)
{
	uint64_t mask = 1 << R_DX | 1 << R_SI | 1 << R_DI | 1 << R_SP |
			1 << R_IP | 1 << R_CS;
	struct registers regs;
	volatile char *at;
	int zero;

	set_up();
	zero = open("/dev/zero", O_RDONLY);
	CHECK(zero >= 0);
	at = next_page();
	regs = numbered_registers(at);
	regs.of[R_AX] = SYS_read;
	regs.of[R_DI] = (uint64_t)zero;
	regs.of[R_SI] = (uintptr_t)at;
	regs.of[R_DX] = 8;
	regs.of[R_IP] = (uintptr_t)read_with_ip;
	attr.exclude_kernel = 0;
	attr.sample_regs_user = mask;
	attr.sample_regs_intr = 1 << R_IP | 1 << R_SP | 1 << R_CS;
	open_with(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR);
	enable(fd);
	read_with(&regs);
	disable(fd);
	expect_sample(&ring, &sample, &attr);
	CHECK_EQ(ring.record.header.misc, PERF_RECORD_MISC_KERNEL);
	CHECK_EQ(sample.user_abi, PERF_SAMPLE_REGS_ABI_64);
	check_registers(sample.user_regs, mask, &regs);
	CHECK_EQ(sample.intr_abi, PERF_SAMPLE_REGS_ABI_64);
	CHECK(sample.intr_regs[0] >> 63); /* SP */
	CHECK(sample.intr_regs[1] >> 63); /* IP */
	CHECK_EQ(sample.intr_regs[2] & 3, 0); /* CS */
}

/* Who has no user code has no registers of it, and no stack. */
static void kernel_threads_have_neither(void)
{
	struct timespec moment = { .tv_nsec = 1000000 };
	bool seen = false;
	cpu_set_t set;

	set_up();
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set));
	attr = software_attr(PERF_COUNT_SW_CONTEXT_SWITCHES);
	attr.exclude_kernel = 0;
	attr.sample_period = 1;
	attr.sample_regs_user = KNOWN_REGS;
	attr.sample_stack_user = 1024;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER |
			   PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC;
	fd = open_on(&attr, -1, 0);
	ring_map(&ring, fd, 64);
	while (!seen) {
		nanosleep(&moment, NULL);
		while (ring_head(&ring) != ring.pos) {
			if (!ring_next(&ring))
				break;
			if (ring.record.header.type != PERF_RECORD_SAMPLE)
				continue;
			take_sample(&ring, &sample, &attr);
			CHECK_EQ(sample.data_src, DATA_SRC_NA);
			if (sample.pid) /* the idle task */
				continue;
			seen = true;
			CHECK_EQ(sample.user_abi, PERF_SAMPLE_REGS_ABI_NONE);
			CHECK_EQ(sample.stack_size, 0);
			CHECK_EQ(ring.record.header.size, 8 + 8 + 8 + 8 + 8);
		}
		ring_release(&ring);
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(each_user_register),
		CASE(each_interrupted_register),
		CASE(registers_of_both_kinds_are_apart),
		CASE(unknown_registers_are_refused),
		CASE(wide_registers_are_refused),
		CASE(the_caller_of_the_kernel_has_user_registers),
		CASE(kernel_threads_have_neither),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
