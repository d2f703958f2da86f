/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of an AUX area's life share: events that write it fast, events that
 * only share it, tasks that are traced, and areas that come back.
 */
#ifndef PERF_AUX_LIFE_H
#define PERF_AUX_LIFE_H

#include "perf_aux_event.h"

#include <sched.h>

/* A page at a time and two a millisecond: always in the middle of something. */
#define FAST_RATE 8000000
#define FAST_BURST 4096

/* A transaction is @chunk bytes long; 0: up to the watermark. */
static inline struct perf_event_attr fast_attr_in(uint64_t chunk)
{
	struct perf_event_attr attr = aux_attr();

	attr.exclude_kernel = 1; /* or plain users may not have it */
	aux_field(&attr, "rate", FAST_RATE);
	aux_field(&attr, "burst", FAST_BURST);
	aux_field(&attr, "chunk", chunk);
	return attr;
}

static inline struct perf_event_attr fast_attr(void)
{
	return fast_attr_in(FAST_BURST / 2);
}

/* Counts nothing and writes no AUX data, but may share a ring that has an area. */
static inline int open_plain(pid_t pid, int cpu)
{
	struct perf_event_attr attr = software_attr(PERF_COUNT_SW_DUMMY);

	return open_on(&attr, pid, cpu);
}

static inline int open_plain_to(int target)
{
	int fd = open_plain(0, -1);

	CHECK(!set_output(fd, target));
	return fd;
}

/* Bytes that could be had now. */
static inline uint64_t memory_available(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long long kb = 0;
	char line[256];

	CHECK(file);
	while (!kb && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu", &kb) != 1)
			kb = 0;
	fclose(file);
	return kb * 1024;
}

/* ---- mappings of an area ---- */

static inline void aux_ask(struct perf_event_mmap_page *page, uint64_t offset,
			   uint64_t size)
{
	page->aux_offset = offset;
	page->aux_size = size;
}

static inline void *map_bytes(int fd, uint64_t offset, uint64_t size, int prot)
{
	return mmap(NULL, size, prot, MAP_SHARED, fd, (off_t)offset);
}

/* One more mapping of the area, through whichever event of the ring. */
static inline const uint64_t *aux_map_through(const struct aux *aux, int fd)
{
	const struct perf_event_mmap_page *page = aux->ring.page;
	void *words = map_bytes(fd, page->aux_offset, page->aux_size,
				PROT_READ | PROT_WRITE);

	if (words == MAP_FAILED)
		FAIL("one more AUX mapping: %s", strerror(errno));
	return words;
}

/* An area that has been mapped for the same ring: what was not read before is gone. */
static inline void aux_take_area(struct aux *aux, void *words, size_t pages)
{
	aux->words = words;
	aux->size = pages * page_size();
	aux->pos = aux_head(aux);
	aux_release(aux);
}

static inline void aux_map_area(struct aux *aux, size_t pages)
{
	void *words = aux_try_map(aux, pages, PROT_READ | PROT_WRITE);

	if (words == MAP_FAILED)
		FAIL("AUX mmap of %zu pages: %s", pages, strerror(errno));
	aux_take_area(aux, words, pages);
}

/* A new ring and area for an event whose stream has begun already. */
static inline void aux_map_anew(struct aux *aux, size_t data_pages,
				size_t aux_pages)
{
	uint64_t next = aux->next, id = aux->id, kept = aux->kept;

	aux_map(aux, aux->fd, data_pages, aux_pages);
	aux->next = next;
	aux->id = id;
	aux->kept = kept;
}

/* ---- time for a stream ---- */

static inline uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* On the CPU: an event of the own task runs. */
static inline void spin_us(uint64_t us)
{
	uint64_t end = now_us() + us;

	while (now_us() < end)
		;
}

/*
 * Until there is something that has not been read; this task stays on its CPU. An
 * event that has met a full area is off, and goes on here.
 */
static inline void await_words(const struct aux *aux)
{
	uint64_t start = now_us();

	while (aux_head(aux) == aux->pos) {
		if (now_us() - start > 5000000)
			FAIL("nothing is written to the area");
		spin_us(500);
		enable(aux->fd);
	}
}

/* It writes, and what it writes goes on where the reader was. */
static inline void expect_goes_on(struct aux *aux)
{
	uint64_t kept = aux->kept;

	disable(aux->fd);
	enable(aux->fd);
	await_words(aux);
	aux_drain(aux);
	await_words(aux);
	aux_finish(aux);
	CHECK(aux->kept > kept);
}

/* Off, in whatever way: nothing moves. */
static inline void expect_still(const struct aux *aux)
{
	uint64_t head = aux_head(aux);

	spin_us(3000);
	CHECK_EQ(aux_head(aux), head);
}

/* ---- tasks to be traced, and CPUs ---- */

/* Computes until it is killed; runs on that CPU if that is not -1. */
static inline pid_t start_spinner(int cpu)
{
	pid_t pid = fork();
	cpu_set_t only;

	CHECK(pid >= 0);
	if (pid)
		return pid;
	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	if (cpu >= 0 && sched_setaffinity(0, sizeof(only), &only))
		_exit(1);
	for (;;)
		;
}

static inline void end_spinner(pid_t pid)
{
	CHECK(!kill(pid, SIGKILL));
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
}

static inline void stay_on_cpu(int cpu)
{
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	CHECK(!sched_setaffinity(0, sizeof(only), &only));
}

#endif /* PERF_AUX_LIFE_H */
