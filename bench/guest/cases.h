/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The samples whose cost is measured: which event, which fields, and the work
 * that makes it fire. Both guest programs take them from here.
 *
 * A bench has two states. "off" is everything but the sample: the event is open
 * and disabled, or a BPF program runs that sends nothing. "on" adds the sample.
 */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PAGE		= 4096,
	TOUCHED		= 1024,		/* pages, one fault each */
	RING_PAGES	= 512,		/* room for a sample of each page */
	MOST_EVENTS	= 4,
};

enum source {
	ON_FAULTS,			/* software event, period 1 */
	ON_BPF_OUTPUT,			/* a BPF program on each fault sends bytes */
	ON_CPU_CLOCK,			/* hrtimer */
	ON_TASK_CLOCK,
};

struct bench_case {
	const char	*name;
	enum source	source;
	uint64_t	sample_type;
	uint64_t	read_format;
	int		siblings;	/* in the event's group */
};

extern const struct bench_case bench_cases[];
extern const size_t bench_case_count;

struct bench {
	const struct bench_case		*what;
	bool				backward;
	int				on[MOST_EVENTS];	/* on[0] samples */
	int				off;			/* or -1 */
	int				sink;			/* whose ring it is */
	struct perf_event_mmap_page	*page;
};

void bench_open(struct bench *bench, const struct bench_case *what, bool backward);
void bench_close(struct bench *bench);
void bench_switch(struct bench *bench, bool on);

/* Free the ring: what is refused for want of room would pass for a cheap sample. */
void bench_drain(struct bench *bench);

/* Bytes in the ring since it was opened. */
uint64_t bench_bytes(const struct bench *bench);

bool bench_is_clock(const struct bench_case *what);

/* Memory for touch_pages(), without huge pages. */
char *touch_memory(void);

/* Give the first @pages pages back, so that each faults again. */
void touch_forget(char *memory, int pages);

/*
 * Fault once on each of @pages pages. It happens in touch_page, a function of
 * one store, below a stack of TOUCH_DEPTH frames with frame pointers.
 */
enum { TOUCH_DEPTH = 8 };
void touch_pages(char *memory, int pages);
extern const char touch_page[];

/* 2 instructions for each of @turns. */
void spin(unsigned long turns);

_Noreturn void die(const char *what);

#endif
