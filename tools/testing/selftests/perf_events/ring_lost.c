// SPDX-License-Identifier: GPL-2.0
/*
 * A ring that a reader leaves full refuses records and counts each of them:
 * what just fits and what does not, the LOST record that tells of it, the
 * count that read() gives, and tails that no reader would write.
 *
 * A record fits when (tail - head - 1) mod the ring's size is at least its
 * size, together with that of the LOST record that has to go before it.
 */
#include "perf_ring_task.h"

#include <alloca.h>
#include <pthread.h>
#include <sched.h>

#define LOST_RECORD 24
#define TRAILER 16 /* TID and TIME */

static int open_counting(struct perf_event_attr attr)
{
	attr.read_format = PERF_FORMAT_LOST;
	return open_self(&attr);
}

/* Leaves exactly this much space, as the kernel reckons it. */
static void leave_space(struct ring *ring, uint64_t space)
{
	ring_set_tail(ring, ring_head(ring) + space + 1 - ring->size);
}

/* Back to an empty ring with no loss to tell of. */
static void settle(struct ring *ring)
{
	ring_set_tail(ring, ring_head(ring));
	rename_task(0);
	ring->pos = ring_head(ring);
	ring_release(ring);
}

/* ---- what fits ---- */

static void fill_an_empty_ring(size_t pages, struct perf_event_attr attr,
			       size_t record)
{
	unsigned int fits, produced;
	struct ring ring;
	int fd = open_counting(attr);

	ring_map(&ring, fd, pages);
	fits = (unsigned int)((ring.size - 1) / record);
	produced = 2 * fits + 7;
	rename_tasks(0, produced);
	CHECK_EQ(ring_head(&ring), fits * record);
	CHECK_EQ(lost_of(fd), produced - fits);
	for (unsigned int i = 0; i < fits; i++)
		expect_comm(&ring, i);
	expect_end(&ring);
	ring_release(&ring);

	rename_task(produced);
	expect_lost(&ring, event_id(fd), produced - fits);
	expect_comm(&ring, produced);
	expect_end(&ring);
	CHECK_EQ(lost_of(fd), produced - fits);
	ring_unmap(&ring);
	close(fd);
}

static void empty_rings_hold_what_fits(void)
{
	struct perf_event_attr attr = comm_attr();

	for (size_t pages = 1; pages <= 32; pages *= 2) {
		attr.sample_id_all = 0;
		fill_an_empty_ring(pages, attr, COMM_RECORD);
		attr.sample_id_all = 1;
		attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
		fill_an_empty_ring(pages, attr, COMM_RECORD + TRAILER);
	}
}

static void every_space_decides_exactly(void)
{
	struct ring ring;
	int fd = open_counting(comm_attr());

	ring_map(&ring, fd, 1);
	for (uint64_t space = 0; space < 4096; space++) {
		uint64_t head = ring_head(&ring), lost = lost_of(fd);
		bool fits = space >= COMM_RECORD;

		leave_space(&ring, space);
		rename_task(1);
		CHECK_EQ(ring_head(&ring) - head, fits ? COMM_RECORD : 0);
		CHECK_EQ(lost_of(fd) - lost, !fits);
		settle(&ring);
	}
}

static void pending_loss_needs_space_too(struct perf_event_attr attr,
					 size_t needed)
{
	struct ring ring;
	int fd = open_counting(attr);
	uint64_t lost = 0;

	ring_map(&ring, fd, 1);
	settle(&ring);
	for (uint64_t space = 0; space < needed + 32; space++) {
		bool fits = space >= needed;
		uint64_t head = ring_head(&ring);

		leave_space(&ring, 0);
		rename_task(1);
		lost++;
		leave_space(&ring, space);
		rename_task(2);
		lost += !fits;
		CHECK_EQ(ring_head(&ring) - head, fits ? needed : 0);
		CHECK_EQ(lost_of(fd), lost);

		ring_release(&ring);
		if (!fits)
			rename_task(2);
		expect_lost(&ring, event_id(fd), fits ? 1 : 2);
		expect_comm(&ring, 2);
		expect_end(&ring);
		ring_release(&ring);
	}
	ring_unmap(&ring);
	close(fd);
}

static void lost_record_and_record_go_together(void)
{
	struct perf_event_attr attr = comm_attr();

	pending_loss_needs_space_too(attr, LOST_RECORD + COMM_RECORD);
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	pending_loss_needs_space_too(attr, LOST_RECORD + COMM_RECORD +
					   2 * TRAILER);
}

/* 4088 of 4096 bytes is as full as a page gets: one more word is refused. */
static void ring_is_never_quite_full(void)
{
	struct ring ring;
	int fd = open_counting(comm_attr());

	ring_map(&ring, fd, 1);
	CHECK(!prctl(PR_SET_NAME, "exactly-32-byte")); /* 16 + 16 */
	rename_tasks(0, 169);
	CHECK_EQ(ring_head(&ring), ring.size - 8);
	rename_task(1);
	CHECK_EQ(ring_head(&ring), ring.size - 8);
	CHECK_EQ(lost_of(fd), 1);
}

static void larger_record_is_refused_where_a_smaller_fits(void)
{
	struct ring ring;
	int fd = open_counting(comm_attr());

	ring_map(&ring, fd, 1);
	for (uint64_t space = COMM_RECORD; space < COMM_RECORD + 8; space++) {
		uint64_t lost = lost_of(fd), head = ring_head(&ring);

		leave_space(&ring, space);
		CHECK(!prctl(PR_SET_NAME, "a-longer-name"));
		CHECK_EQ(ring_head(&ring), head);
		CHECK_EQ(lost_of(fd), lost + 1);
		settle(&ring);
		leave_space(&ring, space);
		head = ring_head(&ring);
		rename_task(1);
		CHECK_EQ(ring_head(&ring), head + COMM_RECORD);
		settle(&ring);
	}
}

/* ---- what is told ---- */

static void lost_record_layout(void)
{
	struct perf_event_attr attr = comm_attr();
	const struct lost_record *lost;
	const uint64_t *trailer;
	struct ring ring;
	int fd;

	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	fd = open_self(&attr);
	ring_map(&ring, fd, 1);
	leave_space(&ring, 0);
	rename_tasks(0, 10);
	ring_release(&ring);
	rename_task(11);

	CHECK(ring_next(&ring));
	lost = &ring.record.lost;
	CHECK_EQ(lost->header.type, PERF_RECORD_LOST);
	CHECK_EQ(lost->header.misc, 0);
	CHECK_EQ(lost->header.size, LOST_RECORD + TRAILER);
	CHECK_EQ(ring.record.words[1], event_id(fd));
	CHECK_EQ(ring.record.words[2], 10);
	trailer = &ring.record.words[3];
	CHECK_EQ((uint32_t)trailer[0], getpid());
	CHECK_EQ(trailer[0] >> 32, gettid());
	CHECK(trailer[1] != 0);
	expect_comm(&ring, 11);
}

static void every_episode_is_told_once(void)
{
	unsigned int sum = 0;
	struct ring ring;
	int fd = open_counting(comm_attr());

	ring_map(&ring, fd, 1);
	for (unsigned int episode = 1; episode <= 100; episode++) {
		leave_space(&ring, episode % COMM_RECORD);
		rename_tasks(0, episode);
		sum += episode;
		ring_release(&ring);
		rename_tasks(episode, 3);
		expect_lost(&ring, event_id(fd), episode);
		for (unsigned int i = 0; i < 3; i++)
			expect_comm(&ring, episode + i);
		expect_end(&ring);
		ring_release(&ring);
		CHECK_EQ(lost_of(fd), sum);
	}
}

struct slow_reader {
	struct ring ring;
	unsigned int kept;
	uint64_t lost;
	int start, stop;
};

static void slow_reader_look(struct slow_reader *reader)
{
	const struct lost_record *lost = &reader->ring.record.lost;
	const struct comm_record *comm = &reader->ring.record.comm;

	while (ring_next(&reader->ring)) {
		if (lost->header.type == PERF_RECORD_LOST) {
			reader->lost += lost->lost;
			continue;
		}
		CHECK_EQ(comm->header.type, PERF_RECORD_COMM);
		CHECK_EQ(atoi(comm->comm), reader->kept++ + reader->lost);
	}
	ring_release(&reader->ring);
}

static void *read_slowly(void *arg)
{
	struct slow_reader *reader = arg;

	while (!__atomic_load_n(&reader->start, __ATOMIC_ACQUIRE))
		sched_yield();
	while (!__atomic_load_n(&reader->stop, __ATOMIC_ACQUIRE)) {
		slow_reader_look(reader);
		usleep(500);
	}
	slow_reader_look(reader);
	return NULL;
}

/* Gaps in the sequence are where the LOST records stand and as wide as they say. */
static void kept_and_lost_make_up_the_stream(void)
{
	static struct slow_reader reader;
	const unsigned int produced = 40000;
	pthread_t thread;
	int fd;

	CHECK(!pthread_create(&thread, NULL, read_slowly, &reader));
	fd = open_counting(comm_attr());
	ring_map(&reader.ring, fd, 1);
	__atomic_store_n(&reader.start, 1, __ATOMIC_RELEASE);
	rename_tasks(0, produced);
	__atomic_store_n(&reader.stop, 1, __ATOMIC_RELEASE);
	CHECK(!pthread_join(thread, NULL));
	CHECK(lost_of(fd) > 0);
	CHECK(reader.kept > 0);
	CHECK(reader.lost <= lost_of(fd)); /* the last gap is not told yet */
	reader.kept += ring_drain(&reader.ring);
	CHECK_EQ(reader.kept + lost_of(fd), produced);
	rename_task(0);
	if (reader.lost < lost_of(fd))
		expect_lost(&reader.ring, event_id(fd),
			    lost_of(fd) - reader.lost);
	expect_comm(&reader.ring, 0);
}

static void lost_counts_are_per_event(void)
{
	struct perf_event_attr attr = comm_attr();
	int first = open_counting(attr), second;
	struct ring ring;

	ring_map(&ring, first, 1);
	second = open_counting(attr);
	CHECK(!set_output(second, first));
	leave_space(&ring, 0);
	rename_tasks(0, 5);
	disable(second);
	rename_tasks(0, 3);
	CHECK_EQ(lost_of(first), 8);
	CHECK_EQ(lost_of(second), 5);
	disable(first);
	enable(second);
	ring_release(&ring);
	rename_task(9);
	expect_lost(&ring, event_id(second), 13); /* of the ring, not of it */
	expect_comm(&ring, 9);
}

static void group_read_gives_lost_counts(void)
{
	struct perf_event_attr attr = comm_attr();
	uint64_t values[1 + 2 * 3];
	struct ring ring;
	int leader, sibling;

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
			   PERF_FORMAT_LOST;
	leader = open_self(&attr);
	sibling = perf_open(&attr, 0, -1, leader, 0);
	CHECK(sibling >= 0);
	ring_map(&ring, sibling, 1);
	leave_space(&ring, 0);
	rename_tasks(0, 6);
	CHECK_EQ(read(leader, values, sizeof(values)), sizeof(values));
	CHECK_EQ(values[0], 2);
	CHECK_EQ(values[2], event_id(leader));
	CHECK_EQ(values[3], 0); /* it has no ring to be refused by */
	CHECK_EQ(values[5], event_id(sibling));
	CHECK_EQ(values[6], 6);
}

static void no_ring_means_no_loss(void)
{
	struct ring ring;
	int fd = open_counting(comm_attr());

	rename_tasks(0, 10);
	CHECK_EQ(lost_of(fd), 0);
	ring_map(&ring, fd, 0);
	rename_tasks(0, 10);
	CHECK_EQ(lost_of(fd), 0);
	ring_unmap(&ring);
	ring_map(&ring, fd, 1);
	rename_task(1);
	expect_comm(&ring, 1);
	expect_end(&ring);
	CHECK_EQ(lost_of(fd), 0);
}

/* ---- tails that no reader writes ---- */

static void tails_count_modulo_the_ring(void)
{
	static const uint64_t tails[] = {
		1, 3, 7, 23, 24, 25, 4095, 4096, 4097, 8191, 1u << 20,
		UINT32_MAX, 1ULL << 32, 1ULL << 63, UINT64_MAX - 23,
		UINT64_MAX - 4096, UINT64_MAX - 1, UINT64_MAX,
	};
	struct ring ring;
	int fd = open_counting(comm_attr());

	ring_map(&ring, fd, 1);
	for (unsigned int round = 0; round < 40; round++) {
		for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
			uint64_t head, lost = lost_of(fd), space;
			bool fits;

			settle(&ring);
			head = ring_head(&ring);
			space = (tails[i] - head - 1) & (ring.size - 1);
			fits = space >= COMM_RECORD;
			ring_set_tail(&ring, tails[i]);
			rename_task(1);
			CHECK_EQ(ring_head(&ring) - head,
				 fits ? COMM_RECORD : 0);
			CHECK_EQ(lost_of(fd) - lost, !fits);
		}
	}
}

static void random_tails_lose_nothing_uncounted(void)
{
	uint64_t random = 0x9e3779b97f4a7c15;
	struct ring ring;
	int fd = open_counting(comm_attr());

	ring_map(&ring, fd, 2);
	for (unsigned int i = 0; i < 20000; i++) {
		uint64_t head = ring_head(&ring), lost = lost_of(fd), grown;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		ring_set_tail(&ring, random);
		rename_task(i);
		grown = ring_head(&ring) - head;
		CHECK(grown == 0 || grown == COMM_RECORD ||
		      grown == COMM_RECORD + LOST_RECORD);
		CHECK_EQ(lost_of(fd) - lost, grown == 0);
	}
}

/* ---- records larger than the ring ---- */

static void __attribute__((noinline)) fault_below(int fd, size_t stack,
		const struct fault_area *area, size_t faults)
{
	volatile uint8_t *fill = alloca(stack);

	for (size_t i = 0; i < stack; i++)
		fill[i] = (uint8_t)i;
	sample_faults(fd, area, faults);
}

static void dump_against_ring(uint32_t dump, size_t record, size_t pages)
{
	struct perf_event_attr attr = fault_attr();
	struct fault_area area;
	struct ring ring;
	unsigned int fits;
	int fd;

	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = dump;
	fd = open_counting(attr);
	ring_map(&ring, fd, pages);
	fits = (unsigned int)((ring.size - 1) / record);
	area = fault_area(fits + 5);
	fault_below(fd, 80000, &area, fits + 5);
	CHECK_EQ(ring_head(&ring), fits * record);
	CHECK_EQ(lost_of(fd), 5);
	for (unsigned int i = 0; i < fits; i++) {
		expect_type(&ring, PERF_RECORD_SAMPLE);
		CHECK_EQ(ring.record.header.size, record);
		CHECK_EQ(ring.record.words[record / 8 - 1], record - 24);
	}
	expect_end(&ring);
	ring_unmap(&ring);
	close(fd);
}

static void huge_samples_are_refused_and_counted(void)
{
	for (size_t pages = 1; pages <= 64; pages *= 2) {
		dump_against_ring(4096, 4096 + 24, pages);
		dump_against_ring(32768, 32768 + 24, pages);
		dump_against_ring(65528, 65528, pages); /* cut to a u16 size */
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(empty_rings_hold_what_fits),
		CASE(every_space_decides_exactly),
		CASE(lost_record_and_record_go_together),
		CASE(ring_is_never_quite_full),
		CASE(larger_record_is_refused_where_a_smaller_fits),
		CASE(lost_record_layout),
		CASE(every_episode_is_told_once),
		CASE(kept_and_lost_make_up_the_stream),
		CASE(lost_counts_are_per_event),
		CASE(group_read_gives_lost_counts),
		CASE(no_ring_means_no_loss),
		CASE(tails_count_modulo_the_ring),
		CASE(random_tails_lose_nothing_uncounted),
		CASE(huge_samples_are_refused_and_counted),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
