// SPDX-License-Identifier: GPL-2.0
/*
 * Writing samples, and the trailer that makes other records as useful.
 *
 * An event whose plan has no field of variable size, which is most of them, has
 * its samples reserved, written and published by one call into the core. The
 * rest goes field by field.
 */
#include <linux/lockdep.h>
#include <linux/perf_event.h>

#include "sample.h"

typedef long (*emit_fn)(struct perf_data_ring *ring, const struct perf_sample_plan *plan,
			u64 header, const u64 *words);
typedef long (*start_fn)(struct perf_data_ring *ring, struct perf_ring_handle *handle,
			 const struct perf_sample_plan *plan, unsigned long size,
			 u64 header, const u64 *words);
typedef int (*fields_fn)(struct perf_event *event, struct perf_sample_data *data,
			 struct pt_regs *regs, struct perf_event *output,
			 struct perf_buffer *rb);

union sample_header {
	struct perf_event_header	fields;
	u64				word;
};

static __always_inline union sample_header header_of(unsigned int size, struct pt_regs *regs)
{
	return (union sample_header) {
		.fields = {
			.type	= PERF_RECORD_SAMPLE,
			.misc	= perf_misc_flags(regs),
			.size	= size,
		},
	};
}

/* ---- the fields of variable size ---- */

static void output_callchain(struct perf_output_handle *handle,
			     const struct perf_callchain_entry *chain)
{
	__output_copy(handle, chain, (1 + chain->nr) * sizeof(u64));
}

static void copy_piece(void *to, const struct perf_raw_frag *piece)
{
	if (unlikely(piece->copy))
		piece->copy(to, piece->data, 0, piece->size);
	else
		memcpy(to, piece->data, piece->size);
}

/* Over the end of a piece of the ring. */
static noinline void output_raw_split(struct perf_output_handle *handle,
				      const struct perf_raw_record *raw)
{
	const struct perf_raw_frag *piece;
	static const u64 zero;

	perf_output_copy(handle, &raw->size, sizeof(raw->size));
	for (piece = &raw->frag;; piece = piece->next) {
		if (piece->copy) {
			unsigned long left = __output_custom(handle, piece->copy, piece->data,
							     piece->size);

			perf_output_skip(handle, left);
		} else {
			perf_output_copy(handle, piece->data, piece->size);
		}
		if (perf_raw_frag_last(piece))
			break;
	}
	perf_output_copy(handle, &zero, piece->pad);
}

/*
 * The size and the pieces, filled up with zeroes to a multiple of 8 together. What
 * a copy function leaves keeps its place.
 */
static __always_inline void output_raw(struct perf_output_handle *handle,
				       const struct perf_raw_record *raw)
{
	const struct perf_raw_frag *piece;
	unsigned long len;
	void *to = handle->addr;

	if (unlikely(!raw)) {
		const struct {
			u32	size;
			u32	bytes;
		} nothing = { .size = sizeof(u32) };

		__output_copy(handle, &nothing, sizeof(nothing));
		return;
	}
	len = sizeof(raw->size) + raw->size;
	if (unlikely(handle->size <= len)) {
		output_raw_split(handle, raw);
		return;
	}
	*(u64 *)(to + len - sizeof(u64)) = 0;
	*(u32 *)to = raw->size;
	to += sizeof(raw->size);
	for (piece = &raw->frag;; piece = piece->next) {
		copy_piece(to, piece);
		to += piece->size;
		if (perf_raw_frag_last(piece))
			break;
	}
	handle->addr += len;
	handle->size -= len;
}

static void output_branches(struct perf_output_handle *handle, struct perf_event *event,
			    struct perf_sample_data *data)
{
	const struct perf_branch_stack *stack = data->br_stack;
	u64 nr = stack ? stack->nr : 0;

	perf_output_word(handle, nr);
	if (!stack)
		return;
	if (branch_sample_hw_index(event))
		perf_output_word(handle, stack->hw_idx);
	__output_copy(handle, stack->entries, nr * sizeof(stack->entries[0]));
	if (data->br_stack_cntr)
		__output_copy(handle, data->br_stack_cntr, nr * sizeof(u64));
}

static void output_registers(struct perf_output_handle *handle,
			     const struct perf_regs *registers, u64 mask)
{
	perf_output_word(handle, registers->abi);
	if (registers->abi)
		perf_output_regs(handle, registers->regs, mask);
}

static __always_inline void
output_run(struct perf_output_handle *handle, struct perf_event *event,
	   enum perf_sample_run run, const struct perf_sample_data *data)
{
	const struct perf_sample_plan *plan = &event->plan;

	/* Most are empty, which is not worth a call. */
	if (plan->end[run] != (run ? plan->end[run - 1] : 0))
		perf_sample_write_run(perf_ring_handle(handle), plan, run,
				      perf_sample_words(data));
}

static __always_inline void
output_variable_fields(struct perf_output_handle *handle, struct perf_event *event,
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
	if (unlikely(fields & PERF_SAMPLE_REGS_INTR))
		output_registers(handle, &data->regs_intr, event->attr.sample_regs_intr);
	output_run(handle, event, PERF_SAMPLE_RUN_TAIL, data);
	if (unlikely(fields & PERF_SAMPLE_AUX))
		perf_output_aux(handle, event, data);
}

/*
 * What follows the head run, and the sample counts. @read_bytes were reserved for
 * counters.
 */
static __always_inline void
output_rest(struct perf_output_handle *handle, struct perf_event *event,
	    struct perf_sample_data *data, unsigned int read_bytes)
{
	unsigned int every = event->plan.every;

	if (data->sample_flags & PERF_SAMPLE_READ)
		handle->skip_read = 1;
	output_variable_fields(handle, event, data, read_bytes);
	if (every)
		perf_data_ring_count_sample(&handle->rb->data, every);
}

static void output_whole(struct perf_output_handle *handle, struct perf_event *event,
			 const struct perf_event_header *header, struct perf_sample_data *data,
			 unsigned int read_bytes)
{
	__output_copy(handle, header, sizeof(*header));
	output_run(handle, event, PERF_SAMPLE_RUN_HEAD, data);
	output_rest(handle, event, data, read_bytes);
}

static unsigned int read_bytes_of(const struct perf_event *event)
{
	return event->plan.variable & PERF_SAMPLE_READ ? perf_event_read_bytes(event) : 0;
}

/* For drivers that make their records themselves. */
void perf_output_sample(struct perf_output_handle *handle, struct perf_event_header *header,
			struct perf_sample_data *data, struct perf_event *event)
{
	output_whole(handle, event, header, data, read_bytes_of(event));
}

void perf_prepare_header(struct perf_event_header *header, struct perf_sample_data *data,
			 struct perf_event *event, struct pt_regs *regs)
{
	header->type = PERF_RECORD_SAMPLE;
	header->misc = perf_misc_flags(regs);
	header->size = event->plan.size + data->dyn_size + read_bytes_of(event);
	WARN_ON_ONCE(!IS_ALIGNED(header->size, sizeof(u64)));
}

/* The ring owes its reader a LOST record, which goes first. */
static noinline int
output_after_lost(struct perf_event *event, struct perf_sample_data *data,
		  const struct perf_event_header *header, unsigned int read_bytes)
{
	struct perf_output_handle handle;
	int err = perf_output_begin(&handle, data, event, header->size);

	if (err)
		return err;
	output_whole(&handle, event, header, data, read_bytes);
	perf_output_end(&handle);
	return 0;
}

/* A sample that no record can hold is lost like one that found no room. */
static __always_inline int
output_fields(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs,
	      struct perf_event *output, struct perf_buffer *rb, start_fn start)
{
	struct perf_output_handle handle __uninitialized;
	union sample_header header;
	unsigned int read_bytes = read_bytes_of(event);
	u64 size = event->plan.size + data->dyn_size + read_bytes;
	long refused;

	if (unlikely(size > PERF_RECORD_SIZE_MAX))
		return perf_output_refuse(output, rb);

	header = header_of(size, regs);
	if (unlikely(READ_ONCE(rb->data.lost)))
		return output_after_lost(event, data, &header.fields, read_bytes);

	handle.event = output;
	handle.flags = 0;
	refused = start(&rb->data, perf_ring_handle(&handle), &event->plan, size, header.word,
			perf_sample_words(data));
	if (unlikely(refused))
		return perf_output_emitted(output, rb, refused);
	output_rest(&handle, event, data, read_bytes);
	if (unlikely(perf_data_ring_commit(perf_ring_handle(&handle))))
		perf_output_wakeup(&handle);
	return 0;
}

static noinline int
output_fields_forward(struct perf_event *event, struct perf_sample_data *data,
		      struct pt_regs *regs, struct perf_event *output, struct perf_buffer *rb)
{
	return output_fields(event, data, regs, output, rb, perf_sample_start_forward);
}

static noinline int
output_fields_backward(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs, struct perf_event *output, struct perf_buffer *rb)
{
	return output_fields(event, data, regs, output, rb, perf_sample_start_backward);
}

/* Preemption is off: it keeps the ring, and the buffer that a call chain is in. */
static __always_inline int
output_sample(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs,
	      emit_fn emit, fields_fn fields)
{
	const struct perf_sample_plan *plan = &event->plan;
	struct perf_event *output = perf_output_event(event);
	struct perf_buffer *rb = perf_event_ring(output);
	long done;

	lockdep_assert_preemption_disabled();
	/* Also the answer for a kernel's own counter, whose plan is not compiled. */
	if (unlikely(!rb))
		return -ENOSPC;

	perf_sample_prepare(data, event, regs);
	if (unlikely(plan->variable || READ_ONCE(rb->data.lost)))
		return fields(event, data, regs, output, rb);

	done = emit(&rb->data, plan, header_of(plan->size, regs).word, perf_sample_words(data));
	if (likely(done == PERF_SAMPLE_WRITTEN))
		return 0;
	return perf_output_emitted(output, rb, done);
}

void perf_event_output_forward(struct perf_event *event, struct perf_sample_data *data,
			       struct pt_regs *regs)
{
	output_sample(event, data, regs, perf_sample_emit_forward, output_fields_forward);
}

void perf_event_output_backward(struct perf_event *event, struct perf_sample_data *data,
				struct pt_regs *regs)
{
	output_sample(event, data, regs, perf_sample_emit_backward, output_fields_backward);
}

/* Also called with preemption on, by BPF. */
int perf_event_output(struct perf_event *event, struct perf_sample_data *data,
		      struct pt_regs *regs)
{
	guard(preempt)();
	if (is_write_backward(event))
		return output_sample(event, data, regs, perf_sample_emit_backward,
				     output_fields_backward);
	return output_sample(event, data, regs, perf_sample_emit_forward,
			     output_fields_forward);
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
