// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "cases.h"

#define COMMON (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

enum {
	STACK_BYTES	= 1024,
	RAW_BYTES	= 64,
	CLOCK_PERIOD	= 20 * 1000,	/* ns */
};

/* ax to ip, flags, sp, cs and ss, r8 to r15: as perf record --user-regs has them. */
static const uint64_t all_registers = 0xff0fff;

const struct bench_case bench_cases[] = {
	{ "IP", ON_FAULTS, PERF_SAMPLE_IP, 0, 0 },
	{ "IP+TID+TIME+PERIOD", ON_FAULTS, COMMON, 0, 0 },
	{ "IP+TID+TIME+PERIOD+ID+CPU", ON_FAULTS, COMMON | PERF_SAMPLE_ID | PERF_SAMPLE_CPU,
	  0, 0 },
	{ "... +CALLCHAIN (8 frames)", ON_FAULTS, COMMON | PERF_SAMPLE_CALLCHAIN, 0, 0 },
	{ "... +REGS_USER+STACK_USER (1 KiB)", ON_FAULTS,
	  COMMON | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, 0, 0 },
	{ "... +READ (one event)", ON_FAULTS, COMMON | PERF_SAMPLE_READ, PERF_FORMAT_ID, 0 },
	{ "... +READ (group of 4)", ON_FAULTS, COMMON | PERF_SAMPLE_READ,
	  PERF_FORMAT_ID | PERF_FORMAT_GROUP, 3 },
	{ "RAW (64 bytes from BPF)", ON_BPF_OUTPUT, PERF_SAMPLE_RAW, 0, 0 },
	{ "cpu-clock: IP+TID+TIME+PERIOD", ON_CPU_CLOCK, COMMON, 0, 0 },
	{ "task-clock: IP+TID+TIME+PERIOD", ON_TASK_CLOCK, COMMON, 0, 0 },
};

const size_t bench_case_count = sizeof(bench_cases) / sizeof(bench_cases[0]);

void die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int leader)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_SOFTWARE;
	fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		die("perf_event_open");
	return fd;
}

static void control(int fd, unsigned long request, long argument)
{
	if (ioctl(fd, request, argument))
		die("ioctl of an event");
}

static uint64_t config_of(enum source source)
{
	switch (source) {
	case ON_CPU_CLOCK:
		return PERF_COUNT_SW_CPU_CLOCK;
	case ON_TASK_CLOCK:
		return PERF_COUNT_SW_TASK_CLOCK;
	default:
		return PERF_COUNT_SW_PAGE_FAULTS;
	}
}

bool bench_is_clock(const struct bench_case *what)
{
	return what->source == ON_CPU_CLOCK || what->source == ON_TASK_CLOCK;
}

/* What becomes a sample in the bench's own ring; never wakes a reader. */
static struct perf_event_attr sampling_attr(const struct bench *bench)
{
	return (struct perf_event_attr){
		.sample_type		= bench->what->sample_type,
		.read_format		= bench->what->read_format,
		.sample_regs_user	= all_registers,
		.sample_stack_user	= STACK_BYTES,
		.write_backward		= bench->backward,
		.watermark		= 1,
		.wakeup_watermark	= RING_PAGES * PAGE,
	};
}

static void open_sampler(struct bench *bench)
{
	static const uint64_t others[] = {
		PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
		PERF_COUNT_SW_ALIGNMENT_FAULTS,
	};
	struct perf_event_attr attr = sampling_attr(bench);

	attr.config = config_of(bench->what->source);
	attr.sample_period = bench_is_clock(bench->what) ? CLOCK_PERIOD : 1;
	attr.disabled = 1;
	bench->on[0] = open_event(&attr, 0, -1, -1);
	bench->sink = bench->on[0];
	for (int i = 0; i < bench->what->siblings; i++) {
		struct perf_event_attr sibling = {
			.config		= others[i],
			.read_format	= bench->what->read_format,
		};

		bench->on[i + 1] = open_event(&sibling, 0, -1, bench->on[0]);
	}
}

static int open_trigger(int program)
{
	struct perf_event_attr attr = {
		.config		= PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period	= 1,
		.disabled	= 1,
	};
	int fd = open_event(&attr, 0, -1, -1);

	control(fd, PERF_EVENT_IOC_SET_BPF, program);
	close(program);
	return fd;
}

/*
 * Both programs end in 0, so the faults that they run on are no samples. The
 * sink is of CPU 0 since a program sends to the CPU's event.
 */
static void open_bpf(struct bench *bench)
{
	struct perf_event_attr attr = sampling_attr(bench);

	attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	attr.sample_period = 1;
	bench->sink = open_event(&attr, -1, 0, -1);
	bench->off = open_trigger(bpf_load_sender(bench->sink, 0));
	bench->on[0] = open_trigger(bpf_load_sender(bench->sink, RAW_BYTES));
}

void bench_open(struct bench *bench, const struct bench_case *what, bool backward)
{
	*bench = (struct bench){ .what = what, .backward = backward, .off = -1 };
	if (what->source == ON_BPF_OUTPUT)
		open_bpf(bench);
	else
		open_sampler(bench);
	bench->page = mmap(NULL, (RING_PAGES + 1) * PAGE,
			   backward ? PROT_READ : PROT_READ | PROT_WRITE,
			   MAP_SHARED, bench->sink, 0);
	if (bench->page == MAP_FAILED)
		die("mmap of the ring");
	bench_switch(bench, false);
}

void bench_close(struct bench *bench)
{
	munmap(bench->page, (RING_PAGES + 1) * PAGE);
	for (int i = bench->what->siblings; i >= 0; i--)
		close(bench->on[i]);
	if (bench->off >= 0)
		close(bench->off);
	if (bench->sink != bench->on[0])
		close(bench->sink);
}

void bench_switch(struct bench *bench, bool on)
{
	if (bench->off >= 0)
		control(bench->off, on ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
	control(bench->on[0], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void bench_drain(struct bench *bench)
{
	if (!bench->backward)
		__atomic_store_n(&bench->page->data_tail,
				 __atomic_load_n(&bench->page->data_head, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
}

uint64_t bench_bytes(const struct bench *bench)
{
	const uint64_t head = __atomic_load_n(&bench->page->data_head, __ATOMIC_ACQUIRE);

	return bench->backward ? -head : head;
}
