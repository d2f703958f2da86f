// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what trace drivers write into an AUX area and what readers are told
 * of it: transactions, loss, a full area, wake-ups, copies; and what must not happen
 * within them: an NMI, another begin, another snapshot, another pause.
 */
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/smp.h>

#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/apic.h>
#include <asm/nmi.h>
#endif

#include "aux_fixture.h"
#include "sample.h"

static void call(void (*function)(void *), void *argument)
{
	smp_call_function_single(AUX_TEST_CPU, function, argument, true);
}

/* ---- transactions ---- */

static void test_transaction(struct kunit *test)
{
	struct perf_output_handle *handle = &aux_fake.handle;
	struct perf_buffer *rb;
	struct perf_event *event = aux_make_area(test, 2, RING_BUFFER_WRITABLE, &rb);

	KUNIT_ASSERT_PTR_EQ(test, &aux_fake, perf_aux_output_begin(handle, event));
	KUNIT_EXPECT_PTR_EQ(test, event, handle->event);
	KUNIT_EXPECT_PTR_EQ(test, &aux_fake, perf_get_aux(handle));
	KUNIT_EXPECT_EQ(test, 0, handle->head);
	KUNIT_EXPECT_EQ(test, 2 * PAGE_SIZE - 1, handle->size);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, handle->wakeup);
	perf_aux_output_end(handle, 64);
	KUNIT_EXPECT_NULL(test, handle->event);
	KUNIT_EXPECT_NULL(test, perf_get_aux(handle));
	KUNIT_EXPECT_EQ(test, 64, rb->user_page->aux_head);
	aux_expect_record(test, rb, 0, 64, 0);

	/* What is skipped is not told, nor is a transaction without data. */
	KUNIT_ASSERT_PTR_EQ(test, &aux_fake, perf_aux_output_begin(handle, event));
	KUNIT_EXPECT_EQ(test, 0, perf_aux_output_skip(handle, 100));
	KUNIT_EXPECT_EQ(test, 164, handle->head);
	KUNIT_EXPECT_EQ(test, 164, rb->user_page->aux_head);
	KUNIT_EXPECT_EQ(test, -ENOSPC, perf_aux_output_skip(handle, handle->size + 1));
	perf_aux_output_end(handle, 0);
	aux_expect_no_record(test, rb);

	KUNIT_ASSERT_PTR_EQ(test, &aux_fake, perf_aux_output_begin(handle, event));
	perf_aux_output_flag(handle, PERF_AUX_FLAG_COLLISION);
	perf_aux_output_end(handle, 0);
	aux_expect_record(test, rb, 164, 0, PERF_AUX_FLAG_COLLISION);
	aux_drop_area(test, event, rb);
}

static void test_overwrite(struct kunit *test)
{
	struct perf_output_handle *handle = &aux_fake.handle;
	struct perf_buffer *rb;
	struct perf_event *event = aux_make_area(test, 2, 0, &rb);

	KUNIT_ASSERT_PTR_EQ(test, &aux_fake, perf_aux_output_begin(handle, event));
	KUNIT_EXPECT_EQ(test, 0, handle->size);
	handle->head = 0x123;
	perf_aux_output_end(handle, 3 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, 0x123, rb->user_page->aux_head);
	aux_expect_record(test, rb, 0x123, 3 * PAGE_SIZE, PERF_AUX_FLAG_OVERWRITE);
	aux_drop_area(test, event, rb);
}

static u64 total_lost(struct perf_buffer *rb)
{
	return *(u64 *)((u8 *)rb->user_page + PERF_AUX_LOST_OFFSET);
}

static void test_lost(struct kunit *test)
{
	struct perf_output_handle *handle = &aux_fake.handle;
	struct perf_buffer *rb;
	struct perf_event *event = aux_make_area(test, 2, RING_BUFFER_WRITABLE, &rb);

	KUNIT_ASSERT_PTR_EQ(test, &aux_fake, perf_aux_output_begin(handle, event));
	perf_aux_output_lost(event, 7, 1111);
	perf_aux_output_lost(event, 8, 2222);
	aux_expect_no_record(test, rb);
	perf_aux_output_end(handle, 64);
	aux_expect_loss(test, rb, 64, 15, 1111);

	/* Nothing is open: at once. */
	perf_aux_output_lost(event, 9, 3333);
	aux_expect_loss(test, rb, 0, 9, 3333);
	KUNIT_EXPECT_EQ(test, 0, rb->aux_ring.open);
	KUNIT_EXPECT_EQ(test, 24, total_lost(rb));

	/* Without an area nothing is counted. */
	perf_aux_unmap(event, rb);
	perf_aux_output_lost(event, 10, 4444);
	aux_expect_no_record(test, rb);
	KUNIT_EXPECT_EQ(test, 24, total_lost(rb));
	aux_drop_trace(test, event, rb);
}

/* The ring has one transaction. Another event that shares it goes without, quietly. */
static void test_second_begin(struct kunit *test)
{
	struct perf_output_handle other = { };
	struct perf_buffer *rb;
	struct perf_event *event = aux_make_area(test, 2, RING_BUFFER_WRITABLE, &rb);
	struct perf_event *sharer = aux_make_event(test, aux_fake_pmu.type, 0);

	aux_attach(sharer, rb);
	KUNIT_ASSERT_PTR_EQ(test, &aux_fake, perf_aux_output_begin(&aux_fake.handle, event));
	other.event = sharer;
	KUNIT_EXPECT_NULL(test, perf_aux_output_begin(&other, sharer));
	KUNIT_EXPECT_NULL(test, other.event);
	KUNIT_EXPECT_EQ(test, 2, refcount_read(&perf_aux_mapped(rb)->refcount));
	perf_aux_output_end(&aux_fake.handle, 8);
	aux_expect_record(test, rb, 0, 8, 0);
	KUNIT_EXPECT_PTR_EQ(test, &aux_fake, perf_aux_output_begin(&other, sharer));
	perf_aux_output_end(&other, 8);
	aux_expect_record(test, rb, 8, 8, 0);
	perf_event_release_kernel(sharer);
	aux_drop_area(test, event, rb);
}

static void test_wakeup(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = aux_make_area(test, 4, RING_BUFFER_WRITABLE, &rb);
	const int note = (__force int)(EPOLLIN | EPOLLRDNORM);
	int i;

	for (i = 1; i <= 4; i++) {
		KUNIT_ASSERT_PTR_EQ(test, &aux_fake,
				    perf_aux_output_begin(&aux_fake.handle, event));
		perf_aux_output_end(&aux_fake.handle, PAGE_SIZE);
		irq_work_sync(&event->pending_irq);
		KUNIT_EXPECT_EQ(test, i % 2 ? 0 : note, atomic_xchg(&rb->poll, 0));
		KUNIT_EXPECT_EQ(test, 0, event->pending_wakeup);
		rb->user_page->aux_tail = rb->user_page->aux_head;
	}
	aux_drop_area(test, event, rb);
}

static void test_copy_over_the_end(struct kunit *test)
{
	static u8 expected[250], got[250];
	const unsigned long from = 2 * PAGE_SIZE - 100, len = sizeof(got);
	struct perf_output_handle to;
	struct perf_sample_data data;
	struct perf_buffer *rb;
	struct perf_event *event = aux_make_area(test, 2, RING_BUFFER_WRITABLE, &rb);
	void **pages = perf_aux_mapped(rb)->pages;
	unsigned long i, copied;

	for (i = 0; i < len; i++) {
		const unsigned long at = (from + i) % (2 * PAGE_SIZE);

		expected[i] = i + 1;
		((u8 *)pages[at >> PAGE_SHIFT])[offset_in_page(at)] = i + 1;
	}
	KUNIT_ASSERT_PTR_EQ(test, &aux_fake, perf_aux_output_begin(&aux_fake.handle, event));
	perf_sample_data_init(&data, 0, 0);
	KUNIT_ASSERT_EQ(test, 0, perf_output_begin(&to, &data, event, len));
	copied = perf_output_copy_aux(&aux_fake.handle, &to, from, from + len);
	perf_output_end(&to);
	aux_read_ring(rb, 0, got, len);
	KUNIT_EXPECT_EQ(test, len, copied);
	KUNIT_EXPECT_MEMEQ(test, expected, got, len);
	perf_aux_output_end(&aux_fake.handle, 0);
	aux_drop_area(test, event, rb);
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

	perf_aux_output_end(&aux_fake.handle, aux_fake.handle.size);
	attempt->begun = perf_aux_output_begin(&aux_fake.handle, attempt->event);
	attempt->handle_event = aux_fake.handle.event;
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
	struct attempt attempt = { .event = aux_make_area(test, 2, RING_BUFFER_WRITABLE, &rb) };
	struct perf_event *event = attempt.event;

	aux_fake.traces = true;
	perf_event_enable(event);
	KUNIT_ASSERT_PTR_EQ(test, &aux_fake, aux_fake.begun);
	call(fill_up, &attempt);
	KUNIT_EXPECT_NULL(test, attempt.begun);
	KUNIT_EXPECT_NULL(test, attempt.handle_event);
	KUNIT_EXPECT_EQ(test, 1, attempt.pending);
	expect_off(test, event, rb);
	KUNIT_EXPECT_EQ(test, 1, aux_fake.stops);
	aux_expect_record(test, rb, 0, most, 0);
	aux_expect_record(test, rb, most, 0, PERF_AUX_FLAG_TRUNCATED);

	/* On again without having read: off again, and that is known. */
	perf_event_enable(event);
	KUNIT_EXPECT_NULL(test, aux_fake.begun);
	expect_off(test, event, rb);
	aux_expect_no_record(test, rb);

	rb->user_page->aux_tail = most;
	perf_event_enable(event);
	KUNIT_EXPECT_PTR_EQ(test, &aux_fake, aux_fake.begun);
	KUNIT_EXPECT_EQ(test, most, aux_fake.handle.head);
	KUNIT_EXPECT_EQ(test, PERF_EVENT_STATE_ACTIVE, event->state);
	aux_drop_area(test, event, rb);
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
	struct attempt attempt = { .event = aux_make_area(test, 2, RING_BUFFER_WRITABLE, &rb) };

	aux_fake.traces = true;
	perf_event_enable(attempt.event);
	call(take_note_early, &attempt);
	expect_off(test, attempt.event, rb);
	aux_drop_area(test, attempt.event, rb);
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
	struct perf_event *event = aux_make_area(test, 2, RING_BUFFER_WRITABLE, &rb);

	/* Off: it is to start paused, and nobody is called. */
	call(pause_trace, event);
	KUNIT_EXPECT_EQ(test, 1, event->hw.aux_paused);
	KUNIT_EXPECT_EQ(test, 0, aux_fake.pauses);
	call(resume_trace, event);
	KUNIT_EXPECT_EQ(test, 0, aux_fake.resumes);

	perf_event_enable(event);
	call(resume_trace, event);
	KUNIT_EXPECT_EQ(test, 0, aux_fake.resumes);
	aux_fake.nested = resume_from_within;
	call(pause_trace, event);
	call(pause_trace, event);
	KUNIT_EXPECT_EQ(test, 1, aux_fake.pauses);
	KUNIT_EXPECT_EQ(test, 0, aux_fake.resumes);
	KUNIT_EXPECT_EQ(test, 1, event->hw.aux_paused);
	call(resume_trace, event);
	call(resume_trace, event);
	KUNIT_EXPECT_EQ(test, 1, aux_fake.resumes);
	KUNIT_EXPECT_EQ(test, 0, event->hw.aux_paused);
	KUNIT_EXPECT_EQ(test, 0, rb->aux_in_pause_resume);
	aux_drop_area(test, event, rb);
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
	aux_fake.nested = NULL;
	take_sample(NULL);
}

static void test_snapshot_within_snapshot(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = aux_make_area(test, 2, RING_BUFFER_WRITABLE, &rb);
	u64 word;

	memset(perf_aux_mapped(rb)->pages[0], 0x5a, 64);
	aux_fake.traces = true;
	perf_event_enable(event);
	sampler = aux_make_event(test, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	sampler->attr.sample_type = PERF_SAMPLE_AUX;
	sampler->attr.aux_sample_size = 64;
	perf_event__header_size(sampler);
	sampler->aux_event = event;
	aux_attach(sampler, rb);
	aux_fake.nested = sample_once_more;
	call(take_sample, NULL);

	/* Header, size, data; then the one that came in between: header, size. */
	KUNIT_EXPECT_EQ(test, 16 + 64 + 16, rb->user_page->data_head);
	aux_read_ring(rb, 8, &word, sizeof(word));
	KUNIT_EXPECT_EQ(test, 64, word);
	aux_read_ring(rb, 16 + 56, &word, sizeof(word));
	KUNIT_EXPECT_EQ(test, 0x5a5a5a5a5a5a5a5a, word);
	aux_read_ring(rb, 16 + 64 + 8, &word, sizeof(word));
	KUNIT_EXPECT_EQ(test, 0, word);
	KUNIT_EXPECT_EQ(test, 0, rb->aux_in_sampling);
	sampler->aux_event = NULL;
	perf_event_release_kernel(sampler);
	aux_drop_area(test, event, rb);
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
	struct perf_event *event = aux_make_area(test, 2, RING_BUFFER_WRITABLE, &rb);

	memset(&nmi, 0, sizeof(nmi));
	nmi.event = event;
	event->clock = clock_with_nmi;
	event->attr.sample_id_all = 1;
	event->attr.sample_type = PERF_SAMPLE_TIME;
	perf_event__header_size(event);
	perf_event__id_header_size(event);
	KUNIT_ASSERT_EQ(test, 0, register_nmi_handler(NMI_LOCAL, nmi_handler, NMI_FLAG_FIRST,
						      "perf_aux_output_test"));
	KUNIT_ASSERT_PTR_EQ(test, &aux_fake, perf_aux_output_begin(&aux_fake.handle, event));
	nmi.armed = true;
	perf_aux_output_end(&aux_fake.handle, 64);
	unregister_nmi_handler(NMI_LOCAL, "perf_aux_output_test");

	KUNIT_ASSERT_TRUE(test, nmi.seen);
	KUNIT_EXPECT_NULL(test, nmi.begun);
	KUNIT_EXPECT_NULL(test, nmi.handle.event);
	KUNIT_EXPECT_EQ(test, 0, nmi.sampled);
	KUNIT_EXPECT_EQ(test, PERF_RECORD_SAMPLE, aux_next_record(rb).header.type);
	aux_expect_record(test, rb, 0, 64, 0);
	aux_expect_no_record(test, rb);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&perf_aux_mapped(rb)->refcount));

	/* What it lost came too late for that record. */
	KUNIT_EXPECT_EQ(test, 5, total_lost(rb));
	KUNIT_ASSERT_PTR_EQ(test, &aux_fake, perf_aux_output_begin(&aux_fake.handle, event));
	perf_aux_output_end(&aux_fake.handle, 0);
	aux_expect_loss(test, rb, 0, 5, 77);
	aux_drop_area(test, event, rb);
}
#endif

static struct kunit_case aux_output_cases[] = {
	KUNIT_CASE(test_transaction),
	KUNIT_CASE(test_overwrite),
	KUNIT_CASE(test_lost),
	KUNIT_CASE(test_second_begin),
	KUNIT_CASE(test_wakeup),
	KUNIT_CASE(test_copy_over_the_end),
	KUNIT_CASE(test_full),
	KUNIT_CASE(test_quick_reader),
	KUNIT_CASE(test_pause),
	KUNIT_CASE(test_snapshot_within_snapshot),
#ifdef CONFIG_X86_LOCAL_APIC
	KUNIT_CASE(test_nmi_within_end),
#endif
	{ }
};

static struct kunit_suite aux_output_suite = {
	.name		= "perf_aux_output",
	.suite_init	= aux_set_up_suite,
	.suite_exit	= aux_tear_down_suite,
	.init		= aux_set_up,
	.test_cases	= aux_output_cases,
};

kunit_test_suite(aux_output_suite);

MODULE_DESCRIPTION("KUnit tests of output to the perf AUX area");
MODULE_LICENSE("GPL");
