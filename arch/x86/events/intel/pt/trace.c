// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU's trace: start, stop, and all that happens in between.
 *
 *	start	begin a transaction, program the registers, set TraceEn
 *	PMI	a region with INT is full: end the transaction, begin the next
 *	stop	clear TraceEn, see what has been written, end the transaction
 *
 * All of it runs on the event's CPU with interrupts off; NMIs nest. The PMI may be one,
 * a pause or a resume may come from one. Such an NMI, if it finds the CPU's trace busy,
 * leaves its wish, which whoever is busy fulfils on leaving. A sample of the trace
 * cannot wait, so pt_snapshot() works within everything else: it changes nothing but
 * TraceEn, and puts that back.
 *
 * TraceEn has two flags beside it. `enabled` goes up before it is set and down after it
 * is cleared; `wanted` the other way round. Who finds `enabled` clears it, who finds
 * `wanted` may set it again.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/perf_event.h>

#include "../../perf_event.h"
#include "pt.h"

/* What an NMI has wished for. */
#define MISSED_PMI	1
#define MISSED_PAUSE	2
#define MISSED_RESUME	4

DEFINE_PER_CPU(struct pt_cpu, pt_cpu);

/* ---- TraceEn ---- */

static __always_inline void trace_on(struct pt_cpu *pt)
{
	WRITE_ONCE(pt->enabled, true);
	barrier();
	WRITE_ONCE(pt->wanted, true);
	barrier();
	pt_write(PT_MSR_CTL, pt->ctl | PT_CTL_TRACEEN);
}

/* Clearing TraceEn writes out what the hardware has buffered. */
static void trace_clear(const struct pt_cpu *pt)
{
	pt_write(PT_MSR_CTL, pt->ctl);
	wmb(); /* edge B: the data before the record and aux_head */
}

static void trace_off(struct pt_cpu *pt)
{
	if (!pt->enabled)
		return;
	WRITE_ONCE(pt->wanted, false);
	barrier();
	trace_clear(pt);
	barrier();
	WRITE_ONCE(pt->enabled, false);
}

/* Bring TraceEn into accord with what is wanted of it. */
static __always_inline void settle(struct pt_cpu *pt)
{
	const bool wanted = pt->event && !pt->vmx_on && !READ_ONCE(pt->event->hw.aux_paused);

	if (wanted == pt->enabled)
		return;
	if (wanted)
		trace_on(pt);
	else
		trace_off(pt);
}

/* ---- transactions ---- */

/* The latest @size bytes of a region that is as good as full. */
static void pad(const struct pt_buffer *buffer, unsigned long place, unsigned long size)
{
	memset(buffer->pages[place >> PAGE_SHIFT] + offset_in_page(place), 0, size);
}

static noinline void tell_trouble(struct pt_cpu *pt, const struct pt_written *written)
{
	struct pt_event *trace = to_pt_event(pt->handle.event);

	if (written->error) {
		pr_err_ratelimited("the hardware found an error in the output tables\n");
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_PARTIAL);
	}
	if (written->cut)
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_TRUNCATED);
	pt_write(PT_MSR_STATUS, 0);
	trace->resync = true;
}

/* All that can have happened: the bytes to claim. */
static noinline unsigned long finish_output(struct pt_cpu *pt, struct pt_buffer *buffer)
{
	struct pt_written written __uninitialized;

	pt_output_end(&buffer->output, pt->shadow.base, pt->shadow.mask,
		      pt_read(PT_MSR_STATUS), &written);
	if (written.resync)
		tell_trouble(pt, &written);
	if (written.pad_size)
		pad(buffer, written.pad, written.pad_size);
	return written.bytes;
}

/* End the transaction, with TraceEn clear: the data are the reader's. */
static __always_inline void finish(struct pt_cpu *pt, struct pt_buffer *buffer,
				   struct perf_event *event)
{
	struct pt_output *output = &buffer->output;
	unsigned long bytes = 0;

	pt->shadow.mask = pt_read(PT_MSR_OUTPUT_MASK);
	if (pt_output_moves(output))
		pt->shadow.base = pt_read(PT_MSR_OUTPUT_BASE);
	WRITE_ONCE(pt->live, false);
	barrier();
	if (likely(pt->shadow.base == output->place.base))
		bytes = pt_output_end_within(output, pt->shadow.mask);
	if (unlikely(!bytes))
		bytes = finish_output(pt, buffer);

	if (output->overwrite) {
		pt->handle.head = output->position;
		bytes = 0;
	}
	perf_aux_output_end(&pt->handle, bytes);
	event->hw.state |= PERF_HES_UPTODATE;
}

/* Tasks take turns: only where the output goes is another place. */
static __always_inline void write_place(struct pt_cpu *pt, const struct pt_output *output)
{
	const u64 mask = pt_output_mask(output);

	if (pt->shadow.base != output->place.base) {
		pt->shadow.base = output->place.base;
		pt_write(PT_MSR_OUTPUT_BASE, output->place.base);
	}
	if (pt->shadow.mask != mask) {
		pt->shadow.mask = mask;
		pt_write(PT_MSR_OUTPUT_MASK, mask);
	}
}

static noinline void write_registers(struct pt_cpu *pt, struct pt_event *trace,
				     const struct pt_output *output)
{
	struct pt_write writes[PT_PROGRAM_MOST] __uninitialized;
	unsigned int count, at;

	count = pt_program(&pt->shadow, output, &trace->ranges, trace->resync, writes);
	for (at = 0; at < count; at++)
		pt_write(writes[at].msr, writes[at].value);
	trace->resync = false;
}

static __always_inline void program(struct pt_cpu *pt, struct pt_event *trace,
				    struct pt_output *output)
{
	if (likely(pt_program_is_place(&trace->ranges, trace->resync)))
		write_place(pt, output);
	else
		write_registers(pt, trace, output);
	output->stop_filter = trace->ranges.stops;
	pt->ctl = trace->ctl | trace->ranges.ctl | (output->ranged ? 0 : PT_CTL_TOPA);
	barrier();
	WRITE_ONCE(pt->live, true);
}

static __always_inline int prepare_output(struct pt_cpu *pt, struct pt_output *output)
{
	const struct perf_output_handle *handle = &pt->handle;

	if (likely(pt_output_goes_on(output, handle->head, handle->size, handle->wakeup)))
		return 0;
	return pt_output_begin(output, handle->head, handle->size, handle->wakeup);
}

/* Begin a transaction and make everything ready but TraceEn. False: no room. */
static __always_inline bool begin(struct pt_cpu *pt, struct perf_event *event)
{
	struct pt_event *trace = to_pt_event(event);
	struct pt_buffer *buffer = perf_aux_output_begin(&pt->handle, event);

	if (unlikely(!buffer)) {
		trace->resync = true;
		return false;
	}
	if (unlikely(prepare_output(pt, &buffer->output))) {
		/* Room, but less than hardware can stop after. */
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_TRUNCATED);
		perf_aux_output_end(&pt->handle, 0);
		trace->resync = true;
		return false;
	}
	if (unlikely(pt->vmx_on))
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_PARTIAL);
	pt->buffer = buffer;
	program(pt, trace, &buffer->output);
	event->hw.state &= ~PERF_HES_UPTODATE;
	return true;
}

/* From one transaction to the next. */
static noinline void turn(struct pt_cpu *pt)
{
	struct perf_event *event = pt->event;

	trace_off(pt);
	finish(pt, perf_get_aux(&pt->handle), event);
	if (begin(pt, event))
		return;
	pt->event = NULL;
	event->hw.state |= PERF_HES_STOPPED;
}

/* ---- NMIs ---- */

/* False: we are an NMI that has to leave its wish @wish. */
static __always_inline bool enter(struct pt_cpu *pt, unsigned int wish)
{
	if (READ_ONCE(pt->busy)) {
		WRITE_ONCE(pt->missed, pt->missed | wish);
		return false;
	}
	WRITE_ONCE(pt->busy, true);
	barrier();
	return true;
}

/* A trace that stands still because of a pause may have stopped by itself before. */
static bool has_stopped(const struct pt_cpu *pt)
{
	return !pt->enabled &&
	       pt_read(PT_MSR_STATUS) & (PT_STATUS_STOPPED | PT_STATUS_ERROR);
}

static void fulfil(struct pt_cpu *pt, unsigned int wish)
{
	/* An interrupt may be late: whom it was for has been stopped. */
	if (!pt->event)
		return;
	if (wish & MISSED_PMI || (wish & MISSED_RESUME && has_stopped(pt)))
		turn(pt);
}

/* What NMIs have missed meanwhile, and those that come while we are at it. */
static noinline void make_up(struct pt_cpu *pt)
{
	unsigned int missed;

	while ((missed = READ_ONCE(pt->missed))) {
		WRITE_ONCE(pt->busy, true);
		barrier();
		WRITE_ONCE(pt->missed, 0);
		fulfil(pt, missed);
		settle(pt);
		barrier();
		WRITE_ONCE(pt->busy, false);
		barrier();
	}
}

/* With TraceEn in accord. */
static __always_inline void release(struct pt_cpu *pt)
{
	barrier();
	WRITE_ONCE(pt->busy, false);
	barrier();
	if (unlikely(READ_ONCE(pt->missed)))
		make_up(pt);
}

static __always_inline void leave(struct pt_cpu *pt)
{
	settle(pt);
	release(pt);
}

static void wish(unsigned int what)
{
	struct pt_cpu *pt = this_cpu_ptr(&pt_cpu);

	if (!enter(pt, what))
		return;
	fulfil(pt, what);
	leave(pt);
}

/* The PMI of this CPU. NMI, or with interrupts off. */
void intel_pt_interrupt(void)
{
	if (READ_ONCE(this_cpu_ptr(&pt_cpu)->event))
		wish(MISSED_PMI);
}

/* ---- struct pmu ---- */

/*
 * For the first time, or for the first time on this CPU since it was on another. The tables
 * can be where those of another trace have been on this one. Emulated hardware tells what has
 * been lost where OUTPUT_BASE stays the same, which is that trace's loss then.
 */
static noinline void arrive(struct pt_cpu *pt, struct perf_event *event,
			    struct pt_event *trace, int cpu)
{
	if (trace->cpu < 0 || pt->latest != trace->number) {
		pt->shadow.base = 0;
		pt_write(PT_MSR_OUTPUT_BASE, 0);
	}
	if (trace->cpu < 0) {
		trace->resync = true;
		perf_event_itrace_started(event);
	}
	trace->cpu = cpu;
}

/*
 * Whoever changes the filters starts an event that runs anew behind that: either we see the
 * change, or perf_event_stop() sees us run.
 */
static __always_inline bool has_new_filters(const struct perf_event *event)
{
	smp_mb(); /* event->state before the filters; pairs with perf_event_stop() */
	return READ_ONCE(event->addr_filters_gen) != event->hw.addr_filters_gen;
}

static __always_inline bool start_anew(struct pt_cpu *pt, struct perf_event *event)
{
	struct pt_event *trace = to_pt_event(event);
	const int cpu = smp_processor_id();

	if (unlikely(trace->cpu != cpu))
		arrive(pt, event, trace, cpu);
	pt->latest = trace->number;
	/* Not in NMIs: it takes a lock. */
	if (unlikely(has_new_filters(event)))
		perf_event_addr_filters_sync(event);
	return begin(pt, event);
}

static __always_inline void start(struct pt_cpu *pt, struct perf_event *event)
{
	if (!enter(pt, 0))
		return;
	/* Without UPTODATE it has been stopped with its transaction left open. */
	if (event->hw.state & PERF_HES_UPTODATE && !start_anew(pt, event)) {
		event->hw.state |= PERF_HES_STOPPED;
	} else {
		event->hw.state &= ~PERF_HES_STOPPED;
		WRITE_ONCE(pt->event, event);
	}
	leave(pt);
}

void pt_start(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_RESUME)
		wish(MISSED_RESUME);
	else
		start(this_cpu_ptr(&pt_cpu), event);
}

static __always_inline void stop(struct pt_cpu *pt, struct perf_event *event, int flags)
{
	if (!enter(pt, 0))
		return;
	WRITE_ONCE(pt->event, NULL);
	trace_off(pt);
	event->hw.state |= PERF_HES_STOPPED;

	/*
	 * What is overwritten can stay open, so that a sample can still be taken of it. Else
	 * the room may have come to its end, which has to be told.
	 */
	if (likely(pt->handle.event == event)) {
		if (flags & PERF_EF_UPDATE || !pt->buffer->output.overwrite)
			finish(pt, pt->buffer, event);
	} else {
		WARN_ON_ONCE(pt->handle.event);
	}
	release(pt);
}

void pt_stop(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_PAUSE)
		wish(MISSED_PAUSE);
	else
		stop(this_cpu_ptr(&pt_cpu), event, flags);
}

int pt_add(struct perf_event *event, int flags)
{
	struct pt_cpu *pt = this_cpu_ptr(&pt_cpu);

	if (pt->handle.event)
		return -EBUSY;

	event->hw.state |= PERF_HES_UPTODATE | PERF_HES_STOPPED;
	if (!(flags & PERF_EF_START))
		return 0;
	start(pt, event);
	return event->hw.state & PERF_HES_STOPPED ? -EINVAL : 0;
}

void pt_del(struct perf_event *event, int flags)
{
	stop(this_cpu_ptr(&pt_cpu), event, PERF_EF_UPDATE);
}

static unsigned long where(const struct pt_cpu *pt, const struct pt_output *output)
{
	u64 base = pt->shadow.base;

	if (!READ_ONCE(pt->live))
		return output->position;
	if (pt_output_moves(output))
		base = pt_read(PT_MSR_OUTPUT_BASE);
	return pt_output_where(output, base, pt_read(PT_MSR_OUTPUT_MASK));
}

/* The trace stands still. */
static long copy_latest(struct pt_cpu *pt, const struct pt_buffer *buffer,
			struct perf_output_handle *record, unsigned long size)
{
	const unsigned long to = where(pt, &buffer->output);

	return perf_output_copy_aux(&pt->handle, record, to - size, to);
}

/* An NMI, within anything: TraceEn is put back to where it has been found. */
static long snapshot_within(struct pt_cpu *pt, const struct pt_buffer *buffer,
			    struct perf_output_handle *record, unsigned long size)
{
	long copied;

	if (READ_ONCE(pt->enabled))
		trace_clear(pt);
	copied = copy_latest(pt, buffer, record, size);
	if (READ_ONCE(pt->wanted))
		pt_write(PT_MSR_CTL, pt->ctl | PT_CTL_TRACEEN);
	return copied;
}

/*
 * The latest @size bytes into @record: how many. Only in overwrite mode, where there are
 * no PMIs: none else, which anybody may ask for. The trace stands still meanwhile.
 */
long pt_snapshot(struct perf_event *event, struct perf_output_handle *record, unsigned long size)
{
	struct pt_cpu *pt = this_cpu_ptr(&pt_cpu);
	const struct pt_buffer *buffer = perf_get_aux(&pt->handle);
	long copied;

	if (!buffer || pt->handle.event != event || !buffer->output.overwrite)
		return 0;
	if (!enter(pt, 0))
		return snapshot_within(pt, buffer, record, size);
	trace_off(pt);
	copied = copy_latest(pt, buffer, record, size);
	leave(pt);
	return copied;
}

/* ---- others that stop a trace ---- */

/*
 * This CPU is about to enter VMX operation, or has left it. Many CPUs cannot trace there:
 * VMXON clears TraceEn, and setting it faults. What is missing is told as PARTIAL.
 */
void intel_pt_handle_vmx(int on)
{
	struct pt_cpu *pt;

	if (pt_pmu.vmx)
		return;

	guard(irqsave)();
	pt = this_cpu_ptr(&pt_cpu);
	if (!enter(pt, 0))
		return;
	pt->vmx_on = on;
	if (pt->handle.event)
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_PARTIAL);
	leave(pt);
}
EXPORT_SYMBOL_GPL(intel_pt_handle_vmx);

/* This CPU is about to stop for good, whatever it was about. Any context. */
void cpu_emergency_stop_pt(void)
{
	struct pt_cpu *pt = this_cpu_ptr(&pt_cpu);

	if (READ_ONCE(pt->busy))
		trace_off(pt);
	else if (pt->handle.event)
		pt_stop(pt->handle.event, PERF_EF_UPDATE);
}
