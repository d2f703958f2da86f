/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ==================================
 * Who maps a ring, and who frees it
 * ==================================
 *
 * What is modelled
 * ----------------
 * The counts and locks of kernel/events/mmap.c, redirect.c and ring_buffer.c:
 * event->mmap_count, event->mmap_mutex, event->refcount, rb->mmap_count,
 * rb->aux_mmap_count, rb->aux_mutex, rb->refcount, the ring's list of events,
 * and the locked memory charged for the data and for the AUX area.
 *
 * Two events, and tasks that each do one thing and are done:
 * - MAPPERS map event 0 and unmap it;
 * - MOVERS map either event, move the mapping (mremap) or not, and unmap it;
 * - AUX_MAPPERS map the AUX area through either event, which fails late, after
 *   the ring's count was raised, or unmap it;
 * - REDIRECTERS send event 1's output to event 0, and take it back or not;
 * - OPPOSITES send event 0's output to event 1.
 * Then they close their files. The last to close event 1's file frees the
 * event, unless the file stays open; event 0's always does.
 *
 * A step is one atomic operation, one access to a pointer that can change, or
 * one taking or giving of a lock. It stands under a comment that names it and
 * quotes the code: O, A, D, C, K, M, X, R are perf_mmap_open(), close_aux(),
 * detach_events(), drop_mapping() with perf_mmap_close(), share_or_make_ring(),
 * map_aux(), map_data(), redirect.c; G and L are ring_buffer.c. steps.awk checks
 * that the quoted lines are still there, in that order.
 *
 * What is checked
 * ---------------
 * - Nobody touches a ring whose last reference is gone, or an event that is
 *   freed. A close finds the ring that its mapping was counted in.
 * - What a ring was charged for is given back once, before it is freed.
 * - When all tasks are done: no mapping is counted, every ring is freed, no
 *   event is attached, nothing is charged.
 * - Every run gets there: no deadlock, and no state repeats (pan -l).
 *
 * What is abstracted
 * ------------------
 * - rb->event_lock: changing the list is one step. Its order: any event on it
 *   can be the first.
 * - RCU: a ring found under it may have no references left but is still
 *   memory; so G1 and G2 are two steps, and G2 may find 0.
 * - Page faults and writers, which hold no count. AUX transactions, which are
 *   the base's: closing the last AUX mapping frees the area.
 * - Sizes: all mappings fit the ring. A wrong size fails where a refused charge
 *   fails.
 * - Charging and allocating (locked_memory.c) succeed or fail in one step.
 *
 * Bounds
 * ------
 * A count guards one thing: what the step from one to zero does. Two holders
 * meet there in every way there is; a third is whoever raises the count in the
 * middle of it, and that is a mapper of each kind in turn. run.sh puts the tasks
 * together so that each meets each other, and three meet on one event and one
 * ring. A mapper of data makes at most one ring.
 */
#ifndef MAPPERS
#define MAPPERS		1
#endif
#ifndef MOVERS
#define MOVERS		1
#endif
#ifndef AUX_MAPPERS
#define AUX_MAPPERS	1
#endif
#ifndef REDIRECTERS
#define REDIRECTERS	1
#endif
#ifndef OPPOSITES
#define OPPOSITES	0
#endif

#define EVENTS		2
#define TASKS		(MAPPERS + MOVERS + AUX_MAPPERS + REDIRECTERS + OPPOSITES)
#define RINGS		(MAPPERS + MOVERS)
#define NONE		0	/* rings are counted from 1 */
#define BIT(e)		(1 << (e))

/* struct perf_event */
byte rb[EVENTS];
bool mmap_mutex[EVENTS];
byte event_mmap_count[EVENTS];
byte event_refcount[EVENTS] = 1;
byte files[EVENTS];		/* references to its file */
bool event_freed[EVENTS];

/* struct perf_buffer */
byte refcount[RINGS + 1];
byte mmap_count[RINGS + 1];
byte event_list[RINGS + 1];	/* BIT(e) for each event on it */
bool charged[RINGS + 1];
bool aux_mutex[RINGS + 1];
bool has_aux[RINGS + 1];
byte aux_mmap_count[RINGS + 1];
bool aux_charged[RINGS + 1];
bool freed[RINGS + 1];

byte made;			/* rings so far */
byte charge;			/* what the user pays for */

#define USABLE(r)	assert((r) != NONE && !freed[r])

inline lock_event(e)
{
	atomic {
		!mmap_mutex[e] ->
		assert(!event_freed[e]);
		mmap_mutex[e] = true
	}
}

inline unlock_event(e)
{
	d_step {
		assert(!event_freed[e]);
		mmap_mutex[e] = false
	}
}

/* ---- ring_buffer.c ---- */

inline get_ring(e, r)
{
	/* G1 ring_buffer.c: rb = perf_event_ring(perf_output_event(event)); */
	r = rb[e];
	/* G2 ring_buffer.c: if (rb && !refcount_inc_not_zero(&rb->refcount)) */
	d_step {
		if
		:: r != NONE && refcount[r] > 0 -> refcount[r]++
		:: else -> r = NONE
		fi
	}
}

inline put_ring(r)
{
	/* G3 ring_buffer.c: if (!refcount_dec_and_test(&rb->refcount)) */
	d_step {
		USABLE(r);
		refcount[r]--;
		if
		:: refcount[r] == 0 ->
			assert(event_list[r] == 0);
			assert(!charged[r] && !aux_charged[r]);
			freed[r] = true
		:: else
		fi;
		r = NONE
	}
}

/* Event e comes to ring r, with the caller's reference, or to NONE. */
inline attach(e, r)
{
	/* L1 ring_buffer.c: struct perf_buffer *old = event->rb; */
	/* L2 ring_buffer.c: leave_list(event, old); */
	d_step {
		assert(mmap_mutex[e]);
		old = rb[e];
		if
		:: old != NONE ->
			USABLE(old);
			event_list[old] = event_list[old] & ~BIT(e)
		:: else
		fi
	}
	if
	:: d_step {
		/* L3 ring_buffer.c: enter_list(event, rb); */
		r != NONE ->
		USABLE(r);
		event_list[r] = event_list[r] | BIT(e)
		}
		/* L4 ring_buffer.c: smp_store_release(&event->rb, rb); */
		rb[e] = r
	:: r == NONE -> rb[e] = NONE
	fi;
	if
	/* L5 ring_buffer.c: ring_buffer_put(old); */
	:: old != NONE -> put_ring(old)
	:: old == NONE
	fi
}

/* ---- the base's put_event() and the end of a file ---- */

inline put_event(e)
{
	d_step {
		assert(!event_freed[e]);
		event_refcount[e]--;
		last = event_refcount[e] == 0
	}
	if
	:: last && rb[e] != NONE ->
		lock_event(e);
		attach(e, NONE);
		unlock_event(e);
		event_freed[e] = true
	:: last && rb[e] == NONE -> event_freed[e] = true
	:: !last
	fi
}

inline close_file(e)
{
	d_step {
		files[e]--;
		last = files[e] == 0
	}
	if
	:: last -> put_event(e)
	:: !last
	fi;
	last = false
}

/* ---- mmap.c ---- */

inline open_mapping(e, aux)
{
	/* O1 mmap.c: atomic_inc(&event->mmap_count); */
	event_mmap_count[e]++;
	/* O2 mmap.c: atomic_inc(&event->rb->mmap_count); */
	d_step {
		assert(rb[e] == mine);
		USABLE(mine);
		mmap_count[mine]++
	}
	/* O3 mmap.c: atomic_inc(&event->rb->aux_mmap_count); */
	if
	:: d_step { aux -> assert(aux_mmap_count[mine] > 0); aux_mmap_count[mine]++ }
	:: !aux
	fi
}

inline free_aux(r)
{
	/* A2 mmap.c: perf_uncharge(&rb->aux_charge); */
	d_step {
		assert(aux_charged[r]);
		aux_charged[r] = false;
		charge--
	}
	/* A3 mmap.c: rb_free_aux(rb); */
	has_aux[r] = false
}

inline close_aux(r)
{
	/* A1 mmap.c: if (!atomic_dec_and_mutex_lock(&rb->aux_mmap_count, &rb->aux_mutex)) */
	if
	:: d_step { aux_mmap_count[r] > 1 -> aux_mmap_count[r]-- }
	:: aux_mmap_count[r] <= 1 ->
#ifdef MUT_AUX_COUNT_UNLOCKED
		d_step {
			aux_mmap_count[r]--;
			last = aux_mmap_count[r] == 0
		}
		atomic { !aux_mutex[r] -> aux_mutex[r] = true };
#else
		atomic { !aux_mutex[r] -> aux_mutex[r] = true };
		d_step {
			USABLE(r);
			aux_mmap_count[r]--;
			last = aux_mmap_count[r] == 0
		}
#endif
		if
		:: last -> free_aux(r)
		:: !last
		fi;
		/* A4 mmap.c: mutex_unlock(&rb->aux_mutex); */
		d_step { aux_mutex[r] = false; last = false }
	fi
}

inline detach_events(r)
{
	do
	/* D1 mmap.c: if (atomic_long_inc_not_zero(&event->refcount)) { */
#ifdef MUT_DETACH_DYING
#define LIVE(r, e)	(event_list[r] & BIT(e))
#else
#define LIVE(r, e)	((event_list[r] & BIT(e)) && event_refcount[e] > 0)
#endif
	:: atomic {
		USABLE(r);
		if
		:: LIVE(r, 0) -> found = 0
		:: LIVE(r, 1) -> found = 1
		:: else -> break
		fi;
		event_refcount[found]++
		}
		/* D2 mmap.c: mutex_lock(&event->mmap_mutex); */
		lock_event(found);
		/* D3 mmap.c: if (event->rb == rb) */
		if
#ifdef MUT_DETACH_UNCHECKED
		:: true ->
#else
		:: rb[found] == r ->
#endif
			attach(found, NONE)
		:: rb[found] != r
		fi;
		/* D4 mmap.c: mutex_unlock(&event->mmap_mutex); */
		unlock_event(found);
		/* D5 mmap.c: put_event(event); */
		put_event(found);
		found = 0
	od
}

inline drop_mapping(r)
{
#ifdef MUT_CLOSE_TWO_STEPS
	mmap_count[r]--;
	last = mmap_count[r] == 0;
#else
	/* C1 mmap.c: if (!atomic_dec_and_test(&rb->mmap_count)) */
	d_step {
		USABLE(r);
		assert(mmap_count[r] > 0);
		mmap_count[r]--;
		last = mmap_count[r] == 0
	}
#endif
	if
	:: last ->
		/* C2 mmap.c: detach_events(rb); */
		detach_events(r);
		/* C3 mmap.c: perf_uncharge(&rb->charge); */
		atomic {
			assert(charged[r]);
			charged[r] = false;
			charge--;
			last = false
		}
	:: !last
	fi
}

inline close_mapping(e, aux)
{
	/* C4 mmap.c: struct perf_buffer *rb = ring_buffer_get(event); */
	get_ring(e, r);
	assert(r == mine);
	/* C5 mmap.c: if (rb_has_aux(rb) && vma->vm_pgoff == rb->aux_pgoff) */
	if
	:: aux && has_aux[r] -> close_aux(r)
	:: !aux
	fi;
	/* C6 mmap.c: if (atomic_dec_and_mutex_lock(&event->mmap_count, &event->mmap_mutex)) { */
	if
	:: d_step { event_mmap_count[e] > 1 -> event_mmap_count[e]-- }
#ifdef MUT_CLOSE_SKIPS_UNCHARGE
		mmap_count[r]--;
		goto dropped
#endif
	:: event_mmap_count[e] <= 1 ->
#ifdef MUT_EVENT_COUNT_UNLOCKED
		d_step {
			event_mmap_count[e]--;
			last = event_mmap_count[e] == 0
		}
		lock_event(e);
#else
		lock_event(e);
		d_step {
			event_mmap_count[e]--;
			last = event_mmap_count[e] == 0
		}
#endif
		if
		/* C7 mmap.c: ring_buffer_attach(event, NULL); */
		:: last -> attach(e, NONE)
		:: !last
		fi;
		last = false;
		/* C8 mmap.c: mutex_unlock(&event->mmap_mutex); */
		unlock_event(e)
	fi;
	/* C9 mmap.c: drop_mapping(rb); */
	drop_mapping(r);
#ifdef MUT_CLOSE_SKIPS_UNCHARGE
dropped:
#endif
	/* C10 mmap.c: ring_buffer_put(rb); */
	put_ring(r)
}

/* The caller holds the event's mutex. `mine` is the ring that counts us, or NONE. */
inline make_ring(e)
{
	if
	/* perf_charge() or rb_alloc() fails */
	:: mine = NONE
	:: d_step {
		/* K1 mmap.c: rb->charge = charge; */
		/* K2 mmap.c: atomic_set(&rb->mmap_count, 1); */
		made++;
		mine = made;
		charge++;
		charged[mine] = true;
		refcount[mine] = 1;
		mmap_count[mine] = 1
		}
		/* K3 mmap.c: ring_buffer_attach(event, rb); */
		attach(e, mine)
	fi
}

inline share_or_make_ring(e)
{
	/* K4 mmap.c: struct perf_buffer *rb = event->rb; */
	mine = rb[e];
	if
	:: mine != NONE ->
		/* K5 mmap.c: if (atomic_inc_not_zero(&rb->mmap_count)) */
		d_step {
			USABLE(mine);
			if
#ifdef MUT_MAP_REVIVES
			:: true -> mmap_count[mine]++
#else
			:: mmap_count[mine] > 0 -> mmap_count[mine]++
			:: else -> mine = NONE
#endif
			fi
		}
		if
		/* K6 mmap.c: ring_buffer_attach(event, NULL); */
		/* K7 mmap.c: return make_ring(event, vma, data_pages); */
		:: mine == NONE -> attach(e, NONE); make_ring(e)
		:: mine != NONE
		fi
	:: mine == NONE -> make_ring(e)
	fi
}

/* The caller holds the event's mutex and the ring's aux_mutex. */
inline map_aux_locked(r)
{
	failed = false;
	if
	/* M1 mmap.c: rb->aux_charge = charge; */
	/* M2 mmap.c: atomic_set(&rb->aux_mmap_count, 1); */
	/* M3 mmap.c: if (!rb_has_aux(rb)) */
	:: d_step {
		!has_aux[r] ->
		assert(!aux_charged[r]);
		has_aux[r] = true;
		charge++;
		aux_charged[r] = true;
		aux_mmap_count[r] = 1
		}
	/* M4 mmap.c: atomic_inc(&rb->aux_mmap_count); */
	:: d_step {
		has_aux[r] ->
		assert(aux_mmap_count[r] > 0);
		aux_mmap_count[r]++
		}
	/* charge, allocation or size: refused */
	:: failed = true
	fi
}

inline map_aux(e)
{
	/* M5 mmap.c: mutex_lock(&event->mmap_mutex); */
	lock_event(e);
	/* M6 mmap.c: rb = event->rb; */
	r = rb[e];
	/* M7 mmap.c: if (!rb || !atomic_inc_not_zero(&rb->mmap_count)) { */
	d_step {
		if
		:: r == NONE
		:: else ->
			USABLE(r);
			if
#ifdef MUT_AUX_REVIVES
			:: true -> mmap_count[r]++
#else
			:: mmap_count[r] > 0 -> mmap_count[r]++
			:: else -> r = NONE
#endif
			fi
		fi
	}
	if
	/* M8 mmap.c: mutex_unlock(&event->mmap_mutex); */
	:: r == NONE -> unlock_event(e)
	:: r != NONE ->
		/* M9 mmap.c: mutex_lock(&rb->aux_mutex); */
		atomic { !aux_mutex[r] -> aux_mutex[r] = true };
		/* M10 mmap.c: err = map_aux_locked(event, rb, vma); */
		map_aux_locked(r);
		/* M11 mmap.c: mutex_unlock(&rb->aux_mutex); */
		aux_mutex[r] = false;
		if
#ifndef MUT_AUX_FAILS_WITHOUT_REFERENCE
		/* M12 mmap.c: refcount_inc(&rb->refcount); */
		:: d_step { failed -> USABLE(r); refcount[r]++ }
#else
		:: failed
#endif
		/* M13 mmap.c: atomic_inc(&event->mmap_count); */
		:: d_step { !failed -> event_mmap_count[e]++; mine = r; r = NONE }
		fi;
		/* M14 mmap.c: mutex_unlock(&event->mmap_mutex); */
		unlock_event(e);
		if
		:: failed ->
#ifdef MUT_AUX_FAILS_WITHOUT_CLEANUP
			mmap_count[r]--;
#else
			/* M15 mmap.c: drop_mapping(rb); */
			drop_mapping(r);
#endif
#ifndef MUT_AUX_FAILS_WITHOUT_REFERENCE
			/* M16 mmap.c: ring_buffer_put(rb); */
			put_ring(r);
#endif
			failed = false
		:: !failed
		fi
	fi
}

inline map_data(e)
{
	/* X1 mmap.c: mutex_lock(&event->mmap_mutex); */
	lock_event(e);
	/* X2 mmap.c: err = share_or_make_ring(event, vma, data_pages); */
	share_or_make_ring(e);
	/* X3 mmap.c: atomic_inc(&event->mmap_count); */
	if
	:: d_step { mine != NONE -> event_mmap_count[e]++ }
	:: mine == NONE
	fi;
	/* X4 mmap.c: mutex_unlock(&event->mmap_mutex); */
	unlock_event(e)
}

/* ---- redirect.c ---- */

/* Event 0 stands at the lower address. */
inline lock_both(e, output)
{
#ifdef MUT_REDIRECT_LOCKS_ONE
	lock_event(e)
#elif defined(MUT_REDIRECT_LOCKS_UNSORTED)
	lock_event(e);
	lock_event(output)
#else
	/* R6 redirect.c: mutex_lock(first); */
	lock_event(0);
	/* R7 redirect.c: mutex_lock_nested(second, SINGLE_DEPTH_NESTING); */
	lock_event(1)
#endif
}

inline set_output(e, output)
{
	lock_both(e, output);
	/* R3 redirect.c: if (atomic_read(&event->mmap_count)) */
	if
	:: event_mmap_count[e] == 0 ->
		/* R1 redirect.c: struct perf_buffer *rb = ring_buffer_get(event); */
		get_ring(output, r);
		/* R2 redirect.c: if (rb && !atomic_read(&rb->mmap_count)) { */
		if
		:: r != NONE && mmap_count[r] == 0 -> put_ring(r)
		:: r != NONE && mmap_count[r] > 0 -> attach(e, r); r = NONE
		:: r == NONE
		fi
	:: event_mmap_count[e] > 0
	fi;
	unlock_event(e);
#ifndef MUT_REDIRECT_LOCKS_ONE
	unlock_event(output)
#endif
}

inline reset_output(e)
{
	lock_event(e);
	if
	:: event_mmap_count[e] == 0 -> attach(e, NONE)
	:: event_mmap_count[e] > 0
	fi;
	unlock_event(e)
}

/* ---- the tasks ---- */

/* Maps through event e, moves the mapping at most once, unmaps, closes the file. */
proctype user(byte e; bool aux; bool may_move)
{
	byte r, mine, old, found, mappings;
	bool last, failed;

	if
	:: !aux -> map_data(e)
	:: aux -> map_aux(e)
	fi;
	mappings = (mine != NONE -> 1 : 0);
	do
	:: mappings > 0 && may_move ->
		may_move = false;
		open_mapping(e, aux);
		mappings++
	:: mappings > 0 ->
		close_mapping(e, aux);
		mappings--
	:: mappings == 0 -> break
	od;
	mine = NONE;
	close_file(e)
}

proctype redirecter(byte e; byte output; bool may_reset)
{
	byte r, old;
	bool last;

	set_output(e, output);
	if
	:: may_reset -> reset_output(e)
	:: true
	fi;
	close_file(e);
	close_file(output)
}

inline start_user(aux, may_move)
{
	if
	:: files[0]++; run user(0, aux, may_move)
	:: files[1]++; run user(1, aux, may_move)
	fi
}

inline start_redirecter(e, output, may_reset)
{
	files[e]++;
	files[output]++;
	run redirecter(e, output, may_reset)
}

init
{
	atomic {
		files[0] = 1;
		if
		:: files[1] = 1
		:: true
		fi;
#if MAPPERS > 0
		start_user(false, false);
#endif
#if MAPPERS > 1
		start_user(false, false);
#endif
#if MOVERS > 0
		start_user(false, true);
#endif
#if AUX_MAPPERS > 0
		start_user(true, false);
#endif
#if AUX_MAPPERS > 1
		start_user(true, false);
#endif
#if REDIRECTERS > 0
		start_redirecter(1, 0, true);
#endif
#if OPPOSITES > 0
		start_redirecter(0, 1, false);
#endif
	}
	d_step {
		_nr_pr == 1 ->
		do
		:: made > 0 ->
			assert(mmap_count[made] == 0 && aux_mmap_count[made] == 0);
			assert(freed[made]);
			made--
		:: else -> break
		od;
		assert(rb[0] == NONE && rb[1] == NONE);
		assert(event_mmap_count[0] == 0 && event_mmap_count[1] == 0);
		assert(charge == 0)
	}
}
