/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The gather plan of an event: which words its records consist of, in order,
 * and where each is found. Compiled when the event is opened, so that writing a
 * sample is a walk along a short list and not a question for every field.
 *
 * The seam between the C shell and the core (kernel/events/ring/); valid in C
 * and C++, free of kernel headers. struct perf_event embeds a plan.
 *
 * Samples are made of words of 8 bytes. The fixed words come in three runs, with
 * the fields of variable size between them:
 *
 *   header | run 0 | READ CALLCHAIN RAW BRANCH_STACK REGS_USER STACK_USER
 *          | run 1 | REGS_INTR | run 2 | AUX
 *
 * An event with no field of variable size has its runs back to back, and its
 * samples are copied in one go. The trailer that sample_id_all gives to all
 * other records is a run of its own.
 */
#ifndef _LINUX_PERF_SAMPLE_PLAN_H
#define _LINUX_PERF_SAMPLE_PLAN_H

enum perf_sample_run {
	PERF_SAMPLE_RUN_HEAD,		/* IDENTIFIER to PERIOD */
	PERF_SAMPLE_RUN_MIDDLE,		/* WEIGHT, DATA_SRC, TRANSACTION */
	PERF_SAMPLE_RUN_TAIL,		/* PHYS_ADDR to CODE_PAGE_SIZE */
	PERF_SAMPLE_RUN_ID,		/* the trailer */
	PERF_SAMPLE_RUNS
};

/* 9 + 3 + 4 in a sample, 6 in a trailer. */
#define PERF_SAMPLE_PLAN_WORDS	22

/* A reader of a plan may be an NMI at any moment: what it reads is set once. */
struct perf_sample_plan {
	/*
	 * Bits of sample_type whose values have to be known: those that are
	 * written, and those that these are made from.
	 */
	unsigned long long	wanted;
	/* Bits whose fields have no fixed size. 0: the sample is its runs. */
	unsigned long long	variable;
	/* attr.wakeup_events, or 0 where bytes are counted instead. */
	unsigned int		every;
	/* Bytes of a sample's header and runs, and of the trailer. */
	unsigned short		size;
	unsigned short		id_size;
	/* Run r is the words [end[r - 1], end[r]) of from[], with end[-1] = 0. */
	unsigned char		end[PERF_SAMPLE_RUNS];
	/* Word of struct perf_sample_data that each word is copied from. */
	unsigned char		from[PERF_SAMPLE_PLAN_WORDS];
};

/* Bits of attr.sample_type; one more than the highest. */
#define PERF_SAMPLE_BITS	25

/* Where struct perf_sample_data has the value of each bit, in words. */
struct perf_sample_sources {
	unsigned char		word[PERF_SAMPLE_BITS];
};

#endif /* _LINUX_PERF_SAMPLE_PLAN_H */
