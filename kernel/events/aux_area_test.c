// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the AUX area's life: its memory as drivers see it, what a mapping
 * that fails leaves behind, and who gives what back, when and where.
 */
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "aux_fixture.h"

/* ---- memory ---- */

struct layout {
	unsigned int	capabilities;
	bool		writable;
	int		nr_pages;
	int		watermark_pages;	/* 0: not asked for */
	int		order;			/* of each chunk */
	int		watermark;		/* in pages, as it is */
};

static const struct layout layouts[] = {
	{ 0,				true,	16,	0,	0,	8 },
	{ 0,				false,	16,	0,	0,	0 },
	{ 0,				true,	1,	0,	0,	0 },
	{ PERF_PMU_CAP_AUX_NO_SG,	true,	16,	0,	3,	8 },
	{ PERF_PMU_CAP_AUX_NO_SG,	true,	16,	4,	2,	4 },
	{ PERF_PMU_CAP_AUX_NO_SG,	true,	16,	16,	3,	16 },
	{ PERF_PMU_CAP_AUX_NO_SG,	true,	2,	0,	0,	1 },
	{ PERF_PMU_CAP_AUX_NO_SG,	false,	16,	4,	4,	0 },
	{ PERF_PMU_CAP_AUX_PREFER_LARGE, true,	16,	0,	3,	8 },
	{ PERF_PMU_CAP_AUX_PREFER_LARGE, true,	16,	1,	0,	1 },
	{ PERF_PMU_CAP_AUX_PREFER_LARGE, false,	16,	0,	4,	0 },
};

/* As a driver walks them: the first page of a chunk says how many follow. */
static void check_chunks(struct kunit *test, struct perf_aux_area *area, int order)
{
	int at, i;

	for (at = 0; at < area->nr_pages; at += 1 << order) {
		struct page *first = virt_to_page(area->pages[at]);

		KUNIT_EXPECT_EQ(test, !!order, PagePrivate(first));
		KUNIT_EXPECT_EQ(test, order, page_private(first));
		for (i = 0; i < 1 << order; i++) {
			KUNIT_EXPECT_PTR_EQ(test, page_address(first + i), area->pages[at + i]);
			KUNIT_EXPECT_EQ(test, 1, page_count(first + i));
		}
	}
}

static void check_layout(struct kunit *test, const struct layout *layout)
{
	unsigned long watermark = layout->watermark * PAGE_SIZE;
	struct perf_buffer *rb;
	struct perf_event *event;

	aux_fake_pmu.capabilities = layout->capabilities;
	event = aux_make_trace(test, &rb);
	event->attr.aux_watermark = layout->watermark_pages * PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, 0, aux_map(event, rb, layout->nr_pages,
					 layout->writable ? RING_BUFFER_WRITABLE : 0));

	/* Half of one page. */
	if (layout->nr_pages == 1)
		watermark = PAGE_SIZE / 2;
	KUNIT_EXPECT_EQ(test, watermark, rb->aux_ring.watermark);
	KUNIT_EXPECT_EQ(test, !layout->writable, aux_fake.overwrite);
	KUNIT_EXPECT_EQ(test, layout->nr_pages, perf_aux_mapped(rb)->nr_pages);
	check_chunks(test, perf_aux_mapped(rb), layout->order);
	perf_aux_unmap(event, rb);
	aux_drop_trace(test, event, rb);
}

static void test_layouts(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(layouts); i++)
		check_layout(test, &layouts[i]);
	KUNIT_EXPECT_EQ(test, i, aux_fake.setups);
	KUNIT_EXPECT_EQ(test, i, aux_fake.frees);
}

/* What a failed mapping leaves: nothing. */
static void expect_untouched(struct kunit *test, struct perf_event *event, struct perf_buffer *rb)
{
	KUNIT_EXPECT_NULL(test, perf_aux_mapped(rb));
	KUNIT_EXPECT_EQ(test, 2, refcount_read(&rb->refcount));
	KUNIT_EXPECT_EQ(test, 1, aux_holders()); /* the event */
	KUNIT_EXPECT_EQ(test, 0, rb->aux_ring.open);
	KUNIT_EXPECT_EQ(test, 0, rb->aux_ring.size);
	KUNIT_EXPECT_EQ(test, 0, aux_fake.frees);
	KUNIT_EXPECT_NULL(test, perf_aux_output_begin(&aux_fake.handle, event));
}

static void test_one_chunk_or_nothing(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event;

	aux_fake_pmu.capabilities = PERF_PMU_CAP_AUX_NO_SG;
	event = aux_make_trace(test, &rb);
	KUNIT_EXPECT_EQ(test, -ENOMEM, aux_map(event, rb, 2 << MAX_PAGE_ORDER, 0));
	KUNIT_EXPECT_EQ(test, 0, aux_fake.setups);
	expect_untouched(test, event, rb);
	aux_drop_trace(test, event, rb);
}

static void test_driver_declines(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = aux_make_trace(test, &rb);

	aux_fake.declines = true;
	KUNIT_EXPECT_EQ(test, -ENOMEM, aux_map(event, rb, 4, RING_BUFFER_WRITABLE));
	KUNIT_EXPECT_EQ(test, 1, aux_fake.setups);
	expect_untouched(test, event, rb);

	/* And the next one has all it needs. */
	aux_fake.declines = false;
	KUNIT_EXPECT_EQ(test, 0, aux_map(event, rb, 4, RING_BUFFER_WRITABLE));
	KUNIT_EXPECT_EQ(test, 3, refcount_read(&rb->refcount));
	KUNIT_EXPECT_EQ(test, 2, aux_holders());
	perf_aux_unmap(event, rb);
	KUNIT_EXPECT_EQ(test, 1, aux_fake.frees);
	aux_drop_trace(test, event, rb);
}

static void test_not_for_aux(struct kunit *test)
{
	struct perf_event *event = aux_make_event(test, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	struct perf_buffer *rb = rb_alloc(0, 0, AUX_TEST_CPU, 0);

	KUNIT_ASSERT_NOT_NULL(test, rb);
	aux_attach(event, rb);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, aux_map(event, rb, 1, 0));
	aux_drop_trace(test, event, rb);
}

/* We hold the pages, to look at them when the area is gone. */
static void test_pages_are_given_back_clean(struct kunit *test)
{
	static struct address_space mapping;
	struct perf_buffer *rb;
	struct perf_event *event;
	struct page *pages[8];
	int i;

	aux_fake_pmu.capabilities = PERF_PMU_CAP_AUX_PREFER_LARGE;
	event = aux_make_trace(test, &rb);
	KUNIT_ASSERT_EQ(test, 0, aux_map(event, rb, ARRAY_SIZE(pages), RING_BUFFER_WRITABLE));
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		pages[i] = virt_to_page(perf_aux_mapped(rb)->pages[i]);
		get_page(pages[i]);
		pages[i]->mapping = &mapping;
	}
	perf_aux_unmap(event, rb);
	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		KUNIT_EXPECT_NULL(test, pages[i]->mapping);
		KUNIT_EXPECT_FALSE(test, PagePrivate(pages[i]));
		KUNIT_EXPECT_EQ(test, 0, page_private(pages[i]));
		KUNIT_EXPECT_EQ(test, 1, page_count(pages[i]));
		put_page(pages[i]);
	}
	aux_drop_trace(test, event, rb);
}

/* ---- the last mapping ---- */

static void test_unmap_stops(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = aux_make_area(test, 2, RING_BUFFER_WRITABLE, &rb);

	aux_fake.traces = true;
	perf_event_enable(event);
	KUNIT_ASSERT_PTR_EQ(test, event, aux_fake.handle.event);
	perf_aux_unmap(event, rb);
	KUNIT_EXPECT_EQ(test, 1, aux_fake.stops);
	KUNIT_EXPECT_EQ(test, 1, aux_fake.frees);
	KUNIT_EXPECT_NULL(test, aux_fake.handle.event);
	aux_drop_trace(test, event, rb);
}

/* ---- the last reference ---- */

static void end_in_irq(struct irq_work *work)
{
	perf_aux_output_end(&aux_fake.handle, 8);
}

/* @end ends a transaction that has outlived its area's last mapping. */
static void check_late_end(struct kunit *test, void (*end)(void))
{
	struct perf_buffer *rb;
	struct perf_event *event = aux_make_area(test, 2, RING_BUFFER_WRITABLE, &rb);
	int tries;

	KUNIT_ASSERT_PTR_EQ(test, &aux_fake, perf_aux_output_begin(&aux_fake.handle, event));
	perf_aux_unmap(event, rb);
	KUNIT_EXPECT_EQ(test, 0, aux_fake.frees);
	KUNIT_EXPECT_PTR_EQ(test, &aux_fake, perf_get_aux(&aux_fake.handle));
	KUNIT_EXPECT_EQ(test, -EBUSY, aux_map(event, rb, 2, RING_BUFFER_WRITABLE));
	KUNIT_EXPECT_EQ(test, 3, refcount_read(&rb->refcount));

	end();
	aux_expect_record(test, rb, 0, 8, 0);
	for (tries = 0; tries < 1000 && refcount_read(&rb->refcount) > 2; tries++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, 1, aux_fake.frees);
	KUNIT_EXPECT_TRUE(test, aux_fake.freed_by_task);
	KUNIT_EXPECT_EQ(test, 1, aux_holders());
	aux_drop_trace(test, event, rb);
}

static void end_here(void)
{
	perf_aux_output_end(&aux_fake.handle, 8);
}

static void end_by_interrupt(void)
{
	static struct irq_work work;

	work = IRQ_WORK_INIT_HARD(end_in_irq);
	irq_work_queue(&work);
	irq_work_sync(&work);
}

static void test_late_end(struct kunit *test)
{
	check_late_end(test, end_here);
}

static void test_late_end_in_interrupt(struct kunit *test)
{
	check_late_end(test, end_by_interrupt);
}

static struct kunit_case aux_area_cases[] = {
	KUNIT_CASE(test_layouts),
	KUNIT_CASE(test_one_chunk_or_nothing),
	KUNIT_CASE(test_driver_declines),
	KUNIT_CASE(test_not_for_aux),
	KUNIT_CASE(test_pages_are_given_back_clean),
	KUNIT_CASE(test_unmap_stops),
	KUNIT_CASE(test_late_end),
	KUNIT_CASE(test_late_end_in_interrupt),
	{ }
};

static struct kunit_suite aux_area_suite = {
	.name		= "perf_aux_area",
	.suite_init	= aux_set_up_suite,
	.suite_exit	= aux_tear_down_suite,
	.init		= aux_set_up,
	.test_cases	= aux_area_cases,
};

kunit_test_suite(aux_area_suite);

MODULE_DESCRIPTION("KUnit tests of the perf AUX area");
MODULE_LICENSE("GPL");
