/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AUX events of the PMU aux_test, their areas, and a reader that checks each word.
 *
 * Fields of attr.config are set by name, as sysfs describes them. The reader keeps its
 * place in `pos`; the kernel learns of it only through aux_release().
 */
#ifndef PERF_AUX_EVENT_H
#define PERF_AUX_EVENT_H

#include "perf_ring_event.h"

#include <inttypes.h>
#include <time.h>

#define PMU_FOLDER "/sys/bus/event_source/devices"
#define AUX_OFFSET_BITS 54

/* What linux/perf_aux.h has; the base's headers lack it. */
#ifndef PERF_AUX_FLAG_LOST
#define PERF_AUX_FLAG_LOST (1ULL << 32)
#define PERF_AUX_LOST_OFFSET 2048
#endif

/* ---- the PMU ---- */

static inline bool pmu_file(const char *pmu, const char *file, char *text,
			    size_t size)
{
	char path[256];
	FILE *in;
	bool got;

	snprintf(path, sizeof(path), PMU_FOLDER "/%s/%s", pmu, file);
	in = fopen(path, "r");
	if (!in)
		return false;
	got = fgets(text, (int)size, in);
	fclose(in);
	return got;
}

static inline uint32_t pmu_type(const char *pmu)
{
	char text[32];

	if (!pmu_file(pmu, "type", text, sizeof(text)))
		SKIP("there is no PMU %s", pmu);
	return (uint32_t)strtoul(text, NULL, 10);
}

static inline bool pmu_has(const char *pmu, const char *capability)
{
	char file[64], text[8];

	snprintf(file, sizeof(file), "caps/%s", capability);
	return pmu_file(pmu, file, text, sizeof(text)) && text[0] == '1';
}

/* Can AUX records say how many bytes were lost? Not on the base. */
static inline bool aux_counts_lost(void)
{
	return pmu_has("aux_test", "lost");
}

/* Off until enabled; the trailer of its records has the time. */
static inline struct perf_event_attr aux_attr_of(const char *pmu)
{
	return (struct perf_event_attr) {
		.type = pmu_type(pmu),
		.size = sizeof(struct perf_event_attr),
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.disabled = 1,
	};
}

static inline struct perf_event_attr aux_attr(void)
{
	return aux_attr_of("aux_test");
}

/* Set a field of the config words, as format/NAME lays it out. */
static inline void pmu_field(const char *pmu, struct perf_event_attr *attr,
			     const char *name, uint64_t value)
{
	char file[64], text[64];
	int config = 0, first, last;
	__u64 *word;
	char *bits;

	snprintf(file, sizeof(file), "format/%s", name);
	CHECK(pmu_file(pmu, file, text, sizeof(text)));
	bits = strchr(text, ':');
	CHECK(bits);
	if (bits[-1] >= '0' && bits[-1] <= '9')
		config = bits[-1] - '0';
	if (sscanf(bits + 1, "%d-%d", &first, &last) != 2)
		last = first;
	word = config == 2 ? &attr->config2 :
	       config == 1 ? &attr->config1 : &attr->config;
	if (value >> 1 >> (last - first))
		FAIL("%" PRIu64 " does not fit into the field %s", value, name);
	*word |= value << first;
}

static inline void aux_field(struct perf_event_attr *attr, const char *name,
			     uint64_t value)
{
	pmu_field("aux_test", attr, name, value);
}

/* ---- areas ---- */

struct aux {
	struct ring ring; /* the data ring beside it */
	const uint64_t *words;
	uint64_t size; /* of the area, in bytes */
	int fd;
	uint64_t pos; /* next byte that the reader has not seen */
	uint64_t next; /* offset in the stream that comes next */
	uint64_t id; /* the stream's */
	uint64_t kept; /* bytes read and found in order */
	uint64_t missing; /* bytes of the stream that are not in the area */
	uint64_t gaps; /* how often */
	uint64_t lost; /* bytes that records have told as lost */
	uint64_t records; /* AUX records */
	uint64_t flags; /* of all of them */
};

/* Where the next to the data ring's pages may begin. */
static inline uint64_t aux_default_offset(const struct aux *aux)
{
	return aux->ring.length;
}

static inline void *aux_try_map(struct aux *aux, size_t pages, int prot)
{
	struct perf_event_mmap_page *page = aux->ring.page;

	page->aux_offset = aux_default_offset(aux);
	page->aux_size = pages * page_size();
	return mmap(NULL, page->aux_size, prot, MAP_SHARED, aux->fd,
		    (off_t)page->aux_offset);
}

/* A data ring and an area for @fd. PROT_READ alone: the area is overwritten. */
static inline void aux_map_as(struct aux *aux, int fd, size_t data_pages,
			      size_t aux_pages, int prot)
{
	void *words;

	memset(aux, 0, sizeof(*aux));
	aux->fd = fd;
	ring_map(&aux->ring, fd, data_pages);
	words = aux_try_map(aux, aux_pages, prot);
	if (words == MAP_FAILED)
		FAIL("AUX mmap of %zu pages: %s", aux_pages, strerror(errno));
	aux->words = words;
	aux->size = aux_pages * page_size();
}

static inline void aux_map(struct aux *aux, int fd, size_t data_pages,
			   size_t aux_pages)
{
	aux_map_as(aux, fd, data_pages, aux_pages, PROT_READ | PROT_WRITE);
}

static inline void aux_unmap_area(struct aux *aux)
{
	CHECK(!munmap((void *)aux->words, aux->size));
	aux->words = NULL;
}

static inline void aux_unmap(struct aux *aux)
{
	if (aux->words)
		aux_unmap_area(aux);
	ring_unmap(&aux->ring);
}

/* Edge C: the words below this head are written. */
static inline uint64_t aux_head(const struct aux *aux)
{
	return __atomic_load_n(&aux->ring.page->aux_head, __ATOMIC_ACQUIRE);
}

/* Edge D: the words below the tail have been read. */
static inline void aux_set_tail(struct aux *aux, uint64_t tail)
{
	__atomic_store_n(&aux->ring.page->aux_tail, tail, __ATOMIC_RELEASE);
}

static inline void aux_release(struct aux *aux)
{
	aux_set_tail(aux, aux->pos);
}

/* All bytes that the kernel knows to be lost, from the user page. */
static inline uint64_t aux_page_lost(const struct aux *aux)
{
	const void *page = aux->ring.page;

	return __atomic_load_n((const uint64_t *)((const char *)page +
						  PERF_AUX_LOST_OFFSET),
			       __ATOMIC_RELAXED);
}

static inline uint64_t aux_word_at(const struct aux *aux, uint64_t pos)
{
	return aux->words[(pos & (aux->size - 1)) / 8];
}

/* One word: in order, or behind a gap; never again, never from elsewhere. */
static inline void aux_check_word(struct aux *aux, uint64_t word)
{
	uint64_t offset = word & ((1ULL << AUX_OFFSET_BITS) - 1);

	if (word >> AUX_OFFSET_BITS != aux->id || offset % 8)
		FAIL("at %" PRIu64 " is %#" PRIx64 ", no word of stream %"
		     PRIu64, aux->pos, word, aux->id);
	if (offset < aux->next)
		FAIL("at %" PRIu64 " is offset %" PRIu64 " once more, %" PRIu64
		     " is due", aux->pos, offset, aux->next);
	if (offset > aux->next) {
		aux->gaps++;
		aux->missing += offset - aux->next;
	}
	aux->next = offset + 8;
	aux->kept += 8;
}

/* Read what there is up to @head, but keep the space. */
static inline void aux_read_to(struct aux *aux, uint64_t head)
{
	CHECK(head - aux->pos <= aux->size);
	for (; aux->pos != head; aux->pos += 8)
		aux_check_word(aux, aux_word_at(aux, aux->pos));
}

static inline void aux_read(struct aux *aux)
{
	aux_read_to(aux, aux_head(aux));
}

/* ---- their records ---- */

struct aux_record {
	struct perf_event_header header;
	uint64_t offset, size, flags;
	uint64_t lost, since; /* with PERF_AUX_FLAG_LOST */
};

/* Count a record of the data ring; others than AUX are let pass. */
static inline void aux_take_record(struct aux *aux,
				   const struct perf_event_header *record)
{
	const struct aux_record *r = (const struct aux_record *)record;

	if (r->header.type != PERF_RECORD_AUX)
		return;
	aux->records++;
	aux->flags |= r->flags;
	if (r->flags & PERF_AUX_FLAG_LOST)
		aux->lost += r->lost;
}

/* Everything in the data ring and in the area, and give the space back. */
static inline void aux_drain(struct aux *aux)
{
	const struct perf_event_header *record;

	while ((record = ring_next(&aux->ring)))
		aux_take_record(aux, record);
	ring_release(&aux->ring);
	aux_read(aux);
	aux_release(aux);
}

/* Drain while the event runs, for so long; a reader that keeps up. */
static inline void aux_drain_for(struct aux *aux, int ms)
{
	struct pollfd ready = { .fd = aux->fd, .events = POLLIN };
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		poll(&ready, 1, 10);
		aux_drain(aux);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 +
		 (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

/* Stop, and read the rest. */
static inline void aux_finish(struct aux *aux)
{
	disable(aux->fd);
	aux_drain(aux);
}

#endif /* PERF_AUX_EVENT_H */
