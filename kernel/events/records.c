// SPDX-License-Identifier: GPL-2.0
/*
 * Records in which an event tells about itself: throttled, started tracing, lost
 * samples, which hardware event it is, what it has counted.
 */
#include <linux/export.h>
#include <linux/perf_event.h>

#include "sample.h"

/* @record starts with its header, which is filled in here. Any context. */
static void output_record(struct perf_event *event, u32 type, u16 misc,
			  struct perf_event_header *record, unsigned int size)
{
	struct perf_output_handle handle __uninitialized;
	struct perf_sample_data data __uninitialized;

	perf_event_header__init(record, &data, type, misc, size, event);
	if (perf_output_begin(&handle, &data, event, record->size))
		return;
	perf_output_copy(&handle, record, size);
	perf_event__output_id_sample(event, &handle, &data);
	perf_output_end(&handle);
}

void perf_log_throttle(struct perf_event *event, int enable)
{
	struct {
		struct perf_event_header	header;
		u64				time;
		u64				id;
		u64				stream_id;
	} record = {
		.time		= perf_event_now(event),
		.id		= perf_event_user_id(event),
		.stream_id	= event->id,
	};

	output_record(event, enable ? PERF_RECORD_UNTHROTTLE : PERF_RECORD_THROTTLE, 0,
		      &record.header, sizeof(record));
}

void perf_log_lost_samples(struct perf_event *event, u64 lost)
{
	struct {
		struct perf_event_header	header;
		u64				lost;
	} record = {
		.lost = lost,
	};

	output_record(event, PERF_RECORD_LOST_SAMPLES, 0, &record.header, sizeof(record));
}

/* Once for each time that the trace starts to be about another task. */
void perf_log_itrace_start(struct perf_event *event)
{
	struct {
		struct perf_event_header	header;
		u32				pid;
		u32				tid;
	} record;

	event = perf_output_event(event);
	if (!(event->pmu->capabilities & PERF_PMU_CAP_ITRACE) ||
	    (event->attach_state & PERF_ATTACH_ITRACE))
		return;

	perf_event_task_ids(event, current, &record.pid, &record.tid);
	output_record(event, PERF_RECORD_ITRACE_START, 0, &record.header, sizeof(record));
}

void perf_report_aux_output_id(struct perf_event *event, u64 hw_id)
{
	struct {
		struct perf_event_header	header;
		u64				hw_id;
	} record = {
		.hw_id = hw_id,
	};

	output_record(perf_output_event(event), PERF_RECORD_AUX_OUTPUT_HW_ID, 0,
		      &record.header, sizeof(record));
}
EXPORT_SYMBOL_GPL(perf_report_aux_output_id);

/* What an inherited event has counted for @task, which ends. */
void perf_event_read_event(struct perf_event *event, struct task_struct *task)
{
	unsigned int bytes = perf_event_read_bytes(event);
	struct perf_output_handle handle __uninitialized;
	struct perf_sample_data data __uninitialized;
	struct {
		struct perf_event_header	header;
		u32				pid;
		u32				tid;
	} record;

	perf_event_task_ids(event, task, &record.pid, &record.tid);
	perf_event_header__init(&record.header, &data, PERF_RECORD_READ, 0,
				sizeof(record) + bytes, event);
	if (perf_output_begin(&handle, &data, event, record.header.size))
		return;
	perf_output_put(&handle, record);
	perf_output_read(&handle, event, bytes);
	perf_event__output_id_sample(event, &handle, &data);
	perf_output_end(&handle);
}
