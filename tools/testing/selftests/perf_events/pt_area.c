// SPDX-License-Identifier: GPL-2.0
/*
 * AUX areas that intel_pt fills: a reader who keeps up has all of it, one who does not
 * is told; areas of all sizes, and areas that go while they are written.
 */
#include "perf_pt_event.h"
#include "perf_ring_locked.h"

static struct pt_trace trace;

static int open_timed(uint32_t watermark)
{
	struct perf_event_attr attr = pt_timed_attr();

	attr.aux_watermark = watermark;
	return open_self(&attr);
}

/* Trace until so many bytes of it are out, reading meanwhile or not. */
static void run_until(uint64_t bytes, bool read)
{
	const struct aux *aux = &trace.aux;

	for (int i = 0; i < 5000; i++) {
		pt_calls(50);
		if (read)
			pt_drain(&trace);
		if (aux_head(aux) >= bytes)
			return;
	}
	FAIL("the trace does not get to %" PRIu64 " bytes, but to %" PRIu64
	     " with flags %#" PRIx64, bytes, aux_head(aux), aux->flags);
}

/* ---- full mode ---- */

/*
 * How much room a transaction has is settled when it begins. With a watermark of a half,
 * the default, the reader has not had its turn then.
 */
static void who_keeps_up_has_all_of_it(void)
{
	struct pt_walk walk;
	int fd = open_timed(16384);

	pt_map(&trace, fd, 4, 16);
	enable(fd);
	run_until(3 * trace.aux.size, true);
	pt_finish(&trace);
	walk = pt_expect_whole(&trace);
	CHECK_EQ(walk.seen[PT_OVF] + walk.seen[PT_CYC] + walk.seen[PT_PTW], 0);
	CHECK(trace.aux.records >= 6);
	/* A PSB each 2 KiB, as nothing else is asked for. */
	CHECK(walk.seen[PT_PSB] >= trace.size / 4096);
	CHECK_EQ(walk.seen[PT_PSB], walk.seen[PT_PSBEND]);
}

static void it_wakes_at_the_watermark(void)
{
	int fd = open_timed(8192);
	uint64_t sum;

	pt_map(&trace, fd, 4, 32);
	CHECK_EQ(poll_now(fd), 0);
	enable(fd);
	while (!poll_now(fd))
		pt_calls(10);
	CHECK(aux_head(&trace.aux) >= 8192);
	CHECK(aux_head(&trace.aux) < trace.aux.size / 2);
	run_until(trace.aux.size / 2 + 8192, false);
	pt_drain(&trace);
	CHECK(trace.aux.records >= 4);
	sum = trace.size;
	pt_finish(&trace);
	CHECK(trace.size > sum);
	pt_expect_whole(&trace);
}

static void half_of_it_by_default(void)
{
	int fd = open_timed(0);

	pt_map(&trace, fd, 4, 32);
	enable(fd);
	while (!poll_now(fd))
		pt_calls(10);
	CHECK(aux_head(&trace.aux) >= trace.aux.size / 2);
	CHECK(aux_head(&trace.aux) < trace.aux.size);
	pt_finish(&trace);
	pt_expect_whole(&trace);
}

/* Starts and stops are ends of records, not of the trace. */
static void stops_cost_nothing(void)
{
	uint64_t before = 0;
	int fd = open_timed(0);

	pt_map(&trace, fd, 16, 64);
	for (int i = 0; i < 100; i++) {
		enable(fd);
		pt_calls(3);
		disable(fd);
		pt_drain(&trace);
		CHECK(trace.size > before);
		before = trace.size;
	}
	pt_expect_whole(&trace);
}

static void disabled_is_silent(void)
{
	uint64_t head;
	int fd = open_timed(0);

	pt_map(&trace, fd, 16, 64);
	pt_calls(10);
	CHECK_EQ(aux_head(&trace.aux), 0);
	enable(fd);
	pt_calls(10);
	disable(fd);
	head = aux_head(&trace.aux);
	pt_calls(100);
	CHECK_EQ(aux_head(&trace.aux), head);
}

/* ---- no room ---- */

static void expect_truncated(void)
{
	const struct perf_event_header *header;
	uint64_t flags = 0;

	while ((header = ring_next(&trace.aux.ring))) {
		if (header->type == PERF_RECORD_AUX)
			flags |= ((const struct aux_record *)header)->flags;
	}
	ring_release(&trace.aux.ring);
	CHECK(flags & PERF_AUX_FLAG_TRUNCATED);
}

/* Nobody reads: it goes off, says so, and what it had written stays. */
static uint64_t fill_up(int fd)
{
	struct aux *aux = &trace.aux;
	uint64_t tail = aux->ring.page->aux_tail, head = aux_head(aux), before;
	int still = 0;

	enable(fd);
	while (still < 20) {
		before = head;
		pt_calls(200);
		head = aux_head(aux);
		still = head == before ? still + 1 : 0;
	}
	CHECK(head - tail <= aux->size);
	CHECK(head - tail >= aux->size / 2);
	return head;
}

static void a_full_area(size_t pages)
{
	struct aux *aux = &trace.aux;
	int fd = open_timed(0);
	uint64_t head;

	pt_map(&trace, fd, 16, pages);
	for (int i = 0; i < 5; i++) {
		size_t begin = trace.size;
		struct pt_walk walk;

		head = fill_up(fd);
		expect_truncated();
		pt_read_to(&trace, head);
		aux_release(aux);
		CHECK_EQ(aux_head(aux), head); /* room alone is no start */
		/* Each time it begins anew. */
		walk = (struct pt_walk){ .bytes = trace.bytes + begin,
					 .size = trace.size - begin };
		pt_expect_psb(walk.bytes, walk.size);
		pt_walk_whole(&walk, true);
		CHECK(walk.seen[PT_TIP_PGE] > 20);
	}
}

static void a_full_area_of_two_pages(void)
{
	a_full_area(2);
}

static void a_full_area_of_many_pages(void)
{
	a_full_area(16);
}

/* It is the same after the last byte as before the first. */
static void no_room_from_the_start(void)
{
	int fd = open_timed(0);
	uint64_t head;

	pt_map(&trace, fd, 16, 4);
	head = fill_up(fd);
	for (int i = 0; i < 20; i++) {
		enable(fd);
		pt_calls(20);
		CHECK(aux_head(&trace.aux) - head <= trace.aux.size);
	}
	disable(fd);
	CHECK(aux_head(&trace.aux) <= trace.aux.size);
	expect_truncated();
}

/* A tail that lies must not make it write where it must not. */
static void a_tail_that_lies(void)
{
	struct aux *aux = &trace.aux;
	int fd = open_timed(0);

	pt_map(&trace, fd, 16, 4);
	for (uint64_t lie = 1; lie; lie <<= 3) {
		aux_set_tail(aux, lie);
		enable(fd);
		pt_calls(300);
		disable(fd);
		aux_set_tail(aux, -lie);
		enable(fd);
		pt_calls(20);
		disable(fd);
	}
	aux_set_tail(aux, aux_head(aux));
	ring_drain(&aux->ring);
	aux->pos = aux_head(aux);
	enable(fd);
	pt_calls(20);
	pt_finish(&trace);
	CHECK(trace.size > 100);
	pt_expect_psb(trace.bytes, trace.size);
}

/* ---- sizes ---- */

static void areas_of_all_sizes(void)
{
	for (size_t pages = 1; pages <= 64 << 8; pages *= pages < 16 ? 2 : 4) {
		int fd = open_timed(0);

		pt_map(&trace, fd, 1, pages);
		enable(fd);
		pt_calls(20);
		pt_finish(&trace);
		if (trace.aux.flags & PERF_AUX_FLAG_TRUNCATED)
			CHECK_EQ(pages, 1);
		pt_expect_psb(trace.bytes, trace.size);
		pt_unmap(&trace);
		close(fd);
	}
}

/* Around its end once. */
static void they_wrap(void)
{
	for (size_t pages = 4; pages <= 32; pages *= 2) {
		int fd = open_timed((uint32_t)(pages * page_size() / 4));

		pt_map(&trace, fd, 1, pages);
		enable(fd);
		run_until(trace.aux.size + 4096, true);
		pt_finish(&trace);
		pt_expect_whole(&trace);
		pt_unmap(&trace);
		close(fd);
	}
}

static void sizes_that_cannot_be(void)
{
	static const size_t pages[] = { 3, 5, 7, 12, 100, 1000 };
	int fd = open_timed(0);

	memset(&trace, 0, sizeof(trace));
	trace.aux.fd = fd;
	ring_map(&trace.aux.ring, fd, 1);
	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		CHECK(aux_try_map(&trace.aux, pages[i], PROT_READ | PROT_WRITE) ==
		      MAP_FAILED);
		CHECK_EQ(errno, EINVAL);
	}
}

/* ---- areas that go ---- */

static void it_is_unmapped_while_it_runs(void)
{
	int fd = open_timed(0);

	for (int i = 0; i < 10; i++) {
		pt_map(&trace, fd, 4, 16);
		enable(fd);
		pt_calls(20);
		if (i % 2) {
			aux_unmap_area(&trace.aux);
			pt_calls(20);
		}
		pt_unmap(&trace);
		pt_calls(20);
	}
	pt_map(&trace, fd, 4, 16);
	disable(fd);
	enable(fd);
	pt_calls(20);
	pt_finish(&trace);
	pt_expect_whole(&trace);
	CHECK(trace.size > 100);
	pt_unmap(&trace);
	close(fd);
	CHECK_EQ(pinned_pages(), 0);
}

/* Computes and makes system calls until it is killed. */
static pid_t start_victim(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid)
		return pid;
	for (;;) {
		pt_calls(10);
		pt_loop(50);
	}
}

static void end_victim(pid_t pid)
{
	CHECK(!kill(pid, SIGKILL));
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

/* Another task is traced, in any order of what goes first. */
static void anything_may_go_first(void)
{
	for (unsigned int order = 0; order < 24; order++) {
		struct perf_event_attr attr = pt_timed_attr();
		pid_t victim = start_victim();
		int fd = open_on(&attr, victim, -1);

		pt_map(&trace, fd, 4, 16);
		enable(fd);
		usleep(order % 3 * 2000);
		for (unsigned int i = 0; i < 4; i++) {
			switch ((order + i * (1 + order / 4)) % 4) {
			case 0:
				if (trace.aux.words)
					aux_unmap_area(&trace.aux);
				break;
			case 1:
				if (fd >= 0)
					close(fd);
				fd = -1;
				break;
			case 2:
				if (victim)
					end_victim(victim);
				victim = 0;
				break;
			default:
				if (trace.aux.ring.page)
					ring_unmap(&trace.aux.ring);
				trace.aux.ring.page = NULL;
				break;
			}
			usleep(500);
		}
		if (trace.aux.words)
			aux_unmap_area(&trace.aux);
		if (trace.aux.ring.page)
			ring_unmap(&trace.aux.ring);
		if (fd >= 0)
			close(fd);
		if (victim)
			end_victim(victim);
	}
	CHECK_EQ(pinned_pages(), 0);
	expect_whole_allowance();
}

/* A mapping keeps the event whose file has been closed; it goes with the last one. */
static void a_mapping_keeps_the_event(void)
{
	int fd = open_timed(0);
	uint64_t before;

	pt_map(&trace, fd, 4, 64);
	enable(fd);
	pt_calls(20);
	close(fd);
	before = aux_head(&trace.aux);
	pt_calls(20);
	usleep(1000); /* who sleeps has been switched out, which ends a record */
	CHECK(aux_head(&trace.aux) - before > 100);
	pt_drain(&trace);
	pt_expect_whole(&trace);
	pt_unmap(&trace);
	fd = open_timed(0); /* or it would be in the way */
	close(fd);
	CHECK_EQ(pinned_pages(), 0);
}

/* An event without an area to write to is on and makes nothing. */
static void without_an_area(void)
{
	int fd = open_timed(0);

	enable(fd);
	pt_calls(10);
	disable(fd);
	memset(&trace, 0, sizeof(trace));
	trace.aux.fd = fd;
	ring_map(&trace.aux.ring, fd, 1);
	enable(fd);
	pt_calls(10);
	disable(fd);
	CHECK_EQ(aux_head(&trace.aux), 0);
	pt_unmap(&trace);
	pt_map(&trace, fd, 1, 4);
	enable(fd);
	pt_calls(10);
	pt_finish(&trace);
	pt_expect_whole(&trace);
}

/* Other events' records go to the same ring, and leave the trace alone. */
static void others_write_beside_it(void)
{
	int fd = open_timed(0), other = open_comm();
	const struct perf_event_header *header;
	unsigned int comms = 0;

	pt_map(&trace, fd, 4, 16);
	CHECK(!set_output(other, fd));
	enable(fd);
	for (unsigned int i = 0; i < 5; i++) {
		rename_task(i);
		pt_calls(10);
	}
	disable(fd);
	while ((header = ring_next(&trace.aux.ring))) {
		const struct aux_record *record = (const void *)header;

		comms += header->type == PERF_RECORD_COMM;
		if (header->type == PERF_RECORD_AUX)
			pt_read_to(&trace, trace.aux.pos + record->size);
	}
	CHECK_EQ(comms, 5);
	pt_expect_whole(&trace);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(who_keeps_up_has_all_of_it),
		CASE(it_wakes_at_the_watermark),
		CASE(half_of_it_by_default),
		CASE(stops_cost_nothing),
		CASE(disabled_is_silent),
		CASE(a_full_area_of_two_pages),
		CASE(a_full_area_of_many_pages),
		CASE(no_room_from_the_start),
		CASE(a_tail_that_lies),
		CASE(areas_of_all_sizes),
		CASE(they_wrap),
		CASE(sizes_that_cannot_be),
		CASE(it_is_unmapped_while_it_runs),
		CASE(anything_may_go_first),
		CASE(a_mapping_keeps_the_event),
		CASE(without_an_area),
		CASE(others_write_beside_it),
	};

	return run_locked_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
