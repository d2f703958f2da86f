/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One record as one line of text: every field that must be the same on two
 * kernels literally, every other one by name or by a property of its value.
 */
#ifndef PARITY_DECODE_H
#define PARITY_DECODE_H

#include <stdint.h>
#include <stdio.h>

#include <linux/perf_event.h>

/*
 * Time stamps differ, but they must follow the ring and lie in the run. A record
 * that has a time of its own took it at another moment than that of its id.
 */
struct time_rule {
	int backward;		/* the newest record comes first */
	uint64_t from, to;	/* limits of the run; to == 0: unknown clock */
	uint64_t last_own, last_id;
};

struct record {
	const void *bytes;	/* starts with struct perf_event_header */
	size_t size;
	const struct perf_event_attr *attr;
	struct time_rule *times;
	/*
	 * If given: one byte per byte of the record, set where the value as
	 * such does not show in the text.
	 */
	uint8_t *loose;
};

/* Prints the line, without its end. */
void print_record(FILE *out, const struct record *record);

/* What read(2) gives and what PERF_SAMPLE_READ embeds. */
void print_counts(FILE *out, const void *bytes, size_t size, uint64_t read_format);

#endif
