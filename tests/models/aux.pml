/* SPDX-License-Identifier: GPL-2.0 */
/*
 * =====================
 * The life of AUX areas
 * =====================
 *
 * What is modelled
 * ----------------
 * kernel/events/aux_area.c, aux_output.c and ring/aux_ring.hh: rb->aux,
 * rb->aux_open, rb->aux_mutex, the area's two counts, the ring's count, and
 * aux_ring.open; with attaching from ring_buffer.c, as far as it moves a trace.
 *
 * - Two CPUs, each with an event that is switched in and out, begins on its ring
 *   and ends, by itself or when it is told to stop. A stop leaves a transaction
 *   open LATE times, and it ends when it likes: the driver that breaks the rule.
 * - An NMI on each CPU, between any two steps: it begins and ends, or loses.
 * - MAPPERS map ring 1's area through event 0, make it if there is none, unmap it.
 *   Then event 0 is closed. Its ring goes before it stops, or behind.
 * - A redirecter sends event 1 from ring 1 to ring 2, and closes it.
 * - Ring 2's area is unmapped at any time.
 *
 * An operation stands under a comment that names it and quotes the code: J, B, O, E,
 * L are aux_output.c, P, V, U aux_area.c, R is aux_ring.hh, W ring_buffer.c. The
 * base's perf_event_stop() and perf_pmu_output_stop() are call_cpu().
 *
 * What is checked
 * ---------------
 * - Memory is freed once, and not while a transaction is open on it. The structs
 *   are not touched when they are gone.
 * - A transaction is begun and ended on a ring that is set up for its area. Nobody
 *   is inside while a ring is being set up.
 * - When an area has been unmapped, no event that writes to the ring has a
 *   transaction on it, but for late ones; when an event has been redirected, neither.
 * - When all is closed, every area and ring is freed and nothing is open.
 * - Every run gets there: no deadlock.
 *
 * What is abstracted
 * ------------------
 * - Events on one ring run on one CPU at a time; here, on two at a time. The old
 *   CPU of an event that has moved can still be ending a transaction.
 * - Task events: only where one is found active is there anybody to be stopped.
 *   Those of a CPU are always called there, which is more waiting.
 * - A grace period waits for the sections that were entered before it began. It
 *   costs no step.
 * - Room: a begin finds the area full or not.
 * - Counts and locks of the data mapping: mapping.pml. Here event 0 keeps ring 1 as
 *   long as somebody maps. What the reader is told: aux_full.pml.
 * - Memory order between close_area() and open_area(), which is full on both sides.
 */
#ifndef MAPPERS
#define MAPPERS		2
#endif
#ifndef BEGINS
#define BEGINS		2	/* of event 1 */
#endif
#ifndef BEGINS_0
#define BEGINS_0	BEGINS	/* of event 0; 0: it is off */
#endif
#ifndef LATE
#define LATE		1	/* stops that end nothing, of each event */
#endif
#ifndef NMIS
#define NMIS		1	/* on each CPU */
#endif
#ifndef REDIRECTERS
#define REDIRECTERS	1	/* or 0: no event 1, no ring 2 */
#endif
#ifndef OTHERS
#define OTHERS		0	/* or 1: who unmaps ring 2's area at any time */
#endif

#define NONE		0	/* rings and areas are counted from 1 */
#define RINGS		2
#define AREAS		3	/* the mappers', and, with a redirecter, the last one */
#define BIT(c)		(1 << (c))

/* The two levels of a CPU, and whose handle it is: CPU's or NMI's. */
#define TASK		0
#define NMI		1
#define HANDLE(c, level)	(2 * (c) + (level))

/* What a CPU is called for. */
#define STOP		1
#define RESTART		2
#define REMOVE		3

/* struct perf_event; event c runs on CPU c */
byte rb[2];
bool on_cpu[2];
bool removed[2];

/* struct perf_output_handle */
byte handle_ring[4];		/* NONE: no transaction */
byte handle_area[4];
bool late[2];

/* struct perf_buffer */
byte aux[RINGS + 1];
byte aux_open[RINGS + 1];
bool aux_mutex[RINGS + 1];
byte event_list[RINGS + 1];
byte ring_refs[RINGS + 1];
bool ring_freed[RINGS + 1];
byte ring_waits[RINGS + 1];	/* the CPUs that its grace period waits for */

/* struct perf_aux_ring */
bool open[RINGS + 1];
byte sized[RINGS + 1];		/* the area that it is set up for */
byte inside[RINGS + 1];		/* who believes to be alone */

/* struct perf_aux_area */
byte refs[AREAS + 1];
byte mapped[AREAS + 1];
byte ring_of[AREAS + 1];
bool queued[AREAS + 1];		/* its irq work, and behind it the worker */
bool freed[AREAS + 1];
byte area_waits[AREAS + 1];
byte made;

/* The CPUs */
byte running[2] = TASK;
byte sections[2];		/* of RCU, one in another */
byte request[2];
byte request_ring[2];		/* only if the event's ring is that one; NONE: any */
byte requester[2];
byte files = MAPPERS;		/* mappings through event 0 */

#include "aux_steps.pml"

/* ---- a CPU and its event ---- */

/* In event_sched_in(), or when a stop is followed by a start. */
inline start()
{
	if
	:: atomic { ON && late[c] } end()
	:: atomic { ON && !late[c] }
	fi;
	if
	:: atomic { ON && begins > 0 -> begins-- } begin()
	:: atomic { ON && begins == 0 }
	fi
}

inline stop()
{
	if
	:: atomic { ON && handle_ring[h] != NONE && !late[c] } end()
	:: atomic { ON && handle_ring[h] != NONE && !late[c] && lates > 0 -> late[c] = true; lates-- }
	:: atomic { ON && (handle_ring[h] == NONE || late[c]) }
	fi
}

#define CONCERNED	(on_cpu[c] && (request_ring[c] == NONE || request_ring[c] == rb[c]))

inline answer()
{
	if
	:: atomic { ON && CONCERNED } stop();
		if
		:: atomic { ON && request[c] == RESTART } start()
		:: atomic { ON && request[c] == REMOVE -> on_cpu[c] = false }
		:: atomic { ON && request[c] == STOP }
		fi
	:: atomic { ON && !CONCERNED }
	fi;
	d_step {
		ON ->
		removed[c] = removed[c] || request[c] == REMOVE;
		begins = (removed[c] -> 0 : begins);
		lates = (removed[c] -> 0 : lates);
		request[c] = NONE;
		request_ring[c] = NONE;
		requester[c] = 0
	}
}

#define ALIVE	(on_cpu[c] && !removed[c])

/* Between these, interrupts are on. */
proctype cpu(byte c)
{
	byte begins = (c == 0 -> BEGINS_0 : BEGINS), lates = LATE, r, a, h = HANDLE(c, TASK), level = TASK;

end_idle:
	do
	:: atomic { ON && request[c] != NONE } answer()
	/* the scheduler */
	:: atomic { ON && !on_cpu[c] && !removed[c] && begins > 0 -> on_cpu[c] = true }
		start()
	:: atomic { ON && ALIVE && begins > 0 } stop(); atomic { ON -> on_cpu[c] = false }
	/* the hardware: so much has been written */
	:: atomic { ON && ALIVE && handle_ring[h] != NONE && !late[c] } end(); start()
	:: atomic { ON && late[c] } end()
	:: atomic { ON && removed[c] && handle_ring[h] == NONE && request[c] == NONE } break
	od
}

proctype nmi(byte c)
{
	byte r, a, h = HANDLE(c, NMI), level = NMI, times = NMIS;

	do
	:: atomic { running[c] == TASK && ALIVE && times > 0 -> running[c] = NMI; times-- }
		if
		:: begin();
			if
			:: handle_ring[h] != NONE -> end()
			:: else
			fi
		:: lose()
		fi;
		running[c] = TASK
	:: removed[c] || times == 0 -> break
	od
}

/* queue_work(): somebody who may sleep */
proctype worker()
{
	byte a;

end_idle:
	do
	/* P1 aux_area.c: queue_work(system_unbound_wq, &area->free_work); */
	:: atomic {
		if
		:: queued[1] -> a = 1
		:: queued[2] -> a = 2
		:: queued[3] -> a = 3
		fi;
		queued[a] = false;
		free_area(a);
		a = NONE
		}
	od
}

/* ---- tasks ---- */

proctype mapper()
{
	byte a;

	map_area(1);
	if
	:: a != NONE -> unmap_area(1)
	:: else
	fi;
	files--
}

/* perf_event_release_kernel(); the ring can go first, when it is unmapped. */
proctype closer()
{
	byte old;

	files == 0;
	if
	:: attach(0, NONE)
	:: true
	fi;
	call_cpu(0, REMOVE, NONE);
	attach(0, NONE)
}

proctype redirecter()
{
	byte old, a = AREAS;

	attach(1, 2);
	assert(handle_ring[HANDLE(1, TASK)] != 1 || late[1]);
	call_cpu(1, REMOVE, NONE);
	attach(1, NONE);
#if !OTHERS
	unmap_area(2);
	d_step { put_ring(2) }	/* that of a third event */
#endif
}

proctype other()
{
	byte a = AREAS;

	unmap_area(2);
	d_step { put_ring(2) }
}

inline set_up()
{
	rb[0] = 1;
	event_list[1] = BIT(0);
	ring_refs[1] = 1;
#if REDIRECTERS
	rb[1] = 1;
	event_list[1] = BIT(0) | BIT(1);
	ring_refs[1] = 2;
	ring_refs[2] = 3;
	refs[AREAS] = 1;
	mapped[AREAS] = 1;
	ring_of[AREAS] = 2;
	aux[2] = AREAS;
	sized[2] = AREAS
#endif
}

inline start_all()
{
	run worker();
	run cpu(0);
#if NMIS
	run nmi(0);
#endif
	run mapper();
#if MAPPERS > 1
	run mapper();
#endif
#if MAPPERS > 2
	run mapper();
#endif
	run closer();
#if REDIRECTERS
	run cpu(1);
#if NMIS
	run nmi(1);
#endif
	run redirecter();
#if OTHERS
	run other()
#endif
#endif
}

init
{
	byte i = 1;

	atomic { set_up(); start_all() }
	d_step {
		/* the worker and we */
		_nr_pr == 2 && !queued[1] && !queued[2] && !queued[3] ->
		do
		:: i <= made -> assert(freed[i]); i++
		:: else -> break
		od;
		assert(ring_freed[1] && !open[1]);
#if REDIRECTERS
		assert(freed[AREAS] && ring_freed[2] && !open[2])
#endif
	}
}
