// SPDX-License-Identifier: GPL-2.0
/*
 * records OUT [NAME]: makes perf fill rings under a matrix of attributes and
 * leaves one text file per case in the folder OUT; NAME picks cases by a part
 * of their names. records --self-test: damages every byte of sample records and
 * wants to see it in the text.
 *
 * What must be the same on two kernels is printed literally, so that diff(1)
 * decides. The exit status is 1 if a case could not be carried out.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"
#include "self_test.h"
#include "work.h"

#define CASE_SECONDS 120

FILE *case_output;

static const char *out_folder;
static const char *wanted = "";
static int failures;
static int cases;

void say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(case_output, format, list);
	va_end(list);
}

void skip_case(const char *format, ...)
{
	va_list list;

	fputs("SKIP: ", case_output);
	va_start(list, format);
	vfprintf(case_output, format, list);
	va_end(list);
	fputc('\n', case_output);
	fclose(case_output);
	_exit(0);
}

void say_result(const char *what, long result)
{
	say("%s: %s\n", what, result < 0 ? strerrorname_np(-result) : "ok");
}

static void carry_out(const char *name, case_function function, const void *argument)
{
	char *path;

	if (asprintf(&path, "%s/%s.txt", out_folder, name) < 0)
		err(1, "asprintf");
	case_output = fopen(path, "we");
	if (!case_output)
		err(1, "%s", path);
	alarm(CASE_SECONDS);
	prepare_work();
	function(argument);
	if (fclose(case_output))
		err(1, "%s", path);
	_exit(0);
}

/* No other process must be left over, or it would run into the next case. */
void run_case(const char *name, case_function function, const void *argument)
{
	int status;
	pid_t pid;

	if (!strstr(name, wanted))
		return;
	cases++;
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0)
		carry_out(name, function, argument);
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	if (status == 0)
		return;
	failures++;
	if (WIFSIGNALED(status))
		fprintf(stderr, "case %s: %s\n", name, strsignal(WTERMSIG(status)));
	else
		fprintf(stderr, "case %s: exit status %d\n", name, WEXITSTATUS(status));
}

/* Addresses are the same in each run only without randomisation, from exec on. */
static void fix_addresses(char **arguments)
{
	char *environment[] = { NULL };

	if (personality(0xffffffff) & ADDR_NO_RANDOMIZE)
		return;
	if (personality(ADDR_NO_RANDOMIZE) < 0)
		err(1, "personality");
	execve("/proc/self/exe", arguments, environment);
	err(1, "execve");
}

int main(int count, char **arguments)
{
	if (count == 2 && strcmp(arguments[1], "--self-test") == 0)
		return self_test();
	if (count == 2 && strcmp(arguments[1], "--nothing") == 0)
		return 0;	/* what the exec case executes */
	if (count < 2 || count > 3 || arguments[1][0] == '-')
		errx(2, "give a folder for the dumps and perhaps a part of a case's name");
	fix_addresses(arguments);
	out_folder = arguments[1];
	if (count == 3)
		wanted = arguments[2];
	sample_cases();
	group_cases();
	sideband_cases();
	task_cases();
	loss_cases();
	overwrite_cases();
	wakeup_cases();
	bpf_cases();
	clock_cases();
	refusal_cases();
	mapping_cases();
	printf("%d cases, %d failures\n", cases, failures);
	return failures ? 1 : 0;
}
