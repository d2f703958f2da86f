// SPDX-License-Identifier: GPL-2.0
//
// kernel/events/core.c: what this tree owns leaves, what it needs becomes
// visible to the rest of kernel/events.
//
// The ring:
// removes: perf_poll perf_event_index perf_event_init_userpage
// removes: arch_perf_update_userpage perf_event_update_userpage
// removes: perf_mmap_fault ring_buffer_attach ring_buffer_wakeup
// removes: ring_buffer_get ring_buffer_put perf_mmap_open perf_mmap_close
// removes: perf_mmap_may_split perf_mmap perf_fasync perf_event_wakeup
// removes: perf_event_set_output perf_pending_irq __perf_pending_disable
// removes: perf_pending_disable
// removes-variable: perf_mmap_vmops
// exports: is_event_hup calc_timer_values perf_event_count
// exports: perf_event_update_time perf_event_stop put_event
// exports: perf_pmu_output_stop
// deletes: EXPORT_SYMBOL_GPL(perf_event_update_userpage) rb->events
//
// The samples:
// removes: __perf_event_read_size __perf_event_header_size
// removes: perf_event__header_size perf_event__id_header_size
// removes: perf_output_sample_regs perf_sample_regs_user perf_sample_regs_intr
// removes: perf_ustack_task_size perf_sample_ustack_size
// removes: perf_output_sample_ustack perf_prepare_sample_aux
// removes: perf_pmu_snapshot_aux perf_aux_sample_output
// removes: __perf_event_header__init_id perf_event_header__init
// removes: __perf_event__output_id_sample perf_event__output_id_sample
// removes: perf_output_read_one perf_output_read_group perf_output_read
// removes: perf_output_sample perf_virt_to_phys perf_get_pgtable_size
// removes: perf_get_page_size perf_callchain __cond_set perf_prepare_sample
// removes: perf_prepare_header __perf_event_output perf_event_output_forward
// removes: perf_event_output_backward perf_event_output
// removes: perf_event_read_event perf_log_lost_samples perf_log_throttle
// removes: perf_log_itrace_start perf_report_aux_output_id
// removes-variable: __empty_callchain
// deletes: EXPORT_SYMBOL_GPL(perf_report_aux_output_id)
//
// The AUX area:
// removes: perf_event_aux_event __perf_event_aux_pause perf_event_aux_pause
// removes: exclusive_event_init exclusive_event_destroy exclusive_event_match
// removes: exclusive_event_installable
//
// What makes them:
// removes: __perf_event_account_interrupt perf_event_account_interrupt
// removes: sample_is_allowed bpf_overflow_handler __perf_event_overflow
// removes: perf_event_overflow
// removes: perf_swevent_set_period perf_swevent_overflow perf_swevent_event
// removes: perf_exclude_event perf_swevent_match swevent_hash
// removes: __find_swevent_head find_swevent_head_rcu find_swevent_head
// removes: do_perf_sw_event perf_swevent_get_recursion_context
// removes: perf_swevent_put_recursion_context ___perf_sw_event __perf_sw_event
// removes: perf_swevent_read perf_swevent_add perf_swevent_del
// removes: perf_swevent_start perf_swevent_stop swevent_hlist_deref
// removes: swevent_hlist_release swevent_hlist_put_cpu swevent_hlist_put
// removes: swevent_hlist_get_cpu swevent_hlist_get sw_perf_event_destroy
// removes: perf_swevent_init perf_swevent_init_cpu perf_swevent_hrtimer
// removes: perf_swevent_start_hrtimer perf_swevent_cancel_hrtimer
// removes: perf_swevent_init_hrtimer cpu_clock_event_update
// removes: cpu_clock_event_start cpu_clock_event_stop cpu_clock_event_add
// removes: cpu_clock_event_del cpu_clock_event_read cpu_clock_event_init
// removes: task_clock_event_update task_clock_event_start
// removes: task_clock_event_stop task_clock_event_add task_clock_event_del
// removes: task_clock_event_read task_clock_event_init
// removes-variable: perf_swevent perf_cpu_clock perf_task_clock
// removes-variable: perf_swevent_enabled
// exports: perf_adjust_period
// deletes: EXPORT_SYMBOL_GPL(perf_swevent_get_recursion_context) swevent_htable
// inserts: sample.h 1
// inserts: perf_event_take_disable 1

@included@
@@
  #include "internal.h"
+ #include "sample.h"

@removed_function@
iterator name scoped_guard;
identifier f = { perf_poll, perf_event_index, perf_event_init_userpage,
	arch_perf_update_userpage, perf_event_update_userpage, perf_mmap_fault,
	ring_buffer_attach, ring_buffer_wakeup, ring_buffer_get,
	ring_buffer_put, perf_mmap_open, perf_mmap_close, perf_mmap_may_split,
	perf_mmap, perf_fasync, perf_event_wakeup, perf_event_set_output,
	perf_pending_irq, __perf_pending_disable, perf_pending_disable,

	__perf_event_read_size, __perf_event_header_size,
	perf_event__header_size, perf_event__id_header_size,
	perf_output_sample_regs, perf_sample_regs_user, perf_sample_regs_intr,
	perf_ustack_task_size, perf_sample_ustack_size,
	perf_output_sample_ustack, perf_prepare_sample_aux,
	perf_pmu_snapshot_aux, perf_aux_sample_output,
	__perf_event_header__init_id, perf_event_header__init,
	__perf_event__output_id_sample, perf_event__output_id_sample,
	perf_output_read_one, perf_output_read_group, perf_output_read,
	perf_output_sample, perf_virt_to_phys, perf_get_pgtable_size,
	perf_get_page_size, perf_callchain, __cond_set, perf_prepare_sample,
	perf_prepare_header, __perf_event_output, perf_event_output_forward,
	perf_event_output_backward, perf_event_output, perf_event_read_event,
	perf_log_lost_samples, perf_log_throttle, perf_log_itrace_start,
	perf_report_aux_output_id,

	perf_event_aux_event, __perf_event_aux_pause, perf_event_aux_pause,
	exclusive_event_init, exclusive_event_destroy, exclusive_event_match,
	exclusive_event_installable,

	__perf_event_account_interrupt, perf_event_account_interrupt,
	sample_is_allowed, bpf_overflow_handler, __perf_event_overflow, perf_event_overflow,
	perf_swevent_set_period, perf_swevent_overflow, perf_swevent_event,
	perf_exclude_event, perf_swevent_match, swevent_hash,
	__find_swevent_head, find_swevent_head_rcu, find_swevent_head,
	do_perf_sw_event, perf_swevent_get_recursion_context,
	perf_swevent_put_recursion_context, ___perf_sw_event,
	__perf_sw_event, perf_swevent_read, perf_swevent_add,
	perf_swevent_del, perf_swevent_start, perf_swevent_stop,
	swevent_hlist_deref, swevent_hlist_release, swevent_hlist_put_cpu,
	swevent_hlist_put, swevent_hlist_get_cpu, swevent_hlist_get,
	sw_perf_event_destroy, perf_swevent_init, perf_swevent_init_cpu,
	perf_swevent_hrtimer, perf_swevent_start_hrtimer,
	perf_swevent_cancel_hrtimer, perf_swevent_init_hrtimer,
	cpu_clock_event_update, cpu_clock_event_start, cpu_clock_event_stop,
	cpu_clock_event_add, cpu_clock_event_del, cpu_clock_event_read,
	cpu_clock_event_init, task_clock_event_update,
	task_clock_event_start, task_clock_event_stop, task_clock_event_add,
	task_clock_event_del, task_clock_event_read, task_clock_event_init };
@@
- f(...) { ... }

@removed_export@
declarer name EXPORT_SYMBOL_GPL;
@@
(
- EXPORT_SYMBOL_GPL(perf_event_update_userpage);
|
- EXPORT_SYMBOL_GPL(perf_report_aux_output_id);
|
- EXPORT_SYMBOL_GPL(perf_swevent_get_recursion_context);
)

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

@removed_declarations_throttle@
@@
- static void perf_log_throttle(struct perf_event *event, int enable);

@removed_declarations_itrace@
@@
- static void perf_log_itrace_start(struct perf_event *event);

@removed_declarations_exclusive@
@@
- static bool exclusive_event_installable(struct perf_event *event, struct perf_event_context *ctx);

@removed_callchain@
@@
- static struct perf_callchain_entry __empty_callchain = { .nr = 0, };

@removed_pmus@
identifier p = { perf_swevent, perf_cpu_clock, perf_task_clock };
@@
- static struct pmu p = { ... };

@removed_pmu_declarations@
identifier p = { perf_cpu_clock, perf_task_clock };
@@
- static struct pmu p;

@removed_keys@
@@
- struct static_key perf_swevent_enabled[PERF_COUNT_SW_MAX];

// Software events need no table that is allocated by CPU.
@removed_table_type@
@@
- struct swevent_htable {
- ...
- };

@removed_table@
declarer name DEFINE_PER_CPU;
@@
- static DEFINE_PER_CPU(struct swevent_htable, swevent_htable);

@removed_table_pointer@
@@
- struct swevent_htable *swhash;

@removed_table_setup@
expression cpu;
@@
- swhash = &per_cpu(swevent_htable, cpu);
- mutex_init(&swhash->hlist_mutex);

@removed_table_of_cpu@
expression cpu;
@@
- perf_swevent_init_cpu(cpu);

@exported_counts@
declarer name DEFINE_PER_CPU;
@@
- static DEFINE_PER_CPU(int, perf_throttled_count);
+ DEFINE_PER_CPU(int, perf_throttled_count);

@exported_sequence@
declarer name DEFINE_PER_CPU;
typedef u64;
@@
- static DEFINE_PER_CPU(u64, perf_throttled_seq);
+ DEFINE_PER_CPU(u64, perf_throttled_seq);

@exported_rate@
attribute name __read_mostly;
expression e;
@@
- static int max_samples_per_tick __read_mostly = e;
+ int max_samples_per_tick __read_mostly = e;

@exported@
iterator name scoped_guard;
identifier f = { is_event_hup, calc_timer_values, perf_event_update_time,
	put_event, perf_pmu_output_stop, perf_event_stop, perf_adjust_period };
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

// A driver that finds no room may have its add() fail: what it asked for holds then,
// and would else wait until the event has been on once more.
@failed_add@
identifier event, ctx;
@@
  event_sched_in(struct perf_event *event, struct perf_event_context *ctx)
  {
  <...
  perf_event_set_state(event, PERF_EVENT_STATE_INACTIVE);
  event->oncpu = -1;
+ if (perf_event_take_disable(event)) {
+	perf_cgroup_event_disable(event, ctx);
+	perf_event_set_state(event, PERF_EVENT_STATE_OFF);
+ }
  ret = -EAGAIN;
  ...>
  }

// Who has changed an event's filters stops it if it runs. The driver that starts it looks at the
// filters without their lock: either it sees the change, or it is seen to run.
@ordered_stop@
identifier event, restart;
@@
  perf_event_stop(struct perf_event *event, int restart)
  {
  <...
+ smp_mb(); /* pairs with has_new_filters() of arch/x86/events/intel/pt/trace.c */
  if (READ_ONCE(event->state) != PERF_EVENT_STATE_ACTIVE)
	return 0;
  ...>
  }

// A leader that is being closed is not inherited: its members come to the child alone,
// without the AUX event that they were for, and fork() is not to fail for that.
@alone@
expression child, leader;
@@
  inherit_group(...)
  {
  <...
- !perf_get_aux_event(child, leader)
+ leader && !perf_get_aux_event(child, leader)
  ...>
  }
