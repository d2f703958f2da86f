// SPDX-License-Identifier: GPL-2.0
/*
 * Address filters of an AUX event, PERF_EVENT_IOC_SET_FILTER: which strings are filters,
 * for which events, and that those which are none leave nothing behind.
 *
 * The PMU takes up to four and does nothing with them; the kernel reads them.
 */
#include "perf_aux_record.h"
#include "perf_address_filter.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define MOST 4

static int open_task(void)
{
	struct perf_event_attr attr = aux_attr();

	return open_self(&attr);
}

/* ---- what a filter looks like ---- */

static void filters_are_taken(void)
{
	static const char *const filters[] = {
		"filter 0x1000/0x100", "filter 0x1000/0x100@/bin/sh",
		"start 0x1000", "start 0x1000@/bin/sh", "stop 0x1000",
		"stop 0x1000@/bin/sh", "start 0x1000/8", "stop 0x1000/0",
		"filter 4096/256", "filter 010000/0400", "  filter 1/1  ",
		"\nfilter 1/1\n", "start 1,stop 2", "start 1 stop 2",
		"start 1\nstop 2", ",,start 1,,stop 2,,",
		"filter 0xffffffff81000000/0xffff", "",  " ", ",\n,",
	};
	int fd = open_task();

	for (size_t i = 0; i < ARRAY_LEN(filters); i++)
		expect_taken(fd, filters[i]);
}

static void what_is_none_is_refused(void)
{
	static const char *const filters[] = {
		"x", "filter", "start", "filter start", "filter 1", "filter 1/0",
		"filter 1/0@/bin/sh", "1/1", "filter 1/1 1/1", "filter 1/x",
		"filter x/1", "filter /1", "filter 1/", "start", "start x",
		"start 1@", "start @/bin/sh", "filter 1/1 filter",
		"filter 1/1,stop", "Filter 1/1", "filter\t1/1", "filter=1/1",
		"filter -1/1", "filter 1/1@", "filter 0x/1", "start 0x",
		"start 99999999999999999999999",
		"filter 1/1@/", "start 1@/dev/null", "start 1@/proc",
	};
	int fd = open_task();

	for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
		CHECK_EQ(set_filter(fd, filters[i]), -1);
		if (errno != EINVAL && errno != ERANGE)
			FAIL("\"%s\" fails with %s", filters[i],
			     strerrorname_np(errno));
		expect_taken(fd, "filter 1/1"); /* it is none the worse */
	}
	expect_refused(fd, "start 1@/no/such/file", ENOENT);
	expect_refused(fd, "start 1@/bin/sh/file", ENOTDIR);
}

/* A page is as long as a string may be. */
static void long_strings(void)
{
	static char text[8192];
	int fd = open_task();

	memset(text, ' ', sizeof(text) - 1);
	memcpy(text + 4085, "filter 1/1", 10);
	text[4095] = 0;
	expect_taken(fd, text);
	memset(text, 'x', 4095);
	expect_refused(fd, text, EINVAL);
	text[4095] = 'x';
	expect_refused(fd, text, EINVAL);
	memset(text, ' ', sizeof(text) - 1);
	expect_refused(fd, text, EINVAL);
	memset(text, ',', 4095);
	text[4095] = 0;
	expect_taken(fd, text);
	strcpy(text, "start 1@/");
	memset(text + 9, 'a', 4000);
	text[4009] = 0;
	expect_refused(fd, text, ENAMETOOLONG);
	CHECK_ERRNO(set_filter(fd, NULL), EFAULT);
	CHECK_ERRNO(set_filter(fd, (const char *)-4096), EFAULT);
}

/* ---- how many ---- */

/* "start 1,start 2,..." */
static const char *so_many(unsigned int nr)
{
	static char text[4096];
	size_t length = 0;

	for (unsigned int i = 1; i <= nr; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "start %u,", i);
	return text;
}

static void up_to_four_are_taken(void)
{
	int fd = open_task();

	for (unsigned int nr = 1; nr <= MOST; nr++)
		expect_taken(fd, so_many(nr));
}

/* There is memory for four ranges, so who asks for more must not get them. */
static void more_are_refused(void)
{
	char text[16];
	int fd = open_task();

	CHECK(pmu_file("aux_test", "nr_addr_filters", text, sizeof(text)));
	CHECK_EQ(atoi(text), MOST);
	if (!set_filter(fd, so_many(MOST + 1)))
		FAIL("five filters are taken where there is room for four");
	CHECK(errno == EINVAL || errno == EOPNOTSUPP);
	CHECK_EQ(set_filter(fd, so_many(100)), -1);
	CHECK_EQ(set_filter(fd, so_many(300)), -1);
	expect_taken(fd, so_many(MOST));
}

/* ---- any string ---- */

static uint64_t random_state = 88172645463325252ULL;

static unsigned int random_below(unsigned int limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)(random_state % limit);
}

/*
 * Of pieces that mean something and of bytes that do not; at most four filters, see
 * more_are_refused().
 */
static const char *random_string(void)
{
	static const char *const pieces[] = {
		"filter ", "start ", "stop ", "filter", "0x1000", "/0x100", "/",
		"@", "@/bin/sh", "@/no/such", "1", "/1", " ", ",", "\n", "%d",
		"0", "-1", "18446744073709551615", "18446744073709551616",
		"/bin/sh", "@/", "@@", "//", "x",
	};
	static char text[4096];
	unsigned int nr = random_below(12), filters = 0;
	size_t length = 0;

	for (unsigned int i = 0; i < nr; i++) {
		const char *piece = pieces[random_below(ARRAY_LEN(pieces))];

		filters += piece[0] == 'f' || piece[0] == 's';
		if (filters > MOST)
			break;
		if (random_below(8))
			length += (size_t)sprintf(text + length, "%s", piece);
		else
			text[length++] = (char)(1 + random_below(255));
	}
	text[length] = 0;
	return text;
}

static bool known_error(int error)
{
	return error == EINVAL || error == ERANGE || error == ENOENT ||
	       error == ENOTDIR || error == EACCES || error == ENAMETOOLONG;
}

/* PB-51. Taken or refused, and the event is as good as before. */
static void any_string(void)
{
	unsigned int taken = 0, refused = 0;
	int fd = open_task();

	for (int i = 0; i < 2000; i++) {
		const char *text = random_string();

		if (!set_filter(fd, text))
			taken++;
		else if (known_error(errno))
			refused++;
		else
			FAIL("\"%s\" fails with %s", text,
			     strerrorname_np(errno));
	}
	CHECK(taken > 20);
	CHECK(refused > 1000);
	expect_taken(fd, "filter 1/1@/bin/sh");
}

/* Each place at which a filter can be cut off. */
static void any_beginning_of_a_string(void)
{
	static const char whole[] =
		"filter 0x1000/0x100@/bin/sh,start 1,stop 0x20@/bin/sh";
	int fd = open_task();

	for (size_t length = 0; length < sizeof(whole); length++) {
		char text[sizeof(whole)];

		memcpy(text, whole, length);
		text[length] = 0;
		if (set_filter(fd, text))
			CHECK(known_error(errno));
	}
}

/* ---- nothing stays ---- */

/* Objects in use of all slabs of that size and name, which is not exact to a few pages. */
static long objects(const char *slab)
{
	char line[512], name[64];
	FILE *file = fopen("/proc/slabinfo", "r");
	long sum = -1, active;

	if (!file)
		SKIP("there is no /proc/slabinfo");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %ld", name, &active) == 2 &&
		    !strcmp(name, slab))
			sum = active;
	fclose(file);
	if (sum < 0)
		SKIP("there is no slab %s", slab);
	return sum;
}

/* A path of about 900 bytes: its copies are in kmalloc-1k. */
static const char *long_path(void)
{
	static char path[1024];
	size_t length = 0;

	while (length < 900)
		length += (size_t)sprintf(path + length, "/.");
	strcpy(path + length, "/bin/sh");
	return path;
}

/* PB-52. Two files, and an error after the first or at the second. */
/* KASAN keeps freed objects for a while, and has its own word on leaks. */
static bool counts_are_exact(void)
{
	return system("zcat /proc/config.gz | grep -q '^CONFIG_KASAN=y'") != 0;
}

static void the_file_s_name_is_freed(void)
{
	static const char *const formats[] = {
		"start 1@%s,stop 1@%s,x", "start 1@%s,filter 1/0@%s",
		"start 1@%s,stop 1@%s/", "start 1@%s,stop x@%s",
		"start 1@%s start", "start 1@%s 1@%s",
	};
	static char text[4096];
	int fd = open_task();
	long before = objects("kmalloc-1k");

	for (size_t i = 0; i < 500; i++) {
		const char *format = formats[i % ARRAY_LEN(formats)];

		snprintf(text, sizeof(text), format, long_path(), long_path());
		CHECK_EQ(set_filter(fd, text), -1);
		CHECK(known_error(errno));
	}
	if (counts_are_exact())
		CHECK(objects("kmalloc-1k") - before < 200);
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

/* Nor is the file kept: what it is on can be unmounted. */
static void the_file_is_let_go(void)
{
	char folder[] = "/tmp/filter-XXXXXX", path[64], text[256];
	int fd = open_task();

	make_file(folder, path, sizeof(path));

	snprintf(text, sizeof(text), "start 1@%s,stop 2@%s", path, path);
	expect_taken(fd, text);
	CHECK_EQ(umount(folder), -1); /* a filter has the file */
	CHECK_EQ(errno, EBUSY);
	snprintf(text, sizeof(text), "start 1@%s,stop 2@%s,x", path, path);
	for (int i = 0; i < 100; i++)
		expect_refused(fd, text, EINVAL);
	CHECK_EQ(umount(folder), -1); /* what is refused replaces nothing */
	expect_taken(fd, "start 1");
	CHECK(!umount(folder));
	rmdir(folder);
}

static void closing_lets_go_as_well(void)
{
	char folder[] = "/tmp/filter-XXXXXX", path[64], text[128];
	int fd = open_task();

	make_file(folder, path, sizeof(path));
	snprintf(text, sizeof(text), "start 1@%s", path);
	expect_taken(fd, text);
	close(fd);
	CHECK(!umount(folder));
	rmdir(folder);
}

/* ---- which events ---- */

/* PB-53. A file is somewhere in a task; an address is the same for all. */
static void files_need_a_task(void)
{
	struct perf_event_attr attr = aux_attr();
	int task = open_self(&attr), on_cpu = open_on(&attr, 0, 0);
	int cpu = open_on_cpu(&attr, 0);

	expect_taken(task, "filter 0x1000/0x100");
	expect_taken(task, "filter 0x1000/0x100@/bin/sh");
	expect_taken(on_cpu, "filter 0x1000/0x100@/bin/sh");
	expect_taken(cpu, "filter 0x1000/0x100");
	expect_taken(cpu, "start 0x1000,stop 0x2000");
	expect_refused(cpu, "filter 0x1000/0x100@/bin/sh", EOPNOTSUPP);
	expect_refused(cpu, "start 0x1000@/bin/sh", EOPNOTSUPP);
	expect_refused(cpu, "start 1,stop 2@/bin/sh", EOPNOTSUPP);
	expect_taken(cpu, "filter 0x1000/0x100");
}

static void addresses_of_the_kernel_need_no_kernel(void)
{
	struct perf_event_attr attr = aux_attr();
	int task, cpu;

	attr.exclude_kernel = 1;
	task = open_self(&attr);
	cpu = open_on_cpu(&attr, 0);
	expect_taken(task, "filter 0xffffffff81000000/0x100");
	expect_taken(cpu, "filter 0xffffffff81000000/0x100");
	expect_taken(cpu, "start 0xffffffff81000000");
	expect_taken(task, "filter 0x1000/0x100@/bin/sh");
}

static void events_without_filters_refuse_them(void)
{
	struct perf_event_attr attr = comm_attr();

	expect_refused(open_self(&attr), "filter 1/1", EINVAL);
	expect_refused(open_self(&attr), "", EINVAL);
}

/* ---- events that run ---- */

static struct aux aux;

/* Each new filter stops and starts the trace, and costs nothing of it. */
static void a_trace_goes_on_with_other_filters(void)
{
	int fd = open_task();

	aux_map(&aux, fd, 16, 1024);
	enable(fd);
	for (int i = 0; i < 50; i++) {
		expect_taken(fd, i % 3 ? "filter 0x1000/0x100@/bin/sh" :
					 "start 1,stop 2");
		spin_ms(1);
	}
	aux_finish(&aux);
	CHECK(aux.kept >= 50 * 1000);
	CHECK_EQ(aux.kept, count_of(fd));
	CHECK_EQ(aux.gaps, 0);
}

/* A file that is mapped meanwhile changes where the filter is. */
static void files_may_be_mapped_while_it_runs(void)
{
	int fd = open_task(), file = open("/bin/sh", O_RDONLY | O_CLOEXEC);

	CHECK(file >= 0);
	aux_map(&aux, fd, 16, 1024);
	expect_taken(fd, "filter 0/0x1000@/bin/sh,start 0x100@/bin/sh,stop 1");
	enable(fd);
	for (int i = 0; i < 50; i++) {
		void *code = mmap(NULL, 8192, PROT_READ | PROT_EXEC,
				  MAP_PRIVATE, file, 0);

		CHECK(code != MAP_FAILED);
		CHECK(!munmap(code, 8192));
	}
	aux_finish(&aux);
	CHECK_EQ(aux.kept, count_of(fd));
	CHECK_EQ(aux.gaps, 0);
}

static void children_inherit_them(void)
{
	struct perf_event_attr attr = aux_attr();
	int fd;

	attr.inherit = 1;
	fd = open_on(&attr, 0, 0);
	expect_taken(fd, "filter 0/0x1000@/bin/sh,start 1");
	enable(fd);
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child) {
			spin_ms(2);
			_exit(0);
		}
		expect_taken(fd, i % 2 ? "filter 0/0x1000@/bin/sh" : "stop 1");
		join_child(child);
	}
	disable(fd);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(filters_are_taken),
		CASE(what_is_none_is_refused),
		CASE(long_strings),
		CASE(up_to_four_are_taken),
		CASE(any_string),
		CASE(any_beginning_of_a_string),
		CASE(the_file_s_name_is_freed),
		CASE(the_file_is_let_go),
		CASE(closing_lets_go_as_well),
		CASE(files_need_a_task),
		CASE(addresses_of_the_kernel_need_no_kernel),
		CASE(events_without_filters_refuse_them),
		CASE(a_trace_goes_on_with_other_filters),
		CASE(files_may_be_mapped_while_it_runs),
		CASE(children_inherit_them),
		CASE(more_are_refused), /* last: it costs the machine where they are not */
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
