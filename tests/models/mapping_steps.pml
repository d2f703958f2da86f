/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations of mapping.pml, which says what the steps and their comments
 * mean, in the local variables of the process that they are expanded in:
 *	r	the ring that is worked on, with a reference or a count of ours
 *	mine	the ring that counts our mapping, or NONE
 *	old	the ring that an event has just left, whose reference we still hold
 *	last	the count went to zero, and by us
 */
#define USABLE(r)	assert((r) != NONE && !freed[r])

inline lock_event(e)
{
	!mmap_mutex[e] ->
	assert(!event_freed[e]);
	mmap_mutex[e] = true
}

inline unlock_event(e)
{
	assert(!event_freed[e]);
	mmap_mutex[e] = false
}

/* ---- ring_buffer.c ---- */

inline get_ring(e, r)
{
	/* G1 ring_buffer.c: rb = perf_event_ring(perf_output_event(event)); */
	r = rb[e];
	/* G2 ring_buffer.c: if (rb && !refcount_inc_not_zero(&rb->refcount)) */
	if
	:: r != NONE && refcount[r] > 0 -> refcount[r]++
	:: else -> r = NONE
	fi
}

inline put_ring(r)
{
	/* G3 ring_buffer.c: if (!refcount_dec_and_test(&rb->refcount)) */
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

/*
 * ring_buffer_attach(), in two operations for its two lists: off the old ring,
 * onto the new one; put_old() then ends it. Who reads rb[e] without the mutex has
 * the event mapped, and then nobody changes it, which close_mapping() checks.
 */
inline leave_ring(e)
{
	assert(mmap_mutex[e]);
	/* L1 ring_buffer.c: struct perf_buffer *old = event->rb; */
	old = rb[e];
	/* L2 ring_buffer.c: leave_list(event, old); */
	if
	:: old != NONE ->
		USABLE(old);
		event_list[old] = event_list[old] & ~BIT(e)
	:: else
	fi;
	rb[e] = NONE
}

inline enter_ring(e, r)
{
	assert(mmap_mutex[e]);
	/* L3 ring_buffer.c: enter_list(event, rb); */
	USABLE(r);
	event_list[r] = event_list[r] | BIT(e);
	/* L4 ring_buffer.c: smp_store_release(&event->rb, rb); */
	rb[e] = r
}

inline put_old()
{
	if
	/* L5 ring_buffer.c: ring_buffer_put(old); */
	:: old != NONE -> put_ring(old)
	:: else
	fi
}

/* ---- the base's put_event() and the end of a file ---- */

inline put_event(e)
{
	atomic {
		assert(!event_freed[e]);
		event_refcount[e]--;
		last = event_refcount[e] == 0
	}
	if
	:: last ->
		atomic { lock_event(e); leave_ring(e) }
		atomic { put_old(); unlock_event(e); event_freed[e] = true }
	:: !last
	fi
}

inline close_file(e)
{
	atomic {
		files[e]--;
		last = files[e] == 0
	}
	if
	:: last -> put_event(e)
	:: !last
	fi
}

/* ---- mmap.c: a mapping comes to be, or goes ---- */

inline open_mapping(e, aux)
{
	/* O1 mmap.c: atomic_inc(&event->mmap_count); */
	event_mmap_count[e]++;
	/* O2 mmap.c: atomic_inc(&event->rb->mmap_count); */
	atomic {
		assert(rb[e] == mine);
		USABLE(mine);
		mmap_count[mine]++
	}
	/* O3 mmap.c: perf_aux_map(event->rb); */
	if
	:: atomic { aux -> assert(aux_mmap_count[mine] > 0); aux_mmap_count[mine]++ }
	:: !aux
	fi
}

inline count_aux_down(r)
{
	USABLE(r);
	assert(aux_mmap_count[r] > 0);
	aux_mmap_count[r]--;
	last = aux_mmap_count[r] == 0
}

inline close_aux(r)
{
	/* A2 aux_area.c: if (!atomic_dec_and_mutex_lock(&area->mmap_count, &rb->aux_mutex)) */
	if
	:: atomic { aux_mmap_count[r] > 1 -> count_aux_down(r) }
	:: aux_mmap_count[r] <= 1 ->
#ifdef MUT_AUX_COUNT_UNLOCKED
		atomic { count_aux_down(r) }
		atomic { !aux_mutex[r] -> aux_mutex[r] = true }
#else
		atomic { !aux_mutex[r] -> aux_mutex[r] = true; count_aux_down(r) }
#endif
		atomic {
			if
			:: last ->
				assert(has_aux[r] && aux_charged[r]);
				/* A1 aux_area.c: RCU_INIT_POINTER(rb->aux, NULL); */
				has_aux[r] = false;
				aux_charged[r] = false
			:: else
			fi;
			/* A3 aux_area.c: mutex_unlock(&rb->aux_mutex); */
			aux_mutex[r] = false
		}
		/* A4 aux_area.c: free_area(area); */
		atomic {
			charge = (last -> charge - 1 : charge);
			last = false
		}
	fi
}

#ifdef MUT_DETACH_DYING
#define LIVE(r, e)	(event_list[r] & BIT(e))
#else
#define LIVE(r, e)	((event_list[r] & BIT(e)) && event_refcount[e] > 0)
#endif

inline detach_events(r)
{
	do
	:: atomic {
		USABLE(r);
		/* D1 mmap.c: if (atomic_long_inc_not_zero(&event->refcount)) { */
		if
		:: LIVE(r, 0) -> found = 0
		:: LIVE(r, 1) -> found = 1
		:: else -> break
		fi;
		event_refcount[found]++
		}
		atomic {
			/* D2 mmap.c: mutex_lock(&event->mmap_mutex); */
			lock_event(found);
			if
#ifdef MUT_DETACH_UNCHECKED
			:: true -> leave_ring(found)
#else
			/* D3 mmap.c: if (event->rb == rb) */
			/* D4 mmap.c: ring_buffer_attach(event, NULL); */
			:: rb[found] == r -> leave_ring(found)
			:: else
#endif
			fi
		}
		/* D5 mmap.c: mutex_unlock(&event->mmap_mutex); */
		atomic { put_old(); unlock_event(found) }
		/* D6 mmap.c: put_event(event); */
		put_event(found);
		found = 0
	od
}

inline drop_mapping(r)
{
	/* C1 mmap.c: if (!atomic_dec_and_test(&rb->mmap_count)) */
#ifdef MUT_CLOSE_TWO_STEPS
	mmap_count[r]--;
	last = mmap_count[r] == 0;
#else
	atomic {
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

inline count_event_down(e)
{
	assert(event_mmap_count[e] > 0);
	event_mmap_count[e]--;
	last = event_mmap_count[e] == 0
}

inline close_mapping(e, aux)
{
	/* C4 mmap.c: struct perf_buffer *rb = ring_buffer_get(event); */
	atomic { get_ring(e, r); assert(r == mine) }
	/* C5 mmap.c: if (vma->vm_pgoff) */
	if
	:: aux -> assert(has_aux[r]); close_aux(r)
	:: !aux
	fi;
	/* C6 mmap.c: if (atomic_dec_and_mutex_lock(&event->mmap_count, &event->mmap_mutex)) { */
	if
	:: atomic { event_mmap_count[e] > 1 -> count_event_down(e) }
#ifdef MUT_CLOSE_SKIPS_UNCHARGE
		mmap_count[r]--;
		goto dropped
#endif
	:: event_mmap_count[e] <= 1 ->
#ifdef MUT_EVENT_COUNT_UNLOCKED
		atomic { count_event_down(e) }
		atomic { lock_event(e) }
#else
		atomic { lock_event(e); count_event_down(e) }
#endif
		if
		/* C7 mmap.c: ring_buffer_attach(event, NULL); */
		:: last ->
			atomic { leave_ring(e) }
			/* C8 mmap.c: mutex_unlock(&event->mmap_mutex); */
			atomic { put_old(); last = false; unlock_event(e) }
		:: !last -> atomic { unlock_event(e) }
		fi
	fi;
	/* C9 mmap.c: drop_mapping(rb); */
	drop_mapping(r);
#ifdef MUT_CLOSE_SKIPS_UNCHARGE
dropped:
#endif
	/* C10 mmap.c: ring_buffer_put(rb); */
	atomic { put_ring(r) }
}

/* ---- mmap.c: mapping data; `mine` becomes the ring that counts us, or NONE ---- */

inline take_count(r, revive)
{
	if
	:: r == NONE
	:: r != NONE ->
		USABLE(r);
		if
		:: mmap_count[r] > 0 || revive -> mmap_count[r]++
		:: else -> r = NONE
		fi
	fi
}

#ifndef MUT_MAP_REVIVES
#define MUT_MAP_REVIVES	0
#endif
#ifndef MUT_AUX_REVIVES
#define MUT_AUX_REVIVES	0
#endif

inline map_data(e)
{
	atomic {
		/* X1 mmap.c: mutex_lock(&event->mmap_mutex); */
		lock_event(e);
		/* K1 mmap.c: struct perf_buffer *rb = event->rb; */
		mine = rb[e];
		/* K2 mmap.c: if (atomic_inc_not_zero(&rb->mmap_count)) */
		take_count(mine, MUT_MAP_REVIVES)
	}
	if
	:: mine == NONE ->
		/* K3 mmap.c: ring_buffer_attach(event, NULL); */
		atomic { leave_ring(e) }
		atomic { put_old() }
		/* K4 mmap.c: return make_ring(event, vma, data_pages); */
		if
		/* perf_charge() or rb_alloc() fails */
		:: true
		:: atomic {
			/* N1 mmap.c: rb->charge = charge; */
			/* N2 mmap.c: atomic_set(&rb->mmap_count, 1); */
			made++;
			mine = made;
			charge++;
			charged[mine] = true;
			refcount[mine] = 1;
			mmap_count[mine] = 1;
			/* N3 mmap.c: ring_buffer_attach(event, rb); */
			enter_ring(e, mine)
			}
		fi
	:: mine != NONE
	fi;
	/* X2 mmap.c: err = share_or_make_ring(event, vma, data_pages); */
	atomic {
		/* X3 mmap.c: atomic_inc(&event->mmap_count); */
		if
		:: mine != NONE -> event_mmap_count[e]++
		:: else
		fi;
		/* X4 mmap.c: mutex_unlock(&event->mmap_mutex); */
		unlock_event(e)
	}
}

/* ---- mmap.c: mapping AUX, the same ---- */

inline map_aux_locked(r)
{
	if
	/* P1 aux_area.c: area->charge = *charge; */
	/* P2 aux_area.c: atomic_set(&area->mmap_count, 1); */
	/* Q1 mmap.c: if (!area) */
	:: !has_aux[r] ->
		assert(!aux_charged[r]);
		has_aux[r] = true;
		charge++;
		aux_charged[r] = true;
		aux_mmap_count[r] = 1
	/* Q2 mmap.c: perf_aux_map(rb); */
	:: has_aux[r] ->
		assert(aux_mmap_count[r] > 0);
		aux_mmap_count[r]++
	/* charge, allocation or size: refused */
	:: failed = true
	fi
}

inline map_aux(e)
{
	atomic {
		/* M1 mmap.c: mutex_lock(&event->mmap_mutex); */
		lock_event(e);
		/* M2 mmap.c: rb = event->rb; */
		r = rb[e];
		/* M3 mmap.c: if (!rb || !atomic_inc_not_zero(&rb->mmap_count)) { */
		take_count(r, MUT_AUX_REVIVES);
		if
		:: r == NONE -> unlock_event(e)
		:: else
		fi
	}
	if
	:: r != NONE ->
		atomic {
			/* M4 mmap.c: mutex_lock(&rb->aux_mutex); */
			!aux_mutex[r] -> aux_mutex[r] = true;
			/* M5 mmap.c: err = map_aux_locked(event, rb, vma); */
			map_aux_locked(r);
			/* M6 mmap.c: mutex_unlock(&rb->aux_mutex); */
			aux_mutex[r] = false
		}
		atomic {
			if
			:: failed ->
				/* M7 mmap.c: refcount_inc(&rb->refcount); */
				USABLE(r);
#ifndef MUT_AUX_FAILS_WITHOUT_REFERENCE
				refcount[r]++
#endif
			/* M8 mmap.c: atomic_inc(&event->mmap_count); */
			:: else ->
				event_mmap_count[e]++;
				mine = r;
				r = NONE
			fi;
			/* M9 mmap.c: mutex_unlock(&event->mmap_mutex); */
			unlock_event(e)
		}
		if
		:: failed ->
			/* M10 mmap.c: drop_mapping(rb); */
#ifdef MUT_AUX_FAILS_WITHOUT_CLEANUP
			mmap_count[r]--;
#else
			drop_mapping(r);
#endif
			/* M11 mmap.c: ring_buffer_put(rb); */
#ifndef MUT_AUX_FAILS_WITHOUT_REFERENCE
			atomic { put_ring(r); failed = false }
#endif
		:: !failed
		fi
	:: r == NONE
	fi
}

/* ---- redirect.c ---- */

inline lock_both(e, output)
{
#ifdef MUT_REDIRECT_LOCKS_ONE
	atomic { lock_event(e) }
#elif defined(MUT_REDIRECT_LOCKS_UNSORTED)
	atomic { lock_event(e) }
	atomic { lock_event(output) }
#else
	/* Event 0 stands at the lower address. */
	/* S1 redirect.c: mutex_lock(first); */
	atomic { lock_event(0) }
	/* S2 redirect.c: mutex_lock_nested(second, SINGLE_DEPTH_NESTING); */
	atomic { lock_event(1) }
#endif
}

inline unlock_both(e, output)
{
	/* S4 redirect.c: mutex_unlock(second); */
	unlock_event(e);
#ifndef MUT_REDIRECT_LOCKS_ONE
	unlock_event(output)
#endif
}

inline set_output(e, output)
{
	lock_both(e, output);
	/* S3 redirect.c: err = attach_output(event, output_event); */
	atomic {
		/* R1 redirect.c: if (atomic_read(&event->mmap_count)) */
		if
		/* R2 redirect.c: rb = mapped_ring(output_event); */
		:: event_mmap_count[e] == 0 -> get_ring(output, r)
		:: else
		fi
	}
	atomic {
		if
		/* T1 redirect.c: if (rb && !atomic_read(&rb->mmap_count)) { */
		:: r != NONE && mmap_count[r] == 0 -> put_ring(r)
		:: else
		fi
	}
	if
	:: r != NONE ->
		/* R3 redirect.c: ring_buffer_attach(event, rb); */
		atomic { leave_ring(e) }
		atomic { enter_ring(e, r); r = NONE }
		atomic { put_old(); unlock_both(e, output) }
	:: r == NONE -> atomic { unlock_both(e, output) }
	fi
}

inline reset_output(e)
{
	atomic {
		lock_event(e);
		if
		:: event_mmap_count[e] == 0 -> leave_ring(e)
		:: else
		fi
	}
	atomic { put_old(); unlock_event(e) }
}
