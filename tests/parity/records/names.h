/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text for values that differ between two runs of the same thing: each gets a
 * small name, in order of appearance, so that who is who stays comparable.
 */
#ifndef PARITY_NAMES_H
#define PARITY_NAMES_H

#include <stdint.h>
#include <stdio.h>

enum name_kind {
	NAME_TASK = 'T',
	NAME_EVENT = 'E',
	NAME_PROGRAM = 'B',
	NAME_CGROUP = 'C',
};

/* "T0", "T1", ...; 0 and -1 mean something by themselves and stay. */
void print_name(FILE *out, enum name_kind kind, uint64_t value);

/* Fixes the next free name of this kind before the value shows up. */
void give_name(enum name_kind kind, uint64_t value);

/* User addresses as they are, kernel ones as "kernel", chain marks by name. */
void print_address(FILE *out, uint64_t address);
int is_kernel_address(uint64_t address);

/* Only whether there is something: device and inode numbers. */
void print_presence(FILE *out, uint64_t value);

#endif
