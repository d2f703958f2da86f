// SPDX-License-Identifier: GPL-2.0
/*
 * Events that children and threads inherit: whose samples come into the ring of
 * the parent, and whose counts they take along.
 */
#include "perf_ring_read.h"

#include <pthread.h>
#include <sched.h>

static struct ring ring;
static struct fault_area area;

static void pin_to_first_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set));
}

static struct perf_event_attr inherited_attr(void)
{
	struct perf_event_attr attr = minor_fault_attr(
		PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID);

	attr.inherit = 1;
	return attr;
}

static int open_inherited(const struct perf_event_attr *attr)
{
	int fd;

	pin_to_first_cpu(); /* only an event of one CPU may be inherited and map */
	touch_stack();
	fd = open_on(attr, 0, 0);
	ring_map(&ring, fd, 64);
	ring_touch(&ring);
	area = fault_area(32);
	fault_again(&area);
	return fd;
}

static bool in_area(uint64_t addr)
{
	return addr >= (uintptr_t)area.base &&
	       addr < (uintptr_t)area.base + area.pages * page_size();
}

/* How many samples in the area are of this task; others are not counted. */
struct seen {
	pid_t pid, tid;
	unsigned int nr;
};

static void count_samples(const struct perf_event_attr *attr,
			  struct seen *seen, size_t nr_seen)
{
	struct sample s;

	while (ring_head(&ring) != ring.pos) {
		expect_sample(&ring, &s, attr);
		for (size_t i = 0; in_area(s.addr) && i < nr_seen; i++)
			seen[i].nr += (uint32_t)seen[i].pid == s.pid &&
				      (uint32_t)seen[i].tid == s.tid;
	}
	ring_release(&ring);
}

static void fault_pages(size_t from, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		fault_on(page_of(&area, from + i));
}

/* ---- who inherits ---- */

static void fault_in_child(void *arg)
{
	fault_pages((uintptr_t)arg, 5);
}

static void run_child(struct seen *seen)
{
	seen->pid = start_child(fault_in_child, (void *)20);
	seen->tid = seen->pid;
	join_child(seen->pid);
}

static void fault_in_grandchild(void *arg)
{
	join_child(start_child(fault_in_child, arg));
}

static void *fault_in_thread(void *tid)
{
	*(pid_t *)tid = gettid();
	fault_pages(10, 7);
	return NULL;
}

static pid_t run_thread(void)
{
	pthread_t thread;
	pid_t tid;

	CHECK(!pthread_create(&thread, NULL, fault_in_thread, &tid));
	CHECK(!pthread_join(thread, NULL));
	return tid;
}

static void children_write_into_the_ring_of_the_parent(void)
{
	struct perf_event_attr attr = inherited_attr();
	int fd = open_inherited(&attr);
	struct seen seen[2] = { { getpid(), gettid(), 0 } };

	enable(fd);
	fault_pages(0, 3);
	run_child(&seen[1]);
	disable(fd);
	count_samples(&attr, seen, 2);
	CHECK_EQ(seen[0].nr, 3);
	CHECK_EQ(seen[1].nr, 5);
}

/* Grandchildren count for the event that was opened; so each fault of 5. */
static void grandchildren_do_too(void)
{
	struct perf_event_attr attr = inherited_attr();
	int fd = open_inherited(&attr);
	unsigned int nr = 0;
	struct sample s;

	enable(fd);
	join_child(start_child(fault_in_grandchild, (void *)20));
	disable(fd);
	while (ring_head(&ring) != ring.pos) {
		expect_sample(&ring, &s, &attr);
		CHECK_EQ(s.id, event_id(fd));
		if (in_area(s.addr))
			CHECK_EQ(s.addr, page_of(&area, 20 + nr++));
	}
	CHECK_EQ(nr, 5);
}

static void threads_do_too(void)
{
	struct perf_event_attr attr = inherited_attr();
	int fd = open_inherited(&attr);
	struct seen seen = { .pid = getpid() };

	enable(fd);
	seen.tid = run_thread();
	disable(fd);
	count_samples(&attr, &seen, 1);
	CHECK_EQ(seen.nr, 7);
}

static void without_inherit_nobody_does(void)
{
	struct perf_event_attr attr = inherited_attr();
	struct seen seen[3] = { { getpid(), gettid(), 0 } };
	int fd;

	attr.inherit = 0;
	fd = open_inherited(&attr);
	enable(fd);
	fault_pages(0, 3);
	run_child(&seen[1]);
	seen[2].pid = getpid();
	seen[2].tid = run_thread();
	disable(fd);
	count_samples(&attr, seen, 3);
	CHECK_EQ(seen[0].nr, 3);
	CHECK_EQ(seen[1].nr, 0);
	CHECK_EQ(seen[2].nr, 0);
}

static void inherit_thread_leaves_processes_out(void)
{
	struct perf_event_attr attr = inherited_attr();
	struct seen seen[2] = { { 0 } };
	int fd;

	attr.inherit_thread = 1;
	fd = open_inherited(&attr);
	enable(fd);
	run_child(&seen[0]);
	seen[1].pid = getpid();
	seen[1].tid = run_thread();
	disable(fd);
	count_samples(&attr, seen, 2);
	CHECK_EQ(seen[0].nr, 0);
	CHECK_EQ(seen[1].nr, 7);
	attr.inherit = 0;
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
}

/* A disabled event is inherited, and enabled with its parent. */
static void enabling_reaches_the_children(void)
{
	struct perf_event_attr attr = inherited_attr();
	int fd = open_inherited(&attr);
	struct seen seen = { 0 };
	int ends[2];
	char byte;

	CHECK(!pipe(ends));
	seen.pid = fork();
	CHECK(seen.pid >= 0);
	seen.tid = seen.pid;
	if (!seen.pid) {
		CHECK_EQ(read(ends[0], &byte, 1), 1);
		fault_pages(20, 5);
		_exit(0);
	}
	enable(fd);
	CHECK_EQ(write(ends[1], "x", 1), 1);
	join_child(seen.pid);
	count_samples(&attr, &seen, 1);
	CHECK_EQ(seen.nr, 5);
}

/* ---- counts ---- */

static void counts_in_samples_need_the_tid(void)
{
	struct perf_event_attr attr = inherited_attr();

	attr.sample_type = PERF_SAMPLE_READ;
	CHECK_ERRNO(perf_open(&attr, 0, 0, -1, 0), EINVAL);
	attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_CPU | PERF_SAMPLE_ID;
	CHECK_ERRNO(perf_open(&attr, 0, 0, -1, 0), EINVAL);
	attr.sample_type |= PERF_SAMPLE_TID;
	close(open_on(&attr, 0, 0));
	attr.inherit = 0;
	attr.sample_type = PERF_SAMPLE_READ;
	close(open_on(&attr, 0, 0));
}

/* Both inherit or none does. */
static void groups_are_inherited_whole(void)
{
	struct perf_event_attr attr = inherited_attr();
	int heir = open_on(&attr, 0, 0), plain;

	attr.inherit = 0;
	plain = open_on(&attr, 0, 0);
	CHECK_ERRNO(perf_open(&attr, 0, 0, heir, 0), EINVAL);
	attr.inherit = 1;
	CHECK_ERRNO(perf_open(&attr, 0, 0, plain, 0), EINVAL);
	CHECK(perf_open(&attr, 0, 0, heir, 0) >= 0);
}

/* In a sample the count is the task's own; read(2) sums up all of them. */
static void counts_in_samples_are_of_one_task(uint64_t format)
{
	struct perf_event_attr attr = inherited_attr();
	uint64_t mine = 0, others = 0;
	struct values values;
	struct sample s;
	int fd;

	attr.sample_type |= PERF_SAMPLE_READ;
	attr.read_format = format;
	fd = open_inherited(&attr);
	enable(fd);
	fault_pages(0, 3);
	join_child(start_child(fault_in_child, (void *)20));
	fault_pages(3, 3);
	disable(fd);
	while (ring_head(&ring) != ring.pos) {
		bool own;

		expect_sample(&ring, &s, &attr);
		values = values_in_sample(&s, format);
		own = s.pid == (uint32_t)getpid();
		CHECK_EQ(values.nr, 1);
		CHECK_EQ(values.of[0].count, own ? ++mine : ++others);
		if (format & PERF_FORMAT_ID)
			CHECK_EQ(values.of[0].id, event_id(fd));
	}
	CHECK(mine >= 6);
	CHECK(others >= 5);
	values = values_of(fd, format, 1);
	CHECK_EQ(values.of[0].count, mine + others);
	ring_unmap(&ring);
	close(fd);
}

static void counts_in_samples_are_of_one_task_each_format(void)
{
	for (uint64_t format = 0; format <= ALL_FORMATS; format++)
		counts_in_samples_are_of_one_task(format);
}

/* The group that a child inherits is counted and summed up as a whole. */
static void counts_of_groups_are_of_one_task(void)
{
	struct perf_event_attr attr = inherited_attr(), member;
	uint64_t mine = 0, others = 0;
	struct values values;
	struct sample s;
	int fd, second;

	attr.sample_type |= PERF_SAMPLE_READ;
	attr.read_format = ALL_FORMATS;
	fd = open_inherited(&attr);
	member = attr;
	member.config = PERF_COUNT_SW_PAGE_FAULTS;
	member.sample_period = 0;
	member.disabled = 0;
	second = perf_open(&member, 0, 0, fd, PERF_FLAG_FD_CLOEXEC);
	CHECK(second >= 0);
	enable(fd);
	fault_pages(0, 3);
	join_child(start_child(fault_in_child, (void *)20));
	fault_pages(3, 3);
	disable(fd);
	while (ring_head(&ring) != ring.pos) {
		bool own;

		expect_sample(&ring, &s, &attr);
		values = values_in_sample(&s, ALL_FORMATS);
		own = s.pid == (uint32_t)getpid();
		CHECK_EQ(values.nr, 2);
		CHECK_EQ(values.of[0].count, own ? ++mine : ++others);
		CHECK(values.of[1].count >= values.of[0].count);
		CHECK_EQ(values.of[0].id, event_id(fd));
		CHECK_EQ(values.of[1].id, event_id(second));
	}
	CHECK(mine >= 6 && others >= 5);
	values = values_of(fd, ALL_FORMATS, 2);
	CHECK_EQ(values.of[0].count, mine + others);
	CHECK(values.of[1].count >= mine + others);
}

/* ---- the record of a child's count ---- */

static void expect_read_record(pid_t pid, int fd, uint64_t format)
{
	struct values values;
	struct words words;
	uint32_t who[2];

	expect_type(&ring, PERF_RECORD_READ);
	words.next = ring.record.words + 1;
	words.end = ring.record.words + ring.record.header.size / 8;
	take_pair(&words, &who[0], &who[1]);
	CHECK_EQ(who[0], pid);
	CHECK_EQ(who[1], pid);
	values = values_in(words.next, (size_t)(words.end - words.next),
			   format);
	CHECK_EQ(values.nr, 1);
	CHECK(values.of[0].count >= 5);
	if (format & PERF_FORMAT_ID)
		CHECK_EQ(values.of[0].id, event_id(fd));
	CHECK_EQ(values.of[0].lost, 0);
}

static int open_for_read_records(uint64_t format)
{
	struct perf_event_attr attr = inherited_attr();
	int fd;

	attr.sample_period = 0;
	attr.sample_type |= PERF_SAMPLE_READ; /* tasks keep their copies */
	attr.inherit_stat = 1;
	attr.remove_on_exec = 1;
	attr.read_format = format;
	fd = open_inherited(&attr);
	enable(fd);
	return fd;
}

static void fault_and_exec(void *arg)
{
	fault_in_child(arg);
	execl("/bin/true", "true", NULL);
	FAIL("exec of /bin/true: %s", strerror(errno));
}

static void a_child_whose_event_is_removed_leaves_its_count(void)
{
	for (uint64_t format = 0; format <= ALL_FORMATS; format++) {
		int fd = open_for_read_records(format);
		pid_t pid = start_child(fault_and_exec, (void *)20);

		join_child(pid);
		disable(fd);
		expect_read_record(pid, fd, format);
		expect_end(&ring);
		ring_unmap(&ring);
		close(fd);
	}
}

/* Kernels differ in whether it does; what it leaves has to be right. */
static void a_child_that_ends_may_leave_its_count(void)
{
	for (uint64_t format = 0; format <= ALL_FORMATS; format++) {
		int fd = open_for_read_records(format);
		pid_t pid = start_child(fault_in_child, (void *)20);

		join_child(pid);
		disable(fd);
		if (ring_head(&ring) != 0)
			expect_read_record(pid, fd, format);
		expect_end(&ring);
		ring_unmap(&ring);
		close(fd);
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(children_write_into_the_ring_of_the_parent),
		CASE(grandchildren_do_too),
		CASE(threads_do_too),
		CASE(without_inherit_nobody_does),
		CASE(inherit_thread_leaves_processes_out),
		CASE(enabling_reaches_the_children),
		CASE(counts_in_samples_need_the_tid),
		CASE(groups_are_inherited_whole),
		CASE(counts_in_samples_are_of_one_task_each_format),
		CASE(counts_of_groups_are_of_one_task),
		CASE(a_child_whose_event_is_removed_leaves_its_count),
		CASE(a_child_that_ends_may_leave_its_count),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
