/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Blocks of counts, as read(2) and PERF_SAMPLE_READ give them.
 */
#ifndef PERF_RING_READ_H
#define PERF_RING_READ_H

#include "perf_ring_sample.h"

#define ALL_FORMATS (PERF_FORMAT_MAX - 1)
#define MAX_MEMBERS 8

struct member_values {
	uint64_t count, id, lost;
};

struct values {
	uint64_t nr; /* 1 without PERF_FORMAT_GROUP */
	uint64_t enabled, running;
	struct member_values of[MAX_MEMBERS];
};

static inline void take_member(struct words *words, struct member_values *to,
			       uint64_t format)
{
	to->count = take_word(words);
	if (format & PERF_FORMAT_ID)
		to->id = take_word(words);
	if (format & PERF_FORMAT_LOST)
		to->lost = take_word(words);
}

static inline void take_times(struct words *words, struct values *to,
			      uint64_t format)
{
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		to->enabled = take_word(words);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		to->running = take_word(words);
}

/* A block of one event has its count first, one of a group its times. */
static inline void take_values(struct words *words, struct values *to,
			       uint64_t format)
{
	memset(to, 0, sizeof(*to));
	to->nr = 1;
	if (!(format & PERF_FORMAT_GROUP)) {
		to->of[0].count = take_word(words);
		take_times(words, to, format);
		if (format & PERF_FORMAT_ID)
			to->of[0].id = take_word(words);
		if (format & PERF_FORMAT_LOST)
			to->of[0].lost = take_word(words);
		return;
	}
	to->nr = take_word(words);
	CHECK(to->nr <= MAX_MEMBERS);
	take_times(words, to, format);
	for (uint64_t i = 0; i < to->nr; i++)
		take_member(words, &to->of[i], format);
}

/* The whole of a block of so many words. */
static inline struct values values_in(const uint64_t *block, size_t nr_words,
				      uint64_t format)
{
	struct words words = { block, block + nr_words };
	struct values values;

	take_values(&words, &values, format);
	CHECK_EQ(words.end - words.next, 0);
	return values;
}

static inline struct values values_in_sample(const struct sample *s,
					     uint64_t format)
{
	return values_in(s->read, s->read_words, format);
}

static inline size_t words_of_format(uint64_t format, size_t nr)
{
	size_t each = 1 + !!(format & PERF_FORMAT_ID) +
		      !!(format & PERF_FORMAT_LOST);
	size_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);

	return format & PERF_FORMAT_GROUP ? 1 + times + nr * each :
					    times + each;
}

/* read(2), which gives exactly the block, and nothing if that does not fit. */
static inline struct values values_of(int fd, uint64_t format, size_t nr)
{
	uint64_t block[4 + 3 * MAX_MEMBERS];
	size_t want = words_of_format(format, nr);

	CHECK_ERRNO(read(fd, block, want * 8 - 1), ENOSPC);
	CHECK_EQ(read(fd, block, sizeof(block)), want * 8);
	CHECK_EQ(read(fd, block, want * 8), want * 8);
	return values_in(block, want, format);
}

#endif /* PERF_RING_READ_H */
