/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ==================================
 * Who maps a ring, and who frees it
 * ==================================
 *
 * What is modelled
 * ----------------
 * The counts and locks of kernel/events/mmap.c, aux_area.c, redirect.c and
 * ring_buffer.c: event->mmap_count, event->mmap_mutex, event->refcount,
 * rb->mmap_count, the AUX area's mmap_count (aux_mmap_count), rb->aux_mutex,
 * rb->refcount, the ring's list of events, and the locked memory charged for the
 * data and for the AUX area.
 *
 * Two events, and tasks that each do one thing and are done:
 * - MAPPERS map an event (the first one event 0) and unmap it;
 * - MOVERS map either event, copy the mapping and drop one of the two (mremap;
 *   fork after MADV_DOFORK) or not, and unmap it;
 * - AUX_MAPPERS map the AUX area through either event, which fails late, after
 *   the ring's count was raised, or move or unmap it;
 * - REDIRECTERS send event 1's output to event 0, and take it back or not;
 * - OPPOSITES send event 0's output to event 1.
 * Then they close their files. The last to close event 1's file frees the
 * event, unless the file stays open; event 0's always does.
 *
 * An operation stands under a comment that names it and quotes the code: G and
 * L are ring_buffer.c; A, P are aux_area.c; O, D, C, N, K, Q, M, X go through
 * mmap.c from perf_mmap_open() to map_data(); T, R, S through redirect.c. steps.awk checks
 * that the quoted lines are still there, in that order.
 *
 * An atomic block holds one operation that others can see or disturb, with what
 * belongs to it: the lock that it is the first thing done under, what only
 * holders of that lock look at, the unlocking that comes right behind it. Taking
 * a lock can be put off, and giving it back be done early, past everything that
 * others do, so no outcome is lost (Lipton's reduction). Waiting for a lock
 * still leaves the others free to go on, in the middle of a block as well.
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
 * - rb->event_lock: changing the list is one operation.
 * - RCU: a ring found under it may have no references left but is still
 *   memory, and G2 may find 0.
 * - Page faults and writers, which hold no count. AUX transactions, which are
 *   aux.pml's: closing the last AUX mapping frees the area.
 * - Sizes: all mappings fit the ring. A wrong size fails where a refused charge
 *   fails.
 * - Charging and allocating (locked_memory.c) succeed or fail in one operation.
 *
 * Bounds
 * ------
 * A count guards one thing: what the step from one to zero does. Two holders
 * meet there in every way there is; a third is whoever raises the count in the
 * middle of it, and that is a mapper of each kind in turn. run.sh puts the tasks
 * together so that each kind meets each other kind, and three meet on one event
 * and one ring. A mapper of data makes at most one ring.
 */
#ifndef MAPPERS
#define MAPPERS		2
#endif
#ifndef MOVERS
#define MOVERS		0
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

#include "mapping_steps.pml"

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

inline start_user(e, aux, may_move)
{
	files[e]++;
	run user(e, aux, may_move)
}

inline start_user_of_any(aux, may_move)
{
	if
	:: start_user(0, aux, may_move)
	:: start_user(1, aux, may_move)
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
		start_user(0, false, false);
#endif
#if MAPPERS > 1
		start_user_of_any(false, false);
#endif
#if MOVERS > 0
		start_user_of_any(false, true);
#endif
#if AUX_MAPPERS > 0
		start_user_of_any(true, false);
#endif
#if AUX_MAPPERS > 1
		start_user_of_any(true, true);
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
