/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Closed-form counts, for programs at fixed addresses. COUNT(begin, end, n) says that n
 * instructions retire between two labels while the program runs. It goes into a section
 * that is not loaded, from which the test reads it.
 */
#ifndef TESTS_PT_COUNT_H
#define TESTS_PT_COUNT_H

#ifdef __ASSEMBLER__
.macro COUNT begin, end, n
	.pushsection .pt_counts, "", @progbits
	.quad \begin, \end, \n
	.popsection
.endm

/* exit_group(0) */
.macro EXIT
	mov $231, %eax
	xor %edi, %edi
	syscall
.endm
#endif

#endif
