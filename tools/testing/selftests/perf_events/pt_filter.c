// SPDX-License-Identifier: GPL-2.0
/*
 * Address filters of intel_pt: which ones the hardware can do, what is refused, and that
 * whatever is taken runs. What they let through is pt_filtered's.
 */
#include "perf_pt_event.h"
#include "perf_address_filter.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

static struct pt_trace trace;

static void what_the_hardware_can_do(void)
{
	int fd = pt_open_filtered();

	expect_taken(fd, "filter 0x1000/0x100");
	expect_taken(fd, "stop 0x1000/0x100");
	expect_taken(fd, "filter 0x1000/0x100@/bin/sh");
	expect_taken(fd, "stop 0x1000/0x100@/bin/sh");
	expect_taken(fd, "");
	expect_refused(fd, "start 0x1000", EOPNOTSUPP);
	expect_refused(fd, "start 0x1000/0x100", EOPNOTSUPP);
	expect_refused(fd, "start 0x1000@/bin/sh", EOPNOTSUPP);
	expect_refused(fd, "stop 0x1000", EOPNOTSUPP);
	expect_refused(fd, "stop 0x1000@/bin/sh", EOPNOTSUPP);
	expect_refused(fd, "filter 1/1,start 2", EOPNOTSUPP);
	expect_refused(fd, "filter 1/0", EINVAL);
}

static void as_many_as_it_has_ranges(void)
{
	unsigned int most;
	char text[4096] = "";
	size_t length = 0;
	int fd = pt_open_filtered();

	most = (unsigned int)pt_cap("num_address_ranges");
	for (unsigned int nr = 1; nr <= 100; nr++) {
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%s %u/1,", nr % 2 ? "filter" : "stop",
					   nr * 16);
		if (nr <= most)
			expect_taken(fd, text);
		else if (nr == most + 1 || nr == 100)
			expect_refused(fd, text, EOPNOTSUPP);
	}
}

/* PB-53. A file is somewhere in a task; an address is the same for all. */
static void files_need_a_task(void)
{
	struct perf_event_attr attr = pt_attr();
	int task = pt_open_filtered(), cpu;

	expect_taken(task, "filter 0x1000/0x100@/bin/sh");
	expect_taken(task, "filter 0xffffffff81000000/0x100");
	close(task);
	for (int i = 0; i < 2; i++) {
		attr.exclude_kernel = i;
		cpu = open_on(&attr, -1, 0);
		expect_taken(cpu, "filter 0x1000/0x100");
		expect_taken(cpu, "filter 0xffffffff81000000/0x100");
		expect_taken(cpu, "stop 0xffffffff81000000/0x100,filter 1/1");
		expect_refused(cpu, "filter 0x1000/0x100@/bin/sh", EOPNOTSUPP);
		close(cpu);
	}
}

static uint64_t random_state = 88172645463325252ULL;

static unsigned int random_below(unsigned int limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)(random_state % limit);
}

static const char *random_string(void)
{
	static const char *const pieces[] = {
		"filter ", "stop ", "start ", "filter", "0x1000", "/0x100", "/",
		"@", "@/bin/sh", "@/no/such", "1", "/1", " ", ",", "\n", "%d",
		"0", "-1", "18446744073709551615", "18446744073709551616",
		"/bin/sh", "@/", "@@", "//", "x", "filter 1/1", "stop 2/2@/bin/sh",
		"0xffff800000000000", "0x7fffffffffff", "0x8000000000000000",
	};
	static char text[4096];
	unsigned int nr = random_below(12);
	size_t length = 0;

	for (unsigned int i = 0; i < nr; i++) {
		if (random_below(8))
			length += (size_t)sprintf(text + length, "%s",
						  pieces[random_below(ARRAY_LEN(pieces))]);
		else
			text[length++] = (char)(1 + random_below(255));
	}
	text[length] = 0;
	return text;
}

static bool known_error(int error)
{
	return error == EINVAL || error == ERANGE || error == ENOENT ||
	       error == ENOTDIR || error == EACCES || error == ENAMETOOLONG ||
	       error == EOPNOTSUPP;
}

/* PB-51. And whatever is taken runs. */
static void any_string(void)
{
	unsigned int taken = 0, refused = 0;
	uint64_t faults = pt_count("faults");
	int fd = pt_open_filtered();

	pt_map(&trace, fd, 1, 16);
	for (int i = 0; i < 3000; i++) {
		const char *text = random_string();

		if (!set_filter(fd, text))
			taken++;
		else if (known_error(errno))
			refused++;
		else
			FAIL("\"%s\" fails with %s", text,
			     strerrorname_np(errno));
		if (!(i % 50)) {
			enable(fd);
			pt_calls(1);
			disable(fd);
			pt_drain(&trace);
		}
	}
	CHECK(taken > 100);
	CHECK(refused > 1500);
	CHECK_EQ(pt_count("faults"), faults);
	remark("%u taken, %u refused", taken, refused);
}

/* A file on a file system of its own, which is mounted on @folder, a template. */
static void make_file(char *folder, char *path, size_t size)
{
	int file;

	CHECK(mkdtemp(folder));
	if (unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", folder, "tmpfs", 0, NULL))
		SKIP("nothing can be mounted here");
	snprintf(path, size, "%s/file", folder);
	file = open(path, O_CREAT | O_WRONLY, 0600);
	CHECK(file >= 0);
	close(file);
}

/* PB-52. What the driver refuses, after it has been understood, holds no file either. */
static void what_is_refused_lets_go(void)
{
	static const char *const formats[] = {
		"start 1@%s,filter 1/1@%s", "filter 1/1@%s,start 1/1@%s",
		"stop 1@%s,stop 1/1@%s", "filter 1/1@%s,stop 1@%s",
	};
	char folder[] = "/tmp/filter-XXXXXX", path[64], text[256];
	int fd = pt_open_filtered();

	make_file(folder, path, sizeof(path));
	for (size_t i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), formats[i % ARRAY_LEN(formats)], path,
			 path);
		expect_refused(fd, text, EOPNOTSUPP);
	}
	CHECK(!umount(folder));
	CHECK(!mount("none", folder, "tmpfs", 0, NULL));
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	snprintf(text, sizeof(text), "filter 1/1@%s,stop 1/1@%s", path, path);
	expect_taken(fd, text);
	CHECK_ERRNO(umount(folder), EBUSY); /* a filter has the file */
	expect_taken(fd, "filter 1/1");
	CHECK(!umount(folder));
	rmdir(folder);
}

/* Addresses that no code can have, and all of them. */
static void odd_ranges_run(void)
{
	static const char *const filters[] = {
		"filter 0/0xffffffffffffffff", "filter 0/1",
		"filter 0xffffffffffffffff/1", "filter 0xffffffffffffff00/0x1000",
		"filter 0x7ffffffff000/0x10000", "stop 0x800000000000/0x1000",
		"filter 0xffff7fffffffffff/2", "filter 0x8000000000000000/1",
		"filter 1/0x7fffffffffffffff",
	};
	uint64_t faults = pt_count("faults");
	int fd = pt_open_filtered();

	pt_map(&trace, fd, 1, 16);
	for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
		if (set_filter(fd, filters[i]))
			CHECK(errno == EINVAL || errno == ERANGE);
		enable(fd);
		pt_calls(1);
		pt_finish(&trace);
	}
	CHECK_EQ(pt_count("faults"), faults);
	pt_expect_whole(&trace);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(what_the_hardware_can_do),
		CASE(as_many_as_it_has_ranges),
		CASE(files_need_a_task),
		CASE(any_string),
		CASE(what_is_refused_lets_go),
		CASE(odd_ranges_run),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
