// SPDX-License-Identifier: GPL-2.0
/*
 * What the KUnit suites of the AUX area share: see aux_fixture.h.
 */
#include <linux/mm.h>
#include <linux/module.h>

#include "aux_fixture.h"

static struct module fake_module;
static int held_before;		/* by what an earlier case has left behind */

struct aux_fake aux_fake;
struct pmu aux_fake_pmu;

static void fake_start(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_RESUME) {
		aux_fake.resumes++;
		return;
	}
	aux_fake.starts++;
	event->hw.state = 0;
	if (aux_fake.traces)
		aux_fake.begun = perf_aux_output_begin(&aux_fake.handle, event);
}

static void fake_stop(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_PAUSE) {
		aux_fake.pauses++;
		if (aux_fake.nested)
			aux_fake.nested(event);
		return;
	}
	aux_fake.stops++;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (aux_fake.traces && aux_fake.handle.event)
		perf_aux_output_end(&aux_fake.handle, 0);
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
	aux_fake.setups++;
	aux_fake.overwrite = overwrite;
	return aux_fake.declines ? NULL : &aux_fake;
}

static void fake_free(void *priv)
{
	aux_fake.freed_by_task = in_task() && priv == &aux_fake;
	aux_fake.frees++;
}

static long fake_snapshot(struct perf_event *event, struct perf_output_handle *to,
			  unsigned long size)
{
	if (aux_fake.nested)
		aux_fake.nested(event);
	return perf_output_copy_aux(&aux_fake.handle, to, 0, size);
}

static int fake_init(struct perf_event *event)
{
	return event->attr.type == aux_fake_pmu.type ? 0 : -ENOENT;
}

/* A PMU that was registered once cannot be again: its device stays in it. */
static const struct pmu new_pmu = {
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

int aux_holders(void)
{
#ifdef CONFIG_MODULE_UNLOAD
	return atomic_read(&fake_module.refcnt) - 1 - held_before;
#else
	return 0;
#endif
}

int aux_set_up_suite(struct kunit_suite *suite)
{
	fake_module.state = MODULE_STATE_LIVE;
	strscpy(fake_module.name, "perf_aux_fixture");
#ifdef CONFIG_MODULE_UNLOAD
	atomic_set(&fake_module.refcnt, 1);
#endif
	aux_fake_pmu = new_pmu;
	return perf_pmu_register(&aux_fake_pmu, "perf_aux_fixture", -1);
}

void aux_tear_down_suite(struct kunit_suite *suite)
{
	perf_pmu_unregister(&aux_fake_pmu);
}

int aux_set_up(struct kunit *test)
{
	memset(&aux_fake, 0, sizeof(aux_fake));
	aux_fake_pmu.capabilities = 0;
	held_before += aux_holders();
	return 0;
}

struct perf_event *aux_make_event(struct kunit *test, u32 type, u64 config)
{
	struct perf_event_attr attr = {
		.type		= type,
		.size		= sizeof(attr),
		.config		= config,
		.disabled	= 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, AUX_TEST_CPU, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

void aux_attach(struct perf_event *event, struct perf_buffer *rb)
{
	refcount_inc(&rb->refcount);
	mutex_lock(&event->mmap_mutex);
	ring_buffer_attach(event, rb);
	mutex_unlock(&event->mmap_mutex);
}

struct perf_event *aux_make_trace(struct kunit *test, struct perf_buffer **rb)
{
	struct perf_event *event = aux_make_event(test, aux_fake_pmu.type, 0);

	*rb = rb_alloc(AUX_DATA_PAGES, 0, AUX_TEST_CPU, RING_BUFFER_WRITABLE);
	KUNIT_ASSERT_NOT_NULL(test, *rb);
	aux_attach(event, *rb);
	return event;
}

void aux_drop_trace(struct kunit *test, struct perf_event *event, struct perf_buffer *rb)
{
	perf_event_release_kernel(event);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&rb->refcount));
	KUNIT_EXPECT_EQ(test, 0, aux_holders());
	ring_buffer_put(rb);
}

int aux_map(struct perf_event *event, struct perf_buffer *rb, int nr_pages, int flags)
{
	const struct perf_charge charge = { };

	guard(mutex)(&rb->aux_mutex);
	return perf_aux_create(event, rb, 1 + AUX_DATA_PAGES, nr_pages, flags, &charge);
}

struct perf_event *aux_make_area(struct kunit *test, int nr_pages, int flags,
				 struct perf_buffer **rb)
{
	struct perf_event *event = aux_make_trace(test, rb);

	KUNIT_ASSERT_EQ(test, 0, aux_map(event, *rb, nr_pages, flags));
	return event;
}

void aux_drop_area(struct kunit *test, struct perf_event *event, struct perf_buffer *rb)
{
	perf_aux_unmap(event, rb);
	KUNIT_EXPECT_EQ(test, 1, aux_fake.frees);
	KUNIT_EXPECT_TRUE(test, aux_fake.freed_by_task);
	aux_drop_trace(test, event, rb);
}

/* ---- what the reader sees ---- */

void aux_read_ring(struct perf_buffer *rb, u64 at, void *to, size_t len)
{
	u8 *next = to;

	while (len--) {
		const unsigned long place = at++ & (perf_data_size(rb) - 1);
		struct page *page = rb_page_at(rb, place >> PAGE_SHIFT);

		*next++ = *((u8 *)page_address(page) + offset_in_page(place));
	}
}

struct aux_read_record aux_next_record(struct perf_buffer *rb)
{
	struct perf_event_mmap_page *page = rb->user_page;
	struct aux_read_record record = { };

	if (page->data_tail == page->data_head)
		return record;
	aux_read_ring(rb, page->data_tail, &record.header, sizeof(record.header));
	aux_read_ring(rb, page->data_tail, &record, min(record.header.size, sizeof(record)));
	page->data_tail += record.header.size;
	return record;
}

void aux_expect_record(struct kunit *test, struct perf_buffer *rb, u64 offset, u64 size,
		       u64 flags)
{
	struct aux_read_record record = aux_next_record(rb);

	KUNIT_EXPECT_EQ(test, PERF_RECORD_AUX, record.header.type);
	KUNIT_EXPECT_EQ(test, offset, record.offset);
	KUNIT_EXPECT_EQ(test, size, record.size);
	KUNIT_EXPECT_EQ(test, flags, record.flags);
}

void aux_expect_loss(struct kunit *test, struct perf_buffer *rb, u64 size, u64 lost, u64 since)
{
	struct aux_read_record record = aux_next_record(rb);

	KUNIT_EXPECT_EQ(test, PERF_RECORD_AUX, record.header.type);
	KUNIT_EXPECT_EQ(test, size, record.size);
	KUNIT_EXPECT_EQ(test, PERF_AUX_FLAG_LOST | PERF_AUX_FLAG_PARTIAL, record.flags);
	KUNIT_EXPECT_EQ(test, lost, record.lost);
	KUNIT_EXPECT_EQ(test, since, record.since);
}

void aux_expect_no_record(struct kunit *test, struct perf_buffer *rb)
{
	KUNIT_EXPECT_EQ(test, 0, aux_next_record(rb).header.type);
}
