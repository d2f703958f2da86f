/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of intel_pt, their areas, and a reader that keeps all bytes in one piece.
 *
 * struct aux has the area; its `words` are bytes here. Without Intel PT, real or emulated,
 * a case that asks for an attribute is skipped.
 */
#ifndef PERF_PT_EVENT_H
#define PERF_PT_EVENT_H

#include "perf_aux_event.h"
#include "perf_pt_packets.h"

#include <sched.h>

#define PT "intel_pt"
#define PT_COUNTS "/sys/kernel/debug/intel_pt_emu"

/* ---- the PMU ---- */

static inline void pt_field(struct perf_event_attr *attr, const char *name,
			    uint64_t value)
{
	pmu_field(PT, attr, name, value);
}

/* User mode, every branch, no clocks. */
static inline struct perf_event_attr pt_attr(void)
{
	struct perf_event_attr attr = aux_attr_of(PT);

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

/* And the clocks that perf asks for. */
static inline struct perf_event_attr pt_timed_attr(void)
{
	struct perf_event_attr attr = pt_attr();

	pt_field(&attr, "tsc", 1);
	pt_field(&attr, "noretcomp", 1);
	return attr;
}

/* caps/NAME, which is hexadecimal. */
static inline uint64_t pt_cap(const char *name)
{
	char file[64], text[32];

	snprintf(file, sizeof(file), "caps/%s", name);
	if (!pmu_file(PT, file, text, sizeof(text)))
		FAIL("there is no %s", file);
	return strtoull(text, NULL, 16);
}

static inline bool pt_is_emulated(void)
{
	return pmu_has(PT, "emulated");
}

/* What the emulated hardware has counted; 0 on real hardware, which tells nobody. */
static inline uint64_t pt_count(const char *name)
{
	FILE *file = fopen(PT_COUNTS, "r");
	unsigned long long value;
	uint64_t found = 0;
	char what[64];

	if (!file)
		return 0;
	while (fscanf(file, "%63s %llu", what, &value) == 2)
		if (!strcmp(what, name))
			found = value;
	fclose(file);
	return found;
}

/*
 * An event of this task that can have address filters. Files are only looked for in new
 * mappings while somebody wants to know of these.
 */
static inline int pt_open_filtered(void)
{
	struct perf_event_attr attr = pt_attr();

	attr.mmap = 1;
	if (!pt_cap("num_address_ranges"))
		SKIP("there are no address ranges");
	return open_self(&attr);
}

/* ---- a trace, in one piece ---- */

struct pt_trace {
	struct aux aux;
	uint8_t *bytes;
	size_t size, room;
};

static inline void pt_keep(struct pt_trace *trace, const void *from, size_t size)
{
	if (trace->size + size > trace->room) {
		trace->room = 2 * (trace->size + size);
		trace->bytes = realloc(trace->bytes, trace->room);
		CHECK(trace->bytes);
	}
	memcpy(trace->bytes + trace->size, from, size);
	trace->size += size;
}

static inline void pt_map(struct pt_trace *trace, int fd, size_t data_pages,
			  size_t aux_pages)
{
	memset(trace, 0, sizeof(*trace));
	aux_map(&trace->aux, fd, data_pages, aux_pages);
}

/* The bytes up to @head, across the end of the area; their space is kept. */
static inline void pt_read_to(struct pt_trace *trace, uint64_t head)
{
	struct aux *aux = &trace->aux;
	const uint8_t *area = (const uint8_t *)aux->words;

	CHECK(head - aux->pos <= aux->size);
	while (aux->pos != head) {
		uint64_t place = aux->pos & (aux->size - 1);
		uint64_t size = head - aux->pos;

		if (size > aux->size - place)
			size = aux->size - place;
		pt_keep(trace, area + place, size);
		aux->pos += size;
	}
}

/*
 * All records and all bytes. Each record that brings bytes begins where the one before it
 * has ended, and the last one ends at the head.
 */
static inline void pt_drain(struct pt_trace *trace)
{
	const struct perf_event_header *header;
	struct aux *aux = &trace->aux;

	while ((header = ring_next(&aux->ring))) {
		const struct aux_record *record = (const void *)header;

		CHECK(header->type != PERF_RECORD_LOST);
		aux_take_record(aux, header);
		if (header->type != PERF_RECORD_AUX)
			continue;
		if (record->size)
			CHECK_EQ(record->offset, aux->pos);
		pt_read_to(trace, aux->pos + record->size);
	}
	ring_release(&aux->ring);
	aux_release(aux);
}

static inline void pt_finish(struct pt_trace *trace)
{
	disable(trace->aux.fd);
	pt_drain(trace);
	CHECK_EQ(aux_head(&trace->aux), trace->aux.pos);
}

static inline void pt_unmap(struct pt_trace *trace)
{
	aux_unmap(&trace->aux);
	free(trace->bytes);
	trace->bytes = NULL;
}

static inline struct pt_walk pt_walk_of(const struct pt_trace *trace)
{
	return (struct pt_walk){ .bytes = trace->bytes, .size = trace->size };
}

/* A PSB, maybe behind packets of the clocks. */
static inline void pt_expect_psb(const uint8_t *bytes, size_t size)
{
	struct pt_walk walk = { .bytes = bytes, .size = size };
	enum pt_packet kind;

	do
		kind = pt_next(&walk);
	while (kind == PT_CYC || kind == PT_MTC);
	if (kind != PT_PSB)
		FAIL("a trace begins with %02x %02x %02x %02x, no PSB",
		     bytes[0], bytes[1], bytes[2], bytes[3]);
}

/* It begins with a PSB, and is packets through and through. */
static inline struct pt_walk pt_expect_whole(const struct pt_trace *trace)
{
	struct pt_walk walk = pt_walk_of(trace);

	CHECK(trace->size >= PT_PSB_BYTES);
	pt_expect_psb(trace->bytes, trace->size);
	pt_walk_whole(&walk, false);
	CHECK_EQ(trace->aux.flags & (PERF_AUX_FLAG_TRUNCATED |
				     PERF_AUX_FLAG_PARTIAL), 0);
	/* What begins ends, but for the last, which may have been given up. */
	CHECK(walk.seen[PT_TIP_PGE] - walk.seen[PT_TIP_PGD] <= 1);
	return walk;
}

/* ---- something to trace ---- */

static inline void stay_on(int cpu)
{
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	CHECK(!sched_setaffinity(0, sizeof(only), &only));
}

/* System calls leave user mode and come back: some 15 bytes each with time stamps. */
static inline void pt_calls(unsigned int nr)
{
	while (nr--)
		syscall(SYS_getppid);
}

/* A loop of so many conditional branches, of which one is not taken; none of none. */
static inline void pt_loop(unsigned long nr)
{
	if (!nr)
		return;
	asm volatile("1: dec %0\n"
		     "jnz 1b"
		     : "+r" (nr) : : "cc");
}

#endif /* PERF_PT_EVENT_H */
