// SPDX-License-Identifier: GPL-2.0
/*
 * check-auxtrace [-S] FILE: do the AUX bytes in a perf.data of aux_test events prove
 * themselves? Each stretch of AUX data must be words that count on by 8; between two
 * stretches of one ring offsets only grow, unless they are snapshots (-S), of which
 * each stands for itself. perf takes a ring for full once its last 4 KiB are written
 * to; such a snapshot may begin with zeros, the memory that the stream's first lap has
 * not reached, and the stream then from its word 0, which is zero as well. Prints, over
 * all rings:
 *
 *	traces N bytes N gaps N missing N lost N records N truncated N
 *
 * `missing` is what the gaps have left out, `lost` what AUX records told of. Exits
 * with 1 if a word is out of place, 2 if the file cannot be read.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_AUXTRACE	71	/* perf's own, followed by the data */
#define MAX_RINGS	256
#define OFFSET_MASK	((1ULL << 54) - 1)
#define FLAG_LOST	(1ULL << 32)

struct file_section {
	uint64_t offset, size;
};

struct file_header {
	char magic[8];
	uint64_t size, attr_size;
	struct file_section attrs, data;
};

struct auxtrace {
	struct perf_event_header header;
	uint64_t size, offset, reference;
	uint32_t idx, tid, cpu, reserved;
};

struct aux {
	struct perf_event_header header;
	uint64_t offset, size, flags, lost, since;
};

static struct {
	uint64_t traces, bytes, gaps, missing, lost, records, truncated;
} seen;

/* Offset that is due next in each ring; none yet: 0. */
static uint64_t due[MAX_RINGS];
static bool snapshots;

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "check-auxtrace: %s\n", what);
	exit(2);
}

static void read_fully(FILE *in, void *to, size_t size)
{
	if (fread(to, 1, size, in) != size)
		die("the file ends in the middle of a record");
}

static void check_word(uint64_t *next, uint64_t word, bool first)
{
	uint64_t offset = word & OFFSET_MASK;

	if (snapshots && word == 0 && *next == 8)
		return;
	if (offset < *next || offset % 8 || (!first && offset != *next && offset == 0)) {
		printf("offset %" PRIu64 " where %" PRIu64 " is due\n", offset, *next);
		exit(1);
	}
	if (offset > *next && *next) {
		seen.gaps++;
		seen.missing += offset - *next;
	}
	*next = offset + 8;
}

static void check_trace(FILE *in, const struct auxtrace *trace)
{
	uint64_t word, left;

	if (trace->idx >= MAX_RINGS || trace->size % 8)
		die("an AUXTRACE record that no aux_test event makes");
	if (snapshots)
		due[trace->idx] = 0;
	seen.traces++;
	seen.bytes += trace->size;
	for (left = trace->size; left; left -= 8) {
		read_fully(in, &word, sizeof(word));
		check_word(&due[trace->idx], word, left == trace->size);
	}
}

static void note_record(const struct aux *record)
{
	seen.records++;
	seen.truncated += record->flags & PERF_AUX_FLAG_TRUNCATED;
	if (record->flags & FLAG_LOST)
		seen.lost += record->lost;
}

static void walk(FILE *in, uint64_t left)
{
	static uint64_t buffer[65536 / 8];
	struct perf_event_header *header = (void *)buffer;

	while (left) {
		read_fully(in, header, sizeof(*header));
		if (header->size < sizeof(*header) || header->size > left)
			die("a record of impossible size");
		read_fully(in, header + 1, header->size - sizeof(*header));
		left -= header->size;
		if (header->type == PERF_RECORD_AUX)
			note_record((void *)buffer);
		if (header->type != RECORD_AUXTRACE)
			continue;
		check_trace(in, (void *)buffer);
		left -= ((struct auxtrace *)buffer)->size;
	}
}

int main(int argc, char **argv)
{
	struct file_header header;
	FILE *in;

	snapshots = argc == 3 && !strcmp(argv[1], "-S");
	if (argc != 2 + snapshots)
		die("usage: check-auxtrace [-S] FILE");
	in = fopen(argv[argc - 1], "r");
	if (!in)
		die(strerror(errno));
	read_fully(in, &header, sizeof(header));
	if (memcmp(header.magic, "PERFILE2", 8))
		die("no perf.data");
	if (fseek(in, (long)header.data.offset, SEEK_SET))
		die(strerror(errno));
	walk(in, header.data.size);
	printf("traces %" PRIu64 " bytes %" PRIu64 " gaps %" PRIu64 " missing %" PRIu64
	       " lost %" PRIu64 " records %" PRIu64 " truncated %" PRIu64 "\n",
	       seen.traces, seen.bytes, seen.gaps, seen.missing, seen.lost, seen.records,
	       seen.truncated);
	return 0;
}
