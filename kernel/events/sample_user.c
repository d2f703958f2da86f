// SPDX-License-Identifier: GPL-2.0
/*
 * What a sample shows of the task that it hit: registers, stack, pages.
 *
 * All of it is read from where the event fired, which may be an NMI: nothing
 * here may sleep, and memory that is not there is not waited for.
 */
#include <linux/bitops.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "sample.h"

void perf_sample_user_regs(struct perf_regs *user, struct pt_regs *regs)
{
	if (user_mode(regs)) {
		user->regs = regs;
		user->abi = perf_reg_abi(current);
	} else if (is_user_task(current)) {
		perf_get_regs_user(user, regs);
	} else {
		user->regs = NULL;
		user->abi = PERF_SAMPLE_REGS_ABI_NONE;
	}
}

void perf_output_regs(struct perf_output_handle *handle, struct pt_regs *regs, u64 mask)
{
	unsigned int bytes = hweight64(mask) * sizeof(u64);
	u64 *to = perf_ring_words(perf_ring_handle(handle), bytes);

	if (likely(to)) {
		for (; mask; mask &= mask - 1)
			*to++ = perf_reg_value(regs, __ffs64(mask));
		if (bytes)
			perf_ring_advance(perf_ring_handle(handle), bytes);
		return;
	}
	for (; mask; mask &= mask - 1)
		perf_output_word(handle, perf_reg_value(regs, __ffs64(mask)));
}

unsigned int perf_sample_stack_available(struct pt_regs *regs)
{
	unsigned long top;

	if (!regs || !current->mm)
		return 0;
	/* Up to the end of memory; the copy ends where nothing is mapped. */
	top = perf_user_stack_pointer(regs);
	if (!top || top >= TASK_SIZE)
		return 0;
	return min_t(unsigned long, TASK_SIZE - top, U16_MAX);
}

/* The size reserved, the bytes, and how many of these were really there. */
void perf_output_stack(struct perf_output_handle *handle, struct pt_regs *regs, u64 size)
{
	unsigned long missing;
	u64 copied;

	perf_output_word(handle, size);
	if (!size)
		return;
	missing = __output_copy_user(handle, (void *)perf_user_stack_pointer(regs), size);
	copied = size - missing;
	if (missing)
		perf_output_skip(handle, missing);
	perf_output_word(handle, copied);
}

u64 perf_sample_phys_addr(u64 virt)
{
	struct page *page;
	u64 phys = 0;

	if (virt >= TASK_SIZE) {
		void *kernel = (void *)(uintptr_t)virt;

		/* Only of the linear mapping it can be told without a walk. */
		if (!is_vmalloc_addr(kernel) && virt_addr_valid(kernel))
			return virt_to_phys(kernel);
		return 0;
	}
	if (!virt || !is_user_task(current))
		return 0;

	pagefault_disable();
	if (get_user_page_fast_only(virt, 0, &page)) {
		phys = page_to_phys(page) + offset_in_page(virt);
		put_page(page);
	}
	pagefault_enable();
	return phys;
}

#ifdef CONFIG_HAVE_GUP_FAST
/*
 * One level of a page table: tells the size if a page hangs here, 0 if nothing
 * does; else the walk goes on below.
 */
#define TRY_LEVEL(level, entry)						\
	do {								\
		if (!level##_present(entry))				\
			return 0;					\
		if (level##_leaf(entry))				\
			return level##_leaf_size(entry);		\
	} while (0)

/* IRQs off: that keeps the tables, as it does for the fast get_user_pages(). */
static u64 mapped_page_size(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr), top = READ_ONCE(*pgd);
	p4d_t *p4d, fourth;
	pud_t *pud, third;
	pmd_t *pmd, second;
	pte_t *pte, entry;
	u64 size = 0;

	TRY_LEVEL(pgd, top);
	p4d = p4d_offset_lockless(pgd, top, addr);
	fourth = READ_ONCE(*p4d);
	TRY_LEVEL(p4d, fourth);
	pud = pud_offset_lockless(p4d, fourth, addr);
	third = READ_ONCE(*pud);
	TRY_LEVEL(pud, third);
	pmd = pmd_offset_lockless(pud, third, addr);
	do {
		second = pmdp_get_lockless(pmd);
		TRY_LEVEL(pmd, second);
		/* NULL if the table has just become a huge page: look again. */
		pte = pte_offset_map(&second, addr);
	} while (!pte);
	__acquire(RCU); /* which a checker does not see in there */
	entry = ptep_get_lockless(pte);
	if (pte_present(entry))
		size = __pte_leaf_size(second, entry);
	pte_unmap(pte);
	return size;
}
#else
static u64 mapped_page_size(struct mm_struct *mm, unsigned long addr)
{
	return 0;
}
#endif

u64 perf_sample_page_size(unsigned long addr)
{
	if (!addr)
		return 0;
	guard(irqsave)();
	return mapped_page_size(current->mm ?: &init_mm, addr);
}
