// SPDX-License-Identifier: GPL-2.0
/*
 * faults PAGES THREADS [go]: page faults, as many as one asks for, each at a place that
 * can be named. With "go", waits for a line on stdin first, so that recorders can be
 * there before. Prints the number of its faults since then, by an independent count.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long pages;

__attribute__((noinline)) static void touch_forwards(volatile char *area, long count)
{
	for (long i = 0; i < count; i++)
		area[i * 4096] = 1;
}

__attribute__((noinline)) static void touch_backwards(volatile char *area, long count)
{
	for (long i = count; i-- > 0;)
		area[i * 4096] = 1;
}

static void *work(void *unused)
{
	char *area = mmap(NULL, (size_t)pages * 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		exit(1);
	madvise(area, (size_t)pages * 4096, MADV_NOHUGEPAGE);
	touch_forwards(area, pages / 2);
	touch_backwards(area + pages / 2 * 4096, pages - pages / 2);
	munmap(area, (size_t)pages * 4096);
	return unused;
}

static long faults(void)
{
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	return self.ru_minflt + self.ru_majflt + children.ru_minflt + children.ru_majflt;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	char line[16];
	int count, status;
	long before;
	pid_t child;

	if (argc < 3)
		return 2;
	pages = atol(argv[1]);
	count = atoi(argv[2]);
	if (argc > 3 && !fgets(line, sizeof(line), stdin))
		return 2;
	before = faults();
	for (int i = 0; i < count && i < 64; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < count && i < 64; i++)
		pthread_join(threads[i], NULL);
	work(NULL);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, "a child");
		work(NULL);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("%ld\n", faults() - before);
	return 0;
}
