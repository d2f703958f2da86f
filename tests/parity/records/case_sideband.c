// SPDX-License-Identifier: GPL-2.0
/* Side-band records that the own task makes: names, mappings, namespaces, cgroups. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case.h"
#include "ring.h"
#include "work.h"

#define MAP_REGION 0x30000000ul
#define CGROUP_ROOT "/tmp/perf_event"

/* What trails each record. */
struct trailer {
	const char *name;
	uint64_t sample_type;
	unsigned int sample_id_all;
};

static const struct trailer trailers[] = {
	{ "bare", PERF_SAMPLE_TID | PERF_SAMPLE_TIME, 0 },
	{ "empty", 0, 1 },
	{ "time", PERF_SAMPLE_TID | PERF_SAMPLE_TIME, 1 },
	{ "cpu", PERF_SAMPLE_CPU | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, 1 },
	{ "full", PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		  PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR, 1 },
};

static struct perf_event_attr dummy_attr(const struct trailer *trailer)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = trailer->sample_type,
		.sample_id_all = trailer->sample_id_all,
		.disabled = 1,
	};
}

static void start(struct ring *ring, const struct perf_event_attr *attr)
{
	open_own(ring, attr);
	map_ring(ring, 16, RING_READ_WRITE);
	enable(ring);
}

static void finish(struct ring *ring)
{
	disable(ring);
	dump_ring(ring);
}

/* Each length of a name once: the field is rounded up to 8 bytes. */
static void names(const void *trailer)
{
	struct perf_event_attr attr = dummy_attr(trailer);
	const char *name = "abcdefghijklmnop";
	struct ring ring;

	attr.comm = 1;
	attr.comm_exec = 1;
	start(&ring, &attr);
	for (const char *end = name + strlen(name); end >= name; end--)
		rename_self(end);
	rename_self("with space\t\1");
	finish(&ring);
}

static void map_anonymous(unsigned long address, int protection, int flags)
{
	void *map = mmap((void *)address, 2 * PAGE, protection,
			 flags | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (map == MAP_FAILED)
		err(1, "anonymous mmap");
}

/* File names of all lengths from 5 to 24 bytes, mapped from their second page on. */
static void map_files(void)
{
	char path[64];

	for (int length = 0; length < 20; length++) {
		int fd;

		snprintf(path, sizeof(path), "/tmp/%.*s", length, "abcdefghijklmnopqrst");
		if (length == 0)
			snprintf(path, sizeof(path), "/tmp/%c", 'z');
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || ftruncate(fd, 4 * PAGE))
			err(1, "%s", path);
		if (mmap((void *)MAP_REGION, 2 * PAGE, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, fd, PAGE) == MAP_FAILED)
			err(1, "mmap of %s", path);
		close(fd);
		unlink(path);
	}
}

/* The own program has a build id and an inode that lasts. */
static void map_program(int protection, int flags)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "/proc/self/exe");
	if (mmap((void *)(MAP_REGION + 0x10000), 3 * PAGE, protection, flags | MAP_FIXED, fd, 0) ==
	    MAP_FAILED)
		err(1, "mmap of the program");
	close(fd);
}

static void map_everything(void)
{
	map_anonymous(MAP_REGION, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE);
	map_anonymous(MAP_REGION, PROT_READ | PROT_EXEC, MAP_SHARED);
	map_anonymous(MAP_REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	map_files();
	map_program(PROT_READ | PROT_EXEC, MAP_PRIVATE);
	map_program(PROT_READ, MAP_PRIVATE);
	map_program(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE);
	mprotect((void *)MAP_REGION, PAGE, PROT_READ | PROT_EXEC);
}

static void mappings(const void *trailer)
{
	struct perf_event_attr attr = dummy_attr(trailer);
	struct ring ring;

	attr.mmap = 1;
	start(&ring, &attr);
	map_everything();
	finish(&ring);
}

static void mappings2(const void *trailer)
{
	struct perf_event_attr attr = dummy_attr(trailer);
	struct ring ring;

	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.mmap_data = 1;
	start(&ring, &attr);
	map_everything();
	finish(&ring);
}

static void build_ids(const void *trailer)
{
	struct perf_event_attr attr = dummy_attr(trailer);
	struct ring ring;

	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.build_id = 1;
	start(&ring, &attr);
	map_everything();
	finish(&ring);
}

static void namespaces(const void *trailer)
{
	struct perf_event_attr attr = dummy_attr(trailer);
	struct ring ring;

	attr.namespaces = 1;
	start(&ring, &attr);
	if (unshare(CLONE_NEWNS))
		err(1, "unshare");
	finish(&ring);
}

/*
 * A hierarchy of version 1: in an idle one of version 2 new groups do not have
 * the controller that makes the records.
 */
static void mount_cgroups(void)
{
	if (mkdir(CGROUP_ROOT, 0700))
		err(1, CGROUP_ROOT);
	if (mount("cgroup", CGROUP_ROOT, "cgroup", 0, "perf_event"))
		skip_case("cannot mount cgroups with perf_event: %s", strerror(errno));
}

static void cgroups(const void *trailer)
{
	struct perf_event_attr attr = dummy_attr(trailer);
	struct ring ring;

	attr.cgroup = 1;
	mount_cgroups();
	start(&ring, &attr);
	for (int length = 1; length < 10; length++) {
		char path[64];

		snprintf(path, sizeof(path), CGROUP_ROOT "/%.*s", length, "paritygrp");
		if (mkdir(path, 0700))
			err(1, "%s", path);
		rmdir(path);
	}
	disable(&ring);
	if (umount(CGROUP_ROOT) || rmdir(CGROUP_ROOT))
		err(1, CGROUP_ROOT);
	dump_ring(&ring);
}

/* All kinds at once, and none of what was not asked for. */
static void mixed(const void *trailer)
{
	struct perf_event_attr attr = dummy_attr(trailer);
	struct ring ring;

	attr.mmap = 1;
	attr.comm = 1;
	attr.task = 1;
	attr.namespaces = 1;
	attr.write_backward = 1;
	start(&ring, &attr);
	rename_self("one");
	map_program(PROT_READ | PROT_EXEC, MAP_PRIVATE);
	rename_self("two");
	disable(&ring);
	rename_self("unseen");
	map_program(PROT_READ | PROT_EXEC, MAP_PRIVATE);
	enable(&ring);
	rename_self("three");
	finish(&ring);
}

static void run_trailers(const char *name, case_function function)
{
	char full[64];

	for (size_t i = 0; i < ARRAY_SIZE(trailers); i++) {
		snprintf(full, sizeof(full), "%s-%s", name, trailers[i].name);
		run_case(full, function, &trailers[i]);
	}
}

void sideband_cases(void)
{
	run_trailers("comm", names);
	run_trailers("mmap", mappings);
	run_trailers("mmap2", mappings2);
	run_trailers("build-id", build_ids);
	run_trailers("namespaces", namespaces);
	run_trailers("cgroup", cgroups);
	run_trailers("mixed", mixed);
}
