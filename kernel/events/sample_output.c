// SPDX-License-Identifier: GPL-2.0
/*
 * Writing samples, and the trailer that makes other records as useful.
 *
 * An event whose plan has no field of variable size, which is most of them, has
 * its samples reserved, written and published by one call into the core. The
 * rest goes field by field.
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>

#include "sample.h"

typedef long (*emit_fn)(struct perf_data_ring *ring, const struct perf_sample_plan *plan,
			u64 header, const u64 *words);
typedef int (*begin_fn)(struct perf_output_handle *handle, struct perf_sample_data *data,
			struct perf_event *event, unsigned int size);

/* ---- the fields of variable size ---- */

static void output_callchain(struct perf_output_handle *handle,
			     const struct perf_callchain_entry *chain)
{
	perf_output_copy(handle, chain, (1 + chain->nr) * sizeof(u64));
}

/* Size and bytes, filled up to a multiple of 8 together. */
static void output_raw(struct perf_output_handle *handle, struct perf_raw_record *raw)
{
	static const struct {
		u32	size;
		u32	bytes;
	} nothing = { .size = sizeof(u32) };
	static const u64 zero;
	struct perf_raw_frag *piece;

	if (!raw) {
		perf_output_put(handle, nothing);
		return;
	}
	perf_output_put(handle, raw->size);
	for (piece = &raw->frag;; piece = piece->next) {
		if (piece->copy)
			__output_custom(handle, piece->copy, piece->data, piece->size);
		else
			perf_output_copy(handle, piece->data, piece->size);
		if (perf_raw_frag_last(piece))
			break;
	}
	perf_output_copy(handle, &zero, piece->pad);
}

static void output_branches(struct perf_output_handle *handle, struct perf_event *event,
			    struct perf_sample_data *data)
{
	const struct perf_branch_stack *stack = data->br_stack;
	u64 nr = stack ? stack->nr : 0;

	perf_output_put(handle, nr);
	if (!stack)
		return;
	if (branch_sample_hw_index(event))
		perf_output_put(handle, stack->hw_idx);
	perf_output_copy(handle, stack->entries, nr * sizeof(stack->entries[0]));
	if (data->br_stack_cntr)
		perf_output_copy(handle, data->br_stack_cntr, nr * sizeof(u64));
}

static void output_registers(struct perf_output_handle *handle,
			     const struct perf_regs *registers, u64 mask)
{
	perf_output_put(handle, registers->abi);
	if (registers->abi)
		perf_output_regs(handle, registers->regs, mask);
}

static void output_run(struct perf_output_handle *handle, struct perf_event *event,
		       enum perf_sample_run run, const struct perf_sample_data *data)
{
	perf_sample_write_run(perf_ring_handle(handle), &event->plan, run,
			      perf_sample_words(data));
}

static void output_variable_fields(struct perf_output_handle *handle, struct perf_event *event,
				   struct perf_sample_data *data, unsigned int read_bytes)
{
	u64 fields = event->plan.variable;

	if (fields & PERF_SAMPLE_READ)
		perf_output_read(handle, event, read_bytes);
	if (fields & PERF_SAMPLE_CALLCHAIN)
		output_callchain(handle, data->callchain);
	if (fields & PERF_SAMPLE_RAW)
		output_raw(handle, data->raw);
	if (fields & PERF_SAMPLE_BRANCH_STACK)
		output_branches(handle, event, data);
	if (fields & PERF_SAMPLE_REGS_USER)
		output_registers(handle, &data->regs_user, event->attr.sample_regs_user);
	if (fields & PERF_SAMPLE_STACK_USER)
		perf_output_stack(handle, data->regs_user.regs, data->stack_user_size);
	output_run(handle, event, PERF_SAMPLE_RUN_MIDDLE, data);
	if (fields & PERF_SAMPLE_REGS_INTR)
		output_registers(handle, &data->regs_intr, event->attr.sample_regs_intr);
	output_run(handle, event, PERF_SAMPLE_RUN_TAIL, data);
	if (fields & PERF_SAMPLE_AUX)
		perf_output_aux(handle, event, data);
}

/*
 * The sample that @header announces. Between its size and now the group may have
 * changed; the counters take what was reserved for them.
 */
void perf_output_sample(struct perf_output_handle *handle, struct perf_event_header *header,
			struct perf_sample_data *data, struct perf_event *event)
{
	const struct perf_sample_plan *plan = &event->plan;

	if (data->sample_flags & PERF_SAMPLE_READ)
		handle->skip_read = 1;
	perf_output_put(handle, *header);
	output_run(handle, event, PERF_SAMPLE_RUN_HEAD, data);
	if (plan->variable) {
		output_variable_fields(handle, event, data,
				       header->size - plan->size - data->dyn_size);
	} else {
		output_run(handle, event, PERF_SAMPLE_RUN_MIDDLE, data);
		output_run(handle, event, PERF_SAMPLE_RUN_TAIL, data);
	}
	if (plan->every)
		perf_data_ring_count_sample(&handle->rb->data, plan->every);
}

static u32 sample_size(const struct perf_sample_data *data, const struct perf_event *event)
{
	const struct perf_sample_plan *plan = &event->plan;

	return plan->size + data->dyn_size +
	       (plan->variable & PERF_SAMPLE_READ ? perf_event_read_bytes(event) : 0);
}

void perf_prepare_header(struct perf_event_header *header, struct perf_sample_data *data,
			 struct perf_event *event, struct pt_regs *regs)
{
	header->type = PERF_RECORD_SAMPLE;
	header->misc = perf_misc_flags(regs);
	header->size = sample_size(data, event);
	WARN_ON_ONCE(!IS_ALIGNED(header->size, sizeof(u64)));
}

/* A sample that no record can hold is lost like one that found no room. */
static noinline int output_fields(struct perf_event *event, struct perf_sample_data *data,
				  struct pt_regs *regs, begin_fn begin)
{
	struct perf_output_handle handle;
	struct perf_event_header header;
	int err;

	if (unlikely(sample_size(data, event) > PERF_RECORD_SIZE_MAX))
		return perf_output_refuse(event);

	perf_prepare_header(&header, data, event, regs);
	err = begin(&handle, data, event, header.size);
	if (err)
		return err;
	perf_output_sample(&handle, &header, data, event);
	perf_output_end(&handle);
	return 0;
}

/* Preemption is off: it keeps the ring, and the buffer that a call chain is in. */
static __always_inline int
output_sample(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs,
	      emit_fn emit, begin_fn begin)
{
	const struct perf_sample_plan *plan = &event->plan;
	struct perf_event *output = perf_output_event(event);
	struct perf_buffer *rb = perf_event_ring(output);
	union {
		struct perf_event_header fields;
		u64			 word;
	} header;
	long done;

	if (unlikely(!rb))
		return -ENOSPC;

	perf_prepare_sample(data, event, regs);
	if (unlikely(plan->variable || READ_ONCE(rb->data.lost)))
		return output_fields(event, data, regs, begin);

	header.fields.type = PERF_RECORD_SAMPLE;
	header.fields.misc = perf_misc_flags(regs);
	header.fields.size = plan->size;
	done = emit(&rb->data, plan, header.word, perf_sample_words(data));
	if (likely(done == PERF_SAMPLE_WRITTEN))
		return 0;
	return perf_output_emitted(output, rb, done);
}

void perf_event_output_forward(struct perf_event *event, struct perf_sample_data *data,
			       struct pt_regs *regs)
{
	output_sample(event, data, regs, perf_sample_emit_forward, perf_output_begin_forward);
}

void perf_event_output_backward(struct perf_event *event, struct perf_sample_data *data,
				struct pt_regs *regs)
{
	output_sample(event, data, regs, perf_sample_emit_backward, perf_output_begin_backward);
}

/* Also called with preemption on, by BPF. */
int perf_event_output(struct perf_event *event, struct perf_sample_data *data,
		      struct pt_regs *regs)
{
	guard(preempt)();
	if (is_write_backward(event))
		return output_sample(event, data, regs, perf_sample_emit_backward,
				     perf_output_begin_backward);
	return output_sample(event, data, regs, perf_sample_emit_forward,
			     perf_output_begin_forward);
}

/* ---- other records ---- */

void perf_event_header__init(struct perf_event_header *header, struct perf_sample_data *data,
			     u32 type, u16 misc, u16 size, struct perf_event *event)
{
	header->type = type;
	header->misc = misc;
	header->size = size;
	if (!event->attr.sample_id_all)
		return;

	header->size += event->id_header_size;
	data->type = event->attr.sample_type;
	perf_sample_fill_ids(data, event, data->type);
}

void perf_event__output_id_sample(struct perf_event *event, struct perf_output_handle *handle,
				  struct perf_sample_data *data)
{
	if (event->attr.sample_id_all)
		output_run(handle, event, PERF_SAMPLE_RUN_ID, data);
}
