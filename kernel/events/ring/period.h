/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of sampling periods: when the next sample is due.
 *
 * Valid in C and C++, free of kernel headers.
 */
#ifndef PERF_EVENTS_RING_PERIOD_H
#define PERF_EVENTS_RING_PERIOD_H

/* Timers fire at most this often, in ns. */
#define PERF_CLOCK_PERIOD_MIN	10000ULL

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A software event counts from -period up and is due at 0. Takes the periods
 * that have passed off @left, so that it is negative again, and returns how
 * many they were; 0 if none was due. @period is not 0.
 */
unsigned long long perf_period_passed(long long *left, unsigned long long period);

/* ns from one sample of a clock event to the next. */
unsigned long long perf_clock_period(unsigned long long period);

/*
 * ns to the first sample of a clock event that starts, when @left were left at
 * the time it was stopped: 0 for nothing left over, negative for overdue.
 */
unsigned long long perf_clock_first(long long left, unsigned long long period);

#ifdef __cplusplus
}
#endif

#endif /* PERF_EVENTS_RING_PERIOD_H */
