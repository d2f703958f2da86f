// SPDX-License-Identifier: GPL-2.0
/*
 * The memory behind an AUX area: single pages unless the PMU asks for more.
 *
 * Single pages are taken from the allocator many at a time: an area of a GiB is a
 * quarter of a million of them. A chunk is split into pages, since user space maps
 * and frees them one by one; its first page says to drivers how large it was.
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "aux.h"

#define AUX_GFP		(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_NORETRY)

/* The allocator keeps preemption off while it takes and zeroes that many. */
#define PAGES_AT_ONCE	64

/* A chunk of at most 2^@order pages: how many it is, or 0. */
static int take_chunk(void **addresses, int node, unsigned int order)
{
	struct page *page;
	int i;

	for (;;) {
		page = alloc_pages_node(node, AUX_GFP, order);
		if (page)
			break;
		if (!order)
			return 0;
		order--;
	}

	if (order) {
		split_page(page, order);
		SetPagePrivate(page);
		set_page_private(page, order);
	}
	for (i = 0; i < 1 << order; i++)
		addresses[i] = page_address(page + i);
	return 1 << order;
}

/* Up to @wanted single pages: how many it is. @addresses has no entry yet. */
static int take_pages(void **addresses, int node, int wanted)
{
	struct page **pages = (struct page **)addresses;
	int taken = alloc_pages_bulk_array_node(AUX_GFP, node, wanted, pages);
	int i;

	for (i = 0; i < taken; i++)
		addresses[i] = page_address(pages[i]);
	return taken;
}

static int take_all(struct perf_aux_area *area, int node, unsigned int max_order)
{
	const int wanted = area->nr_pages;

	for (area->nr_pages = 0; area->nr_pages < wanted;) {
		const int left = wanted - area->nr_pages;
		void **next = area->pages + area->nr_pages;
		int taken;

		if (max_order)
			taken = take_chunk(next, node, min_t(unsigned int, max_order, ilog2(left)));
		else
			taken = take_pages(next, node, min(left, PAGES_AT_ONCE));
		if (!taken)
			return -ENOMEM;
		area->nr_pages += taken;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static unsigned int first_chunk_order(const struct perf_aux_area *area)
{
	return page_private(virt_to_page(area->pages[0]));
}

int perf_aux_pages_alloc(struct perf_aux_area *area, const struct perf_aux_layout *layout, int cpu)
{
	/* A task's event has no CPU and no node. */
	const int node = cpu == -1 ? NUMA_NO_NODE : cpu_to_node(cpu);
	const unsigned int max_order = min_t(unsigned int, layout->max_order, MAX_PAGE_ORDER);
	int err;

	area->pages = kvcalloc_node(area->nr_pages, sizeof(*area->pages),
				    GFP_KERNEL | __GFP_NOWARN, node);
	if (!area->pages) {
		area->nr_pages = 0;
		return -ENOMEM;
	}

	err = take_all(area, node, max_order);
	if (!err && layout->one_chunk && first_chunk_order(area) != layout->max_order)
		err = -ENOMEM;
	if (err)
		perf_aux_pages_free(area);
	return err;
}

/* A fault has set ->mapping, which a free page may not have. */
static void give_back(void *address)
{
	struct page *page = virt_to_page(address);

	if (unlikely(PagePrivate(page))) {
		ClearPagePrivate(page);
		set_page_private(page, 0);
	}
	page->mapping = NULL;
	__free_page(page);
}

void perf_aux_pages_free(struct perf_aux_area *area)
{
	int at;

	if (!area->pages)
		return;
	for (at = 0; at < area->nr_pages; at++) {
		give_back(area->pages[at]);
		if (at % PAGES_AT_ONCE == 0)
			cond_resched();
	}
	area->nr_pages = 0;
	kvfree(area->pages);
	area->pages = NULL;
}
