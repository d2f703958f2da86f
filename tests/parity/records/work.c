// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "touch.h"
#include "work.h"

#define STACK_REGION 0x10000000ul
#define STACK_SIZE 0x10000ul
#define STACK_POINTER (STACK_REGION + STACK_SIZE / 2)
#define FIRST_FRAME (STACK_POINTER + 64)
#define FRAME_DISTANCE 48ul
#define FIRST_CALLER 0x401000ul

#define WARM_PAGES 4ul

static int feed[2];	/* what fault_pages_in_kernel() reads */

static void *map_at(unsigned long address, size_t size)
{
	void *map = mmap((void *)address, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (map == MAP_FAILED)
		err(1, "mmap at %#lx", address);
	return map;
}

/* Every word tells its index, and a chain of frames lies above the stack pointer. */
static void fill_stack(void)
{
	uint64_t *word = map_at(STACK_REGION, STACK_SIZE);
	unsigned long frame = FIRST_FRAME;

	for (size_t i = 0; i < STACK_SIZE / 8; i++)
		word[i] = 0x57a7c00000000ull + i;
	for (int i = 0; i < CHAIN_DEPTH; i++, frame += FRAME_DISTANCE) {
		uint64_t *link = (uint64_t *)frame;

		link[0] = i + 1 < CHAIN_DEPTH ? frame + FRAME_DISTANCE : 0;
		link[1] = FIRST_CALLER + i * 16;
	}
}

static void forget_pages(size_t count)
{
	if (count > FAULT_PAGES)
		errx(1, "%zu pages are more than the %lu of the region", count, FAULT_PAGES);
	if (madvise((void *)FAULT_REGION, count * PAGE, MADV_DONTNEED))
		err(1, "madvise");
}

void fault_pages_from(size_t first, size_t count)
{
	touch_pages(FAULT_REGION + first * PAGE, count, STACK_POINTER, FIRST_FRAME);
}

void fault_pages(size_t count)
{
	fault_pages_from(0, count);
}

static void fill_feed(size_t count)
{
	uint64_t word = 0;

	while (count--) {
		if (write(feed[1], &word, sizeof(word)) != sizeof(word))
			err(1, "write to the pipe");
	}
}

void fault_pages_in_kernel(size_t count)
{
	read_pages(FAULT_REGION, count, STACK_POINTER, FIRST_FRAME, feed[0]);
	fill_feed(count);
}

/*
 * What the program has mapped so far shall not fault later, nor shall its stack
 * when it grows. The lock as such is of no use and would end at fork.
 */
static void make_present(void)
{
	volatile char stack[16 * PAGE];

	for (size_t at = 0; at < sizeof(stack); at += PAGE)
		stack[at] = 0;
	if (mlockall(MCL_CURRENT) || munlockall())
		err(1, "mlockall");
}

/*
 * The first round takes the faults that are not meant: code, page tables, the
 * saved stack pointer. The region is then as untouched as before.
 */
void prepare_work(void)
{
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	make_present();
	map_at(FAULT_REGION, FAULT_PAGES * PAGE);
	fill_stack();
	if (pipe2(feed, O_CLOEXEC))
		err(1, "pipe");
	fill_feed(WARM_PAGES * 16);
	fault_pages(FAULT_PAGES);
	forget_pages(FAULT_PAGES);
	fault_pages_in_kernel(WARM_PAGES);
	forget_pages(FAULT_PAGES);
}

uint64_t spin_address(void)
{
	return (uint64_t)spin_here;
}

void rename_self(const char *name)
{
	if (prctl(PR_SET_NAME, name, 0, 0, 0))
		err(1, "prctl(PR_SET_NAME)");
}

void rename_numbered(unsigned int number)
{
	char name[16];

	snprintf(name, sizeof(name), "p%04u", number);
	rename_self(name);
}

void in_child(void (*child)(const void *argument), const void *argument)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		child(argument);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		errx(1, "the child failed with wait status %#x", status);
}

struct thread_job {
	void (*run)(const void *argument);
	const void *argument;
};

static void *run_job(void *data)
{
	const struct thread_job *job = data;

	job->run(job->argument);
	return NULL;
}

void in_thread(void (*thread)(const void *argument), const void *argument)
{
	struct thread_job job = { thread, argument };
	pthread_t id;

	if (pthread_create(&id, NULL, run_job, &job) || pthread_join(id, NULL))
		errx(1, "cannot run a thread");
}

uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

unsigned long number_in(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned long number;

	if (!file)
		err(1, "%s", path);
	if (fscanf(file, "%lu", &number) != 1)
		errx(1, "there is no number in %s", path);
	fclose(file);
	return number;
}
