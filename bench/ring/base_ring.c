// SPDX-License-Identifier: GPL-2.0
/* The base's ring code, and a ring for it to write to. */
#include "kernel.h"

/* The data half of the base's ring_buffer.c, cut out when this is built. */
#include "base-data-half.c"

#include <stdio.h>
#include <stdlib.h>

struct base_state {
	struct perf_event	event;
	struct perf_buffer	*rb;
};

static void *pages(size_t count)
{
	void *memory = aligned_alloc(BENCH_PAGE, count * BENCH_PAGE);

	if (!memory)
		abort();
	return memset(memory, 0, count * BENCH_PAGE);
}

void base_ring_create(struct bench_ring *ring)
{
	struct base_state *state = calloc(1, sizeof(*state));
	struct perf_buffer *rb = calloc(1, sizeof(*rb) + BENCH_RING_PAGES * sizeof(void *));

	if (!state || !rb)
		abort();
	rb->user_page = pages(1);
	rb->data_pages[0] = pages(BENCH_RING_PAGES);
	rb->nr_pages = BENCH_RING_PAGES;
	for (int i = 1; i < BENCH_RING_PAGES; i++)
		rb->data_pages[i] = (char *)rb->data_pages[0] + (size_t)i * BENCH_PAGE;
	ring_buffer_init(rb, BENCH_RING_PAGES * BENCH_PAGE,
			 ring->backward ? 0 : RING_BUFFER_WRITABLE);
	state->rb = rb;
	state->event.rb = rb;
	state->event.attr.write_backward = ring->backward != 0;
	ring->state = state;
	ring->data_head = (uint64_t *)&rb->user_page->data_head;
	ring->data_tail = (uint64_t *)&rb->user_page->data_tail;
}

void base_ring_destroy(struct bench_ring *ring)
{
	struct base_state *state = ring->state;

	free(state->rb->data_pages[0]);
	free(state->rb->user_page);
	free(state->rb);
	free(state);
}

static void not_here(const char *what)
{
	fprintf(stderr, "native: %s, but nothing is ever lost here\n", what);
	abort();
}

void perf_event_header__init(struct perf_event_header *header, struct perf_sample_data *data,
			     int type, int misc, int size, struct perf_event *event)
{
	(void)header, (void)data, (void)type, (void)misc, (void)size, (void)event;
	not_here("a LOST record");
}

void perf_event__output_id_sample(struct perf_event *event, struct perf_output_handle *handle,
				  struct perf_sample_data *data)
{
	(void)event, (void)handle, (void)data;
	not_here("the id of a LOST record");
}
