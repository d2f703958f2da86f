/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page faults whose registers, stack and frame chain are known to the last bit:
 * nothing that a compiler or libc left behind shows in a sample.
 *
 *	touch_pages(page, count, stack, frame)
 *	read_pages(page, count, stack, frame, fd)	read(fd, page, 8) on each
 *
 * Both run on @stack with @frame as frame pointer.
 */
	.macro enter
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, saved_stack(%rip)
	mov	%rdx, %rsp
	mov	%rcx, %rbp
	.endm

	.macro leave_and_return
	mov	saved_stack(%rip), %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
	.endm

	.macro mark register, number
	movabs	$0x5a5a00000000 + \number, \register
	.endm

	.text
	.globl	touch_pages
	.type	touch_pages, @function
touch_pages:
	enter
	mark	%rax, 1
	mark	%rbx, 2
	mark	%rcx, 3
	mark	%rdx, 4
	mark	%r8, 8
	mark	%r9, 9
	mark	%r10, 10
	mark	%r11, 11
	mark	%r12, 12
	mark	%r13, 13
	mark	%r14, 14
	mark	%r15, 15
1:	movb	$1, (%rdi)
	add	$4096, %rdi
	dec	%rsi
	jnz	1b
	leave_and_return
	.size	touch_pages, . - touch_pages

	.globl	read_pages
	.type	read_pages, @function
read_pages:
	enter
	mark	%rbx, 2
	mark	%r9, 9
	mark	%r10, 10
	mark	%r14, 14
	mark	%r15, 15
	mov	%rdi, %r12
	mov	%rsi, %r13
1:	xor	%eax, %eax
	mov	%r8, %rdi
	mov	%r12, %rsi
	mov	$8, %edx
	syscall
	add	$4096, %r12
	dec	%r13
	jnz	1b
	leave_and_return
	.size	read_pages, . - read_pages

/* spin(count) stays on one instruction, so that a sample's ip is known. */
	.globl	spin
	.globl	spin_here
	.type	spin, @function
spin:
	mov	%rdi, %rcx
spin_here:
	loop	spin_here
	ret
	.size	spin, . - spin

	.bss
	.balign	8
saved_stack:
	.skip	8

	.section .note.GNU-stack, "", @progbits
