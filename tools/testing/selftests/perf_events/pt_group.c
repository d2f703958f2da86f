// SPDX-License-Identifier: GPL-2.0
/*
 * intel_pt as others use it: areas that are overwritten, samples of the latest trace in
 * other events, and events that pause and resume it.
 */
#include "perf_pt_event.h"
#include "perf_ring_task.h"

static struct pt_trace trace;
static struct fault_area area;
static struct ring ring;

/* ---- overwritten ---- */

static int open_overwritten(size_t pages)
{
	struct perf_event_attr attr = pt_timed_attr();
	int fd = open_self(&attr);

	memset(&trace, 0, sizeof(trace));
	aux_map_as(&trace.aux, fd, 4, pages, PROT_READ);
	return fd;
}

/* The latest bytes, as they have been written: those before aux_head end it. */
static void take_latest(bool wrapped)
{
	struct aux *aux = &trace.aux;
	const uint8_t *bytes = (const uint8_t *)aux->words;
	uint64_t end = aux_head(aux) & (aux->size - 1);

	trace.size = 0;
	if (wrapped)
		pt_keep(&trace, bytes + end, aux->size - end);
	pt_keep(&trace, bytes, end);
}

/* From its first PSB on it is packets, to the very end. */
static struct pt_walk walk_latest(void)
{
	struct pt_walk walk = pt_walk_of(&trace);

	if (!pt_seek_psb(&walk, 0))
		FAIL("there is no PSB in %zu bytes", trace.size);
	pt_walk_whole(&walk, false);
	return walk;
}

static void no_more_than_the_area(void)
{
	for (size_t pages = 2; pages <= 32; pages *= 4) {
		int fd = open_overwritten(pages);
		struct pt_walk walk;
		unsigned int calls = (unsigned int)pages * 400;

		enable(fd);
		pt_calls(calls); /* more than the area can hold */
		disable(fd);
		take_latest(true);
		walk = walk_latest();
		CHECK(walk.seen[PT_TIP_PGE] > pages * 50);
		CHECK(walk.seen[PT_TIP_PGE] < calls);
		CHECK_EQ(walk.seen[PT_OVF], 0);
		pt_unmap(&trace);
		close(fd);
	}
}

/* One page is a range without a table where the hardware can do that. */
static void a_single_page(void)
{
	int fd = open_overwritten(1);

	for (int i = 0; i < 5; i++) {
		enable(fd);
		pt_calls(500);
		disable(fd);
		take_latest(true);
		CHECK(walk_latest().seen[PT_TIP_PGE] > 20);
	}
}

static void less_than_the_area(void)
{
	int fd = open_overwritten(64);
	struct pt_walk walk;

	enable(fd);
	pt_calls(50);
	disable(fd);
	CHECK(aux_head(&trace.aux) < trace.aux.size);
	take_latest(false);
	pt_expect_psb(trace.bytes, trace.size);
	walk = walk_latest();
	CHECK(walk.seen[PT_TIP_PGE] >= 50);
}

/* It goes on where it was, and nobody is told of anything but its place. */
static void stops_go_on(void)
{
	int fd = open_overwritten(16);
	const struct perf_event_header *header;

	for (int i = 0; i < 100; i++) {
		enable(fd);
		pt_calls(50);
		disable(fd);
	}
	take_latest(true);
	walk_latest();
	while ((header = ring_next(&trace.aux.ring))) {
		const struct aux_record *record = (const void *)header;

		if (header->type != PERF_RECORD_AUX)
			continue;
		CHECK(!(record->flags & PERF_AUX_FLAG_TRUNCATED));
	}
	CHECK_EQ(poll_now(fd), 0);
}

/* ---- samples of it ---- */

static int open_sampler(int leader, uint32_t size)
{
	struct perf_event_attr attr = fault_attr();

	attr.disabled = 0;
	attr.sample_type = PERF_SAMPLE_AUX;
	attr.aux_sample_size = size;
	return perf_open(&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

/* The bytes of the next sample, without the zeros that stand for what is missing. */
static bool next_sample(struct pt_walk *walk, uint32_t size)
{
	const uint64_t *words = ring.record.words;
	const struct perf_event_header *header;

	do
		header = ring_next(&ring);
	while (header && header->type != PERF_RECORD_SAMPLE);
	if (!header)
		return false;
	CHECK_EQ(words[1], size);
	CHECK_EQ(header->size, 16 + size);
	*walk = (struct pt_walk){ .bytes = (const uint8_t *)&words[2], .size = size };
	return true;
}

static void samples_of_the_latest(void)
{
	static const uint32_t sizes[] = { 4096, 8192, 16384 };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		int leader = open_overwritten(16), fd;
		unsigned int whole = 0;

		if (!i)
			area = fault_area(16);
		fd = open_sampler(leader, sizes[i]);
		if (fd < 0)
			FAIL("no sample of %u bytes: %s", sizes[i], strerror(errno));
		ring_map(&ring, fd, 64);
		for (int fault = 0; fault < 6; fault++) {
			struct pt_walk walk;

			fault_again(&area);
			enable(leader);
			pt_calls(sizes[i] / 10);
			touch_pages(&area, 1);
			disable(leader);
			while (next_sample(&walk, sizes[i])) {
				enum pt_packet last = PT_PAD, kind;

				if (!pt_seek_psb(&walk, 0))
					continue;
				while ((kind = pt_next(&walk)) < PT_PACKETS)
					last = kind == PT_PAD ? last : kind;
				if (kind == PT_BAD)
					FAIL("at %zu of a sample is no packet",
					     walk.place);
				CHECK_EQ(walk.at, walk.size);
				/* It has left user mode by the fault. */
				CHECK(last == PT_TIP_PGD || last == PT_TSC ||
				      last == PT_MTC || last == PT_CYC ||
				      last == PT_PSBEND);
				whole++;
			}
			ring_release(&ring);
		}
		CHECK(whole >= 3);
		ring_unmap(&ring);
		close(fd);
		pt_unmap(&trace);
		close(leader);
	}
}

/* What nobody takes away can be sampled, the rest cannot. */
static void only_what_is_overwritten(void)
{
	struct perf_event_attr attr = pt_timed_attr();
	int leader = open_self(&attr), fd;

	area = fault_area(16);
	pt_map(&trace, leader, 4, 16);
	fd = open_sampler(leader, 4096);
	CHECK(fd >= 0);
	ring_map(&ring, fd, 64);
	enable(leader);
	fault_again(&area);
	touch_pages(&area, 4);
	disable(leader);
	for (unsigned int i = 0; i < 4; i++) {
		const uint64_t *words = ring.record.words;
		struct pt_walk walk;

		CHECK(next_sample(&walk, 4096));
		for (size_t at = 0; at < 4096 / 8; at++)
			CHECK_EQ(words[2 + at], 0);
	}
}

/*
 * Samples while the trace is on all the time, as often as can be. Who looked for PSBs in
 * them meanwhile would be traced at that as well.
 */
static void many_samples(void)
{
	int leader = open_overwritten(16), fd;
	struct perf_event_attr attr = software_attr(PERF_COUNT_SW_CPU_CLOCK);
	struct pt_walk walk;
	unsigned int nr = 0;

	attr.sample_period = 3000000;
	attr.sample_type = PERF_SAMPLE_AUX;
	attr.aux_sample_size = 2048;
	attr.exclude_kernel = 0;
	fd = perf_open(&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
	CHECK(fd >= 0);
	ring_map(&ring, fd, 64);
	enable(leader);
	for (int i = 0; i < 2000 && ring_head(&ring) < 20 * 2048; i++) {
		pt_calls(20);
		pt_loop(100);
	}
	disable(leader);
	for (; next_sample(&walk, 2048); nr++) {
		enum pt_packet kind = PT_PAD;

		if (pt_seek_psb(&walk, 0))
			while ((kind = pt_next(&walk)) < PT_PACKETS)
				;
		CHECK(kind != PT_BAD);
	}
	ring_release(&ring);
	CHECK(nr > 0);
	take_latest(true);
	walk_latest();
	remark("%u samples", nr);
}

/* ---- paused and resumed ---- */

static int open_switch(int leader, bool pause)
{
	struct perf_event_attr attr = fault_attr();

	attr.disabled = 0;
	attr.sample_type = 0;
	attr.aux_pause = pause;
	attr.aux_resume = !pause;
	return perf_open(&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static int open_paused(bool start_paused)
{
	struct perf_event_attr attr = pt_timed_attr();
	int fd;

	attr.aux_start_paused = start_paused;
	fd = open_self(&attr);
	pt_map(&trace, fd, 4, 256);
	return fd;
}

static size_t traced_by(unsigned int calls, bool with_fault)
{
	size_t before = trace.size;

	fault_again(&area);
	enable(trace.aux.fd);
	pt_calls(calls);
	if (with_fault)
		touch_pages(&area, 1);
	pt_calls(calls);
	pt_finish(&trace);
	return trace.size - before;
}

static void it_starts_paused_until_it_is_resumed(void)
{
	int leader, fd;

	area = fault_area(4);
	leader = open_paused(true);
	fd = open_switch(leader, false);
	CHECK(fd >= 0);
	for (int i = 0; i < 5; i++) {
		CHECK_EQ(traced_by(20, false), 0);
		CHECK(traced_by(20, true) > 20 * 6);
		pt_expect_whole(&trace);
		pt_unmap(&trace);
		close(fd);
		close(leader);
		leader = open_paused(true);
		fd = open_switch(leader, false);
	}
}

static void it_is_paused(void)
{
	size_t whole, half;
	int leader, fd;

	area = fault_area(4);
	leader = open_paused(false);
	whole = traced_by(200, false);
	fd = open_switch(leader, true);
	CHECK(fd >= 0);
	half = traced_by(200, true);
	CHECK(half < whole);
	CHECK(half > whole / 4);
	pt_expect_whole(&trace);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(no_more_than_the_area),
		CASE(a_single_page),
		CASE(less_than_the_area),
		CASE(stops_go_on),
		CASE(samples_of_the_latest),
		CASE(only_what_is_overwritten),
		CASE(many_samples),
		CASE(it_starts_paused_until_it_is_resumed),
		CASE(it_is_paused),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
