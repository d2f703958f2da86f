// SPDX-License-Identifier: GPL-2.0
/*
 * forks [DEPTH]: a tree of processes by fork() and vfork(), whose leaves execute this
 * program again, and exit with 3.
 */
#include "count.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long visits;

static __attribute__((noinline)) void visit(void)
{
	visits++;
	__asm__ volatile("");
}

/* Of a tree of that depth with two children each: all of its processes. */
static unsigned long tree_size(int depth)
{
	return depth ? 1 + 2 * tree_size(depth - 1) : 1;
}

static int wait_for(pid_t child, int wanted)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == wanted;
}

static int grow(int depth, char **argv)
{
	char *leaf[] = { argv[0], "leaf", NULL };
	char *none[] = { NULL };
	int good = 1;

	visit();
	if (!depth)
		return 1;
	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (!child)
			_exit(grow(depth - 1, argv) ? 0 : 1);
		good &= wait_for(child, 0);
	}
	pid_t child = vfork();
	if (!child) {
		execve(argv[0], leaf, none);
		_exit(1);
	}
	return good & wait_for(child, 3);
}

int main(int argc, char **argv)
{
	int depth = 2;

	if (argc > 1 && !strcmp(argv[1], "leaf"))
		_exit(3);
	if (argc > 1)
		depth = atoi(argv[1]);
	if (!grow(depth, argv))
		return 1;
	PRINT_ENTRIES(visit, tree_size(depth));
	return 0;
}
