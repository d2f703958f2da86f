/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who writes records, as the benchmark sees them: the base's ring code, ours,
 * and plain memcpy(). Each lives in an object of its own, so that none is inlined
 * into the measuring loop and none knows the other's types.
 */
#ifndef BENCH_WRITERS_H
#define BENCH_WRITERS_H

#include <stdint.h>

enum { BENCH_PAGE = 4096, BENCH_RING_PAGES = 64 };

struct bench_ring {
	int		backward;	/* and overwritten: nobody moves the tail */
	uint64_t	*data_head;	/* NULL: there is no reader to wait for */
	uint64_t	*data_tail;
	void		*state;		/* the writer's */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Fills in all but @backward. */
void base_ring_create(struct bench_ring *ring);
void base_ring_destroy(struct bench_ring *ring);
void ours_ring_create(struct bench_ring *ring);
void ours_ring_destroy(struct bench_ring *ring);
void limit_ring_create(struct bench_ring *ring);
void limit_ring_destroy(struct bench_ring *ring);

/*
 * Write one record of @count words: reserve, write, commit. By fields: one copy
 * for each word, as a sample's fixed part is written. In one: the first word,
 * the header, and one copy for the rest, as with raw data and stacks.
 */
void base_write_fields(struct bench_ring *ring, const uint64_t *words, unsigned int count);
void base_write_in_one(struct bench_ring *ring, const uint64_t *words, unsigned int count);
void ours_write_fields(struct bench_ring *ring, const uint64_t *words, unsigned int count);
void ours_write_in_one(struct bench_ring *ring, const uint64_t *words, unsigned int count);
void limit_write(struct bench_ring *ring, const uint64_t *words, unsigned int count);

/* What both rings do besides: the kernel's own cost of pinning and waking. */
void bench_reschedule(void);
void bench_wake(void);

#ifdef __cplusplus
}
#endif

/*
 * Preemption as x86 has it in a kernel with CONFIG_PREEMPT and no debugging: a
 * count in memory, whose top bit stands for "no need to reschedule".
 */
extern unsigned int bench_preempt_count;

static inline void bench_preempt_disable(void)
{
	__asm__ volatile("incl %0" : "+m"(bench_preempt_count) : : "memory", "cc");
}

static inline void bench_preempt_enable(void)
{
	int zero;

	__asm__ volatile("decl %0" : "+m"(bench_preempt_count), "=@ccz"(zero) : : "memory");
	if (__builtin_expect(zero, 0))
		bench_reschedule();
}

#endif
