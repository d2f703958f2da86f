// SPDX-License-Identifier: GPL-2.0
/*
 * Overflows that are told to the task itself (sigtrap): before it goes on, once
 * each, with what the opener asked for; and until an exec.
 */
#include "perf_ring_sample.h"

#include <linux/hw_breakpoint.h>
#include <pthread.h>
#include <sched.h>
#include <ucontext.h>

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

#define SIG_DATA 0x0123456789abcdefULL
#define MOST_TRAPS 64

/* What the kernel puts behind si_addr; not every libc has names for it. */
struct trap_info {
	void *addr;
	unsigned long data;
	uint32_t type, flags;
};

struct trap {
	int code;
	struct trap_info info;
	unsigned int done; /* of the work, when the signal came */
	pid_t tid;
};

static struct trap traps[MOST_TRAPS];
static volatile unsigned int nr_traps, done;
static struct fault_area area;
static struct ring ring;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	struct trap *trap = &traps[nr_traps++ % MOST_TRAPS];

	(void)sig;
	(void)context;
	trap->code = info->si_code;
	memcpy(&trap->info, &info->si_addr, sizeof(trap->info));
	trap->done = done;
	trap->tid = gettid();
}

static void catch_traps(void)
{
	struct sigaction action = {
		.sa_sigaction = on_trap,
		.sa_flags = SA_SIGINFO,
	};

	CHECK(!sigaction(SIGTRAP, &action, NULL));
	touch_stack();
	area = fault_area(MOST_TRAPS);
	fault_again(&area);
}

static struct perf_event_attr trap_attr(void)
{
	struct perf_event_attr attr = fault_attr();

	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	attr.sig_data = SIG_DATA;
	return attr;
}

static void block_traps(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	CHECK(!sigprocmask(how, &set, NULL));
}

/* ---- what the signal says ---- */

static void each_fault_traps_before_the_next_instruction(void)
{
	struct perf_event_attr attr = trap_attr();
	int fd;

	catch_traps();
	fd = open_self(&attr);
	enable(fd);
	for (done = 0; done < 30; done++)
		fault_on(page_of(&area, done));
	disable(fd);
	CHECK_EQ(nr_traps, 30);
	for (unsigned int i = 0; i < 30; i++) {
		CHECK_EQ(traps[i].code, TRAP_PERF);
		CHECK_EQ(traps[i].done, i);
		CHECK_EQ(traps[i].tid, gettid());
		CHECK_EQ(traps[i].info.addr, page_of(&area, i));
		CHECK_EQ(traps[i].info.data, (unsigned long)SIG_DATA);
		CHECK_EQ(traps[i].info.type, PERF_TYPE_SOFTWARE);
		CHECK_EQ(traps[i].info.flags, 0);
	}
}

/* A ring is not needed; with one, there is the sample, too. */
static void the_sample_is_written_as_well(void)
{
	struct perf_event_attr attr = trap_attr();
	struct sample s;
	int fd;

	catch_traps();
	attr.sample_period = 3;
	fd = open_self(&attr);
	ring_map(&ring, fd, 1);
	enable(fd);
	for (done = 0; done < 30; done++)
		fault_on(page_of(&area, done));
	disable(fd);
	CHECK_EQ(nr_traps, 10);
	for (unsigned int i = 0; i < 10; i++) {
		expect_sample(&ring, &s, &attr);
		CHECK_EQ(s.addr, page_of(&area, 3 * i + 2));
		CHECK_EQ(traps[i].info.addr, s.addr);
		CHECK_EQ(traps[i].done, 3 * i + 2);
	}
	expect_end(&ring);
}

static void the_address_needs_no_field_of_a_sample(void)
{
	struct perf_event_attr attr = trap_attr();
	int fd;

	catch_traps();
	attr.sample_type = 0;
	attr.sig_data = 0;
	fd = open_self(&attr);
	enable(fd);
	fault_on(page_of(&area, 3));
	disable(fd);
	CHECK_EQ(nr_traps, 1);
	CHECK_EQ(traps[0].info.data, 0);
	CHECK_EQ(traps[0].info.addr, page_of(&area, 3));
}

static void a_blocked_trap_waits_and_says_so(void)
{
	struct perf_event_attr attr = trap_attr();
	int fd;

	catch_traps();
	fd = open_self(&attr);
	block_traps(SIG_BLOCK);
	enable(fd);
	for (done = 0; done < 5; done++)
		fault_on(page_of(&area, done));
	disable(fd);
	CHECK_EQ(nr_traps, 0);
	block_traps(SIG_UNBLOCK);
	CHECK_EQ(nr_traps, 1); /* SIGTRAP does not queue */
	CHECK_EQ(traps[0].info.flags, 1); /* TRAP_PERF_FLAG_ASYNC */
	CHECK_EQ(traps[0].info.addr, page_of(&area, 0));
	CHECK_EQ(traps[0].done, 5);
	enable(fd);
	fault_on(page_of(&area, 10));
	disable(fd);
	CHECK_EQ(nr_traps, 2);
	CHECK_EQ(traps[1].info.flags, 0);
}

/* ---- breakpoints ---- */

static volatile uint64_t watched;

static void breakpoints_trap_at_the_access(void)
{
	struct perf_event_attr attr = trap_attr();
	int fd;

	catch_traps();
	attr.type = PERF_TYPE_BREAKPOINT;
	attr.config = 0;
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = (uintptr_t)&watched;
	attr.bp_len = HW_BREAKPOINT_LEN_8;
	fd = perf_open(&attr, 0, -1, -1, 0);
	if (fd < 0 && (errno == ENOSPC || errno == EOPNOTSUPP || errno == ENOENT))
		SKIP("no breakpoints: %s", strerror(errno));
	CHECK(fd >= 0);
	enable(fd);
	for (done = 0; done < 30; done++)
		watched = done;
	disable(fd);
	watched = 1;
	if (!nr_traps)
		SKIP("breakpoints of this machine do not work");
	CHECK_EQ(nr_traps, 30);
	for (unsigned int i = 0; i < 30; i++) {
		CHECK_EQ(traps[i].done, i);
		CHECK_EQ(traps[i].info.addr, &watched);
		CHECK_EQ(traps[i].info.type, PERF_TYPE_BREAKPOINT);
		CHECK_EQ(traps[i].info.data, (unsigned long)SIG_DATA);
	}
}

/* ---- who gets it ---- */

static void *fault_in_thread(void *tid)
{
	*(pid_t *)tid = gettid();
	for (size_t i = 0; i < 7; i++)
		fault_on(page_of(&area, i));
	return NULL;
}

static void a_thread_that_inherits_traps_itself(void)
{
	struct perf_event_attr attr = trap_attr();
	unsigned int of_thread = 0;
	pthread_t thread;
	pid_t tid;
	int fd;

	catch_traps();
	attr.inherit = 1;
	attr.inherit_thread = 1;
	fd = open_self(&attr);
	enable(fd);
	CHECK(!pthread_create(&thread, NULL, fault_in_thread, &tid));
	CHECK(!pthread_join(thread, NULL));
	disable(fd);
	CHECK(nr_traps < MOST_TRAPS);
	for (unsigned int i = 0; i < nr_traps; i++)
		for (size_t page = 0; page < 7; page++)
			if (traps[i].info.addr == (void *)page_of(&area, page)) {
				CHECK_EQ(traps[i].tid, tid);
				of_thread++;
			}
	CHECK_EQ(of_thread, 7);
}

/* Another program must not be killed by traps that it does not know. */
static void exec_here(void)
{
	execl("/bin/sleep", "sleep", "1000", NULL);
}

static void exec_ends_it(void)
{
	struct sleeping_task task = start_sleeping(exec_here);
	struct perf_event_attr attr = trap_attr();
	char name[32];
	int fd;

	attr.disabled = 0;
	attr.sample_period = 1000000; /* none before the exec */
	fd = open_on(&attr, task.pid, -1);
	ring_map(&ring, fd, 1);
	CHECK_EQ(poll_now(fd), 0);
	wake_task(&task);
	while (poll_now(fd) != POLLHUP)
		sched_yield();
	do {
		name_of(task.pid, name); /* it is there, and another one */
	} while (strcmp(name, "sleep\n"));
	CHECK(!kill(task.pid, SIGKILL));
}

static void an_event_that_stays_has_no_traps(void)
{
	struct perf_event_attr attr = trap_attr();

	attr.remove_on_exec = 0;
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	attr.remove_on_exec = 1;
	attr.enable_on_exec = 1;
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
}

static void an_event_of_a_cpu_has_no_traps(void)
{
	struct perf_event_attr attr = trap_attr();

	CHECK_ERRNO(perf_open(&attr, -1, 0, -1, 0), EINVAL);
	attr.sigtrap = 0;
	CHECK(perf_open(&attr, -1, 0, -1, 0) >= 0);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(each_fault_traps_before_the_next_instruction),
		CASE(the_sample_is_written_as_well),
		CASE(the_address_needs_no_field_of_a_sample),
		CASE(a_blocked_trap_waits_and_says_so),
		CASE(breakpoints_trap_at_the_access),
		CASE(a_thread_that_inherits_traps_itself),
		CASE(exec_ends_it),
		CASE(an_event_that_stays_has_no_traps),
		CASE(an_event_of_a_cpu_has_no_traps),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
