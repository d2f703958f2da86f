// SPDX-License-Identifier: GPL-2.0
/*
 * A walk through the ring, in the steps that are explained in
 * Documentation/userspace-api/perf_ring_buffer.rst. It samples itself, needs
 * nothing but this file, and says in TAP whether all went well.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DATA_PAGES 1 /* or another power of two */
#define PERIOD 1000000 /* ns of CPU time from sample to sample */
#define ENOUGH 200 /* samples, so that the ring goes round */

struct sample { /* what .sample_type below asks for, in the ABI's order */
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time;
};

struct ring {
	struct perf_event_mmap_page *page;
	const char *data;
	unsigned long size;
};

struct seen {
	unsigned long samples, wrong;
	uint64_t last_time;
};

/* Step 1: an event. It waits for step 3. */
static int open_event(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.wakeup_events = 4,
		.disabled = 1,
		.exclude_kernel = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

/* Step 2: its ring. Writable, so that the kernel obeys the tail. */
static int map_ring(struct ring *ring, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	ring->page = mmap(NULL, (1 + DATA_PAGES) * page,
			  PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring->page == MAP_FAILED)
		return -1;
	ring->data = (const char *)ring->page + ring->page->data_offset;
	ring->size = ring->page->data_size;
	return 0;
}

/* Step 7: bytes at a position, from both ends of the ring if they wrap. */
static void copy_out(const struct ring *ring, unsigned long position, void *to,
		     unsigned long bytes)
{
	unsigned long place = position & (ring->size - 1);
	unsigned long first = ring->size - place;

	if (first > bytes)
		first = bytes;
	memcpy(to, ring->data + place, first);
	memcpy((char *)to + first, ring->data, bytes - first);
}

/* Step 6: one record. Of a type that we do not know, we know the size. */
static void take_record(const struct ring *ring, unsigned long position,
			const struct perf_event_header *header,
			struct seen *seen)
{
	struct sample sample;

	if (header->type != PERF_RECORD_SAMPLE)
		return;
	copy_out(ring, position, &sample, sizeof(sample));
	seen->wrong += header->size != sizeof(sample);
	seen->wrong += sample.pid != (uint32_t)getpid();
	seen->wrong += sample.time <= seen->last_time;
	seen->last_time = sample.time;
	seen->samples++;
}

/* Step 5: all records from the tail up to the head. */
static void walk(struct ring *ring, struct seen *seen)
{
	unsigned long head = __atomic_load_n(&ring->page->data_head,
					     __ATOMIC_ACQUIRE); /* C */
	unsigned long tail = ring->page->data_tail; /* nobody else stores it */
	struct perf_event_header header;

	for (; tail != head; tail += header.size) {
		copy_out(ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail) {
			seen->wrong++; /* and where is the next one? */
			tail = head;
			break;
		}
		take_record(ring, tail, &header, seen);
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE); /* D */
}

int main(void)
{
	struct seen seen = { 0 };
	struct pollfd wait = { .fd = open_event(), .events = POLLIN };
	struct ring ring;
	uint64_t ran = 0; /* ns */

	if (wait.fd < 0 || map_ring(&ring, wait.fd)) {
		printf("1..0 # SKIP no event or ring: %s\n", strerror(errno));
		return 4; /* kselftest: skipped */
	}
	ioctl(wait.fd, PERF_EVENT_IOC_ENABLE, 0); /* step 3 */
	while (seen.samples < ENOUGH && !seen.wrong) {
		for (volatile int i = 0; i < 100000; i++)
			; /* something to sample */
		if (poll(&wait, 1, 0)) /* step 4 */
			walk(&ring, &seen);
	}
	ioctl(wait.fd, PERF_EVENT_IOC_DISABLE, 0);
	walk(&ring, &seen); /* step 8: what came after the last wake-up */
	if (read(wait.fd, &ran, sizeof(ran)) != sizeof(ran) ||
	    seen.samples > ran / PERIOD + 1)
		seen.wrong++;
	printf("TAP version 13\n1..1\n");
	printf("%sok 1 samples_are_whole_and_in_order # %lu in %llu ns\n",
	       seen.wrong ? "not " : "", seen.samples, (unsigned long long)ran);
	return !!seen.wrong;
}
