// SPDX-License-Identifier: GPL-2.0
/*
 * A reader that keeps up gets every record once, whole, in order, with the
 * size and content that its event asked for, however often the ring wraps.
 */
#include "perf_ring_task.h"

#include <alloca.h>
#include <pthread.h>

#define STACK_FILL 12288

static size_t round8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* ---- sizes and content ---- */

static void comm_records_are_exact(void)
{
	const struct comm_record *comm;
	char name[16] = "";
	struct ring ring;

	ring_map(&ring, open_comm(), 1);
	comm = &ring.record.comm;
	for (size_t len = 0; len < sizeof(name); len++) {
		CHECK(!prctl(PR_SET_NAME, name));
		expect_type(&ring, PERF_RECORD_COMM);
		CHECK_EQ(comm->header.misc, 0);
		CHECK_EQ(comm->header.size, 16 + round8(len + 1));
		CHECK_EQ(comm->pid, getpid());
		CHECK_EQ(comm->tid, gettid());
		CHECK(!memcmp(comm->comm, name, round8(len + 1)));
		if (len < sizeof(name) - 1)
			name[len] = (char)('a' + len);
	}
	expect_end(&ring);
}

static void expect_trailer(const struct ring *ring, uint64_t type, int fd)
{
	const struct perf_event_header *header = &ring->record.header;
	const uint64_t *word = ring->record.words + COMM_RECORD / 8;
	uint64_t task = (uint64_t)gettid() << 32 | (uint32_t)getpid();

	if (type & PERF_SAMPLE_TID)
		CHECK_EQ(*word++, task);
	if (type & PERF_SAMPLE_TIME)
		CHECK(*word++ != 0);
	if (type & PERF_SAMPLE_ID)
		CHECK_EQ(*word++, event_id(fd));
	if (type & PERF_SAMPLE_STREAM_ID)
		CHECK_EQ(*word++, event_id(fd));
	if (type & PERF_SAMPLE_CPU)
		CHECK(*word++ < (uint64_t)sysconf(_SC_NPROCESSORS_CONF));
	if (type & PERF_SAMPLE_IDENTIFIER)
		CHECK_EQ(*word++, event_id(fd));
	CHECK_EQ((word - ring->record.words) * 8, header->size);
}

static void every_sample_id_trailer_is_exact(void)
{
	static const uint64_t fields[] = {
		PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
		PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
		PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER,
	};

	for (unsigned int set = 0; set < 1u << ARRAY_LEN(fields); set++) {
		struct perf_event_attr attr = comm_attr();
		struct ring ring;
		int fd;

		attr.sample_id_all = 1;
		for (size_t i = 0; i < ARRAY_LEN(fields); i++)
			attr.sample_type |= set & 1u << i ? fields[i] : 0;
		fd = open_self(&attr);
		ring_map(&ring, fd, 1);
		rename_task(set);
		expect_comm(&ring, set);
		expect_trailer(&ring, attr.sample_type, fd);
		ring_unmap(&ring);
		close(fd);
	}
}

static void record_time_never_goes_back(void)
{
	struct perf_event_attr attr = comm_attr();
	uint64_t last = 0;
	struct ring ring;

	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	ring_map(&ring, open_self(&attr), 2);
	for (unsigned int i = 0; i < 2000; i++) {
		rename_task(i);
		expect_comm(&ring, i);
		CHECK_EQ(ring.record.header.size, 40);
		CHECK(ring.record.words[4] >= last);
		last = ring.record.words[4];
		ring_release(&ring);
	}
}

static void each_touched_page_is_one_sample(void)
{
	struct perf_event_attr attr = fault_attr();
	struct fault_area area = fault_area(100);
	int fd = open_self(&attr);
	struct ring ring;

	ring_map(&ring, fd, 1);
	for (size_t nr = 0; nr <= 100; nr += 10) {
		sample_faults(fd, &area, nr);
		for (size_t i = 0; i < nr; i++) {
			expect_type(&ring, PERF_RECORD_SAMPLE);
			CHECK_EQ(ring.record.header.size, 16);
			CHECK_EQ(ring.record.header.misc,
				 PERF_RECORD_MISC_USER);
			CHECK_EQ(ring.record.words[1],
				 area.base + i * page_size());
		}
		expect_end(&ring);
		ring_release(&ring);
	}
}

static void expect_mmap2(struct ring *ring, const void *at, const char *file)
{
	const struct mmap2_record *record = &ring->record.mmap2;
	char name[512];
	int len = snprintf(name, sizeof(name), "/memfd:%s (deleted)", file);

	expect_type(ring, PERF_RECORD_MMAP2);
	CHECK_EQ(record->addr, at);
	CHECK_EQ(record->len, page_size());
	CHECK_EQ(record->prot, PROT_READ);
	CHECK_EQ(record->flags, MAP_SHARED);
	CHECK(!strcmp(record->name, name));
	CHECK_EQ(record->header.size, 72 + round8((size_t)len + 1));
	for (int i = len; 72 + i < record->header.size; i++)
		CHECK_EQ(record->name[i], 0);
}

static void mmap2_records_follow_the_name(void)
{
	struct perf_event_attr attr = software_attr(PERF_COUNT_SW_DUMMY);
	char file[250] = "";
	struct ring ring;

	attr.mmap2 = 1;
	attr.mmap_data = 1;
	ring_map(&ring, open_self(&attr), 1);
	ring_drain(&ring); /* the ring's own mapping is not among the records */
	for (size_t len = 0; len < 240; len++) {
		int fd = memfd_create(file, 0);
		void *at;

		CHECK(fd >= 0 && !ftruncate(fd, (off_t)page_size()));
		at = mmap(NULL, page_size(), PROT_READ, MAP_SHARED, fd, 0);
		CHECK(at != MAP_FAILED);
		expect_mmap2(&ring, at, file);
		expect_end(&ring);
		ring_release(&ring);
		CHECK(!munmap(at, page_size()));
		close(fd);
		file[len] = (char)('a' + len % 26);
	}
}

/* ---- long streams ---- */

/* Names of 7 to 15 characters: 24 and 32 byte records, in no regular order. */
static size_t stream_name(char *name, unsigned int seq)
{
	static const char tail[] = "abcdefgh";

	return (size_t)snprintf(name, 16, "%07u%.*s", seq,
				(int)(seq * 2654435761u >> 29), tail);
}

static uint64_t stream_write(unsigned int seq)
{
	char name[16];
	size_t len = stream_name(name, seq);

	CHECK(!prctl(PR_SET_NAME, name));
	return 16 + round8(len + 1);
}

static void stream_expect(struct ring *ring, unsigned int seq)
{
	const struct comm_record *comm = &ring->record.comm;
	char name[16];

	stream_name(name, seq);
	expect_type(ring, PERF_RECORD_COMM);
	if (strcmp(comm->comm, name))
		FAIL("COMM record says %.16s, not %s", comm->comm, name);
}

static void stream_survives_the_wrap(size_t pages, unsigned int laps)
{
	unsigned int written = 0, seen = 0;
	uint64_t sum = 0;
	struct ring ring;
	int fd = open_comm();

	ring_map(&ring, fd, pages);
	while (sum < laps * ring.size) {
		for (uint64_t end = sum + ring.size - 64; sum < end;)
			sum += stream_write(written++);
		CHECK_EQ(ring_head(&ring), sum);
		while (seen < written)
			stream_expect(&ring, seen++);
		expect_end(&ring);
		ring_release(&ring);
	}
	ring_unmap(&ring);
	close(fd);
}

static void small_rings_keep_a_long_stream(void)
{
	stream_survives_the_wrap(1, 200);
	stream_survives_the_wrap(2, 100);
	stream_survives_the_wrap(4, 40);
}

static void large_rings_keep_a_long_stream(void)
{
	for (size_t pages = 8; pages <= 64; pages *= 2)
		stream_survives_the_wrap(pages, 3);
}

/* Every offset at which a record can meet the end of a ring is met. */
static void each_wrap_offset_is_whole(void)
{
	struct ring ring;

	ring_map(&ring, open_comm(), 1);
	for (unsigned int seq = 0; seq < 171 * 4; seq++) {
		rename_task(seq);
		expect_comm(&ring, seq);
		ring_release(&ring);
	}
	CHECK_EQ(ring_head(&ring), 171 * 4 * COMM_RECORD);
}

struct head_watch {
	const struct ring *ring;
	int stop;
};

static void *watch_head(void *arg)
{
	struct head_watch *watch = arg;
	const struct ring *ring;
	uint64_t last = 0;

	while (!(ring = __atomic_load_n(&watch->ring, __ATOMIC_ACQUIRE)))
		;
	while (!__atomic_load_n(&watch->stop, __ATOMIC_RELAXED)) {
		uint64_t head = ring_head(ring);

		CHECK(head >= last);
		CHECK_EQ(head % COMM_RECORD, 0);
		last = head;
	}
	return NULL;
}

static void head_moves_forward_by_whole_records(void)
{
	struct head_watch watch = { 0 };
	struct ring ring;
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, watch_head, &watch));
	ring_map(&ring, open_comm(), 1);
	__atomic_store_n(&watch.ring, &ring, __ATOMIC_RELEASE);
	for (unsigned int seq = 0; seq < 20000; seq++) {
		rename_task(seq);
		expect_comm(&ring, seq);
		ring_release(&ring);
	}
	__atomic_store_n(&watch.stop, 1, __ATOMIC_RELAXED);
	CHECK(!pthread_join(thread, NULL));
}

/* Samples of a timer interrupt land between, never within, other records. */
static void interrupts_nest_cleanly(void)
{
	struct perf_event_attr attr = software_attr(PERF_COUNT_SW_CPU_CLOCK);
	unsigned int samples = 0, seq = 0, next = 0;
	struct ring ring;
	int fd = open_comm(), clock;

	/* Large enough for a guest whose CPU is away for a second. */
	attr.exclude_kernel = 0;
	attr.sample_period = 20000;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	ring_map(&ring, fd, 512);
	clock = open_self(&attr);
	CHECK(!set_output(clock, fd));
	while (samples < 1000 || seq < 20000) {
		rename_tasks(seq, 50);
		seq += 50;
		while (ring_next(&ring)) {
			const struct comm_record *comm = &ring.record.comm;

			if (comm->header.type == PERF_RECORD_COMM) {
				CHECK_EQ(atoi(comm->comm), next++);
			} else if (comm->header.type == PERF_RECORD_SAMPLE) {
				CHECK_EQ(comm->header.size, 32);
				CHECK_EQ(ring.record.words[2] >> 32, gettid());
				samples++;
			} else {
				CHECK(comm->header.type ==
					      PERF_RECORD_THROTTLE ||
				      comm->header.type ==
					      PERF_RECORD_UNTHROTTLE);
			}
		}
		ring_release(&ring);
		CHECK_EQ(next, seq);
	}
}

/* ---- records of many pages ---- */

static void __attribute__((noinline)) fault_below_pattern(int fd,
		const struct fault_area *area, const uint32_t **pattern)
{
	volatile uint32_t *fill = alloca(STACK_FILL);

	for (uint32_t i = 0; i < STACK_FILL / 4; i++)
		fill[i] = 0xdecaf000u + i;
	*pattern = (const uint32_t *)fill;
	sample_faults(fd, area, 1);
}

static void stack_dumps_cross_pages_and_the_wrap(void)
{
	struct perf_event_attr attr = fault_attr();
	struct fault_area area;
	struct ring ring;
	int fd;

	attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr.sample_regs_user = 1 << 7; /* stack pointer on x86 */
	attr.sample_stack_user = STACK_FILL;
	fd = open_self(&attr);
	ring_map(&ring, fd, 4);
	area = fault_area(1);
	for (int round = 0; round < 200; round++) {
		const uint64_t *word = ring.record.words;
		const uint32_t *pattern;
		const uint8_t *dump;
		uint64_t sp;

		fault_below_pattern(fd, &area, &pattern);
		expect_type(&ring, PERF_RECORD_SAMPLE);
		CHECK_EQ(ring.record.header.size, 8 + 16 + 16 + STACK_FILL);
		CHECK_EQ(word[3], STACK_FILL);
		CHECK_EQ(word[4 + STACK_FILL / 8], STACK_FILL);
		sp = word[2];
		dump = (const uint8_t *)&word[4];
		for (uint64_t at = (uint64_t)pattern, i = 0;
		     at + 4 <= sp + STACK_FILL; at += 4, i++) {
			uint32_t value;

			memcpy(&value, dump + (at - sp), 4);
			CHECK_EQ(value, 0xdecaf000u + i);
		}
		CHECK((uint64_t)pattern - sp < 1024);
		ring_release(&ring);
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(comm_records_are_exact),
		CASE(every_sample_id_trailer_is_exact),
		CASE(record_time_never_goes_back),
		CASE(each_touched_page_is_one_sample),
		CASE(mmap2_records_follow_the_name),
		CASE(small_rings_keep_a_long_stream),
		CASE(large_rings_keep_a_long_stream),
		CASE(each_wrap_offset_is_whole),
		CASE(head_moves_forward_by_whole_records),
		CASE(interrupts_nest_cleanly),
		CASE(stack_dumps_cross_pages_and_the_wrap),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
