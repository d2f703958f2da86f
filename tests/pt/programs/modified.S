/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that writes itself. What is written before it has ever been executed decides
 * about the flow, so that the final code tells what was executed; what is written again
 * and again changes only an immediate operand. The text is mapped writable (see
 * CMakeLists.txt).
 */
#include "count.h"

	.globl _start
_start:
	mov	$200, %ebx
rounds:
	/* the next instruction's operand */
	mov	%bl, operand+1(%rip)
operand:
	mov	$0x77, %al
	/* a jump ahead in the same block becomes two NOPs */
	movw	$0x9090, ahead(%rip)
ahead:
	jmp	wrong
	/* a call's target */
	movl	$(right - call_end), call_end-4(%rip)
	call	wrong_call
call_end:
	/* by a string instruction, a few bytes ahead: XOR EAX, EAX */
	lea	patch(%rip), %rsi
	lea	written(%rip), %rdi
	movsw
written:
	ud2
	dec	%ebx
	jnz	rounds
rounds_end:
	COUNT	rounds, rounds_end, (200 * 13)
	COUNT	right, end, (200 * 2)
	EXIT

	.skip	64, 0xcc
wrong:
	ud2
wrong_call:
	ud2
patch:
	xor	%eax, %eax
	.skip	64, 0xcc
right:
	nop
	ret
end:
