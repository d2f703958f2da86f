// SPDX-License-Identifier: GPL-2.0
/*
 * Call chains of samples. The frames of user code are made up, so that each
 * address and their number are known; the kernel walks them by frame pointers.
 */
#include "perf_ring_regs.h"

#define MAX_STACK "/proc/sys/kernel/perf_event_max_stack"
#define FRAMES 200

struct frame {
	const struct frame *next;
	uint64_t ret;
};

static struct perf_event_attr attr;
static struct fault_area area;
static struct ring ring;
static struct sample sample;
static struct frame frames[FRAMES];
static int fd;

static uint64_t return_address(size_t frame)
{
	return 0x10000 + 16 * frame;
}

/* A chain of so many frames; its last one leads nowhere. */
static const struct frame *make_frames(size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		frames[i].next = i + 1 < nr ? &frames[i + 1] : NULL;
		frames[i].ret = return_address(i);
	}
	return nr ? frames : NULL;
}

static void set_up(void)
{
	touch_stack();
	attr = minor_fault_attr(PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN);
	area = fault_area(16);
	fault_again(&area);
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

static void open_chain(void)
{
	fd = open_self(&attr);
	ring_map(&ring, fd, 4);
}

static void read_chain(void)
{
	expect_sample(&ring, &sample, &attr);
	expect_end(&ring);
	ring_unmap(&ring);
	close(fd);
}

static void sample_frames(const struct frame *first)
{
	struct registers regs = numbered_registers(next_page());

	regs.of[R_BP] = (uintptr_t)first;
	open_chain();
	enable(fd);
	fault_with(&regs);
	disable(fd);
	read_chain();
}

/* Whose it is, where it was, and from where that was called. */
static void expect_user_chain(const uint64_t *chain, size_t length,
			      const char *ip, size_t nr_frames)
{
	CHECK_EQ(length, 2 + nr_frames);
	CHECK_EQ(chain[0], PERF_CONTEXT_USER);
	CHECK_EQ(chain[1], ip);
	for (size_t i = 0; i < nr_frames; i++)
		CHECK_EQ(chain[2 + i], return_address(i));
}

static int max_stack(void)
{
	int most = PERF_MAX_STACK_DEPTH;

	sysctl_get(MAX_STACK, &most);
	return most;
}

/* ---- depth ---- */

static void each_frame_is_one_entry(void)
{
	size_t most = (size_t)max_stack() - 1;

	set_up();
	for (size_t nr = 0; nr <= most && nr <= FRAMES; nr++) {
		sample_frames(make_frames(nr));
		expect_user_chain(sample.chain, sample.chain_length,
				  fault_with_ip, nr);
		CHECK_EQ(ring.record.header.size, 8 + 8 + 8 + 8 * (2 + nr));
	}
}

/* The limit counts the address of the sample itself, but not the marker. */
static void the_sysctl_limits_the_depth(void)
{
	size_t most = (size_t)max_stack();

	if (most > FRAMES - 20)
		SKIP("the limit is higher than what this test has");
	set_up();
	for (size_t nr = most - 3; nr < most + 20; nr++) {
		sample_frames(make_frames(nr));
		expect_user_chain(sample.chain, sample.chain_length,
				  fault_with_ip, nr < most ? nr : most - 1);
	}
}

static void sample_max_stack_limits_the_depth(void)
{
	set_up();
	for (uint16_t limit = 1; limit <= max_stack(); limit++) {
		attr.sample_max_stack = limit;
		sample_frames(make_frames(FRAMES));
		expect_user_chain(sample.chain, sample.chain_length,
				  fault_with_ip, limit - 1u);
		sample_frames(make_frames(limit / 2));
		expect_user_chain(sample.chain, sample.chain_length,
				  fault_with_ip,
				  limit / 2 < limit - 1 ? limit / 2 :
							  limit - 1u);
	}
}

static void more_than_the_sysctl_is_refused(void)
{
	set_up();
	for (int over = 1; over < 100; over += 9) {
		attr.sample_max_stack = (uint16_t)(max_stack() + over);
		CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EOVERFLOW);
	}
	attr.sample_max_stack = UINT16_MAX;
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EOVERFLOW);
	attr.sample_type = 0; /* then it is not looked at */
	close(open_self(&attr));
}

/* ---- frames that are none ---- */

static void frames_that_cannot_be_end_the_chain(void)
{
	static const uint64_t nowhere[] = {
		1, 4096, 0x400000000000ULL, 1ULL << 63, ~0ULL, ~15ULL,
	};

	set_up();
	for (size_t i = 0; i < ARRAY_LEN(nowhere); i++) {
		make_frames(3);
		frames[2].next = (const void *)nowhere[i];
		sample_frames(frames);
		expect_user_chain(sample.chain, sample.chain_length,
				  fault_with_ip, 3);
		sample_frames((const void *)nowhere[i]);
		expect_user_chain(sample.chain, sample.chain_length,
				  fault_with_ip, 0);
	}
}

/* A chain that bites its tail ends at the limit. */
static void frames_in_a_circle_end_at_the_limit(void)
{
	set_up();
	make_frames(2);
	frames[1].next = frames;
	attr.sample_max_stack = 50;
	sample_frames(frames);
	CHECK_EQ(sample.chain_length, 1 + 50);
	for (size_t i = 0; i < 49; i++)
		CHECK_EQ(sample.chain[2 + i], return_address(i % 2));
}

/* ---- user and kernel ---- */

static void without_the_user_part_it_is_empty(void)
{
	set_up();
	attr.exclude_callchain_user = 1;
	sample_frames(make_frames(10));
	CHECK_EQ(sample.chain_length, 0);
	attr.exclude_callchain_kernel = 1;
	sample_frames(make_frames(10));
	CHECK_EQ(sample.chain_length, 0);
	attr.exclude_callchain_user = 0;
	sample_frames(make_frames(10));
	expect_user_chain(sample.chain, sample.chain_length, fault_with_ip, 10);
}

/* A fault of the kernel, on behalf of a caller with frames. */
static void sample_system_call(size_t nr_frames)
{
	volatile char *at = next_page();
	struct registers regs = numbered_registers(at);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	CHECK(zero >= 0);
	regs.of[R_AX] = SYS_read;
	regs.of[R_DI] = (uint64_t)zero;
	regs.of[R_SI] = (uintptr_t)at;
	regs.of[R_DX] = 8;
	regs.of[R_BP] = (uintptr_t)make_frames(nr_frames);
	attr.exclude_kernel = 0;
	open_chain();
	enable(fd);
	read_with(&regs);
	disable(fd);
	read_chain();
	CHECK_EQ(ring.record.header.misc, PERF_RECORD_MISC_KERNEL);
	close(zero);
}

/* How many entries the kernel's part has, with its marker. */
static size_t expect_kernel_chain(void)
{
	size_t nr = 1;

	CHECK(sample.chain_length >= 2);
	CHECK_EQ(sample.chain[0], PERF_CONTEXT_KERNEL);
	while (nr < sample.chain_length &&
	       sample.chain[nr] != PERF_CONTEXT_USER) {
		CHECK(sample.chain[nr] >> 63);
		CHECK(sample.chain[nr] < PERF_CONTEXT_MAX);
		nr++;
	}
	CHECK(nr >= 4); /* the fault, the system call, what is between */
	return nr;
}

static void the_kernel_comes_before_its_caller(void)
{
	set_up();
	for (size_t nr = 0; nr < 20; nr++) {
		size_t kernel;

		sample_system_call(nr);
		kernel = expect_kernel_chain();
		expect_user_chain(sample.chain + kernel,
				  sample.chain_length - kernel, read_with_ip,
				  nr);
	}
}

static void each_part_can_be_left_out(void)
{
	set_up();
	attr.exclude_callchain_kernel = 1;
	sample_system_call(7);
	expect_user_chain(sample.chain, sample.chain_length, read_with_ip, 7);
	attr.exclude_callchain_kernel = 0;
	attr.exclude_callchain_user = 1;
	sample_system_call(7);
	CHECK_EQ(expect_kernel_chain(), sample.chain_length);
	attr.exclude_callchain_kernel = 1;
	sample_system_call(7);
	CHECK_EQ(sample.chain_length, 0);
}

/* One limit for both parts: what the kernel takes, its caller does not have. */
static void the_limit_is_for_both_parts(void)
{
	size_t kernel;

	set_up();
	sample_system_call(FRAMES);
	kernel = expect_kernel_chain() - 1;
	for (uint16_t limit = 1; limit < kernel + 20; limit++) {
		attr.sample_max_stack = limit;
		sample_system_call(FRAMES);
		if (limit > kernel)
			expect_user_chain(sample.chain + 1 + kernel,
					  sample.chain_length - 1 - kernel,
					  read_with_ip, limit - kernel - 1);
		CHECK(sample.chain_length <= limit + 2u);
		CHECK(sample.chain_length >= limit + 1u);
	}
}

/* What comes before and behind it in the sample keeps its place. */
static void other_fields_stand_around_it(void)
{
	set_up();
	attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD |
			    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_DATA_SRC;
	attr.sample_regs_user = 1 << R_BP;
	for (size_t nr = 0; nr < 100; nr += 9) {
		sample_frames(make_frames(nr));
		CHECK_EQ(sample.ip, fault_with_ip);
		CHECK_EQ(sample.period, 1);
		CHECK_EQ(sample.user_regs[0], nr ? (uintptr_t)frames : 0);
		CHECK_EQ(sample.data_src, DATA_SRC_NA);
		expect_user_chain(sample.chain, sample.chain_length,
				  fault_with_ip, nr);
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(each_frame_is_one_entry),
		CASE(the_sysctl_limits_the_depth),
		CASE(sample_max_stack_limits_the_depth),
		CASE(more_than_the_sysctl_is_refused),
		CASE(frames_that_cannot_be_end_the_chain),
		CASE(frames_in_a_circle_end_at_the_limit),
		CASE(without_the_user_part_it_is_empty),
		CASE(the_kernel_comes_before_its_caller),
		CASE(each_part_can_be_left_out),
		CASE(the_limit_is_for_both_parts),
		CASE(other_fields_stand_around_it),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
