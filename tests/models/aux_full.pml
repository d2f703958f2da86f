/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ========================================
 * An AUX area that is full, and its reader
 * ========================================
 *
 * What is modelled
 * ----------------
 * What refuse() and perf_aux_output_end() in kernel/events/aux_output.c set going,
 * and where it arrives: perf_event_disable_inatomic(), its irq work, and the end of
 * event_sched_out() of the base; perf_output_wakeup(), its irq work and perf_poll()
 * of wakeup.c.
 *
 * - CPUS that switch the event in and out. Where it is in, it ends transactions and
 *   begins the next, until it has written UNITS.
 * - A reader who takes what there is, switches the event on, and sleeps in poll().
 *
 * A reader that switches on only when a record has said TRUNCATED (-DTOLD_ONLY) starves,
 * and run.sh wants to see that it does: it can do so before the event is off, and the
 * record comes once.
 *
 * A step stands under a comment that names it and quotes the code: A, D are
 * aux_output.c, C is aux_ring.hh, K is wakeup.c. On its own CPU each stretch with
 * interrupts off is one; the reader comes between any two steps.
 *
 * What is checked
 * ---------------
 * - Where the event runs, a disable that is pending has irq work on its way. Who was
 *   refused is off before it runs again.
 * - The reader gets all UNITS: nothing is left asleep beside data that it is owed,
 *   or beside an event that is off (a deadlock).
 * - No position passes the reader's by more than the area.
 *
 * What is abstracted
 * ------------------
 * - Units: an area of four, the watermark at two. Wake-ups by data come from end
 *   alone, not from skip.
 * - The data ring has room for each record.
 * - An interrupt that runs irq work runs all there is, in any order.
 * - ENABLE waits for both CPUs, as the lock of the event's context does.
 */
#ifndef UNITS
#define UNITS		6
#endif
#ifndef CPUS
#define CPUS		1
#endif

#ifndef SWITCHES
#define SWITCHES	2	/* out, on each CPU */
#endif

#define SIZE		4
#define WATERMARK	2
#define NOWHERE		2

mtype = { OFF, INACTIVE, RUNNING };

/* struct perf_event */
mtype state = INACTIVE;
byte oncpu = NOWHERE;
bool pending_disable, pending_wakeup;
bool sleeper;			/* on event->waitq */

/* irq work: the CPU that it is queued on */
byte disable_on = NOWHERE, wakeup_on = NOWHERE;

/* struct perf_buffer */
bool note;			/* rb->poll */
byte head, wakeup, aux_head, aux_tail;
bool cut, open;
bool told;			/* TRUNCATED, in a record that nobody has read */

bool off[2];			/* interrupts */
bool must_be_off;		/* refused, and has not been off since */

#include "aux_full_steps.pml"

proctype cpu(byte me)
{
	byte switches = SWITCHES;

end_idle:
	do
	/* an interrupt for irq work */
	:: atomic { !off[me] && (disable_on == me || wakeup_on == me) -> off[me] = true }
		run_irq_work();
		off[me] = false
	/* the scheduler */
	:: atomic {
		!off[0] && !off[1] && state == INACTIVE ->
		assert(!must_be_off);
		off[me] = true;
		oncpu = me;
		state = RUNNING
		}
		begin();
		off[me] = false
	:: atomic { !off[me] && RUNS_HERE && switches > 0 -> off[me] = true; switches-- }
		sched_out(INACTIVE);
		off[me] = false
	/* the hardware: an interrupt */
	:: atomic { !off[me] && RUNS_HERE && open && ROOM > 0 && head < UNITS -> off[me] = true }
		write_and_end();
		begin();
		off[me] = false
	od
}

proctype reader()
{
	bool cut_off;

	do
	:: read_all();
#ifdef TOLD_ONLY
		if
		:: cut_off -> enable()
		:: else
		fi;
#else
		enable();
#endif
		if
		:: aux_tail == UNITS -> break
		:: else -> poll_wait()
		fi
	od
}

/* A pending disable that nobody is going to carry out. */
proctype watch()
{
end_watch:
	atomic {
		pending_disable && state == RUNNING && disable_on == NOWHERE && !off[0] && !off[1] ->
		assert(false)
	}
}

init
{
	atomic {
		run cpu(0);
#if CPUS > 1
		run cpu(1);
#endif
		run reader();
		run watch()
	}
}
