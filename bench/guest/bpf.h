/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_BPF_H
#define BENCH_BPF_H

/*
 * A program for a perf event that sends @size bytes (a multiple of 8; 0: does
 * nothing) to the event @sink of CPU 0 and returns 0. A file descriptor.
 */
int bpf_load_sender(int sink, int size);

#endif
