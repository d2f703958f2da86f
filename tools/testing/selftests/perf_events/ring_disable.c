// SPDX-License-Identifier: GPL-2.0
/*
 * An event that is off writes nothing, whatever its task does; on again, it
 * goes on where it was.
 */
#include "perf_ring_task.h"

#include <fcntl.h>

#define SAMPLE_RATE "/proc/sys/kernel/perf_event_max_sample_rate"

/* Every kind of record that tells what a task does. */
static struct perf_event_attr chatty_attr(void)
{
	struct perf_event_attr attr = comm_attr();

	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.mmap_data = 1;
	attr.task = 1;
	attr.context_switch = 1;
	return attr;
}

static void nothing(void *unused)
{
	(void)unused;
}

static void do_all_that_is_told_of(void)
{
	void *page;

	rename_task(1);
	page = mmap(NULL, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	CHECK(page != MAP_FAILED);
	CHECK(!munmap(page, page_size()));
	join_child(start_child(nothing, NULL));
	give_way();
}

static void expect_kinds(struct ring *ring)
{
	static const uint32_t kinds[] = { PERF_RECORD_COMM, PERF_RECORD_MMAP2,
					  PERF_RECORD_FORK,
					  PERF_RECORD_SWITCH };
	uint32_t seen = 0;

	while (ring_next(ring))
		seen |= 1u << ring->record.header.type;
	ring_release(ring);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		CHECK(seen & 1u << kinds[i]);
}

static void disabled_event_is_silent(void)
{
	struct perf_event_attr attr = chatty_attr();
	struct ring ring;
	int fd;

	attr.read_format = PERF_FORMAT_LOST;
	fd = open_self(&attr);
	ring_map(&ring, fd, 4);
	for (int round = 0; round < 10; round++) {
		uint64_t head;

		do_all_that_is_told_of();
		expect_kinds(&ring);
		disable(fd);
		head = ring_head(&ring);
		for (int i = 0; i < 5; i++)
			do_all_that_is_told_of();
		CHECK_EQ(ring_head(&ring), head);
		enable(fd);
		CHECK_EQ(lost_of(fd), 0);
		ring.pos = ring_head(&ring);
	}
}

static void event_may_start_silent(void)
{
	struct perf_event_attr attr = chatty_attr();
	struct ring ring;
	int fd;

	attr.disabled = 1;
	fd = open_self(&attr);
	ring_map(&ring, fd, 4);
	do_all_that_is_told_of();
	CHECK_EQ(ring_head(&ring), 0);
	enable(fd);
	do_all_that_is_told_of();
	expect_kinds(&ring);
}

static void prctl_silences_all_own_events(void)
{
	struct ring rings[2];

	for (int i = 0; i < 2; i++)
		ring_map(&rings[i], open_comm(), 1);
	CHECK(!prctl(PR_TASK_PERF_EVENTS_DISABLE));
	rename_tasks(0, 10);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(ring_head(&rings[i]), 0);
	CHECK(!prctl(PR_TASK_PERF_EVENTS_ENABLE));
	rename_task(1);
	for (int i = 0; i < 2; i++)
		expect_comm(&rings[i], 1);
}

static void group_flag_silences_the_group(void)
{
	struct perf_event_attr attr = comm_attr();
	int leader = open_self(&attr);
	int sibling = perf_open(&attr, 0, -1, leader, 0);
	struct ring leaders, siblings;

	CHECK(sibling >= 0);
	ring_map(&leaders, leader, 1);
	ring_map(&siblings, sibling, 1);
	CHECK(!ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	rename_tasks(0, 10);
	CHECK_EQ(ring_head(&leaders), 0);
	CHECK_EQ(ring_head(&siblings), 0);
	CHECK(!ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
	rename_task(1);
	expect_comm(&leaders, 1);
	expect_comm(&siblings, 1);
}

/* The leader alone: its members stop counting, and still tell of their task. */
static void leader_silences_only_its_samples(void)
{
	struct perf_event_attr attr = fault_attr();
	struct fault_area area = fault_area(10);
	struct ring leaders, siblings;
	int leader, sibling;

	attr.comm = 1;
	attr.disabled = 0;
	leader = open_self(&attr);
	sibling = perf_open(&attr, 0, -1, leader, 0);
	CHECK(sibling >= 0);
	ring_map(&leaders, leader, 1);
	ring_map(&siblings, sibling, 1);
	disable(leader);
	ring_drain(&leaders);
	ring_drain(&siblings);
	fault_again(&area);
	touch_pages(&area, 10);
	rename_task(5);
	expect_end(&leaders);
	expect_comm(&siblings, 5);
	expect_end(&siblings);
}

static void samples_stop_and_go_exactly(void)
{
	struct perf_event_attr attr = fault_attr();
	struct fault_area area = fault_area(20);
	struct ring ring;
	int fd = open_self(&attr);

	ring_map(&ring, fd, 1);
	for (unsigned int round = 1; round <= 50; round++) {
		sample_faults(fd, &area, 20);
		fault_again(&area);
		touch_pages(&area, 20);
		CHECK_EQ(ring_drain(&ring), 20);
		CHECK_EQ(count_of(fd), 20 * round);
	}
}

/* What is being written at that moment is finished, nothing more is begun. */
static void one_record_at_most_is_under_way(void)
{
	struct perf_event_attr attr = comm_attr();
	pid_t writer = start_renamer();
	int fd = open_on(&attr, writer, -1);
	struct ring ring;

	ring_map_as(&ring, fd, 4, PROT_READ);
	for (int round = 0; round < 50; round++) {
		uint64_t before = ring_head(&ring), head;

		while (ring_head(&ring) == before)
			usleep(100);
		disable(fd);
		head = ring_head(&ring);
		let_renamer_finish(writer);
		CHECK(ring_head(&ring) - head <= COMM_RECORD);
		head = ring_head(&ring);
		usleep(1000);
		CHECK_EQ(ring_head(&ring), head);
		enable(fd);
	}
	CHECK(!kill(writer, SIGKILL));
}

static void rename_and_exec(void)
{
	rename_tasks(0, 10);
	execl("/proc/self/exe", "ring_disable", "--after-exec", NULL);
	FAIL("exec: %s", strerror(errno));
}

static int after_exec(void)
{
	rename_task(77);
	return 0;
}

static void exec_may_end_the_silence(void)
{
	struct sleeping_task task = start_sleeping(rename_and_exec);
	struct perf_event_attr attr = comm_attr();
	struct ring ring;

	attr.disabled = 1;
	attr.enable_on_exec = 1;
	ring_map(&ring, open_on(&attr, task.pid, -1), 1);
	end_task(&task);
	expect_type(&ring, PERF_RECORD_COMM);
	CHECK_EQ(ring.record.header.misc, PERF_RECORD_MISC_COMM_EXEC);
	CHECK(!strcmp(ring.record.comm.comm, "exe"));
	expect_type(&ring, PERF_RECORD_COMM);
	CHECK_EQ(atoi(ring.record.comm.comm), 77);
	expect_type(&ring, PERF_RECORD_EXIT);
	expect_end(&ring);
}

/* Runs on until the event was stopped and started again so many times. */
static void spin_until_throttled(struct ring *ring, unsigned int times)
{
	unsigned int seen = 0;

	while (seen < times) {
		while (ring_next(ring))
			seen += ring->record.header.type ==
				PERF_RECORD_UNTHROTTLE;
		ring_release(ring);
	}
}

/* A leader that is throttled and started again starts nobody who is off. */
static void throttling_starts_no_silent_member(void)
{
	struct perf_event_attr attr = software_attr(PERF_COUNT_SW_CPU_CLOCK);
	struct fault_area area = fault_area(32);
	int leader, sibling;
	struct ring ring;

	attr.exclude_kernel = 0;
	attr.sample_period = 20000;
	leader = open_self(&attr);
	attr = fault_attr(); /* off */
	sibling = perf_open(&attr, 0, -1, leader, 0);
	CHECK(sibling >= 0);
	ring_map(&ring, leader, 8);
	if (!sysctl_set(SAMPLE_RATE, 1))
		SKIP("has to set %s: run as root", SAMPLE_RATE);
	for (int round = 0; round < 5; round++) {
		spin_until_throttled(&ring, 3);
		fault_again(&area);
		touch_pages(&area, 32);
		CHECK_EQ(count_of(sibling), 0);
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(disabled_event_is_silent),
		CASE(event_may_start_silent),
		CASE(prctl_silences_all_own_events),
		CASE(group_flag_silences_the_group),
		CASE(leader_silences_only_its_samples),
		CASE(samples_stop_and_go_exactly),
		CASE(one_record_at_most_is_under_way),
		CASE(exec_may_end_the_silence),
		CASE(throttling_starts_no_silent_member),
	};

	int rate, result;

	if (argc == 2 && !strcmp(argv[1], "--after-exec"))
		return after_exec();
	if (!sysctl_get(SAMPLE_RATE, &rate))
		rate = 0;
	result = run_cases(cases, ARRAY_LEN(cases), argv + 1);
	if (rate)
		sysctl_set(SAMPLE_RATE, rate);
	return result;
}
