// SPDX-License-Identifier: GPL-2.0
#include "decode_parts.h"

/* The times differ between runs, whether they are equal or zero does not. */
static void put_times(struct cursor *in, uint64_t format)
{
	bool both = (format & PERF_FORMAT_TOTAL_TIME_ENABLED) &&
		    (format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t enabled = 0, running = 0;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED) {
		enabled = take_loose(in, 8);
		fprintf(in->out, " enabled=%s", enabled ? "some" : "0");
	}
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING) {
		running = take_loose(in, 8);
		fprintf(in->out, " running=%s", running ? "some" : "0");
	}
	if (both)
		fprintf(in->out, "(%s)", running == enabled ? "all the time" :
			running < enabled ? "in part" : "TOO LONG");
}

static void put_id_and_lost(struct cursor *in, uint64_t format)
{
	if (format & PERF_FORMAT_ID)
		put_name(in, "id", NAME_EVENT, 8);
	if (format & PERF_FORMAT_LOST)
		put_number(in, "lost", 8);
}

void put_counts(struct cursor *in, uint64_t format)
{
	uint64_t members;

	if (!(format & PERF_FORMAT_GROUP)) {
		put_number(in, "value", 8);
		put_times(in, format);
		put_id_and_lost(in, format);
		return;
	}
	members = take(in, 8);
	fprintf(in->out, " members=%llu", (unsigned long long)members);
	put_times(in, format);
	while (members-- && !in->overrun) {
		put_number(in, "value", 8);
		put_id_and_lost(in, format);
	}
}

void print_counts(FILE *out, const void *bytes, size_t size, uint64_t read_format)
{
	struct cursor in = { .out = out, .bytes = bytes, .end = size };

	fprintf(out, "READ size=%zu", size);
	put_counts(&in, read_format);
	put_rest(&in);
}
