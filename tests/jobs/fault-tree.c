// SPDX-License-Identifier: GPL-2.0
/*
 * fault-tree [--stopped] FAULTS CHILDREN THREADS: a process that starts so many
 * children and so many threads. Each task, the first one too, makes FAULTS page
 * faults in a part of memory that nobody else uses for anything (from BASE on),
 * and prints a line with its role and its tid. Stopped: only after SIGCONT.
 * Exits with 2 on errors.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BASE	((char *)0x5a0000000000)
#define WINDOW	0x10000000UL

static unsigned long faults;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Tasks that share memory have windows of their own. */
static void fault(const char *role, unsigned long window)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = faults * page;
	volatile char *area = mmap(BASE + window * WINDOW, size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (area == MAP_FAILED)
		die("fault-tree: mmap");
	if (madvise((void *)area, size, MADV_NOHUGEPAGE))
		die("fault-tree: madvise");
	for (size_t at = 0; at < size; at += page)
		area[at] = 1;
	printf("%s %d\n", role, gettid());
	fflush(stdout);
}

static void *run_thread(void *window)
{
	fault("thread", (uintptr_t)window);
	return NULL;
}

static void run_threads(unsigned long nr)
{
	pthread_t threads[64];

	for (unsigned long i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, run_thread, (void *)(uintptr_t)(i + 1)))
			die("fault-tree: pthread_create");
	for (unsigned long i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
}

static void run_children(unsigned long nr)
{
	int status;

	for (unsigned long i = 0; i < nr; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fault-tree: fork");
		if (pid == 0) {
			fault("child", 0);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			die("fault-tree: a child failed");
	}
}

int main(int argc, char **argv)
{
	unsigned long children, threads;
	int first = argc > 1 && argv[1][0] == '-';

	if (argc != first + 4) {
		fprintf(stderr, "usage: fault-tree [--stopped] FAULTS CHILDREN THREADS\n");
		return 2;
	}
	faults = strtoul(argv[first + 1], NULL, 10);
	children = strtoul(argv[first + 2], NULL, 10);
	threads = strtoul(argv[first + 3], NULL, 10);
	if (threads > 64 || faults * 4096 > WINDOW)
		die("fault-tree: too many");
	if (first)
		raise(SIGSTOP);
	run_children(children);
	run_threads(threads);
	fault("first", 0);
	return 0;
}
