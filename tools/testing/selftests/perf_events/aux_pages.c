// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of an AUX area: single pages, or chunks for PMUs that ask for them, none
 * larger than the watermark. /proc/self/pagemap says which pages these are, and
 * /proc/kpageflags which of them begins a chunk: the first one is marked, for drivers.
 */
#include "perf_aux_life.h"
#include "perf_ring_access.h"

#include <fcntl.h>

#define DATA_PAGES 1
#define MOST_PAGES 4096
#define FRAME_BITS 55
#define FLAG_PRIVATE 35 /* of /proc/kpageflags: begins a chunk */
#define LARGEST_CHUNK 1024 /* pages that the allocator gives at once, with 4 KiB each */
#define READ_WRITE (PROT_READ | PROT_WRITE)

struct pages {
	size_t nr;
	uint64_t frame[MOST_PAGES];
	bool begins_chunk[MOST_PAGES];
};

static uint64_t read_word(int fd, uint64_t index)
{
	uint64_t word;

	CHECK_EQ(pread(fd, &word, 8, (off_t)(index * 8)), 8);
	return word;
}

/* At the first @nr pages. */
static void look_at(struct pages *pages, const struct aux *aux, size_t nr)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY);
	int flags = open("/proc/kpageflags", O_RDONLY);
	const char *base = (const char *)aux->words;

	if (pagemap < 0 || flags < 0)
		SKIP("needs /proc/self/pagemap and /proc/kpageflags: run as root");
	pages->nr = nr;
	for (size_t i = 0; i < pages->nr; i++) {
		const char *at = base + i * page_size();

		CHECK_EQ(read_signal(at), 0);
		pages->frame[i] = read_word(pagemap, (uintptr_t)at / page_size()) &
				  ((1ULL << FRAME_BITS) - 1);
		if (!pages->frame[i])
			SKIP("page frames are hidden: run as root");
		pages->begins_chunk[i] =
			read_word(flags, pages->frame[i]) >> FLAG_PRIVATE & 1;
	}
	close(pagemap);
	close(flags);
}

struct wish {
	const char *pmu;
	size_t nr_pages;
	uint32_t watermark; /* bytes */
	int prot, cpu;
};

/* False if there is no memory of that kind; else the first @look pages are known. */
static bool have_and_look(struct pages *pages, const struct wish *wish, size_t look)
{
	struct perf_event_attr attr = aux_attr_of(wish->pmu);
	struct aux aux = { .size = wish->nr_pages * page_size() };
	void *words;

	attr.aux_watermark = wish->watermark;
	aux.fd = open_on(&attr, wish->cpu < 0 ? 0 : -1, wish->cpu);
	ring_map(&aux.ring, aux.fd, DATA_PAGES);
	words = aux_try_map(&aux, wish->nr_pages, wish->prot);
	if (words == MAP_FAILED) {
		CHECK_EQ(errno, ENOMEM);
		ring_unmap(&aux.ring);
		close(aux.fd);
		return false;
	}
	aux.words = words;
	look_at(pages, &aux, look);
	aux_unmap(&aux);
	close(aux.fd);
	return true;
}

static bool have(struct pages *pages, const struct wish *wish)
{
	return have_and_look(pages, wish, wish->nr_pages);
}

static bool any_chunk(const struct pages *pages)
{
	for (size_t i = 0; i < pages->nr; i++)
		if (pages->begins_chunk[i])
			return true;
	return false;
}

static void expect_run(const struct pages *pages, size_t first, size_t nr)
{
	CHECK_EQ(pages->frame[first] % nr, 0);
	for (size_t i = 1; i < nr; i++)
		if (pages->frame[first + i] != pages->frame[first] + i)
			FAIL("page %zu is not next to the %zu in front of it",
			     first + i, i);
}

/* All of it chunks of so many pages: each one marked, whole and aligned. */
static void expect_chunks(const struct pages *pages, size_t size)
{
	for (size_t i = 0; i < pages->nr; i += size) {
		CHECK(pages->begins_chunk[i]);
		for (size_t j = 1; j < size; j++)
			if (pages->begins_chunk[i + j])
				FAIL("a chunk of %zu pages, not %zu", j, size);
		expect_run(pages, i, size);
	}
}

static void expect_all_different(const struct pages *pages)
{
	for (size_t i = 0; i < pages->nr; i++)
		for (size_t j = 0; j < i; j++)
			CHECK(pages->frame[i] != pages->frame[j]);
}

static struct pages pages; /* too large for a stack */

/* ---- single pages ---- */

static void plain_areas_are_single_pages(void)
{
	static const int prots[] = { READ_WRITE, PROT_READ };

	for (size_t i = 0; i < ARRAY_LEN(prots); i++)
		for (size_t nr = 1; nr <= 1024; nr *= 4) {
			struct wish wish = { "aux_test", nr, 0, prots[i], -1 };

			CHECK(have(&pages, &wish));
			CHECK(!any_chunk(&pages));
			expect_all_different(&pages);
		}
}

static void exclusive_areas_are_single_pages(void)
{
	struct wish wish = { "aux_test_exclusive", 64, 0, READ_WRITE, -1 };

	CHECK(have(&pages, &wish));
	CHECK(!any_chunk(&pages));
}

/* A task has no CPU, so no node; a CPU has one. */
static void tasks_and_cpus_have_pages(void)
{
	for (int cpu = -1; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		struct wish plain = { "aux_test", 64, 0, READ_WRITE, cpu };
		struct wish large = { "aux_test_large", 64, 0, READ_WRITE, cpu };

		CHECK(have(&pages, &plain));
		CHECK(!any_chunk(&pages));
		CHECK(have(&pages, &large));
		expect_chunks(&pages, 32);
	}
}

/* ---- one piece, for hardware that takes no list ---- */

static void contiguous_overwrite_is_one_piece(void)
{
	for (size_t nr = 2; nr <= 64; nr *= 2) {
		struct wish wish = { "aux_test_contiguous", nr, 0, PROT_READ, -1 };

		CHECK(have(&pages, &wish));
		expect_chunks(&pages, nr);
	}
}

/* Where that much is not to be had in one piece, there is nothing. */
static void contiguous_overwrite_or_nothing(void)
{
	for (size_t nr = 128; nr <= LARGEST_CHUNK; nr *= 2) {
		struct wish wish = { "aux_test_contiguous", nr, 0, PROT_READ, -1 };

		if (have(&pages, &wish))
			expect_chunks(&pages, nr);
	}
}

static void larger_than_the_allocator_gives_is_refused(void)
{
	for (size_t nr = 2 * LARGEST_CHUNK; nr <= MOST_PAGES; nr *= 2) {
		struct wish wish = { "aux_test_contiguous", nr, 0, PROT_READ, -1 };

		CHECK(!have(&pages, &wish));
	}
}

/* ---- chunks, no larger than the watermark ---- */

static const char *const chunky[] = { "aux_test_contiguous", "aux_test_large" };

/* By default half of it can be read while the other one fills. */
static void default_is_two_chunks(void)
{
	for (size_t i = 0; i < ARRAY_LEN(chunky); i++)
		for (size_t nr = 4; nr <= 64; nr *= 2) {
			struct wish wish = { chunky[i], nr, 0, READ_WRITE, -1 };

			CHECK(have(&pages, &wish));
			expect_chunks(&pages, nr / 2);
		}
}

static void watermark_is_the_largest_chunk(void)
{
	for (size_t i = 0; i < ARRAY_LEN(chunky); i++)
		for (size_t chunk = 2; chunk <= 32; chunk *= 2) {
			struct wish wish = {
				chunky[i], 64, (uint32_t)(chunk * page_size()),
				READ_WRITE, -1,
			};

			CHECK(have(&pages, &wish));
			expect_chunks(&pages, chunk);
		}
}

static void expect_no_larger(size_t chunk, const char *pmu, uint32_t watermark)
{
	struct wish wish = { pmu, 64, watermark, READ_WRITE, -1 };

	CHECK(have(&pages, &wish));
	if (chunk == 1 ? any_chunk(&pages) :
	    pages.begins_chunk[0] && !pages.begins_chunk[chunk])
		BASE_DEFECT("a chunk is larger than the watermark");
	if (chunk > 1)
		expect_chunks(&pages, chunk);
}

/* Rounded down: what is larger would be filled up after the wake-up only. */
static void odd_watermarks_are_rounded_down(void)
{
	for (size_t i = 0; i < ARRAY_LEN(chunky); i++) {
		uint32_t page = (uint32_t)page_size();

		expect_no_larger(2, chunky[i], 3 * page);
		expect_no_larger(4, chunky[i], 5 * page);
		expect_no_larger(4, chunky[i], 8 * page - 1);
		expect_no_larger(8, chunky[i], 8 * page + 1);
		expect_no_larger(16, chunky[i], 31 * page);
	}
}

static void watermark_within_a_page_gives_single_pages(void)
{
	for (size_t i = 0; i < ARRAY_LEN(chunky); i++) {
		uint32_t page = (uint32_t)page_size();

		expect_no_larger(1, chunky[i], 1);
		expect_no_larger(1, chunky[i], page - 1);
		expect_no_larger(1, chunky[i], page);
		expect_no_larger(1, chunky[i], 2 * page - 1);
	}
}

/* A watermark of the whole area or more leaves two chunks all the same. */
static void large_watermark_leaves_two_chunks(void)
{
	static const uint32_t watermarks[] = { 64, 65, 1000, 1u << 19 };

	for (size_t i = 0; i < ARRAY_LEN(chunky); i++)
		for (size_t j = 0; j < ARRAY_LEN(watermarks); j++) {
			struct wish wish = {
				chunky[i], 64,
				watermarks[j] * (uint32_t)page_size(),
				READ_WRITE, -1,
			};

			CHECK(have(&pages, &wish));
			if (pages.begins_chunk[0] && !pages.begins_chunk[32])
				BASE_DEFECT("an area that is not overwritten is in one chunk");
			expect_chunks(&pages, 32);
		}
}

static void one_and_two_pages_have_no_chunks(void)
{
	for (size_t i = 0; i < ARRAY_LEN(chunky); i++)
		for (size_t nr = 1; nr <= 2; nr++) {
			struct wish wish = { chunky[i], nr, 0, READ_WRITE, -1 };

			CHECK(have(&pages, &wish));
			CHECK(!any_chunk(&pages));
		}
}

/* ---- large ones where they can be had ---- */

static void large_overwrite_takes_one_chunk(void)
{
	for (size_t nr = 2; nr <= 64; nr *= 2) {
		struct wish wish = { "aux_test_large", nr, 0, PROT_READ, -1 };

		CHECK(have(&pages, &wish));
		expect_chunks(&pages, nr);
	}
}

/* More than one chunk can be: as large as they come, and all of it. */
static void large_goes_on_beyond_the_largest_chunk(void)
{
	struct wish wish = { "aux_test_large", MOST_PAGES, 0, PROT_READ, -1 };
	size_t largest = 0, last = 0;

	CHECK(have(&pages, &wish));
	CHECK(pages.begins_chunk[0]);
	for (size_t i = 0; i < pages.nr; i++)
		if (pages.begins_chunk[i]) {
			largest = i - last > largest ? i - last : largest;
			last = i;
		}
	CHECK(largest >= 64);
	CHECK(largest <= LARGEST_CHUNK);
	remark("chunks of %zu pages", largest);
}

/* ---- what is left of it ---- */

/* Chunks are freed page by page; all of them are, and can be chunks again. */
static void memory_comes_back(void)
{
	const uint64_t before = memory_available();

	for (int round = 0; round < 40; round++) {
		struct wish large = { "aux_test_large", 1024, 0, READ_WRITE, -1 };
		struct wish refused = { "aux_test_contiguous",
					2 * LARGEST_CHUNK, 0, PROT_READ, -1 };

		CHECK(have_and_look(&pages, &large, 1));
		CHECK(pages.begins_chunk[0]);
		if (round % 8 == 0)
			CHECK(!have(&pages, &refused));
	}
	/* One area leaked each time would be 160 MiB. */
	CHECK(memory_available() + (64 << 20) > before);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(plain_areas_are_single_pages),
		CASE(exclusive_areas_are_single_pages),
		CASE(tasks_and_cpus_have_pages),
		CASE(contiguous_overwrite_is_one_piece),
		CASE(contiguous_overwrite_or_nothing),
		CASE(larger_than_the_allocator_gives_is_refused),
		CASE(default_is_two_chunks),
		CASE(watermark_is_the_largest_chunk),
		CASE(odd_watermarks_are_rounded_down),
		CASE(watermark_within_a_page_gives_single_pages),
		CASE(large_watermark_leaves_two_chunks),
		CASE(one_and_two_pages_have_no_chunks),
		CASE(large_overwrite_takes_one_chunk),
		CASE(large_goes_on_beyond_the_largest_chunk),
		CASE(memory_comes_back),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
