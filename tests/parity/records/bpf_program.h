/* SPDX-License-Identifier: GPL-2.0 */
/* The few BPF programs that the cases need, made without a compiler. */
#ifndef PARITY_BPF_PROGRAM_H
#define PARITY_BPF_PROGRAM_H

#include <stddef.h>

/* "return @value", of type BPF_PROG_TYPE_PERF_EVENT; a file descriptor */
int load_verdict(int value);

/* A map of event file descriptors, one per CPU. */
int create_event_map(void);
void put_event(int map, int cpu, int event);

/* Sends the first @size bytes of a known pattern to the event in @map, returns 0. */
int load_sender(int map, size_t size);

#endif
