// SPDX-License-Identifier: GPL-2.0
/* BPF programs as consumers and makers of samples, and raw data in samples. */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_program.h"
#include "case.h"
#include "decode.h"
#include "ring.h"
#include "work.h"

static const size_t sizes[] = { 1, 3, 4, 5, 8, 12, 13, 64, 100, 511, 512 };

static struct perf_event_attr faults_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR,
		.read_format = PERF_FORMAT_LOST,
		.disabled = 1,
	};
}

/* The program decides if there is a sample. */
static void filtered(const void *unused)
{
	struct perf_event_attr attr = faults_attr();

	(void)unused;
	for (int verdict = 0; verdict < 2; verdict++) {
		struct ring ring;

		open_own(&ring, &attr);
		map_ring(&ring, 1, RING_READ_WRITE);
		control(&ring, PERF_EVENT_IOC_SET_BPF, load_verdict(verdict));
		enable(&ring);
		fault_pages_from(verdict * 4, 4);
		disable(&ring);
		dump_ring(&ring);
		dump_counts(&ring);
		close_ring(&ring);
	}
}

struct output {
	const char *name;
	uint64_t sample_type;
	unsigned int backward;
};

static const struct output outputs[] = {
	{ "raw", PERF_SAMPLE_RAW, 0 },
	{ "perf", PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_TID | PERF_SAMPLE_CPU |
		  PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER, 0 },
	{ "backward", PERF_SAMPLE_RAW | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT, 1 },
	{ "no-raw", PERF_SAMPLE_TID, 0 },
};

static void send_size(const struct ring *trigger, int map, size_t size)
{
	int program = load_sender(map, size);

	control(trigger, PERF_EVENT_IOC_SET_BPF, program);
	close(program);
}

static void sent(const void *argument)
{
	const struct output *output = argument;
	struct perf_event_attr sink = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		.sample_type = output->sample_type,
		.read_format = PERF_FORMAT_LOST,
		.write_backward = output->backward,
	};
	struct perf_event_attr attr = faults_attr();
	int map = create_event_map();
	struct ring ring;

	open_event(&ring, &sink, -1, 0, -1);
	map_ring(&ring, 1, RING_READ_WRITE);
	put_event(map, 0, ring.fd);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct ring trigger;

		open_own(&trigger, &attr);
		send_size(&trigger, map, sizes[i]);
		enable(&trigger);
		fault_pages_from(2 * i, 2);
		disable(&trigger);
		close_ring(&trigger);
	}
	dump_ring(&ring);
	dump_counts(&ring);
}

/* Loading and freeing a program makes symbol and program records. */
static void symbols(const void *unused)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.ksymbol = 1,
		.bpf_event = 1,
		.disabled = 1,
	};
	struct ring ring;

	(void)unused;
	open_own(&ring, &attr);
	map_ring(&ring, 4, RING_READ_WRITE);
	enable(&ring);
	close(load_verdict(0));
	close(load_sender(create_event_map(), 24));
	disable(&ring);
	dump_ring(&ring);
}

#define TRACEPOINTS "/sys/kernel/tracing/events/"

/* A system call that does nothing, with arguments that show. */
static void traced_calls(unsigned int count)
{
	while (count--)
		syscall(SYS_getppid, 11, 12, 13, 14, 15, 16);
}

static void tracepoint(const char *id_file, uint64_t sample_type)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.sample_period = 1,
		.sample_type = sample_type,
		.disabled = 1,
	};
	struct ring ring;

	if (access(id_file, R_OK))
		skip_case("there is no %s", id_file);
	attr.config = number_in(id_file);
	open_own(&ring, &attr);
	map_ring(&ring, 4, RING_READ_WRITE);
	enable(&ring);
	traced_calls(3);
	disable(&ring);
	dump_ring(&ring);
}

static void raw_entry(const void *unused)
{
	(void)unused;
	tracepoint(TRACEPOINTS "raw_syscalls/sys_enter/id", PERF_SAMPLE_RAW);
}

static void raw_exit(const void *unused)
{
	(void)unused;
	tracepoint(TRACEPOINTS "raw_syscalls/sys_exit/id", PERF_SAMPLE_RAW | PERF_SAMPLE_TID |
		   PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_ADDR);
}

static void one_call(const void *unused)
{
	(void)unused;
	tracepoint(TRACEPOINTS "syscalls/sys_enter_getppid/id", PERF_SAMPLE_RAW | PERF_SAMPLE_IP);
}

void bpf_cases(void)
{
	char name[64];

	run_case("bpf-filter", filtered, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++) {
		snprintf(name, sizeof(name), "bpf-output-%s", outputs[i].name);
		run_case(name, sent, &outputs[i]);
	}
	run_case("bpf-symbols", symbols, NULL);
	run_case("tracepoint-enter", raw_entry, NULL);
	run_case("tracepoint-exit", raw_exit, NULL);
	run_case("tracepoint-syscall", one_call, NULL);
}
