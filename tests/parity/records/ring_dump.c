// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case.h"
#include "decode.h"
#include "ring.h"
#include "work.h"

#define MOST_EVENTS 64
#define MOST_RECORD (1 << 16)

/* Rings are shared: the identifier in a record says whose layout it has. */
static struct {
	uint64_t id;
	struct perf_event_attr attr;
} events[MOST_EVENTS];
static size_t event_count;

void remember_event(const struct ring *ring)
{
	if (event_count == MOST_EVENTS)
		errx(1, "more than %d events in one case: raise MOST_EVENTS", MOST_EVENTS);
	events[event_count].id = ring->id;
	events[event_count].attr = ring->attr;
	event_count++;
}

static uint64_t identifier_of(const struct perf_event_header *record)
{
	size_t at = sizeof(*record);
	uint64_t id;

	if (record->type != PERF_RECORD_SAMPLE)
		at = record->size - sizeof(id);
	memcpy(&id, (const uint8_t *)record + at, sizeof(id));
	return id;
}

static const struct perf_event_attr *attr_for(const struct ring *ring,
					      const struct perf_event_header *record)
{
	uint64_t id;

	if (!(ring->attr.sample_type & PERF_SAMPLE_IDENTIFIER))
		return &ring->attr;
	if (record->type != PERF_RECORD_SAMPLE && !ring->attr.sample_id_all)
		return &ring->attr;
	id = identifier_of(record);
	for (size_t i = 0; i < event_count; i++) {
		if (events[i].id == id)
			return &events[i].attr;
	}
	return &ring->attr;
}

static void copy_out(const struct ring *ring, uint64_t at, void *to, size_t size)
{
	size_t offset = at & (ring->size - 1);
	size_t first = size < ring->size - offset ? size : ring->size - offset;

	memcpy(to, ring->data + offset, first);
	memcpy((uint8_t *)to + first, ring->data, size - first);
}

/* False at the end, and where the bytes are no record. */
static bool fetch(const struct ring *ring, uint64_t at, uint64_t end, void *record)
{
	struct perf_event_header header;

	if (end - at < sizeof(header))
		return false;
	copy_out(ring, at, &header, sizeof(header));
	if (header.size < sizeof(header) || header.size % 8) {
		say("BAD RECORD type=%u size=%u\n", header.type, header.size);
		return false;
	}
	if (header.size > end - at) {
		/* The oldest one of a ring that has wrapped is cut. */
		if (!ring->attr.write_backward)
			say("CUT RECORD type=%u size=%u\n", header.type, header.size);
		return false;
	}
	copy_out(ring, at, record, header.size);
	return true;
}

/* Returns where the first record starts that was not handed out. */
static uint64_t walk(struct ring *ring, uint64_t at, uint64_t end, size_t most,
		     record_user use, void *argument, size_t *count)
{
	struct perf_event_header *record = malloc(MOST_RECORD);

	if (!record)
		err(1, "malloc");
	for (*count = 0; *count < most && fetch(ring, at, end, record); ++*count) {
		use(ring, record, argument);
		at += record->size;
	}
	free(record);
	return at;
}

/* A backward ring's positions count down from 0; the newest record is at head. */
static size_t each_backward(struct ring *ring, size_t most, record_user use, void *argument)
{
	uint64_t head = ring_head(ring);
	uint64_t written = -head;
	size_t count;

	walk(ring, head, head + (written < ring->size ? written : ring->size), most, use,
	     argument, &count);
	return count;
}

size_t each_record(struct ring *ring, size_t most, record_user use, void *argument)
{
	uint64_t at;
	size_t count;

	if (ring->attr.write_backward)
		return each_backward(ring, most, use, argument);
	at = walk(ring, ring_tail(ring), ring_head(ring), most, use, argument, &count);
	if (ring->writable)
		__atomic_store_n(&ring->page->data_tail, at, __ATOMIC_RELEASE);
	return count;
}

size_t each_record_from(struct ring *ring, uint64_t at, record_user use, void *argument)
{
	size_t count;

	walk(ring, at, ring_head(ring), SIZE_MAX, use, argument, &count);
	return count;
}

static void print_line(const struct ring *ring, const struct perf_event_header *record,
		       struct time_rule *times, FILE *out)
{
	struct record one = {
		.bytes = record, .size = record->size,
		.attr = attr_for(ring, record), .times = times,
	};

	print_record(out, &one);
}

static struct time_rule rule_for(const struct ring *ring)
{
	struct time_rule rule = { .backward = ring->attr.write_backward };

	if (ring->attr.use_clockid && ring->attr.clockid == CLOCK_MONOTONIC) {
		rule.from = ring->opened;
		rule.to = monotonic_now();
	}
	return rule;
}

void dump_one(const struct ring *ring, const struct perf_event_header *record, void *times)
{
	print_line(ring, record, times, case_output);
	say("\n");
}

size_t dump_records(struct ring *ring, size_t most)
{
	struct time_rule times = rule_for(ring);

	return each_record(ring, most, dump_one, &times);
}

size_t dump_from(struct ring *ring, uint64_t at)
{
	struct time_rule times = rule_for(ring);

	return each_record_from(ring, at, dump_one, &times);
}

void dump_ring(struct ring *ring)
{
	size_t count;

	say("ring size=%#zx head=%#llx tail=%#llx\n", ring->size,
	    (unsigned long long)ring_head(ring), (unsigned long long)ring_tail(ring));
	count = dump_records(ring, SIZE_MAX);
	say("%zu records\n", count);
}

struct lines {
	char *text[1024];
	size_t count;
	struct time_rule times;
};

static void collect(const struct ring *ring, const struct perf_event_header *record,
		    void *argument)
{
	struct lines *lines = argument;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		err(1, "open_memstream");
	print_line(ring, record, &lines->times, out);
	fclose(out);
	for (size_t i = 0; i < lines->count; i++) {
		if (strcmp(lines->text[i], text) == 0) {
			free(text);
			return;
		}
	}
	if (lines->count == ARRAY_SIZE(lines->text))
		errx(1, "too many different records for a list of kinds");
	lines->text[lines->count++] = text;
}

static int compare_text(const void *left, const void *right)
{
	return strcmp(*(char * const *)left, *(char * const *)right);
}

void dump_kinds(struct ring *ring)
{
	struct lines lines = { .times = rule_for(ring) };

	each_record(ring, SIZE_MAX, collect, &lines);
	qsort(lines.text, lines.count, sizeof(lines.text[0]), compare_text);
	for (size_t i = 0; i < lines.count; i++) {
		say("%s\n", lines.text[i]);
		free(lines.text[i]);
	}
	say("%zu kinds\n", lines.count);
}

void dump_counts(const struct ring *ring)
{
	uint64_t words[128];
	ssize_t size = read(ring->fd, words, sizeof(words));

	if (size < 0)
		err(1, "read of an event");
	print_counts(case_output, words, size, ring->attr.read_format);
	say("\n");
}
