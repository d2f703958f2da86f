/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TAP 13 runner of the perf ring tests.
 *
 * Every case runs in a process of its own and under a time limit, so a crash
 * or a hang is one "not ok" and the next case starts clean. A case ends by
 * returning (ok), by a failed CHECK, by SKIP or by base_defect().
 */
#ifndef PERF_RING_TEST_H
#define PERF_RING_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define CASE_SECONDS 60
#define EXIT_FAILED 1
#define EXIT_SKIPPED 4

struct ring_case {
	const char *name;
	void (*run)(void);
};

#define CASE(function) { #function, function }

/* What a case wants to have behind its "ok"; shared with the runner. */
struct case_remark {
	char text[256];
};

static struct case_remark *case_remark;

/* ---- inside a case ---- */

static inline void __attribute__((format(printf, 3, 4), noreturn))
fail_at(const char *file, int line, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	dprintf(STDOUT_FILENO, "# %s:%d: %s\n", file, line, text);
	_exit(EXIT_FAILED);
}

static inline void __attribute__((format(printf, 1, 2)))
remark(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(case_remark->text, sizeof(case_remark->text), fmt, ap);
	va_end(ap);
}

#define FAIL(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(condition)                                                      \
	do {                                                                  \
		if (!(condition))                                             \
			FAIL("%s does not hold (errno %d: %s)", #condition,   \
			     errno, strerror(errno));                         \
	} while (0)

#define CHECK_EQ(got, want)                                                   \
	do {                                                                  \
		long long got_ = (long long)(got);                            \
		long long want_ = (long long)(want);                          \
									      \
		if (got_ != want_)                                            \
			FAIL("%s is %lld, not %lld", #got, got_, want_);      \
	} while (0)

/* A call that has to fail with exactly this errno. */
#define CHECK_ERRNO(call, want)                                               \
	do {                                                                  \
		long ret_ = (long)(call);                                     \
		int got_ = errno;                                             \
									      \
		if (ret_ != -1)                                               \
			FAIL("%s is accepted, not refused with %s", #call,    \
			     strerrorname_np(want));                          \
		if (got_ != (want))                                           \
			FAIL("%s fails with %s, not with %s", #call,          \
			     strerrorname_np(got_), strerrorname_np(want));   \
	} while (0)

#define SKIP(...)                                                             \
	do {                                                                  \
		remark(__VA_ARGS__);                                          \
		_exit(EXIT_SKIPPED);                                          \
	} while (0)

/*
 * The base kernel gets a few things wrong that this tree gets right. Under
 * PERF_RING_STOCK=1 such a finding is named and let pass; without it, it fails.
 */
static inline bool on_base(void)
{
	const char *stock = getenv("PERF_RING_STOCK");

	return stock && !strcmp(stock, "1");
}

static inline void base_defect_at(const char *file, int line, const char *what)
{
	if (!on_base())
		fail_at(file, line, "%s", what);
	remark("base defect: %s", what);
	_exit(0);
}

#define BASE_DEFECT(what) base_defect_at(__FILE__, __LINE__, what)

/* A helper process of a case; join_child() insists on a clean exit. */
static inline pid_t start_child(void (*run)(void *), void *arg)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		run(arg);
		_exit(0);
	}
	return pid;
}

static inline void join_child(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		FAIL("helper process ends with wait status %#x", status);
}

/* ---- the runner ---- */

static inline void case_child(const struct ring_case *c)
{
	setpgid(0, 0);
	c->run();
	_exit(0);
}

/* Wait status of the case, or -1 when its time ran out. */
static inline int case_wait(pid_t pid, unsigned int seconds)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd wait = { .fd = pidfd, .events = POLLIN };
	bool ended = poll(&wait, 1, (int)seconds * 1000) == 1;
	int status = -1;

	close(pidfd);
	kill(pid, SIGKILL);
	kill(-pid, SIGKILL); /* helpers that a dying case leaves behind */
	waitpid(pid, &status, 0);
	return ended ? status : -1;
}

static inline int case_report(unsigned int nr, const char *name, int status,
			      unsigned int seconds)
{
	if (status == -1)
		printf("not ok %u %s # no end after %u s\n", nr, name, seconds);
	else if (WIFSIGNALED(status))
		printf("not ok %u %s # killed by signal %d\n", nr, name,
		       WTERMSIG(status));
	else if (WEXITSTATUS(status) == EXIT_SKIPPED)
		printf("ok %u %s # SKIP %s\n", nr, name, case_remark->text);
	else if (WEXITSTATUS(status))
		printf("not ok %u %s\n", nr, name);
	else if (case_remark->text[0])
		printf("ok %u %s # %s\n", nr, name, case_remark->text);
	else
		printf("ok %u %s\n", nr, name);
	return WIFSIGNALED(status) || status == -1 ? EXIT_FAILED :
						     WEXITSTATUS(status);
}

static inline int run_case(unsigned int nr, const struct ring_case *c,
			   unsigned int seconds)
{
	pid_t pid;

	memset(case_remark, 0, sizeof(*case_remark));
	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		printf("not ok %u %s # fork: %s\n", nr, c->name,
		       strerror(errno));
		return EXIT_FAILED;
	}
	if (!pid)
		case_child(c);
	return case_report(nr, c->name, case_wait(pid, seconds), seconds);
}

/* Runs all cases, or only those named on the command line. */
static inline int run_cases_for(const struct ring_case *cases, size_t nr_cases,
				char **names, unsigned int seconds)
{
	unsigned int ran = 0, failed = 0, skipped = 0;

	case_remark = mmap(NULL, sizeof(*case_remark), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (case_remark == MAP_FAILED) {
		printf("Bail out! no memory to share with the cases\n");
		return EXIT_FAILED;
	}
	printf("TAP version 13\n");
	if (!*names)
		printf("1..%zu\n", nr_cases);
	for (size_t i = 0; i < nr_cases; i++) {
		char **name = names;
		int code;

		while (*name && strcmp(*name, cases[i].name))
			name++;
		if (*names && !*name)
			continue;
		code = run_case(++ran, &cases[i], seconds);
		failed += code && code != EXIT_SKIPPED;
		skipped += code == EXIT_SKIPPED;
	}
	if (*names && !ran) {
		printf("Bail out! no case has the name %s\n", *names);
		return EXIT_FAILED;
	}
	if (*names)
		printf("1..%u\n", ran);
	printf("# passed %u, failed %u, skipped %u\n",
	       ran - failed - skipped, failed, skipped);
	fflush(stdout);
	if (failed)
		return EXIT_FAILED;
	return skipped == ran ? EXIT_SKIPPED : 0;
}

static inline int run_cases(const struct ring_case *cases, size_t nr_cases,
			    char **names)
{
	return run_cases_for(cases, nr_cases, names, CASE_SECONDS);
}

#endif /* PERF_RING_TEST_H */
