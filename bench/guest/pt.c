// SPDX-License-Identifier: GPL-2.0
/*
 * What Intel PT costs, for bench/pt. Prints NAME <tab> NUMBER [<tab> NUMBER]. Runs in a
 * guest whose clock counts instructions.
 *
 *	pt switch	a switch of traced tasks: the base's driver, ours; also with
 *			identifiers in all records, as perf asks for them. With the module
 *			pt_bench loaded
 *	pt branches	a round of a loop: untraced, traced by emulated Intel PT
 *	pt others	a system call of a task that is not traced: without an event in the
 *			system, with one of another task
 *	pt speed NAME COMMAND...
 *			wall time in s, untraced and traced, and the instructions in millions
 */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096UL
#define DATA_PAGES	64UL
#define AUX_SIZE	(4UL << 20)
#define SWITCHES	1000
#define ROUNDS		2000L
#define REPEATS		5
#define TSC		(1ULL << 10)

static uint32_t pmu_type(const char *pmu)
{
	char path[128];
	uint32_t type;
	FILE *in;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	in = fopen(path, "r");
	if (!in || fscanf(in, "%" SCNu32, &type) != 1)
		errx(1, "there is no PMU %s", pmu);
	fclose(in);
	return type;
}

/* What perf record has in each record. */
#define IDENTIFIERS							\
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static bool identified;

static int open_event(const char *pmu, pid_t pid, uint64_t config, uint64_t config1)
{
	struct perf_event_attr attr = {
		.type		= pmu_type(pmu),
		.size		= sizeof(attr),
		.config		= config,
		.config1	= config1,
		.disabled	= 1,
		.exclude_kernel	= 1,
		.sample_type	= identified ? IDENTIFIERS : 0,
		.sample_id_all	= identified,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0);

	if (fd < 0)
		err(1, "perf_event_open of %s", pmu);
	return fd;
}

struct area {
	int fd;
	struct perf_event_mmap_page *ring;
	void *aux;
};

/* @protection: of the AUX area; without PROT_WRITE it is overwritten. */
static struct area open_traced(const char *pmu, pid_t pid, int protection)
{
	struct area area = { .fd = open_event(pmu, pid, TSC, 0) };

	area.ring = mmap(NULL, (1 + DATA_PAGES) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			 area.fd, 0);
	if (area.ring == MAP_FAILED)
		err(1, "mmap of the ring");
	area.ring->aux_offset = (1 + DATA_PAGES) * PAGE;
	area.ring->aux_size = AUX_SIZE;
	area.aux = mmap(NULL, AUX_SIZE, protection, MAP_SHARED, area.fd,
			(off_t)area.ring->aux_offset);
	if (area.aux == MAP_FAILED)
		err(1, "mmap of the AUX area");
	return area;
}

static void empty(struct area *area)
{
	area->ring->data_tail = area->ring->data_head;
	area->ring->aux_tail = area->ring->aux_head;
}

static void close_traced(struct area *area)
{
	munmap(area->aux, AUX_SIZE);
	munmap(area->ring, (1 + DATA_PAGES) * PAGE);
	close(area->fd);
}

static void start(int fd)
{
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		err(1, "enabling an event");
}

static void stop(int fd)
{
	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0))
		err(1, "disabling an event");
}

/* ---- switch ---- */

/* A timer tick only adds, so the least is right. */
static double switches(const char *pmu, uint64_t driver, unsigned int tasks)
{
	int bench = open_event("pt_bench", 0, driver, SWITCHES);
	uint64_t least = UINT64_MAX, count;
	struct area area[2];

	for (unsigned int i = 0; i < tasks; i++)
		area[i] = open_traced(pmu, 0, PROT_READ | PROT_WRITE);
	for (int repeat = 0; repeat < REPEATS; repeat++) {
		start(bench);
		stop(bench);
		if (read(bench, &count, sizeof(count)) != sizeof(count) || count <= 1 ||
		    ioctl(bench, PERF_EVENT_IOC_RESET, 0))
			errx(1, "%s could not trace", pmu);
		least = count < least ? count : least;
		for (unsigned int i = 0; i < tasks; i++) {
			if (area[i].ring->aux_head == area[i].ring->aux_tail)
				errx(1, "%s has traced nothing", pmu);
			empty(&area[i]);
		}
	}
	for (unsigned int i = 0; i < tasks; i++)
		close_traced(&area[i]);
	close(bench);
	return (double)least / SWITCHES;
}

static void switch_costs(void)
{
	for (int round = 0; round < 2; round++) {
		identified = round == 1;
		for (unsigned int tasks = 1; tasks <= 2; tasks++)
			printf("%s%s\t%.1f\t%.1f\n",
			       tasks == 1 ? "one task" : "two tasks in turn",
			       identified ? ", identifiers" : "",
			       switches("pt_base", 0, tasks), switches("pt_ours", 1, tasks));
	}
	identified = false;
}

/* ---- branches ---- */

static void two_instructions(long n)
{
	__asm__ volatile("1:	dec %0\n"
			 "	jnz 1b\n"
			 : "+r"(n));
}

static void eight_instructions(long n)
{
	__asm__ volatile("1:	add $1, %%rax\n"
			 "	add $1, %%rdx\n"
			 "	xor %%ecx, %%ecx\n"
			 "	nop\n"
			 "	nop\n"
			 "	nop\n"
			 "	dec %0\n"
			 "	jnz 1b\n"
			 : "+r"(n)
			 :
			 : "rax", "rcx", "rdx", "cc");
}

/* CALL, RET, JNZ: three branches a round. */
static void calls(long n)
{
	__asm__ volatile("	jmp 2f\n"
			 "1:	ret\n"
			 "2:	sub $128, %%rsp\n" /* below the red zone */
			 "3:	call 1b\n"
			 "	dec %0\n"
			 "	jnz 3b\n"
			 "	add $128, %%rsp\n"
			 : "+r"(n)
			 :
			 : "cc", "memory");
}

static void system_calls(long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Twice as many rounds less once as many: what stands around them falls out. */
static double round_cost(void (*loop)(long n))
{
	double least = 0;

	for (int repeat = 0; repeat < REPEATS; repeat++) {
		uint64_t begin = now(), middle;
		double cost;

		loop(ROUNDS);
		middle = now();
		loop(2 * ROUNDS);
		cost = ((double)(now() - middle) - (double)(middle - begin)) / ROUNDS;
		least = !repeat || cost < least ? cost : least;
	}
	return least;
}

static void branch_costs(void)
{
	static const struct {
		const char *name;
		void (*loop)(long n);
	} loops[] = {
		{ "2 instructions, a conditional branch", two_instructions },
		{ "8 instructions, a conditional branch", eight_instructions },
		{ "4 instructions, call, return, branch", calls },
		{ "getppid()", system_calls },
	};

	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		struct area area = open_traced("intel_pt", 0, PROT_READ);
		double untraced = round_cost(loops[i].loop), traced;

		start(area.fd);
		traced = round_cost(loops[i].loop);
		stop(area.fd);
		if (!area.ring->aux_head)
			errx(1, "nothing has been traced");
		printf("%s\t%.1f\t%.1f\n", loops[i].name, untraced, traced);
		close_traced(&area);
	}
}

/* ---- others ---- */

static void other_costs(void)
{
	double alone = round_cost(system_calls), beside;
	pid_t child = fork();
	struct area area;

	if (child < 0)
		err(1, "fork");
	if (!child)
		for (;;)
			pause();
	area = open_traced("intel_pt", child, PROT_READ);
	start(area.fd);
	beside = round_cost(system_calls);
	printf("getppid() of another task\t%.1f\t%.1f\n", alone, beside);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close_traced(&area);
}

/* ---- speed ---- */

static uint64_t instructions(void)
{
	FILE *in = fopen("/sys/kernel/debug/intel_pt_emu", "r");
	uint64_t retired;

	if (!in || fscanf(in, "instructions %" SCNu64, &retired) != 1)
		errx(1, "/sys/kernel/debug/intel_pt_emu says nothing");
	fclose(in);
	return retired;
}

/* Begins when @go is closed. */
static pid_t prepare(char **command, int go[2])
{
	pid_t child;
	char unused;

	if (pipe(go))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (child) {
		close(go[0]);
		return child;
	}
	close(go[1]);
	if (read(go[0], &unused, 1) || !freopen("/dev/null", "w", stdout))
		_exit(127);
	execvp(command[0], command);
	_exit(127);
}

static double time_of(pid_t child, int go)
{
	uint64_t begin = now();
	int status;

	close(go);
	if (waitpid(child, &status, 0) != child || status)
		errx(1, "the program has failed");
	return (double)(now() - begin) / 1e9;
}

/* In overwrite mode, so that nobody has to read it meanwhile. */
static void speed(const char *name, char **command)
{
	double untraced, traced;
	struct area area;
	uint64_t before;
	int go[2];
	pid_t child = prepare(command, go);

	untraced = time_of(child, go[1]);
	child = prepare(command, go);
	area = open_traced("intel_pt", child, PROT_READ);
	start(area.fd);
	before = instructions();
	traced = time_of(child, go[1]);
	printf("%s\t%.3f\t%.3f\t%.3f\n", name, untraced, traced,
	       (double)(instructions() - before) / 1e6);
	close_traced(&area);
}

int main(int count, char **arguments)
{
	if (count == 2 && !strcmp(arguments[1], "switch"))
		switch_costs();
	else if (count == 2 && !strcmp(arguments[1], "branches"))
		branch_costs();
	else if (count == 2 && !strcmp(arguments[1], "others"))
		other_costs();
	else if (count > 3 && !strcmp(arguments[1], "speed"))
		speed(arguments[2], arguments + 3);
	else
		errx(2, "usage: pt switch|branches|others|speed NAME COMMAND...");
	return 0;
}
