/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every conditional branch, taken and not, over all combinations of the flags that they
 * look at: 64 rounds of all 16, with short and with near displacements.
 */
#include "count.h"

.macro JUMPS cc
	j\cc	1f
	jmp	2f
1:	nop
2:
	j\cc	3f
	jmp	3f
	.skip	200, 0x90	/* a displacement of 32 bits */
3:
.endm

	.globl _start
_start:
	xor	%ebx, %ebx
rounds:
	/* CF 0, PF 2, AF 4, ZF 6, SF 7, OF 11 */
	mov	%ebx, %eax
	and	$0x3, %eax
	mov	masks(, %rax, 4), %ecx
	mov	%ebx, %eax
	shr	$2, %eax
	and	$0xf, %eax
	or	high_masks(, %rax, 4), %ecx
	pushf
	andl	$~0x8d5, (%rsp)
	or	%ecx, (%rsp)
	popf
	JUMPS	o
	JUMPS	no
	JUMPS	b
	JUMPS	ae
	JUMPS	e
	JUMPS	ne
	JUMPS	be
	JUMPS	a
	JUMPS	s
	JUMPS	ns
	JUMPS	p
	JUMPS	np
	JUMPS	l
	JUMPS	ge
	JUMPS	le
	JUMPS	g
	inc	%ebx
	cmp	$64, %ebx
	jne	rounds
rounds_end:

	/* JRCXZ and JECXZ, each taken once in 4 */
	mov	$3, %ecx
zeros:
	jrcxz	1f
	jecxz	1f
	dec	%ecx
	jmp	zeros
1:	nop
zeros_end:
	COUNT	zeros, zeros_end, 14
	mov	$1, %rcx
	shl	$32, %rcx
	jrcxz	2f
	jecxz	3f
2:	ud2
3:
	/* LOOPE and LOOPNE leave before the count is out */
	mov	$10, %ecx
equal:
	cmp	$5, %ecx
	loopne	equal
equal_end:
	COUNT	equal, equal_end, 12
	mov	$10, %ecx
	xor	%eax, %eax
still:
	cmp	$0, %eax
	loope	still
still_end:
	COUNT	still, still_end, 20
	/* LOOP with a 32-bit counter */
	mov	$1, %rcx
	shl	$33, %rcx
	add	$5, %rcx
short_loop:
	addr32 loop short_loop
short_loop_end:
	COUNT	short_loop, short_loop_end, 5
	EXIT

	.data
	.balign	4
masks:
	.long	0, 1, 4, 5
high_masks:
	.long	0, 0x40, 0x80, 0xc0, 0x800, 0x840, 0x880, 0x8c0
	.long	0x10, 0x50, 0x90, 0xd0, 0x810, 0x850, 0x890, 0x8d0
