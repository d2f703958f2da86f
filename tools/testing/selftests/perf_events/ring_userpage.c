// SPDX-License-Identifier: GPL-2.0
/*
 * The first page of a ring: what the kernel says there about the event, when
 * it says it anew, and that it believes nothing but data_tail in return.
 */
#include "perf_ring_task.h"

#include <pthread.h>
#include <stddef.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define RESERVED_AT offsetof(struct perf_event_mmap_page, __reserved)

static struct perf_event_attr count_attr(void)
{
	struct perf_event_attr attr = fault_attr();

	attr.sample_type = 0;
	attr.sample_period = 0;
	return attr;
}

static void fresh_page_describes_the_ring(void)
{
	const struct perf_event_mmap_page *page;
	struct ring ring;

	ring_map(&ring, open_comm(), 8);
	page = ring.page;
	CHECK_EQ(page->version, 0);
	CHECK_EQ(page->compat_version, 0);
	CHECK_EQ(page->size, RESERVED_AT);
	CHECK_EQ(page->data_offset, page_size());
	CHECK_EQ(page->data_size, 8 * page_size());
	CHECK_EQ(page->data_head, 0);
	CHECK_EQ(page->data_tail, 0);
	CHECK_EQ(page->aux_head, 0);
	CHECK_EQ(page->aux_tail, 0);
	CHECK_EQ(page->aux_offset, 0);
	CHECK_EQ(page->aux_size, 0);
}

static void reserved_fields_are_zero(void)
{
	const uint8_t *byte;
	struct ring ring;

	ring_map(&ring, open_comm(), 1);
	CHECK_EQ(ring.page->__reserved_1, 0);
	byte = (const uint8_t *)ring.page;
	for (size_t i = RESERVED_AT; i < 1024; i++)
		CHECK_EQ(byte[i], 0);
	for (size_t i = sizeof(*ring.page); i < page_size(); i++)
		CHECK_EQ(byte[i], 0);
}

static void software_event_offers_no_counter(void)
{
	const struct perf_event_mmap_page *page;
	struct ring ring;

	ring_map(&ring, open_comm(), 1);
	page = ring.page;
	CHECK_EQ(page->cap_bit0, 0);
	CHECK_EQ(page->cap_bit0_is_deprecated, 1);
	CHECK_EQ(page->cap_user_rdpmc, 0);
	CHECK_EQ(page->cap_____res, 0);
	CHECK_EQ(page->index, 0);
	CHECK(page->cap_user_time || !page->cap_user_time_zero);
	CHECK(!page->cap_user_time || page->time_mult);
}

static void clockid_withdraws_time_zero(void)
{
	struct perf_event_attr attr = comm_attr();
	struct ring ring;

	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	ring_map(&ring, open_self(&attr), 1);
	CHECK_EQ(ring.page->cap_user_time_zero, 0);
	CHECK_EQ(ring.page->time_zero, 0);
}

#if defined(__x86_64__)
static uint64_t perf_time_now(const struct perf_event_mmap_page *page)
{
	uint64_t cycles = __rdtsc();
	uint64_t high = cycles >> page->time_shift;
	uint64_t low = cycles & ((1ULL << page->time_shift) - 1);

	return page->time_zero + high * page->time_mult +
	       ((low * page->time_mult) >> page->time_shift);
}

static void tsc_converts_to_record_time(void)
{
	struct perf_event_attr attr = comm_attr();
	struct ring ring;

	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TIME;
	ring_map(&ring, open_self(&attr), 4);
	if (!ring.page->cap_user_time_zero)
		SKIP("the clock of this machine is not good enough to map");
	for (unsigned int i = 0; i < 100; i++) {
		uint64_t before, between, after;

		before = perf_time_now(ring.page);
		rename_task(i);
		after = perf_time_now(ring.page);
		expect_comm(&ring, i);
		between = ring.record.words[ring.record.header.size / 8 - 1];
		CHECK(before <= between && between <= after);
	}
}
#else
static void tsc_converts_to_record_time(void)
{
	SKIP("knows only the x86-64 time stamp counter");
}
#endif

static void offset_is_the_count(void)
{
	struct perf_event_attr attr = count_attr();
	struct fault_area area = fault_area(64);
	int fd = open_self(&attr);
	struct ring ring;

	sample_faults(fd, &area, 64);
	ring_map(&ring, fd, 0);
	CHECK_EQ(count_of(fd), 64);
	CHECK_EQ(ring.page->offset, 64);
	sample_faults(fd, &area, 10);
	CHECK_EQ(count_of(fd), 74);
	enable(fd); /* the page is told when the event starts to run */
	CHECK_EQ(ring.page->offset, 74);
	CHECK_EQ(ring.page->index, 0);
}

static void reset_tells_the_page(void)
{
	struct perf_event_attr attr = count_attr();
	struct fault_area area = fault_area(16);
	int fd = open_self(&attr);
	struct ring ring;

	sample_faults(fd, &area, 16);
	ring_map(&ring, fd, 0);
	CHECK_EQ(ring.page->offset, 16);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	CHECK_EQ(ring.page->offset, 0);
	CHECK_EQ(count_of(fd), 0);
}

static void times_grow_only_while_enabled(void)
{
	struct perf_event_attr attr = count_attr();
	int fd = open_self(&attr);
	uint64_t enabled = 0;
	struct ring ring;

	ring_map(&ring, fd, 0);
	CHECK_EQ(ring.page->time_enabled, 0);
	for (int round = 0; round < 20; round++) {
		enable(fd);
		usleep(1000);
		disable(fd);
		CHECK(!ioctl(fd, PERF_EVENT_IOC_RESET, 0)); /* tells the page */
		CHECK(ring.page->time_enabled > enabled);
		CHECK(ring.page->time_running <= ring.page->time_enabled);
		enabled = ring.page->time_enabled;
		usleep(1000);
		CHECK(!ioctl(fd, PERF_EVENT_IOC_RESET, 0));
		CHECK_EQ(ring.page->time_enabled, enabled);
	}
}

static void page_agrees_with_read(void)
{
	struct perf_event_attr attr = count_attr();
	uint64_t values[3];
	struct ring ring;
	int fd;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = open_self(&attr);
	enable(fd);
	usleep(2000);
	disable(fd);
	ring_map(&ring, fd, 1);
	CHECK_EQ(read(fd, values, sizeof(values)), sizeof(values));
	CHECK(values[1] > 0);
	CHECK_EQ(ring.page->time_enabled, values[1]);
	CHECK_EQ(ring.page->time_running, values[2]);
}

struct page_watch {
	const struct perf_event_mmap_page *page;
	int stop;
	unsigned int looks;
};

/* Reads under the page's own lock while the event's task makes it change. */
static void *watch_page(void *arg)
{
	struct page_watch *watch = arg;
	const volatile struct perf_event_mmap_page *page = watch->page;
	uint64_t last = 0;

	while (!__atomic_load_n(&watch->stop, __ATOMIC_RELAXED)) {
		uint32_t seq = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		uint64_t enabled = page->time_enabled;
		uint64_t running = page->time_running;

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if ((seq & 1) || page->lock != seq)
			continue;
		CHECK(running <= enabled);
		CHECK(enabled >= last);
		last = enabled;
		watch->looks++;
	}
	return NULL;
}

static void page_is_consistent_under_its_lock(void)
{
	struct perf_event_attr attr = count_attr();
	int fd = open_self(&attr);
	struct page_watch watch = { 0 };
	struct ring ring;
	pthread_t thread;
	uint32_t lock;

	ring_map(&ring, fd, 0);
	watch.page = ring.page;
	CHECK(!pthread_create(&thread, NULL, watch_page, &watch));
	for (int round = 0; round < 3000; round++) {
		lock = ring.page->lock;
		enable(fd);
		CHECK_EQ(ring.page->lock % 2, 0);
		CHECK(ring.page->lock != lock);
		disable(fd);
		CHECK_EQ(ring.page->lock % 2, 0);
	}
	while (!__atomic_load_n(&watch.looks, __ATOMIC_RELAXED))
		usleep(1000);
	__atomic_store_n(&watch.stop, 1, __ATOMIC_RELAXED);
	CHECK(!pthread_join(thread, NULL));
}

static void tail_belongs_to_the_reader(void)
{
	struct ring ring;

	ring_map(&ring, open_comm(), 1);
	for (unsigned int i = 0; i < 1000; i++) {
		rename_task(i);
		expect_comm(&ring, i);
		CHECK_EQ(ring.page->data_tail, ring.pos - COMM_RECORD);
		ring_release(&ring);
	}
	CHECK_EQ(ring.page->aux_head, 0);
	CHECK_EQ(ring.page->aux_tail, 0);
}

/* The kernel's own positions are elsewhere; what it says here is only said. */
static void scribbling_hurts_nobody_but_the_scribbler(void)
{
	struct ring ring;
	int fd = open_comm();

	ring_map(&ring, fd, 1);
	rename_tasks(0, 10);
	for (unsigned int i = 10; i < 60; i++) {
		memset(ring.page, i % 2 ? 0xff : 0x5a, page_size());
		ring_set_tail(&ring, i * COMM_RECORD);
		rename_task(i);
		ring.pos = i * COMM_RECORD;
		CHECK_EQ(ring_head(&ring), (i + 1) * COMM_RECORD);
		expect_comm(&ring, i);
	}
	CHECK(!ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	CHECK_EQ(ring.page->offset, 0);
	CHECK_EQ(ring.page->index, 0);
	ring_unmap(&ring);
	ring_map(&ring, fd, 1);
	CHECK_EQ(ring.page->size, RESERVED_AT);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(fresh_page_describes_the_ring),
		CASE(reserved_fields_are_zero),
		CASE(software_event_offers_no_counter),
		CASE(clockid_withdraws_time_zero),
		CASE(tsc_converts_to_record_time),
		CASE(offset_is_the_count),
		CASE(reset_tells_the_page),
		CASE(times_grow_only_while_enabled),
		CASE(page_agrees_with_read),
		CASE(page_is_consistent_under_its_lock),
		CASE(tail_belongs_to_the_reader),
		CASE(scribbling_hurts_nobody_but_the_scribbler),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
