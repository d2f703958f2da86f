/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The writers' side of nesting.pml, which says what the steps and their comments
 * mean: one record from perf_output_begin() to perf_output_end(), at the level
 * `me`, in the local variables of the process that it is expanded in.
 */
#define ON	running == me	/* else frozen */

/* An interrupt, with the record that its handler is going to write. */
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
	assert(NOT_BEFORE(head + STAMP_LEAD, wakeup));
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
	assert(NOT_BEFORE(head + STAMP_LEAD, wakeup))
}

/* A wake-up that comes before the record is published tells the reader nothing. */
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

/* Nothing left to write: what follows is to commit. */
inline drop_record()
{
	size = 0; lost_size = 0; taken = 0; from = 0; done = 0
}

inline enter()
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
}

inline take_lost()
{
	if
	:: d_step {
		/* R4 data_ring.hh: lost_size ? take_lost(ring) : 0; */
		/* T1 data_ring.hh: const unsigned long lost = P::exchange(ring.lost, 0UL); */
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
	fi
}

#ifdef MUT_LOST_NEEDS_NO_ROOM
#define NEEDED	size
#else
#define NEEDED	(size + lost_size)
#endif

inline refuse_full()
{
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
	goto commit
}

inline reserve()
{
	atomic {
		/* R7 data_ring.hh: P::load_tail(ring.control->data_tail); */
		ON ->
		folded_reader_moves();
		if
		/* R8 data_ring.hh: if (__builtin_expect(free_space<D>(from, tail, ring.size) < wanted, 0)) */
		:: FREE(from, data_tail) < NEEDED
		:: else -> to = from + size + lost_size; goto exchange
		fi
	}
	refuse_full();

exchange:
	/* R9 data_ring.hh: while (__builtin_expect(!P::exchange_if(ring.head, from, to), 0)); */
	if
#ifdef MUT_HEAD_STORE
	:: d_step { ON -> head = to }
#else
	:: d_step { ON && head == from -> head = to }
#ifdef MUT_ROOM_ONCE
	:: d_step { ON && head != from -> from = head; to = from + size + lost_size }
		goto exchange
#else
	:: d_step { ON && head != from -> from = head }
		goto room
#endif
#endif
	fi
}

inline stamp_watermark()
{
#ifdef MUT_STAMP_OF_NOW
	d_step { ON -> seen = wakeup }
#define MEASURED_FROM	seen
#else
	/* S1 data_ring.hh: unsigned long stamp = handle.wakeup; */
#define MEASURED_FROM	stamp
#endif
	/* S2 data_ring.hh: progress - stamp > ring.watermark */
	/* S3 data_ring.hh: P::exchange_if(ring.wakeup, stamp, stamp + ring.watermark); */
	d_step {
		ON ->
		if
#ifdef MUT_ADD_WATERMARK
		:: CROSSED(to, MEASURED_FROM) ->
#else
		:: CROSSED(to, MEASURED_FROM) && wakeup == MEASURED_FROM ->
#endif
			wakeup = wakeup + WATERMARK;
			stamp_changes(to)
		:: else
		fi;
		seen = 0
	}
}

inline write_words()
{
	do
	/* O2 output.c: write_lost_record(handle, data, event, verdict); */
	/* then what is between perf_output_begin() and perf_output_end() */
	:: d_step { ON && done < size + lost_size -> write_word() }
	:: d_step { ON && done == size + lost_size -> drop_record() }
		break
	od
}

inline count_sample()
{
	/* N1 data_ring.hh: unsigned long seen = P::load(ring.events); */
	atomic { ON -> seen = events }
	do
	/* N2 data_ring.hh: if (!P::exchange_if(ring.events, seen, due ? seen + 1 - every : seen + 1)) */
#ifndef MUT_COUNT_TWO_STEPS
	:: d_step { ON && events != seen -> seen = events }
#endif
	:: d_step {
#ifdef MUT_COUNT_TWO_STEPS
		ON ->
#else
		ON && events == seen ->
#endif
		events = (seen + 1 >= EVERY -> seen + 1 - EVERY : seen + 1);
		samples = (samples + 1) % EVERY
		}
		break
	od;
	if
	/* N3 data_ring.hh: P::add(ring.wakeup, 1); */
	:: d_step { ON && seen + 1 >= EVERY -> wakeup++; stamp_changes(to); seen = 0 }
	:: d_step { ON && seen + 1 < EVERY -> seen = 0 }
	fi
}

inline leave_nested()
{
#ifdef MUT_NESTED_PUBLISH
	d_step { ON -> data_head = head; folded_reader_checks() }
#endif
	/* C2 data_ring.hh: P::store(ring.nest, depth - 1); */
	d_step { ON -> nest = seen - 1; end() }
	goto end_idle
}

inline publish()
{
	if
	/* C3 data_ring.hh: P::store(ring.nest, 1U); */
#ifdef MUT_NEST_ONE_ONCE
	:: d_step { ON -> skip }
#else
	:: d_step { ON -> nest = 1 }
#endif
	fi;
	/* C4 data_ring.hh: head = P::load(ring.head); */
	d_step { ON -> seen = head }
#ifdef MUT_NEST_FALLS_FIRST
	d_step { ON -> nest = 0 }
#endif
#ifdef MUT_RECHECK_FIRST_HEAD
	d_step { ON -> to = (to -> to : seen) }
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
#ifdef MUT_RECHECK_FIRST_HEAD
	d_step { ON -> seen = to }
#endif
	if
	/* C7 data_ring.hh: while (__builtin_expect(P::load(ring.head) != head, 0)); */
#ifdef MUT_NO_RECHECK
	:: d_step { ON -> seen = 0 }
#else
	:: d_step { ON && head == seen -> seen = 0; to = 0 }
	:: d_step { ON && head != seen -> seen = 0 }
		goto round
#endif
	fi
}

inline commit_record()
{
	/* O3 output.c: if (unlikely(perf_data_ring_commit(perf_ring_handle(handle)))) */
	if
	/* C1 data_ring.hh: const unsigned int depth = P::load(ring.nest); */
	:: d_step { ON && nest > 1 -> seen = nest; to = 0 }
		leave_nested()
	:: d_step { ON && nest <= 1 -> to = 0 }
	fi;
#ifdef MUT_WAKE_FIRST
	if
	:: d_step { ON && wakeup == stamp -> skip }
	:: d_step { ON && wakeup != stamp -> wake() }
	fi;
#endif
round:	publish();
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

/* One record from begin to end, at the level `me`. */
inline record()
{
	enter();
	take_lost();
room:	reserve();
	stamp_watermark();
	write_words();
#if EVERY
	count_sample();
#endif
commit:	commit_record()
}
