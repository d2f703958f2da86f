/* SPDX-License-Identifier: GPL-2.0 */
/* A case runs in a process of its own and leaves one file of text. */
#ifndef PARITY_CASE_H
#define PARITY_CASE_H

#include <stdio.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define __printf(format, first) __attribute__((__format__(__printf__, format, first)))
#define __noreturn __attribute__((__noreturn__))

struct ring;

extern FILE *case_output;

__printf(1, 2) void say(const char *format, ...);

/* For what the kernel lacks: ends the case, which then counts as not run. */
__printf(1, 2) __noreturn void skip_case(const char *format, ...);

/* Says the outcome of a call that may fail: "ok" or the error's name. */
void say_result(const char *what, long result);

typedef void (*case_function)(const void *argument);
void run_case(const char *name, case_function function, const void *argument);

/* Lets the dump know the layout of an event's records. */
void remember_event(const struct ring *ring);

/* One call of run_case() for each case. */
void sample_cases(void);
void group_cases(void);
void sideband_cases(void);
void task_cases(void);
void loss_cases(void);
void overwrite_cases(void);
void wakeup_cases(void);
void bpf_cases(void);
void clock_cases(void);
void refusal_cases(void);
void mapping_cases(void);

#endif
