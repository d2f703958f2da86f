// SPDX-License-Identifier: GPL-2.0
/* The user page, and what mmap(2) of an event takes and refuses. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "case.h"
#include "ring.h"
#include "work.h"

#define NOBODY 65534

static struct perf_event_attr faults_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.disabled = 1,
	};
}

static long try_map(const struct ring *ring, size_t pages, int protection, int flags, size_t offset)
{
	void *map = mmap(NULL, pages * PAGE, protection, flags, ring->fd, offset * PAGE);

	return map == MAP_FAILED ? -errno : (long)map;
}

/*
 * A page is written when its event is switched in, so what a running event has
 * counted is as old as the last switch, whenever that was. A clock's is its reading.
 */
static const char *told_offset(const struct ring *ring, char *number, size_t size)
{
	long long offset = (long long)ring->page->offset;
	bool clock = ring->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
		     ring->attr.config == PERF_COUNT_SW_TASK_CLOCK;

	if (ring->page->time_enabled && (clock || (offset >= 0 && offset <= 3)))
		return "counted";
	snprintf(number, size, "%lld", offset);
	return number;
}

/* The clock's numbers are this machine's; that they are there is not. */
static void say_page(const char *when, const struct ring *ring)
{
	const struct perf_event_mmap_page *page = ring->page;
	char number[32];
	size_t used = 0;

	for (size_t i = 0; i < sizeof(page->__reserved); i++)
		used += page->__reserved[i] != 0;
	say("%s: version=%u compat=%u lock=%s index=%u offset=%s caps=%#llx width=%u size=%u\n",
	    when, page->version, page->compat_version, page->lock % 2 ? "ODD" : "even",
	    page->index, told_offset(ring, number, sizeof(number)),
	    (unsigned long long)page->capabilities,
	    page->pmc_width, page->size);
	say("  enabled=%s running=%s mult=%s shift=%s zero=%s cycles=%s mask=%#llx reserved=%zu\n",
	    page->time_enabled ? "some" : "0", page->time_running ? "some" : "0",
	    page->time_mult ? "some" : "0", page->time_shift ? "some" : "0",
	    page->time_zero ? "some" : "0", page->time_cycles ? "some" : "0",
	    (unsigned long long)page->time_mask, used);
	say("  head=%llu tail=%llu data=%llu+%llu aux head=%llu tail=%llu area=%llu+%llu\n",
	    (unsigned long long)page->data_head, (unsigned long long)page->data_tail,
	    (unsigned long long)page->data_offset, (unsigned long long)page->data_size,
	    (unsigned long long)page->aux_head, (unsigned long long)page->aux_tail,
	    (unsigned long long)page->aux_offset, (unsigned long long)page->aux_size);
}

static void user_page(const void *unused)
{
	static const uint64_t configs[] = {
		PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK,
		PERF_COUNT_SW_DUMMY,
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(configs); i++) {
		struct perf_event_attr attr = faults_attr();
		struct ring ring;

		attr.config = configs[i];
		attr.sample_period = 1000000000;
		open_own(&ring, &attr);
		map_ring(&ring, 1 << i, RING_READ_WRITE);
		say("config %llu ", (unsigned long long)attr.config);
		say_page("mapped", &ring);
		enable(&ring);
		fault_pages_from(i * 3, 3);
		say_page("enabled", &ring);
		disable(&ring);
		say_page("disabled", &ring);
		close_ring(&ring);
	}
}

static void sizes(const void *unused)
{
	struct perf_event_attr attr = faults_attr();

	(void)unused;
	for (size_t pages = 1; pages < 12; pages++) {
		struct ring ring;

		open_own(&ring, &attr);
		say("%zu pages ", pages);
		say_result("", try_map(&ring, pages, PROT_READ | PROT_WRITE, MAP_SHARED, 0));
		close_ring(&ring);
	}
}

static void ways(const void *unused)
{
	struct perf_event_attr attr = faults_attr();
	struct ring ring;

	(void)unused;
	open_own(&ring, &attr);
	say_result("private", try_map(&ring, 2, PROT_READ, MAP_PRIVATE, 0));
	say_result("offset 1 unmapped", try_map(&ring, 2, PROT_READ, MAP_SHARED, 1));
	say_result("no access", try_map(&ring, 2, PROT_NONE, MAP_SHARED, 0));
	say_result("again, readable", try_map(&ring, 2, PROT_READ, MAP_SHARED, 0));
	say_result("again, writable", try_map(&ring, 2, PROT_READ | PROT_WRITE, MAP_SHARED, 0));
	say_result("again, executable", try_map(&ring, 2, PROT_READ | PROT_EXEC, MAP_SHARED, 0));
	say_result("again, larger", try_map(&ring, 3, PROT_READ, MAP_SHARED, 0));
	say_result("offset 1 mapped", try_map(&ring, 1, PROT_READ, MAP_SHARED, 1));
	attr.inherit = 1;
	open_own(&ring, &attr);
	say_result("inherited task event", try_map(&ring, 2, PROT_READ, MAP_SHARED, 0));
	open_event(&ring, &attr, 0, 0, -1);
	say_result("inherited on a cpu", try_map(&ring, 2, PROT_READ, MAP_SHARED, 0));
}

/* An AUX area needs a device that has one, whatever the user page says. */
static void aux_area(const void *unused)
{
	struct perf_event_attr attr = faults_attr();
	struct ring ring;

	(void)unused;
	open_own(&ring, &attr);
	map_ring(&ring, 2, RING_READ_WRITE);
	for (size_t offset = 0; offset < 6; offset++) {
		for (size_t pages = 1; pages < 4; pages++) {
			ring.page->aux_offset = offset * PAGE;
			ring.page->aux_size = pages * PAGE;
			say("offset %zu pages %zu ", offset, pages);
			say_result("", try_map(&ring, pages, PROT_READ | PROT_WRITE, MAP_SHARED,
					       offset));
		}
	}
	ring.page->aux_offset = 4 * PAGE;
	ring.page->aux_size = 2 * PAGE;
	say_result("other size than said", try_map(&ring, 4, PROT_READ, MAP_SHARED, 4));
	say_result("other offset than said", try_map(&ring, 2, PROT_READ, MAP_SHARED, 6));
}

/* The ring lives as long as somebody maps it, and its parts cannot go away. */
static void parts(const void *unused)
{
	struct perf_event_attr attr = faults_attr();
	struct ring ring;
	void *moved;

	(void)unused;
	attr.comm = 1;
	open_own(&ring, &attr);
	map_ring(&ring, 4, RING_READ_WRITE);
	enable(&ring);
	rename_self("before");
	moved = mremap(ring.page, 5 * PAGE, 9 * PAGE, MREMAP_MAYMOVE);
	say_result("grow", moved == MAP_FAILED ? -errno : 0);
	moved = mremap(ring.page, 5 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, 0x40000000);
	say_result("move", moved == MAP_FAILED ? -errno : 0);
	if (moved != MAP_FAILED) {
		ring.page = moved;
		ring.data = (const uint8_t *)moved + PAGE;
	}
	say_result("unmap the last page",
		   munmap((char *)ring.page + 4 * PAGE, PAGE) ? -errno : 0);
	rename_self("between");
	say_result("unmap the user page", munmap(ring.page, PAGE) ? -errno : 0);
	rename_self("after");
	say_result("map again, same size",
		   try_map(&ring, 5, PROT_READ | PROT_WRITE, MAP_SHARED, 0));
	say_result("map again, other size",
		   try_map(&ring, 3, PROT_READ | PROT_WRITE, MAP_SHARED, 0));
}

static long number_after(const char *file, const char *key)
{
	FILE *status = fopen(file, "re");
	char line[256];
	long number = -1;

	if (!status)
		err(1, "%s", file);
	while (fgets(line, sizeof(line), status)) {
		if (strncmp(line, key, strlen(key)) == 0)
			sscanf(line + strlen(key), "%ld", &number);
	}
	fclose(status);
	return number;
}

static void say_pinned(const char *when)
{
	say("%s: pinned %ld kB\n", when, number_after("/proc/self/status", "VmPin:"));
}

/* Rings of 64 pages until the limit says no; everything is given back. */
static void locked_memory(const void *unused)
{
	struct rlimit limit = { 64 * 1024, 64 * 1024 };
	struct perf_event_attr attr = faults_attr();
	struct ring rings[16];
	int fitted = 0;
	long map;

	(void)unused;
	attr.exclude_kernel = 1;
	setrlimit(RLIMIT_MEMLOCK, &limit);
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		err(1, "setresuid");
	say_pinned("start");
	for (int round = 0; round < 2; round++) {
		for (fitted = 0; fitted < 16; fitted++) {
			open_own(&rings[fitted], &attr);
			map = try_map(&rings[fitted], 65, PROT_READ, MAP_SHARED, 0);
			if (map < 0)
				break;
			rings[fitted].page = (void *)map;
			rings[fitted].size = 64 * PAGE;
		}
		say("%d rings fit, then ", fitted);
		say_result("mmap", map);
		say_pinned("full");
		while (fitted--)
			close_ring(&rings[fitted]);
		say_pinned("closed");
	}
}

void mapping_cases(void)
{
	run_case("map-user-page", user_page, NULL);
	run_case("map-sizes", sizes, NULL);
	run_case("map-ways", ways, NULL);
	run_case("map-aux-area", aux_area, NULL);
	run_case("map-parts", parts, NULL);
	run_case("map-locked-memory", locked_memory, NULL);
}
