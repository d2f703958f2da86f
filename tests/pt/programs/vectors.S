/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SSE and AVX instructions, among them those whose opcodes would be branches without
 * their VEX prefix: VZEROUPPER (77, JA), VMOVD (7E, JLE), VMOVDQA (7F, JG), VPCMPEQ
 * (74 to 76), VPSHUFD (70), VLDMXCSR (AE), VPINSRW (C4), VPEXTRW (C5), VSHUFPS (C6),
 * VMOVNTDQ (E7), VMOVNTPS (2B), VPXOR (EF).
 */
#include "count.h"

	.globl _start
_start:
	mov	$1, %eax
	cpuid
	bt	$28, %ecx	/* AVX */
	jnc	no_avx
	mov	$100, %ebx
avx:
	vpxor	%xmm0, %xmm0, %xmm0
	vmovdqa	%ymm0, %ymm1
	vmovdqa	%xmm1, data(%rip)
	vmovd	%xmm0, %eax
	vmovq	%xmm0, %rax
	vpcmpeqb %xmm0, %xmm1, %xmm2
	vpcmpeqw %xmm0, %xmm1, %xmm2
	vpcmpeqd %xmm0, %xmm1, %xmm2
	vpshufd	$0x1b, %xmm2, %xmm3
	vpinsrw	$1, %eax, %xmm3, %xmm3
	vpextrw	$1, %xmm3, %eax
	vshufps	$0x4e, %xmm3, %xmm3, %xmm4
	vmovntdq %ymm4, data(%rip)
	vmovntps %ymm4, data(%rip)
	vstmxcsr data(%rip)
	vldmxcsr data(%rip)
	vucomiss %xmm0, %xmm0
	vpsrlw	$1, %xmm8, %xmm9
	vpsllq	$1, %xmm8, %xmm9
	vpslldq	$1, %xmm8, %xmm9
	vpermilps $0x1b, %ymm4, %ymm5
	vzeroupper
	vzeroall
	andn	%eax, %ebx, %ecx
	bextr	%eax, %ebx, %ecx
	rorx	$3, %ebx, %ecx
	dec	%ebx
	jnz	avx
avx_end:
	COUNT	avx, avx_end, 2800
no_avx:
	stmxcsr	data(%rip)
	ldmxcsr	data(%rip)
	mov	$100, %ebx
sse:
	pxor	%xmm0, %xmm0
	movdqa	%xmm0, data(%rip)
	pcmpeqb	%xmm0, %xmm1
	pcmpeqd	%xmm0, %xmm1
	pshufd	$0x1b, %xmm1, %xmm2
	pextrw	$1, %xmm2, %eax
	shufps	$0x4e, %xmm2, %xmm2
	movntdq	%xmm2, data(%rip)
	movd	%xmm0, %eax
	comiss	%xmm0, %xmm0
	jne	1f
	jp	1f
	palignr	$3, %xmm0, %xmm1
	pmulld	%xmm0, %xmm1
	pcmpistri $0, %xmm0, %xmm1
	crc32b	%al, %ecx
	movbe	data(%rip), %ecx
	popcnt	%eax, %ecx
	lfence
	sfence
	mfence
	prefetcht0 data(%rip)
1:	dec	%ebx
	jnz	sse
sse_end:
	COUNT	sse, sse_end, 2400
	/* x87 and MMX */
	fld1
	fldpi
	fcomip
	fwait
	fninit
	movq	%mm0, %mm1
	emms
	EXIT

	.data
	.balign	64
data:
	.skip	64
