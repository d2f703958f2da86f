// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of samples whose fields only hardware or drivers provide: branch
 * stacks, weights, raw data in pieces; and of sizes that change or do not fit.
 * Each record is compared with one that is put together by hand, at every place
 * around the ring's end.
 */
#include <kunit/test.h>
#include <linux/perf_event.h>

#include "sample.h"

#define TEST_CPU	0
#define BRANCHES	3

struct expected {
	struct kunit	*test;
	u64		words[64];
	unsigned int	nr;
};

static void expect_word(struct expected *expected, u64 word)
{
	expected->words[expected->nr++] = word;
}

static void expect_bytes(struct expected *expected, const void *bytes, unsigned int len)
{
	memcpy(&expected->words[expected->nr], bytes, len);
	expected->nr += len / sizeof(u64);
}

/* An event that looks as if its PMU had allowed all of this. */
static struct perf_event *make_event(struct kunit *test, u64 sample_type, u64 branch_type,
				     int nr_pages, struct perf_buffer **rb)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_SW_DUMMY,
		.disabled	= 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, TEST_CPU, NULL, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	event->attr.sample_type = sample_type;
	event->attr.branch_sample_type = branch_type;
	event->attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	perf_event__header_size(event);
	perf_event__id_header_size(event);

	*rb = rb_alloc(nr_pages, 0, TEST_CPU, 0);
	KUNIT_ASSERT_NOT_NULL(test, *rb);
	refcount_inc(&(*rb)->refcount);
	mutex_lock(&event->mmap_mutex);
	ring_buffer_attach(event, *rb);
	mutex_unlock(&event->mmap_mutex);
	return event;
}

static void drop_event(struct perf_event *event, struct perf_buffer *rb)
{
	perf_event_release_kernel(event);
	ring_buffer_put(rb);
}

static u64 word_at(struct perf_buffer *rb, unsigned long at)
{
	unsigned long place = at & (rb->data.size - 1);
	struct page *page = rb_page_at(rb, place >> PAGE_SHIFT);

	return *(u64 *)(page_address(page) + offset_in_page(place));
}

/* The one record that was written from @start on, less its header. */
static void check_record(struct expected *expected, struct perf_buffer *rb, unsigned long start)
{
	struct kunit *test = expected->test;
	struct perf_event_header header;
	u64 first = word_at(rb, start);
	unsigned int i;

	memcpy(&header, &first, sizeof(header));
	KUNIT_ASSERT_EQ(test, PERF_RECORD_SAMPLE, header.type);
	KUNIT_ASSERT_EQ(test, sizeof(header) + expected->nr * sizeof(u64), header.size);
	KUNIT_ASSERT_EQ(test, start + header.size, rb->user_page->data_head);
	for (i = 0; i < expected->nr; i++)
		KUNIT_ASSERT_EQ(test, expected->words[i],
				word_at(rb, start + (1 + i) * sizeof(u64)));
}

static int output(struct perf_event *event, struct perf_sample_data *data)
{
	struct pt_regs regs = { };

	return perf_event_output(event, data, &regs);
}

/* The next record begins there: one of the base's kind takes the place up to it. */
static void move_to(struct perf_event *event, struct perf_buffer *rb, unsigned long place)
{
	unsigned long gap = (place - rb->data.head) & (rb->data.size - 1);
	struct perf_output_handle handle;
	struct perf_sample_data data;

	perf_sample_data_init(&data, 0, 0);
	if (gap && !perf_output_begin(&handle, &data, event, gap))
		perf_output_end(&handle);
}

struct branches {
	u64				nr;
	u64				hw_idx;
	struct perf_branch_entry	entries[BRANCHES];
};

static void check_branches(struct kunit *test, bool hw_idx, bool counters)
{
	u64 branch_type = hw_idx ? PERF_SAMPLE_BRANCH_HW_INDEX : 0;
	struct branches branches = { .nr = BRANCHES, .hw_idx = 0x1234567 };
	u64 counts[BRANCHES] = { 11, 22, 33 };
	struct perf_sample_data data;
	struct perf_event *event;
	struct perf_buffer *rb;
	unsigned long place;
	unsigned int i;

	for (i = 0; i < BRANCHES; i++) {
		branches.entries[i].from = 0x1000 + i;
		branches.entries[i].to = 0x2000 + i;
		branches.entries[i].cycles = i + 7;
	}
	event = make_event(test, PERF_SAMPLE_ADDR | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT,
			   branch_type, 1, &rb);
	for (place = 0; place < PAGE_SIZE; place += sizeof(u64)) {
		struct expected *expected = kunit_kzalloc(test, sizeof(*expected), GFP_KERNEL);
		unsigned long start;

		KUNIT_ASSERT_NOT_NULL(test, expected);
		expected->test = test;
		move_to(event, rb, place);
		start = rb->data.head;
		perf_sample_data_init(&data, 0xadd, 0);
		perf_sample_save_brstack(&data, event, (void *)&branches,
					 counters ? counts : NULL);
		data.weight.full = 99;
		data.sample_flags |= PERF_SAMPLE_WEIGHT_TYPE;
		KUNIT_ASSERT_EQ(test, 0, output(event, &data));

		expect_word(expected, 0xadd);
		expect_word(expected, BRANCHES);
		if (hw_idx)
			expect_word(expected, branches.hw_idx);
		expect_bytes(expected, branches.entries, sizeof(branches.entries));
		if (counters)
			expect_bytes(expected, counts, sizeof(counts));
		expect_word(expected, 99);
		check_record(expected, rb, start);
		kunit_kfree(test, expected);
	}
	drop_event(event, rb);
}

static void test_branches(struct kunit *test)
{
	check_branches(test, false, false);
	check_branches(test, true, false);
	check_branches(test, false, true);
	check_branches(test, true, true);
}

/* Nobody provides anything: what there is instead. */
static void test_absent(struct kunit *test)
{
	u64 type = PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT_STRUCT |
		   PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_AUX;
	struct expected *expected = kunit_kzalloc(test, sizeof(*expected), GFP_KERNEL);
	struct perf_sample_data data;
	struct perf_event *event;
	struct perf_buffer *rb;

	KUNIT_ASSERT_NOT_NULL(test, expected);
	expected->test = test;
	event = make_event(test, type, PERF_SAMPLE_BRANCH_HW_INDEX, 1, &rb);
	perf_sample_data_init(&data, 0, 0);
	KUNIT_ASSERT_EQ(test, 0, output(event, &data));
	expect_word(expected, sizeof(u32));	/* raw data: four bytes, 0 */
	expect_word(expected, 0);		/* branches */
	expect_word(expected, 0);		/* weight */
	expect_word(expected, PERF_MEM_NA);
	expect_word(expected, 0);		/* transaction */
	expect_word(expected, 0);		/* AUX data */
	check_record(expected, rb, 0);
	drop_event(event, rb);
}

/* There are ten bytes to be had. */
static unsigned long copy_ten(void *to, const void *from, unsigned long offset,
			      unsigned long len)
{
	unsigned long left = offset + len > 10 ? min(len, offset + len - 10) : 0;

	memcpy(to, from + offset, len - left);
	return left;
}

static void test_raw_pieces(struct kunit *test)
{
	static const u8 bytes[] = "abcdefghijklmnopqrstuvwxyz";
	struct perf_sample_data data;
	struct perf_event *event;
	struct perf_buffer *rb;
	unsigned long place;
	unsigned int size;

	event = make_event(test, PERF_SAMPLE_RAW, 0, 1, &rb);
	for (place = 0; place < PAGE_SIZE; place += sizeof(u64)) {
		for (size = 0; size <= 9; size++) {
			struct perf_raw_frag second = { .data = (void *)bytes + 5, .size = size };
			struct perf_raw_record raw = {
				.frag = { .data = (void *)bytes, .size = 5, .next = &second },
			};
			struct expected expected = { .test = test };
			u8 *field = (u8 *)expected.words;
			unsigned int len = round_up(sizeof(u32) + 5 + size, sizeof(u64));
			unsigned long start;

			move_to(event, rb, place);
			start = rb->data.head;
			perf_sample_data_init(&data, 0, 0);
			perf_sample_save_raw_data(&data, event, &raw);
			KUNIT_ASSERT_EQ(test, 0, output(event, &data));
			*(u32 *)field = len - sizeof(u32);
			memcpy(field + sizeof(u32), bytes, 5 + size);
			expected.nr = len / sizeof(u64);
			check_record(&expected, rb, start);
		}
	}
	drop_event(event, rb);
}

/* What a copy function leaves keeps its place; the size says what was meant. */
static void test_raw_that_fails(struct kunit *test)
{
	static const u8 bytes[] = "abcdefghijklmnop";
	struct perf_sample_data data;
	struct perf_event *event;
	struct perf_buffer *rb;
	unsigned long place;

	event = make_event(test, PERF_SAMPLE_RAW, 0, 1, &rb);
	for (place = 0; place < PAGE_SIZE; place += sizeof(u64)) {
		struct perf_raw_record raw = {
			.frag = { .copy = copy_ten, .data = (void *)bytes, .size = 12 },
		};
		unsigned long start;
		u64 first, second;

		move_to(event, rb, place);
		start = rb->data.head;
		perf_sample_data_init(&data, 0, 0);
		perf_sample_save_raw_data(&data, event, &raw);
		KUNIT_ASSERT_EQ(test, 0, output(event, &data));
		first = word_at(rb, start + 8);
		second = word_at(rb, start + 16);
		KUNIT_ASSERT_EQ(test, 12, (u32)first);
		KUNIT_ASSERT_EQ_MSG(test, 0, memcmp((u8 *)&first + 4, bytes, 4),
				    "at %lu: %llx %llx", place, first, second);
		KUNIT_ASSERT_EQ(test, 0, memcmp(&second, bytes + 4, 6));
	}
	drop_event(event, rb);
}

/* 64 KiB are no record: lost, counted, told of. */
static void test_too_large(struct kunit *test)
{
	void *bytes = kunit_kzalloc(test, SZ_64K, GFP_KERNEL);
	struct perf_raw_record raw = { .frag = { .data = bytes, .size = SZ_64K } };
	struct perf_sample_data data;
	struct perf_event *event;
	struct perf_buffer *rb;
	u64 lost;

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	event = make_event(test, PERF_SAMPLE_RAW, 0, 64, &rb);
	perf_sample_data_init(&data, 0, 0);
	perf_sample_save_raw_data(&data, event, &raw);
	KUNIT_EXPECT_EQ(test, -E2BIG, output(event, &data));
	KUNIT_EXPECT_EQ(test, 0, rb->user_page->data_head);
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&event->lost_samples));

	/* The largest that fits, behind the record that tells of the other. */
	raw.frag.size = PERF_RECORD_SIZE_MAX - sizeof(u64) - sizeof(u32);
	raw.frag.pad = 0;
	perf_sample_data_init(&data, 0, 0);
	perf_sample_save_raw_data(&data, event, &raw);
	KUNIT_EXPECT_EQ(test, 0, output(event, &data));
	lost = word_at(rb, 2 * sizeof(u64));
	KUNIT_EXPECT_EQ(test, PERF_RECORD_LOST, (u32)word_at(rb, 0));
	KUNIT_EXPECT_EQ(test, 1, lost);
	KUNIT_EXPECT_EQ(test, 3 * sizeof(u64) + PERF_RECORD_SIZE_MAX, rb->user_page->data_head);
	drop_event(event, rb);
}

/* The group was larger when the size was taken: what is missing is told as zero. */
static void test_group_that_shrank(struct kunit *test)
{
	struct expected *expected = kunit_kzalloc(test, sizeof(*expected), GFP_KERNEL);
	struct perf_sample_data data;
	struct perf_event *event;
	struct perf_buffer *rb;

	KUNIT_ASSERT_NOT_NULL(test, expected);
	expected->test = test;
	event = make_event(test, PERF_SAMPLE_READ, 0, 1, &rb);
	WRITE_ONCE(event->read_size, perf_sample_read_size(event->attr.read_format, 2));
	perf_sample_data_init(&data, 0, 0);
	KUNIT_ASSERT_EQ(test, 0, output(event, &data));
	expect_word(expected, 3);
	expect_word(expected, 0);
	expect_word(expected, event->id);
	expected->nr += 4;
	check_record(expected, rb, 0);
	drop_event(event, rb);
}

static struct kunit_case sample_output_cases[] = {
	KUNIT_CASE(test_branches),
	KUNIT_CASE(test_absent),
	KUNIT_CASE(test_raw_pieces),
	KUNIT_CASE(test_raw_that_fails),
	KUNIT_CASE(test_too_large),
	KUNIT_CASE(test_group_that_shrank),
	{ }
};

static struct kunit_suite sample_output_suite = {
	.name		= "perf_sample_output",
	.test_cases	= sample_output_cases,
};

kunit_test_suite(sample_output_suite);

MODULE_DESCRIPTION("KUnit tests of perf samples");
MODULE_LICENSE("GPL");
