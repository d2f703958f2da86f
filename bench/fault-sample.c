// SPDX-License-Identifier: GPL-2.0
/*
 * What one sample costs: a page-fault event with period 1, the same faults with
 * the event off and on, and the difference for each fault.
 *
 * Under QEMU's -icount shift=0 the clock advances 1 ns for each instruction, so
 * the figures are instructions and the same each time; elsewhere they are ns.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PAGE		= 4096,
	TOUCHED		= 1024,	/* pages, one fault each */
	ROUNDS		= 10,
	REPEATS		= 5,	/* the best counts: timer ticks only ever add */
	RING_PAGES	= 256,
};

struct setup {
	const char	*name;
	uint64_t	sample_type;
	bool		backward;
};

struct ring {
	int				fd;
	bool				backward;
	struct perf_event_mmap_page	*page;
};

static const struct setup setups[] = {
	{ "IP", PERF_SAMPLE_IP, false },
	{ "IP+TID+TIME+PERIOD", PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	  PERF_SAMPLE_PERIOD, false },
	{ "IP+TID+TIME+PERIOD+ID+CPU", PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	  PERF_SAMPLE_PERIOD | PERF_SAMPLE_ID | PERF_SAMPLE_CPU, false },
	{ "IP backward", PERF_SAMPLE_IP, true },
	{ "IP+TID+TIME+PERIOD backward", PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	  PERF_SAMPLE_PERIOD, true },
	{ "IP+TID+TIME+PERIOD+ID+CPU backward", PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	  PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_ID | PERF_SAMPLE_CPU, true },
};

static void die(const char *what)
{
	fprintf(stderr, "fault-sample: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct ring open_ring(const struct setup *setup)
{
	struct perf_event_attr attr = {
		.type			= PERF_TYPE_SOFTWARE,
		.size			= sizeof(attr),
		.config			= PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period		= 1,
		.sample_type		= setup->sample_type,
		.disabled		= 1,
		.write_backward		= setup->backward,
		.watermark		= 1,
		.wakeup_watermark	= RING_PAGES * PAGE,
	};
	struct ring ring = { .backward = setup->backward };

	ring.fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring.fd < 0)
		die("perf_event_open");
	ring.page = mmap(NULL, (RING_PAGES + 1) * PAGE,
			 setup->backward ? PROT_READ : PROT_READ | PROT_WRITE,
			 MAP_SHARED, ring.fd, 0);
	if (ring.page == MAP_FAILED)
		die("mmap of the ring");
	return ring;
}

/* Nothing may be lost, or a refusal would pass for a cheap sample. */
static void drain(struct ring *ring)
{
	if (!ring->backward)
		__atomic_store_n(&ring->page->data_tail,
				 __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
}

static double touch(char *memory, struct ring *ring)
{
	double spent = 0;

	for (int round = 0; round < ROUNDS; round++) {
		if (madvise(memory, (size_t)TOUCHED * PAGE, MADV_DONTNEED))
			die("madvise");

		const double start = now();

		for (int i = 0; i < TOUCHED; i++)
			((volatile char *)memory)[(size_t)i * PAGE] = 1;
		spent += now() - start;
		drain(ring);
	}
	return spent / (ROUNDS * TOUCHED);
}

static void measure(const struct setup *setup, char *memory)
{
	struct ring ring = open_ring(setup);
	double off = 1e30, on = 1e30;

	touch(memory, &ring);
	for (int i = 0; i < REPEATS; i++) {
		double spent = touch(memory, &ring);

		off = spent < off ? spent : off;
		ioctl(ring.fd, PERF_EVENT_IOC_ENABLE, 0);
		spent = touch(memory, &ring);
		on = spent < on ? spent : on;
		ioctl(ring.fd, PERF_EVENT_IOC_DISABLE, 0);
	}

	const uint64_t bytes = setup->backward ? -ring.page->data_head : ring.page->data_head;
	const uint64_t samples = (uint64_t)REPEATS * ROUNDS * TOUCHED;

	if (bytes < samples * 16) {
		fprintf(stderr, "fault-sample: %s: samples are missing\n", setup->name);
		exit(1);
	}
	printf("%s\t%.1f\n", setup->name, on - off);
	close(ring.fd);
	munmap(ring.page, (RING_PAGES + 1) * PAGE);
}

int main(void)
{
	char *memory = mmap(NULL, (size_t)TOUCHED * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	madvise(memory, (size_t)TOUCHED * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]); i++)
		measure(&setups[i], memory);
	return 0;
}
