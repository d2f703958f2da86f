/* SPDX-License-Identifier: GPL-2.0 */
/*
 * String instructions, repeated and not, both ways, with counts of zero, and with page
 * faults in the middle. Repeated ones retire once, however often they iterate.
 */
#include "count.h"

#define PAGES 8

	.globl _start
_start:
	cld
	/* not a single iteration */
	xor	%ecx, %ecx
	lea	source(%rip), %rsi
	lea	target(%rip), %rdi
	rep movsb
	rep stosq
	repe cmpsb
	repne scasb
	rep lodsb

	mov	$30, %ebx
rounds:
	lea	source(%rip), %rsi
	lea	target(%rip), %rdi
	mov	$64, %ecx
	rep movsb
	mov	$16, %ecx
	rep movsw
	mov	$8, %ecx
	rep movsl
	mov	$4, %ecx
	rep movsq
	lea	source(%rip), %rsi
	lea	target(%rip), %rdi
	mov	$64, %ecx
	repe cmpsb
	jne	wrong
	mov	$0, %al
	mov	$100, %ecx
	lea	target(%rip), %rdi
	repne scasb
	mov	$5, %ecx
	lea	source(%rip), %rsi
	rep lodsl
	/* backwards */
	std
	lea	target+63(%rip), %rdi
	lea	source+63(%rip), %rsi
	mov	$64, %ecx
	rep movsb
	cld
	/* single ones */
	movsb
	stosb
	lodsb
	cmpsb
	scasb
	/* with an address size of 32 bits */
	mov	$source, %esi
	mov	$target, %edi
	mov	$20, %ecx
	addr32 rep movsb
	dec	%ebx
	jnz	rounds
rounds_end:
	COUNT	rounds, rounds_end, (30 * 39)

	/* memory that is not there yet: mmap(0, PAGES * 4096, RW, PRIVATE | ANONYMOUS, -1, 0) */
	mov	$9, %eax
	xor	%edi, %edi
	mov	$(PAGES * 4096), %esi
	mov	$3, %edx
	mov	$0x22, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	syscall
	test	%rax, %rax
	js	wrong
	mov	%rax, %r12

faulting:
	mov	%r12, %rdi
	mov	$(PAGES * 512 / 64), %ecx
	mov	$0x55, %eax
	rep stosq
	mov	%r12, %rsi
	lea	(PAGES * 2048)(%r12), %rdi
	mov	$(PAGES * 2048), %ecx
	rep movsb
faulting_end:
	COUNT	faulting, faulting_end, 8
	EXIT
wrong:
	ud2

	.data
	.balign	64
source:
	.skip	128, 0x61
	.byte	0
	.skip	127, 0x62
target:
	.skip	256
