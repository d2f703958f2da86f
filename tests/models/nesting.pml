/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ===============================
 * Nested writers on one data ring
 * ===============================
 *
 * What is modelled
 * ----------------
 * kernel/events/ring/data_ring.hh: reserve(), commit() and count_sample() of a
 * forward ring, with what kernel/events/output.c does around them. A task-level
 * writer is interrupted at any point by an IRQ-level writer, and both at any
 * point by an NMI-level writer. A level is frozen while a higher one runs.
 *
 * A step of the model is one memory operation of the code. It stands under a
 * comment that names it and quotes the code: R, T, S, F, C, N are reserve,
 * take_lost, stamp_watermark, refuse_*, commit and count_sample, O is output.c.
 * steps.awk checks that the quoted lines are still there, in that order.
 *
 * What is checked
 * ---------------
 * - What the reader can see is whole records, end to end; no word is written
 *   over one that the reader has not given back.
 * - data_head never goes back.
 * - The stamp never passes the data, or, when samples are counted too, by less
 *   than a watermark.
 * - Whenever no writer is inside: data_head == head; nest == 0; every record
 *   that was begun is kept, told in a LOST record, or pending in `lost`; every
 *   change of the stamp was followed by a wake-up that found the record there.
 * - Every run ends with all writers out, and no state repeats (pan -l), so
 *   commit()'s loop ends when the interrupts do.
 * That each branch is taken is shown by a mutant in it that run.sh wants found.
 *
 * What is abstracted
 * ------------------
 * - Units are words: a record is 2 or 3, a LOST record 2, the ring 8. That is
 *   the least in which three records of different writers and a LOST record
 *   with its successor fit, and in which a record can be half written.
 *   free_space() leaves one byte, so one word here.
 * - Positions are bytes that start just below their wrap.
 * - The count of refused records stays far below where take_lost() splits it.
 * - The wake-up (O4) is one step. It comes from the writer that commit() tells,
 *   and has to find the record that is owed one published.
 * - Pausing: R1 is the only place that looks, and another process may have
 *   toggled any number of times, so R1 finds either value.
 * - The reader, by default, is a process: load data_head, check what is below
 *   it, move data_tail. With -DFOLD it is part of the steps that meet it. It
 *   checks what a publish makes visible at the publish: later it would find the
 *   same words, since to overwrite them is an error by itself. It moves the
 *   tail, by any number of records, just before a writer loads it: in between
 *   nobody looks. Then an NMI-level record, which nothing interrupts, is one
 *   atomic run.
 * - Memory order between CPUs: order.pml. On one CPU, program order holds
 *   (order_nested()).
 *
 * Bounds
 * ------
 * TASKS, IRQS, NMIS records are begun at each level. With the reader as a process:
 * one each and a second at task level, every step interleaved. Folded: two each,
 * so that a level comes again inside the same commit loop, finds what an earlier
 * one left, or hits two levels one after the other. A level keeps no state between
 * its records but what is in the ring, which after all writers are out is a
 * starting state again, up to `lost` and the stamp's distance; six records are
 * enough to fill the ring, be refused, and tell of it in a LOST record.
 */
#ifndef TASKS
#define TASKS		1
#endif
#ifndef IRQS
#define IRQS		1
#endif
#ifndef NMIS
#define NMIS		1
#endif
#ifndef EVERY
#define EVERY		0	/* attr.wakeup_events; 0: only the watermark wakes */
#endif

#define WORDS		8
#define WATERMARK	(WORDS / 2)
#define SIZE_MIN	2
#define SIZE_MAX	3
#define LOST_WORDS	2
#define START		248

#define TASK		0
#define IRQ		1
#define NMI		2

#define DISTANCE(to, from)	(((to) - (from)) & 255)
#define NOT_BEFORE(to, from)	(DISTANCE(to, from) < 128)
#define SLOT(position)		((position) & (WORDS - 1))

#define FREE(from, tail)	(((tail) - (from) - 1) & (WORDS - 1))

#define CROSSED(progress, stamp) (DISTANCE(progress, stamp) > WATERMARK)

/* Crossings alone leave the stamp behind the data; a counted sample adds one. */
#if EVERY
#define STAMP_LEAD		WATERMARK
#else
#define STAMP_LEAD		0
#endif

/* What stands in a word of the data area. The reader blanks what it gives back. */
#define BLANK			0
#define HEAD(level, words)	(16 + 4 * (level) + (words))
#define IS_HEAD(w)		((w) >= HEAD(TASK, SIZE_MIN) && (w) <= HEAD(NMI, SIZE_MAX))
#define HEAD_LEVEL(w)		(((w) - 16) / 4)
#define HEAD_SIZE(w)		((w) & 3)
#define BODY(level)		(32 + (level))
#define LOST_HEAD		48
#define LOST_COUNT(n)		(64 + (n))

/* struct perf_data_ring, the user page and the data area */
byte head = START, wakeup = START, lost, nest, events;
byte data_head = START, data_tail = START;
byte word[WORDS];

/* The CPU */
byte running = TASK;	/* the level that is not frozen */

/* What the properties need to know */
byte inside;		/* writers that have begun and not ended */
byte untold;		/* records begun, less those that the reader knows of */
bool owed;		/* the stamp has changed and nobody woke the reader yet */
byte owed_to;		/* end of the record that changed it */
byte samples;		/* counted towards EVERY, modulo EVERY */

/* ---- the reader's side ---- */

hidden byte at, w, told;

/* The record at `at` is whole; go behind it and count what it tells of. */
inline check_record()
{
	w = word[SLOT(at)];
	if
	:: w == LOST_HEAD ->
		w = word[SLOT(at + 1)];
		assert(w > LOST_COUNT(0));
		told = told + w - LOST_COUNT(0);
		at = at + LOST_WORDS
	:: else ->
		assert(IS_HEAD(w));
		assert(word[SLOT(at + 1)] == BODY(HEAD_LEVEL(w)));
		assert(HEAD_SIZE(w) == 2 || word[SLOT(at + 2)] == BODY(HEAD_LEVEL(w)));
		told++;
		at = at + HEAD_SIZE(w)
	fi
}

inline check_records(limit)
{
	at = data_tail;
	told = 0;
	do
	:: at != limit ->
		check_record();
		assert(NOT_BEFORE(limit, at))
	:: else -> break
	od;
	w = 0	/* a d_step may not end with a loop */
}

inline give_back(limit)
{
	do
	:: data_tail != limit ->
		word[SLOT(data_tail)] = BLANK;
		data_tail++
	:: else -> break
	od;
	untold = untold - told
}

inline folded_reader_moves()
{
#ifdef FOLD
	do
	:: data_tail != data_head ->
		d_step {
			at = data_tail;
			told = 0;
			check_record();
			give_back(at)
		}
	:: break
	od
#else
	skip
#endif
}

inline folded_reader_checks()
{
#ifdef FOLD
	check_records(data_head)
#else
	skip
#endif
}

#include "nesting_writer.pml"

proctype writer(byte me; byte budget)
{
	byte below, size, lost_size, stamp, taken, from, to, done, seen;
#ifdef MUT_REFUSE_SKIPS_WAKE
	bool refused;
#endif

end_idle:
	do
	:: atomic { budget && (me == TASK -> running == TASK : running < me) -> begin() }
		record()
	od
}

#ifdef FOLD
proctype atomic_writer(byte me; byte budget)
{
	byte below, size, lost_size, stamp, taken, from, to, done, seen;
#ifdef MUT_REFUSE_SKIPS_WAKE
	bool refused;
#endif

end_idle:
	do
	:: atomic {
		budget && running < me -> begin();
		record()
		}
	od
}
#else
proctype reader()
{
	byte limit;

end_wait:
	do
	:: d_step { data_head != data_tail -> limit = data_head }
		d_step {
			check_records(limit);
			give_back(limit);
			limit = 0
		}
	od
}
#endif

init
{
	atomic {
		run writer(TASK, TASKS);
		run writer(IRQ, IRQS);
#ifdef FOLD
		run atomic_writer(NMI, NMIS)
#else
		run writer(NMI, NMIS);
		run reader()
#endif
	}
}
