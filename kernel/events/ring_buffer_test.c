// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the ring buffer's C side: memory, page look-up, records through
 * perf_output_begin() and perf_output_end(), attaching, redirecting, charging.
 * What the core decides below them is tested in user space, at every position.
 *
 * Between begin and end preemption is off and nothing may sleep, so results are
 * kept and looked at afterwards.
 */
#include <kunit/test.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sched/mm.h>
#include <linux/sched/user.h>

#include "internal.h"

#define TEST_CPU 0

/* A record as these tests write it. */
struct test_record {
	struct perf_event_header	header;
	u64				serial;
};

struct lost_layout {
	struct perf_event_header	header;
	u64				id;
	u64				lost;
};

static struct perf_event *make_event(struct kunit *test, bool backward)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_SW_DUMMY,
		.disabled	= 1,
		.write_backward	= backward,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, TEST_CPU, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

static void attach(struct perf_event *event, struct perf_buffer *rb)
{
	mutex_lock(&event->mmap_mutex);
	ring_buffer_attach(event, rb);
	mutex_unlock(&event->mmap_mutex);
}

/* An event with a ring of its own, and one reference more to the ring for us. */
static struct perf_event *make_ring(struct kunit *test, int nr_pages, bool backward, int flags,
				    struct perf_buffer **rb)
{
	struct perf_event *event = make_event(test, backward);

	*rb = rb_alloc(nr_pages, 0, TEST_CPU, flags);
	KUNIT_ASSERT_NOT_NULL(test, *rb);
	refcount_inc(&(*rb)->refcount);
	attach(event, *rb);
	return event;
}

static void drop_ring(struct perf_event *event, struct perf_buffer *rb)
{
	perf_event_release_kernel(event);
	ring_buffer_put(rb);
}

static int begin(struct perf_output_handle *handle, struct perf_event *event, unsigned int size)
{
	struct perf_sample_data data;

	perf_sample_data_init(&data, 0, 0);
	return perf_output_begin(handle, &data, event, size);
}

static void put_record(struct perf_output_handle *handle, u64 serial)
{
	struct test_record record = {
		.header = { .type = PERF_RECORD_MAX, .size = sizeof(record) },
		.serial	= serial,
	};

	perf_output_put(handle, record);
}

static int write_record(struct perf_event *event, u64 serial)
{
	struct perf_output_handle handle;
	int err = begin(&handle, event, sizeof(struct test_record));

	if (!err) {
		put_record(&handle, serial);
		perf_output_end(&handle);
	}
	return err;
}

/* The page that user space gets, as a fault finds it. */
static struct page *page_at(struct perf_buffer *rb, unsigned long pgoff)
{
	guard(rcu)();
	return perf_mmap_to_page(rb, pgoff);
}

/* Bytes at a position of the data area, through the pages that user space gets. */
static void read_ring(struct perf_buffer *rb, unsigned long at, void *to, size_t len)
{
	u8 *next = to;

	while (len--) {
		const unsigned long place = at++ & (rb->data.size - 1);
		struct page *page = page_at(rb, 1 + (place >> PAGE_SHIFT));

		*next++ = *((u8 *)page_address(page) + offset_in_page(place));
	}
}

static void test_sizes(struct kunit *test)
{
	int nr_pages;

	for (nr_pages = 0; nr_pages <= 64; nr_pages = nr_pages ? nr_pages * 2 : 1) {
		struct perf_buffer *rb = rb_alloc(nr_pages, 0, -1, RING_BUFFER_WRITABLE);
		long index;

		KUNIT_ASSERT_NOT_NULL(test, rb);
		KUNIT_EXPECT_EQ(test, nr_pages, rb->nr_pages);
		KUNIT_EXPECT_EQ(test, (unsigned long)nr_pages << PAGE_SHIFT, perf_data_size(rb));
		KUNIT_EXPECT_EQ(test, nr_pages == 0, !!rb->data.paused);
		for (index = -1; index < nr_pages; index++) {
			struct page *page = page_at(rb, index + 1);

			KUNIT_EXPECT_PTR_EQ(test, page, rb_page_at(rb, index));
			KUNIT_EXPECT_NULL(test, memchr_inv(page_address(page), 0, PAGE_SIZE));
		}
		KUNIT_EXPECT_NULL(test, page_at(rb, nr_pages + 1));
		KUNIT_EXPECT_NULL(test, page_at(rb, ULONG_MAX));
		ring_buffer_put(rb);
	}
}

static void test_too_large(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, rb_alloc(1 << 28, 0, -1, 0));
	KUNIT_EXPECT_NULL(test, rb_alloc(1 << 30, 0, -1, 0));
}

static void test_forward(struct kunit *test)
{
	const int records = 3 * PAGE_SIZE / sizeof(struct test_record);
	struct test_record record;
	struct perf_buffer *rb;
	struct perf_event *event = make_ring(test, 2, false, RING_BUFFER_WRITABLE, &rb);
	int i;

	for (i = 0; i < records; i++) {
		const u64 head = rb->user_page->data_head;

		KUNIT_ASSERT_EQ(test, 0, write_record(event, i));
		KUNIT_EXPECT_EQ(test, head + sizeof(record), rb->user_page->data_head);
		read_ring(rb, head, &record, sizeof(record));
		KUNIT_ASSERT_EQ(test, (u64)i, record.serial);
		KUNIT_ASSERT_EQ(test, (u16)sizeof(record), record.header.size);
		rb->user_page->data_tail = rb->user_page->data_head;
	}
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&event->lost_samples));
	drop_ring(event, rb);
}

static void test_backward(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = make_ring(test, 1, true, 0, &rb);
	struct test_record record;
	u64 i;

	for (i = 0; i < 1000; i++) {
		KUNIT_ASSERT_EQ(test, 0, write_record(event, i));
		KUNIT_ASSERT_EQ(test, (u64)-((i + 1) * sizeof(record)), rb->user_page->data_head);
		read_ring(rb, rb->user_page->data_head, &record, sizeof(record));
		KUNIT_ASSERT_EQ(test, i, record.serial);
	}
	drop_ring(event, rb);
}

/* What an interrupt between begin and end sees and does. */
static void test_nested(struct kunit *test)
{
	struct perf_output_handle outer;
	struct test_record record;
	struct perf_buffer *rb;
	struct perf_event *event = make_ring(test, 1, false, RING_BUFFER_WRITABLE, &rb);
	u64 before, during;
	int err, inner;

	err = begin(&outer, event, sizeof(record));
	KUNIT_ASSERT_EQ(test, 0, err);
	before = rb->user_page->data_head;
	inner = write_record(event, 2);
	during = rb->user_page->data_head;
	put_record(&outer, 1);
	perf_output_end(&outer);

	KUNIT_EXPECT_EQ(test, 0, inner);
	KUNIT_EXPECT_EQ(test, before, during);
	KUNIT_EXPECT_EQ(test, before + 2 * sizeof(record), rb->user_page->data_head);
	read_ring(rb, before, &record, sizeof(record));
	KUNIT_EXPECT_EQ(test, 1, record.serial);
	read_ring(rb, before + sizeof(record), &record, sizeof(record));
	KUNIT_EXPECT_EQ(test, 2, record.serial);
	drop_ring(event, rb);
}

static void test_lost(struct kunit *test)
{
	const int fits = PAGE_SIZE / sizeof(struct test_record) - 1;
	struct lost_layout lost;
	struct perf_buffer *rb;
	struct perf_event *event = make_ring(test, 1, false, RING_BUFFER_WRITABLE, &rb);
	u64 head;
	int i;

	for (i = 0; i < fits; i++)
		KUNIT_ASSERT_EQ(test, 0, write_record(event, i));
	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_EQ(test, -ENOSPC, write_record(event, i));
	KUNIT_EXPECT_EQ(test, 10, atomic64_read(&event->lost_samples));

	/* Room for the record alone is not enough: the LOST record comes with it. */
	rb->user_page->data_tail = sizeof(struct test_record);
	KUNIT_EXPECT_EQ(test, -ENOSPC, write_record(event, 0));

	head = rb->user_page->data_head;
	rb->user_page->data_tail = head;
	KUNIT_EXPECT_EQ(test, 0, write_record(event, 77));
	KUNIT_EXPECT_EQ(test, head + sizeof(lost) + sizeof(struct test_record),
			rb->user_page->data_head);
	read_ring(rb, head, &lost, sizeof(lost));
	KUNIT_EXPECT_EQ(test, PERF_RECORD_LOST, lost.header.type);
	KUNIT_EXPECT_EQ(test, sizeof(lost), lost.header.size);
	KUNIT_EXPECT_EQ(test, event->id, lost.id);
	KUNIT_EXPECT_EQ(test, 11, lost.lost);
	KUNIT_EXPECT_EQ(test, 0, rb->data.lost);
	drop_ring(event, rb);
}

static void test_pause(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = make_ring(test, 1, false, 0, &rb);
	u64 head;

	rb_toggle_paused(rb, true);
	KUNIT_EXPECT_EQ(test, -ENOSPC, write_record(event, 1));
	KUNIT_EXPECT_EQ(test, 0, rb->user_page->data_head);
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&event->lost_samples));
	rb_toggle_paused(rb, false);
	KUNIT_EXPECT_EQ(test, 0, write_record(event, 2));
	head = rb->user_page->data_head;
	KUNIT_EXPECT_EQ(test, sizeof(struct lost_layout) + sizeof(struct test_record), head);
	drop_ring(event, rb);
}

static void test_no_data_area(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = make_ring(test, 0, false, RING_BUFFER_WRITABLE, &rb);

	KUNIT_EXPECT_EQ(test, -ENOSPC, write_record(event, 1));
	rb_toggle_paused(rb, false);
	KUNIT_EXPECT_EQ(test, -ENOSPC, write_record(event, 1));
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&event->lost_samples));
	drop_ring(event, rb);
}

static void test_no_ring(struct kunit *test)
{
	struct perf_event *event = make_event(test, false);

	KUNIT_EXPECT_EQ(test, -ENOSPC, write_record(event, 1));
	KUNIT_EXPECT_NULL(test, ring_buffer_get(event));
	KUNIT_EXPECT_EQ(test, 0, preempt_count());
	perf_event_release_kernel(event);
}

/* A source that faults in the middle. */
static unsigned long copy_until_fault(void *dst, const void *src, unsigned long off,
				      unsigned long len)
{
	const unsigned long good = PAGE_SIZE + 100;
	unsigned long now = off < good ? min(len, good - off) : 0;

	memset(dst, 0x5a, now);
	return len - now;
}

static void test_failing_copy(struct kunit *test)
{
	struct perf_output_handle handle;
	struct perf_buffer *rb;
	struct perf_event *event = make_ring(test, 4, false, RING_BUFFER_WRITABLE, &rb);
	unsigned long left, rest;
	u64 mark = 0x1122334455667788;
	u8 bytes[8];

	KUNIT_ASSERT_EQ(test, 0, begin(&handle, event, 3 * PAGE_SIZE));
	left = __output_custom(&handle, copy_until_fault, NULL, 2 * PAGE_SIZE);
	rest = perf_output_skip(&handle, left);
	perf_output_put(&handle, mark);
	perf_output_end(&handle);

	KUNIT_EXPECT_EQ(test, PAGE_SIZE - 100, left);
	KUNIT_EXPECT_EQ(test, 0, rest);
	read_ring(rb, PAGE_SIZE + 99, bytes, 2);
	KUNIT_EXPECT_EQ(test, 0x5a, bytes[0]);
	KUNIT_EXPECT_EQ(test, 0, bytes[1]);
	read_ring(rb, 2 * PAGE_SIZE, bytes, sizeof(bytes));
	KUNIT_EXPECT_MEMEQ(test, bytes, &mark, sizeof(mark));
	drop_ring(event, rb);
}

static void test_redirect(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *target = make_ring(test, 1, false, RING_BUFFER_WRITABLE, &rb);
	struct perf_event *source = make_event(test, false);
	struct perf_event *other = make_event(test, true);

	KUNIT_EXPECT_EQ(test, -EINVAL, perf_event_set_output(target, target));
	KUNIT_EXPECT_EQ(test, -EINVAL, perf_event_set_output(source, other));
	/* Nobody maps the ring. */
	KUNIT_EXPECT_EQ(test, -EINVAL, perf_event_set_output(source, target));

	atomic_set(&rb->mmap_count, 1);
	KUNIT_EXPECT_EQ(test, 0, perf_event_set_output(source, target));
	KUNIT_EXPECT_PTR_EQ(test, rb, source->rb);
	KUNIT_EXPECT_EQ(test, 0, write_record(source, 1));
	KUNIT_EXPECT_EQ(test, sizeof(struct test_record), rb->user_page->data_head);

	/* Mapped itself, an event stays where it is. */
	atomic_set(&source->mmap_count, 1);
	KUNIT_EXPECT_EQ(test, -EINVAL, perf_event_set_output(source, NULL));
	KUNIT_EXPECT_EQ(test, -EINVAL, perf_event_set_output(source, target));
	atomic_set(&source->mmap_count, 0);

	KUNIT_EXPECT_EQ(test, 0, perf_event_set_output(source, NULL));
	KUNIT_EXPECT_NULL(test, source->rb);
	/* Back onto a list that it has left: waits for a grace period. */
	KUNIT_EXPECT_EQ(test, 0, perf_event_set_output(source, target));
	atomic_set(&rb->mmap_count, 0);

	perf_event_release_kernel(other);
	perf_event_release_kernel(source);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&rb->event_list));
	drop_ring(target, rb);
}

static void test_wakeup_note(struct kunit *test)
{
	struct perf_buffer *rb;
	struct perf_event *event = make_ring(test, 2, false, RING_BUFFER_WRITABLE, &rb);
	const int half = PAGE_SIZE / sizeof(struct test_record);
	int i;

	for (i = 0; i < half; i++)
		KUNIT_ASSERT_EQ(test, 0, write_record(event, i));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&rb->poll));
	KUNIT_ASSERT_EQ(test, 0, write_record(event, i));
	irq_work_sync(&event->pending_irq);
	KUNIT_EXPECT_EQ(test, (__force int)(EPOLLIN | EPOLLRDNORM), atomic_read(&rb->poll));
	KUNIT_EXPECT_EQ(test, 0, event->pending_wakeup);
	drop_ring(event, rb);
}

static void test_charge(struct kunit *test)
{
	struct user_struct *user = current_user();
	const long used = atomic_long_read(&user->perf_mlock);
	struct perf_charge first = { }, second = { };
	struct mm_struct *mm = mm_alloc();
	long allowance;

	KUNIT_ASSERT_NOT_NULL(test, mm);
	allowance = (sysctl_perf_event_mlock >> (PAGE_SHIFT - 10)) * num_online_cpus();
	KUNIT_ASSERT_LT(test, used, allowance);

	KUNIT_EXPECT_EQ(test, 0, perf_charge(&first, mm, allowance - used - 1));
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&mm->pinned_vm));
	/* The last page of the allowance, and nine beyond it. */
	KUNIT_EXPECT_EQ(test, 0, perf_charge(&second, mm, 10));
	KUNIT_EXPECT_EQ(test, 9, atomic64_read(&mm->pinned_vm));
	KUNIT_EXPECT_EQ(test, allowance, atomic_long_read(&user->perf_mlock));

	perf_uncharge(&first);
	perf_uncharge(&first); /* empty by now */
	perf_uncharge(&second);
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&mm->pinned_vm));
	KUNIT_EXPECT_EQ(test, used, atomic_long_read(&user->perf_mlock));
	mmput(mm);
}

static struct kunit_case ring_buffer_cases[] = {
	KUNIT_CASE(test_sizes),
	KUNIT_CASE(test_too_large),
	KUNIT_CASE(test_forward),
	KUNIT_CASE(test_backward),
	KUNIT_CASE(test_nested),
	KUNIT_CASE(test_lost),
	KUNIT_CASE(test_pause),
	KUNIT_CASE(test_no_data_area),
	KUNIT_CASE(test_no_ring),
	KUNIT_CASE(test_failing_copy),
	KUNIT_CASE(test_redirect),
	KUNIT_CASE(test_wakeup_note),
	KUNIT_CASE(test_charge),
	{ }
};

static struct kunit_suite ring_buffer_suite = {
	.name		= "perf_ring_buffer",
	.test_cases	= ring_buffer_cases,
};

kunit_test_suite(ring_buffer_suite);

MODULE_DESCRIPTION("KUnit tests of the perf ring buffer");
MODULE_LICENSE("GPL");
