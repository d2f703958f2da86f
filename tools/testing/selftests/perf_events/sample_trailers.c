// SPDX-License-Identifier: GPL-2.0
/*
 * With sample_id_all, every record that is no sample ends with the id fields of
 * its event, and nothing else of it changes: for each set of these fields.
 */
#include "perf_ring_sample.h"

#include <pthread.h>
#include <time.h>

#define SAMPLE_RATE "/proc/sys/kernel/perf_event_max_sample_rate"
#define THROTTLE_RECORD 32 /* time, id, stream id */
#define TASK_RECORD 32
#define LOST_RECORD 24

static const uint64_t fields[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,  PERF_SAMPLE_IDENTIFIER,
};

#define NR_SETS (1u << ARRAY_LEN(fields))

static uint64_t field_set(unsigned int nr)
{
	uint64_t type = 0;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		type |= nr >> i & 1 ? fields[i] : 0;
	return type;
}

/* Of the clock of all these events. */
static uint64_t now(void)
{
	struct timespec time;

	CHECK(!clock_gettime(CLOCK_MONOTONIC_RAW, &time));
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t opened; /* when the event was */

static bool is_recent(uint64_t time)
{
	return time > opened && time <= now();
}

struct trailer {
	uint32_t pid, tid, cpu;
	uint64_t time, id, stream_id, identifier;
};

/* Of the last record, which is so long without it. */
static struct trailer take_trailer(const struct ring *ring, uint64_t type,
				   size_t size)
{
	const struct perf_event_header *header = &ring->record.header;
	struct words words = { ring->record.words + size / 8,
			       ring->record.words + header->size / 8 };
	struct trailer got = { 0 };

	CHECK_EQ(header->size, size + 8 * __builtin_popcountll(type));
	if (type & PERF_SAMPLE_TID)
		take_pair(&words, &got.pid, &got.tid);
	if (type & PERF_SAMPLE_TIME)
		got.time = take_word(&words);
	if (type & PERF_SAMPLE_ID)
		got.id = take_word(&words);
	if (type & PERF_SAMPLE_STREAM_ID)
		got.stream_id = take_word(&words);
	if (type & PERF_SAMPLE_CPU)
		take_cpu(&words, &got.cpu);
	if (type & PERF_SAMPLE_IDENTIFIER)
		got.identifier = take_word(&words);
	CHECK(words.next == words.end);
	return got;
}

static struct trailer expect_trailer_of(const struct ring *ring, uint64_t type,
					size_t size, uint64_t id, pid_t pid,
					pid_t tid)
{
	struct trailer got = take_trailer(ring, type, size);

	if (type & PERF_SAMPLE_TID) {
		CHECK_EQ((int32_t)got.pid, pid);
		CHECK_EQ((int32_t)got.tid, tid);
	}
	if (type & PERF_SAMPLE_TIME)
		CHECK(is_recent(got.time));
	if (type & PERF_SAMPLE_ID)
		CHECK_EQ(got.id, id);
	if (type & PERF_SAMPLE_STREAM_ID)
		CHECK_EQ(got.stream_id, id);
	if (type & PERF_SAMPLE_CPU)
		CHECK(got.cpu < (uint64_t)sysconf(_SC_NPROCESSORS_CONF));
	if (type & PERF_SAMPLE_IDENTIFIER)
		CHECK_EQ(got.identifier, id);
	return got;
}

static struct trailer expect_trailer(const struct ring *ring, uint64_t type,
				     size_t size, uint64_t id)
{
	return expect_trailer_of(ring, type, size, id, getpid(), gettid());
}

static void with_trailer(struct perf_event_attr *attr, uint64_t type)
{
	attr->sample_id_all = 1;
	attr->sample_type = type;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC_RAW;
	opened = now();
}

static struct perf_event_attr record_attr(uint64_t type)
{
	struct perf_event_attr attr = software_attr(PERF_COUNT_SW_DUMMY);

	with_trailer(&attr, type);
	return attr;
}

static void unmap_and_close(struct ring *ring, int fd)
{
	ring_unmap(ring);
	close(fd);
}

/* ---- records one by one ---- */

static void comm_records_end_with_it(void)
{
	for (unsigned int nr = 0; nr < NR_SETS; nr++) {
		struct perf_event_attr attr = record_attr(field_set(nr));
		static struct ring ring;
		int fd;

		attr.comm = 1;
		fd = open_self(&attr);
		ring_map(&ring, fd, 1);
		rename_task(nr);
		expect_comm(&ring, nr);
		expect_trailer(&ring, attr.sample_type, COMM_RECORD,
			       event_id(fd));
		unmap_and_close(&ring, fd);
	}
}

/* The bit is obeyed: without it, the fields are for samples alone. */
static void without_sample_id_all_there_is_none(void)
{
	for (unsigned int nr = 0; nr < NR_SETS; nr++) {
		struct perf_event_attr attr = record_attr(field_set(nr));
		static struct ring ring;
		int fd;

		attr.comm = 1;
		attr.sample_id_all = 0;
		fd = open_self(&attr);
		ring_map(&ring, fd, 1);
		rename_task(nr);
		expect_comm(&ring, nr);
		CHECK_EQ(ring.record.header.size, COMM_RECORD);
		unmap_and_close(&ring, fd);
	}
}

/* What a sample has beside the id fields does not come into a trailer. */
static void other_fields_stay_in_samples(void)
{
	struct perf_event_attr attr = record_attr(
		PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD |
		PERF_SAMPLE_READ | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_CPU);
	static struct ring ring;
	int fd;

	attr.comm = 1;
	fd = open_self(&attr);
	ring_map(&ring, fd, 1);
	rename_task(1);
	expect_comm(&ring, 1);
	expect_trailer(&ring, PERF_SAMPLE_CPU, COMM_RECORD, event_id(fd));
}

static void mmap2_records_end_with_it(void)
{
	static const char name[] = "//anon\0\0\0\0\0\0\0\0";

	for (unsigned int nr = 0; nr < NR_SETS; nr++) {
		struct perf_event_attr attr = record_attr(field_set(nr));
		static struct ring ring;
		void *at;
		int fd;

		attr.mmap = 1;
		attr.mmap2 = 1;
		fd = open_self(&attr);
		ring_map(&ring, fd, 1);
		at = mmap(NULL, 5 * page_size(), PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		expect_type(&ring, PERF_RECORD_MMAP2);
		CHECK_EQ(ring.record.header.misc, PERF_RECORD_MISC_USER);
		CHECK_EQ(ring.record.mmap2.pid, getpid());
		CHECK_EQ(ring.record.mmap2.addr, at);
		CHECK_EQ(ring.record.mmap2.len, 5 * page_size());
		CHECK_EQ(ring.record.mmap2.inode, 0);
		CHECK(!memcmp(ring.record.mmap2.name, name, 8));
		expect_trailer(&ring, attr.sample_type, 72 + 8, event_id(fd));
		unmap_and_close(&ring, fd);
		CHECK(!munmap(at, 5 * page_size()));
	}
}

struct task_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

static void expect_task_record(struct ring *ring, uint32_t type, pid_t pid,
			       pid_t tid)
{
	const struct task_record *task = (const void *)&ring->record;

	expect_type(ring, type);
	CHECK_EQ(task->pid, pid);
	CHECK_EQ(task->tid, tid);
	CHECK_EQ(task->ppid, getpid());
	CHECK_EQ(task->ptid, getpid());
	CHECK(is_recent(task->time));
}

/* FORK is of the parent; a fork that the event does not follow has no EXIT. */
static void fork_records_end_with_it(void)
{
	for (unsigned int nr = 0; nr < NR_SETS; nr++) {
		struct perf_event_attr attr = record_attr(field_set(nr));
		struct sleeping_task task;
		static struct ring ring;
		int fd;

		attr.task = 1;
		fd = open_self(&attr);
		ring_map(&ring, fd, 1);
		task = start_sleeping(NULL);
		end_task(&task);
		expect_task_record(&ring, PERF_RECORD_FORK, task.pid, task.pid);
		expect_trailer(&ring, attr.sample_type, TASK_RECORD,
			       event_id(fd));
		expect_end(&ring);
		unmap_and_close(&ring, fd);
	}
}

/* EXIT is of the task that ends, while it still has its numbers. */
static void exit_records_end_with_it(void)
{
	for (unsigned int nr = 0; nr < NR_SETS; nr++) {
		struct perf_event_attr attr = record_attr(field_set(nr));
		struct sleeping_task task = start_sleeping(NULL);
		static struct ring ring;
		int fd;

		attr.task = 1;
		fd = open_on(&attr, task.pid, -1);
		ring_map(&ring, fd, 1);
		end_task(&task);
		expect_task_record(&ring, PERF_RECORD_EXIT, task.pid, task.pid);
		expect_trailer_of(&ring, attr.sample_type, TASK_RECORD,
				  event_id(fd), task.pid, task.pid);
		expect_end(&ring);
		unmap_and_close(&ring, fd);
	}
}

static void *end_at_once(void *tid)
{
	*(pid_t *)tid = gettid();
	return NULL;
}

static void threads_are_of_their_process(void)
{
	struct perf_event_attr attr = record_attr(PERF_SAMPLE_TID);
	static struct ring ring;
	pthread_t thread;
	pid_t tid;
	int fd;

	attr.task = 1;
	fd = open_self(&attr);
	ring_map(&ring, fd, 1);
	CHECK(!pthread_create(&thread, NULL, end_at_once, &tid));
	CHECK(!pthread_join(thread, NULL));
	expect_task_record(&ring, PERF_RECORD_FORK, getpid(), tid);
	expect_trailer(&ring, attr.sample_type, TASK_RECORD, event_id(fd));
}

static void lost_records_end_with_it(void)
{
	for (unsigned int nr = 0; nr < NR_SETS; nr++) {
		struct perf_event_attr attr = record_attr(field_set(nr));
		static struct ring ring;
		struct trailer trailer;
		int fd;

		attr.comm = 1;
		fd = open_self(&attr);
		ring_map(&ring, fd, 1);
		CHECK(!pause_output(fd, 1));
		rename_tasks(0, nr + 1);
		CHECK(!pause_output(fd, 0));
		rename_task(7);
		expect_lost(&ring, event_id(fd), nr + 1);
		CHECK_EQ(ring.record.header.misc, 0);
		trailer = expect_trailer(&ring, attr.sample_type, LOST_RECORD,
					 event_id(fd));
		expect_comm(&ring, 7);
		CHECK_EQ(take_trailer(&ring, attr.sample_type,
				      COMM_RECORD).time, trailer.time);
		unmap_and_close(&ring, fd);
	}
}

/* A sample has its fields in its own order, the LOST before it in the other. */
static void lost_before_a_sample_ends_with_it(void)
{
	for (unsigned int nr = 0; nr < NR_SETS; nr++) {
		struct perf_event_attr attr = fault_attr();
		struct fault_area area = fault_area(4);
		static struct ring ring;
		struct sample s;
		int fd;

		with_trailer(&attr, field_set(nr) | PERF_SAMPLE_ADDR);
		fd = open_self(&attr);
		ring_map(&ring, fd, 1);
		CHECK(!pause_output(fd, 1));
		sample_faults(fd, &area, 3);
		CHECK(!pause_output(fd, 0));
		sample_faults(fd, &area, 1);
		expect_lost(&ring, event_id(fd), 3);
		expect_trailer(&ring, field_set(nr), LOST_RECORD, event_id(fd));
		expect_sample(&ring, &s, &attr);
		CHECK_EQ(s.addr, area.base);
		expect_end(&ring);
		unmap_and_close(&ring, fd);
		CHECK(!munmap((void *)area.base, 4 * page_size()));
	}
}

/* ---- throttling ---- */

static void expect_throttle(const struct ring *ring, uint64_t type, uint64_t id)
{
	CHECK(is_recent(ring->record.words[1]));
	CHECK_EQ(ring->record.words[2], id);
	CHECK_EQ(ring->record.words[3], id);
	expect_trailer(ring, type, THROTTLE_RECORD, id);
}

/* Samples; a THROTTLE; the sample that was too much; then an UNTHROTTLE. */
static void throttled_with(uint64_t type)
{
	struct perf_event_attr attr = software_attr(PERF_COUNT_SW_TASK_CLOCK);
	unsigned int throttles = 0, after = 0;
	static struct ring ring;
	int fd;

	attr.sample_period = 10000;
	attr.disabled = 1;
	with_trailer(&attr, type);
	fd = open_self(&attr);
	ring_map(&ring, fd, 8);
	enable(fd);
	while (throttles < 2) {
		while (throttles < 2 && ring_next(&ring)) {
			uint32_t kind = ring.record.header.type;

			if (kind == PERF_RECORD_SAMPLE) {
				after += throttles;
				continue;
			}
			CHECK_EQ(kind, throttles ? PERF_RECORD_UNTHROTTLE :
						   PERF_RECORD_THROTTLE);
			expect_throttle(&ring, type, event_id(fd));
			throttles++;
		}
		ring_release(&ring);
	}
	CHECK_EQ(after, 1);
	unmap_and_close(&ring, fd);
}

static void throttle_with_each_set(void *arg)
{
	(void)arg;
	for (unsigned int nr = 0; nr < NR_SETS; nr++)
		throttled_with(field_set(nr));
}

static void throttle_records_end_with_it(void)
{
	int rate, status;
	pid_t pid;

	if (!sysctl_get(SAMPLE_RATE, &rate) || !sysctl_set(SAMPLE_RATE, 1000))
		SKIP("the rate of samples cannot be limited");
	pid = start_child(throttle_with_each_set, NULL);
	CHECK(waitpid(pid, &status, 0) == pid);
	sysctl_set(SAMPLE_RATE, rate);
	CHECK_EQ(status, 0);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(comm_records_end_with_it),
		CASE(without_sample_id_all_there_is_none),
		CASE(other_fields_stay_in_samples),
		CASE(mmap2_records_end_with_it),
		CASE(fork_records_end_with_it),
		CASE(exit_records_end_with_it),
		CASE(threads_are_of_their_process),
		CASE(lost_records_end_with_it),
		CASE(lost_before_a_sample_ends_with_it),
		CASE(throttle_records_end_with_it),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
