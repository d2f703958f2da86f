// SPDX-License-Identifier: GPL-2.0
/*
 * count-faults FILE COMMAND...: run COMMAND and write to FILE how many page
 * faults it and its children made, by the event's own count from exec to exit.
 * No ring is involved, so the number is independent of everything that a ring
 * could lose. Exits with COMMAND's status, 128 + n after signal n, 2 on errors
 * of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "count-faults: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int open_counter(pid_t pid)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_SW_PAGE_FAULTS,
		.disabled	= 1,
		.inherit	= 1,
		.enable_on_exec	= 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The child waits for the counter to be there before it execs. */
static pid_t start(char **command, int *go)
{
	int gate[2];
	pid_t pid;
	char byte;

	if (pipe(gate))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) != 1)
			_exit(2);
		close(gate[0]);
		execvp(command[0], command);
		fprintf(stderr, "count-faults: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	close(gate[0]);
	*go = gate[1];
	return pid;
}

int main(int argc, char **argv)
{
	uint64_t faults;
	int go, counter, status;
	FILE *file;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: count-faults FILE COMMAND...\n");
		return 2;
	}
	pid = start(argv + 2, &go);
	counter = open_counter(pid);
	if (counter < 0)
		die("perf_event_open");
	if (write(go, "g", 1) != 1)
		die("write");
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (read(counter, &faults, sizeof(faults)) != sizeof(faults))
		die("read");
	file = fopen(argv[1], "w");
	if (!file)
		die(argv[1]);
	if (fprintf(file, "%" PRIu64 "\n", faults) < 0 || fclose(file))
		die(argv[1]);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
