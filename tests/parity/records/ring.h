/* SPDX-License-Identifier: GPL-2.0 */
/* An event with its ring, and how the ring's bytes become text. */
#ifndef PARITY_RING_H
#define PARITY_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

struct ring {
	int fd;
	struct perf_event_attr attr;
	uint64_t id;
	struct perf_event_mmap_page *page;	/* NULL: not mapped */
	const uint8_t *data;
	size_t size;		/* of the data area */
	bool writable;		/* the tail is ours to move */
	uint64_t opened;	/* CLOCK_MONOTONIC */
};

enum ring_access { RING_READ_WRITE, RING_READ_ONLY };

/* perf_event_open(2): a file descriptor or a negative errno */
int try_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group);

/* These end the case with an error if the kernel refuses. */
void open_event(struct ring *ring, const struct perf_event_attr *attr, pid_t pid, int cpu,
		int group);
void open_own(struct ring *ring, const struct perf_event_attr *attr);
void map_ring(struct ring *ring, size_t pages, enum ring_access access);
void unmap_ring(struct ring *ring);
void close_ring(struct ring *ring);
void enable(const struct ring *ring);
void disable(const struct ring *ring);
void control(const struct ring *ring, unsigned long request, unsigned long argument);

/* How far the kernel has got. */
uint64_t ring_head(const struct ring *ring);
uint64_t ring_tail(const struct ring *ring);

/* @record is a copy that lasts as long as the call. */
typedef void (*record_user)(const struct ring *ring, const struct perf_event_header *record,
			    void *argument);
/* Hands each unread record to @use, at most @most, and frees what was handed out. */
size_t each_record(struct ring *ring, size_t most, record_user use, void *argument);

/* The same, but starts at a position and frees nothing. */
size_t each_record_from(struct ring *ring, uint64_t at, record_user use, void *argument);

/* A record_user whose argument is a struct time_rule. */
void dump_one(const struct ring *ring, const struct perf_event_header *record, void *times);

/* Dumps all unread records, with the ring's positions before and after. */
void dump_ring(struct ring *ring);
size_t dump_records(struct ring *ring, size_t most);
size_t dump_from(struct ring *ring, uint64_t at);
/* Each different line once, in order of the text. */
void dump_kinds(struct ring *ring);
/* What read(2) says. */
void dump_counts(const struct ring *ring);

#endif
