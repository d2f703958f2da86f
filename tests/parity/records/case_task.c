// SPDX-License-Identifier: GPL-2.0
/* Side-band records of the life of tasks: fork, exec, exit, switches. */
#define _GNU_SOURCE
#include <err.h>
#include <string.h>
#include <unistd.h>

#include "case.h"
#include "decode.h"
#include "ring.h"
#include "work.h"

#define WHO (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

static struct perf_event_attr task_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = WHO,
		.sample_id_all = 1,
		.disabled = 1,
	};
}

static void rename_as(const void *name)
{
	rename_self(name);
}

static void execute(const void *unused)
{
	(void)unused;
	execl("/proc/self/exe", "records", "--nothing", (char *)NULL);
	err(1, "exec");
}

static void family(bool inherit, unsigned int thread_only)
{
	struct perf_event_attr attr = task_attr();
	struct ring ring;

	attr.task = 1;
	attr.comm = 1;
	attr.inherit = inherit;
	attr.inherit_thread = thread_only;
	open_event(&ring, &attr, 0, inherit ? 0 : -1, -1);
	map_ring(&ring, 16, RING_READ_WRITE);
	enable(&ring);
	in_child(rename_as, "child");
	in_thread(rename_as, "thread");
	in_child(rename_as, "another");
	disable(&ring);
	dump_ring(&ring);
}

static void forks(const void *unused)
{
	(void)unused;
	family(false, 0);
}

static void inherited_forks(const void *unused)
{
	(void)unused;
	family(true, 0);
}

static void inherited_threads(const void *unused)
{
	(void)unused;
	family(true, 1);
}

static void watch_exec(struct perf_event_attr attr)
{
	struct ring ring;

	attr.task = 1;
	attr.comm = 1;
	attr.comm_exec = 1;
	attr.mmap = 1;
	attr.inherit = 1;
	open_event(&ring, &attr, 0, 0, -1);
	map_ring(&ring, 16, RING_READ_WRITE);
	enable(&ring);
	in_child(execute, NULL);
	disable(&ring);
	dump_ring(&ring);
}

static void exec_with_mmap(const void *unused)
{
	(void)unused;
	watch_exec(task_attr());
}

static void exec_with_mmap2(const void *unused)
{
	struct perf_event_attr attr = task_attr();

	(void)unused;
	attr.mmap2 = 1;
	attr.mmap_data = 1;
	attr.namespaces = 1;
	watch_exec(attr);
}

static void exec_removes(const void *unused)
{
	struct perf_event_attr attr = task_attr();

	(void)unused;
	attr.remove_on_exec = 1;
	watch_exec(attr);
}

/* The event sleeps until the child executes something. */
static void exec_enables(const void *unused)
{
	struct perf_event_attr attr = task_attr();
	struct ring ring;

	(void)unused;
	attr.comm = 1;
	attr.task = 1;
	attr.inherit = 1;
	attr.enable_on_exec = 1;
	open_event(&ring, &attr, 0, 0, -1);
	map_ring(&ring, 16, RING_READ_WRITE);
	in_child(rename_as, "unseen");
	in_child(execute, NULL);
	dump_ring(&ring);
}

/* A time slice may end anywhere, so what preemption adds is left out. */
struct switches {
	struct time_rule times;
	bool preempted;
	uint32_t pid;
};

static void dump_switch(const struct ring *ring, const struct perf_event_header *record,
			void *argument)
{
	struct switches *state = argument;

	if (record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) {
		state->preempted = true;
		return;
	}
	if (state->preempted) {
		state->preempted = false;
		return;
	}
	dump_one(ring, record, &state->times);
}

static void switches(const void *unused)
{
	struct perf_event_attr attr = task_attr();
	struct switches state = { 0 };
	struct ring ring;

	(void)unused;
	attr.context_switch = 1;
	open_own(&ring, &attr);
	map_ring(&ring, 16, RING_READ_WRITE);
	enable(&ring);
	for (int i = 0; i < 4; i++)
		usleep(1000);
	disable(&ring);
	each_record(&ring, SIZE_MAX, dump_switch, &state);
}

/* Of all that happens on the CPU only what concerns the own task. */
static void dump_own_switch(const struct ring *ring, const struct perf_event_header *record,
			    void *argument)
{
	struct switches *state = argument;
	const uint32_t *words = (const void *)(record + 1);
	bool wide = record->type == PERF_RECORD_SWITCH_CPU_WIDE;
	struct perf_event_header copy[16];

	/* pid and tid of the sample_id follow those of the other task */
	if (words[wide ? 2 : 0] != state->pid)
		return;
	memcpy(copy, record, record->size);
	if (wide)	/* whoever else had the CPU */
		memset(copy + 1, 0, sizeof(copy[0]));
	dump_switch(ring, copy, state);
}

static void wide_switches(const void *unused)
{
	struct perf_event_attr attr = task_attr();
	struct switches state = { .pid = getpid() };
	struct ring ring;

	(void)unused;
	attr.context_switch = 1;
	open_event(&ring, &attr, -1, 0, -1);
	map_ring(&ring, 64, RING_READ_WRITE);
	enable(&ring);
	for (int i = 0; i < 4; i++)
		usleep(1000);
	disable(&ring);
	each_record(&ring, SIZE_MAX, dump_own_switch, &state);
}

void task_cases(void)
{
	run_case("fork", forks, NULL);
	run_case("fork-inherited", inherited_forks, NULL);
	run_case("fork-inherited-threads", inherited_threads, NULL);
	run_case("exec", exec_with_mmap, NULL);
	run_case("exec-mmap2", exec_with_mmap2, NULL);
	run_case("exec-removes", exec_removes, NULL);
	run_case("exec-enables", exec_enables, NULL);
	run_case("switch", switches, NULL);
	run_case("switch-cpu-wide", wide_switches, NULL);
}
