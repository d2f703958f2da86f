// SPDX-License-Identifier: GPL-2.0
/* User code and the words that its branches use, see stepper.h. */
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "stepper.h"

/* Bytes of the longest instruction. */
#define LONGEST 15

/* What is mapped at ip with all of these flags and none of those; NULL: nothing. */
static const u8 *mapped_page(unsigned long ip, pteval_t with, pteval_t without)
{
	unsigned int level;
	pte_t *pte = lookup_address_in_pgd(pgd_offset(current->mm, ip), ip, &level);
	unsigned long pfn;

	with |= _PAGE_PRESENT | _PAGE_USER;
	if (!pte || (pte_flags(*pte) & (with | without)) != with)
		return NULL;
	pfn = pte_pfn(*pte) + ((ip & (page_level_size(level) - 1)) >> PAGE_SHIFT);
	return pfn_valid(pfn) ? pfn_to_kaddr(pfn) : NULL;
}

/*
 * Memory that may be executed but not read (protection keys) is read through the kernel's
 * own mapping.
 */
static unsigned int read_by_page(unsigned long ip, void *to, unsigned int n)
{
	const u8 *page = mapped_page(ip, 0, 0);

	n = min_t(unsigned int, n, PAGE_SIZE - offset_in_page(ip));
	return page && !copy_from_kernel_nofault(to, page + offset_in_page(ip), n) ? n : 0;
}

unsigned int user_code_read(unsigned long ip, void *to, unsigned int n)
{
	unsigned int first = min_t(unsigned int, n, PAGE_SIZE - offset_in_page(ip));

	if (copy_from_user_nofault(to, (void __user *)ip, first)) {
		first = read_by_page(ip, to, first);
		if (!first)
			return 0;
	}
	if (first == n)
		return n;
	if (copy_from_user_nofault(to + first, (void __user *)(ip + first), n - first))
		return first + read_by_page(ip + first, to + first, n - first);
	return n;
}

static noinline const u8 *find_page(struct code_pages *pages, unsigned long address)
{
	struct code_page *page = pages->others;
	const u8 *kernel;
	unsigned int i;

	for (i = 0; i < CODE_PAGES; i++) {
		if (page[i].address == address) {
			swap(pages->last, page[i]);
			return pages->last.kernel;
		}
	}
	kernel = mapped_page(address, 0, _PAGE_RW);
	if (!kernel)
		return NULL;
	page[pages->next++ % CODE_PAGES] = pages->last;
	pages->last.address = address;
	pages->last.kernel = kernel;
	return kernel;
}

/* Where the kernel has the code at ip; NULL: somebody may write to it, or it is not there. */
static __always_inline const u8 *fixed_code(struct code_pages *pages, unsigned long ip)
{
	unsigned long address = (ip & PAGE_MASK) | 1;
	const u8 *kernel;

	if (likely(pages->last.address == address))
		return pages->last.kernel + offset_in_page(ip);
	kernel = find_page(pages, address);
	return kernel ? kernel + offset_in_page(ip) : NULL;
}

#define DIFFERS(type, at, gone)							\
({										\
	type word;								\
										\
	__get_kernel_nofault(&word, &kernel[at], type, gone);			\
	word != *(const type *)&code[at];					\
})

/* Are the same n bytes there? The kernel's own mapping of a page may be gone (secretmem). */
static __always_inline bool is_same(const u8 *kernel, const u8 *code, unsigned int n)
{
	unsigned int at;

	if (n >= 8) {
		for (at = 0; at + 8 < n; at += 8) {
			if (DIFFERS(u64, at, gone))
				return false;
		}
		return !DIFFERS(u64, n - 8, gone);
	}
	if (n >= 4)
		return !DIFFERS(u32, 0, gone) && !DIFFERS(u32, n - 4, gone);
	for (at = 0; at < n; at++) {
		if (DIFFERS(u8, at, gone))
			return false;
	}
	return true;

gone:
	return false;
}

void user_code_decode(unsigned long ip, bool long_mode, struct x86_branch *branch)
{
	struct x86_decoded decoded;
	u8 code[LONGEST];

	x86_decode(code, user_code_read(ip, code, LONGEST), long_mode, &decoded);
	x86_branch_classify(&decoded, ip, branch);
}

static bool build(struct x86_run *run, unsigned long ip, u8 mode, unsigned long limit)
{
	struct x86_decoded decoded;
	unsigned int n = user_code_read(ip, run->code, X86_RUN_BYTES);

	x86_run_begin(run, ip, mode);
	do {
		x86_decode(run->code + run->bytes, n - run->bytes, mode == 2, &decoded);
	} while (x86_run_add(run, &decoded, limit));
	/* What has no bytes could never be found to have changed. */
	if (!run->bytes)
		run->mode = 0;
	return run->bytes;
}

/* A run that reaches into the next page, or is new, or has changed. */
static noinline const struct x86_run *find_run(struct stepper *stepper, struct x86_run *run,
					       unsigned long ip, u8 mode, unsigned long limit)
{
	const u8 *kernel = fixed_code(&stepper->pages, ip), *behind;
	unsigned int first = PAGE_SIZE - offset_in_page(ip);

	if (run->start == ip && run->mode == mode && run->end.ip <= limit && run->bytes > first) {
		behind = fixed_code(&stepper->pages, ip + first);
		if (!behind)
			return NULL;
		if (is_same(kernel, run->code, first) &&
		    is_same(behind, run->code + first, run->bytes - first))
			return run;
	}
	if (!build(run, ip, mode, limit))
		return NULL;
	return run->bytes <= first || fixed_code(&stepper->pages, ip + first) ? run : NULL;
}

/*
 * A page that is written to through another mapping is found out when its code is next
 * compared; what must not happen is that a run is changed by the run itself.
 */
const struct x86_run *user_code_run(struct stepper *stepper, unsigned long ip, bool long_mode,
				    unsigned long limit)
{
	struct x86_run *run = x86_runs_slot(&stepper->runs, ip);
	const u8 *kernel = fixed_code(&stepper->pages, ip);
	u8 mode = long_mode ? 2 : 1;

	if (unlikely(!kernel))
		return NULL;
	if (likely(run->start == ip && run->mode == mode && run->end.ip <= limit &&
		   offset_in_page(ip) + run->bytes <= PAGE_SIZE && is_same(kernel, run->code, run->bytes)))
		return run;
	return find_run(stepper, run, ip, mode, limit);
}

int user_word_load(unsigned long address, unsigned int bytes, unsigned long *word)
{
	u32 narrow;

	if (bytes == sizeof(*word))
		return copy_from_user_nofault(word, (void __user *)address, sizeof(*word));
	if (copy_from_user_nofault(&narrow, (void __user *)address, sizeof(narrow)))
		return -EFAULT;
	*word = narrow;
	return 0;
}

int user_word_store(unsigned long address, unsigned int bytes, unsigned long word)
{
	return copy_to_user_nofault((void __user *)address, &word, bytes);
}
