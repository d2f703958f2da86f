/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks that do what the perf ring tests' events tell of.
 */
#ifndef PERF_RING_TASK_H
#define PERF_RING_TASK_H

#include "perf_ring_event.h"

#include <sys/resource.h>

/* Is switched out. A short sleep may be over before the task has left the CPU for it. */
static inline void give_way(void)
{
	struct rusage before, after;

	CHECK(!getrusage(RUSAGE_THREAD, &before));
	do {
		usleep(100);
		CHECK(!getrusage(RUSAGE_THREAD, &after));
	} while (after.ru_nvcsw == before.ru_nvcsw);
}

/* One COMM record; the name says which. */
static inline void rename_task(unsigned int seq)
{
	char name[16];

	snprintf(name, sizeof(name), "%07u", seq % 10000000);
	CHECK(!prctl(PR_SET_NAME, name));
}

static inline void rename_tasks(unsigned int first, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		rename_task(first + i);
}

/* Memory whose pages fault once each when they are touched. */
struct fault_area {
	volatile char *base;
	size_t pages;
};

static inline void fault_again(const struct fault_area *area)
{
	CHECK(!madvise((void *)area->base, area->pages * page_size(),
		       MADV_DONTNEED));
}

static inline void touch_pages(const struct fault_area *area, size_t nr)
{
	size_t step = page_size();

	CHECK(nr <= area->pages);
	for (size_t i = 0; i < nr; i++)
		area->base[i * step] = 1;
}

/* Exactly nr faults of this task go to the enabled event. */
static inline void sample_faults(int fd, const struct fault_area *area,
				 size_t nr)
{
	fault_again(area);
	enable(fd);
	touch_pages(area, nr);
	disable(fd);
}

/* Locks all else into memory first, so that nothing but the area faults. */
static inline struct fault_area fault_area(size_t pages)
{
	struct fault_area area = { .pages = pages };
	void *base;

	CHECK(!mlockall(MCL_CURRENT));
	base = mmap(NULL, pages * page_size(), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(base != MAP_FAILED);
	madvise(base, pages * page_size(), MADV_NOHUGEPAGE);
	area.base = base;
	touch_pages(&area, pages);
	return area;
}

/* ---- tasks beside the test's own ---- */

/* Renames itself until it is killed, and has begun when this returns. */
static inline pid_t start_renamer(void)
{
	int ends[2];
	pid_t pid;
	char byte;

	CHECK(!pipe(ends));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK_EQ(write(ends[1], "x", 1), 1);
		for (unsigned int seq = 0;; seq++)
			rename_task(seq);
	}
	CHECK_EQ(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static inline void name_of(pid_t pid, char name[32])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "r");
	CHECK(file);
	CHECK(fgets(name, 32, file));
	fclose(file);
}

/*
 * What a renamer was writing when this was called is written. A new name shows
 * before its record, so the second one tells that the first one's is out.
 */
static inline void let_renamer_finish(pid_t pid)
{
	char before[32], now[32];

	for (int seen = 0; seen < 2; seen++) {
		name_of(pid, before);
		do
			name_of(pid, now);
		while (!strcmp(before, now));
	}
}

/* Sleeps until it is told to go on; then it runs the function and ends. Ends if its parent does. */
struct sleeping_task {
	pid_t pid;
	int wake;
};

static inline struct sleeping_task start_sleeping(void (*run)(void))
{
	struct sleeping_task task;
	int ends[2];
	char byte;

	CHECK(!pipe(ends));
	task.wake = ends[1];
	task.pid = fork();
	CHECK(task.pid >= 0);
	if (!task.pid) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			_exit(1);
		if (run)
			run();
		_exit(0);
	}
	close(ends[0]);
	return task;
}

static inline void wake_task(const struct sleeping_task *task)
{
	CHECK_EQ(write(task->wake, "x", 1), 1);
}

static inline void end_task(const struct sleeping_task *task)
{
	wake_task(task);
	join_child(task->pid);
	close(task->wake);
}

#endif /* PERF_RING_TASK_H */
