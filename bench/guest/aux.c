// SPDX-License-Identifier: GPL-2.0
/*
 * What an AUX area costs: a driver's pair of begin and end, mapping and unmapping.
 * Prints NAME <tab> NUMBER, for bench/aux. Runs in a guest whose clock counts
 * instructions, with the module aux_bench loaded.
 */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096UL
#define DATA_PAGES	64UL
#define PAIRS		1000
#define REPEATS		5
#define MIB		(1UL << 20)

static uint32_t pmu_type(void)
{
	FILE *in = fopen("/sys/bus/event_source/devices/aux_bench/type", "r");
	uint32_t type;

	if (!in || fscanf(in, "%" SCNu32, &type) != 1)
		errx(1, "the module aux_bench is not loaded");
	fclose(in);
	return type;
}

static int open_event(uint64_t pairs, uint64_t bytes, uint64_t pages)
{
	struct perf_event_attr attr = {
		.type		= pmu_type(),
		.size		= sizeof(attr),
		.config		= pairs,
		.config1	= bytes,
		.config2	= pages,
		.disabled	= 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		err(1, "perf_event_open");
	return fd;
}

static struct perf_event_mmap_page *map_ring(int fd)
{
	void *ring = mmap(NULL, (1 + DATA_PAGES) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		err(1, "mmap of the ring");
	return ring;
}

static void *map_aux(struct perf_event_mmap_page *ring, int fd, uint64_t size, int prot)
{
	void *aux;

	ring->aux_offset = (1 + DATA_PAGES) * PAGE;
	ring->aux_size = size;
	aux = mmap(NULL, size, prot, MAP_SHARED, fd, (off_t)ring->aux_offset);
	if (aux == MAP_FAILED)
		err(1, "mmap of %" PRIu64 " bytes of AUX area", size);
	return aux;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t run_once(int fd)
{
	uint64_t count;

	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) || ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ||
	    read(fd, &count, sizeof(count)) != sizeof(count))
		err(1, "running the event");
	return count;
}

/* A timer tick only adds, so the least is right. */
static uint64_t least_of_runs(int fd, struct perf_event_mmap_page *ring)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < REPEATS; i++) {
		uint64_t time = run_once(fd);

		if (time && time < least)
			least = time;
		ring->data_tail = ring->data_head;
		ring->aux_tail = ring->aux_head;
	}
	return least;
}

static void pair(const char *name, uint64_t bytes, int prot)
{
	int fd = open_event(PAIRS, bytes, 0);
	struct perf_event_mmap_page *ring = map_ring(fd);
	void *aux = map_aux(ring, fd, MIB, prot);

	printf("%s\t%.1f\n", name, (double)least_of_runs(fd, ring) / PAIRS);
	munmap(aux, MIB);
	munmap(ring, (1 + DATA_PAGES) * PAGE);
	close(fd);
}

static double clearing_a_page(void)
{
	int fd = open_event(0, 0, PAIRS);
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < REPEATS; i++) {
		uint64_t time = run_once(fd);

		least = time < least ? time : least;
	}
	close(fd);
	return (double)least / PAIRS;
}

static void mapping(const char *size_name, uint64_t size, double clear)
{
	int fd = open_event(1, 0, 0);
	struct perf_event_mmap_page *ring = map_ring(fd);
	double zeroing = clear * (double)(size / PAGE);
	uint64_t map = UINT64_MAX, unmap = UINT64_MAX;

	for (int i = 0; i < REPEATS; i++) {
		uint64_t start = now(), mapped, unmapped;
		void *aux = map_aux(ring, fd, size, PROT_READ | PROT_WRITE);

		mapped = now();
		munmap(aux, size);
		unmapped = now();
		map = mapped - start < map ? mapped - start : map;
		unmap = unmapped - mapped < unmap ? unmapped - mapped : unmap;
	}
	printf("set-up of %s, in thousands\t%.1f\n", size_name, ((double)map - zeroing) / 1000);
	printf("zeroing of %s, in thousands\t%.1f\n", size_name, zeroing / 1000);
	printf("tear-down of %s, in thousands\t%.1f\n", size_name, (double)unmap / 1000);
	munmap(ring, (1 + DATA_PAGES) * PAGE);
	close(fd);
}

int main(void)
{
	double clear = clearing_a_page();

	pair("begin + end, nothing written", 0, PROT_READ | PROT_WRITE);
	pair("begin + end, 64 bytes and a record", 64, PROT_READ | PROT_WRITE);
	pair("begin + end, overwrite, nothing", 0, PROT_READ);
	mapping("1 MiB", MIB, clear);
	mapping("64 MiB", 64 * MIB, clear);
	mapping("1 GiB", 1024 * MIB, clear);
	return 0;
}
