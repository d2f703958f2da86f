/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * How much of an AUX trace went missing, and since when.
 *
 * An addition to linux/perf_event.h. A reader that does not know of it sees a flag
 * without a name and 16 bytes between the flags and the trailer of a
 * PERF_RECORD_AUX, where it does not look.
 *
 * With PERF_AUX_FLAG_LOST the record goes on behind its flags:
 *
 *	 8  u64  offset
 *	16  u64  size
 *	24  u64  flags
 *	32  u64  lost	bytes of the trace that did not get into the AUX area,
 *			somewhere between the end of the data that the previous
 *			PERF_RECORD_AUX named and the end of those that this one names
 *	40  u64  since	time, by the event's clock, at which the first of them was lost
 *
 * The driver counts them: what its hardware reports, or what the trace's rate makes
 * of the time that passed. A driver that cannot tell sets TRUNCATED or PARTIAL
 * alone, as ever. With LOST goes at least one of these two: PARTIAL if the trace went
 * on behind the gap, TRUNCATED if it was stopped. Records that are merged because the
 * data ring had no room can have both.
 */
#ifndef _UAPI_LINUX_PERF_AUX_H
#define _UAPI_LINUX_PERF_AUX_H

#include <linux/types.h>

#define PERF_AUX_FLAG_LOST	(1ULL << 32)

/*
 * All bytes that were lost since the ring was made, as u64 at this offset of the user
 * page: also those for which the data ring had no room for a record, or has none at
 * all. 0 where the kernel or the driver does not count.
 */
#define PERF_AUX_LOST_OFFSET	2048

#endif /* _UAPI_LINUX_PERF_AUX_H */
