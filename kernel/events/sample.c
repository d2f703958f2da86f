// SPDX-License-Identifier: GPL-2.0
/*
 * Preparing a sample: every value that the event's plan wants and that whoever
 * made the sample has not provided is fetched here.
 *
 * data->sample_flags tells which values are there. A sample may pass through here
 * twice, for a BPF program and for the ring, and pays once.
 */
#include <linux/cgroup.h>
#include <linux/perf_event.h>
#include <linux/sched.h>

#include "sample.h"

/* The word of struct perf_sample_data that holds a field. */
#define WORD_OF(member)								\
	(BUILD_BUG_ON_ZERO(sizeof_field(struct perf_sample_data, member) != sizeof(u64)) + \
	 BUILD_BUG_ON_ZERO(offsetof(struct perf_sample_data, member) % sizeof(u64)) +	\
	 offsetof(struct perf_sample_data, member) / sizeof(u64))
#define SOURCE(field, member)							\
	[__builtin_ctzll(PERF_SAMPLE_##field)] = WORD_OF(member)

static const struct perf_sample_sources sources = {
	.word = {
		SOURCE(IDENTIFIER, id),
		SOURCE(IP, ip),
		SOURCE(TID, tid_entry),
		SOURCE(TIME, time),
		SOURCE(ADDR, addr),
		SOURCE(ID, id),
		SOURCE(STREAM_ID, stream_id),
		SOURCE(CPU, cpu_entry),
		SOURCE(PERIOD, period),
		SOURCE(WEIGHT, weight.full),
		SOURCE(DATA_SRC, data_src.val),
		SOURCE(TRANSACTION, txn),
		SOURCE(PHYS_ADDR, phys_addr),
		SOURCE(CGROUP, cgroup),
		SOURCE(DATA_PAGE_SIZE, data_page_size),
		SOURCE(CODE_PAGE_SIZE, code_page_size),
	},
};

static_assert(PERF_SAMPLE_MAX == 1 << PERF_SAMPLE_BITS, "the plan does not know all fields");

/*
 * Compiled once. Later calls find the same plan, so that a sample that is being
 * made meanwhile does too; what changes is the one number read_size.
 */
static const struct perf_sample_plan *compiled_plan(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	unsigned int every = attr->watermark ? 0 : attr->wakeup_events;

	/* The ABI's number is an int: below 0, every sample is enough. */
	if (every > INT_MAX)
		every = 1;
	if (!event->plan.size)
		perf_sample_plan_compile(&event->plan, &sources, attr->sample_type, every);
	return &event->plan;
}

void perf_event__header_size(struct perf_event *event)
{
	const struct perf_sample_plan *plan = compiled_plan(event);
	unsigned int fixed = plan->size - sizeof(struct perf_event_header) - plan->id_size;
	unsigned int read = perf_sample_read_size(event->attr.read_format,
						  event->group_leader->nr_siblings);

	WRITE_ONCE(event->read_size, read);
	event->header_size = fixed + (event->attr.sample_type & PERF_SAMPLE_READ ? read : 0);
}

void perf_event__id_header_size(struct perf_event *event)
{
	event->id_header_size = compiled_plan(event)->id_size;
}

static noinline void ids_in_namespace(struct pid_namespace *ns, struct task_struct *task,
				      u32 *pid, u32 *tid)
{
	*pid = __task_pid_nr_ns(task, PIDTYPE_TGID, ns);
	*tid = __task_pid_nr_ns(task, PIDTYPE_PID, ns);
	/* Not yet or no longer known there is 0; without any number at all is -1. */
	if (!*pid && !pid_alive(task))
		*pid = -1;
	if (!*tid && !pid_alive(task))
		*tid = -1;
}

static __always_inline void
task_ids(struct perf_event *event, struct task_struct *task, u32 *pid, u32 *tid)
{
	struct pid_namespace *ns = perf_output_event(event)->ns;

	/* A live task's own numbers are those of the first namespace. */
	if (likely(ns == &init_pid_ns && pid_alive(task))) {
		*pid = task_tgid_nr(task);
		*tid = task_pid_nr(task);
	} else {
		ids_in_namespace(ns, task, pid, tid);
	}
}

void perf_event_task_ids(struct perf_event *event, struct task_struct *task,
			 u32 *pid, u32 *tid)
{
	task_ids(event, task, pid, tid);
}

void perf_sample_fill_ids(struct perf_sample_data *data, struct perf_event *event, u64 fields)
{
	if (fields & PERF_SAMPLE_TID)
		task_ids(event, current, &data->tid_entry.pid, &data->tid_entry.tid);
	if (fields & PERF_SAMPLE_TIME)
		data->time = perf_event_now(event);
	if (!(fields & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU |
			PERF_SAMPLE_STREAM_ID)))
		return;
	if (fields & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		data->id = perf_event_user_id(event);
	if (fields & PERF_SAMPLE_CPU) {
		data->cpu_entry.cpu = raw_smp_processor_id();
		data->cpu_entry.reserved = 0;
	}
	if (fields & PERF_SAMPLE_STREAM_ID)
		data->stream_id = event->id;
}

static struct perf_callchain_entry no_callchain;

struct perf_callchain_entry *
perf_callchain(struct perf_event *event, struct pt_regs *regs)
{
	const struct perf_event_attr *attr = &event->attr;
	bool kernel = !attr->exclude_callchain_kernel;
	bool user = !attr->exclude_callchain_user && current->mm && is_user_task(current);
	struct task_struct *owner = event->ctx->task;
	struct perf_callchain_entry *chain;

	if (!kernel && !user)
		return &no_callchain;
	/* Preemption is off and keeps the buffer; the callee insists on this as well. */
	guard(rcu)();
	/* Another task's user stack is not for the owner's eyes. */
	chain = get_perf_callchain(regs, kernel, user, attr->sample_max_stack,
				   owner && owner != current, true);
	return chain ?: &no_callchain;
}

static unsigned int regs_bytes(const struct perf_regs *sample, u64 mask)
{
	return sizeof(u64) * (1 + (sample->regs ? hweight64(mask) : 0));
}

/* Those whose size is known first; the stack and AUX data take what is left. */
static void prepare_variable(struct perf_sample_data *data, struct perf_event *event,
			     struct pt_regs *regs, u64 missing)
{
	const struct perf_event_attr *attr = &event->attr;

	if (missing & PERF_SAMPLE_CALLCHAIN)
		perf_sample_save_callchain(data, event, regs);
	if (missing & PERF_SAMPLE_RAW) {
		data->raw = NULL;
		data->dyn_size += sizeof(u64);
	}
	if (missing & PERF_SAMPLE_BRANCH_STACK) {
		data->br_stack = NULL;
		data->dyn_size += sizeof(u64);
	}
	if (missing & PERF_SAMPLE_REGS_USER) {
		perf_sample_user_regs(&data->regs_user, regs);
		if (attr->sample_type & PERF_SAMPLE_REGS_USER)
			data->dyn_size += regs_bytes(&data->regs_user, attr->sample_regs_user);
	}
	if (missing & PERF_SAMPLE_REGS_INTR) {
		data->regs_intr.regs = regs;
		data->regs_intr.abi = perf_reg_abi(current);
		data->dyn_size += regs_bytes(&data->regs_intr, attr->sample_regs_intr);
	}
	data->sample_flags |= missing & (PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
					 PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER) &
			      attr->sample_type;

	if (missing & PERF_SAMPLE_STACK_USER) {
		/* The size of AUX data is there even if none fit. */
		unsigned int behind = missing & PERF_SAMPLE_AUX ? sizeof(u64) : 0;

		data->stack_user_size =
			perf_sample_stack_dump(attr->sample_stack_user,
					       perf_sample_stack_available(data->regs_user.regs),
					       perf_sample_data_size(data, event) + behind);
		data->dyn_size += perf_sample_stack_field(data->stack_user_size);
	}
	if (missing & PERF_SAMPLE_AUX) {
		data->aux_size = perf_sample_aux_dump(attr->aux_sample_size,
						      perf_sample_aux_available(event),
						      perf_sample_data_size(data, event));
		data->dyn_size += data->aux_size + sizeof(u64);
	}
	data->sample_flags |= missing & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_AUX);
}

/* Fixed fields that few events ask for. */
static noinline void prepare_rare(struct perf_sample_data *data, struct perf_event *event,
				  u64 missing)
{
	if (missing & PERF_SAMPLE_WEIGHT_TYPE) {
		data->weight.full = 0;
		data->sample_flags |= PERF_SAMPLE_WEIGHT_TYPE;
	}
	if (missing & PERF_SAMPLE_DATA_SRC)
		data->data_src.val = PERF_MEM_NA;
	if (missing & PERF_SAMPLE_TRANSACTION)
		data->txn = 0;
	if (missing & PERF_SAMPLE_ADDR)
		data->addr = 0;
	if (missing & PERF_SAMPLE_PHYS_ADDR)
		data->phys_addr = perf_sample_phys_addr(data->addr);
#ifdef CONFIG_CGROUP_PERF
	if (missing & PERF_SAMPLE_CGROUP)
		data->cgroup = cgroup_id(task_css_check(current, perf_event_cgrp_id, 1)->cgroup);
#endif
	if (missing & PERF_SAMPLE_DATA_PAGE_SIZE)
		data->data_page_size = perf_sample_page_size(data->addr);
	if (missing & PERF_SAMPLE_CODE_PAGE_SIZE)
		data->code_page_size = perf_sample_page_size(data->ip);
	data->sample_flags |= missing;
}

void perf_sample_prepare_more(struct perf_sample_data *data, struct perf_event *event,
			      struct pt_regs *regs, u64 missing)
{
	const u64 rare = PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC |
			 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR |
			 PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE |
			 PERF_SAMPLE_CODE_PAGE_SIZE;

	if (missing & rare)
		prepare_rare(data, event, missing & rare);
	if (missing & ~rare)
		prepare_variable(data, event, regs, missing);
}

void perf_prepare_sample(struct perf_sample_data *data, struct perf_event *event,
			 struct pt_regs *regs)
{
	perf_sample_prepare(data, event, regs);
}
