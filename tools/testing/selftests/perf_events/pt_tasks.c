// SPDX-License-Identifier: GPL-2.0
/*
 * Whose trace it is: tasks that fork, exec, have threads and end; CPUs that go; users who
 * may trace what is theirs.
 */
#include "perf_pt_unseen.h"
#include "perf_ring_locked.h"

#include <pthread.h>
#include <sched.h>

#define TF 0x100

static struct pt_trace trace;

/* ---- programs that cannot tell ---- */

static uint64_t flags_now(void)
{
	uint64_t flags;

	asm volatile("pushf\n"
		     "pop %0"
		     : "=r" (flags));
	return flags & (TF | 0x40400);
}

/* Different for each input, and takes some branches. */
static uint64_t compute(uint64_t seed, unsigned int rounds)
{
	while (rounds--)
		seed = seed & 1 ? seed * 6364136223846793005 + 7 : seed / 2 ^ rounds;
	return seed;
}

static int status_of(pid_t pid)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static void forks_scene(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			NOTE(flags_now());
			NOTE(compute((uint64_t)i, 50));
			_exit(i);
		}
		NOTE(status_of(pid));
		NOTE(flags_now());
	}
}
UNSEEN(forks)

static __attribute__((noinline)) pid_t vfork_and_end(unsigned int seed)
{
	pid_t pid = vfork();

	if (!pid)
		_exit((int)(compute(seed, 50) & 0x7f) | (flags_now() ? 0x80 : 0));
	return pid;
}

static void vforks_scene(void)
{
	for (unsigned int i = 0; i < 10; i++) {
		NOTE(status_of(vfork_and_end(i)));
		NOTE(flags_now());
	}
}
UNSEEN(vforks)

static __attribute__((noinline)) pid_t vfork_and_exec(char *const args[])
{
	pid_t pid = vfork();

	if (!pid) {
		execv(args[0], args);
		_exit(99);
	}
	return pid;
}

static pid_t fork_and_exec(char *const args[])
{
	pid_t pid = fork();

	if (!pid) {
		execv(args[0], args);
		_exit(99);
	}
	return pid;
}

static void execs_scene(void)
{
	static char *const programs[][4] = {
		{ "/bin/true", NULL }, { "/bin/sh", "-c", "exit 9", NULL },
		{ "/bin/false", NULL }, { "/no/such", NULL },
		{ "/bin/sh", "-c", "kill -9 $$", NULL }, { "/bin/true", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		NOTE(status_of(i % 2 ? fork_and_exec(programs[i]) :
				       vfork_and_exec(programs[i])));
}
UNSEEN(execs)

static void *thread_work(void *arg)
{
	uint64_t *number = arg;

	for (int i = 0; i < 20; i++) {
		*number = compute(*number, 30);
		if (i % 5 == 0)
			sched_yield();
		if (flags_now())
			*number = 0;
	}
	return NULL;
}

static void threads_scene(void)
{
	pthread_t threads[4];
	uint64_t numbers[4];

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
			numbers[i] = i + 1;
			CHECK(!pthread_create(&threads[i], NULL, thread_work,
					      &numbers[i]));
		}
		for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
			CHECK(!pthread_join(threads[i], NULL));
			NOTE(numbers[i]);
		}
	}
}
UNSEEN(threads)

static void kills_scene(void)
{
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid)
			for (uint64_t sum = 0;; sum += flags_now())
				compute(sum, 10);
		usleep((useconds_t)(i * 100));
		CHECK(!kill(pid, SIGKILL));
		NOTE(status_of(pid));
	}
}
UNSEEN(kills)

static void stops_and_goes_scene(void)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		uint64_t sum = 1;

		for (int i = 0; i < 300; i++)
			sum = compute(sum, 20);
		NOTE(sum);
		_exit(3);
	}
	for (int i = 0; i < 10; i++) {
		kill(pid, SIGSTOP);
		CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
		if (!WIFSTOPPED(status))
			break;
		kill(pid, SIGCONT);
		usleep(200);
	}
	if (WIFSTOPPED(status))
		status = status_of(pid);
	NOTE(status);
}
UNSEEN(stops_and_goes)

/* ---- what is in the trace ---- */

static void children_are_traced_on_the_cpu(void)
{
	struct perf_event_attr attr = pt_attr();
	uint64_t before;
	int fd;

	attr.inherit = 1;
	fd = open_on(&attr, 0, 0);
	stay_on(0);
	pt_map(&trace, fd, 16, 64);
	enable(fd);
	pt_finish(&trace);
	before = trace.size;
	enable(fd);
	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			pt_calls(100);
			_exit(0);
		}
		join_child(pid);
	}
	pt_finish(&trace);
	CHECK(trace.size - before > 300 * 6);
}

static void children_are_not_without_inherit(void)
{
	struct perf_event_attr attr = pt_attr();
	int fd = open_self(&attr);
	struct pt_walk walk;
	pid_t pid;

	pt_map(&trace, fd, 16, 64);
	enable(fd);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		pt_calls(3000);
		_exit(0);
	}
	join_child(pid);
	pt_finish(&trace);
	walk = pt_expect_whole(&trace);
	/* The parent has its own, and ticks, but not one for each of the child's calls. */
	CHECK(walk.seen[PT_TIP_PGE] < 3000);
}

/* Without a CPU, an inherited event has no ring. */
static void inherit_needs_a_cpu(void)
{
	struct perf_event_attr attr = pt_attr();
	int fd;

	attr.inherit = 1;
	fd = open_self(&attr);
	CHECK(map_pages(fd, 2, PROT_READ | PROT_WRITE) == MAP_FAILED);
	CHECK_EQ(errno, EINVAL);
	close(fd);
}

static void run_true(void)
{
	char *args[] = { "true", NULL };

	execv("/bin/true", args);
	_exit(1);
}

/* Nothing before the exec, and all behind it. */
static void it_begins_with_exec(void)
{
	struct perf_event_attr attr = pt_attr();
	struct sleeping_task task;
	struct pt_walk walk;
	int fd;

	pmu_type(PT);
	attr.enable_on_exec = 1;
	task = start_sleeping(run_true);
	fd = open_on(&attr, task.pid, -1);
	pt_map(&trace, fd, 16, 1024);
	end_task(&task);
	pt_finish(&trace);
	walk = pt_expect_whole(&trace);
	CHECK(trace.size > 1000);
	CHECK(walk.seen[PT_TIP_PGE] > 10);
}

static void it_ends_with_exec(void)
{
	struct perf_event_attr attr = pt_attr();
	struct sleeping_task task;
	int fd;

	attr.remove_on_exec = 1;
	pmu_type(PT);
	task = start_sleeping(run_true);
	fd = open_on(&attr, task.pid, -1);
	pt_map(&trace, fd, 16, 1024);
	enable(fd);
	end_task(&task);
	pt_drain(&trace);
	CHECK(trace.size < 1000);
}

static void a_whole_cpu(void)
{
	struct perf_event_attr attr = pt_attr();
	struct pt_walk walk;
	int fd = open_on(&attr, -1, 0);
	pid_t pid;

	pt_map(&trace, fd, 16, 1024);
	enable(fd);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		stay_on(0);
		pt_calls(200);
		_exit(0);
	}
	join_child(pid);
	pt_finish(&trace);
	walk = pt_expect_whole(&trace);
	CHECK(walk.seen[PT_TIP_PGE] >= 200);
}

/* A task that changes CPUs writes to one area all the same. */
static void from_cpu_to_cpu(void)
{
	struct perf_event_attr attr = pt_attr();
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), fd = open_self(&attr);
	struct pt_walk walk;

	if (cpus < 2)
		SKIP("there is only one CPU");
	pt_map(&trace, fd, 16, 256);
	enable(fd);
	for (int i = 0; i < 20; i++) {
		stay_on(i % cpus);
		pt_calls(5);
	}
	pt_finish(&trace);
	walk = pt_expect_whole(&trace);
	CHECK(walk.seen[PT_TIP_PGE] >= 100);
}

static void another_task_s_end(void)
{
	struct perf_event_attr attr = pt_attr();
	struct sleeping_task task;
	int fd;

	pmu_type(PT);
	task = start_sleeping(NULL);
	fd = open_on(&attr, task.pid, -1);
	pt_map(&trace, fd, 16, 64);
	enable(fd);
	end_task(&task);
	pt_drain(&trace);
	CHECK(trace.size > 20);
	pt_expect_whole(&trace);
	enable(fd);
	disable(fd);
	pt_drain(&trace);
}

/* ---- CPUs ---- */

static bool set_online(int cpu, int online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return sysctl_set(path, online);
}

static pid_t start_traced(int cpu)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid)
		return pid;
	if (cpu >= 0)
		stay_on(cpu);
	for (;;)
		pt_calls(10);
}

static void a_cpu_goes_while_it_is_traced(void)
{
	struct perf_event_attr attr = pt_attr();
	pid_t task;
	int fd, of_task;

	pmu_type(PT);
	if (!set_online(1, 1))
		SKIP("CPU 1 cannot be turned off");
	for (int i = 0; i < 3; i++) {
		task = start_traced(1);
		fd = open_on(&attr, -1, 1);
		pt_map(&trace, fd, 4, 64);
		enable(fd);
		usleep(3000);
		CHECK(set_online(1, 0));
		pt_drain(&trace);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		CHECK(set_online(1, 1));
		enable(fd);
		usleep(1000);
		pt_unmap(&trace);
		close(fd);
		kill(task, SIGKILL);
		status_of(task);
	}
	/* A task's trace goes on elsewhere. */
	task = start_traced(-1);
	of_task = open_on(&attr, task, -1);
	/* Each turn of another task's makes a record, and a CPU takes its time to go. */
	pt_map(&trace, of_task, 64, 64);
	enable(of_task);
	for (int i = 0; i < 4; i++) {
		uint64_t head = aux_head(&trace.aux);

		CHECK(set_online(1, i % 2));
		enable(of_task);
		for (int wait = 0; wait < 500 && aux_head(&trace.aux) == head; wait++) {
			usleep(10000);
			pt_drain(&trace);
			disable(of_task);
			enable(of_task);
		}
		CHECK(aux_head(&trace.aux) != head);
		pt_drain(&trace);
	}
	kill(task, SIGKILL);
	status_of(task);
}

/* ---- users ---- */

static int try_open(pid_t pid, int cpu, bool no_kernel)
{
	struct perf_event_attr attr = pt_attr();

	attr.exclude_kernel = no_kernel;
	return perf_open(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void users_trace_what_is_theirs(void)
{
	pid_t mine, roots;
	int fd;

	pmu_type(PT);
	roots = start_traced(-1);
	CHECK(sysctl_set(PARANOID, 2));
	become_user(FIRST_USER + (uid_t)getpid());
	mine = start_traced(-1);
	CHECK_ERRNO(try_open(0, -1, false), EACCES);
	CHECK_ERRNO(try_open(-1, 0, true), EACCES);
	CHECK_ERRNO(try_open(roots, -1, true), EACCES);
	fd = try_open(mine, -1, true);
	CHECK(fd >= 0);
	close(fd);
	fd = try_open(0, -1, true);
	CHECK(fd >= 0);
	pt_map(&trace, fd, 1, 16);
	enable(fd);
	pt_calls(20);
	pt_finish(&trace);
	pt_expect_whole(&trace);
	kill(mine, SIGKILL);
	status_of(mine);
}

/* No address of the kernel's is in what a user sees. */
static void users_see_no_kernel(void)
{
	struct pt_walk walk;
	enum pt_packet kind;
	int fd;

	pmu_type(PT);
	CHECK(sysctl_set(PARANOID, 2));
	become_user(FIRST_USER + (uid_t)getpid());
	fd = try_open(0, -1, true);
	CHECK(fd >= 0);
	pt_map(&trace, fd, 1, 64);
	enable(fd);
	for (int i = 0; i < 50; i++) {
		pt_calls(5);
		sched_yield();
		usleep(100);
		free(malloc(1000000));
	}
	pt_finish(&trace);
	walk = pt_walk_of(&trace);
	while ((kind = pt_next(&walk)) < PT_PACKETS)
		CHECK(!walk.has_ip || walk.ip < 1UL << 47);
	CHECK_EQ(walk.at, walk.size);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(forks),
		CASE(vforks),
		CASE(execs),
		CASE(threads),
		CASE(kills),
		CASE(stops_and_goes),
		CASE(children_are_traced_on_the_cpu),
		CASE(children_are_not_without_inherit),
		CASE(inherit_needs_a_cpu),
		CASE(it_begins_with_exec),
		CASE(it_ends_with_exec),
		CASE(a_whole_cpu),
		CASE(from_cpu_to_cpu),
		CASE(another_task_s_end),
		CASE(a_cpu_goes_while_it_is_traced),
		CASE(users_trace_what_is_theirs),
		CASE(users_see_no_kernel),
	};

	return run_locked_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
