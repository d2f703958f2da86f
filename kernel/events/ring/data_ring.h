/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of the data ring: what the C shell and the C++ core agree on.
 *
 * Valid in C and C++, free of kernel headers. Positions and sizes are bytes;
 * positions run freely and wrap modulo 2^BITS_PER_LONG, a place in the data
 * area is a position modulo the area's size.
 *
 * One CPU writes at a time. On that CPU writers nest like a stack: a task is
 * interrupted by an IRQ, that by an NMI, and each ends before the one below
 * goes on. Every function here may be called from any of these contexts, with
 * preemption off from reserve to commit. None of them allocates, sleeps or
 * takes a lock.
 *
 * The memory-order edges A to D are defined in
 * Documentation/userspace-api/perf_ring_buffer.rst.
 */
#ifndef PERF_EVENTS_RING_DATA_RING_H
#define PERF_EVENTS_RING_DATA_RING_H

/*
 * The part of the user page (struct perf_event_mmap_page) that moves data.
 * The shell asserts that both offsets are those of the ABI.
 */
#define PERF_RING_CONTROL_OFFSET 1024

struct perf_ring_control {
	unsigned char		other_fields[PERF_RING_CONTROL_OFFSET];
	unsigned long long	data_head;	/* stored by the kernel, edge B */
	unsigned long long	data_tail;	/* stored by the reader, edge D */
};

/*
 * State of one data ring. The shell owns the memory, which is all zero before
 * perf_data_ring_init(), and hands it in. Only the core writes the members; the
 * shell may read `lost` to see whether a LOST record is due, and `size`.
 */
struct perf_data_ring {
	unsigned long		head;		/* reserved up to here; backward: counts down */
	unsigned long		wakeup;		/* stamp: a change means "wake the reader" */
	unsigned long		lost;		/* refused, and no LOST record tells of it yet */
	unsigned long		watermark;	/* bytes between two wake-ups */
	unsigned int		nest;		/* writers between reserve and commit */
	unsigned int		paused;		/* non-zero: every record is refused */
	unsigned int		overwrite;	/* non-zero: the reader's tail is not obeyed */
	unsigned int		piece_shift;	/* log2 of the bytes in a contiguous piece */
	struct perf_ring_control *control;	/* the user page */
	void			**pieces;	/* the data area, piece by piece */
	unsigned long		size;		/* bytes in the data area: 0 or a power of two */
	unsigned long		events;		/* samples since the last wake-up by count */
};

/*
 * A writer's place between reserve and commit. Member for member the same as
 * struct perf_output_handle of linux/perf_event.h, which the shell asserts.
 */
struct perf_ring_handle {
	void			*event;
	struct perf_data_ring	*ring;
	unsigned long		wakeup;		/* wake-up stamp from before the reservation */
	unsigned long		room;		/* bytes left in this piece, never 0 */
	unsigned long long	flags;
	void			*addr;		/* next byte to write */
	int			piece;		/* index of the piece that addr is in */
};

/* What perf_data_ring_reserve_*() returns when it reserves nothing. */
enum perf_ring_refusal {
	PERF_RING_FULL = -1,	/* refused and counted: no room, or paused */
	PERF_RING_FULL_WAKE = -2, /* the same, and the reader has to be woken */
	PERF_RING_NO_DATA = -3,	/* refused and not counted: the ring has no data area */
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Set up a ring over @nr_pieces (0 or a power of two) pieces of
 * 1 << @piece_shift bytes. @watermark 0 or above the size of the data area
 * asks for the default, half the area, or the whole area respectively.
 * @overwrite: the reader maps the ring read-only. Task context, before the
 * ring is visible to anyone.
 */
void perf_data_ring_init(struct perf_data_ring *ring,
			 struct perf_ring_control *control, void **pieces,
			 unsigned int nr_pieces, unsigned int piece_shift,
			 unsigned long watermark, int overwrite);

/*
 * Reserve @size bytes (a multiple of 8) and point @handle at them. When
 * @lost_size is not 0, records were refused before and the reservation also
 * holds @lost_size bytes, to be written first, for the record that says so.
 *
 * Returns how many refused records that LOST record has to report (0: the
 * bytes for it were not reserved, write none), or a perf_ring_refusal.
 * After a refusal there is nothing to commit.
 */
long perf_data_ring_reserve_forward(struct perf_data_ring *ring,
				    struct perf_ring_handle *handle,
				    unsigned long size, unsigned long lost_size);
long perf_data_ring_reserve_backward(struct perf_data_ring *ring,
				     struct perf_ring_handle *handle,
				     unsigned long size, unsigned long lost_size);

/*
 * End the writer that @handle stands for; the outermost one publishes.
 * Returns non-zero when the reader has to be woken.
 */
int perf_data_ring_commit(struct perf_ring_handle *handle);

/*
 * Count one sample towards attr.wakeup_events (@every, not 0); call between
 * reserve and commit.
 */
void perf_data_ring_count_sample(struct perf_data_ring *ring, unsigned int every);

/* Count a record that was not even tried as refused. Any context. */
void perf_data_ring_count_lost(struct perf_data_ring *ring);

/* Pause or resume. A ring without a data area stays paused. Any context. */
void perf_data_ring_set_paused(struct perf_data_ring *ring, int paused);

/*
 * Move the writer's place @len bytes on, at most to the end of its piece
 * (@len <= @handle->room): for callers that write through @handle->addr.
 */
void perf_ring_advance(struct perf_ring_handle *handle, unsigned long len);

#ifdef __cplusplus
/*
 * Copy @len bytes to the writer's place and move it on; perf_output_skip()
 * moves it on and leaves the bytes as they are. Both return the number of
 * bytes not written, which is always 0. Everything that writes records calls
 * these once per field, so the core provides them under the names that
 * linux/perf_event.h declares for the kernel.
 */
unsigned int perf_output_copy(struct perf_ring_handle *handle, const void *buf,
			      unsigned int len);
unsigned int perf_output_skip(struct perf_ring_handle *handle, unsigned int len);
}
#endif

#endif /* PERF_EVENTS_RING_DATA_RING_H */
