// SPDX-License-Identifier: GPL-2.0
/*
 * The stream of one event: what hardware would do by itself, a timer does here.
 *
 * start opens a transaction; each tick writes what has become due, ends transactions
 * that are long enough and opens the next; stop writes the rest and ends the last.
 */
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/math64.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "aux_test.h"

/* So much at most in one tick, however late it comes: others want the CPU, too. */
#define MOST_AT_ONCE	(4UL << 20)
#define MOST_ENDS	64

/* Inherited events go on with the stream of the event that they were made from. */
static local64_t *stream_offset(struct aux_test_source *source)
{
	struct perf_event *parent = source->event->parent;

	return parent ? &((struct aux_test_source *)parent->pmu_private)->offset :
			&source->offset;
}

/* Produced: they count, and the stream's offset goes on. */
static void produced(struct aux_test_source *source, u64 bytes)
{
	local64_add(bytes, &source->event->count);
	local64_add(bytes, stream_offset(source));
}

/* Produced, and not to be had. */
static void lose(struct aux_test_source *source, u64 bytes, u64 since)
{
	produced(source, bytes);
	perf_aux_output_lost(source->event, bytes, since);
}

static bool is_open(const struct aux_test_source *source)
{
	return READ_ONCE(source->handle.event);
}

bool aux_test_source_writes(const struct aux_test_source *source)
{
	return is_open(source);
}

static void end(struct aux_test_source *source, u64 flags)
{
	const struct aux_test_area *area = perf_get_aux(&source->handle);
	struct aux_test_run *run = &source->run;
	unsigned long size = run->written;

	/* What a size says is soon overwritten: a record for each switch helps nobody. */
	if (area->overwrite) {
		source->handle.head = (run->head + run->written) & (area->size - 1);
		size = 0;
	}
	flags |= source->config.raise;
	if (flags)
		perf_aux_output_flag(&source->handle, flags);
	smp_wmb(); /* edge B: the words before the record and aux_head */
	perf_aux_output_end(&source->handle, size);
}

/* Returns false if nothing could be begun. */
static bool begin(struct aux_test_source *source)
{
	struct perf_output_handle *handle = &source->handle;
	const struct aux_test_area *area = perf_aux_output_begin(handle, source->event);
	unsigned long pad;

	if (!area)
		return false;

	source->run = (struct aux_test_run) { };
	if (!area->overwrite) {
		pad = aux_test_pad(handle->head, source->config.align);
		if (pad && perf_aux_output_skip(handle, pad)) {
			/* Less room than the padding takes: as good as none. */
			source->run.head = handle->head;
			end(source, PERF_AUX_FLAG_TRUNCATED);
			return false;
		}
	}
	source->run.head = handle->head + (area->overwrite ?
		aux_test_pad(handle->head, source->config.align) : 0);
	source->run.room = handle->size;
	source->run.wakeup = handle->wakeup;

	if (++source->begins == source->config.fail_begin) {
		end(source, 0);
		return false;
	}
	return true;
}

/* From here on unseen, if that is what it does. */
static void run_on(struct aux_test_source *source)
{
	if (source->config.overrun == AUX_TEST_RUN_ON)
		source->cut_since = perf_aux_clock(source->event) ?: 1;
}

/* No room for @due bytes. */
static void overrun(struct aux_test_source *source, u64 due)
{
	const u64 since = perf_aux_clock(source->event);

	if (source->config.overrun == AUX_TEST_HOLD) {
		/* A new transaction sees what room there is by now. */
		end(source, 0);
		begin(source);
		return;
	}
	lose(source, due, since);
	end(source, PERF_AUX_FLAG_TRUNCATED);
	run_on(source);
}

/* The source has nowhere to write to, and @due bytes more. */
static void out_of_room(struct aux_test_source *source, u64 due)
{
	const u64 since = perf_aux_clock(source->event);

	if (source->config.overrun == AUX_TEST_HOLD)
		return;
	if (due)
		lose(source, due, since);
	run_on(source);
}

static void write_words(struct aux_test_source *source, const struct aux_test_area *area,
			unsigned long bytes)
{
	aux_test_fill(area, source->run.head + source->run.written, bytes, source->config.id,
		      local64_read(stream_offset(source)));
	source->run.written += bytes;
	produced(source, bytes);
}

static void write_due(struct aux_test_source *source, u64 due)
{
	unsigned int ends = 0;

	while (due) {
		const struct aux_test_area *area = perf_get_aux(&source->handle);
		struct aux_test_step step = aux_test_step(&source->config, area, &source->run, due);

		write_words(source, area, step.bytes);
		due -= step.bytes;
		if (step.next == AUX_TEST_FULL) {
			overrun(source, due);
			return;
		}
		if (step.next != AUX_TEST_END)
			continue;
		end(source, 0);
		if (!begin(source)) {
			out_of_room(source, due);
			return;
		}
		if (++ends == MOST_ENDS) {
			aux_test_clock_return(&source->clock, due);
			return;
		}
	}
}

static u64 take_due(struct aux_test_source *source)
{
	return aux_test_clock_take(&source->clock, source->config.rate, local_clock(),
				   MOST_AT_ONCE);
}

static void write_now(struct aux_test_source *source)
{
	u64 due = take_due(source);

	if (!due || !is_open(source))
		return;
	if (source->config.drop && ++source->bursts % source->config.drop == 0)
		lose(source, due, perf_aux_clock(source->event));
	else
		write_due(source, due);
}

/* What a source that ran on unseen has made since it was cut. */
static void account_gap(struct aux_test_source *source)
{
	const u64 now = perf_aux_clock(source->event);
	struct aux_test_clock unseen = { .now = source->cut_since };

	if (!source->cut_since)
		return;
	lose(source, aux_test_clock_take(&unseen, source->config.rate, now, 0),
	     source->cut_since);
	source->cut_since = 0;
}

static void open_if_wanted(struct aux_test_source *source)
{
	if (READ_ONCE(source->event->hw.aux_paused) || is_open(source))
		return;
	aux_test_clock_start(&source->clock, local_clock());
	if (begin(source))
		account_gap(source);
}

/* Bring transaction and event into accord: paused or stopped have none open. */
static void settle(struct aux_test_source *source)
{
	const bool wanted = source->running && !READ_ONCE(source->event->hw.aux_paused);

	if (is_open(source) && !wanted && !source->late_until)
		end(source, 0);
	if (wanted && READ_ONCE(source->missed_resume))
		open_if_wanted(source);
	WRITE_ONCE(source->missed_resume, 0);
}

/* An NMI that finds us at work leaves its wish, which settle() fulfils. */
static bool enter(struct aux_test_source *source)
{
	if (READ_ONCE(source->busy))
		return false;
	WRITE_ONCE(source->busy, 1);
	barrier();
	return true;
}

static void leave(struct aux_test_source *source)
{
	settle(source);
	barrier();
	WRITE_ONCE(source->busy, 0);
}

static void end_late(struct aux_test_source *source)
{
	source->late_until = 0;
	if (is_open(source))
		end(source, 0);
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct aux_test_source *source = container_of(timer, struct aux_test_source, timer);

	if (!enter(source))
		goto again;
	if (is_open(source))
		write_now(source);
	if (source->late_until && local_clock() >= source->late_until)
		end_late(source);
	leave(source);
	if (!source->running && !source->late_until)
		return HRTIMER_NORESTART;
again:
	hrtimer_forward_now(timer, ns_to_ktime(source->config.interval));
	return HRTIMER_RESTART;
}

void aux_test_source_start(struct aux_test_source *source, int flags)
{
	const bool in_place = flags & PERF_EF_RESUME;

	/* The timer of a stop that is not over yet may run on another CPU, this moment. */
	if (!in_place && source->config.late_end) {
		hrtimer_cancel(&source->timer);
		end_late(source);
	}
	if (!enter(source)) {
		WRITE_ONCE(source->missed_resume, 1);
		return;
	}
	if (!in_place)
		source->running = 1;
	if (source->running)
		open_if_wanted(source);
	leave(source);

	if (!in_place)
		hrtimer_start(&source->timer, ns_to_ktime(source->config.interval),
			      HRTIMER_MODE_REL_PINNED_HARD);
}

/* Hardware goes on writing while it is being stopped. */
static void take_time(struct aux_test_source *source)
{
	unsigned int left = source->config.slow_stop;

	for (; left; left -= min(left, 10U)) {
		udelay(min(left, 10U));
		if (is_open(source))
			write_now(source);
	}
}

void aux_test_source_stop(struct aux_test_source *source, int flags)
{
	const bool in_place = flags & PERF_EF_PAUSE;

	if (!enter(source))
		return;
	if (is_open(source))
		write_now(source);
	if (in_place || !source->running) {
		leave(source);
		return;
	}

	source->running = 0;
	if (source->config.late_end && is_open(source))
		source->late_until = local_clock() + source->config.slow_stop * NSEC_PER_USEC;
	else
		take_time(source);
	leave(source);
	if (!source->late_until)
		hrtimer_cancel(&source->timer);
}

void aux_test_source_update(struct aux_test_source *source)
{
	if (!enter(source))
		return;
	if (source->running && is_open(source))
		write_now(source);
	leave(source);
}

long aux_test_source_snapshot(struct aux_test_source *source, struct perf_output_handle *to,
			      unsigned long size)
{
	const struct aux_test_area *area;
	unsigned long written, until;

	/* The words must not change while they are copied. */
	if (!is_open(source) || !enter(source))
		return 0;
	write_now(source);
	area = is_open(source) ? perf_get_aux(&source->handle) : NULL;
	if (!area) {
		leave(source);
		return 0;
	}

	written = min(source->run.written, area->size);
	until = source->run.head + source->run.written;
	size = min(size, written) & ~7UL;
	if (size)
		size = perf_output_copy_aux(&source->handle, to, until - size, until);
	leave(source);
	return size;
}

struct aux_test_source *aux_test_source_alloc(struct perf_event *event)
{
	struct aux_test_source *source = kzalloc(sizeof(*source), GFP_KERNEL);

	if (!source)
		return NULL;
	source->event = event;
	hrtimer_init(&source->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	source->timer.function = tick;
	return source;
}

void aux_test_source_free(struct aux_test_source *source)
{
	struct perf_event *event = source->event;

	hrtimer_cancel(&source->timer);
	if (is_open(source)) {
		end_late(source);
		/* That may have asked for a wake-up once more. */
		irq_work_sync(&event->pending_irq);
		irq_work_sync(&event->pending_disable_irq);
	}
	kfree(source);
}
