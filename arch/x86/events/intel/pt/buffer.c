// SPDX-License-Identifier: GPL-2.0
/*
 * An AUX area as the hardware sees it: tables of its chunks of memory, or one range.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <asm/io.h>

#include "pt.h"

/* Look up from the list of pages now and then. */
#define CHUNKS_AT_ONCE	1024

static unsigned int chunk_order(const void *address)
{
	struct page *page = virt_to_page(address);

	return PagePrivate(page) ? page_private(page) : 0;
}

/* Each chunk of memory, in the area's order. */
static void each_chunk(struct pt_buffer *buffer, int nr_pages,
		       void (*take)(struct pt_topa *topa, unsigned long long physical,
				    unsigned int order))
{
	unsigned int chunks = 0;
	int at, order;

	for (at = 0; at < nr_pages; at += 1 << order) {
		order = chunk_order(buffer->pages[at]);
		take(&buffer->output.topa, virt_to_phys(buffer->pages[at]), order);
		if (++chunks % CHUNKS_AT_ONCE == 0)
			cond_resched();
	}
}

static int alloc_tables(struct pt_topa *topa, int node)
{
	const unsigned int count = pt_topa_tables(topa);
	unsigned int at;

	topa->tables = kvcalloc_node(count, sizeof(*topa->tables), GFP_KERNEL, node);
	if (!topa->tables)
		return -ENOMEM;
	for (at = 0; at < count; at++) {
		struct page *page = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO, 0);

		if (!page)
			return -ENOMEM;
		topa->tables[at].entries = page_address(page);
		topa->tables[at].physical = page_to_phys(page);
	}
	if (!topa->uneven)
		return 0;
	topa->starts = kvcalloc_node(topa->nr_regions, sizeof(*topa->starts), GFP_KERNEL, node);
	return topa->starts ? 0 : -ENOMEM;
}

static void free_tables(struct pt_topa *topa)
{
	const unsigned int count = topa->tables ? pt_topa_tables(topa) : 0;
	unsigned int at;

	for (at = 0; at < count && topa->tables[at].entries; at++)
		free_page((unsigned long)topa->tables[at].entries);
	kvfree(topa->tables);
	kvfree(topa->starts);
}

static int make_tables(struct pt_buffer *buffer, int nr_pages, int node)
{
	struct pt_topa *topa = &buffer->output.topa;
	int err;

	topa->single_entry = !pt_has(PT_CAPS_TOPA_MULTIPLE_ENTRIES);
	topa->overwrite = buffer->output.overwrite;
	each_chunk(buffer, nr_pages, pt_topa_measure);
	/* Nobody would change tables: there is no interrupt. */
	if (topa->single_entry && topa->overwrite && topa->nr_regions != 1)
		return -EINVAL;
	err = alloc_tables(topa, node);
	if (err)
		return err;
	each_chunk(buffer, nr_pages, pt_topa_fill);
	pt_topa_close(topa);
	return 0;
}

void *pt_buffer_setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	const int node = event->cpu == -1 ? NUMA_NO_NODE : cpu_to_node(event->cpu);
	struct pt_buffer *buffer;

	if (nr_pages <= 0)
		return NULL;
	/* A sample is taken of what no interrupt takes away. */
	if (event->attr.aux_sample_size && !overwrite)
		return NULL;

	buffer = kzalloc_node(sizeof(*buffer), GFP_KERNEL, node);
	if (!buffer)
		return NULL;
	buffer->pages = pages;
	buffer->output.size = (unsigned long)nr_pages << PAGE_SHIFT;
	buffer->output.overwrite = overwrite;
	/* Which CPUs can have a longer range, nobody has listed: none. */
	buffer->output.ranged = pt_caps_ranged(pt_pmu.caps, nr_pages, chunk_order(pages[0]),
					       overwrite, true);
	if (buffer->output.ranged) {
		buffer->output.range = virt_to_phys(pages[0]);
	} else if (make_tables(buffer, nr_pages, node)) {
		pt_buffer_free(buffer);
		return NULL;
	}
	pt_output_init(&buffer->output);
	return buffer;
}

void pt_buffer_free(void *data)
{
	struct pt_buffer *buffer = data;

	free_tables(&buffer->output.topa);
	kfree(buffer);
}
