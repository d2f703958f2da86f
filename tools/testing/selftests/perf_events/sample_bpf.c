// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs at overflows: what they let pass, and what they write themselves
 * (bpf-output), of any length.
 */
#include "perf_ring_bpf.h"
#include "perf_ring_sample.h"

#include <sched.h>
#include <stddef.h>

#define RAW_SPACE 65536

/* The element of an array that program and test share. */
struct shared {
	uint64_t length; /* of what is to be written */
	uint8_t data[RAW_SPACE];
	uint64_t result; /* of the last write */
	uint64_t calls;
};

static struct perf_event_attr attr; /* of the event that samples faults */
static struct perf_event_attr output_attr;
static struct shared shared;
static struct fault_area area;
static struct ring ring;
static struct sample sample;
static int fd, output, map;

static volatile char *next_page(void)
{
	static size_t page;

	if (page == area.pages) {
		fault_again(&area);
		page = 0;
	}
	return page_of(&area, page++);
}

static void set_up(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set));
	touch_stack();
	attr = minor_fault_attr(PERF_SAMPLE_ADDR | PERF_SAMPLE_IP);
	area = fault_area(64);
	fault_again(&area);
	map = bpf_map(BPF_MAP_TYPE_ARRAY, sizeof(shared), 1);
}

/* ---- programs that choose ---- */

/* Counts the overflows; the lowest bits of the count decide. */
static int load_filter(uint32_t mask)
{
	const struct bpf_insn insns[] = {
		ONLY_ELEMENT(map),
		LOAD(BPF_REG_1, BPF_REG_0, 0),
		ADD(BPF_REG_1, 1),
		STORE(BPF_REG_0, 0, BPF_REG_1),
		COPY(BPF_REG_0, BPF_REG_1),
		AND(BPF_REG_0, (int32_t)mask),
		RETURN(),
	};

	return bpf_program(BPF_PROG_TYPE_PERF_EVENT, insns, ARRAY_LEN(insns));
}

static int load_return(int32_t value)
{
	const struct bpf_insn insns[] = { SET(BPF_REG_0, value), RETURN() };

	return bpf_program(BPF_PROG_TYPE_PERF_EVENT, insns, ARRAY_LEN(insns));
}

static void every_second_sample_passes(void)
{
	volatile char *at;

	set_up();
	fd = open_self(&attr);
	ring_map(&ring, fd, 1);
	CHECK(!set_bpf(fd, load_filter(1)));
	for (size_t nr = 1; nr <= 40; nr++) {
		at = next_page();
		enable(fd);
		fault_on(at);
		disable(fd);
		if (nr % 2) {
			expect_sample(&ring, &sample, &attr);
			CHECK_EQ(sample.addr, at);
			CHECK(in_fault_code(sample.ip));
		}
		expect_end(&ring);
		ring_release(&ring);
	}
	CHECK_EQ(count_of(fd), 40);
	bpf_get(map, 0, &shared);
	CHECK_EQ(shared.length, 40);
}

/* What is held back is no sample: not for the limit, nor for a wake-up. */
static void what_is_held_back_does_not_count(void)
{
	set_up();
	attr.wakeup_events = 2;
	fd = open_self(&attr);
	ring_map(&ring, fd, 1);
	CHECK(!set_bpf(fd, load_filter(1)));
	CHECK(!ioctl(fd, PERF_EVENT_IOC_REFRESH, 3));
	fault_on(next_page()); /* 1st sample */
	fault_on(next_page());
	CHECK_EQ(poll_now(fd), 0);
	fault_on(next_page()); /* 2nd */
	CHECK_EQ(poll_now(fd), POLLIN);
	fault_on(next_page());
	CHECK_EQ(poll_now(fd), 0);
	fault_on(next_page()); /* 3rd and last */
	for (int i = 0; i < 10; i++)
		fault_on(next_page());
	CHECK_EQ(ring_drain(&ring), 3);
	CHECK_EQ(count_of(fd), 5);
}

static void only_zero_holds_back(void)
{
	static const int32_t values[] = { 0, 1, 2, -1, 256 };

	set_up();
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		fd = open_self(&attr);
		ring_map(&ring, fd, 1);
		CHECK(!set_bpf(fd, load_return(values[i])));
		enable(fd);
		for (int nr = 0; nr < 5; nr++)
			fault_on(next_page());
		disable(fd);
		CHECK_EQ(ring_drain(&ring), values[i] ? 5 : 0);
		ring_unmap(&ring);
		close(fd);
	}
}

static void programs_that_do_not_fit_are_refused(void)
{
	const struct bpf_insn insns[] = { SET(BPF_REG_0, 1), RETURN() };
	int other;

	set_up();
	other = bpf_program(BPF_PROG_TYPE_KPROBE, insns, ARRAY_LEN(insns));
	fd = open_self(&attr);
	CHECK_ERRNO(set_bpf(fd, other), EINVAL);
	CHECK_ERRNO(set_bpf(fd, 999), EBADF);
	CHECK_ERRNO(set_bpf(fd, fd), EINVAL);
	CHECK(!set_bpf(fd, load_return(1)));
	CHECK_ERRNO(set_bpf(fd, load_return(1)), EEXIST);
}

/* ---- programs that write ---- */

/* Writes what the element holds to the ring of this CPU. */
static int load_writer(int array)
{
	const struct bpf_insn insns[] = {
		COPY(BPF_REG_6, BPF_REG_1),
		ONLY_ELEMENT(map),
		COPY(BPF_REG_7, BPF_REG_0),
		LOAD(BPF_REG_5, BPF_REG_7, 0),
		AND(BPF_REG_5, RAW_SPACE - 1),
		COPY(BPF_REG_4, BPF_REG_7),
		ADD(BPF_REG_4, offsetof(struct shared, data)),
		COPY(BPF_REG_1, BPF_REG_6),
		MAP(BPF_REG_2, array),
		SET_LOW(BPF_REG_3, -1), /* the current CPU */
		CALL(BPF_FUNC_perf_event_output),
		ADD(BPF_REG_7, offsetof(struct shared, result)),
		STORE(BPF_REG_7, 0, BPF_REG_0),
		LOAD(BPF_REG_1, BPF_REG_7, 8),
		ADD(BPF_REG_1, 1),
		STORE(BPF_REG_7, 8, BPF_REG_1),
		SET(BPF_REG_0, 0),
		RETURN(),
	};

	return bpf_program(BPF_PROG_TYPE_PERF_EVENT, insns, ARRAY_LEN(insns));
}

static void set_up_output(uint64_t fields, size_t pages)
{
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	int array;

	set_up();
	array = bpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, cpus);
	output_attr = software_attr(PERF_COUNT_SW_BPF_OUTPUT);
	output_attr.exclude_kernel = 0;
	output_attr.sample_type = fields | PERF_SAMPLE_RAW;
	output_attr.read_format = PERF_FORMAT_LOST;
	output = open_on(&output_attr, -1, 0);
	ring_map(&ring, output, pages);
	ring_touch(&ring);
	bpf_set(array, 0, &output);
	for (size_t i = 0; i < RAW_SPACE; i++)
		shared.data[i] = (uint8_t)(i * 31 + i / 256);
	fd = open_self(&attr);
	CHECK(!set_bpf(fd, load_writer(array)));
}

static void write_raw(size_t length)
{
	shared.length = length;
	bpf_set(map, 0, &shared);
	enable(fd);
	fault_on(next_page());
	disable(fd);
}

static void expect_raw(size_t length)
{
	expect_sample(&ring, &sample, &output_attr);
	CHECK_EQ(sample.raw_size, (length + 4 + 7) / 8 * 8 - 4);
	CHECK(!memcmp(sample.raw, shared.data, length));
	CHECK_EQ(ring.record.header.size,
		 8 + 8 * (__builtin_popcountll(output_attr.sample_type) - 1) +
			 4 + sample.raw_size);
}

static void write_and_expect(size_t length)
{
	write_raw(length);
	expect_raw(length);
	expect_end(&ring);
	ring_release(&ring);
}

/* On its way, the ring of two pages wraps some ten times. */
static void small_pieces_are_whole(void)
{
	set_up_output(0, 2);
	for (size_t length = 0; length <= 300; length++)
		write_and_expect(length);
}

static void pieces_around_a_page_are_whole(void)
{
	set_up_output(PERF_SAMPLE_TIME, 4);
	for (size_t length = 4060; length <= 4120; length++)
		write_and_expect(length);
	for (size_t length = 8150; length <= 8210; length += 3)
		write_and_expect(length);
}

/* Each place at which a piece can meet the end of the ring. */
static void pieces_wrap_at_each_place(void)
{
	set_up_output(0, 1);
	for (size_t length = 1; length < 100; length += 7)
		for (int nr = 0; nr < 60; nr++)
			write_and_expect(length);
}

static void large_pieces_are_whole(void)
{
	set_up_output(PERF_SAMPLE_IDENTIFIER, 32);
	for (size_t length = 16000; length < 65000; length += 4093)
		write_and_expect(length);
	for (size_t length = 65400; length <= 65528 - 20; length++)
		write_and_expect(length);
}

/* What fits into no record leaves none, and what is in the ring stays. */
static void too_large_pieces_are_left_out(void)
{
	uint64_t head;

	set_up_output(0, 64);
	write_raw(100);
	head = ring_head(&ring);
	for (size_t length = 65528 - 8 - 4 + 1; length < RAW_SPACE; length++)
		write_raw(length);
	if (ring_head(&ring) != head)
		BASE_DEFECT("a piece that fits into no record leaves a damaged one");
	write_raw(200);
	expect_raw(100);
	do
		CHECK(ring_next(&ring));
	while (ring.record.header.type == PERF_RECORD_LOST);
	take_sample(&ring, &sample, &output_attr);
	CHECK(!memcmp(sample.raw, shared.data, 200));
	expect_end(&ring);
}

static void pieces_without_room_are_lost(void)
{
	set_up_output(0, 1);
	for (int i = 0; i < 3; i++)
		write_raw(1500);
	bpf_get(map, 0, &shared);
	CHECK_EQ((int64_t)shared.result, -ENOSPC);
	CHECK_EQ(shared.calls, 1);
	CHECK_EQ(lost_of(output), 1);
	CHECK_EQ(ring_drain(&ring), 2);
	write_raw(16);
	expect_lost(&ring, event_id(output), 1);
	expect_raw(16);
	expect_end(&ring);
}

/* The fields of its samples are those of the fault, but for the address. */
static void its_samples_have_the_usual_fields(void)
{
	set_up_output(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR |
			      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			      PERF_SAMPLE_ID | PERF_SAMPLE_DATA_SRC,
		      4);
	for (size_t length = 0; length < 20; length++) {
		write_and_expect(length);
		CHECK(in_fault_code(sample.ip));
		CHECK_EQ(sample.tid, gettid());
		CHECK_EQ(sample.addr, 0);
		CHECK_EQ(sample.cpu, 0);
		CHECK_EQ(sample.period, 0);
		CHECK_EQ(sample.id, event_id(output));
		CHECK_EQ(sample.data_src, DATA_SRC_NA);
		CHECK_EQ(ring.record.header.misc, PERF_RECORD_MISC_USER);
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(every_second_sample_passes),
		CASE(what_is_held_back_does_not_count),
		CASE(only_zero_holds_back),
		CASE(programs_that_do_not_fit_are_refused),
		CASE(small_pieces_are_whole),
		CASE(pieces_around_a_page_are_whole),
		CASE(pieces_wrap_at_each_place),
		CASE(large_pieces_are_whole),
		CASE(too_large_pieces_are_left_out),
		CASE(pieces_without_room_are_lost),
		CASE(its_samples_have_the_usual_fields),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
