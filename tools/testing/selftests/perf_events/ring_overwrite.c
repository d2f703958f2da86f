// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that run on over old records: forward and backward ones, how they are
 * frozen for reading, and what a frozen ring says of the records it missed.
 */
#include "perf_ring_task.h"

#define LOST_RECORD 24
#define AT_THE_PEN 64 /* oldest bytes, which an unfinished write may cover */

static int open_direction(struct perf_event_attr attr, bool backward)
{
	attr.write_backward = backward;
	attr.read_format = PERF_FORMAT_LOST;
	return open_self(&attr);
}

static int map_direction(struct ring *ring, bool backward, size_t pages,
			 int prot)
{
	int fd = open_direction(comm_attr(), backward);

	ring_map_as(ring, fd, pages, prot);
	return fd;
}

/* Names that make records of 24 and of 32 bytes, in no regular order. */
static void rename_mixed(unsigned int seq)
{
	char name[16];

	snprintf(name, sizeof(name), "%07u%s", seq,
		 seq * 2654435761u >> 31 ? "-longer" : "");
	CHECK(!prctl(PR_SET_NAME, name));
}

/* Walks up from the head of a backward ring; returns how many whole records. */
static unsigned int expect_newest_first(struct ring *ring, unsigned int newest)
{
	const struct comm_record *comm = &ring->record.comm;
	uint64_t head = ring_head(ring);
	uint64_t limit = -head < ring->size ? 0 : head + ring->size;
	uint64_t whole = limit ? 32 : 1; /* the oldest may be cut off */
	unsigned int seen = 0;

	for (ring->pos = head; limit - ring->pos >= whole; seen++) {
		CHECK(ring_next_below(ring, limit));
		CHECK_EQ(comm->header.type, PERF_RECORD_COMM);
		CHECK_EQ(atoi(comm->comm), newest - seen);
	}
	return seen;
}

static void forward_ring_runs_on(void)
{
	const unsigned int produced = 5000;
	unsigned int first;
	struct ring ring;
	int fd = map_direction(&ring, false, 1, PROT_READ);

	rename_tasks(0, produced);
	CHECK_EQ(ring_head(&ring), produced * COMM_RECORD);
	CHECK_EQ(lost_of(fd), 0);
	first = produced - (unsigned int)(ring.size / COMM_RECORD);
	ring.pos = (uint64_t)first * COMM_RECORD;
	for (unsigned int seq = first; seq < produced; seq++)
		expect_comm(&ring, seq);
	expect_end(&ring);
}

static void forward_ring_heeds_no_tail(void)
{
	struct ring ring;
	int fd = map_direction(&ring, false, 1, PROT_READ);

	CHECK(!mprotect(ring.page, ring.length, PROT_READ | PROT_WRITE));
	for (unsigned int i = 0; i < 2000; i++) {
		ring_set_tail(&ring, ring_head(&ring) + i + 1);
		rename_task(i);
		CHECK_EQ(ring_head(&ring), (i + 1) * COMM_RECORD);
	}
	CHECK_EQ(lost_of(fd), 0);
}

static void backward_head_goes_down(void)
{
	struct ring ring;
	int fd = map_direction(&ring, true, 1, PROT_READ);

	CHECK_EQ(ring_head(&ring), 0);
	for (unsigned int i = 0; i < 2000; i++) {
		rename_task(i);
		CHECK_EQ(ring_head(&ring), -(uint64_t)(i + 1) * COMM_RECORD);
		ring.pos = ring_head(&ring);
		CHECK(ring_next_below(&ring, ring.pos + COMM_RECORD));
		CHECK_EQ(atoi(ring.record.comm.comm), i);
	}
	CHECK_EQ(lost_of(fd), 0);
}

static void backward_ring_keeps_the_newest(void)
{
	for (size_t pages = 1; pages <= 8; pages *= 2) {
		struct ring ring;
		int fd = map_direction(&ring, true, pages, PROT_READ);

		for (unsigned int i = 0; i < 4000; i++) {
			unsigned int seen;

			rename_mixed(i);
			if (i % 97)
				continue;
			seen = expect_newest_first(&ring, i);
			CHECK(seen >= (i + 1 < ring.size / 32 ?
				       i + 1 : ring.size / 32 - 1));
		}
		ring_unmap(&ring);
		close(fd);
	}
}

static void backward_samples_are_newest_first(void)
{
	struct fault_area area = fault_area(600);
	int fd = open_direction(fault_attr(), true);
	struct ring ring;
	uint64_t head;

	ring_map_as(&ring, fd, 2, PROT_READ);
	sample_faults(fd, &area, 600);
	head = ring_head(&ring);
	CHECK_EQ(head, -600ULL * 16);
	ring.pos = head;
	for (size_t i = 0; i < ring.size / 16; i++) {
		CHECK(ring_next_below(&ring, head + ring.size));
		CHECK_EQ(ring.record.header.type, PERF_RECORD_SAMPLE);
		CHECK_EQ(ring.record.words[1],
			 area.base + (599 - i) * page_size());
	}
	CHECK_EQ(lost_of(fd), 0);
}

/* Mapped for writing, it has a reader to wait for, who sets the tail. */
static void writable_backward_ring_refuses(void)
{
	struct ring ring;
	int fd = map_direction(&ring, true, 1, PROT_READ | PROT_WRITE);
	unsigned int fits = (unsigned int)((ring.size - 1) / COMM_RECORD);

	rename_tasks(0, fits + 9);
	CHECK_EQ(ring_head(&ring), -(uint64_t)fits * COMM_RECORD);
	CHECK_EQ(lost_of(fd), 9);
	CHECK_EQ(expect_newest_first(&ring, fits - 1), fits);
	ring_set_tail(&ring, ring_head(&ring));
	rename_task(50);
	ring.pos = ring_head(&ring);
	CHECK_EQ(ring.pos, -(uint64_t)(fits + 1) * COMM_RECORD - LOST_RECORD);
	CHECK(ring_next_below(&ring, ring.pos + LOST_RECORD));
	CHECK_EQ(ring.record.header.type, PERF_RECORD_LOST);
	CHECK_EQ(ring.record.words[2], 9);
}

/* ---- pause ---- */

static void paused_forward_ring_tells_what_it_missed(void)
{
	struct ring ring;
	int fd = map_direction(&ring, false, 1, PROT_READ | PROT_WRITE);

	rename_task(1);
	CHECK(!pause_output(fd, 1));
	rename_tasks(10, 10);
	CHECK_EQ(ring_head(&ring), COMM_RECORD);
	CHECK_EQ(lost_of(fd), 10);
	CHECK(!pause_output(fd, 0));
	CHECK_EQ(ring_head(&ring), COMM_RECORD);
	rename_tasks(2, 2);
	expect_comm(&ring, 1);
	expect_lost(&ring, event_id(fd), 10);
	expect_comm(&ring, 2);
	expect_comm(&ring, 3);
	expect_end(&ring);
	CHECK_EQ(lost_of(fd), 10);
}

static void paused_overwrite_rings_tell_it_too(void)
{
	for (int backward = 0; backward < 2; backward++) {
		struct ring ring;
		int fd = map_direction(&ring, backward, 1, PROT_READ);
		uint64_t head;

		rename_tasks(0, 1000);
		head = ring_head(&ring);
		CHECK(!pause_output(fd, 1));
		rename_tasks(0, 10);
		CHECK_EQ(ring_head(&ring), head);
		CHECK_EQ(lost_of(fd), 10);
		CHECK(!pause_output(fd, 0));
		rename_task(5);
		ring.pos = backward ? ring_head(&ring) : head;
		CHECK(ring_next_below(&ring, ring.pos + LOST_RECORD));
		CHECK_EQ(ring.record.header.type, PERF_RECORD_LOST);
		CHECK_EQ(ring.record.words[2], 10);
		CHECK(ring_next_below(&ring, ring.pos + COMM_RECORD));
		CHECK_EQ(atoi(ring.record.comm.comm), 5);
		ring_unmap(&ring);
		close(fd);
	}
}

static void pause_is_a_switch(void)
{
	static const int paused[] = { 1, 1, 2, -1, 0x100 };
	struct ring ring;
	int fd = map_direction(&ring, false, 1, PROT_READ | PROT_WRITE);

	CHECK(!pause_output(fd, 0));
	for (unsigned int i = 0; i < ARRAY_LEN(paused); i++) {
		CHECK(!pause_output(fd, paused[i]));
		rename_task(i);
		CHECK_EQ(ring_head(&ring), 0);
	}
	CHECK(!pause_output(fd, 0));
	CHECK(!pause_output(fd, 0));
	rename_task(7);
	expect_lost(&ring, event_id(fd), ARRAY_LEN(paused));
	expect_comm(&ring, 7);
}

static void pause_needs_a_ring(void)
{
	struct ring ring;
	int fd = open_comm();

	CHECK_ERRNO(pause_output(fd, 1), EINVAL);
	CHECK_ERRNO(pause_output(fd, 0), EINVAL);
	ring_map(&ring, fd, 0);
	CHECK_ERRNO(pause_output(fd, 1), EINVAL);
	CHECK_ERRNO(pause_output(fd, 0), EINVAL);
	ring_unmap(&ring);
	CHECK_ERRNO(pause_output(fd, 1), EINVAL);
	ring_map(&ring, fd, 1);
	CHECK(!pause_output(fd, 1));
}

static void pause_belongs_to_the_ring(void)
{
	struct ring ring, again;
	int fd = map_direction(&ring, false, 1, PROT_READ | PROT_WRITE);
	int other = open_direction(comm_attr(), false);

	CHECK(!set_output(other, fd));
	CHECK(!pause_output(other, 1)); /* by one event, for both */
	ring_map(&again, fd, 1);
	rename_tasks(0, 3);
	CHECK_EQ(ring_head(&ring), 0);
	CHECK_EQ(lost_of(fd), 3);
	CHECK_EQ(lost_of(other), 3);
	CHECK(!set_output(other, -1));
	ring_unmap(&again);
	ring_unmap(&ring);
	ring_map(&ring, fd, 1); /* a new ring runs */
	rename_task(4);
	expect_comm(&ring, 4);
}

/* Names count down without a gap but for what a LOST record accounts for. */
static unsigned int expect_snapshot(struct ring *ring)
{
	const struct comm_record *comm = &ring->record.comm;
	uint64_t head = ring_head(ring), lost = 0;
	uint64_t limit = head + ring->size - AT_THE_PEN;
	unsigned int seen = 0;
	int next = 0;

	for (ring->pos = head; limit - ring->pos >= COMM_RECORD;) {
		CHECK(ring_next_below(ring, limit));
		if (comm->header.type == PERF_RECORD_LOST) {
			lost = ring->record.words[2];
			continue;
		}
		CHECK_EQ(comm->header.type, PERF_RECORD_COMM);
		if (seen++)
			CHECK_EQ(atoi(comm->comm), next);
		next = atoi(comm->comm) - 1 - (int)lost;
		lost = 0;
	}
	return seen;
}

static void frozen_snapshots_are_whole(void)
{
	struct perf_event_attr attr = comm_attr();
	pid_t writer = start_renamer();
	struct ring ring;
	int fd;

	attr.write_backward = 1;
	fd = open_on(&attr, writer, -1);
	ring_map_as(&ring, fd, 4, PROT_READ);
	for (int shot = 0; shot < 50; shot++) {
		uint64_t start = ring_head(&ring);

		while (start - ring_head(&ring) < 2 * ring.size)
			usleep(500);
		CHECK(!pause_output(fd, 1));
		let_renamer_finish(writer);
		CHECK(expect_snapshot(&ring) >=
		      (ring.size - AT_THE_PEN) / COMM_RECORD - 1);
		CHECK(!pause_output(fd, 0));
	}
	CHECK(!kill(writer, SIGKILL));
}

/* ---- directions do not mix ---- */

static void directions_do_not_mix(void)
{
	for (int backward = 0; backward < 2; backward++) {
		struct ring ring;
		int fd = map_direction(&ring, backward, 1, PROT_READ);
		int other = open_direction(comm_attr(), !backward);
		int same = open_direction(comm_attr(), backward);

		CHECK_ERRNO(set_output(other, fd), EINVAL);
		CHECK(!set_output(same, fd));
		ring_unmap(&ring);
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(forward_ring_runs_on),
		CASE(forward_ring_heeds_no_tail),
		CASE(backward_head_goes_down),
		CASE(backward_ring_keeps_the_newest),
		CASE(backward_samples_are_newest_first),
		CASE(writable_backward_ring_refuses),
		CASE(paused_forward_ring_tells_what_it_missed),
		CASE(paused_overwrite_rings_tell_it_too),
		CASE(pause_is_a_switch),
		CASE(pause_needs_a_ring),
		CASE(pause_belongs_to_the_ring),
		CASE(frozen_snapshots_are_whole),
		CASE(directions_do_not_mix),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
