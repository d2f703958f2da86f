// SPDX-License-Identifier: GPL-2.0
/* User code and the words that its branches use, see stepper.h. */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/pgtable.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <asm/debugreg.h>

#include "stepper.h"

/* Bytes of the longest instruction. */
#define LONGEST 15

/* What it takes to decode a run is worth so many of the interpreter's instructions. */
#define BUILD_COST 16

static struct page *page_behind(pteval_t flags, unsigned long pfn, pteval_t with,
				pteval_t without)
{
	with |= _PAGE_PRESENT | _PAGE_USER;
	return (flags & (with | without)) == with && pfn_valid(pfn) ? pfn_to_page(pfn) : NULL;
}

/*
 * Each entry is read once: with interrupts off the tables stay, as for the fast
 * get_user_pages(), but not what is in them. Pages of 1 GiB are left to single steps.
 */
struct page *user_page(unsigned long ip, pteval_t with, pteval_t without)
{
	pgd_t *pgd, top;
	p4d_t *p4d, fourth;
	pud_t *pud, third;
	pmd_t *pmd, second;
	pte_t *pte, entry;

	if (ip >= TASK_SIZE_MAX)
		return NULL;
	pgd = pgd_offset(current->mm, ip);
	top = READ_ONCE(*pgd);
	if (!pgd_present(top))
		return NULL;
	p4d = p4d_offset_lockless(pgd, top, ip);
	fourth = READ_ONCE(*p4d);
	if (!p4d_present(fourth))
		return NULL;
	pud = pud_offset_lockless(p4d, fourth, ip);
	third = READ_ONCE(*pud);
	if (!pud_present(third) || pud_leaf(third))
		return NULL;
	pmd = pmd_offset_lockless(pud, third, ip);
	second = pmdp_get_lockless(pmd);
	if (!pmd_present(second))
		return NULL;
	if (pmd_leaf(second))
		return page_behind(pmd_flags(second), pmd_pfn(second) + pte_index(ip), with,
				   without);
	pte = pte_offset_kernel(&second, ip);
	entry = ptep_get_lockless(pte);
	return page_behind(pte_flags(entry), pte_pfn(entry), with, without);
}

/*
 * Memory that may be executed but not read (protection keys) is read through the kernel's
 * own mapping.
 */
static unsigned int read_by_page(unsigned long ip, void *to, unsigned int n)
{
	struct page *page = user_page(ip, 0, 0);

	n = min_t(unsigned int, n, PAGE_SIZE - offset_in_page(ip));
	if (!page || copy_from_kernel_nofault(to, page_address(page) + offset_in_page(ip), n))
		return 0;
	return n;
}

static unsigned int read_code(unsigned long ip, void *to, unsigned int n)
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

/* What the kernel reads of the code is no access of the task's: nobody watches for it. */
unsigned int user_code_read(unsigned long ip, void *to, unsigned int n)
{
	unsigned long dr7 = hw_breakpoint_active() ? local_db_save() : 0;

	n = read_code(ip, to, n);
	local_db_restore(dr7);
	return n;
}

/* Pages of a file that somebody may write to through another mapping change any time. */
static bool is_written_elsewhere(struct page *page)
{
	struct address_space *mapping = folio_mapping(page_folio(page));

	return mapping && mapping_writably_mapped(mapping);
}

static noinline const u8 *find_page(struct code_pages *pages, unsigned long address)
{
	struct code_page *page = pages->others;
	struct page *mapped;
	unsigned int i;

	for (i = 0; i < CODE_PAGES; i++) {
		if (page[i].address == address) {
			swap(pages->last, page[i]);
			return pages->last.kernel;
		}
	}
	mapped = user_page(address, 0, _PAGE_RW | _PAGE_NX);
	if (!mapped || is_written_elsewhere(mapped))
		return NULL;
	page[pages->next++ % CODE_PAGES] = pages->last;
	pages->last.address = address;
	pages->last.kernel = page_address(mapped);
	return pages->last.kernel;
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

static bool build(struct stepper *stepper, struct x86_run *run, unsigned long ip, u8 mode,
		  unsigned long limit)
{
	struct x86_decoded decoded;
	unsigned int n = user_code_read(ip, run->code, X86_RUN_BYTES);

	stepper_charge(stepper, BUILD_COST);
	x86_run_begin(run, ip, mode);
	do {
		x86_decode(run->code + run->bytes, n - run->bytes, mode == 2, &decoded);
		x86_run_translate(run, &decoded, run->code + run->bytes);
	} while (x86_run_add(run, &decoded, limit));
	/* What has no bytes could never be found to have changed. */
	if (!run->bytes)
		run->mode = 0;
	return run->bytes;
}

/* A run that is cut off ends in front of end.ip, any other behind. */
static __always_inline bool ends_before(const struct x86_run *run, unsigned long limit)
{
	return run->end.ip < limit || (run->end.kind == X86_PLAIN && run->end.ip == limit);
}

/* A run that reaches into the next page, or is new, or has changed. */
static noinline bool find_run(struct stepper *stepper, struct x86_run *run, unsigned long ip,
			      u8 mode, unsigned long limit)
{
	const u8 *kernel = fixed_code(&stepper->pages, ip), *behind;
	unsigned int first = PAGE_SIZE - offset_in_page(ip);

	if (run->start == ip && run->mode == mode && ends_before(run, limit) &&
	    run->bytes > first) {
		behind = fixed_code(&stepper->pages, ip + first);
		if (!behind)
			return false;
		if (is_same(kernel, run->code, first) &&
		    is_same(behind, run->code + first, run->bytes - first))
			return true;
	}
	if (!build(stepper, run, ip, mode, limit))
		return false;
	return run->bytes <= first || fixed_code(&stepper->pages, ip + first);
}

/*
 * What others change is found out when the code is next compared; what must not happen is
 * that a run is changed by itself: pages that may be written to are not run.
 */
const struct x86_run *user_code_run(struct stepper *stepper, unsigned long ip, bool long_mode,
				    unsigned long limit)
{
	u8 mode = long_mode ? 2 : 1;
	struct x86_run *run = x86_runs_find(&stepper->runs, ip, mode);
	const u64 key = user_code_key(stepper, long_mode);
	const u8 *kernel;

	if (run->start == ip && run->checked == key && ends_before(run, limit))
		return run;
	kernel = fixed_code(&stepper->pages, ip);
	if (unlikely(!kernel))
		return NULL;
	if (!(run->start == ip && run->mode == mode && ends_before(run, limit) &&
	      offset_in_page(ip) + run->bytes <= PAGE_SIZE &&
	      is_same(kernel, run->code, run->bytes)) &&
	    !find_run(stepper, run, ip, mode, limit))
		return NULL;
	run->checked = key;
	return run;
}

int user_word_load(unsigned long address, unsigned int bytes, unsigned long *word)
{
	const void __user *from = (const void __user *)address;
	int err = -EFAULT;
	u32 narrow = 0;

	if (!access_ok(from, bytes))
		return err;
	/* In one access, as the CPU does it: others may be changing the word. */
	pagefault_disable();
	if (bytes == sizeof(*word)) {
		err = __get_user(*word, (const unsigned long __user *)from);
	} else {
		err = __get_user(narrow, (const u32 __user *)from);
		*word = narrow;
	}
	pagefault_enable();
	return err;
}

int user_word_store(unsigned long address, unsigned int bytes, unsigned long word)
{
	void __user *to = (void __user *)address;
	int err;

	if (!access_ok(to, bytes))
		return -EFAULT;
	pagefault_disable();
	if (bytes == sizeof(word))
		err = __put_user(word, (unsigned long __user *)to);
	else
		err = __put_user((u32)word, (u32 __user *)to);
	pagefault_enable();
	return err;
}
