// SPDX-License-Identifier: GPL-2.0
/*
 * What the fields of a sample say when the task, its CPU, its memory, its
 * cgroup or the clock are not the usual ones.
 */
#include "perf_ring_sample.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

#define HUGE_PAGES "/proc/sys/vm/nr_hugepages"
#define HUGE_SIZE (2u << 20)

/* One event on the own task, its ring and memory to fault in. */
struct probe {
	struct perf_event_attr attr;
	struct fault_area area;
	struct ring ring;
	struct sample sample;
	int fd;
};

static struct probe probe;

static void probe_with(const struct perf_event_attr *attr)
{
	touch_stack();
	probe.attr = *attr;
	probe.fd = open_self(attr);
	ring_map(&probe.ring, probe.fd, 4);
	probe.area = fault_area(16);
	fault_again(&probe.area);
}

static void probe_fields(uint64_t fields)
{
	struct perf_event_attr attr = minor_fault_attr(fields);

	probe_with(&attr);
}

static const struct sample *sample_of_fault(volatile char *at)
{
	enable(probe.fd);
	fault_on(at);
	disable(probe.fd);
	expect_sample(&probe.ring, &probe.sample, &probe.attr);
	expect_end(&probe.ring);
	ring_release(&probe.ring);
	return &probe.sample;
}

/* ---- time ---- */

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	CHECK(!clock_gettime(clock, &time));
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The kernel reads a clock without its lock: a little off when NTP bends it. */
static void time_is_of_clock(clockid_t clock, uint64_t slack)
{
	struct perf_event_attr attr = minor_fault_attr(PERF_SAMPLE_TIME);
	uint64_t last = 0;

	attr.use_clockid = 1;
	attr.clockid = clock;
	probe_with(&attr);
	for (size_t i = 0; i < 16; i++) {
		uint64_t before = now(clock), time, after;

		time = sample_of_fault(page_of(&probe.area, i))->time;
		after = now(clock);
		CHECK(time + slack >= before && time <= after + slack);
		CHECK(time + slack >= last);
		last = time;
	}
	ring_unmap(&probe.ring);
	close(probe.fd);
}

static void time_is_between_two_clock_reads(void)
{
	time_is_of_clock(CLOCK_MONOTONIC_RAW, 0);
	time_is_of_clock(CLOCK_MONOTONIC, 2000);
	time_is_of_clock(CLOCK_BOOTTIME, 2000);
	time_is_of_clock(CLOCK_REALTIME, 2000);
	time_is_of_clock(CLOCK_TAI, 2000);
}

static void other_clocks_are_refused(void)
{
	static const clockid_t refused[] = {
		CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
		CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, 100, -1,
	};

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct perf_event_attr attr = minor_fault_attr(0);

		attr.use_clockid = 1;
		attr.clockid = refused[i];
		CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
		attr.use_clockid = 0; /* then it is not looked at */
		close(open_self(&attr));
	}
}

static uint64_t time_of_comm(unsigned int seq)
{
	expect_comm(&probe.ring, seq);
	CHECK_EQ(probe.ring.record.header.size, COMM_RECORD + 8);
	return probe.ring.record.words[COMM_RECORD / 8];
}

/* Samples and other records have the same clock. */
static void time_orders_samples_among_records(void)
{
	struct perf_event_attr attr = minor_fault_attr(PERF_SAMPLE_TIME);
	uint64_t last = 0;

	attr.sample_id_all = 1;
	attr.comm = 1;
	probe_with(&attr);
	for (size_t i = 0; i < 16; i++) {
		uint64_t before, after;

		enable(probe.fd);
		rename_task(1);
		fault_on(page_of(&probe.area, i));
		rename_task(2);
		disable(probe.fd);
		before = time_of_comm(1);
		expect_sample(&probe.ring, &probe.sample, &attr);
		after = time_of_comm(2);
		CHECK(last < before);
		CHECK(before < probe.sample.time);
		CHECK(probe.sample.time < after);
		last = after;
	}
}

/* ---- who and where ---- */

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set));
}

static void cpu_is_where_the_task_is(void)
{
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	probe_fields(PERF_SAMPLE_CPU);
	for (int i = 0; i < 16; i++) {
		pin_to(i % nr_cpus);
		CHECK_EQ(sample_of_fault(page_of(&probe.area, (size_t)i))->cpu,
			 i % nr_cpus);
	}
}

static void *fault_in_thread(void *tid)
{
	*(pid_t *)tid = gettid();
	probe_fields(PERF_SAMPLE_TID);
	sample_of_fault(page_of(&probe.area, 0));
	return NULL;
}

static void tid_is_the_thread_and_pid_the_process(void)
{
	pthread_t thread;
	pid_t tid;

	CHECK(!pthread_create(&thread, NULL, fault_in_thread, &tid));
	CHECK(!pthread_join(thread, NULL));
	CHECK(tid != getpid());
	CHECK_EQ(probe.sample.pid, getpid());
	CHECK_EQ(probe.sample.tid, tid);
}

static void fault_in_child(void *arg)
{
	(void)arg;
	fault_on(page_of(&probe.area, 1));
}

/* Both events see the same task, each with its opener's eyes. */
static void in_new_namespace(void *arg)
{
	(void)arg;
	CHECK_EQ(getpid(), 1);
	fault_again(&probe.area);
	probe_fields(PERF_SAMPLE_TID);
	sample_of_fault(page_of(&probe.area, 0));
	CHECK_EQ(probe.sample.pid, 1);
	CHECK_EQ(probe.sample.tid, 1);
}

static void fault_when_told(void)
{
	fault_again(&probe.area);
	fault_on(page_of(&probe.area, 0));
}

static void tid_is_what_the_opener_sees(void)
{
	struct sleeping_task task;

	probe_fields(PERF_SAMPLE_TID);
	if (unshare(CLONE_NEWPID))
		SKIP("unshare(CLONE_NEWPID): %s", strerror(errno));
	task = start_sleeping(fault_when_told); /* number 1 in there */
	ring_unmap(&probe.ring);
	close(probe.fd);
	probe.attr.disabled = 0;
	probe.fd = open_on(&probe.attr, task.pid, -1);
	ring_map(&probe.ring, probe.fd, 4);
	end_task(&task);
	do {
		expect_sample(&probe.ring, &probe.sample, &probe.attr);
		CHECK_EQ(probe.sample.pid, task.pid);
		CHECK_EQ(probe.sample.tid, task.pid);
	} while (ring_head(&probe.ring) != probe.ring.pos);
	CHECK(task.pid != 1);
}

static void own_namespace_has_its_own_numbers(void)
{
	pid_t pid;
	int status;

	if (unshare(CLONE_NEWPID))
		SKIP("unshare(CLONE_NEWPID): %s", strerror(errno));
	pid = start_child(in_new_namespace, NULL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/*
 * ID is the event that was opened, STREAM_ID the copy for the child. Without
 * PERF_SAMPLE_READ two tasks may swap their copies when one follows the other.
 */
static void inherited_events_have_a_stream_of_their_own(void)
{
	struct perf_event_attr attr = minor_fault_attr(
		PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_READ);
	unsigned int from_child = 0;
	struct sample s;
	uint64_t id;

	attr.inherit = 1;
	pin_to(0);
	probe.fd = open_on(&attr, 0, 0);
	id = event_id(probe.fd);
	ring_map(&probe.ring, probe.fd, 16);
	probe.area = fault_area(16);
	fault_again(&probe.area);
	enable(probe.fd);
	fault_on(page_of(&probe.area, 0));
	join_child(start_child(fault_in_child, NULL));
	disable(probe.fd);
	while (ring_head(&probe.ring) != probe.ring.pos) {
		expect_sample(&probe.ring, &s, &attr);
		CHECK_EQ(s.id, id);
		CHECK_EQ(s.identifier, id);
		CHECK_EQ(s.stream_id == id, s.pid == (uint32_t)getpid());
		from_child += s.pid != (uint32_t)getpid();
	}
	CHECK(from_child);
}

/* ---- memory ---- */

/* The event comes first, then the page: nothing is known of it yet. */
static void a_page_that_is_not_there_has_no_place(void)
{
	struct perf_event_attr attr = fault_attr();
	const struct sample *s;

	attr.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR |
			   PERF_SAMPLE_DATA_PAGE_SIZE;
	probe_with(&attr);
	s = sample_of_fault(page_of(&probe.area, 3) + 5);
	CHECK_EQ(s->addr, page_of(&probe.area, 3) + 5);
	CHECK_EQ(s->phys_addr, 0);
	CHECK_EQ(s->data_page_size, 0);
}

/* A write to the page of zeroes: mapped, but no page that anyone can hold. */
static void the_page_of_zeroes_has_a_size_and_no_place(void)
{
	struct perf_event_attr attr = fault_attr();
	const struct sample *s;
	volatile char *at;

	attr.sample_type = PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE;
	probe_with(&attr);
	at = page_of(&probe.area, 3);
	(void)*at;
	s = sample_of_fault(at);
	CHECK_EQ(s->phys_addr, 0);
	CHECK_EQ(s->data_page_size, page_size());
}

/* A write to a page that a child shares: it is there, until it is copied. */
static void a_page_that_is_copied_has_its_old_place(void)
{
	struct perf_event_attr attr = fault_attr();
	struct sleeping_task child;
	volatile char *at;
	uint64_t shared;

	attr.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR |
			   PERF_SAMPLE_DATA_PAGE_SIZE;
	probe_with(&attr);
	at = page_of(&probe.area, 3) + 4095;
	*at = 1;
	shared = physical_address(at);
	child = start_sleeping(NULL);
	enable(probe.fd);
	fault_on(at);
	disable(probe.fd);
	do /* the stack is copied, too */
		expect_sample(&probe.ring, &probe.sample, &attr);
	while (probe.sample.addr != (uintptr_t)at);
	CHECK_EQ(probe.sample.phys_addr, shared);
	CHECK_EQ(probe.sample.data_page_size, page_size());
	CHECK(physical_address(at) != shared);
	end_task(&child);
}

/* The page is ours once it is mapped: the pool has its old size at once. */
static volatile char *map_huge_page(void)
{
	void *at;
	int pages;

	if (!sysctl_get(HUGE_PAGES, &pages) || !sysctl_set(HUGE_PAGES, pages + 1))
		SKIP("no huge pages");
	at = mmap(NULL, HUGE_SIZE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	sysctl_set(HUGE_PAGES, pages);
	if (at == MAP_FAILED)
		SKIP("mmap of a huge page: %s", strerror(errno));
	return at;
}

static void huge_pages_have_their_size(void)
{
	const struct sample *s;
	volatile char *at;

	probe_fields(PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR |
		     PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE);
	at = map_huge_page() + 0x123456;
	s = sample_of_fault(at);
	CHECK_EQ(s->data_page_size, HUGE_SIZE);
	CHECK_EQ(s->phys_addr, physical_address(at));
	CHECK_EQ(s->phys_addr % HUGE_SIZE, 0x123456);
	CHECK_EQ(s->code_page_size, page_size());
}

/* ---- kernel and user code ---- */

static void faults_of_the_kernel_are_its_own(void)
{
	struct perf_event_attr attr = minor_fault_attr(
		PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR);
	int zero = open("/dev/zero", O_RDONLY);
	volatile char *at;

	CHECK(zero >= 0);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	probe_with(&attr);
	at = page_of(&probe.area, 7) + 16;
	enable(probe.fd);
	fault_on(page_of(&probe.area, 6)); /* not the kernel's */
	CHECK_EQ(read(zero, (void *)at, 8), 8);
	disable(probe.fd);
	expect_sample(&probe.ring, &probe.sample, &attr);
	CHECK_EQ(probe.ring.record.header.misc, PERF_RECORD_MISC_KERNEL);
	CHECK(probe.sample.ip >> 63);
	CHECK_EQ(probe.sample.addr, at);
	CHECK_EQ(probe.sample.phys_addr, physical_address(at));
	expect_end(&probe.ring);
}

/* ---- cgroups ---- */

static uint64_t make_cgroup(const char *path)
{
	struct stat stat;

	CHECK(!mkdir(path, 0755));
	CHECK(!lstat(path, &stat));
	return stat.st_ino;
}

static void move_to_cgroup(const char *path)
{
	char file[128];
	int fd;

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	fd = open(file, O_WRONLY);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, "0", 1), 1);
	close(fd);
}

/*
 * A hierarchy of its own for perf_event, as cgroup2 does not tell tasks apart
 * for it before something else has been switched on or off there.
 */
static bool mount_cgroups(const char *at)
{
	return !unshare(CLONE_NEWNS) &&
	       !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       (!mount("none", at, "cgroup", 0, "perf_event") ||
		!mount("none", at, "cgroup2", 0, NULL));
}

static void cgroup_is_where_the_task_is(void)
{
	char top[] = "/tmp/cgroup-XXXXXX", one[64], two[64];
	uint64_t id[2];

	CHECK(mkdtemp(top));
	if (!mount_cgroups(top))
		SKIP("no mount of cgroups: %s", strerror(errno));
	snprintf(one, sizeof(one), "%s/perf-%d-1", top, getpid());
	snprintf(two, sizeof(two), "%s/perf-%d-2", top, getpid());
	id[0] = make_cgroup(one);
	id[1] = make_cgroup(two);
	probe_fields(PERF_SAMPLE_CGROUP);
	for (size_t i = 0; i < 16; i++) {
		move_to_cgroup(i % 2 ? two : one);
		sample_of_fault(page_of(&probe.area, i));
		if (probe.sample.cgroup != id[i % 2])
			break;
	}
	move_to_cgroup(top);
	rmdir(one);
	rmdir(two);
	umount(top);
	rmdir(top);
	CHECK_EQ(probe.sample.cgroup, id[1]);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(time_is_between_two_clock_reads),
		CASE(other_clocks_are_refused),
		CASE(time_orders_samples_among_records),
		CASE(cpu_is_where_the_task_is),
		CASE(tid_is_the_thread_and_pid_the_process),
		CASE(tid_is_what_the_opener_sees),
		CASE(own_namespace_has_its_own_numbers),
		CASE(inherited_events_have_a_stream_of_their_own),
		CASE(a_page_that_is_not_there_has_no_place),
		CASE(the_page_of_zeroes_has_a_size_and_no_place),
		CASE(a_page_that_is_copied_has_its_old_place),
		CASE(huge_pages_have_their_size),
		CASE(faults_of_the_kernel_are_its_own),
		CASE(cgroup_is_where_the_task_is),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
