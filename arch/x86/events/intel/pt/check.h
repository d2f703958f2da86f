/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests: what has to hold of a buffer's tables, marks and positions, tried out with
 * a model of the hardware's output. The same checks run in user space (tests/host) and
 * in the kernel (KUnit), on the object code of each.
 *
 * Valid in C and C++, free of kernel headers.
 */
#ifndef X86_EVENTS_INTEL_PT_CHECK_H
#define X86_EVENTS_INTEL_PT_CHECK_H

struct pt_check {
	/* Provided: */
	void			*memory;	/* aligned to 4 KiB */
	unsigned long		size;		/* bytes; PT_CHECK_MEMORY are enough */
	unsigned long long	seed;		/* for what is random; not 0 */
	unsigned int		rounds;
	/* What came of it: */
	const char		*failed;	/* the first that did not hold, or NULL */
	unsigned int		line;
	unsigned long long	got, wanted;
	unsigned long		held;		/* how many held */
};

#define PT_CHECK_MEMORY	(20ul << 20)

#ifdef __cplusplus
extern "C" {
#endif

/* Tables over random chunks, aligned and not: as the hardware wants them. */
void pt_check_tables(struct pt_check *check);
/* Each INT and STOP: all layouts of up to 8 pages, heads, tails and wake-ups. */
void pt_check_marks(struct pt_check *check);
/* A reader and a writer, at random, until everything has gone round often. */
void pt_check_stream(struct pt_check *check);
/* Overwrite mode: the position after each number of bytes, round and round. */
void pt_check_wrap(struct pt_check *check);
/* Tables of one entry: each region's end, the margin before it, the padding. */
void pt_check_single_entry(struct pt_check *check);
/* Registers that make no sense move nothing. */
void pt_check_nonsense(struct pt_check *check);
/* 2^19 pages: each page is found. */
void pt_check_lookup(struct pt_check *check);

#ifdef __cplusplus
}
#endif

#endif /* X86_EVENTS_INTEL_PT_CHECK_H */
