// SPDX-License-Identifier: GPL-2.0
/*
 * The seams from the C side, where the kernel's shell stands: the headers are
 * C, the layouts are those of C++, and C code can write records.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/perf_event.h>
#include <linux/perf_aux.h>

#include "period.h"
#include "sample_size.h"
#include "seam_layout.h"

/* Declared for the kernel by linux/perf_event.h, with a handle of the same layout. */
unsigned int perf_output_copy(struct perf_ring_handle *handle, const void *buf,
			      unsigned int len);
unsigned int perf_output_skip(struct perf_ring_handle *handle, unsigned int len);

static const struct seam_layout seam_layout_c[] = { SEAM_LAYOUT_TABLE };

static int failures;

#define EXPECT(condition)						\
	do {								\
		if (!(condition)) {					\
			fprintf(stderr, "%s:%d: not true: %s\n",	\
				__FILE__, __LINE__, #condition);	\
			failures++;					\
		}							\
	} while (0)

static void layouts_agree(void)
{
	const size_t entries = sizeof(seam_layout_c) / sizeof(seam_layout_c[0]);
	size_t i;

	EXPECT(seam_layout_cxx_entries == entries);
	for (i = 0; i < entries && i < seam_layout_cxx_entries; i++) {
		const struct seam_layout *c = &seam_layout_c[i];
		const struct seam_layout *cxx = &seam_layout_cxx[i];

		if (strcmp(c->name, cxx->name) || c->offset != cxx->offset ||
		    c->size != cxx->size) {
			fprintf(stderr, "%s: C has offset %zu, size %zu, C++ %zu, %zu\n",
				c->name, c->offset, c->size, cxx->offset, cxx->size);
			failures++;
		}
	}
}

static void the_abi_is_where_user_space_looks(void)
{
	EXPECT(offsetof(struct perf_ring_control, data_head) == 1024);
	EXPECT(offsetof(struct perf_ring_control, data_tail) == 1032);
	EXPECT(offsetof(struct perf_aux_control, aux_head) ==
	       offsetof(struct perf_event_mmap_page, aux_head));
	EXPECT(offsetof(struct perf_aux_control, aux_tail) ==
	       offsetof(struct perf_event_mmap_page, aux_tail));
	EXPECT(offsetof(struct perf_aux_control, aux_lost) == PERF_AUX_LOST_OFFSET);
}

/* Two pieces of 64 bytes. */
struct small_ring {
	struct perf_data_ring		ring;
	struct perf_ring_control	control;
	unsigned long long		memory[2][8];
	void				*pieces[2];
};

static void small_ring_init(struct small_ring *small)
{
	memset(small, 0, sizeof(*small));
	small->pieces[0] = small->memory[0];
	small->pieces[1] = small->memory[1];
	perf_data_ring_init(&small->ring, &small->control, small->pieces, 2, 6, 0, 0);
}

static void a_record_goes_forward(void)
{
	const unsigned long long words[7] = { 1, 2, 3, 4, 5, 6, 7 };
	struct perf_ring_handle handle;
	struct small_ring small;

	small_ring_init(&small);
	EXPECT(perf_data_ring_reserve_forward(&small.ring, &handle, 80, 0) == 0);
	EXPECT(handle.ring == &small.ring);
	EXPECT(handle.room == 64);
	EXPECT(perf_output_copy(&handle, words, sizeof(words)) == 0);
	EXPECT(perf_output_skip(&handle, 16) == 0);
	EXPECT(handle.piece == 1 && handle.room == 56);
	memset(handle.addr, 0xff, 8);
	perf_ring_advance(&handle, 8);
	perf_data_ring_count_sample(&small.ring, 1);
	EXPECT(small.control.data_head == 0);
	EXPECT(perf_data_ring_commit(&handle) != 0);
	EXPECT(small.control.data_head == 80);

	EXPECT(memcmp(small.memory[0], words, sizeof(words)) == 0);
	EXPECT(small.memory[0][7] == 0);
	EXPECT(small.memory[1][0] == 0);
	EXPECT(small.memory[1][1] == ~0ULL);
}

static void a_record_goes_backward(void)
{
	const unsigned long long word = 42;
	struct perf_ring_handle handle;
	struct small_ring small;

	small_ring_init(&small);
	EXPECT(perf_data_ring_reserve_backward(&small.ring, &handle, 8, 0) == 0);
	EXPECT(perf_output_copy(&handle, &word, sizeof(word)) == 0);
	EXPECT(perf_data_ring_commit(&handle) == 0);
	EXPECT(small.control.data_head == 0ULL - 8);
	EXPECT(small.memory[1][7] == 42);
}

static void refusals_have_their_numbers(void)
{
	struct perf_ring_handle handle;
	struct small_ring small;

	small_ring_init(&small);
	EXPECT(perf_data_ring_reserve_forward(&small.ring, &handle, 128, 0) == PERF_RING_FULL);
	perf_data_ring_set_paused(&small.ring, 1);
	EXPECT(perf_data_ring_reserve_forward(&small.ring, &handle, 8, 16) == PERF_RING_FULL);
	perf_data_ring_set_paused(&small.ring, 0);
	EXPECT(small.ring.lost == 2);
	EXPECT(perf_data_ring_reserve_forward(&small.ring, &handle, 8, 16) == 2);
	EXPECT(perf_data_ring_commit(&handle) == 0);
	EXPECT(small.control.data_head == 24);

	perf_data_ring_init(&small.ring, &small.control, NULL, 0, 12, 0, 0);
	EXPECT(perf_data_ring_reserve_forward(&small.ring, &handle, 8, 0) == PERF_RING_NO_DATA);
}

static void mapping_rules_answer(void)
{
	const struct perf_map_geometry have = { .page_shift = 12, .data_pages = 2 };
	const struct perf_aux_request asked = { .offset = 3 << 12, .size = 4 << 12 };
	const struct perf_output_end_point task = { .event = &have, .task = &have, .cpu = -1 };
	const struct perf_output_end_point cpu = { .event = &asked, .cpu = 0 };
	struct perf_lock_split split;
	struct perf_map_page page;

	EXPECT(perf_map_data_pages(3 << 12, 12) == 2);
	EXPECT(perf_map_data_pages(4 << 12, 12) == -EINVAL);
	EXPECT(perf_map_aux_pages(&have, &asked, 3, 4 << 12) == 4);
	EXPECT(perf_map_aux_pages(&have, &asked, 4, 4 << 12) == -EINVAL);
	page = perf_map_page_at(&have, 2);
	EXPECT(page.kind == PERF_MAP_DATA && page.index == 1);
	split = perf_lock_split(10, 3, 7);
	EXPECT(split.user == 4 && split.mm == 6);
	EXPECT(perf_output_compatible(&task, &cpu) == -EINVAL);
}

/* IP, bit 0, and TIME, bit 2; the header is a word like any other. */
static void a_sample_is_written_at_once(void)
{
	const struct perf_sample_sources sources = { .word = { 1, 0, 3 } };
	const unsigned long long words[4] = { 10, 11, 12, 13 };
	struct perf_sample_plan plan = { 0 };
	struct perf_ring_handle handle;
	struct small_ring small;

	perf_sample_plan_compile(&plan, &sources, 1 << 0 | 1 << 2, 2);
	EXPECT(plan.size == 24 && plan.id_size == 8);

	small_ring_init(&small);
	EXPECT(perf_sample_emit_forward(&small.ring, &plan, 9, words) == PERF_SAMPLE_WRITTEN);
	EXPECT(small.control.data_head == 24);
	EXPECT(small.memory[0][0] == 9 && small.memory[0][1] == 11 && small.memory[0][2] == 13);

	EXPECT(perf_data_ring_reserve_forward(&small.ring, &handle, 16, 0) == 0);
	perf_sample_write_run(&handle, &plan, PERF_SAMPLE_RUN_HEAD, words);
	EXPECT(perf_ring_words(&handle, 24) == &small.memory[0][5]);
	EXPECT(perf_ring_words(&handle, 32) == NULL);
	EXPECT(perf_data_ring_commit(&handle) == 0);
	EXPECT(small.memory[0][3] == 11 && small.memory[0][4] == 13);

	small_ring_init(&small);
	EXPECT(perf_sample_emit_backward(&small.ring, &plan, 9, words) == PERF_SAMPLE_WRITTEN);
	EXPECT(perf_sample_emit_backward(&small.ring, &plan, 9, words) ==
	       PERF_SAMPLE_WRITTEN_WAKE);
	EXPECT(small.memory[1][2] == 9 && small.memory[1][7] == 13);
}

static void sizes_and_periods_answer(void)
{
	long long left = 7;

	EXPECT(perf_sample_read_size(0, 0) == 8);
	EXPECT(perf_sample_stack_field(perf_sample_stack_dump(70000, 70000, 8)) == 65520);
	EXPECT(perf_sample_aux_dump(16, 9, 8) == 16);
	EXPECT(perf_period_passed(&left, 5) == 2 && left == -3);
	EXPECT(perf_clock_first(0, 1) == perf_clock_period(1));
}

static void an_aux_area_fills_up(void)
{
	static struct perf_aux_control control;
	struct perf_aux_ring ring = { 0 };
	struct perf_aux_handle handle;
	struct perf_aux_report report;

	EXPECT(perf_aux_ring_setup(&ring, &control, 64, 32, 0) != 0);
	EXPECT(perf_aux_ring_begin(&ring, &handle) == PERF_AUX_OPENED);
	EXPECT(perf_aux_ring_setup(&ring, &control, 32, 8, 0) == 0);
	handle.event = &ring;
	EXPECT(perf_aux_ring_end_quietly(&ring, &handle, 8) == 0);
	EXPECT(handle.event == &ring);
	EXPECT(perf_aux_ring_end_quietly(&ring, &handle, 0) != 0);
	EXPECT(!handle.event);
	EXPECT(perf_aux_ring_begin(&ring, &handle) == PERF_AUX_OPENED);
	EXPECT(handle.head == 0 && handle.size == 63 && handle.wakeup == 32);
	EXPECT(perf_aux_ring_begin(&ring, &handle) == PERF_AUX_BUSY);
	EXPECT(perf_aux_ring_skip(&ring, &handle, 64) == -ENOSPC);
	EXPECT(perf_aux_ring_skip(&ring, &handle, 7) == 0);
	EXPECT(perf_aux_ring_commit(&ring, &handle, 56, &report) == PERF_AUX_TELL);
	EXPECT(report.offset == 7 && report.size == 56 && report.flags == 0);
	perf_aux_ring_untold(&ring, &report);
	EXPECT(perf_aux_ring_publish(&ring) == PERF_AUX_WAKE);
	EXPECT(control.aux_head == 63);
	perf_aux_ring_close(&ring);

	EXPECT(perf_aux_ring_begin(&ring, &handle) == PERF_AUX_FULL);
	EXPECT(perf_aux_ring_lose(&ring, 9, 90, &report) == 0);
	EXPECT(perf_aux_ring_refuse(&ring, &report) ==
	       (PERF_AUX_TELL | PERF_AUX_STOP | PERF_AUX_WAKE));
	EXPECT(report.size == 56 && report.lost == 9 && report.lost_since == 90);
	EXPECT(report.flags == (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_LOST));
	EXPECT(control.aux_lost == 9);
}

static void an_aux_area_is_laid_out_and_copied(void)
{
	const struct perf_aux_layout layout =
		perf_aux_layout(8, 12, 0, 0, PERF_AUX_PAGES_LARGE);
	const unsigned long long words[2] = { 1, 2 };
	void *const pages[2] = { (void *)&words[1], (void *)&words[0] };
	struct perf_ring_handle handle;
	struct small_ring small;

	EXPECT(layout.watermark == 16384 && layout.max_order == 2 && !layout.one_chunk);

	small_ring_init(&small);
	EXPECT(perf_data_ring_reserve_forward(&small.ring, &handle, 16, 0) == 0);
	EXPECT(perf_aux_copy(&handle, pages, 3, 16, 8, 24) == 16);
	EXPECT(small.memory[0][0] == 1 && small.memory[0][1] == 2);
}

static void a_test_stream_is_written(void)
{
	const unsigned long long asked[AUX_TEST_CONFIGS] = { 1000000, 16, 3ULL << 54 };
	unsigned long long word;
	void *const pages[1] = { &word };
	const struct aux_test_area area = { .pages = pages, .size = 8, .page_shift = 3 };
	const struct aux_test_run run = { .room = 7 };
	struct aux_test_config config;
	struct aux_test_clock clock;
	struct aux_test_step step;

	EXPECT(aux_test_parse(&config, asked) == 0);
	EXPECT(config.chunk == 16 && config.id == 3);
	EXPECT(!strcmp(aux_test_fields()->name, "rate"));

	aux_test_clock_start(&clock, 0);
	EXPECT(aux_test_clock_take(&clock, config.rate, 17000, 0) == 16);
	step = aux_test_step(&config, &area, &run, 16);
	EXPECT(step.bytes == 0 && step.next == AUX_TEST_FULL);
	aux_test_fill(&area, 0, 8, config.id, 40);
	EXPECT(word == (3ULL << AUX_TEST_OFFSET_BITS | 40));
	EXPECT(aux_test_pad(40, 64) == 24);
}

int main(void)
{
	layouts_agree();
	the_abi_is_where_user_space_looks();
	a_record_goes_forward();
	a_record_goes_backward();
	refusals_have_their_numbers();
	mapping_rules_answer();
	a_sample_is_written_at_once();
	sizes_and_periods_answer();
	an_aux_area_fills_up();
	an_aux_area_is_laid_out_and_copied();
	a_test_stream_is_written();
	return failures != 0;
}
