/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of a buffer's output: where the hardware writes, where it interrupts, where
 * it stops, and what it has written.
 *
 * Valid in C and C++, free of kernel headers. Positions and sizes are bytes. In full
 * mode positions run freely, as those of the AUX ring do; a place in the buffer is a
 * position modulo its size, a power of two. In overwrite mode a position is a place.
 *
 * A struct pt_output belongs to one buffer. It is used while the hardware does not
 * write there, by one at a time; only pt_output_where() may be called from an NMI that
 * has interrupted another function. Nothing here allocates or sleeps.
 */
#ifndef X86_EVENTS_INTEL_PT_OUTPUT_H
#define X86_EVENTS_INTEL_PT_OUTPUT_H

#include "rtit.h"
#include "topa.h"

/*
 * CPUs with tables of one entry interrupt somewhat before a region is full. So close to
 * its end it is taken for full.
 */
#define PT_OUTPUT_MARGIN	512u

/* A region, and a place in it. */
struct pt_place {
	unsigned int	region;
	unsigned int	table;
	unsigned int	offset;		/* in the region, less than its size */
	unsigned int	low;		/* of IA32_RTIT_OUTPUT_MASK_PTRS, below the offset */
	unsigned int	quiet;		/* below this offset nothing happens, see below */
	unsigned long	start;		/* of the region in the buffer */
	unsigned long	size;		/* of the region */
	unsigned long long base;	/* IA32_RTIT_OUTPUT_BASE */
};

struct pt_output {
	struct pt_topa		topa;		/* not used if ranged */
	unsigned long		size;		/* of the buffer */
	unsigned long long	range;		/* its physical address, if ranged */
	unsigned int		ranged;		/* non-zero: one range of memory, no table */
	unsigned int		overwrite;
	unsigned int		moves;		/* non-zero: the hardware changes tables */
	unsigned int		stop_filter;	/* set by who calls: a filter, too, may stop it */
	struct pt_place		place;		/* where the next byte goes */
	unsigned long		position;	/* the same as a position */
	/* Full mode, tables of several entries: */
	unsigned int		marked;		/* non-zero: the following is so */
	unsigned int		stop;		/* region with STOP and INT */
	unsigned int		interrupt;	/* region with INT */
	unsigned long		stop_end;	/* position where the region with STOP ends */
	unsigned long		behind_stop;	/* bytes in the region behind it */
	unsigned long		interrupt_end;	/* position where the region with INT ends */
	unsigned long		wakeup;		/* position that the reader wanted to be woken at */
};

/* What the hardware has done since the last begin. */
struct pt_written {
	unsigned long	bytes;		/* full mode: what to claim, padding included */
	unsigned long	pad;		/* place in the buffer ... */
	unsigned long	pad_size;	/* ... of so many bytes to be zeroed */
	unsigned int	cut;		/* non-zero: there was no room, something is missing */
	unsigned int	error;		/* non-zero: the hardware found a table wrong */
	unsigned int	resync;		/* non-zero: STATUS is to be cleared, so that a PSB comes */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The buffer's tables are closed, or its range is set: start at its beginning. */
void pt_output_init(struct pt_output *output);

/*
 * The hardware is to write from position @head on. In full mode there is room for
 * @room bytes, and one more that fills up a page, and the reader wants to be woken at
 * @wakeup. 0, or -ENOSPC: the room ends within a region, where hardware cannot stop.
 */
int pt_output_begin(struct pt_output *output, unsigned long head, unsigned long room,
		    unsigned long wakeup);

/* The hardware has stopped with these values in its registers. */
void pt_output_end(struct pt_output *output, unsigned long long base, unsigned long long mask,
		   unsigned long long status, struct pt_written *written);

/* The place in the buffer that these values mean; the last known if they mean none. */
unsigned long pt_output_where(const struct pt_output *output, unsigned long long base,
			      unsigned long long mask);

#ifdef __cplusplus
}
#endif

/*
 * What is so at most switches of tasks, in line: nothing is to be looked up, nothing to
 * be marked. The functions above do all of it and more.
 */

/* IA32_RTIT_OUTPUT_MASK_PTRS for where the next byte goes. */
static inline unsigned long long pt_output_mask(const struct pt_output *output)
{
	return output->place.low |
	       (unsigned long long)output->place.offset << PT_MASK_OFFSET_SHIFT;
}

/* Can BASE have changed since it was written? Non-zero: yes. */
static inline int pt_output_moves(const struct pt_output *output)
{
	return output->moves != 0;
}

/*
 * Can the hardware go on where it was, with the marks as they are? Non-zero: there is
 * nothing to begin. The marks do as long as the room ends in the region behind STOP, the
 * reader wants to be woken at the same position, and INT is ahead.
 */
static inline int pt_output_goes_on(const struct pt_output *output, unsigned long head,
				    unsigned long room, unsigned long wakeup)
{
	if (head != output->position)
		return 0;
	return output->overwrite ||
	       (output->marked && wakeup == output->wakeup &&
		head + room + 1 - output->stop_end < output->behind_stop &&
		(long)(output->interrupt_end - head) > 0);
}

/*
 * The hardware has stopped with this MASK_PTRS, BASE being what it was. If it has
 * written, and has not left its region, that is all: the bytes. It has met no region's
 * end, thus no STOP and no faulty entry, and STATUS need not be read. 0: that is to be
 * read, and pt_output_end() called.
 */
static inline unsigned long pt_output_end_within(struct pt_output *output,
						 unsigned long long mask)
{
	struct pt_place *place = &output->place;
	const unsigned long long offset = mask >> PT_MASK_OFFSET_SHIFT;
	unsigned long bytes;

	if ((unsigned int)mask != place->low || offset <= place->offset ||
	    offset >= place->quiet || output->stop_filter)
		return 0;
	bytes = (unsigned long)offset - place->offset;
	place->offset = (unsigned int)offset;
	output->position += bytes;
	return bytes;
}

#endif /* X86_EVENTS_INTEL_PT_OUTPUT_H */
