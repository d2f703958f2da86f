/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of the AUX ring: positions, room, wake-ups and records of an AUX area.
 *
 * Valid in C and C++, free of kernel headers. Positions and sizes are bytes. In
 * full mode positions run freely and wrap modulo 2^BITS_PER_LONG; a place in the
 * area is a position modulo the area's size. In overwrite mode the driver names
 * the position and nobody waits for the reader.
 *
 * One transaction at a time: it opens with begin and closes with close. Whoever
 * finds one open is turned away. Both may be called in any context, NMI
 * included, with preemption off in between each call's own start and end; the
 * transaction itself may last as long as an event stays on its CPU. Nothing here
 * allocates, sleeps or takes a lock.
 *
 * The edges A to D are those of the data ring, applied to aux_head and aux_tail,
 * see Documentation/userspace-api/perf_ring_buffer.rst.
 */
#ifndef PERF_EVENTS_RING_AUX_RING_H
#define PERF_EVENTS_RING_AUX_RING_H

/* Where the user page (struct perf_event_mmap_page) has them: the shell asserts it. */
#define PERF_AUX_CONTROL_HEAD 1056
#define PERF_AUX_CONTROL_LOST 2048 /* PERF_AUX_LOST_OFFSET of linux/perf_aux.h */

/* The part of the user page that belongs to the AUX area. */
struct perf_aux_control {
	unsigned char		before[PERF_AUX_CONTROL_HEAD];
	unsigned long long	aux_head;	/* stored by the kernel, edge B */
	unsigned long long	aux_tail;	/* stored by the reader, edge D */
	unsigned char		between[PERF_AUX_CONTROL_LOST - PERF_AUX_CONTROL_HEAD - 16];
	unsigned long long	aux_lost;	/* stored by the kernel: bytes, free-running */
};

/* What a PERF_RECORD_AUX says. */
struct perf_aux_report {
	unsigned long		offset;		/* position of the data's first byte */
	unsigned long		size;
	unsigned long long	flags;		/* PERF_AUX_FLAG_* */
	unsigned long		lost;		/* bytes, 0 without PERF_AUX_FLAG_LOST */
	unsigned long long	lost_since;	/* event clock, ns: when the first was lost */
};

/*
 * State of one AUX ring. The shell owns the memory, which is all zero at first.
 * Only the core writes the members. It outlives the area: positions and what is
 * still to be told go on when another area is mapped.
 */
struct perf_aux_ring {
	unsigned long		head;		/* committed up to here */
	unsigned long		wakeup;		/* the last multiple of watermark passed */
	unsigned long		watermark;	/* bytes between wake-ups; 0: overwrite */
	unsigned long		size;		/* bytes in the area, a power of two */
	unsigned long		open;		/* non-zero: a transaction is open */
	unsigned int		overwrite;
	unsigned int		cut;		/* TRUNCATED told, and nothing begun since */
	unsigned long		lost;		/* bytes that no record has told of yet */
	unsigned long long	lost_since;
	unsigned long		lost_total;
	unsigned long		showing;	/* non-zero: lost_total is about to be shown */
	struct perf_aux_report	untold;		/* merged records that the data ring refused */
	struct perf_aux_control	*control;	/* the user page */
};

/*
 * The driver's side of a transaction. Member for member the same as struct
 * perf_output_handle of linux/perf_event.h, which the shell asserts.
 */
struct perf_aux_handle {
	void			*event;
	void			*rb;
	unsigned long		wakeup;		/* position at which the reader wants a wake-up */
	unsigned long		size;		/* bytes that may be written; overwrite: 0 */
	unsigned long long	flags;		/* PERF_AUX_FLAG_*, collected */
	unsigned long		head;		/* position to write at; overwrite: the driver's */
	int			unused;
};

enum perf_aux_verdict {
	PERF_AUX_OPENED,
	PERF_AUX_BUSY, /* a transaction is open already */
	PERF_AUX_FULL, /* the reader has to read first */
};

/* What the shell has to do; bits. */
enum perf_aux_todo {
	PERF_AUX_TELL = 1,  /* write the report as a PERF_RECORD_AUX */
	PERF_AUX_STOP = 2,  /* disable the event: there is no room for it */
	PERF_AUX_WAKE = 4,  /* wake the reader */
	PERF_AUX_WRONG = 8, /* the driver claims more than it had been given */
};

/* How an area is to be allocated. */
struct perf_aux_layout {
	unsigned long		watermark;	/* bytes, 0 in overwrite mode */
	unsigned int		max_order;	/* log2 of the pages in the largest chunk */
	unsigned int		one_chunk;	/* non-zero: the whole area or nothing */
};

enum perf_aux_pages_wanted {
	PERF_AUX_PAGES_ANY,	   /* single pages, which fragment nothing */
	PERF_AUX_PAGES_LARGE,	   /* large chunks where they can be had */
	PERF_AUX_PAGES_CONTIGUOUS, /* the hardware takes one chunk at a time */
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Lay out an area of @nr_pages (a power of two) pages of 1 << @page_shift bytes.
 * @watermark in bytes, as the user asked for it; 0: half the area, as far as 32
 * bits go. A chunk is never larger than the watermark, and an area that is not
 * overwritten has at least two if it has two pages, so that one can be read while
 * the other fills.
 */
struct perf_aux_layout perf_aux_layout(unsigned long nr_pages, unsigned int page_shift,
				       unsigned long watermark, int overwrite,
				       enum perf_aux_pages_wanted wanted);

/*
 * A new area of @size bytes. Positions go on from where they were; data of an
 * earlier area that no record has told of are gone with it. Task context. 0: nothing
 * has changed, since a transaction is open.
 */
int perf_aux_ring_setup(struct perf_aux_ring *ring, struct perf_aux_control *control,
			unsigned long size, unsigned long watermark, int overwrite);

/*
 * Open a transaction and fill in @handle (not its event and rb). After
 * PERF_AUX_FULL, too, one is open: to refuse, tell and close.
 */
enum perf_aux_verdict perf_aux_ring_begin(struct perf_aux_ring *ring,
					  struct perf_aux_handle *handle);

/*
 * After PERF_AUX_FULL: todo bits, among them PERF_AUX_TELL if the reader does not
 * know yet that the trace has been cut.
 */
unsigned int perf_aux_ring_refuse(struct perf_aux_ring *ring, struct perf_aux_report *report);

/*
 * If @size is 0 and there is nothing to tell, end the transaction, publish and close
 * included, clear handle->event and return non-zero. Else do nothing.
 */
int perf_aux_ring_end_quietly(struct perf_aux_ring *ring, struct perf_aux_handle *handle,
			      unsigned long size);

/*
 * @size bytes are in the area (overwrite: and handle->head is where the next one
 * goes). Returns todo bits, with @report for PERF_AUX_TELL.
 */
unsigned int perf_aux_ring_commit(struct perf_aux_ring *ring, const struct perf_aux_handle *handle,
				  unsigned long size, struct perf_aux_report *report);

/* The data ring has refused @report: the next one is to say it as well. */
void perf_aux_ring_untold(struct perf_aux_ring *ring, const struct perf_aux_report *report);

/* Let the reader see what has been committed (B). Returns todo bits. */
unsigned int perf_aux_ring_publish(struct perf_aux_ring *ring);

/* The transaction is over. */
void perf_aux_ring_close(struct perf_aux_ring *ring);

/*
 * Leave out @size bytes in front of what will be written. Returns todo bits, or
 * -ENOSPC if there is no room for that.
 */
int perf_aux_ring_skip(struct perf_aux_ring *ring, struct perf_aux_handle *handle,
		       unsigned long size);

/*
 * @bytes of the trace did not get into the area, the first of them at @since
 * (event clock, ns). Within a transaction its end tells them. Else this opens one and
 * returns PERF_AUX_TELL: to tell and close.
 */
unsigned int perf_aux_ring_lose(struct perf_aux_ring *ring, unsigned long bytes,
				unsigned long long since, struct perf_aux_report *report);

struct perf_ring_handle;

/*
 * Copy what lies between positions @from and @to of an area of @size bytes into
 * the record that @to_handle writes; equal modulo @size means all of it. @pages
 * has one address for each 1 << @page_shift bytes. Returns the bytes copied.
 */
unsigned long perf_aux_copy(struct perf_ring_handle *to_handle, void *const *pages,
			    unsigned int page_shift, unsigned long size, unsigned long from,
			    unsigned long to);

#ifdef __cplusplus
}
#endif

#endif /* PERF_EVENTS_RING_AUX_RING_H */
