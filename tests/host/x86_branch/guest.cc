// SPDX-License-Identifier: GPL-2.0
/* The ways into the guest and out of it, see guest.hh. */
#include "guest.hh"

GuestTrap perfring_guest_trap;

static_assert(offsetof(GuestTrap, sp) == 0 && offsetof(GuestTrap, own_fs) == 8 &&
	      offsetof(GuestTrap, own_gs) == 16 && offsetof(GuestTrap, fs) == 24 &&
	      offsetof(GuestTrap, gs) == 32 && offsetof(GuestTrap, frame) == 40 &&
	      offsetof(GuestTrap, info) == 48 && offsetof(GuestTrap, has_bases) == 56 &&
	      offsetof(GuestTrap, inside) == 64 && offsetof(GuestTrap, signal) == 72);

/*
 * The guest is entered by returning from the last signal, with the frame changed; the next
 * signal leads back to whoever entered. Nothing but registers that a function keeps is kept.
 * A signal while no guest runs is a crash of the test's: exits with 3.
 */
asm(R"(
	.pushsection .text
	.globl perfring_guest_first, perfring_guest_enter, perfring_guest_signal

	.macro KEEP
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, perfring_guest_trap(%rip)
	movq	$1, perfring_guest_trap+64(%rip)
	.endm

	.type	perfring_guest_first, @function
perfring_guest_first:
	KEEP
	int3

	.type	perfring_guest_enter, @function
perfring_guest_enter:
	KEEP
	cmpq	$0, perfring_guest_trap+56(%rip)
	je	1f
	mov	perfring_guest_trap+24(%rip), %rax
	wrfsbase %rax
	mov	perfring_guest_trap+32(%rip), %rax
	wrgsbase %rax
1:	mov	%rdi, %rsp
	mov	$15, %eax
	syscall

	.type	perfring_guest_signal, @function
perfring_guest_signal:
	cmpq	$0, perfring_guest_trap+56(%rip)
	je	1f
	mov	perfring_guest_trap+8(%rip), %rax
	wrfsbase %rax
	mov	perfring_guest_trap+16(%rip), %rax
	wrgsbase %rax
1:	cmpq	$0, perfring_guest_trap+64(%rip)
	jne	2f
	mov	$3, %edi
	mov	$231, %eax
	syscall
2:	movq	$0, perfring_guest_trap+64(%rip)
	mov	%edi, perfring_guest_trap+72(%rip)
	mov	%rsi, perfring_guest_trap+48(%rip)
	mov	%rdx, perfring_guest_trap+40(%rip)
	mov	perfring_guest_trap(%rip), %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
	.popsection
)");
