// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the AUX area's C side: its memory as drivers see it, who gives what
 * back and where, a driver's transactions, and what must not happen within them: an
 * NMI, another begin, another snapshot, another pause.
 *
 * The PMU is the test's own. It does what a trace driver does and counts what it is
 * asked for. Its module is not one, but has a count of references.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/apic.h>
#include <asm/nmi.h>
#endif

#include "aux.h"
#include "sample.h"

#define TEST_CPU	0
#define DATA_PAGES	2

static struct module fake_module;
static int held_before;		/* by what an earlier case has left behind */

static struct {
	struct perf_output_handle	handle;
	void				*begun;		/* what the latest start's begin gave */
	bool				traces;		/* start begins, stop ends */
	bool				declines;	/* in setup_aux() */
	bool				overwrite;
	bool				freed_by_task;
	int				setups, frees, starts, stops, pauses, resumes;
	void				(*nested)(struct perf_event *event);
} fake;

static void fake_start(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_RESUME) {
		fake.resumes++;
		return;
	}
	fake.starts++;
	event->hw.state = 0;
	if (fake.traces)
		fake.begun = perf_aux_output_begin(&fake.handle, event);
}

static void fake_stop(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_PAUSE) {
		fake.pauses++;
		if (fake.nested)
			fake.nested(event);
		return;
	}
	fake.stops++;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (fake.traces && fake.handle.event)
		perf_aux_output_end(&fake.handle, 0);
}

static int fake_add(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_START)
		fake_start(event, 0);
	return 0;
}

static void fake_del(struct perf_event *event, int flags)
{
	fake_stop(event, PERF_EF_UPDATE);
}

static void fake_read(struct perf_event *event)
{
}

static void *fake_setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	fake.setups++;
	fake.overwrite = overwrite;
	return fake.declines ? NULL : &fake;
}

static void fake_free(void *priv)
{
	fake.freed_by_task = in_task() && priv == &fake;
	fake.frees++;
}

static long fake_snapshot(struct perf_event *event, struct perf_output_handle *to,
			  unsigned long size)
{
	if (fake.nested)
		fake.nested(event);
	return perf_output_copy_aux(&fake.handle, to, 0, size);
}

static struct pmu fake_pmu;

static int fake_init(struct perf_event *event)
{
	return event->attr.type == fake_pmu.type ? 0 : -ENOENT;
}

static struct pmu fake_pmu = {
	.module		= &fake_module,
	.task_ctx_nr	= perf_sw_context,
	.event_init	= fake_init,
	.add		= fake_add,
	.del		= fake_del,
	.start		= fake_start,
	.stop		= fake_stop,
	.read		= fake_read,
	.setup_aux	= fake_setup,
	.free_aux	= fake_free,
	.snapshot_aux	= fake_snapshot,
};

/* How many hold the fake module, on behalf of this case. */
static int holders(void)
{
#ifdef CONFIG_MODULE_UNLOAD
	return atomic_read(&fake_module.refcnt) - 1 - held_before;
#else
	return 0;
#endif
}

static int set_up_suite(struct kunit_suite *suite)
{
	fake_module.state = MODULE_STATE_LIVE;
	strscpy(fake_module.name, "perf_aux_area_test");
#ifdef CONFIG_MODULE_UNLOAD
	atomic_set(&fake_module.refcnt, 1);
#endif
	return perf_pmu_register(&fake_pmu, "perf_aux_area_test", -1);
}

static void tear_down_suite(struct kunit_suite *suite)
{
	perf_pmu_unregister(&fake_pmu);
}

static int set_up(struct kunit *test)
{
	memset(&fake, 0, sizeof(fake));
	fake_pmu.capabilities = 0;
	held_before += holders();
	return 0;
}

static struct perf_event *make_event(struct kunit *test, u32 type, u64 config)
{
	struct perf_event_attr attr = {
		.type		= type,
		.size		= sizeof(attr),
		.config		= config,
		.disabled	= 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, TEST_CPU, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

static void attach(struct perf_event *event, struct perf_buffer *rb)
{
	refcount_inc(&rb->refcount);
	mutex_lock(&event->mmap_mutex);
	ring_buffer_attach(event, rb);
	mutex_unlock(&event->mmap_mutex);
}

/* An event of the fake PMU with a ring, which has one reference of ours. */
static struct perf_event *make_trace(struct kunit *test, struct perf_buffer **rb)
{
	struct perf_event *event = make_event(test, fake_pmu.type, 0);

	*rb = rb_alloc(DATA_PAGES, 0, TEST_CPU, RING_BUFFER_WRITABLE);
	KUNIT_ASSERT_NOT_NULL(test, *rb);
	attach(event, *rb);
	return event;
}

static void drop_trace(struct kunit *test, struct perf_event *event, struct perf_buffer *rb)
{
	perf_event_release_kernel(event);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&rb->refcount));
	KUNIT_EXPECT_EQ(test, 0, holders());
	ring_buffer_put(rb);
}

static int map(struct perf_event *event, struct perf_buffer *rb, int nr_pages, int flags)
{
	const struct perf_charge charge = { };

	guard(mutex)(&rb->aux_mutex);
	return perf_aux_create(event, rb, 1 + DATA_PAGES, nr_pages, flags, &charge);
}

static void call(void (*function)(void *), void *argument)
{
	smp_call_function_single(TEST_CPU, function, argument, true);
}

/* ---- what the reader sees ---- */

struct record {
	struct perf_event_header	header;
	u64				offset;
	u64				size;
	u64				flags;
	u64				lost;
	u64				since;
};

static void read_ring(struct perf_buffer *rb, u64 at, void *to, size_t len)
{
	u8 *next = to;

	while (len--) {
		const unsigned long place = at++ & (perf_data_size(rb) - 1);
		struct page *page = rb_page_at(rb, place >> PAGE_SHIFT);

		*next++ = *((u8 *)page_address(page) + offset_in_page(place));
	}
}

/* What comes next in the data ring, which then has room again; type 0: nothing. */
static struct record next_record(struct perf_buffer *rb)
{
	struct perf_event_mmap_page *page = rb->user_page;
	struct record record = { };

	if (page->data_tail == page->data_head)
		return record;
	read_ring(rb, page->data_tail, &record.header, sizeof(record.header));
	read_ring(rb, page->data_tail, &record, min(record.header.size, sizeof(record)));
	page->data_tail += record.header.size;
	return record;
}

static void expect_record(struct kunit *test, struct perf_buffer *rb, u64 offset, u64 size,
			  u64 flags)
{
	struct record record = next_record(rb);

	KUNIT_EXPECT_EQ(test, PERF_RECORD_AUX, record.header.type);
	KUNIT_EXPECT_EQ(test, offset, record.offset);
	KUNIT_EXPECT_EQ(test, size, record.size);
	KUNIT_EXPECT_EQ(test, flags, record.flags);
}

static void expect_loss(struct kunit *test, struct perf_buffer *rb, u64 size, u64 lost, u64 since)
{
	struct record record = next_record(rb);

	KUNIT_EXPECT_EQ(test, PERF_RECORD_AUX, record.header.type);
	KUNIT_EXPECT_EQ(test, size, record.size);
	KUNIT_EXPECT_EQ(test, PERF_AUX_FLAG_LOST | PERF_AUX_FLAG_PARTIAL, record.flags);
	KUNIT_EXPECT_EQ(test, lost, record.lost);
	KUNIT_EXPECT_EQ(test, since, record.since);
}

static void expect_no_record(struct kunit *test, struct perf_buffer *rb)
{
	KUNIT_EXPECT_EQ(test, 0, next_record(rb).header.type);
}

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

	fake_pmu.capabilities = layout->capabilities;
	event = make_trace(test, &rb);
	event->attr.aux_watermark = layout->watermark_pages * PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, 0, map(event, rb, layout->nr_pages,
				     layout->writable ? RING_BUFFER_WRITABLE : 0));

	/* Half of one page. */
	if (layout->nr_pages == 1)
		watermark = PAGE_SIZE / 2;
	KUNIT_EXPECT_EQ(test, watermark, rb->aux_ring.watermark);
	KUNIT_EXPECT_EQ(test, !layout->writable, fake.overwrite);
	KUNIT_EXPECT_EQ(test, layout->nr_pages, perf_aux_mapped(rb)->nr_pages);
	check_chunks(test, perf_aux_mapped(rb), layout->order);
	perf_aux_unmap(event, rb);
	drop_trace(test, event, rb);
}

static void test_layouts(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(layouts); i++)
		check_layout(test, &layouts[i]);
	KUNIT_EXPECT_EQ(test, i, fake.setups);
	KUNIT_EXPECT_EQ(test, i, fake.frees);
}

/* What a failed mapping leaves: nothing. */
static void expect_untouched(struct kunit *test, struct perf_event *event, struct perf_buffer *rb)
{
	KUNIT_EXPECT_NULL(test, perf_aux_mapped(rb));
	KUNIT_EXPECT_EQ(test, 2, refcount_read(&rb->refcount));
	KUNIT_EXPECT_EQ(test, 1, holders()); /* the event */
	KUNIT_EXPECT_EQ(test, 0, rb->aux_ring.open);
	KUNIT_EXPECT_EQ(test, 0, rb->aux_ring.size);
	KUNIT_EXPECT_EQ(test, 0, fake.frees);
	KUNIT_EXPECT_NULL(test, perf_aux_output_begin(&fake.handle, event));
}

static void test_one_chunk_or_nothing(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event;

	fake_pmu.capabilities = PERF_PMU_CAP_AUX_NO_SG;
	event = make_trace(test, &rb);
	KUNIT_EXPECT_EQ(test, -ENOMEM, map(event, rb, 2 << MAX_PAGE_ORDER, 0));
	KUNIT_EXPECT_EQ(test, 0, fake.setups);
	expect_untouched(test, event, rb);
	drop_trace(test, event, rb);
}

static void test_driver_declines(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = make_trace(test, &rb);

	fake.declines = true;
	KUNIT_EXPECT_EQ(test, -ENOMEM, map(event, rb, 4, RING_BUFFER_WRITABLE));
	KUNIT_EXPECT_EQ(test, 1, fake.setups);
	expect_untouched(test, event, rb);

	/* And the next one has all it needs. */
	fake.declines = false;
	KUNIT_EXPECT_EQ(test, 0, map(event, rb, 4, RING_BUFFER_WRITABLE));
	KUNIT_EXPECT_EQ(test, 3, refcount_read(&rb->refcount));
	KUNIT_EXPECT_EQ(test, 2, holders());
	perf_aux_unmap(event, rb);
	KUNIT_EXPECT_EQ(test, 1, fake.frees);
	drop_trace(test, event, rb);
}

static void test_not_for_aux(struct kunit *test)
{
	struct perf_event *event = make_event(test, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	struct perf_buffer *rb = rb_alloc(0, 0, TEST_CPU, 0);

	KUNIT_ASSERT_NOT_NULL(test, rb);
	attach(event, rb);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, map(event, rb, 1, 0));
	drop_trace(test, event, rb);
}

/* We hold the pages, to look at them when the area is gone. */
static void test_pages_are_given_back_clean(struct kunit *test)
{
	static struct address_space mapping;
	struct perf_buffer *rb;
	struct perf_event *event;
	struct page *pages[8];
	int i;

	fake_pmu.capabilities = PERF_PMU_CAP_AUX_PREFER_LARGE;
	event = make_trace(test, &rb);
	KUNIT_ASSERT_EQ(test, 0, map(event, rb, ARRAY_SIZE(pages), RING_BUFFER_WRITABLE));
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
	drop_trace(test, event, rb);
}

/* ---- transactions ---- */

/* An event that is off, with an area of @nr_pages. */
static struct perf_event *make_area(struct kunit *test, int nr_pages, int flags,
				    struct perf_buffer **rb)
{
	struct perf_event *event = make_trace(test, rb);

	KUNIT_ASSERT_EQ(test, 0, map(event, *rb, nr_pages, flags));
	return event;
}

static void drop_area(struct kunit *test, struct perf_event *event, struct perf_buffer *rb)
{
	perf_aux_unmap(event, rb);
	KUNIT_EXPECT_EQ(test, 1, fake.frees);
	KUNIT_EXPECT_TRUE(test, fake.freed_by_task);
	drop_trace(test, event, rb);
}

static void test_transaction(struct kunit *test)
{
	struct perf_output_handle *handle = &fake.handle;
	struct perf_buffer *rb;
	struct perf_event *event = make_area(test, 2, RING_BUFFER_WRITABLE, &rb);

	KUNIT_ASSERT_PTR_EQ(test, &fake, perf_aux_output_begin(handle, event));
	KUNIT_EXPECT_PTR_EQ(test, event, handle->event);
	KUNIT_EXPECT_PTR_EQ(test, &fake, perf_get_aux(handle));
	KUNIT_EXPECT_EQ(test, 0, handle->head);
	KUNIT_EXPECT_EQ(test, 2 * PAGE_SIZE - 1, handle->size);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, handle->wakeup);
	perf_aux_output_end(handle, 64);
	KUNIT_EXPECT_NULL(test, handle->event);
	KUNIT_EXPECT_NULL(test, perf_get_aux(handle));
	KUNIT_EXPECT_EQ(test, 64, rb->user_page->aux_head);
	expect_record(test, rb, 0, 64, 0);

	/* What is skipped is not told, nor is a transaction without data. */
	KUNIT_ASSERT_PTR_EQ(test, &fake, perf_aux_output_begin(handle, event));
	KUNIT_EXPECT_EQ(test, 0, perf_aux_output_skip(handle, 100));
	KUNIT_EXPECT_EQ(test, 164, handle->head);
	KUNIT_EXPECT_EQ(test, 164, rb->user_page->aux_head);
	KUNIT_EXPECT_EQ(test, -ENOSPC, perf_aux_output_skip(handle, handle->size + 1));
	perf_aux_output_end(handle, 0);
	expect_no_record(test, rb);

	KUNIT_ASSERT_PTR_EQ(test, &fake, perf_aux_output_begin(handle, event));
	perf_aux_output_flag(handle, PERF_AUX_FLAG_COLLISION);
	perf_aux_output_end(handle, 0);
	expect_record(test, rb, 164, 0, PERF_AUX_FLAG_COLLISION);
	drop_area(test, event, rb);
}

static void test_overwrite(struct kunit *test)
{
	struct perf_output_handle *handle = &fake.handle;
	struct perf_buffer *rb;
	struct perf_event *event = make_area(test, 2, 0, &rb);

	KUNIT_ASSERT_PTR_EQ(test, &fake, perf_aux_output_begin(handle, event));
	KUNIT_EXPECT_EQ(test, 0, handle->size);
	handle->head = 0x123;
	perf_aux_output_end(handle, 3 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, 0x123, rb->user_page->aux_head);
	expect_record(test, rb, 0x123, 3 * PAGE_SIZE, PERF_AUX_FLAG_OVERWRITE);
	drop_area(test, event, rb);
}

static u64 total_lost(struct perf_buffer *rb)
{
	return *(u64 *)((u8 *)rb->user_page + PERF_AUX_LOST_OFFSET);
}

static void test_lost(struct kunit *test)
{
	struct perf_output_handle *handle = &fake.handle;
	struct perf_buffer *rb;
	struct perf_event *event = make_area(test, 2, RING_BUFFER_WRITABLE, &rb);

	KUNIT_ASSERT_PTR_EQ(test, &fake, perf_aux_output_begin(handle, event));
	perf_aux_output_lost(event, 7, 1111);
	perf_aux_output_lost(event, 8, 2222);
	expect_no_record(test, rb);
	perf_aux_output_end(handle, 64);
	expect_loss(test, rb, 64, 15, 1111);

	/* Nothing is open: at once. */
	perf_aux_output_lost(event, 9, 3333);
	expect_loss(test, rb, 0, 9, 3333);
	KUNIT_EXPECT_EQ(test, 0, rb->aux_ring.open);
	KUNIT_EXPECT_EQ(test, 24, total_lost(rb));

	/* Without an area nothing is counted. */
	perf_aux_unmap(event, rb);
	perf_aux_output_lost(event, 10, 4444);
	expect_no_record(test, rb);
	KUNIT_EXPECT_EQ(test, 24, total_lost(rb));
	drop_trace(test, event, rb);
}

/* The ring has one transaction. Another event that shares it goes without, quietly. */
static void test_second_begin(struct kunit *test)
{
	struct perf_output_handle other = { };
	struct perf_buffer *rb;
	struct perf_event *event = make_area(test, 2, RING_BUFFER_WRITABLE, &rb);
	struct perf_event *sharer = make_event(test, fake_pmu.type, 0);

	attach(sharer, rb);
	KUNIT_ASSERT_PTR_EQ(test, &fake, perf_aux_output_begin(&fake.handle, event));
	other.event = sharer;
	KUNIT_EXPECT_NULL(test, perf_aux_output_begin(&other, sharer));
	KUNIT_EXPECT_NULL(test, other.event);
	KUNIT_EXPECT_EQ(test, 2, refcount_read(&perf_aux_mapped(rb)->refcount));
	perf_aux_output_end(&fake.handle, 8);
	expect_record(test, rb, 0, 8, 0);
	KUNIT_EXPECT_PTR_EQ(test, &fake, perf_aux_output_begin(&other, sharer));
	perf_aux_output_end(&other, 8);
	expect_record(test, rb, 8, 8, 0);
	perf_event_release_kernel(sharer);
	drop_area(test, event, rb);
}

static void test_wakeup(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = make_area(test, 4, RING_BUFFER_WRITABLE, &rb);
	const int note = (__force int)(EPOLLIN | EPOLLRDNORM);
	int i;

	for (i = 1; i <= 4; i++) {
		KUNIT_ASSERT_PTR_EQ(test, &fake, perf_aux_output_begin(&fake.handle, event));
		perf_aux_output_end(&fake.handle, PAGE_SIZE);
		irq_work_sync(&event->pending_irq);
		KUNIT_EXPECT_EQ(test, i % 2 ? 0 : note, atomic_xchg(&rb->poll, 0));
		KUNIT_EXPECT_EQ(test, 0, event->pending_wakeup);
		rb->user_page->aux_tail = rb->user_page->aux_head;
	}
	drop_area(test, event, rb);
}

static void test_copy_over_the_end(struct kunit *test)
{
	static u8 expected[250], got[250];
	const unsigned long from = 2 * PAGE_SIZE - 100, len = sizeof(got);
	struct perf_output_handle to;
	struct perf_sample_data data;
	struct perf_buffer *rb;
	struct perf_event *event = make_area(test, 2, RING_BUFFER_WRITABLE, &rb);
	void **pages = perf_aux_mapped(rb)->pages;
	unsigned long i, copied;

	for (i = 0; i < len; i++) {
		const unsigned long at = (from + i) % (2 * PAGE_SIZE);

		expected[i] = i + 1;
		((u8 *)pages[at >> PAGE_SHIFT])[offset_in_page(at)] = i + 1;
	}
	KUNIT_ASSERT_PTR_EQ(test, &fake, perf_aux_output_begin(&fake.handle, event));
	perf_sample_data_init(&data, 0, 0);
	KUNIT_ASSERT_EQ(test, 0, perf_output_begin(&to, &data, event, len));
	copied = perf_output_copy_aux(&fake.handle, &to, from, from + len);
	perf_output_end(&to);
	read_ring(rb, 0, got, len);
	KUNIT_EXPECT_EQ(test, len, copied);
	KUNIT_EXPECT_MEMEQ(test, expected, got, len);
	perf_aux_output_end(&fake.handle, 0);
	drop_area(test, event, rb);
}

/* ---- an event that runs ---- */

struct attempt {
	struct perf_event	*event;
	void			*begun;
	void			*handle_event;
	unsigned int		pending;
};

/* All that there is room for, then a begin. */
static void fill_up(void *argument)
{
	struct attempt *attempt = argument;

	perf_aux_output_end(&fake.handle, fake.handle.size);
	attempt->begun = perf_aux_output_begin(&fake.handle, attempt->event);
	attempt->handle_event = fake.handle.event;
	attempt->pending = attempt->event->pending_disable;
}

static void expect_off(struct kunit *test, struct perf_event *event, struct perf_buffer *rb)
{
	irq_work_sync(&event->pending_disable_irq);
	irq_work_sync(&event->pending_irq);
	KUNIT_EXPECT_EQ(test, PERF_EVENT_STATE_OFF, event->state);
	KUNIT_EXPECT_EQ(test, 0, event->pending_disable);
	KUNIT_EXPECT_EQ(test, 0, rb->aux_ring.open);
	KUNIT_EXPECT_NE(test, 0, atomic_xchg(&rb->poll, 0));
}

static void test_full(struct kunit *test)
{
	const unsigned long most = 2 * PAGE_SIZE - 1;
	struct perf_buffer *rb;
	struct attempt attempt = { .event = make_area(test, 2, RING_BUFFER_WRITABLE, &rb) };
	struct perf_event *event = attempt.event;

	fake.traces = true;
	perf_event_enable(event);
	KUNIT_ASSERT_PTR_EQ(test, &fake, fake.begun);
	call(fill_up, &attempt);
	KUNIT_EXPECT_NULL(test, attempt.begun);
	KUNIT_EXPECT_NULL(test, attempt.handle_event);
	KUNIT_EXPECT_EQ(test, 1, attempt.pending);
	expect_off(test, event, rb);
	KUNIT_EXPECT_EQ(test, 1, fake.stops);
	expect_record(test, rb, 0, most, 0);
	expect_record(test, rb, most, 0, PERF_AUX_FLAG_TRUNCATED);

	/* On again without having read: off again, and that is known. */
	perf_event_enable(event);
	KUNIT_EXPECT_NULL(test, fake.begun);
	expect_off(test, event, rb);
	expect_no_record(test, rb);

	rb->user_page->aux_tail = most;
	perf_event_enable(event);
	KUNIT_EXPECT_PTR_EQ(test, &fake, fake.begun);
	KUNIT_EXPECT_EQ(test, most, fake.handle.head);
	KUNIT_EXPECT_EQ(test, PERF_EVENT_STATE_ACTIVE, event->state);
	drop_area(test, event, rb);
}

/* The note that a quick reader takes is renewed when the event is off. */
static void take_note_early(void *argument)
{
	struct attempt *attempt = argument;

	fill_up(attempt);
	atomic_set(&attempt->event->rb->poll, 0);
}

static void test_quick_reader(struct kunit *test)
{
	struct perf_buffer *rb;
	struct attempt attempt = { .event = make_area(test, 2, RING_BUFFER_WRITABLE, &rb) };

	fake.traces = true;
	perf_event_enable(attempt.event);
	call(take_note_early, &attempt);
	expect_off(test, attempt.event, rb);
	drop_area(test, attempt.event, rb);
}

static void test_unmap_stops(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = make_area(test, 2, RING_BUFFER_WRITABLE, &rb);

	fake.traces = true;
	perf_event_enable(event);
	KUNIT_ASSERT_PTR_EQ(test, event, fake.handle.event);
	perf_aux_unmap(event, rb);
	KUNIT_EXPECT_EQ(test, 1, fake.stops);
	KUNIT_EXPECT_EQ(test, 1, fake.frees);
	KUNIT_EXPECT_NULL(test, fake.handle.event);
	drop_trace(test, event, rb);
}

/* ---- the last reference ---- */

static void end_in_irq(struct irq_work *work)
{
	perf_aux_output_end(&fake.handle, 8);
}

/* @end ends a transaction that has outlived its area's last mapping. */
static void check_late_end(struct kunit *test, void (*end)(void))
{
	struct perf_buffer *rb;
	struct perf_event *event = make_area(test, 2, RING_BUFFER_WRITABLE, &rb);
	int tries;

	KUNIT_ASSERT_PTR_EQ(test, &fake, perf_aux_output_begin(&fake.handle, event));
	perf_aux_unmap(event, rb);
	KUNIT_EXPECT_EQ(test, 0, fake.frees);
	KUNIT_EXPECT_PTR_EQ(test, &fake, perf_get_aux(&fake.handle));
	KUNIT_EXPECT_EQ(test, -EBUSY, map(event, rb, 2, RING_BUFFER_WRITABLE));
	KUNIT_EXPECT_EQ(test, 3, refcount_read(&rb->refcount));

	end();
	expect_record(test, rb, 0, 8, 0);
	for (tries = 0; tries < 1000 && refcount_read(&rb->refcount) > 2; tries++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, 1, fake.frees);
	KUNIT_EXPECT_TRUE(test, fake.freed_by_task);
	KUNIT_EXPECT_EQ(test, 1, holders());
	drop_trace(test, event, rb);
}

static void end_here(void)
{
	perf_aux_output_end(&fake.handle, 8);
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

/* ---- pause and resume ---- */

static void pause_trace(void *event)
{
	perf_event_aux_pause(event, true);
}

static void resume_trace(void *event)
{
	perf_event_aux_pause(event, false);
}

static void resume_from_within(struct perf_event *event)
{
	perf_event_aux_pause(event, false);
}

static void test_pause(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = make_area(test, 2, RING_BUFFER_WRITABLE, &rb);

	/* Off: it is to start paused, and nobody is called. */
	call(pause_trace, event);
	KUNIT_EXPECT_EQ(test, 1, event->hw.aux_paused);
	KUNIT_EXPECT_EQ(test, 0, fake.pauses);
	call(resume_trace, event);
	KUNIT_EXPECT_EQ(test, 0, fake.resumes);

	perf_event_enable(event);
	call(resume_trace, event);
	KUNIT_EXPECT_EQ(test, 0, fake.resumes);
	fake.nested = resume_from_within;
	call(pause_trace, event);
	call(pause_trace, event);
	KUNIT_EXPECT_EQ(test, 1, fake.pauses);
	KUNIT_EXPECT_EQ(test, 0, fake.resumes);
	KUNIT_EXPECT_EQ(test, 1, event->hw.aux_paused);
	call(resume_trace, event);
	call(resume_trace, event);
	KUNIT_EXPECT_EQ(test, 1, fake.resumes);
	KUNIT_EXPECT_EQ(test, 0, event->hw.aux_paused);
	KUNIT_EXPECT_EQ(test, 0, rb->aux_in_pause_resume);
	drop_area(test, event, rb);
}

/* ---- snapshots ---- */

static struct perf_event *sampler;

static void take_sample(void *unused)
{
	struct perf_sample_data data;
	struct pt_regs regs = { };

	perf_sample_data_init(&data, 0, 0);
	perf_event_output(sampler, &data, &regs);
}

static void sample_once_more(struct perf_event *event)
{
	fake.nested = NULL;
	take_sample(NULL);
}

static void test_snapshot_within_snapshot(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = make_area(test, 2, RING_BUFFER_WRITABLE, &rb);
	u64 word;

	memset(perf_aux_mapped(rb)->pages[0], 0x5a, 64);
	fake.traces = true;
	perf_event_enable(event);
	sampler = make_event(test, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	sampler->attr.sample_type = PERF_SAMPLE_AUX;
	sampler->attr.aux_sample_size = 64;
	perf_event__header_size(sampler);
	sampler->aux_event = event;
	attach(sampler, rb);
	fake.nested = sample_once_more;
	call(take_sample, NULL);

	/* Header, size, data; then the one that came in between: header, size. */
	KUNIT_EXPECT_EQ(test, 16 + 64 + 16, rb->user_page->data_head);
	read_ring(rb, 8, &word, sizeof(word));
	KUNIT_EXPECT_EQ(test, 64, word);
	read_ring(rb, 16 + 56, &word, sizeof(word));
	KUNIT_EXPECT_EQ(test, 0x5a5a5a5a5a5a5a5a, word);
	read_ring(rb, 16 + 64 + 8, &word, sizeof(word));
	KUNIT_EXPECT_EQ(test, 0, word);
	KUNIT_EXPECT_EQ(test, 0, rb->aux_in_sampling);
	sampler->aux_event = NULL;
	perf_event_release_kernel(sampler);
	drop_area(test, event, rb);
}

/* ---- an NMI ---- */

#ifdef CONFIG_X86_LOCAL_APIC
static struct {
	struct perf_event		*event;
	struct perf_output_handle	handle;
	bool				armed;
	bool				sent;
	bool				seen;
	void				*begun;
	int				sampled;
} nmi;

static int nmi_handler(unsigned int type, struct pt_regs *regs)
{
	struct perf_sample_data data;

	if (!xchg(&nmi.sent, false))
		return NMI_DONE;
	nmi.begun = perf_aux_output_begin(&nmi.handle, nmi.event);
	perf_aux_output_lost(nmi.event, 5, 77);
	perf_sample_data_init(&data, 0, 0);
	nmi.sampled = perf_event_output(nmi.event, &data, regs);
	WRITE_ONCE(nmi.seen, true);
	return NMI_HANDLED;
}

/* The event's clock, which is read in the middle of perf_aux_output_end(). */
static u64 clock_with_nmi(void)
{
	int tries;

	if (!xchg(&nmi.armed, false))
		return 1234;
	WRITE_ONCE(nmi.sent, true);
	__apic_send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
	for (tries = 0; tries < USEC_PER_SEC && !READ_ONCE(nmi.seen); tries++)
		udelay(1);
	return 1234;
}

static void test_nmi_within_end(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = make_area(test, 2, RING_BUFFER_WRITABLE, &rb);

	memset(&nmi, 0, sizeof(nmi));
	nmi.event = event;
	event->clock = clock_with_nmi;
	event->attr.sample_id_all = 1;
	event->attr.sample_type = PERF_SAMPLE_TIME;
	perf_event__header_size(event);
	perf_event__id_header_size(event);
	KUNIT_ASSERT_EQ(test, 0, register_nmi_handler(NMI_LOCAL, nmi_handler, NMI_FLAG_FIRST,
						      "perf_aux_area_test"));
	KUNIT_ASSERT_PTR_EQ(test, &fake, perf_aux_output_begin(&fake.handle, event));
	nmi.armed = true;
	perf_aux_output_end(&fake.handle, 64);
	unregister_nmi_handler(NMI_LOCAL, "perf_aux_area_test");

	KUNIT_ASSERT_TRUE(test, nmi.seen);
	KUNIT_EXPECT_NULL(test, nmi.begun);
	KUNIT_EXPECT_NULL(test, nmi.handle.event);
	KUNIT_EXPECT_EQ(test, 0, nmi.sampled);
	KUNIT_EXPECT_EQ(test, PERF_RECORD_SAMPLE, next_record(rb).header.type);
	expect_record(test, rb, 0, 64, 0);
	expect_no_record(test, rb);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&perf_aux_mapped(rb)->refcount));

	/* What it lost came too late for that record. */
	KUNIT_EXPECT_EQ(test, 5, total_lost(rb));
	KUNIT_ASSERT_PTR_EQ(test, &fake, perf_aux_output_begin(&fake.handle, event));
	perf_aux_output_end(&fake.handle, 0);
	expect_loss(test, rb, 0, 5, 77);
	drop_area(test, event, rb);
}
#endif

static struct kunit_case aux_area_cases[] = {
	KUNIT_CASE(test_layouts),
	KUNIT_CASE(test_one_chunk_or_nothing),
	KUNIT_CASE(test_driver_declines),
	KUNIT_CASE(test_not_for_aux),
	KUNIT_CASE(test_pages_are_given_back_clean),
	KUNIT_CASE(test_transaction),
	KUNIT_CASE(test_overwrite),
	KUNIT_CASE(test_lost),
	KUNIT_CASE(test_second_begin),
	KUNIT_CASE(test_wakeup),
	KUNIT_CASE(test_copy_over_the_end),
	KUNIT_CASE(test_full),
	KUNIT_CASE(test_quick_reader),
	KUNIT_CASE(test_unmap_stops),
	KUNIT_CASE(test_late_end),
	KUNIT_CASE(test_late_end_in_interrupt),
	KUNIT_CASE(test_pause),
	KUNIT_CASE(test_snapshot_within_snapshot),
#ifdef CONFIG_X86_LOCAL_APIC
	KUNIT_CASE(test_nmi_within_end),
#endif
	{ }
};

static struct kunit_suite aux_area_suite = {
	.name		= "perf_aux_area",
	.suite_init	= set_up_suite,
	.suite_exit	= tear_down_suite,
	.init		= set_up,
	.test_cases	= aux_area_cases,
};

kunit_test_suite(aux_area_suite);

MODULE_DESCRIPTION("KUnit tests of the perf AUX area");
MODULE_LICENSE("GPL");
