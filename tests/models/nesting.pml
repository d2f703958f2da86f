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
 * comment that names it and quotes the code: R, S, F, C, N are reserve,
 * stamp_watermark, refuse_*, commit and count_sample, O is output.c.
 * steps.awk checks that the quoted lines are still there, in that order.
 *
 * What is checked
 * ---------------
 * - What the reader can see is whole records, end to end; no word is written
 *   over one that the reader has not given back.
 * - data_head never goes back.
 * - The stamp never passes the data.
 * - Whenever no writer is inside: data_head == head; nest == 0; every record
 *   that was begun is kept, told in a LOST record, or pending in `lost`; every
 *   change of the stamp was followed by a wake-up that found the record there.
 * - Every run ends with all writers out, and no state repeats (pan -l), so
 *   commit()'s loop ends when the interrupts do.
 *
 * What is abstracted
 * ------------------
 * - Units are words: a record is 2 or 3, a LOST record 2, the ring 8. That is
 *   the least in which three records of different writers and a LOST record
 *   with its successor fit, and in which a record can be half written.
 *   free_space() leaves one byte, so one word here.
 * - Positions are bytes that start just below their wrap.
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
 * TASKS, IRQS, NMIS records are begun at each level. The reader as a process:
 * one each, every step interleaved. Folded: two each, so that a level comes
 * again inside the same commit loop, finds what an earlier one left, or hits
 * two levels one after the other. A level keeps no state between its records
 * but what is in the ring, which after all writers are out is a starting state
 * again, up to `lost` and the stamp's distance.
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

#ifdef MUT_FULL_RING
#define FREE(from, tail)	(WORDS - DISTANCE(from, tail))
#else
#define FREE(from, tail)	(((tail) - (from) - 1) & (WORDS - 1))
#endif

#ifdef MUT_STAMP_UNSIGNED
#define CROSSED(progress, stamp) (DISTANCE(progress, stamp) > WATERMARK)
#else
#define CROSSED(progress, stamp) (NOT_BEFORE(progress, stamp) && \
				  DISTANCE(progress, stamp) > WATERMARK)
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

/* ---- the writers' side ---- */

#define ON	running == me	/* else frozen */

inline begin()
{
	budget--;
	below = running;
	running = me;
	inside++;
	untold++;
	select(size : SIZE_MIN .. SIZE_MAX)
}

inline check_settled()
{
	assert(data_head == head);
	assert(nest == 0);
	assert(!owed);
	assert(NOT_BEFORE(head, wakeup));
	assert(events == samples);
	check_records(data_head);
	assert(untold == told + lost)
}

inline end()
{
	running = below;
	inside--;
	below = 0; size = 0; lost_size = 0; stamp = 0;
	taken = 0; from = 0; to = 0; done = 0; seen = 0;
	if
	:: inside == 0 -> check_settled()
	:: else
	fi
}

inline stamp_changes(end_of_record)
{
	owed = true;
	owed_to = end_of_record;
	assert(NOT_BEFORE(head, wakeup))
}

inline wake()
{
	if
	:: owed && NOT_BEFORE(data_head, owed_to) -> owed = false; owed_to = 0
	:: else
	fi
}

inline write_word()
{
	assert(word[SLOT(from + done)] == BLANK);
	if
	:: lost_size && done == 0 -> word[SLOT(from + done)] = LOST_HEAD
	:: lost_size && done == 1 -> word[SLOT(from + done)] = LOST_COUNT(taken); taken = 0
	:: done == lost_size -> word[SLOT(from + done)] = HEAD(me, size)
	:: done > lost_size -> word[SLOT(from + done)] = BODY(me)
	fi;
	done++
}

/* No record to write: what is left is to commit. */
inline drop_record()
{
	size = 0; lost_size = 0; taken = 0; from = 0
}

/* One record from begin to end, at the level `me`. */
inline record()
{
	/* O1 output.c: if (unlikely(READ_ONCE(rb->data.lost))) */
	d_step { ON -> lost_size = (lost -> LOST_WORDS : 0) }

	if
	/* R1 data_ring.hh: if (__builtin_expect(P::load(ring.paused) != 0, 0)) */
	:: d_step { ON -> skip }
		/* F1 data_ring.hh: P::add(ring.lost, 1); */
		d_step {
			ON ->
#ifndef MUT_PAUSE_UNCOUNTED
			lost++;
#endif
			end()
		}
		goto end_idle
	/* R1 found 0, which changes nothing: one step with the next. */
	/* R2 data_ring.hh: handle.wakeup = P::load(ring.wakeup); */
	:: d_step { ON -> stamp = wakeup }
	fi;

	/* R3 data_ring.hh: P::store(ring.nest, P::load(ring.nest) + 1); */
	d_step { ON -> seen = nest }
	d_step { ON -> nest = seen + 1; seen = 0 }
#ifdef MUT_STAMP_AFTER_NEST
	d_step { ON -> stamp = wakeup }
#endif

	if
	:: d_step {
		/* R4 data_ring.hh: lost_size ? P::exchange(ring.lost, 0UL) : 0; */
		ON && lost_size ->
		taken = lost;
#ifndef MUT_LOST_TWO_STEPS
		lost = 0;
#endif
		/* R5 data_ring.hh: wanted = lost ? size + lost_size : size; */
		lost_size = (taken -> LOST_WORDS : 0)
		}
#ifdef MUT_LOST_TWO_STEPS
		d_step { ON -> lost = 0 }
#endif
		/* R6 data_ring.hh: from = P::load(ring.head); */
		d_step { ON -> from = head }
	:: d_step { ON && !lost_size -> from = head }
	fi;

room:
	atomic {
		/* R7 data_ring.hh: P::load_tail(ring.control->data_tail); */
		ON ->
		folded_reader_moves();
		if
		/* R8 data_ring.hh: if (__builtin_expect(free_space<D>(from, tail, ring.size) < wanted, 0)) */
#ifdef MUT_LOST_NEEDS_NO_ROOM
		:: FREE(from, data_tail) < size
#else
		:: FREE(from, data_tail) < size + lost_size
#endif
		:: else -> to = from + size + lost_size; goto reserve
		fi
	}

	/* F2 data_ring.hh: P::add(ring.lost, lost + 1); */
	d_step {
		ON ->
#ifdef MUT_LOST_NOT_RETURNED
		lost = lost + 1;
#else
		lost = lost + taken + 1;
#endif
		drop_record()
	}
#ifdef MUT_REFUSE_SKIPS_COMMIT
	d_step { ON -> seen = nest }
	d_step { ON -> nest = seen - 1; end() }
	goto end_idle;
#endif
#ifdef MUT_REFUSE_SKIPS_WAKE
	refused = true;
#endif
	/* F3 data_ring.hh: return commit(handle) ? PERF_RING_FULL_WAKE : PERF_RING_FULL; */
	goto commit;

reserve:
	/* R9 data_ring.hh: while (__builtin_expect(!P::exchange_if(ring.head, from, to), 0)); */
#ifdef MUT_HEAD_STORE
	if
	:: d_step { ON -> head = to }
	fi;
#else
	if
	:: d_step { ON && head == from -> head = to }
	:: d_step { ON && head != from -> from = head }
		goto room
	fi;
#endif

	if
	/* S1 data_ring.hh: unsigned long stamp = P::load(ring.wakeup); */
	/* S2 data_ring.hh: static_cast<long>(progress - stamp) */
	:: d_step { ON && !CROSSED(to, wakeup) -> skip }
	:: d_step { ON && CROSSED(to, wakeup) -> seen = wakeup }
		/* S3 data_ring.hh: P::exchange_if(ring.wakeup, stamp, stamp + ring.watermark); */
		d_step {
			ON ->
			if
#ifdef MUT_ADD_WATERMARK
			:: true -> wakeup = wakeup + WATERMARK; stamp_changes(to)
#else
			:: wakeup == seen -> wakeup = seen + WATERMARK; stamp_changes(to)
			:: wakeup != seen
#endif
			fi;
			seen = 0
		}
	fi;

	do
	/* O2 output.c: write_lost_record(handle, data, event, verdict); */
	/* then what is between perf_output_begin() and perf_output_end() */
	:: d_step { ON && done < size + lost_size -> write_word() }
	:: d_step { ON && done == size + lost_size -> drop_record(); done = 0 }
		break
	od;

#if EVERY
	/* N1 data_ring.hh: unsigned long seen = P::load(ring.events); */
	d_step { ON -> seen = events }
count:
	if
	/* N2 data_ring.hh: if (!P::exchange_if(ring.events, seen, due ? seen + 1 - every : seen + 1)) */
	:: d_step { ON && events != seen -> seen = events }
		goto count
	:: d_step {
		ON && events == seen ->
		events = (seen + 1 >= EVERY -> seen + 1 - EVERY : seen + 1);
		samples = (samples + 1) % EVERY
		}
	fi;
	if
	/* N3 data_ring.hh: P::add(ring.wakeup, 1); */
	:: d_step { ON && seen + 1 >= EVERY -> wakeup++; stamp_changes(to); seen = 0 }
	:: d_step { ON && seen + 1 < EVERY -> seen = 0 }
	fi;
#endif

commit:
	/* O3 output.c: if (unlikely(perf_data_ring_commit(perf_ring_handle(handle)))) */
	/* C1 data_ring.hh: const unsigned int depth = P::load(ring.nest); */
	if
	:: d_step { ON && nest > 1 -> seen = nest; to = 0 }
#ifdef MUT_NESTED_PUBLISH
		d_step { ON -> data_head = head; folded_reader_checks() }
#endif
		/* C2 data_ring.hh: P::store(ring.nest, depth - 1); */
		d_step { ON -> nest = seen - 1; end() }
		goto end_idle
	:: d_step { ON && nest <= 1 -> to = 0 }
	fi;
#ifdef MUT_WAKE_FIRST
	if
	:: d_step { ON && wakeup == stamp -> skip }
	:: d_step { ON && wakeup != stamp -> wake() }
	fi;
#endif

#ifdef MUT_NEST_ONE_ONCE
	d_step { ON -> nest = 1 }
#endif
round:
	/* C3 data_ring.hh: P::store(ring.nest, 1U); */
#ifndef MUT_NEST_ONE_ONCE
	if
	:: d_step { ON -> nest = 1 }
	fi;
#endif
	/* C4 data_ring.hh: head = P::load(ring.head); */
#ifdef MUT_HEAD_ONCE
	if
	:: d_step { ON && seen == 0 -> seen = head }
	:: d_step { ON && seen != 0 -> skip }
	fi;
#else
	if
	:: d_step { ON -> seen = head }
	fi;
#endif
#ifdef MUT_NEST_FALLS_FIRST
	d_step { ON -> nest = 0 }
#endif
	/* C5 data_ring.hh: P::publish_head(ring.control->data_head, head); */
	d_step {
		ON ->
		assert(NOT_BEFORE(seen, data_head));
		data_head = seen;
		folded_reader_checks()
	}
	/* C6 data_ring.hh: P::store(ring.nest, 0U); */
#ifndef MUT_NEST_FALLS_FIRST
	d_step { ON -> nest = 0 }
#endif
	/* C7 data_ring.hh: while (__builtin_expect(P::load(ring.head) != head, 0)); */
#ifndef MUT_NO_RECHECK
	if
#ifdef MUT_HEAD_ONCE
	:: d_step { ON && head != seen -> skip }
#else
	:: d_step { ON && head != seen -> seen = 0 }
#endif
		goto round
	:: d_step { ON && head == seen -> seen = 0 }
	fi;
#endif

	if
	/* C8 data_ring.hh: return P::load(ring.wakeup) != handle.wakeup; */
	:: d_step { ON && wakeup == stamp -> end() }
	:: d_step { ON && wakeup != stamp -> stamp = 0 }
		/* O4 output.c: perf_output_wakeup(handle); */
		d_step {
			ON ->
#ifdef MUT_REFUSE_SKIPS_WAKE
			if
			:: !refused -> wake()
			:: refused -> refused = false
			fi;
#elif !defined(MUT_WAKE_FIRST)
			wake();
#endif
			end()
		}
	fi;
	goto end_idle
}

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
