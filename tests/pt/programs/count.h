/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many instructions retire where, told by the program itself, as far as it can be
 * known on paper or by counting along.
 */
#ifndef TESTS_PT_COUNT_H
#define TESTS_PT_COUNT_H

#ifdef __ASSEMBLER__

/*
 * COUNT begin, end, n: n instructions retire between two labels while the program runs.
 * It goes into a section that is not loaded, from which the test reads it. For programs
 * below 4 GiB.
 */
.macro COUNT begin, end, n
	.pushsection .pt_counts, "", @progbits
	.long \begin, 0, \end, 0, \n, 0
	.popsection
.endm

/* exit_group(0) */
.macro EXIT
	mov $231, %eax
	xor %edi, %edi
	syscall
.endm

#else

#include <stdio.h>

/* For standard output: a function has been entered n times. */
#define PRINT_ENTRIES(function, n) \
	printf("count %lx %lx %lu\n", (unsigned long)(function), \
	       (unsigned long)(function) + 1, (unsigned long)(n))

#endif

#endif
