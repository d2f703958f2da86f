/* SPDX-License-Identifier: GPL-2.0 */
/* Loops whose instructions can be counted on paper; no library, no system call but exit. */
#include "count.h"

	.globl _start
_start:
	/* 3 instructions, 1000 times */
	mov	$1000, %ecx
simple:
	add	$1, %rax
	dec	%ecx
	jnz	simple
simple_end:
	COUNT	simple, simple_end, 3000

	/* LOOP onto itself */
	mov	$77, %ecx
self:
	loop	self
self_end:
	COUNT	self, self_end, 77

	/* 40 * (1 + 50 * 2 + 2) */
	mov	$40, %edx
outer:
	mov	$50, %ecx
inner:
	dec	%ecx
	jnz	inner
	dec	%edx
	jnz	outer
outer_end:
	COUNT	outer, outer_end, 4120

	/* calls: 100 * (call + nop + ret + dec + jnz) */
	mov	$100, %ecx
calls:
	call	leaf
	dec	%ecx
	jnz	calls
calls_end:
	COUNT	calls, calls_end, 300
	COUNT	leaf, leaf_end, 200

	/* recursion, deeper than any return stack: 500 levels of 5, the last of 3 */
	mov	$500, %ecx
	call	deep
	COUNT	deep, deep_end, 2498

	/* indirect calls through a table */
	xor	%ebx, %ebx
table:
	mov	%ebx, %eax
	and	$3, %eax
	call	*targets(, %rax, 8)
	inc	%ebx
	cmp	$400, %ebx
	jne	table
table_end:
	COUNT	table, table_end, 2400
	COUNT	target0, target1, 100
	COUNT	target1, target2, 200
	COUNT	target2, target3, 300
	COUNT	target3, target_end, 400
	EXIT

leaf:
	nop
	ret
leaf_end:

deep:
	dec	%ecx
	jz	1f
	call	deep
	nop
1:	ret
deep_end:

target0:
	ret
target1:
	nop
	ret
target2:
	nop
	nop
	ret
target3:
	nop
	nop
	nop
	ret
target_end:

	.data
	.balign	8
targets:
	.quad	target0, target1, target2, target3
