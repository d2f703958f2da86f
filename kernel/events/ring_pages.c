// SPDX-License-Identifier: GPL-2.0
/*
 * The memory behind a data ring, backed in one of two ways.
 *
 * Single pages, each a piece of its own: cheap, and the kernel's linear map
 * needs no set-up. Or one range of vmalloc_user() memory, one piece, for
 * architectures whose data cache would see the kernel's and the user's address
 * of a page as two (CONFIG_PERF_USE_VMALLOC).
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "internal.h"

#ifndef CONFIG_PERF_USE_VMALLOC

static void *alloc_page_near(int cpu)
{
	const int node = cpu == -1 ? NUMA_NO_NODE : cpu_to_node(cpu);
	struct page *page = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO, 0);

	return page ? page_address(page) : NULL;
}

/* perf_mmap_fault() has set ->mapping, which a free page may not have. */
static void free_mapped_page(void *addr)
{
	struct page *page = virt_to_page(addr);

	page->mapping = NULL;
	__free_page(page);
}

int rb_pages_pieces(int nr_pages)
{
	return nr_pages;
}

unsigned int rb_pages_piece_shift(int nr_pages)
{
	return PAGE_SHIFT;
}

int rb_pages_alloc(struct perf_buffer *rb, int nr_pages, int cpu)
{
	rb->user_page = alloc_page_near(cpu);
	if (!rb->user_page)
		return -ENOMEM;

	for (rb->nr_pages = 0; rb->nr_pages < nr_pages; rb->nr_pages++) {
		void *addr = alloc_page_near(cpu);

		if (!addr) {
			rb_pages_free(rb);
			return -ENOMEM;
		}
		rb->data_pages[rb->nr_pages] = addr;
	}
	return 0;
}

void rb_pages_free(struct perf_buffer *rb)
{
	while (rb->nr_pages) {
		free_mapped_page(rb->data_pages[--rb->nr_pages]);
		cond_resched();
	}
	free_mapped_page(rb->user_page);
}

struct page *rb_page_at(struct perf_buffer *rb, long index)
{
	void *address = index < 0 ? rb->user_page : rb->data_pages[index];

	/* A macro on some architectures, and not made for expressions. */
	return virt_to_page(address);
}

#else

int rb_pages_pieces(int nr_pages)
{
	return nr_pages ? 1 : 0;
}

unsigned int rb_pages_piece_shift(int nr_pages)
{
	return PAGE_SHIFT + (nr_pages ? ilog2(nr_pages) : 0);
}

int rb_pages_alloc(struct perf_buffer *rb, int nr_pages, int cpu)
{
	void *range;

	/* vmalloc() warns about what can never be had; to the caller it is ENOMEM. */
	if (nr_pages >= totalram_pages())
		return -ENOMEM;
	range = vmalloc_user(((unsigned long)nr_pages + 1) << PAGE_SHIFT);
	if (!range)
		return -ENOMEM;

	rb->user_page = range;
	rb->nr_pages = nr_pages;
	if (nr_pages)
		rb->data_pages[0] = range + PAGE_SIZE;
	return 0;
}

void rb_pages_free(struct perf_buffer *rb)
{
	long index;

	for (index = -1; index < rb->nr_pages; index++) {
		rb_page_at(rb, index)->mapping = NULL;
		cond_resched();
	}
	vfree(rb->user_page);
}

struct page *rb_page_at(struct perf_buffer *rb, long index)
{
	return vmalloc_to_page((void *)rb->user_page + ((index + 1) << PAGE_SHIFT));
}

#endif /* CONFIG_PERF_USE_VMALLOC */
