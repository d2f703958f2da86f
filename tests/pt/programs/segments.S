/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MOV SS holds single-step traps off for one instruction, whatever that is. In QEMU 7.2,
 * PAUSE does that too, and more than one MOV SS in a row.
 */
#include "count.h"

	.globl _start
_start:
	mov	%ss, %edx
	mov	$100, %ebx
rounds:
	mov	%edx, %ss
	nop
	mov	%edx, %ss
	jmp	1f
	nop
1:	mov	%edx, %ss
	call	leaf
	mov	%edx, %ss
	mov	%edx, %ss
	nop
	test	%ebx, %ebx
	mov	%edx, %ss
	jz	2f
	mov	%edx, %ss
	jnz	2f
	ud2
2:	lea	3f(%rip), %rax
	mov	%edx, %ss
	jmp	*%rax
	ud2
3:	mov	$39, %eax /* getpid */
	mov	%edx, %ss
	syscall
	pause
	nop
	push	%fs
	pop	%fs
	dec	%ebx
	jnz	rounds
rounds_end:
	COUNT	rounds, rounds_end, (100 * 26)
	EXIT
leaf:
	nop
	ret
