/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locked memory as the tests reckon it, and users to charge it to.
 *
 * Every user has an allowance of perf_event_mlock_kb for each online CPU. What
 * a mapping takes beyond it is pinned memory of the process (VmPin), up to
 * RLIMIT_MEMLOCK. The split is made when a ring is mapped, and kept.
 */
#ifndef PERF_RING_LOCKED_H
#define PERF_RING_LOCKED_H

#include "perf_ring_task.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>

#define FIRST_USER 1000
#define DEFAULT_ALLOWANCE_KB 516
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define ALLOWANCE_KB "/proc/sys/kernel/perf_event_mlock_kb"

/* Pages that each user may map before anything counts as pinned. */
static inline long allowance_pages(void)
{
	int kb = 0;

	CHECK(sysctl_get(ALLOWANCE_KB, &kb));
	return kb / (long)(page_size() / 1024) * sysconf(_SC_NPROCESSORS_ONLN);
}

/* A ring of so many pages in all is more than the whole allowance. */
static inline size_t large_ring(void)
{
	size_t data = 1;

	while (data <= (size_t)allowance_pages())
		data *= 2;
	return data + 1;
}

/* How many of a large ring's pages are pinned when it is the only ring. */
static inline long large_ring_pins(void)
{
	return (long)large_ring() - allowance_pages();
}

/* Pinned pages of a process; the kernel prints them unsigned, in kB. */
static inline long pinned_pages_of(pid_t pid)
{
	char path[32], line[256];
	long long kb = -1;
	bool found = false;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "r");
	CHECK(status);
	while (!found && fgets(line, sizeof(line), status))
		if (!strncmp(line, "VmPin:", 6)) {
			kb = (long long)strtoull(line + 6, NULL, 10);
			found = true;
		}
	fclose(status);
	CHECK(found);
	return (long)(kb / (long long)(page_size() / 1024));
}

static inline long pinned_pages(void)
{
	return pinned_pages_of(getpid());
}

static inline void become_user(uid_t uid)
{
	CHECK(!setgroups(0, NULL));
	CHECK(!setresgid(uid, uid, uid));
	CHECK(!setresuid(uid, uid, uid));
	CHECK(!prctl(PR_SET_DUMPABLE, 1));
}

static inline void limit_pinned(rlim_t pages)
{
	struct rlimit limit = { pages * page_size(), pages * page_size() };

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
}

/*
 * A plain user with so much room for pinned pages, and one whom nobody else
 * has been: what one case leaves behind is not another's loss.
 */
static inline void become_limited_user(rlim_t pages)
{
	CHECK(sysctl_set(PARANOID, 2));
	CHECK(sysctl_set(ALLOWANCE_KB, DEFAULT_ALLOWANCE_KB));
	limit_pinned(pages);
	become_user(FIRST_USER + (uid_t)getpid());
	CHECK_EQ(pinned_pages(), 0);
}

/* A ring of an event that nothing else refers to. */
struct mapping {
	void *base;
	size_t pages; /* in all */
};

static inline void map_fd(struct mapping *mapping, int fd, size_t pages)
{
	mapping->pages = pages;
	mapping->base = map_pages(fd, pages, PROT_READ | PROT_WRITE);
	if (mapping->base == MAP_FAILED)
		FAIL("mmap of %zu pages: %s", pages, strerror(errno));
}

static inline void map_new(struct mapping *mapping, size_t pages)
{
	int fd = open_comm();

	map_fd(mapping, fd, pages);
	close(fd);
}

static inline void unmap(struct mapping *mapping)
{
	CHECK(!munmap(mapping->base, mapping->pages * page_size()));
}

struct mappings {
	struct mapping each[64];
	size_t nr;
};

/* Maps rings that fill this many pages of the allowance exactly. */
static inline void map_exactly(struct mappings *mappings, long left)
{
	long pinned = pinned_pages();

	while (left) {
		long pages = 2;

		CHECK(mappings->nr < ARRAY_LEN(mappings->each));
		while (2 * pages - 1 <= left)
			pages = 2 * pages - 1;
		if (left == 1)
			pages = 1;
		map_new(&mappings->each[mappings->nr++], (size_t)pages);
		left -= pages;
	}
	CHECK_EQ(pinned_pages(), pinned);
}

static inline void unmap_all(struct mappings *mappings)
{
	while (mappings->nr)
		unmap(&mappings->each[--mappings->nr]);
}

/* The whole allowance is free and not a page more; needs a limit above 0. */
static inline void expect_whole_allowance(void)
{
	struct mappings mappings = { .nr = 0 };
	long pinned = pinned_pages();

	map_exactly(&mappings, allowance_pages());
	map_new(&mappings.each[mappings.nr++], 1);
	CHECK_EQ(pinned_pages(), pinned + 1);
	unmap_all(&mappings);
	CHECK_EQ(pinned_pages(), pinned);
}

/* ---- processes that take turns ---- */

static int *turn; /* shared by a case and its helpers */

static inline void turns_begin(void)
{
	turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(turn != MAP_FAILED);
}

static inline void turn_wait(int nr)
{
	while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != nr)
		usleep(500);
}

static inline void turn_next(void)
{
	__atomic_add_fetch(turn, 1, __ATOMIC_ACQ_REL);
}

/* ---- a helper that stays root and changes settings for a plain user ---- */

struct setting {
	char path[64];
	int value;
};

struct governor {
	int orders[2], done[2];
};

static inline void govern(const struct governor *governor)
{
	struct setting setting;

	close(governor->orders[1]);
	while (read(governor->orders[0], &setting, sizeof(setting)) > 0) {
		CHECK(sysctl_set(setting.path, setting.value));
		CHECK_EQ(write(governor->done[1], "x", 1), 1);
	}
	_exit(0);
}

static inline void governor_start(struct governor *governor)
{
	CHECK(!pipe(governor->orders) && !pipe(governor->done));
	if (!fork())
		govern(governor);
	close(governor->done[1]);
}

static inline void governor_set(const struct governor *governor,
				const char *path, int value)
{
	struct setting setting = { .value = value };
	char byte;

	snprintf(setting.path, sizeof(setting.path), "%s", path);
	CHECK_EQ(write(governor->orders[1], &setting, sizeof(setting)),
		 sizeof(setting));
	CHECK_EQ(read(governor->done[0], &byte, 1), 1);
}

/* ---- the runner, with the system's settings put back afterwards ---- */

static inline int run_locked_cases_for(const struct ring_case *cases,
				       size_t nr_cases, char **names,
				       unsigned int seconds)
{
	int paranoid, kb, result;

	if (!sysctl_get(PARANOID, &paranoid) || !sysctl_get(ALLOWANCE_KB, &kb) ||
	    !sysctl_set(PARANOID, 2)) {
		printf("TAP version 13\n1..0 # SKIP has to set %s: run as root\n",
		       PARANOID);
		return EXIT_SKIPPED;
	}
	result = run_cases_for(cases, nr_cases, names, seconds);
	sysctl_set(PARANOID, paranoid);
	sysctl_set(ALLOWANCE_KB, kb);
	return result;
}

static inline int run_locked_cases(const struct ring_case *cases,
				   size_t nr_cases, char **names)
{
	return run_locked_cases_for(cases, nr_cases, names, CASE_SECONDS);
}

#endif /* PERF_RING_LOCKED_H */
