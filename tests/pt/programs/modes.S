/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From 64-bit code to 32-bit code and back, by every far transfer that needs no
 * privilege, and far transfers that stay in 64-bit code. The stack is below 4 GiB.
 */
#include "count.h"

#define CS32 0x23
#define CS64 0x33

	.globl _start
_start:
	lea	stack_end(%rip), %rsp
	mov	$50, %ebx
rounds:
	/* RETF to 32 bits */
	pushq	$CS32
	pushq	$by_ret
	lretq
	.code32
by_ret:
	nop
	inc	%eax
	dec	%eax
	call	leaf32
	/* JMP ptr16:32 to 64 bits */
	ljmp	$CS64, $by_jump
	.code64
by_jump:
	nop
	ljmp	*to_32(%rip)
	.code32
by_memory:
	nop
	jmp	1f
	nop
1:	/* RETF to 64 bits */
	pushl	$CS64
	pushl	$by_ret_64
	lretl
	.code64
by_ret_64:
	/* CALL m16:32 and back, to the same and to the other width */
	lcall	*same(%rip)
	lcall	*other(%rip)
	dec	%ebx
	jnz	rounds
rounds_end:
	COUNT	rounds, rounds_end, (50 * 19)
	EXIT

	.code32
leaf32:
	nop
	ret
	.code64
far_leaf:
	nop
	lretl
	.code32
far_leaf_32:
	nop
	inc	%eax
	lretl
	.code64
end:
	COUNT	leaf32, end, (50 * 7)

	.data
	.balign	8
to_32:
	.long	by_memory
	.word	CS32
	.balign	8
same:
	.long	far_leaf
	.word	CS64
	.balign	8
other:
	.long	far_leaf_32
	.word	CS32
	.bss
	.balign	16
stack:
	.skip	4096
stack_end:
