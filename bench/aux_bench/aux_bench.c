// SPDX-License-Identifier: GPL-2.0
/*
 * aux_bench: a PMU that times what a trace driver does with an AUX area.
 *
 * Starting an event makes attr.config transactions of attr.config1 bytes each, as a
 * driver's interrupt handler does; the event's count is the time that they took, in
 * ns. With attr.config2 it clears so many pages instead. Under -icount a ns is an
 * instruction.
 */
#include <linux/err.h>
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>

static struct page *page;

static u64 time_pairs(struct perf_event *event, u64 pairs, unsigned long bytes)
{
	struct perf_output_handle handle;
	u64 start = local_clock();

	while (pairs--) {
		if (!perf_aux_output_begin(&handle, event))
			return 0;
		perf_aux_output_end(&handle, bytes);
	}
	return local_clock() - start;
}

static u64 time_clearing(u64 pages)
{
	u64 start = local_clock();

	while (pages--)
		clear_highpage(page);
	return local_clock() - start;
}

static void event_start(struct perf_event *event, int flags)
{
	const struct perf_event_attr *attr = &event->attr;
	u64 time = attr->config2 ? time_clearing(attr->config2) :
				   time_pairs(event, attr->config, attr->config1);

	local64_set(&event->count, time);
}

static void event_stop(struct perf_event *event, int flags)
{
}

static int event_add(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_START)
		event_start(event, 0);
	return 0;
}

static void event_read(struct perf_event *event)
{
}

static void *setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	return pages;
}

static void free_aux(void *aux)
{
}

static int event_init(struct perf_event *event)
{
	return event->attr.type == event->pmu->type ? 0 : -ENOENT;
}

static struct pmu aux_bench = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_sw_context,
	.event_init	= event_init,
	.add		= event_add,
	.del		= event_stop,
	.start		= event_start,
	.stop		= event_stop,
	.read		= event_read,
	.setup_aux	= setup_aux,
	.free_aux	= free_aux,
};

static int __init aux_bench_init(void)
{
	int err;

	page = alloc_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	err = perf_pmu_register(&aux_bench, "aux_bench", -1);
	if (err)
		__free_page(page);
	return err;
}

static void __exit aux_bench_exit(void)
{
	perf_pmu_unregister(&aux_bench);
	__free_page(page);
}

module_init(aux_bench_init);
module_exit(aux_bench_exit);

MODULE_DESCRIPTION("times a trace driver's calls");
MODULE_LICENSE("GPL");
