// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "case.h"
#include "names.h"
#include "ring.h"
#include "work.h"

int try_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	struct perf_event_attr sized = *attr;
	int fd;

	sized.size = sizeof(sized);
	fd = syscall(SYS_perf_event_open, &sized, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void open_event(struct ring *ring, const struct perf_event_attr *attr, pid_t pid, int cpu,
		int group)
{
	int fd = try_open(attr, pid, cpu, group);

	if (fd < 0)
		errx(1, "perf_event_open: %s", strerrorname_np(-fd));
	*ring = (struct ring){ .fd = fd, .attr = *attr, .opened = monotonic_now() };
	control(ring, PERF_EVENT_IOC_ID, (unsigned long)&ring->id);
	give_name(NAME_EVENT, ring->id);
	remember_event(ring);
}

void open_own(struct ring *ring, const struct perf_event_attr *attr)
{
	open_event(ring, attr, 0, -1, -1);
}

/* Touches every page, so that reading the ring makes no page fault later. */
static void touch_ring(const struct ring *ring)
{
	for (size_t at = 0; at < ring->size; at += PAGE)
		(void)*(const volatile uint8_t *)(ring->data + at);
	(void)*(const volatile __u64 *)&ring->page->data_head;
}

void map_ring(struct ring *ring, size_t pages, enum ring_access access)
{
	int protection = access == RING_READ_ONLY ? PROT_READ : PROT_READ | PROT_WRITE;
	void *map = mmap(NULL, (pages + 1) * PAGE, protection, MAP_SHARED, ring->fd, 0);

	if (map == MAP_FAILED)
		err(1, "mmap of a ring of %zu pages", pages);
	ring->page = map;
	ring->data = (const uint8_t *)map + PAGE;
	ring->size = pages * PAGE;
	ring->writable = access == RING_READ_WRITE;
	touch_ring(ring);
}

void unmap_ring(struct ring *ring)
{
	munmap(ring->page, ring->size + PAGE);
	ring->page = NULL;
}

void close_ring(struct ring *ring)
{
	if (ring->page)
		unmap_ring(ring);
	close(ring->fd);
}

void control(const struct ring *ring, unsigned long request, unsigned long argument)
{
	if (ioctl(ring->fd, request, argument))
		err(1, "ioctl %#lx", request);
}

void enable(const struct ring *ring)
{
	control(ring, PERF_EVENT_IOC_ENABLE, 0);
}

void disable(const struct ring *ring)
{
	control(ring, PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t ring_head(const struct ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

uint64_t ring_tail(const struct ring *ring)
{
	return ring->page->data_tail;
}
