// SPDX-License-Identifier: GPL-2.0
/*
 * Counters in records, in the layouts of attr.read_format.
 *
 * A record's size is known before it is written, and the group may change between
 * the two. So the room that was reserved says how many members are told of.
 */
#include <linux/perf_event.h>

#include "sample.h"

/* A field of counters: what it still holds room for. */
struct counters {
	struct perf_output_handle	*handle;
	unsigned int			room;	/* bytes */
};

static __always_inline void put(struct counters *counters, u64 value)
{
	if (unlikely(counters->room < sizeof(value)))
		return;
	perf_output_word(counters->handle, value);
	counters->room -= sizeof(value);
}

/* An inherited event that is sampled tells of its own task, not of the family. */
static bool counts_for_itself(const struct perf_event *event)
{
	return event->attr.inherit && (event->attr.sample_type & PERF_SAMPLE_READ);
}

static void put_counter(struct counters *counters, struct perf_event *event,
			u64 format, bool self)
{
	put(counters, perf_event_count(event, self));
	if (format & PERF_FORMAT_ID)
		put(counters, perf_event_user_id(event));
	if (format & PERF_FORMAT_LOST)
		put(counters, atomic64_read(&event->lost_samples));
}

static void read_one(struct counters *counters, struct perf_event *event,
		     u64 enabled, u64 running)
{
	u64 format = event->attr.read_format;

	put(counters, perf_event_count(event, counts_for_itself(event)));
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put(counters, enabled + atomic64_read(&event->child_total_time_enabled));
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put(counters, running + atomic64_read(&event->child_total_time_running));
	if (format & PERF_FORMAT_ID)
		put(counters, perf_event_user_id(event));
	if (format & PERF_FORMAT_LOST)
		put(counters, atomic64_read(&event->lost_samples));
}

/* The one that fired is up to date; a driver may have read the others, too. */
static void refresh(struct counters *counters, struct perf_event *member,
		    struct perf_event *fired)
{
	if (member != fired && !counters->handle->skip_read &&
	    member->state == PERF_EVENT_STATE_ACTIVE)
		member->pmu->read(member);
}

static void read_group(struct counters *counters, struct perf_event *event,
		       u64 enabled, u64 running)
{
	struct perf_event *leader = event->group_leader, *member;
	u64 format = event->attr.read_format;
	bool self = counts_for_itself(event);
	unsigned int members = perf_sample_read_members(format, counters->room);

	/* From here on the group stands still. */
	guard(irqsave)();
	put(counters, members);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put(counters, enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put(counters, running);
	refresh(counters, leader, event);
	put_counter(counters, leader, format, self);
	for_each_sibling_event(member, leader) {
		if (!--members)
			break;
		refresh(counters, member, event);
		put_counter(counters, member, format, self);
	}
}

void perf_output_read(struct perf_output_handle *handle, struct perf_event *event,
		      unsigned int bytes)
{
	const u64 times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct counters counters = { .handle = handle, .room = bytes };
	u64 now, enabled = 0, running = 0;

	if (event->attr.read_format & times)
		calc_timer_values(event, &now, &enabled, &running);
	if (event->attr.read_format & PERF_FORMAT_GROUP)
		read_group(&counters, event, enabled, running);
	else
		read_one(&counters, event, enabled, running);
	/* Members that are gone. */
	while (counters.room >= sizeof(u64))
		put(&counters, 0);
}
