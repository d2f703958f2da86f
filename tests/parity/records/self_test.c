// SPDX-License-Identifier: GPL-2.0
/*
 * A dump that overlooks a field finds no difference in it. So each byte of some
 * records is damaged in turn, and unless the field is one of those that are told
 * by a name or a property, the text must change.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "self_test.h"

#define ROOM 1024

struct sample_record {
	uint8_t bytes[ROOM];
	size_t size;
	struct perf_event_attr attr;
};

static void add(struct sample_record *record, const void *bytes, size_t size)
{
	memcpy(record->bytes + record->size, bytes, size);
	record->size += size;
}

static void add_word(struct sample_record *record, uint64_t word)
{
	add(record, &word, sizeof(word));
}

static void add_words(struct sample_record *record, int count)
{
	while (count--)
		add_word(record, 0x1111000000000000ull + record->size);
}

static void start(struct sample_record *record, uint32_t type, uint16_t misc, uint64_t sample_type)
{
	struct perf_event_header header = { .type = type, .misc = misc };

	memset(record, 0, sizeof(*record));
	record->attr.sample_type = sample_type;
	record->attr.sample_id_all = 1;
	record->attr.read_format = PERF_FORMAT_MAX - 1;
	record->attr.sample_regs_user = 7;
	record->attr.sample_regs_intr = 3;
	record->attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	add(record, &header, sizeof(header));
}

static char *text_of(const struct sample_record *record, uint8_t *loose)
{
	struct time_rule times = { 0 };
	struct record one = {
		.bytes = record->bytes, .size = record->size, .attr = &record->attr,
		.times = &times, .loose = loose,
	};
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		err(1, "open_memstream");
	print_record(out, &one);
	fclose(out);
	return text;
}

/* Returns how many damages went unseen. */
static int damage_each_byte(const char *name, struct sample_record *record)
{
	struct perf_event_header *header = (void *)record->bytes;
	uint8_t loose[ROOM] = { 0 };
	int unseen = 0, checked = 0;
	char *good;

	header->size = record->size;
	good = text_of(record, loose);
	if (strstr(good, "OVERRUN") || strstr(good, "LEFT")) {
		printf("# %s: the record does not fit its layout: %s\n", name, good);
		unseen++;
	}
	for (size_t at = 0; at < record->size; at++) {
		char *damaged;

		if (loose[at])
			continue;
		record->bytes[at] ^= 0x40;
		damaged = text_of(record, NULL);
		record->bytes[at] ^= 0x40;
		checked++;
		if (strcmp(good, damaged) == 0) {
			printf("# %s: a change of byte %zu does not show: %s\n", name, at, good);
			unseen++;
		}
		free(damaged);
	}
	free(good);
	printf("# %s: %d of %zu bytes show\n", name, checked - unseen, record->size);
	return unseen;
}

static void add_counts(struct sample_record *record)
{
	add_word(record, 2);
	add_words(record, 2 + 2 * 3);
}

#define WITHOUT_AUX_AND_WEIGHT (PERF_SAMPLE_MAX - 1 - PERF_SAMPLE_WEIGHT_STRUCT)

static int whole_sample(void)
{
	struct sample_record record;

	start(&record, PERF_RECORD_SAMPLE, 2, WITHOUT_AUX_AND_WEIGHT);
	add_words(&record, 9);		/* identifier ... period */
	add_counts(&record);
	add_word(&record, 3);		/* chain */
	add_words(&record, 3);
	add_word(&record, 0x1111111100000004ull);	/* raw: size and data */
	add_word(&record, 1);		/* branches */
	add_words(&record, 3);
	add_word(&record, PERF_SAMPLE_REGS_ABI_64);
	add_words(&record, 3);
	add_word(&record, 8);		/* stack */
	add_words(&record, 2);
	add_words(&record, 3);		/* weight, source, transaction */
	add_word(&record, PERF_SAMPLE_REGS_ABI_64);
	add_words(&record, 2);
	add_words(&record, 4);		/* physical, cgroup, two page sizes */
	add_word(&record, 16);		/* aux */
	add_words(&record, 2);
	return damage_each_byte("sample", &record);
}

#define ID_FIELDS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static int sideband(const char *name, uint32_t type, uint16_t misc, int words, const char *text)
{
	struct sample_record record;
	char padded[16] = "";

	start(&record, type, misc, ID_FIELDS);
	add_words(&record, words);
	if (text) {
		memcpy(padded, text, strlen(text));
		add(&record, padded, sizeof(padded));
	}
	add_words(&record, 6);
	return damage_each_byte(name, &record);
}

static int reading(void)
{
	struct sample_record record;

	start(&record, PERF_RECORD_READ, 0, ID_FIELDS);
	add_words(&record, 1);
	add_counts(&record);
	add_words(&record, 6);
	return damage_each_byte("read", &record);
}

static int namespaces(void)
{
	struct sample_record record;

	start(&record, PERF_RECORD_NAMESPACES, 0, ID_FIELDS);
	add_words(&record, 1);
	add_word(&record, 2);
	add_words(&record, 4 + 6);
	return damage_each_byte("namespaces", &record);
}

int self_test(void)
{
	int unseen = 0;

	unseen += whole_sample();
	unseen += sideband("mmap", PERF_RECORD_MMAP, 0, 4, "/a/file");
	unseen += sideband("mmap2", PERF_RECORD_MMAP2, 0, 8, "/a/file");
	unseen += sideband("build id", PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, 8,
			   "/a/file");
	unseen += sideband("lost", PERF_RECORD_LOST, 0, 2, NULL);
	unseen += sideband("comm", PERF_RECORD_COMM, 0, 1, "name");
	unseen += sideband("exit", PERF_RECORD_EXIT, 0, 3, NULL);
	unseen += sideband("fork", PERF_RECORD_FORK, 0, 3, NULL);
	unseen += sideband("throttle", PERF_RECORD_THROTTLE, 0, 3, NULL);
	unseen += sideband("aux", PERF_RECORD_AUX, 0, 3, NULL);
	unseen += sideband("switch", PERF_RECORD_SWITCH, 0, 0, NULL);
	unseen += sideband("wide switch", PERF_RECORD_SWITCH_CPU_WIDE, 0, 1, NULL);
	unseen += sideband("symbol", PERF_RECORD_KSYMBOL, 0, 2, "symbol");
	unseen += sideband("bpf", PERF_RECORD_BPF_EVENT, 0, 2, NULL);
	unseen += sideband("cgroup", PERF_RECORD_CGROUP, 0, 1, "/a/group");
	unseen += sideband("text poke", PERF_RECORD_TEXT_POKE, 0, 3, NULL);
	unseen += reading();
	unseen += namespaces();
	printf("%d damages did not show\n", unseen);
	return unseen != 0;
}
