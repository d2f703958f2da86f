// SPDX-License-Identifier: GPL-2.0
/*
 * Whom an event samples: a thread, a CPU, a task on a CPU, a task with all that
 * it starts, the whole system; each alone, together, and into one ring.
 */
#include "perf_ring_sample.h"

#include <pthread.h>
#include <sched.h>

#define MAX_CPUS 64
#define RING_PAGES 256
#define FAULTS 20

static struct perf_event_attr attr;
static struct fault_area area;
static struct ring rings[MAX_CPUS];
static int fds[MAX_CPUS];
static int nr_cpus;

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set));
}

static void set_up(void)
{
	nr_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	if (nr_cpus > MAX_CPUS)
		nr_cpus = MAX_CPUS;
	touch_stack();
	attr = minor_fault_attr(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
				PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU);
	area = fault_area(FAULTS);
	fault_again(&area);
}

static void need_two_cpus(void)
{
	if (nr_cpus < 2)
		SKIP("one CPU alone");
}

static void open_ring(int nr, pid_t pid, int cpu)
{
	fds[nr] = open_on(&attr, pid, cpu);
	ring_map(&rings[nr], fds[nr], RING_PAGES);
	ring_touch(&rings[nr]);
}

static void fault_all(void)
{
	for (size_t i = 0; i < area.pages; i++)
		fault_on(page_of(&area, i));
}

static bool in_area(const struct sample *s)
{
	return s->addr >= (uintptr_t)area.base &&
	       s->addr < (uintptr_t)area.base + area.pages * page_size();
}

/* Samples of the area by a task and an event (any, if 0), all on this CPU. */
static unsigned int count_samples(struct ring *ring, pid_t tid, int fd, int cpu)
{
	uint64_t id = fd ? event_id(fd) : 0;
	unsigned int nr = 0;
	struct sample s;

	ring->pos = ring->page->data_tail;
	while (ring_next(ring)) {
		CHECK(ring->record.header.type != PERF_RECORD_LOST);
		if (ring->record.header.type != PERF_RECORD_SAMPLE)
			continue;
		take_sample(ring, &s, &attr);
		if (s.tid != (uint32_t)tid || !in_area(&s) ||
		    (id && s.identifier != id))
			continue;
		CHECK(cpu < 0 || s.cpu == (uint32_t)cpu);
		nr++;
	}
	return nr;
}

/* ---- tasks that fault ---- */

static void fault_on_cpu(void *cpu)
{
	pin_to((int)(intptr_t)cpu);
	fault_all();
}

static pid_t run_on(int cpu)
{
	pid_t pid = start_child(fault_on_cpu, (void *)(intptr_t)cpu);

	join_child(pid);
	return pid;
}

/* The area in as many pieces as there are CPUs, one after the other. */
static void fault_around(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < area.pages; i++) {
		pin_to((int)i % nr_cpus);
		fault_on(page_of(&area, i));
	}
}

static unsigned int share_of(int cpu)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < area.pages; i++)
		nr += (int)i % nr_cpus == cpu;
	return nr;
}

/* ---- one at a time ---- */

static pid_t thread_tid;
static pthread_barrier_t barrier;

static void *fault_as_thread(void *unused)
{
	thread_tid = gettid();
	pthread_barrier_wait(&barrier); /* known */
	pthread_barrier_wait(&barrier); /* has its event */
	fault_all();
	return unused;
}

static void a_thread_alone(void)
{
	pthread_t thread;

	set_up();
	CHECK(!pthread_barrier_init(&barrier, NULL, 2));
	CHECK(!pthread_create(&thread, NULL, fault_as_thread, NULL));
	pthread_barrier_wait(&barrier);
	open_ring(0, thread_tid, -1);
	enable(fds[0]);
	fault_all(); /* ours do not count */
	fault_again(&area);
	pthread_barrier_wait(&barrier);
	CHECK(!pthread_join(thread, NULL));
	CHECK_EQ(count_samples(&rings[0], thread_tid, fds[0], -1), FAULTS);
	CHECK_EQ(count_samples(&rings[0], gettid(), fds[0], -1), 0);
}

static void a_cpu_alone(void)
{
	pid_t here, there;

	set_up();
	need_two_cpus();
	open_ring(0, -1, 1);
	enable(fds[0]);
	there = run_on(0);
	here = run_on(1);
	disable(fds[0]);
	CHECK_EQ(count_samples(&rings[0], here, fds[0], 1), FAULTS);
	CHECK_EQ(count_samples(&rings[0], there, fds[0], 1), 0);
}

static void a_task_on_one_cpu(void)
{
	set_up();
	need_two_cpus();
	open_ring(0, 0, 1);
	enable(fds[0]);
	fault_around(NULL);
	disable(fds[0]);
	CHECK_EQ(count_samples(&rings[0], gettid(), fds[0], 1), share_of(1));
}

static void a_task_wherever_it_is(void)
{
	set_up();
	open_ring(0, 0, -1);
	enable(fds[0]);
	fault_around(NULL);
	disable(fds[0]);
	CHECK_EQ(count_samples(&rings[0], gettid(), fds[0], -1), FAULTS);
}

static void the_whole_system(void)
{
	pid_t pids[MAX_CPUS], traveller;

	set_up();
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		open_ring(cpu, -1, cpu);
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		enable(fds[cpu]);
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		pids[cpu] = run_on(cpu);
	traveller = start_child(fault_around, NULL);
	join_child(traveller);
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		disable(fds[cpu]);
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		struct ring *ring = &rings[cpu];

		for (int of = 0; of < nr_cpus; of++)
			CHECK_EQ(count_samples(ring, pids[of], fds[cpu], cpu),
				 of == cpu ? FAULTS : 0);
		CHECK_EQ(count_samples(ring, traveller, fds[cpu], cpu),
			 share_of(cpu));
	}
}

/* As perf record does it: one event and ring for each CPU, inherited. */
static void a_task_with_all_that_it_starts(void)
{
	struct sleeping_task stranger;
	pid_t child;

	set_up();
	stranger = start_sleeping(fault_all);
	attr.inherit = 1;
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		open_ring(cpu, 0, cpu);
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		enable(fds[cpu]);
	end_task(&stranger);
	child = start_child(fault_around, NULL);
	join_child(child);
	fault_around(NULL);
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		disable(fds[cpu]);
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		struct ring *ring = &rings[cpu];

		CHECK_EQ(count_samples(ring, stranger.pid, fds[cpu], cpu), 0);
		CHECK_EQ(count_samples(ring, child, fds[cpu], cpu),
			 share_of(cpu));
		CHECK_EQ(count_samples(ring, gettid(), fds[cpu], cpu),
			 share_of(cpu));
	}
}

/* ---- together ---- */

static void all_modes_at_a_time(void)
{
	struct { pid_t pid; int cpu; } modes[] = {
		{ 0, -1 }, { -1, 0 }, { 0, 0 }, { -1, 0 }, { 0, -1 },
	};

	set_up();
	pin_to(0);
	for (int i = 0; i < (int)ARRAY_LEN(modes); i++)
		open_ring(i, modes[i].pid, modes[i].cpu);
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		enable(fds[i]);
	fault_all();
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		disable(fds[i]);
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		CHECK_EQ(count_samples(&rings[i], gettid(), 0, 0), FAULTS);
}

/* Several events into the ring of each CPU, told apart by their ids. */
static void several_events_into_one_ring_of_each_cpu(void)
{
	enum { ALL_TASKS, OWN_TASK, WITH_CHILDREN, NR_OTHERS };
	static int others[MAX_CPUS][NR_OTHERS];

	set_up();
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		open_ring(cpu, -1, cpu);
		enable(fds[cpu]);
		attr.disabled = 0;
		for (int i = 0; i < NR_OTHERS; i++) {
			attr.inherit = i == WITH_CHILDREN;
			others[cpu][i] = open_into(&attr,
						   i == ALL_TASKS ? -1 : 0,
						   cpu, fds[cpu]);
		}
		attr.disabled = 1;
		attr.inherit = 0;
	}
	fault_around(NULL);
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		struct ring *ring = &rings[cpu];

		disable(fds[cpu]);
		for (int i = 0; i < NR_OTHERS; i++)
			disable(others[cpu][i]);
		CHECK_EQ(count_samples(ring, gettid(), 0, cpu),
			 share_of(cpu) * (1 + NR_OTHERS));
		for (int i = 0; i < NR_OTHERS; i++)
			if (count_samples(ring, gettid(), others[cpu][i], cpu) !=
			    share_of(cpu))
				BASE_DEFECT("samples of one fault all have the id of one event");
		CHECK_EQ(count_samples(ring, gettid(), fds[cpu], cpu),
			 share_of(cpu));
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(a_thread_alone),
		CASE(a_cpu_alone),
		CASE(a_task_on_one_cpu),
		CASE(a_task_wherever_it_is),
		CASE(the_whole_system),
		CASE(a_task_with_all_that_it_starts),
		CASE(all_modes_at_a_time),
		CASE(several_events_into_one_ring_of_each_cpu),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
