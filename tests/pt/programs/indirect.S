/* SPDX-License-Identifier: GPL-2.0 */
/* Every way to jump to an address that is not in the instruction. */
#include "count.h"

	.globl _start
_start:
	/* arch_prctl(ARCH_SET_FS, segment) */
	mov	$158, %eax
	mov	$0x1002, %edi
	lea	segment(%rip), %rsi
	syscall

	mov	$100, %ebx
rounds:
	lea	here1(%rip), %rax
	jmp	*%rax
	ud2
here1:
	lea	here2(%rip), %r13
	jmp	*%r13
	ud2
here2:
	jmp	*pointers(%rip)
	ud2
here3:
	mov	$1, %ecx
	lea	pointers(%rip), %rdx
	jmp	*(%rdx, %rcx, 8)
	ud2
here4:
	jmp	*%fs:0
	ud2
here5:
	/* through the stack */
	lea	here6(%rip), %rax
	push	%rax
	ret
	ud2
here6:
	lea	leaf(%rip), %rax
	call	*%rax
	call	*leaf_pointer(%rip)
	call	*%fs:8
	mov	$2, %ecx
	lea	pointers(%rip), %rdx
	call	*(%rdx, %rcx, 8)
	/* arguments that the callee takes away */
	push	$1
	push	$2
	call	takes_two
	/* frames */
	call	frames
	/* a return to elsewhere than the call */
	call	skips
	ud2
here7:
	dec	%ebx
	jnz	rounds
rounds_end:
	COUNT	rounds, rounds_end, (100 * 26)
	COUNT	leaf, takes_two, (100 * 4 * 2)
	COUNT	takes_two, frames, (100 * 2)
	COUNT	frames, skips, (100 * 6)
	COUNT	skips, end, (100 * 3)
	EXIT

leaf:
	nop
	ret
takes_two:
	nop
	ret	$16
frames:
	enter	$32, $0
	call	1f
	leave
	ret
1:	nop
	ret
skips:
	lea	here7(%rip), %rax
	mov	%rax, (%rsp)
	ret
end:

	.data
	.balign	8
pointers:
	.quad	here3, here4, leaf
leaf_pointer:
	.quad	leaf
segment:
	.quad	here5, leaf
