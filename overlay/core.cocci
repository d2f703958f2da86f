// SPDX-License-Identifier: GPL-2.0
//
// kernel/events/core.c: what this tree owns leaves, what it needs becomes
// visible to the rest of kernel/events.
//
// removes: perf_poll perf_event_index perf_event_init_userpage
// removes: arch_perf_update_userpage perf_event_update_userpage
// removes: perf_mmap_fault ring_buffer_attach ring_buffer_wakeup
// removes: ring_buffer_get ring_buffer_put perf_mmap_open perf_mmap_close
// removes: perf_mmap_may_split perf_mmap perf_fasync perf_event_wakeup
// removes: perf_event_set_output
// removes-variable: perf_mmap_vmops
// exports: is_event_hup calc_timer_values perf_event_count
// exports: perf_event_update_time perf_event_stop put_event
// exports: perf_pmu_output_stop
// inserts: perf_output_sample_done 1
// deletes: EXPORT_SYMBOL_GPL(perf_event_update_userpage) rb->events

@removed_function@
identifier f = { perf_poll, perf_event_index, perf_event_init_userpage,
	arch_perf_update_userpage, perf_event_update_userpage, perf_mmap_fault,
	ring_buffer_attach, ring_buffer_wakeup, ring_buffer_get,
	ring_buffer_put, perf_mmap_open, perf_mmap_close, perf_mmap_may_split,
	perf_mmap, perf_fasync, perf_event_wakeup, perf_event_set_output };
@@
- f(...) { ... }

@removed_export@
declarer name EXPORT_SYMBOL_GPL;
@@
- EXPORT_SYMBOL_GPL(perf_event_update_userpage);

@removed_operations@
identifier ops = perf_mmap_vmops;
@@
- static const struct vm_operations_struct ops = { ... };

@removed_declarations_attach@
@@
- static void ring_buffer_attach(struct perf_event *event, struct perf_buffer *rb);

@removed_declarations_stop@
@@
- static void perf_pmu_output_stop(struct perf_event *event);

@removed_declarations_redirect@
@@
- static int perf_event_set_output(struct perf_event *event, struct perf_event *output_event);

// attr.wakeup_events is counted by the core.
@counted_wakeups@
expression handle, event;
identifier n, rb, events;
@@
- if (!event->attr.watermark) {
-	int n = event->attr.wakeup_events;
-	if (n) {
-		struct perf_buffer *rb = handle->rb;
-		int events = local_inc_return(&rb->events);
-		if (events >= n) {
-			local_sub(n, &rb->events);
-			local_inc(&rb->wakeup);
-		}
-	}
- }
+ perf_output_sample_done(handle, event);

@exported@
identifier f = { is_event_hup, calc_timer_values, perf_event_update_time,
	put_event, perf_pmu_output_stop, perf_event_stop };
type T;
parameter list ps;
@@
- static T f(ps)
+ T f(ps)
  { ... }

@exported_inline@
identifier f = { perf_event_count };
type T;
parameter list ps;
@@
- static inline T f(ps)
+ T f(ps)
  { ... }
