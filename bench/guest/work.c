// SPDX-License-Identifier: GPL-2.0
/* What the events fire on. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "cases.h"

/*
 * touch_page(at): one store, at the address of the symbol.
 * touch_below(at, frames): touch_page() with that many more frames above it.
 * touch_one(at, frames): the same from a frame pointer of 0, with which the ABI marks the
 * outermost frame. The kernel finds out by a fault of its own on address 0.
 */
__asm__(
	".text\n"
	".globl touch_page\n"
	"touch_page:\n"
	"	movb $1, (%rdi)\n"
	"	ret\n"
	"touch_below:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	dec %esi\n"
	"	jz 1f\n"
	"	call touch_below\n"
	"	pop %rbp\n"
	"	ret\n"
	"1:	call touch_page\n"
	"	pop %rbp\n"
	"	ret\n"
	".globl touch_one\n"
	"touch_one:\n"
	"	push %rbp\n"
	"	xor %ebp, %ebp\n"
	"	call touch_below\n"
	"	pop %rbp\n"
	"	ret\n"
	".globl spin\n"
	"spin:\n"
	"	dec %rdi\n"
	"	jnz spin\n"
	"	ret\n");

void touch_one(char *at, int frames);

char *touch_memory(void)
{
	char *memory = mmap(NULL, (size_t)TOUCHED * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	madvise(memory, (size_t)TOUCHED * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

void touch_forget(char *memory, int pages)
{
	if (madvise(memory, (size_t)pages * PAGE, MADV_DONTNEED))
		die("madvise");
}

void touch_pages(char *memory, int pages)
{
	for (int i = 0; i < pages; i++)
		touch_one(memory + (size_t)i * PAGE, TOUCH_DEPTH - 1);
}
