// SPDX-License-Identifier: GPL-2.0
/*
 * Drivers that fail: to set up an area, to start, to stop in time; and what their
 * config cannot be. Each failure costs what it says and nothing else.
 */
#include "perf_aux_record.h"
#include "perf_ring_locked.h"

static struct aux aux;

static bool area_again(size_t pages, int prot)
{
	void *words = aux_try_map(&aux, pages, prot);

	aux.words = words == MAP_FAILED ? NULL : words;
	aux.size = pages * page_size();
	aux.pos = aux_head(&aux);
	return aux.words;
}

/* ---- setting up ---- */

/* An area of which the allowance does not cover all. */
static size_t large_area(void)
{
	return large_ring() - 1;
}

static struct perf_event_attr user_attr(uint64_t fail_setup)
{
	struct perf_event_attr attr = aux_attr();

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	aux_field(&attr, "fail_setup", fail_setup);
	return attr;
}

static void expect_mapping_fails(void)
{
	CHECK(!area_again(large_area(), PROT_READ | PROT_WRITE));
	CHECK_EQ(errno, ENOMEM);
	CHECK_EQ(pinned_pages(), 0);
}

static void expect_mapping_works(int fd)
{
	long ring = (long)(aux.ring.length / page_size());

	CHECK(area_again(large_area(), PROT_READ | PROT_WRITE));
	CHECK_EQ(pinned_pages(),
		 (long)large_area() + ring - allowance_pages());
	enable(fd);
	spin_ms(3);
	disable(fd);
	CHECK(aux_head(&aux) > aux.pos);
	aux_unmap_area(&aux);
	CHECK_EQ(pinned_pages(), 0);
}

/* The first mapping, the second, and so on; those before and behind it work. */
static void a_set_up_that_fails_leaves_nothing(void)
{
	become_limited_user(4 * large_area());
	for (uint64_t nth = 1; nth <= 4; nth++) {
		struct perf_event_attr attr = user_attr(nth);
		int fd = open_self(&attr);

		memset(&aux, 0, sizeof(aux));
		aux.fd = fd;
		ring_map(&aux.ring, fd, 1);
		for (uint64_t i = 1; i <= 6; i++) {
			if (i == nth)
				expect_mapping_fails();
			else
				expect_mapping_works(fd);
		}
		ring_unmap(&aux.ring);
		close(fd);
		expect_whole_allowance();
	}
}

static void it_may_fail_again_and_again(void)
{
	become_limited_user(4 * large_area());
	for (int i = 0; i < 300; i++) { /* more than the allowance has pages */
		struct perf_event_attr attr = user_attr(1);
		int fd = open_self(&attr);

		aux.fd = fd;
		ring_map(&aux.ring, fd, 1);
		CHECK(!area_again(1, PROT_READ | PROT_WRITE));
		CHECK_EQ(errno, ENOMEM);
		ring_unmap(&aux.ring);
		close(fd);
	}
	expect_whole_allowance();
}

/* Hardware that takes one piece, and a piece that no allocator has. */
static void one_piece_or_none(void)
{
	struct perf_event_attr attr = aux_attr_of("aux_test_contiguous");
	int fd = open_on_cpu(&attr, 0);
	long pinned;

	aux.fd = fd;
	ring_map(&aux.ring, fd, 1);
	pinned = pinned_pages();
	CHECK(!area_again(1 << 15, PROT_READ));
	CHECK_EQ(errno, ENOMEM);
	CHECK_EQ(pinned_pages(), pinned);
	CHECK(area_again(64, PROT_READ));
	run_for(fd, 3);
	CHECK(count_of(fd) > 0);
}

/* ---- starting ---- */

static void a_start_that_fails_writes_nothing(void)
{
	struct perf_event_attr attr = aux_attr();
	int fd;

	aux_field(&attr, "fail_begin", 1);
	fd = open_on_cpu(&attr, 0);
	aux_map(&aux, fd, 16, 64);
	run_for(fd, 5);
	CHECK_EQ(aux_head(&aux), 0);
	CHECK_EQ(count_of(fd), 0);
	expect_no_aux_record(&aux);
	run_for(fd, 5);
	aux_drain(&aux);
	CHECK(aux.kept > 0);
	CHECK_EQ(aux.kept, count_of(fd));
	CHECK_EQ(aux.gaps, 0);
	CHECK_EQ(aux.flags, 0);
}

/* In the middle of a run it is off, in fact, until it is turned on again. */
static void a_restart_that_fails_ends_the_run(void)
{
	struct perf_event_attr attr = aux_attr();
	uint64_t count;
	int fd;

	aux_field(&attr, "chunk", 1000);
	aux_field(&attr, "fail_begin", 3);
	fd = open_on_cpu(&attr, 0);
	aux_map(&aux, fd, 16, 64);
	enable(fd);
	wait_for_head(&aux, 2000);
	sleep_ms(5);
	CHECK_EQ(aux_head(&aux), 2000);
	count = count_of(fd);
	sleep_ms(5);
	CHECK_EQ(aux_head(&aux), 2000);
	CHECK_EQ(count_of(fd), count);
	if (aux_counts_lost())
		CHECK_EQ(2000 + aux_page_lost(&aux), count);
	disable(fd);
	run_for(fd, 5);
	aux_drain(&aux);
	CHECK(aux.kept > 2000);
	CHECK_EQ(aux.kept + aux.missing, count_of(fd));
}

/* ---- stopping ---- */

#define STOP_US 20000

static void a_slow_stop_goes_on_writing(void)
{
	struct perf_event_attr attr = aux_attr();
	uint64_t before, took;
	int fd;

	aux_field(&attr, "rate", 1000000);
	aux_field(&attr, "slow_stop", STOP_US);
	fd = open_on_cpu(&attr, 0);
	aux_map(&aux, fd, 16, 1024);
	for (uint64_t i = 1; i <= 3; i++) {
		enable(fd);
		before = now_us();
		disable(fd);
		took = now_us() - before;
		CHECK(took >= STOP_US * 9 / 10);
		aux_drain(&aux);
		CHECK(aux.kept >= i * (STOP_US - 100));
	}
	CHECK_EQ(aux.kept, count_of(fd));
	CHECK_EQ(aux.gaps, 0);
}

static void munmap_waits_for_a_slow_stop(void)
{
	struct perf_event_attr attr = aux_attr();
	uint64_t before;
	int fd;

	/* Too slow to fill the area, even if this CPU is away for a second. */
	aux_field(&attr, "rate", 100000);
	aux_field(&attr, "slow_stop", STOP_US);
	fd = open_on_cpu(&attr, cpus_online() - 1);
	for (int i = 0; i < 5; i++) {
		aux_map(&aux, fd, 16, 64);
		enable(fd);
		sleep_ms(1);
		before = now_us();
		aux_unmap_area(&aux);
		/* The delay counts cycles, whose number a second is an estimate. */
		CHECK(now_us() - before >= STOP_US * 9 / 10);
		disable(fd);
		CHECK(aux_head(&aux) > 0);
		ring_unmap(&aux.ring);
	}
}

/* ---- ending late, as drivers must not ---- */

#define LATE_US 60000
#define LATE_PAGES 256 /* room for a second */

/* False on the base, which does not survive that: its PMU has no such event. */
static bool open_late(int *fd)
{
	struct perf_event_attr attr = aux_attr();

	aux_field(&attr, "slow_stop", LATE_US);
	aux_field(&attr, "late_end", 1);
	attr.aux_watermark = UINT32_MAX; /* one transaction each time */
	if (on_base()) {
		CHECK_ERRNO(perf_open(&attr, -1, 0, -1, 0), EINVAL);
		return false;
	}
	*fd = open_on_cpu(&attr, 0);
	aux_map(&aux, *fd, 16, LATE_PAGES);
	return true;
}

/* Its transaction is open, and until when at least. */
static uint64_t run_and_leave_open(int fd)
{
	uint64_t stop;

	enable(fd);
	sleep_ms(5);
	stop = now_us();
	disable(fd);
	return stop + LATE_US - 1000; /* by another clock */
}

static void wait_for_end(uint64_t head)
{
	uint64_t end = now_us() + 5000000;

	while (aux_head(&aux) == head && now_us() < end)
		sleep_ms(1);
	CHECK(aux_head(&aux) > head);
}

static void a_late_end_publishes_late(void)
{
	uint64_t until;
	int fd;

	if (!open_late(&fd))
		return;
	for (int i = 0; i < 3; i++) {
		uint64_t head = aux_head(&aux);

		until = run_and_leave_open(fd);
		if (aux_head(&aux) != head)
			CHECK(now_us() >= until);
		wait_for_end(head);
		aux_drain(&aux);
		CHECK_EQ(aux.kept, count_of(fd));
	}
	CHECK_EQ(aux.gaps, 0);
	CHECK_EQ(aux.flags, 0);
	CHECK_EQ(aux.records, 3);
}

static void who_starts_again_ends_it_first(void)
{
	int fd;

	if (!open_late(&fd))
		return;
	for (int i = 0; i < 5; i++)
		run_and_leave_open(fd);
	sleep_ms(3 * LATE_US / 1000);
	aux_drain(&aux);
	CHECK_EQ(aux.records, 5);
	CHECK_EQ(aux.kept, count_of(fd));
	CHECK_EQ(aux.gaps, 0);
}

/* Nobody else has the ring's area meanwhile. */
static void another_event_has_to_wait(void)
{
	struct perf_event_attr attr = aux_attr();
	uint64_t until, count;
	int fd, other;

	if (!open_late(&fd))
		return;
	other = open_on_cpu(&attr, 0);
	CHECK(!set_output(other, fd));
	until = run_and_leave_open(fd);
	run_for(other, 1);
	count = count_of(other);
	if (now_us() < until)
		CHECK_EQ(count, 0);
	wait_for_end(0);
	run_for(other, 3);
	CHECK(count_of(other) > 0);
}

/* What it writes to lives on, unseen, and another area has to wait for it. */
static void an_area_outlives_its_mapping(void)
{
	uint64_t until;
	int fd;

	if (!open_late(&fd))
		return;
	until = run_and_leave_open(fd);
	aux_unmap_area(&aux);
	if (!area_again(LATE_PAGES, PROT_READ | PROT_WRITE)) {
		CHECK_EQ(errno, EBUSY);
		while (!area_again(LATE_PAGES, PROT_READ | PROT_WRITE)) {
			CHECK_EQ(errno, EBUSY);
			CHECK(now_us() < until + 5000000);
			sleep_ms(1);
		}
	}
	CHECK(now_us() >= until);
	aux.pos = aux_head(&aux);
	aux.next = count_of(fd);
	aux_release(&aux);
	run_and_leave_open(fd);
	wait_for_end(aux.pos);
	aux_read(&aux);
	CHECK(aux.kept > 0);
	CHECK_EQ(aux.gaps, 0);
}

static void an_event_may_go_with_its_transaction_open(void)
{
	for (int i = 0; i < 10; i++) {
		int fd;

		if (!open_late(&fd))
			return;
		run_and_leave_open(fd);
		if (i % 2) {
			aux_unmap(&aux);
			close(fd);
		} else {
			close(fd);
			aux_unmap(&aux);
		}
	}
	sleep_ms(2 * LATE_US / 1000);
}

/* ---- what cannot be ---- */

static struct perf_event_attr attr_with(const char *field, uint64_t value)
{
	struct perf_event_attr attr = aux_attr();

	aux_field(&attr, field, value);
	return attr;
}

static void expect_refused(const struct perf_event_attr *attr)
{
	CHECK_ERRNO(perf_open(attr, 0, -1, -1, 0), EINVAL);
}

static void expect_accepted(const struct perf_event_attr *attr)
{
	close(open_self(attr));
}

struct range {
	const char *field;
	uint64_t values[12];
	size_t nr;
};

#define RANGE(name, ...)                                                      \
	{ name, { __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8 }

static void values_that_cannot_be(void)
{
	static const struct range ranges[] = {
		RANGE("chunk", 1, 2, 4, 7, 9, 12, 0xffffffff),
		RANGE("burst", 1, 4, 7, 9, 1001, 0xffffffff),
		RANGE("align", 1, 2, 13, 14, 15),
		RANGE("overrun", 3),
		RANGE("raise", 0x2, 0x3, 0x10, 0x20, 0x40, 0x80, 0xff, 0xffff),
		RANGE("late_end", 1),
	};

	for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
		for (size_t j = 0; j < ranges[i].nr; j++) {
			struct perf_event_attr attr =
				attr_with(ranges[i].field, ranges[i].values[j]);

			expect_refused(&attr);
		}
}

static void values_that_can_be(void)
{
	static const struct range ranges[] = {
		RANGE("rate", 0, 1, 7, 1ULL << 34, (1ULL << 35) - 1),
		RANGE("chunk", 0, 8, 1000, 0xfffffff8),
		RANGE("burst", 0, 8, 1000, 0xfffffff8),
		RANGE("align", 0, 3, 4, 11, 12),
		RANGE("overrun", 0, 1, 2),
		RANGE("raise", 0, 0x1, 0x4, 0x8, 0xd, 0x100, 0xff00, 0xff0d),
		RANGE("fail_setup", 0, 1, 15),
		RANGE("fail_begin", 0, 1, 4095),
		RANGE("slow_stop", 0, 1, 65535),
		RANGE("hw_id", 0, 1),
		RANGE("drop", 0, 1, 65535),
		RANGE("id", 0, 1, 1023),
	};

	for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
		for (size_t j = 0; j < ranges[i].nr; j++) {
			struct perf_event_attr attr =
				attr_with(ranges[i].field, ranges[i].values[j]);

			expect_accepted(&attr);
		}
}

/* Each bit by itself, against what sysfs says of the fields. */
static void bits_of_no_field(void)
{
	static const char *const fields[] = {
		"rate", "overrun", "raise", "chunk", "burst", "fail_setup",
		"fail_begin", "slow_stop", "late_end", "hw_id", "align", "drop",
		"id", "strict",
	};
	struct perf_event_attr known = aux_attr();
	unsigned int unknown = 0;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		for (int bit = 0; bit < 64; bit++) {
			char file[64], text[64];
			int first, last;

			snprintf(file, sizeof(file), "format/%s", fields[i]);
			CHECK(pmu_file("aux_test", file, text, sizeof(text)));
			CHECK(strchr(text, ':'));
			if (sscanf(strchr(text, ':') + 1, "%d-%d", &first,
				   &last) != 2)
				last = first;
			if (bit <= last - first)
				aux_field(&known, fields[i], 1ULL << bit);
		}
	for (int bit = 0; bit < 64; bit++) {
		__u64 masks[] = { known.config, known.config1, known.config2, 0 };

		for (size_t word = 0; word < ARRAY_LEN(masks); word++) {
			struct perf_event_attr attr = aux_attr();
			__u64 *words[] = { &attr.config, &attr.config1,
					   &attr.config2, &attr.config3 };

			if (masks[word] >> bit & 1)
				continue;
			*words[word] = 1ULL << bit;
			expect_refused(&attr);
			unknown++;
		}
	}
	CHECK(unknown >= 64 + 10); /* all of config3, and a hole in config */
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(a_set_up_that_fails_leaves_nothing),
		CASE(it_may_fail_again_and_again),
		CASE(one_piece_or_none),
		CASE(a_start_that_fails_writes_nothing),
		CASE(a_restart_that_fails_ends_the_run),
		CASE(a_slow_stop_goes_on_writing),
		CASE(munmap_waits_for_a_slow_stop),
		CASE(a_late_end_publishes_late),
		CASE(who_starts_again_ends_it_first),
		CASE(another_event_has_to_wait),
		CASE(an_area_outlives_its_mapping),
		CASE(an_event_may_go_with_its_transaction_open),
		CASE(values_that_cannot_be),
		CASE(values_that_can_be),
		CASE(bits_of_no_field),
	};

	return run_locked_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
