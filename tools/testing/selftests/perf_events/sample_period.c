// SPDX-License-Identifier: GPL-2.0
/*
 * How often an event samples: the period to the single fault, changes of it,
 * frequencies, limits, throttling, and what is not counted at all.
 */
#include "perf_ring_sample.h"

#define SAMPLE_RATE "/proc/sys/kernel/perf_event_max_sample_rate"
#define AREA_PAGES 600

static struct perf_event_attr attr;
static struct fault_area area;
static struct ring ring;
static struct sample sample;
static size_t page; /* the next one to fault */
static int fd;

static void set_up(void)
{
	touch_stack();
	area = fault_area(AREA_PAGES);
	page = AREA_PAGES;
	attr = fault_attr();
}

static void open_ring(void)
{
	fd = open_self(&attr);
	ring_map(&ring, fd, 64);
	ring_touch(&ring);
}

static void close_ring(void)
{
	ring_unmap(&ring);
	close(fd);
}

/* So many pages fault, from the start of the area. */
static void fault_from_start(size_t nr)
{
	fault_again(&area);
	for (page = 0; page < nr; page++)
		fault_on(page_of(&area, page));
}

static void fault_more(size_t nr)
{
	for (size_t end = page + nr; page < end; page++)
		fault_on(page_of(&area, page));
}

/* The next sample is of the fault of this number, which starts at 1. */
static void expect_fault(size_t nr)
{
	expect_sample(&ring, &sample, &attr);
	CHECK_EQ(sample.addr, page_of(&area, nr - 1));
}

static int set_period(uint64_t period)
{
	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
}

/* ---- fixed periods ---- */

static void each_nth_fault_is_sampled(void)
{
	set_up();
	for (uint64_t period = 1; period <= 40; period++) {
		size_t faults = 500 + period / 2;

		attr.sample_period = period;
		open_ring();
		enable(fd);
		fault_from_start(faults);
		disable(fd);
		for (size_t nr = period; nr <= faults; nr += period)
			expect_fault(nr);
		expect_end(&ring);
		CHECK_EQ(count_of(fd), faults);
		close_ring();
	}
}

/* What is left of a period is kept while the event is off. */
static void a_period_goes_on_after_a_break(void)
{
	set_up();
	attr.sample_period = 7;
	open_ring();
	fault_again(&area);
	page = 0;
	for (size_t nr = 0; page < 500; nr = (nr + 1) % 5) {
		enable(fd);
		fault_more(nr);
		disable(fd);
	}
	for (size_t nr = 7; nr <= page; nr += 7)
		expect_fault(nr);
	expect_end(&ring);
}

/* Periods in samples add up to what has been counted. */
static void periods_add_up(void)
{
	set_up();
	attr.sample_type |= PERF_SAMPLE_PERIOD;
	for (uint64_t period = 1; period <= 10; period++) {
		size_t faults = 50 * period;
		uint64_t sum = 0;

		attr.sample_period = period;
		open_ring();
		enable(fd);
		fault_from_start(faults);
		disable(fd);
		while (ring_head(&ring) != ring.pos) {
			expect_sample(&ring, &sample, &attr);
			sum += sample.period;
			CHECK_EQ(sample.addr, page_of(&area, sum - 1));
		}
		CHECK_EQ(sum, faults);
		close_ring();
	}
}

static void the_longest_period_gives_none(void)
{
	set_up();
	attr.sample_period = (1ULL << 63) - 1;
	open_ring();
	enable(fd);
	fault_from_start(AREA_PAGES);
	disable(fd);
	expect_end(&ring);
	CHECK_EQ(count_of(fd), AREA_PAGES);
}

/* ---- a new period ---- */

static void a_new_period_starts_when_the_event_does(void)
{
	static const uint64_t periods[] = { 10, 3, 1, 50, 7, 7, 2 };

	set_up();
	attr.sample_period = 100;
	open_ring();
	for (size_t i = 0; i < ARRAY_LEN(periods); i++) {
		enable(fd);
		fault_from_start(periods[i] > 1); /* one, of the old period */
		disable(fd);
		ring_drain(&ring);
		CHECK(!set_period(periods[i]));
		enable(fd);
		fault_from_start(200);
		disable(fd);
		for (size_t nr = periods[i]; nr <= 200; nr += periods[i])
			expect_fault(nr);
		expect_end(&ring);
		ring_release(&ring);
	}
}

/* A running event may sample at once; then it keeps to the new period. */
static void a_running_event_takes_a_new_period(void)
{
	set_up();
	attr.sample_period = 100;
	for (uint64_t period = 2; period < 40; period++) {
		size_t nr = period;

		open_ring();
		enable(fd);
		fault_from_start(30);
		CHECK(!set_period(period));
		fault_from_start(400);
		disable(fd);
		expect_sample(&ring, &sample, &attr);
		if (sample.addr != (uintptr_t)page_of(&area, nr - 1)) {
			CHECK_EQ(sample.addr, page_of(&area, 0));
			expect_sample(&ring, &sample, &attr);
		}
		if (sample.addr == (uintptr_t)page_of(&area, 99))
			BASE_DEFECT("a new period waits until the old one has passed once more");
		CHECK_EQ(sample.addr, page_of(&area, nr - 1));
		while ((nr += period) <= 400)
			expect_fault(nr);
		expect_end(&ring);
		close_ring();
	}
}

static void periods_that_cannot_be_are_refused(void)
{
	set_up();
	open_ring();
	CHECK_ERRNO(set_period(0), EINVAL);
	CHECK_ERRNO(set_period(1ULL << 63), EINVAL);
	CHECK_ERRNO(set_period(~0ULL), EINVAL);
	CHECK_ERRNO(ioctl(fd, PERF_EVENT_IOC_PERIOD, NULL), EFAULT);
	CHECK(!set_period((1ULL << 63) - 1));
	attr.sample_period = 1ULL << 63;
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	attr.sample_period = 0; /* it counts, and has no period to change */
	fd = open_self(&attr);
	CHECK_ERRNO(set_period(5), EINVAL);
}

/* ---- frequencies ---- */

/* Faults for as long as it takes: the kernel looks for the period itself. */
static void frequencies_go_on_giving_samples(void)
{
	static const uint64_t frequencies[] = { 1000, 4000, 10000 };

	set_up();
	attr.freq = 1;
	attr.sample_type |= PERF_SAMPLE_PERIOD;
	for (size_t i = 0; i < ARRAY_LEN(frequencies); i++) {
		unsigned int samples = 0;

		attr.sample_freq = frequencies[i];
		open_ring();
		enable(fd);
		while (samples < 30) {
			fault_from_start(AREA_PAGES);
			while (ring_next(&ring)) {
				if (ring.record.header.type !=
				    PERF_RECORD_SAMPLE)
					continue;
				take_sample(&ring, &sample, &attr);
				CHECK(sample.period);
				samples++;
			}
			ring_release(&ring);
		}
		close_ring();
	}
}

static void frequencies_end_at_the_limit(void)
{
	int rate;

	set_up();
	CHECK(sysctl_get(SAMPLE_RATE, &rate));
	attr.freq = 1;
	attr.sample_freq = (uint64_t)rate + 1;
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	attr.sample_freq = 1ULL << 63;
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	attr.sample_freq = (uint64_t)rate;
	fd = open_self(&attr);
	CHECK_ERRNO(set_period((uint64_t)rate + 1), EINVAL);
	CHECK_ERRNO(set_period(0), EINVAL);
	CHECK(!set_period(1));
}

/* ---- limits ---- */

/* A limit counts samples, not what is counted between them. */
static void refresh_is_so_many_samples(void)
{
	set_up();
	attr.sample_period = 6;
	open_ring();
	for (size_t nr = 1; nr < 50; nr++) {
		uint64_t count = count_of(fd);

		CHECK(!ioctl(fd, PERF_EVENT_IOC_REFRESH, nr));
		fault_from_start(400);
		for (size_t i = 1; i <= nr; i++)
			expect_fault(6 * i);
		expect_end(&ring);
		ring_release(&ring);
		CHECK_EQ(count_of(fd) - count, 6 * nr);
	}
}

/* THROTTLE and UNTHROTTLE in turns, for as long as the task runs. */
static void expect_many_throttles(void)
{
	struct perf_event_attr clock = software_attr(PERF_COUNT_SW_TASK_CLOCK);
	unsigned int throttles = 0;
	uint64_t last = 0;

	clock.sample_period = 10000;
	clock.disabled = 1;
	attr = clock;
	open_ring();
	enable(fd);
	while (throttles < 40) {
		while (ring_next(&ring)) {
			uint32_t type = ring.record.header.type;

			if (type == PERF_RECORD_SAMPLE)
				continue;
			CHECK_EQ(type, throttles % 2 ? PERF_RECORD_UNTHROTTLE :
						       PERF_RECORD_THROTTLE);
			CHECK_EQ(ring.record.header.misc, 0);
			CHECK_EQ(ring.record.header.size, 32);
			CHECK(ring.record.words[1] >= last);
			CHECK_EQ(ring.record.words[2], event_id(fd));
			CHECK_EQ(ring.record.words[3], event_id(fd));
			last = ring.record.words[1];
			throttles++;
		}
		ring_release(&ring);
	}
}

static void run_throttling(void *arg)
{
	(void)arg;
	expect_many_throttles();
}

static void what_is_throttled_goes_on(void)
{
	int rate, status;
	pid_t pid;

	if (!sysctl_get(SAMPLE_RATE, &rate) || !sysctl_set(SAMPLE_RATE, 1000))
		SKIP("the rate of samples cannot be limited");
	pid = start_child(run_throttling, NULL);
	CHECK(waitpid(pid, &status, 0) == pid);
	sysctl_set(SAMPLE_RATE, rate);
	CHECK_EQ(status, 0);
}

/* ---- what is left out ---- */

/* User code touches 3 pages, the kernel for it 2. */
static void faults_with(bool user, bool kernel)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	CHECK(zero >= 0);
	attr.exclude_user = !user;
	attr.exclude_kernel = !kernel;
	open_ring();
	enable(fd);
	fault_from_start(3);
	CHECK_EQ(read(zero, (void *)page_of(&area, 3), 8), 8);
	CHECK_EQ(read(zero, (void *)page_of(&area, 4), 8), 8);
	disable(fd);
	for (size_t nr = 1; user && nr <= 3; nr++) {
		expect_fault(nr);
		CHECK_EQ(ring.record.header.misc, PERF_RECORD_MISC_USER);
	}
	for (size_t nr = 4; kernel && nr <= 5; nr++) {
		expect_fault(nr);
		CHECK_EQ(ring.record.header.misc, PERF_RECORD_MISC_KERNEL);
	}
	expect_end(&ring);
	CHECK_EQ(count_of(fd), (user ? 3 : 0) + (kernel ? 2 : 0));
	close_ring();
	close(zero);
}

static void excluded_code_is_neither_sampled_nor_counted(void)
{
	set_up();
	faults_with(true, true);
	faults_with(true, false);
	faults_with(false, true);
	faults_with(false, false);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(each_nth_fault_is_sampled),
		CASE(a_period_goes_on_after_a_break),
		CASE(periods_add_up),
		CASE(the_longest_period_gives_none),
		CASE(a_new_period_starts_when_the_event_does),
		CASE(a_running_event_takes_a_new_period),
		CASE(periods_that_cannot_be_are_refused),
		CASE(frequencies_go_on_giving_samples),
		CASE(frequencies_end_at_the_limit),
		CASE(refresh_is_so_many_samples),
		CASE(what_is_throttled_goes_on),
		CASE(excluded_code_is_neither_sampled_nor_counted),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
