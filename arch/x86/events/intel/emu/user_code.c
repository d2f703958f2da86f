// SPDX-License-Identifier: GPL-2.0
/* User code and the words that its branches use, see stepper.h. */
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "stepper.h"

/* Bytes of the longest instruction. */
#define LONGEST 15

/*
 * Memory that may be executed but not read (protection keys) is read through the kernel's
 * own mapping.
 */
static unsigned int read_by_page(unsigned long ip, void *to, unsigned int n)
{
	unsigned int level;
	pte_t *pte = lookup_address_in_pgd(pgd_offset(current->mm, ip), ip, &level);
	unsigned long offset, pfn;

	if (!pte || !(pte_flags(*pte) & _PAGE_PRESENT) || !(pte_flags(*pte) & _PAGE_USER))
		return 0;
	offset = ip & (page_level_size(level) - 1);
	pfn = pte_pfn(*pte) + (offset >> PAGE_SHIFT);
	n = min_t(unsigned int, n, PAGE_SIZE - offset_in_page(ip));
	if (!pfn_valid(pfn) || copy_from_kernel_nofault(to, pfn_to_kaddr(pfn) + offset_in_page(ip), n))
		return 0;
	return n;
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

bool user_code_is(unsigned long ip, const u8 *code, unsigned int n)
{
	const u64 __user *user = (const u64 __user *)ip;
	u64 difference = 0, word;
	u8 byte;

	pagefault_disable();
	if (!user_read_access_begin(user, n))
		goto enabled;
	for (; n >= sizeof(word); n -= sizeof(word), code += sizeof(word)) {
		unsafe_get_user(word, user, unreadable);
		user++;
		difference |= word ^ *(const u64 *)code;
	}
	for (; n; n--, code++) {
		unsafe_get_user(byte, (const u8 __user *)user, unreadable);
		user = (const void __user *)user + 1;
		difference |= byte ^ *code;
	}
	user_read_access_end();
	pagefault_enable();
	return !difference;

unreadable:
	user_read_access_end();
enabled:
	pagefault_enable();
	return false;
}

/*
 * A page that is written to through another mapping is found out when its code is next
 * compared; what must not happen is that a run is changed by the run itself.
 */
static bool page_is_fixed(unsigned long ip)
{
	unsigned int level;
	pte_t *pte = lookup_address_in_pgd(pgd_offset(current->mm, ip), ip, &level);

	return pte && (pte_flags(*pte) & (_PAGE_PRESENT | _PAGE_USER | _PAGE_RW)) ==
			      (_PAGE_PRESENT | _PAGE_USER);
}

bool user_code_is_fixed(struct code_pages *pages, unsigned long ip)
{
	unsigned long page = (ip & PAGE_MASK) | 1;
	unsigned int i;

	for (i = 0; i < CODE_PAGES; i++) {
		if (pages->fixed[i] == page)
			return true;
	}
	if (!page_is_fixed(ip))
		return false;
	pages->fixed[pages->next++ % CODE_PAGES] = page;
	return true;
}

void user_code_decode(unsigned long ip, bool long_mode, struct x86_branch *branch)
{
	struct x86_decoded decoded;
	u8 code[LONGEST];

	x86_decode(code, user_code_read(ip, code, LONGEST), long_mode, &decoded);
	x86_branch_classify(&decoded, ip, branch);
}

static void build(struct x86_run *run, unsigned long ip, u8 mode, unsigned long limit)
{
	struct x86_decoded decoded;
	unsigned int n = user_code_read(ip, run->code, X86_RUN_BYTES);

	x86_run_begin(run, ip, mode);
	do {
		x86_decode(run->code + run->bytes, n - run->bytes, mode == 2, &decoded);
	} while (x86_run_add(run, &decoded, limit));
}

static bool is_fixed(struct stepper *stepper, const struct x86_run *run)
{
	unsigned long last = run->start + max_t(unsigned int, run->bytes, 1) - 1;

	return user_code_is_fixed(&stepper->pages, run->start) &&
	       (!((run->start ^ last) & PAGE_MASK) || user_code_is_fixed(&stepper->pages, last));
}

const struct x86_run *user_code_run(struct stepper *stepper, unsigned long ip, bool long_mode,
				    unsigned long limit)
{
	struct x86_run *run = x86_runs_slot(&stepper->runs, ip);
	u8 mode = long_mode ? 2 : 1;
	bool known;

	known = run->start == ip && run->mode == mode && run->end.ip <= limit;
	if (!known || !user_code_is(ip, run->code, run->bytes)) {
		build(run, ip, mode, limit);
		/* What has no bytes could never be found to have changed. */
		if (!run->bytes) {
			run->mode = 0;
			return NULL;
		}
	}
	return is_fixed(stepper, run) ? run : NULL;
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
