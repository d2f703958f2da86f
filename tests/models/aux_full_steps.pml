/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The steps of aux_full.pml, which says what they and their comments mean. `me` is
 * the CPU that they run on.
 */
#define RUNS_HERE	(state == RUNNING && oncpu == me)
#define ROOM		(SIZE - (head - aux_tail))
#define CROSSED		(head - wakeup >= WATERMARK)

/* ---- what has to be done, and cannot be done here ---- */

inline queue_disable()
{
	/* D1 aux_output.c: perf_event_disable_inatomic(handle->event); */
	d_step { pending_disable = true; must_be_off = true };
#ifndef MUT_DISABLE_WITHOUT_IRQ_WORK
	atomic {
		if
		:: disable_on == NOWHERE -> disable_on = me
		:: else
		fi
	}
#endif
}

inline queue_wakeup()
{
	/* K1 wakeup.c: atomic_set(&rb->poll, (__force int)(EPOLLIN | EPOLLRDNORM)); */
	/* K2 wakeup.c: leave_note(handle->rb); */
#ifndef MUT_NOTE_FORGOTTEN
	note = true;
#endif
	/* K3 wakeup.c: WRITE_ONCE(event->pending_wakeup, 1); */
	pending_wakeup = true;
	/* K4 wakeup.c: irq_work_queue(&event->pending_irq); */
	atomic {
		if
		:: wakeup_on == NOWHERE -> wakeup_on = me
		:: else
		fi
	}
}

/* ---- aux_output.c ---- */

inline refuse()
{
	/* A1 aux_output.c: tell(rb, event, &report); */
	d_step { told = told || !cut; cut = true }
	queue_disable();
	/* D2 aux_output.c: perf_output_wakeup(handle); */
	queue_wakeup()
}

inline begin()
{
	if
	:: atomic { ROOM > 0 -> open = true }
	/* C1 aux_ring.hh: if (__builtin_expect(handle.size == 0, 0)) */
	:: atomic { ROOM == 0 } refuse()
	fi
}

inline end(units)
{
	d_step { head = head + units; cut = false }
	/* C2 aux_ring.hh: P::publish_head(ring.control->aux_head, ring.head); */
#ifndef MUT_WAKE_BEFORE_HEAD
	d_step { aux_head = head; assert(aux_head - aux_tail <= SIZE) }
#endif
	if
	/* C3 aux_ring.hh: return wake_due(ring) ? PERF_AUX_WAKE : 0; */
	:: d_step { CROSSED -> wakeup = head - head % WATERMARK } queue_wakeup()
	:: d_step { !CROSSED }
	fi;
#ifdef MUT_WAKE_BEFORE_HEAD
	aux_head = head;
#endif
	open = false
}

inline write_and_end()
{
	if
	:: end(1)
	:: atomic { ROOM > 1 && head + 1 < UNITS } end(2)
	fi
}

/* ---- the base: the end of event_sched_out() ---- */

inline sched_out(becomes)
{
	if
	:: open -> end(0)
	:: else
	fi;
	d_step {
		oncpu = NOWHERE;
		state = becomes;
#ifdef MUT_SCHED_OUT_FORGETS
		pending_disable = false;
#else
		if
		:: pending_disable -> pending_disable = false; state = OFF
		:: else
		fi;
#endif
		must_be_off = must_be_off && state != OFF
	}
}

/* ---- irq work ---- */

/* The second note, of an event that is off. */
inline tell_that_off()
{
#ifndef MUT_NOTE_NOT_RENEWED
	/* T1 wakeup.c: leave_note(rb); */
	note = true;
	/* T2 wakeup.c: perf_event_wakeup(event); */
	sleeper = false
#else
	skip
#endif
}

/* perf_pending_disable() */
inline disable_work()
{
	disable_on = NOWHERE;
	if
	:: atomic { oncpu == NOWHERE } tell_that_off()
	:: atomic { oncpu == me && pending_disable -> pending_disable = false }
		sched_out(OFF);
		tell_that_off()
	:: atomic { oncpu == me && !pending_disable } tell_that_off()
#ifdef MUT_DISABLE_STAYS_BEHIND
	:: atomic { oncpu == 1 - me }
#else
	:: d_step {
		oncpu == 1 - me ->
		disable_on = (disable_on == NOWHERE -> oncpu : disable_on)
		}
#endif
	fi
}

inline wakeup_work()
{
	wakeup_on = NOWHERE;
	if
	/* K5 wakeup.c: if (xchg(&event->pending_wakeup, 0)) */
	:: d_step { pending_wakeup -> pending_wakeup = false }
		/* K6 wakeup.c: wake_pollers(rb); */
		sleeper = false
	:: atomic { !pending_wakeup }
	fi
}

inline run_irq_work()
{
	if
	:: disable_on == me -> disable_work();
		if
		:: wakeup_on == me -> wakeup_work()
		:: else
		fi
	:: wakeup_on == me -> wakeup_work();
		if
		:: disable_on == me -> disable_work()
		:: else
		fi
	fi
}

/* ---- the reader ---- */

inline read_all()
{
	cut_off = false;
	do
	:: d_step { told -> told = false; cut_off = true }
	:: d_step { !told && aux_tail != aux_head -> aux_tail = aux_head }
	:: atomic { !told && aux_tail == aux_head } break
	od
}

/* PERF_EVENT_IOC_ENABLE */
inline enable()
{
	/* What is on already is found out without asking its CPU. */
	if
	:: d_step { state != OFF }
	:: d_step { state == OFF && !off[0] && !off[1] -> state = INACTIVE }
	fi
}

inline poll_wait()
{
	do
#ifdef MUT_NOTE_BEFORE_QUEUE
	:: d_step { note -> note = false } break
	:: d_step { !note } sleeper = true; !sleeper
#else
	/* K8 wakeup.c: poll_wait(file, &event->waitq, wait); */
	:: sleeper = true;
		if
		/* K7 wakeup.c: atomic_xchg(&rb->poll, 0) */
		:: d_step { note -> note = false; sleeper = false } break
		:: atomic { !note } !sleeper
		fi
#endif
	od
}
