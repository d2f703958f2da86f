/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stream of an aux_test event: how much of it is due, and where it goes.
 *
 * A stream is words of 64 bits. Each says where in the stream it stands, in bytes,
 * in its low 54 bits, and whose stream it is, config.id, in the 10 above. So the
 * reader of any piece can tell what is missing, doubled or out of place.
 *
 * Valid in C and C++, free of kernel headers; any context. The caller sees to it
 * that nothing else works on the same structs meanwhile.
 */
#ifndef PERF_EVENTS_AUX_TEST_STREAM_H
#define PERF_EVENTS_AUX_TEST_STREAM_H

#include "config.h"

#define AUX_TEST_OFFSET_BITS 54

/* A source that runs by the clock. All zero at first. */
struct aux_test_clock {
	unsigned long long	now;		/* ns: what was due until then has been taken */
	unsigned long long	fraction;	/* of a byte, in units of 1 / 10^9 */
};

/* An area as setup_aux() was given it. */
struct aux_test_area {
	void			*const *pages;	/* their addresses */
	unsigned long		size;		/* bytes, a power of two */
	unsigned int		page_shift;
	int			overwrite;
};

/* An open transaction. */
struct aux_test_run {
	unsigned long		head;		/* position of its first byte */
	unsigned long		room;		/* bytes it may have; overwrite: not looked at */
	unsigned long		wakeup;		/* position; overwrite: not looked at */
	unsigned long		written;
};

enum aux_test_next {
	AUX_TEST_GO_ON,		/* nothing more is due */
	AUX_TEST_END,		/* the transaction is as long as it shall be */
	AUX_TEST_FULL,		/* there is no room for what is due */
};

struct aux_test_step {
	unsigned long		bytes;		/* to write now */
	enum aux_test_next	next;		/* and then */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Start counting at @now. */
void aux_test_clock_start(struct aux_test_clock *clock, unsigned long long now);

/*
 * Bytes, in whole words, that have become due by @now. At most @most, unless that is
 * 0: a source that is asked late has made no more in the meantime.
 */
unsigned long long aux_test_clock_take(struct aux_test_clock *clock, unsigned long long rate,
				       unsigned long long now, unsigned long long most);

/* What was due and could not be written in this round is due in the next. */
void aux_test_clock_return(struct aux_test_clock *clock, unsigned long long bytes);

/* The next of @due bytes. */
struct aux_test_step aux_test_step(const struct aux_test_config *config,
				   const struct aux_test_area *area,
				   const struct aux_test_run *run, unsigned long long due);

/* Write @bytes of the stream, from @offset on, at position @at of the area. */
void aux_test_fill(const struct aux_test_area *area, unsigned long at, unsigned long bytes,
		   unsigned int id, unsigned long long offset);

/* Bytes to leave out in front of @head so that it becomes a multiple of @align. */
unsigned long aux_test_pad(unsigned long head, unsigned long align);

#ifdef __cplusplus
}
#endif

#endif /* PERF_EVENTS_AUX_TEST_STREAM_H */
