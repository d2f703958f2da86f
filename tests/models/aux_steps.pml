/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations of aux.pml, which says what the steps and their comments mean, in
 * the local variables of the process that they are expanded in:
 *	c, level	the CPU and what runs on it now; others are frozen
 *	h		the handle
 *	r, a		the ring and the area that are worked on
 */
#define ON	running[c] == level

#define RING_IS_THERE(r)	assert(!ring_freed[r] || ring_waits[r])
#define AREA_IS_THERE(a)	assert(!freed[a] || area_waits[a])

/* ---- RCU ---- */

inline enter_section()
{
	sections[c]++
}

inline leave_section()
{
	sections[c]--;
	if
	:: sections[c] == 0 ->
		ring_waits[1] = ring_waits[1] & ~BIT(c);
		ring_waits[2] = ring_waits[2] & ~BIT(c);
		area_waits[1] = area_waits[1] & ~BIT(c);
		area_waits[2] = area_waits[2] & ~BIT(c);
		area_waits[3] = area_waits[3] & ~BIT(c)
	:: else
	fi
}

#define IN_SECTIONS	((sections[0] > 0 -> BIT(0) : 0) | (sections[1] > 0 -> BIT(1) : 0))

/* ---- the last reference ---- */

inline put_ring(r)
{
	assert(ring_refs[r] > 0);
	ring_refs[r]--;
	if
	:: ring_refs[r] == 0 ->
		assert(event_list[r] == 0);
		assert(!open[r]);
		ring_freed[r] = true;
		ring_waits[r] = IN_SECTIONS
	:: else
	fi
}

inline free_area(a)
{
	assert(!freed[a]);
	assert(handle_area[0] != a && handle_area[1] != a);
	assert(handle_area[2] != a && handle_area[3] != a);
	freed[a] = true;
#ifndef MUT_STRUCT_AT_ONCE
	area_waits[a] = IN_SECTIONS;
#endif
#ifndef MUT_AREA_WITHOUT_RING
	put_ring(ring_of[a])
#endif
}

/* perf_aux_put() */
inline put_area(a)
{
	AREA_IS_THERE(a);
	assert(refs[a] > 0);
	refs[a]--;
	if
	/* P2 aux.h: if (unlikely(refcount_dec_and_test(&area->refcount))) */
	/* P3 aux.h: irq_work_queue(&area->free_irq); */
	:: refs[a] == 0 ->
		assert(!queued[a]);
		queued[a] = true
	:: else
	fi
}

/* ---- aux_output.c: beginning ---- */

inline lock_ring(r)
{
	open[r] = true;
	inside[r]++
}

inline unlock_ring(r)
{
	RING_IS_THERE(r);
	inside[r]--;
	/* R3 aux_ring.hh: P::unlock(ring.open); */
	open[r] = false
}

/* Not begun: the reference goes. */
inline leave_area()
{
	put_area(a);
	r = NONE;
	a = NONE;
	leave_section()
}

inline leave_ring()
{
	r = NONE;
	a = NONE;
	leave_section()
}

#ifdef MUT_NO_RECHECK
#define STILL_MAPPED	true
#else
#define STILL_MAPPED	aux[r] == a
#endif

/* Nobody sees more of the rest than that it is over. */
inline opened()
{
	if
	/* O2 aux_output.c: if (likely(rcu_access_pointer(rb->aux) == area && */
	/* B4 aux_output.c: rb->aux_open = area; */
	:: d_step {
		ON && STILL_MAPPED ->
		assert(sized[r] == a);
		aux_open[r] = a;
		handle_ring[h] = r;
		handle_area[h] = a;
#ifdef MUT_BEGIN_WITHOUT_REFERENCE
		refs[a]--;
#endif
		leave_ring()
		}
	/* B5 aux_output.c: refuse(event, rb); */
	:: d_step { ON && STILL_MAPPED -> assert(sized[r] == a); unlock_ring(r) }
		d_step { ON -> leave_area() }
	/* O3 aux_output.c: perf_aux_ring_close(&rb->aux_ring); */
	:: d_step { ON && !(STILL_MAPPED) -> unlock_ring(r) }
		d_step { ON -> leave_area() }
	fi
}

inline open_area()
{
	if
	/* R2 aux_ring.hh: if (!P::try_lock(ring.open)) return PERF_AUX_BUSY; */
	:: d_step { ON && !open[r] -> lock_ring(r) }
		opened()
#ifdef MUT_OPEN_WRITTEN_BACK
	/* cmpxchg without the lock: what was found is written back. */
	:: d_step { ON && open[r] -> skip }
		d_step { ON -> open[r] = true; leave_area() }
#else
	/* B6 aux_output.c: perf_aux_put(area); */
	:: d_step { ON && open[r] -> leave_area() }
#endif
	fi
}

#ifdef MUT_AREA_REVIVED
#define ALIVE_AREA(a)	true
#else
#define ALIVE_AREA(a)	refs[a] > 0
#endif

inline begin()
{
	/* J1 aux_output.c: rb = perf_event_ring(perf_output_event(event)); */
	d_step { ON -> enter_section(); r = rb[c] }
	if
	/* J2 aux_output.c: return rb ? begin(handle, event, rb) : NULL; */
	:: d_step { ON && r == NONE -> leave_ring() }
	/* B1 aux_output.c: struct perf_aux_area *area = rcu_dereference_sched(rb->aux); */
	:: d_step { ON && r != NONE -> RING_IS_THERE(r); a = aux[r] }
		if
		/* B2 aux_output.c: if (!area || area->pmu != event->pmu || !refcount_inc_not_zero(&area->refcount)) */
		:: d_step { ON && a == NONE -> leave_ring() }
		:: d_step {
			ON && a != NONE && !(ALIVE_AREA(a)) ->
			AREA_IS_THERE(a);
			leave_ring()
			}
		:: d_step {
			ON && a != NONE && ALIVE_AREA(a) ->
			AREA_IS_THERE(a);
			refs[a]++
			}
			/* B3 aux_output.c: verdict = open_area(handle, event, rb, area); */
			/* O1 aux_output.c: perf_aux_ring_begin(&rb->aux_ring, aux_handle(handle)); */
			open_area()
		fi
	fi
}

/* ---- aux_output.c: ending, losing ---- */

inline end()
{
	/* Z1 aux_output.c: struct perf_aux_area *area = rb->aux_open; */
	/* E1 aux_output.c: todo = perf_aux_ring_commit(&rb->aux_ring, */
	/* E2 aux_output.c: handle->event = NULL; */
	d_step {
		ON ->
		r = handle_ring[h];
		RING_IS_THERE(r);
		a = aux_open[r];
		assert(sized[r] == a);
		assert(a == handle_area[h]);
#ifndef MUT_AREA_READ_LATE
		aux_open[r] = NONE;	/* nobody looks any more */
#endif
		handle_ring[h] = NONE;
		handle_area[h] = NONE;
		late[c] = late[c] && level != TASK
	}
	/* E3 aux_output.c: perf_aux_ring_close(&rb->aux_ring); */
	d_step { ON -> unlock_ring(r) }
#ifdef MUT_AREA_READ_LATE
	d_step { ON -> a = aux_open[r] }
#endif
	/* Z2 aux_output.c: perf_aux_put(area); */
	d_step {
		ON ->
#ifndef MUT_BEGIN_WITHOUT_REFERENCE
		put_area(a);
#endif
		r = NONE;
		a = NONE
	}
}

inline lose()
{
	/* L1 aux_output.c: rb = perf_event_ring(perf_output_event(event)); */
	d_step { ON -> enter_section(); r = rb[c] }
	if
	/* L2 aux_output.c: if (!rb || !rcu_access_pointer(rb->aux)) */
	:: d_step { ON && (r == NONE || aux[r] == NONE) -> leave_ring() }
	:: d_step { ON && r != NONE && aux[r] != NONE -> RING_IS_THERE(r) }
		if
		/* L3 aux_output.c: if (!perf_aux_ring_lose(&rb->aux_ring, bytes, since, &report)) */
		/* R4 aux_ring.hh: if (!P::try_lock(ring.open)) return 0; */
		:: d_step { ON && open[r] -> leave_ring() }
		:: d_step { ON && !open[r] -> lock_ring(r) }
			/* L4 aux_output.c: perf_aux_ring_close(&rb->aux_ring); */
			d_step { ON -> unlock_ring(r); leave_ring() }
		fi
	fi
}

/* ---- the base: an IPI that runs where interrupts are on, and is waited for ---- */

inline call_cpu(c, what, ring)
{
	if
	:: removed[c]
	:: atomic {
		!removed[c] && request[c] == NONE ->
		request[c] = what;
		request_ring[c] = ring;
		requester[c] = _pid
		}
		removed[c] || requester[c] != _pid
	fi
}

/* ---- aux_area.c: mapping, in `a` the area or NONE ---- */

inline set_up_ring(r)
{
	if
	/* R1 aux_ring.hh: if (!P::try_lock(ring.open)) return false; */
	/* V3 aux_area.c: !perf_aux_ring_setup(&rb->aux_ring, */
#ifdef MUT_SETUP_UNLOCKED
	:: d_step { assert(inside[r] == 0); sized[r] = a }
#else
	:: d_step { !open[r] -> lock_ring(r); assert(inside[r] == 1); sized[r] = a }
		d_step { unlock_ring(r) }
	/* V4 aux_area.c: free_area(area); */
	:: d_step { open[r] -> freed[a] = true; a = NONE }
#endif
	fi
}

#ifdef MUT_MAP_WHILE_OPEN
#define MAY_MAKE(r)	true
#else
#define MAY_MAKE(r)	!open[r]
#endif

inline map_area(r)
{
	if
	:: atomic { !aux_mutex[r] && aux[r] != NONE -> a = aux[r]; mapped[a]++ }
	/* V1 aux_area.c: if (READ_ONCE(rb->aux_ring.open)) return -EBUSY; */
	:: atomic { !aux_mutex[r] && aux[r] == NONE && !(MAY_MAKE(r)) }
	:: d_step {
		!aux_mutex[r] && aux[r] == NONE && MAY_MAKE(r) ->
		aux_mutex[r] = true;
		made++;
		a = made;
		ring_of[a] = r
		}
		/* V2 aux_area.c: err = furnish(area, event, &layout, overwrite); */
#ifdef MUT_MAP_WHILE_OPEN
		d_step { sized[r] = a };
#else
		set_up_ring(r);
#endif
		d_step {
			aux_mutex[r] = false;
			if
			:: a != NONE ->
				refs[a] = 1;
				mapped[a] = 1;
#ifndef MUT_AREA_WITHOUT_RING
				ring_refs[r]++;
#endif
				/* V5 aux_area.c: rcu_assign_pointer(rb->aux, area); */
				aux[r] = a
			:: else
			fi
		}
	fi
}

/* ---- aux_area.c: unmapping ---- */

inline stop_writers(r)
{
	if
	:: (event_list[r] & BIT(0)) && on_cpu[0] -> call_cpu(0, STOP, r)
	:: else
	fi;
	if
	:: (event_list[r] & BIT(1)) && on_cpu[1] -> call_cpu(1, STOP, r)
	:: else
	fi
}

/* Nobody who is on the ring's list is still writing. */
#define STOPPED(e)	(!(event_list[ring_of[a]] & BIT(e)) || !on_cpu[e] || late[e] || \
			 handle_area[HANDLE(e, TASK)] != a)

inline close_area(r)
{
#ifdef MUT_STOP_FIRST
	stop_writers(r);
#endif
	/* U1 aux_area.c: RCU_INIT_POINTER(rb->aux, NULL); */
	d_step { assert(aux[r] == a); aux[r] = NONE }
	/* U2 aux_area.c: perf_pmu_output_stop(event); */
#if !defined(MUT_STOP_FIRST) && !defined(MUT_NO_STOP)
	stop_writers(r);
#endif
	d_step {
		assert(STOPPED(0) && STOPPED(1));
		aux_mutex[r] = false
	}
}

inline unmap_area(r)
{
	if
	:: atomic { mapped[a] > 1 -> mapped[a]--; a = NONE }
	/* U3 aux_area.c: if (!atomic_dec_and_mutex_lock(&area->mmap_count, &rb->aux_mutex)) */
	:: atomic { mapped[a] == 1 && !aux_mutex[r] -> aux_mutex[r] = true; mapped[a]-- }
		/* U4 aux_area.c: close_area(event, rb, area); */
		close_area(r);
		/* U5 aux_area.c: mutex_unlock(&rb->aux_mutex); */
		/* U6 aux_area.c: if (refcount_dec_and_test(&area->refcount)) */
		d_step {
			AREA_IS_THERE(a);
			assert(refs[a] > 0);
			refs[a]--;
			if
#ifdef MUT_FREED_UNCOUNTED
			:: true -> free_area(a)
#else
			:: refs[a] == 0 -> free_area(a)
#endif
			:: else
			fi;
			a = NONE
		}
	fi
}

/* ---- ring_buffer.c: attaching ---- */

inline change_ring(e, r)
{
	d_step {
		old = rb[e];
		/* W1 ring_buffer.c: leave_list(event, old); */
		if
		:: old != NONE -> event_list[old] = event_list[old] & ~BIT(e)
		:: else
		fi;
		/* W2 ring_buffer.c: enter_list(event, rb); */
		if
		:: r != NONE ->
			assert(!ring_freed[r]);
			event_list[r] = event_list[r] | BIT(e)
		:: else
		fi
	}
	/* W3 ring_buffer.c: smp_store_release(&event->rb, rb); */
	rb[e] = r
}

inline move_trace(e, r)
{
	if
	:: old != NONE && on_cpu[e] && r == NONE -> call_cpu(e, STOP, NONE)
	:: old != NONE && on_cpu[e] && r != NONE -> call_cpu(e, RESTART, NONE)
	:: else
	fi
}

inline attach(e, r)
{
#ifdef MUT_MOVED_FIRST
	old = rb[e];
	move_trace(e, r);
	change_ring(e, r);
#else
	change_ring(e, r);
	/* W4 ring_buffer.c: perf_event_stop(event, !!rb); */
	move_trace(e, r);
#endif
	if
	/* W5 ring_buffer.c: ring_buffer_put(old); */
	:: d_step { old != NONE -> put_ring(old); old = NONE }
	:: old == NONE
	fi
}
