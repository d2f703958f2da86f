/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events, mappings and a reader for the perf ring tests.
 *
 * The reader keeps its place in `pos`; the kernel learns of it only through
 * ring_release(), so a test decides when space becomes free.
 */
#ifndef PERF_RING_EVENT_H
#define PERF_RING_EVENT_H

#include "perf_ring_test.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#define MAX_RECORD 65536
#define COMM_RECORD 24 /* a name of up to 7 characters, no sample_id */

/* ---- events ---- */

static inline int perf_open(const struct perf_event_attr *attr, pid_t pid,
			    int cpu, int group_fd, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
			    flags);
}

static inline struct perf_event_attr software_attr(uint64_t config)
{
	return (struct perf_event_attr) {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

/*
 * Counts nothing; each renaming of the task writes one PERF_RECORD_COMM.
 * Forks of the task write PERF_RECORD_FORK: start helpers before mapping.
 */
static inline struct perf_event_attr comm_attr(void)
{
	struct perf_event_attr attr = software_attr(PERF_COUNT_SW_DUMMY);

	attr.comm = 1;
	return attr;
}

/* One sample for each page fault of user code, once it is enabled. */
static inline struct perf_event_attr fault_attr(void)
{
	struct perf_event_attr attr = software_attr(PERF_COUNT_SW_PAGE_FAULTS);

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_ADDR;
	attr.disabled = 1;
	return attr;
}

/* Wakes whoever waits each time this many bytes have been written. */
static inline struct perf_event_attr watermark_attr(uint32_t bytes)
{
	struct perf_event_attr attr = comm_attr();

	attr.watermark = 1;
	attr.wakeup_watermark = bytes;
	return attr;
}

static inline int open_on(const struct perf_event_attr *attr, pid_t pid,
			  int cpu)
{
	int fd = perf_open(attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		FAIL("perf_event_open(pid %d, cpu %d): %s", pid, cpu,
		     strerror(errno));
	return fd;
}

/* Own task, any CPU. */
static inline int open_self(const struct perf_event_attr *attr)
{
	return open_on(attr, 0, -1);
}

static inline int open_comm(void)
{
	struct perf_event_attr attr = comm_attr();

	return open_self(&attr);
}

static inline uint64_t event_id(int fd)
{
	uint64_t id = 0;

	CHECK(!ioctl(fd, PERF_EVENT_IOC_ID, &id));
	return id;
}

/* A long, because "none" is a -1 of full width. */
static inline int set_output(int fd, long target)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, target);
}

static inline int pause_output(int fd, int paused)
{
	return ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, paused);
}

static inline void enable(int fd)
{
	CHECK(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
}

static inline void disable(int fd)
{
	CHECK(!ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
}

/* What poll() would say at once; asking takes it away. */
static inline short poll_now(int fd)
{
	struct pollfd state = { .fd = fd, .events = POLLIN };

	poll(&state, 1, 0);
	return state.revents;
}

/* The count of an event that is opened with PERF_FORMAT_LOST alone. */
static inline uint64_t lost_of(int fd)
{
	uint64_t values[2];

	CHECK_EQ(read(fd, values, sizeof(values)), sizeof(values));
	return values[1];
}

static inline uint64_t count_of(int fd)
{
	uint64_t values[8];

	CHECK(read(fd, values, sizeof(values)) >= (ssize_t)sizeof(values[0]));
	return values[0];
}

/* ---- settings of the system ---- */

static inline bool sysctl_get(const char *path, int *value)
{
	FILE *file = fopen(path, "r");
	bool got = file && fscanf(file, "%d", value) == 1;

	if (file)
		fclose(file);
	return got;
}

static inline bool sysctl_set(const char *path, int value)
{
	FILE *file = fopen(path, "w");
	bool put;

	if (!file)
		return false;
	put = fprintf(file, "%d\n", value) > 0;
	return !fclose(file) && put;
}

/* ---- rings ---- */

static inline size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[16];
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char name[512];
};

union ring_record {
	struct perf_event_header header;
	struct comm_record comm;
	struct lost_record lost;
	struct mmap2_record mmap2;
	uint64_t words[MAX_RECORD / 8];
};

struct ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size; /* of the data, in bytes */
	size_t length; /* of the mapping, in bytes */
	uint64_t pos; /* next byte that the reader has not seen */
	union ring_record record; /* the last one read, whole */
};

static inline void *map_pages(int fd, size_t pages, int prot)
{
	return mmap(NULL, pages * page_size(), prot, MAP_SHARED, fd, 0);
}

static inline void ring_map_as(struct ring *ring, int fd, size_t data_pages,
			       int prot)
{
	size_t length = (data_pages + 1) * page_size();
	void *base = map_pages(fd, data_pages + 1, prot);

	if (base == MAP_FAILED)
		FAIL("mmap of 1 + %zu pages: %s", data_pages, strerror(errno));
	ring->page = base;
	ring->data = (const uint8_t *)base + page_size();
	ring->size = data_pages * page_size();
	ring->length = length;
	ring->pos = 0;
}

/* A ring that never overruns its reader. */
static inline void ring_map(struct ring *ring, int fd, size_t data_pages)
{
	ring_map_as(ring, fd, data_pages, PROT_READ | PROT_WRITE);
}

static inline void ring_unmap(struct ring *ring)
{
	CHECK(!munmap(ring->page, ring->length));
	ring->page = NULL;
}

/* Edge C: the records below this head are whole. */
static inline uint64_t ring_head(const struct ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

/* Edge D: all reads below the tail are done before the kernel may write there. */
static inline void ring_set_tail(struct ring *ring, uint64_t tail)
{
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

static inline void ring_release(struct ring *ring)
{
	ring_set_tail(ring, ring->pos);
}

/* Bytes at a stream position, put together across the end of the ring. */
static inline void ring_copy(const struct ring *ring, uint64_t pos, void *to,
			     size_t len)
{
	uint64_t offset = pos & (ring->size - 1);
	size_t first = len;

	if (first > ring->size - offset)
		first = ring->size - offset;
	memcpy(to, ring->data + offset, first);
	memcpy((uint8_t *)to + first, ring->data, len - first);
}

/* Next unread record below the limit, or NULL when there is none. */
static inline struct perf_event_header *ring_next_below(struct ring *ring,
							uint64_t limit)
{
	struct perf_event_header *header = &ring->record.header;
	uint64_t left = limit - ring->pos;

	if (!left)
		return NULL;
	CHECK(left >= sizeof(*header));
	ring_copy(ring, ring->pos, header, sizeof(*header));
	CHECK(header->size >= sizeof(*header));
	CHECK_EQ(header->size % 8, 0);
	CHECK(header->size <= left);
	ring_copy(ring, ring->pos, header, header->size);
	ring->pos += header->size;
	return header;
}

static inline struct perf_event_header *ring_next(struct ring *ring)
{
	return ring_next_below(ring, ring_head(ring));
}

/* Reads all that is there and hands the space back; returns how many. */
static inline unsigned int ring_drain(struct ring *ring)
{
	unsigned int nr = 0;

	while (ring_next(ring))
		nr++;
	ring_release(ring);
	return nr;
}

/* ---- what a reader expects ---- */

static inline void expect_type(struct ring *ring, uint32_t type)
{
	if (!ring_next(ring))
		FAIL("the ring ends before a record of type %u", type);
	CHECK_EQ(ring->record.header.type, type);
}

/* The next record has to be the COMM record of this renaming. */
static inline void expect_comm(struct ring *ring, unsigned int seq)
{
	const struct comm_record *comm = &ring->record.comm;
	char name[16];

	expect_type(ring, PERF_RECORD_COMM);
	snprintf(name, sizeof(name), "%07u", seq % 10000000);
	if (strcmp(comm->comm, name))
		FAIL("COMM record says %.16s, not %s", comm->comm, name);
	CHECK_EQ(comm->tid, gettid());
}

/* The next record has to say that so many records of this event are lost. */
static inline void expect_lost(struct ring *ring, uint64_t id, uint64_t lost)
{
	const struct lost_record *record = &ring->record.lost;

	expect_type(ring, PERF_RECORD_LOST);
	CHECK(record->header.size >= sizeof(*record));
	CHECK_EQ(record->id, id);
	CHECK_EQ(record->lost, lost);
}

static inline void expect_end(struct ring *ring)
{
	if (ring_next(ring))
		FAIL("a record of type %u where the ring should end",
		     ring->record.header.type);
}

/* ---- several events, one ring ---- */

/* A COMM event whose records end with the event's id. */
static inline struct perf_event_attr signed_attr(void)
{
	struct perf_event_attr attr = comm_attr();

	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER;
	attr.read_format = PERF_FORMAT_LOST;
	return attr;
}

static inline int open_signed(void)
{
	struct perf_event_attr attr = signed_attr();

	return open_self(&attr);
}

static inline void expect_signed(struct ring *ring, unsigned int seq, int fd)
{
	expect_comm(ring, seq);
	CHECK_EQ(ring->record.header.size, COMM_RECORD + 8);
	CHECK_EQ(ring->record.words[COMM_RECORD / 8], event_id(fd));
}

/* One record of each of these two; a task's events write in no set order. */
static inline void expect_signed_pair(struct ring *ring, unsigned int seq, int a,
			       int b)
{
	uint64_t sum = 0;

	for (int i = 0; i < 2; i++) {
		expect_comm(ring, seq);
		sum += ring->record.words[COMM_RECORD / 8];
	}
	CHECK_EQ(sum, event_id(a) + event_id(b));
}

#endif /* PERF_RING_EVENT_H */
