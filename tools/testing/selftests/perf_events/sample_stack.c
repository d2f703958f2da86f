// SPDX-License-Identifier: GPL-2.0
/*
 * The piece of user stack in a sample: what it holds, how much of it, and what
 * happens where the stack pointer leads nowhere. The test sets that pointer.
 */
#include "perf_ring_regs.h"

#define MOST_BYTES 65528 /* of a record: the largest u16 that 8 divides */
#define FIXED_BYTES (8 + 8 + 8 + 8) /* header, ADDR, and the two sizes */
#define STACK_BYTES (160 * 1024)

static struct perf_event_attr attr;
static struct fault_area area;
static struct ring ring;
static struct sample sample;
static int fd;
static uint8_t stack[STACK_BYTES] __attribute__((aligned(4096)));

static void set_up(void)
{
	touch_stack();
	attr = minor_fault_attr(PERF_SAMPLE_ADDR | PERF_SAMPLE_STACK_USER);
	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = (uint8_t)(i * 167 + i / 256);
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

/* A fault with this stack pointer, and a ring of its own; how much is in it. */
static uint64_t fault_at_stack(uint64_t stack_pointer)
{
	struct registers regs = numbered_registers(next_page());

	regs.of[R_SP] = stack_pointer;
	fd = open_self(&attr);
	ring_map(&ring, fd, 64);
	enable(fd);
	fault_with(&regs);
	disable(fd);
	return ring_head(&ring);
}

static void read_sample(void)
{
	expect_sample(&ring, &sample, &attr);
	CHECK_EQ(sample.addr % page_size(), 0);
	expect_end(&ring);
	ring_unmap(&ring);
	close(fd);
}

static void sample_at(uint64_t stack_pointer)
{
	fault_at_stack(stack_pointer);
	read_sample();
}

/* All of it is there, from the stack pointer upwards. */
static void expect_stack(const uint8_t *from, uint64_t size)
{
	CHECK_EQ(sample.stack_size, size);
	CHECK_EQ(sample.stack_filled, size);
	CHECK(!memcmp(sample.stack, from, size));
}

static void stack_of(uint32_t size)
{
	attr.sample_stack_user = size;
	sample_at((uintptr_t)stack + 4096);
	expect_stack(stack + 4096, size);
	CHECK_EQ(ring.record.header.size, FIXED_BYTES + size);
}

/* ---- sizes ---- */

static void small_pieces_are_whole(void)
{
	set_up();
	for (uint32_t size = 8; size <= 1024; size += 8)
		stack_of(size);
}

static void large_pieces_are_whole(void)
{
	set_up();
	for (uint32_t size = 4096; size < MOST_BYTES - FIXED_BYTES; size += 4096)
		for (int off = -8; off <= 8; off += 8)
			stack_of(size + (uint32_t)off);
	stack_of(MOST_BYTES - FIXED_BYTES);
}

/* A record has 16 bits for its size; the stack takes what the rest leaves. */
static void the_largest_piece_fills_the_record(void)
{
	set_up();
	for (uint32_t size = MOST_BYTES - FIXED_BYTES; size <= MOST_BYTES;
	     size += 8) {
		attr.sample_stack_user = size;
		sample_at((uintptr_t)stack);
		expect_stack(stack, MOST_BYTES - FIXED_BYTES);
		CHECK_EQ(ring.record.header.size, MOST_BYTES);
	}
}

/* The fields behind the stack, which have their place reckoned before it. */
static void fields_behind_it_keep_their_room(void)
{
	set_up();
	attr.sample_type |= PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |
			    PERF_SAMPLE_CODE_PAGE_SIZE;
	for (uint32_t size = MOST_BYTES - 128; size <= MOST_BYTES; size += 8) {
		uint64_t room = MOST_BYTES - FIXED_BYTES - 24;

		attr.sample_stack_user = size;
		sample_at((uintptr_t)stack);
		expect_stack(stack, size < room ? size : room);
		CHECK_EQ(sample.data_src, DATA_SRC_NA);
		CHECK_EQ(sample.transaction, 0);
		CHECK_EQ(sample.code_page_size, page_size());
	}
}

/* The registers behind the stack have no fixed size. */
static void registers_behind_it_keep_their_room(void)
{
	set_up();
	attr.sample_type |= PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = 1 << R_DX | 1 << R_SI;
	for (uint32_t size = MOST_BYTES - 128; size <= MOST_BYTES; size += 8) {
		uint64_t room = MOST_BYTES - FIXED_BYTES - 24;
		struct registers regs = numbered_registers(area.base);

		attr.sample_stack_user = size;
		if (fault_at_stack((uintptr_t)stack) < MOST_BYTES - 128)
			BASE_DEFECT("registers behind the largest stacks overflow the size");
		read_sample();
		expect_stack(stack, size < room ? size : room);
		CHECK_EQ(sample.intr_regs[0], regs.of[R_DX]);
		CHECK_EQ(sample.intr_regs[1], regs.of[R_SI]);
	}
}

/* AUX data has a size even where there is none of it. */
static void aux_size_behind_it_keeps_its_room(void)
{
	set_up();
	attr.sample_type |= PERF_SAMPLE_AUX;
	for (uint32_t size = MOST_BYTES - 128; size <= MOST_BYTES; size += 8) {
		uint64_t room = MOST_BYTES - FIXED_BYTES - 8;

		attr.sample_stack_user = size;
		if (fault_at_stack((uintptr_t)stack) < MOST_BYTES - 128)
			BASE_DEFECT("an AUX size behind the largest stacks overflows the size");
		read_sample();
		expect_stack(stack, size < room ? size : room);
		CHECK_EQ(sample.aux_size, 0);
	}
}

static void sizes_that_cannot_be_are_refused(void)
{
	set_up();
	for (uint32_t size = 1; size < 64; size++) {
		attr.sample_stack_user = size;
		if (size % 8)
			CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	}
	for (uint32_t size = MOST_BYTES + 8; size; size = size << 1 & ~7u) {
		attr.sample_stack_user = size;
		CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	}
	attr.sample_stack_user = 65535;
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	attr.sample_type = 0; /* then it is not looked at */
	close(open_self(&attr));
}

/* A size, and that is all of it: what is behind it follows at once. */
static void no_stack_is_one_word(void)
{
	set_up();
	attr.sample_type |= PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
			    PERF_SAMPLE_TRANSACTION;
	attr.sample_stack_user = 0;
	sample_at((uintptr_t)stack);
	CHECK_EQ(sample.stack_size, 0);
	if (sample.data_src != DATA_SRC_NA)
		BASE_DEFECT("a stack of size 0 takes one word and writes two");
	CHECK_EQ(sample.weight, 0);
	CHECK_EQ(sample.transaction, 0);
}

/* ---- places ---- */

static void any_address_is_a_stack_pointer(void)
{
	set_up();
	attr.sample_stack_user = 512;
	for (size_t off = 0; off < 64; off++) {
		sample_at((uintptr_t)stack + 4090 + off);
		expect_stack(stack + 4090 + off, 512);
	}
}

static void a_stack_that_ends_is_filled_so_far(void)
{
	size_t page = page_size();
	uint8_t *at;

	set_up();
	at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(at != MAP_FAILED && !munmap(at + page, page));
	memcpy(at, stack, page);
	attr.sample_stack_user = 1024;
	for (size_t left = 1; left <= 1024; left += left < 64 ? 1 : 61) {
		sample_at((uintptr_t)at + page - left);
		CHECK_EQ(sample.stack_size, 1024);
		CHECK_EQ(sample.stack_filled, left);
		CHECK(!memcmp(sample.stack, stack + page - left, left));
	}
}

static void a_stack_that_is_not_there_is_empty(void)
{
	static const uint64_t nowhere[] = {
		8, 0x1000, 0x7fff00000000ULL / 3, 0x400000000000ULL,
	};

	set_up();
	attr.sample_stack_user = 256;
	for (size_t i = 0; i < ARRAY_LEN(nowhere); i++) {
		sample_at(nowhere[i]);
		CHECK_EQ(sample.stack_size, 256);
		CHECK_EQ(sample.stack_filled, 0);
	}
}

static void check_no_stack(uint64_t stack_pointer)
{
	sample_at(stack_pointer);
	CHECK_EQ(sample.stack_size, 0);
	if (sample.data_src != DATA_SRC_NA)
		BASE_DEFECT("a stack pointer that cannot be takes one word and writes two");
	CHECK_EQ(ring.record.header.size, 8 + 8 + 8 + 8);
}

static void a_stack_pointer_that_cannot_be_gives_none(void)
{
	static const uint64_t nowhere[] = {
		0, ~0ULL, 1ULL << 63, 0xffff888000000000ULL,
	};

	set_up();
	attr.sample_type |= PERF_SAMPLE_DATA_SRC;
	attr.sample_stack_user = 256;
	for (size_t i = 0; i < ARRAY_LEN(nowhere); i++)
		check_no_stack(nowhere[i]);
}

/* Where user addresses end on a machine with 4 levels of page tables. */
static uint64_t end_of_memory(void)
{
	uint64_t end = (1ULL << 47) - page_size();
	void *at = mmap((void *)end, page_size(), PROT_READ,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			0);

	if (at != MAP_FAILED)
		SKIP("user addresses end elsewhere");
	return end;
}

static void the_stack_ends_with_the_memory(void)
{
	uint64_t end = end_of_memory();
	uint8_t *at = mmap((void *)(end - page_size()), page_size(),
			   PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			   -1, 0);

	if (at == MAP_FAILED)
		SKIP("the last page is taken: %s", strerror(errno));
	set_up();
	memcpy(at, stack, page_size());
	attr.sample_stack_user = 256;
	for (uint64_t left = 8; left <= 256; left += 8) {
		sample_at(end - left);
		expect_stack(stack + page_size() - left, left);
	}
	sample_at(end - 1024);
	expect_stack(stack + page_size() - 1024, 256);
}

/* No record has a size that 8 does not divide. The base even warns of it. */
static void an_odd_end_of_memory_is_left_out(void)
{
	uint64_t end = end_of_memory();

	if (on_base())
		BASE_DEFECT("an odd stack pointer near the end makes a record of odd size");
	set_up();
	attr.sample_stack_user = 256;
	for (uint64_t left = 1; left < 256; left++) {
		CHECK_EQ(fault_at_stack(end - left) % 8, 0);
		read_sample();
		CHECK(sample.stack_size <= (left + 7) / 8 * 8);
		CHECK(sample.stack_filled <= left);
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(small_pieces_are_whole),
		CASE(large_pieces_are_whole),
		CASE(the_largest_piece_fills_the_record),
		CASE(fields_behind_it_keep_their_room),
		CASE(registers_behind_it_keep_their_room),
		CASE(aux_size_behind_it_keeps_its_room),
		CASE(sizes_that_cannot_be_are_refused),
		CASE(no_stack_is_one_word),
		CASE(any_address_is_a_stack_pointer),
		CASE(a_stack_that_ends_is_filled_so_far),
		CASE(a_stack_that_is_not_there_is_empty),
		CASE(a_stack_pointer_that_cannot_be_gives_none),
		CASE(the_stack_ends_with_the_memory),
		CASE(an_odd_end_of_memory_is_left_out),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
