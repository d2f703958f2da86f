/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AUX records one by one, events that run whether or not the test does, and time
 * for them to do so.
 *
 * An event of a CPU writes while the test sleeps; one of the own task only while it
 * spins, and each switch of tasks ends a transaction of it.
 */
#ifndef PERF_AUX_RECORD_H
#define PERF_AUX_RECORD_H

#include "perf_aux_event.h"

#include <sched.h>

#define AUX_RECORD 32 /* header, offset, size, flags */
#define AUX_LOST_RECORD 48 /* and lost, since */

/* ---- time and place ---- */

static inline uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static inline void spin_ms(unsigned int ms)
{
	uint64_t end = now_us() + ms * 1000;

	while (now_us() < end)
		;
}

static inline void sleep_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

static inline void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set));
}

static inline int cpus_online(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* ---- events ---- */

static inline int open_on_cpu(const struct perf_event_attr *attr, int cpu)
{
	return open_on(attr, -1, cpu);
}

/* For an event of a CPU. */
static inline void run_for(int fd, unsigned int ms)
{
	enable(fd);
	sleep_ms(ms);
	disable(fd);
}

/* Opened with PERF_FORMAT_TOTAL_TIME_ENABLED alone; the time of one that is on goes on. */
static inline uint64_t time_enabled(int fd)
{
	uint64_t values[2];

	CHECK_EQ(read(fd, values, sizeof(values)), sizeof(values));
	return values[1];
}

static inline bool is_on(int fd)
{
	uint64_t before = time_enabled(fd);

	spin_ms(2);
	return time_enabled(fd) != before;
}

/*
 * A CPU of a virtual machine may stand still for a while, so tests wait for what they
 * expect and see then that it was not more.
 */
static inline void wait_for_head(const struct aux *aux, uint64_t head)
{
	uint64_t end = now_us() + 5000000;

	while (aux_head(aux) < head && now_us() < end)
		spin_ms(1);
	CHECK_EQ(aux_head(aux), head);
}

static inline bool goes_off(int fd)
{
	for (int i = 0; i < 100; i++)
		if (!is_on(fd))
			return true;
	return false;
}

/* ---- records ---- */

/* The next AUX record, which has been counted; others are let pass. */
static inline const struct aux_record *aux_next_record(struct aux *aux)
{
	const struct perf_event_header *record;

	while ((record = ring_next(&aux->ring))) {
		aux_take_record(aux, record);
		if (record->type == PERF_RECORD_AUX)
			return (const struct aux_record *)record;
	}
	return NULL;
}

static inline const struct aux_record *expect_aux_record(struct aux *aux)
{
	const struct aux_record *record = aux_next_record(aux);

	if (!record)
		FAIL("the data ring ends before an AUX record");
	return record;
}

static inline void expect_no_aux_record(struct aux *aux)
{
	const struct aux_record *record = aux_next_record(aux);

	if (record)
		FAIL("an AUX record of %" PRIu64 " bytes with flags %#" PRIx64
		     " where there should be none", record->size,
		     record->flags);
}

/* The time in its trailer, if that is the trailer's only word. */
static inline uint64_t record_time(const struct aux_record *record)
{
	return ((const uint64_t *)record)[record->header.size / 8 - 1];
}

/*
 * All records that there are, each to begin where the one before it ended, and the
 * words that they name. Returns where the last one ends.
 */
static inline uint64_t aux_follow(struct aux *aux)
{
	const struct aux_record *record;

	while ((record = aux_next_record(aux))) {
		CHECK_EQ(record->offset, aux->pos);
		aux_read_to(aux, record->offset + record->size);
	}
	ring_release(&aux->ring);
	aux_release(aux);
	return aux->pos;
}

#endif /* PERF_AUX_RECORD_H */
