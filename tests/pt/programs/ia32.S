/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ia32 [WORD]: a 32-bit program, its own instructions and its own ways into the kernel:
 * INT 80h, and what the vDSO has unless there is a WORD.
 */
#include "count.h"

#define GETPID	20
#define EXIT_GROUP 252
#define AT_SYSINFO 32

	.code32
	.globl _start
_start:
	/* the vDSO's way in, behind argv and envp */
	cmpl	$1, (%esp)
	jne	3f
	mov	%esp, %esi
	lodsl
	lea	4(%esi, %eax, 4), %esi
1:	lodsl
	test	%eax, %eax
	jnz	1b
2:	lodsl
	mov	%eax, %edx
	lodsl
	test	%edx, %edx
	jz	3f
	cmp	$AT_SYSINFO, %edx
	jne	2b
	mov	%eax, sysinfo
3:
	mov	$50, %ebx
rounds:
	mov	$GETPID, %eax
	int	$0x80
	mov	$GETPID, %eax
	cmpl	$0, sysinfo
	je	4f
	call	*sysinfo
4:
	/* does not trap; nor would INTO, but decoders take that for a branch that does */
	xor	%eax, %eax
	bound	%eax, limits
	/* JCXZ looks at 16 bits, JECXZ at 32 */
	mov	$0x10000, %ecx
	jcxz	5f
	ud2
5:	jecxz	6f
	nop
6:	mov	$3, %ecx
7:	loopw	7b
	pushal
	popal
	daa
	aad
	aam
	.byte	0xd6 /* SALC */
	arpl	%ax, %ax
	push	%ss
	pop	%ss
	nop
	push	%es
	pop	%es
	les	pointer, %eax
	call	*leaf_pointer
	call	leaf
	push	$1
	call	takes_one
	enter	$16, $1
	leave
	/* far, in the same segment */
	lcall	$0x23, $far_leaf
	dec	%ebx
	jnz	rounds
	mov	$EXIT_GROUP, %eax
	xor	%ebx, %ebx
	int	$0x80

leaf:
	nop
	ret
takes_one:
	ret	$4
far_leaf:
	nop
	lret
end:
	COUNT	leaf, takes_one, (50 * 4)
	COUNT	takes_one, far_leaf, 50
	COUNT	far_leaf, end, (50 * 2)

	.data
	.balign	8
limits:
	.long	-1, 1
pointer:
	.long	0
	.word	0x2b
	.balign	4
leaf_pointer:
	.long	leaf
sysinfo:
	.long	0
