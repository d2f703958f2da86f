// SPDX-License-Identifier: GPL-2.0
/*
 * An event has counted its period: what follows from that.
 *
 * Counted and throttled first, so that what is dropped later still costs its
 * share. Then a BPF program may drop it, the limit of IOC_REFRESH may end it,
 * SIGTRAP may be due; last it becomes a sample.
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/hash.h>
#include <linux/perf_event.h>
#include <linux/task_work.h>
#include <linux/tick.h>

#include "sample.h"

/* Too many in this tick: the event stays off until the next. */
static noinline void throttle_event(struct perf_event *event)
{
	__this_cpu_inc(perf_throttled_count);
	tick_dep_set_cpu(smp_processor_id(), TICK_DEP_BIT_PERF_EVENTS);
	event->hw.interrupts = MAX_INTERRUPTS;
	perf_log_throttle(event, 0);
}

/* In frequency mode the period follows the time since the last sample. */
static noinline void adjust_frequency(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 now = local_clock();
	s64 passed = now - hwc->freq_time_stamp;

	hwc->freq_time_stamp = now;
	if (passed > 0 && passed < 2 * TICK_NSEC)
		perf_adjust_period(event, passed, hwc->last_period, true);
}

/* Returns 1 if the event has been throttled. */
static __always_inline int account(struct perf_event *event, int throttle)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 tick = __this_cpu_read(perf_throttled_seq);
	int stop = 0;

	if (hwc->interrupts_seq == tick) {
		hwc->interrupts++;
	} else {
		hwc->interrupts_seq = tick;
		hwc->interrupts = 1;
	}

	if (unlikely(throttle && hwc->interrupts >= READ_ONCE(max_samples_per_tick))) {
		throttle_event(event);
		stop = 1;
	}
	if (event->attr.freq)
		adjust_frequency(event);
	return stop;
}

int perf_event_account_interrupt(struct perf_event *event)
{
	return account(event, 1);
}

#ifdef CONFIG_BPF_SYSCALL
/* Does the event's program want it to go on? */
static noinline bool program_agrees(struct perf_event *event, struct perf_sample_data *data,
				    struct pt_regs *regs)
{
	struct bpf_perf_event_data_kern context = {
		.regs	= perf_arch_bpf_user_pt_regs(regs),
		.data	= data,
		.event	= event,
	};
	struct bpf_prog *program;
	bool agrees = false;

	/* Programs do not interrupt each other on a CPU; the later one is dropped. */
	if (likely(__this_cpu_inc_return(bpf_prog_active) == 1)) {
		guard(rcu)();
		program = READ_ONCE(event->prog);
		if (program) {
			perf_prepare_sample(data, event, regs);
			agrees = bpf_prog_run(program, &context);
		}
	}
	__this_cpu_dec(bpf_prog_active);
	return agrees;
}

static bool has_program(const struct perf_event *event)
{
	const struct bpf_prog *program = READ_ONCE(event->prog);

	return program && program->type == BPF_PROG_TYPE_PERF_EVENT;
}
#else
static bool program_agrees(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	return true;
}

static bool has_program(const struct perf_event *event)
{
	return false;
}
#endif

/* A number for where the task is, never 0. */
static unsigned int place_id(struct pt_regs *regs)
{
	unsigned int id = regs ? hash32_ptr((void *)instruction_pointer(regs)) : 0;

	return id ?: 1;
}

/*
 * Leave the SIGTRAP to the task's way back to user space. One that skidded into
 * the kernel still traps, and tells no address: it is not the user's.
 */
static noinline void raise_sigtrap(struct perf_event *event, struct perf_sample_data *data,
				   struct pt_regs *regs)
{
	bool may_tell = !event->attr.exclude_kernel || user_mode(regs);
	unsigned int place = place_id(regs);

	if (!event->pending_work &&
	    !task_work_add(current, &event->pending_task,
			   in_nmi() ? TWA_NMI_CURRENT : TWA_RESUME)) {
		event->pending_work = place;
		local_inc(&event->ctx->nr_no_switch_fast);
		/* For the task work, which gives it back. */
		WARN_ON_ONCE(!atomic_long_inc_not_zero(&event->refcount));
		event->pending_addr = may_tell && (data->sample_flags & PERF_SAMPLE_ADDR) ?
					      data->addr : 0;
		return;
	}
	/*
	 * The first trap is still due. That is in order for what fires in the
	 * kernel, and where a timer has found the task at the same place again.
	 */
	if (event->attr.exclude_kernel && may_tell)
		WARN_ON_ONCE(event->pending_work != place);
}

static __always_inline int make_sample(struct perf_event *event, struct perf_sample_data *data,
				       struct pt_regs *regs)
{
	perf_overflow_handler_t handler = READ_ONCE(event->overflow_handler);
	int limited = atomic_read(&event->event_limit);
	int stop = 0;

	WRITE_ONCE(event->pending_kill, POLL_IN);
	if (unlikely(limited) && atomic_dec_and_test(&event->event_limit)) {
		stop = 1;
		WRITE_ONCE(event->pending_kill, POLL_HUP);
		perf_event_disable_inatomic(event);
	}
	if (unlikely(event->attr.sigtrap))
		raise_sigtrap(event, data, regs);

	handler(event, data, regs);

	if (unlikely(READ_ONCE(*perf_event_fasync(event))) && READ_ONCE(event->pending_kill))
		perf_event_queue_wakeup(event);
	return stop;
}

int perf_event_overflowed(struct perf_event *event, int throttle,
			  struct perf_sample_data *data, struct pt_regs *regs)
{
	int stop = account(event, throttle);

	if (unlikely(event->attr.aux_pause))
		perf_event_aux_pause(event->aux_event, true);
	if (likely(!has_program(event)) || program_agrees(event, data, regs))
		stop |= make_sample(event, data, regs);
	if (unlikely(event->attr.aux_resume))
		perf_event_aux_pause(event->aux_event, false);
	return stop;
}

/* From a counter's interrupt: IRQs off, so that the event cannot be removed. */
int perf_event_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	lockdep_assert_irqs_disabled();
	/* Counters that cannot count far interrupt without being asked. */
	if (unlikely(!is_sampling_event(event)))
		return 0;
	return perf_event_overflowed(event, 1, data, regs);
}
