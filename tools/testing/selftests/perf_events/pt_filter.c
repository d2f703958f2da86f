// SPDX-License-Identifier: GPL-2.0
/*
 * Address filters of intel_pt: which ones the hardware can do, and that nothing is traced
 * but what they let through.
 *
 * A function that is called N times while only it is let through makes N TIP.PGE packets
 * with its address. Where it is interrupted there is one more, with the address of that place.
 */
#include "perf_pt_event.h"
#include "perf_address_filter.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define CALLS 7

static struct pt_trace trace;

/* Two functions in pages of their own, and code that may lie anywhere. */
asm(".pushsection .text\n"
    "	.balign 4096\n"
    "inside:	mov $3, %ecx\n"
    "1:	dec %ecx\n"
    "	jnz 1b\n"
    "	ret\n"
    "inside_end:\n"
    "	.balign 4096\n"
    "beside:	mov $2, %ecx\n"
    "1:	dec %ecx\n"
    "	jnz 1b\n"
    "	ret\n"
    "beside_end:\n"
    "	.balign 4096\n"
    "calling:	mov $110, %eax\n" /* getppid */
    "	syscall\n"
    "	ret\n"
    "calling_end:\n"
    "	.balign 4096\n"
    ".popsection\n");

extern const char inside[], inside_end[], beside[], beside_end[], calling[],
	calling_end[];

static void call(const void *code)
{
	((void (*)(void))code)();
}

static void call_often(const void *code)
{
	for (int i = 0; i < CALLS; i++)
		call(code);
}

/* ---- filters ---- */

/* Files are only looked for in new mappings while somebody wants to know of these. */
static int open_pt(void)
{
	struct perf_event_attr attr = pt_attr();

	attr.mmap = 1;
	if (!pt_cap("num_address_ranges"))
		SKIP("there are no address ranges");
	return open_self(&attr);
}

/* Where in this program's file some code of it is. */
static uint64_t offset_in_file(const void *code)
{
	unsigned long start, end, offset, at = (unsigned long)code;
	FILE *maps = fopen("/proc/self/maps", "r");
	uint64_t found = 0;
	char line[512];

	CHECK(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    start <= at && at < end)
			found = at - start + offset;
	fclose(maps);
	CHECK(found);
	return found;
}

/* "filter 0x2000/0x10@/the/program" */
static const char *of_file(const char *what, const char *from, const char *to)
{
	static char texts[4][4096 + 256];
	static unsigned int turn;
	char *text = texts[turn++ % 4], path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	CHECK(length > 0);
	path[length] = 0;
	snprintf(text, sizeof(texts[0]), "%s %#" PRIx64 "/%#tx@%s", what,
		 offset_in_file(from), to - from, path);
	return text;
}

static const char *of_memory(const char *what, const char *from, const char *to)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s %p/%#tx", what, from, to - from);
	return text;
}

/* ---- what has been traced ---- */

struct found {
	unsigned int begun; /* at the start of the range */
	unsigned int again; /* elsewhere in it */
	unsigned int outside;
	uint64_t stray;
};

/*
 * Where it was interrupted, it goes on: that is no new call, even if it was in front of the
 * first instruction. An interruption is a FUP with its address, and a TIP.PGD behind.
 */
static struct found look(const char *from, const char *to)
{
	struct pt_walk walk = pt_walk_of(&trace);
	uint64_t fup = 0, interrupted = 0;
	struct found found = { 0 };
	enum pt_packet kind;

	while ((kind = pt_next(&walk)) < PT_PACKETS) {
		if (kind == PT_TIP_PGD)
			interrupted = fup;
		fup = kind == PT_FUP && walk.has_ip ? walk.ip : 0;
		if (kind != PT_TIP_PGE)
			continue;
		CHECK(walk.has_ip);
		if (walk.ip == (uint64_t)from && walk.ip != interrupted) {
			found.begun++;
		} else if (walk.ip >= (uint64_t)from && walk.ip < (uint64_t)to) {
			found.again++;
		} else {
			found.outside++;
			found.stray = walk.ip;
		}
	}
	CHECK(kind == PT_CUT && walk.at == walk.size);
	return found;
}

static void expect_begun(const char *from, const char *to, unsigned int nr)
{
	struct found found = look(from, to);

	if (found.begun != nr)
		FAIL("the trace begins %u times at %p, not %u times",
		     found.begun, from, nr);
}

static void expect_calls(const char *from, const char *to, unsigned int nr)
{
	struct found found = look(from, to);

	if (found.outside)
		FAIL("%u of the trace's parts begin outside of %p to %p, at %#"
		     PRIx64, found.outside, from, to, found.stray);
	expect_begun(from, to, nr);
}

static void trace_calls(int fd)
{
	uint64_t faults = pt_count("faults");

	pt_map(&trace, fd, 1, 16);
	enable(fd);
	call_often(beside);
	call_often(inside);
	call_often(beside);
	pt_finish(&trace);
	CHECK_EQ(pt_count("faults"), faults);
	if (trace.size)
		pt_expect_whole(&trace);
}

/* ---- which filters ---- */

static void what_the_hardware_can_do(void)
{
	int fd = open_pt();

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
	int fd = open_pt();

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
	int task = open_pt(), cpu;

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
	int fd = open_pt();

	pt_map(&trace, fd, 1, 16);
	for (int i = 0; i < 10000; i++) {
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
			call(inside);
			disable(fd);
			pt_drain(&trace);
		}
	}
	CHECK(taken > 100);
	CHECK(refused > 5000);
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
	int fd = open_pt();

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

/* ---- what is let through ---- */

static void code_of_a_file(void)
{
	int fd = open_pt();

	expect_taken(fd, of_file("filter", inside, inside_end));
	trace_calls(fd);
	expect_calls(inside, inside_end, CALLS);
}

static void code_at_an_address(void)
{
	int fd = open_pt();

	expect_taken(fd, of_memory("filter", inside, inside_end));
	trace_calls(fd);
	expect_calls(inside, inside_end, CALLS);
}

static void nothing_that_is_called(void)
{
	int fd = open_pt();

	expect_taken(fd, of_file("filter", calling, calling_end));
	trace_calls(fd);
	CHECK_EQ(look(calling, calling_end).begun, 0);
	CHECK_EQ(look(calling, calling_end).outside, 0);
}

static void two_ranges(void)
{
	char text[9000];
	struct found found;
	int fd = open_pt();

	snprintf(text, sizeof(text), "%s,%s",
		 of_file("filter", inside, inside_end),
		 of_file("filter", beside, beside_end));
	expect_taken(fd, text);
	trace_calls(fd);
	found = look(inside, inside_end);
	CHECK_EQ(found.begun, CALLS);
	CHECK(found.outside >= 2 * CALLS); /* beside's */
	expect_begun(beside, beside_end, 2 * CALLS);
	CHECK_EQ(look(inside, beside_end).outside, 0);
}

/* Out to the kernel and in again, within the range. */
static void calls_from_within(void)
{
	struct found found;
	int fd = open_pt();

	expect_taken(fd, of_file("filter", calling, calling_end));
	pt_map(&trace, fd, 1, 16);
	enable(fd);
	call_often(calling);
	pt_finish(&trace);
	pt_expect_whole(&trace);
	expect_calls(calling, calling_end, CALLS);
	found = look(calling, calling_end);
	CHECK(found.again >= CALLS);
}

struct stops {
	unsigned int nr;
	unsigned int later; /* records that bring something, behind the first stop's */
};

/* Behind a TraceStop there is nothing. */
static unsigned int stops_in(size_t begin)
{
	struct pt_walk walk = {
		.bytes = trace.bytes + begin, .size = trace.size - begin,
	};

	while (!walk.seen[PT_TRACESTOP] && pt_next(&walk) < PT_PACKETS)
		;
	if (walk.seen[PT_TRACESTOP] && walk.at != walk.size)
		FAIL("behind a stop are %zu bytes more, the first %02x",
		     walk.size - walk.at, walk.bytes[walk.at]);
	return (unsigned int)walk.seen[PT_TRACESTOP];
}

/*
 * Like pt_finish(), start by start: each one brings records of its own. A task that is
 * preempted where tracing has stopped is traced again when its turn comes, and stops again
 * if it is still in the range: a way back to user mode that leads there stops as a branch
 * does (SDM volume 3, "IP Filtering and TraceStop").
 */
static struct stops finish_stopped(void)
{
	const struct perf_event_header *header;
	struct aux *aux = &trace.aux;
	struct stops stops = { 0 };

	disable(aux->fd);
	while ((header = ring_next(&aux->ring))) {
		const struct aux_record *record = (const void *)header;
		size_t begin = trace.size;

		aux_take_record(aux, header);
		if (header->type != PERF_RECORD_AUX)
			continue;
		pt_read_to(&trace, aux->pos + record->size);
		stops.later += stops.nr && record->size;
		stops.nr += stops_in(begin);
	}
	ring_release(&aux->ring);
	aux_release(aux);
	CHECK_EQ(aux_head(aux), aux->pos);
	CHECK(stops.nr > 0);
	return stops;
}

static void a_stop_stops(void)
{
	struct stops stops;
	struct pt_walk walk;
	size_t size;
	int fd = open_pt();

	expect_taken(fd, of_file("stop", inside, inside_end));
	pt_map(&trace, fd, 1, 16);
	enable(fd);
	call(beside);
	call(inside);
	call_often(calling);
	stops = finish_stopped();
	walk = pt_expect_whole(&trace);
	CHECK_EQ(walk.seen[PT_TRACESTOP], stops.nr);
	CHECK(stops.nr <= 1 + stops.later);
	size = trace.size;
	/* As good as new when it starts again. */
	enable(fd);
	call(beside);
	pt_finish(&trace);
	CHECK(trace.size > size);
	pt_expect_psb(trace.bytes + size, trace.size - size);
}

/* What is behind the stop is not traced, whatever is let through. */
static void a_filter_and_a_stop(void)
{
	unsigned int begun;
	struct stops stops;
	char text[9000];
	int fd = open_pt();

	snprintf(text, sizeof(text), "%s,%s",
		 of_file("filter", inside, inside_end),
		 of_file("stop", calling, calling_end));
	expect_taken(fd, text);
	pt_map(&trace, fd, 1, 16);
	enable(fd);
	call_often(inside);
	call(calling);
	call_often(inside);
	stops = finish_stopped();
	pt_expect_whole(&trace);
	CHECK_EQ(look(inside, inside_end).outside, 0);
	begun = look(inside, inside_end).begun;
	/* Unless it has been started again behind the stop. */
	CHECK(begun >= CALLS && begun <= (stops.later ? 2 : 1) * CALLS);
}

/* ---- filters that change ---- */

static void another_filter_while_it_runs(void)
{
	size_t size;
	int fd = open_pt();

	expect_taken(fd, of_file("filter", inside, inside_end));
	pt_map(&trace, fd, 1, 16);
	enable(fd);
	call_often(inside);
	call_often(beside);
	expect_taken(fd, of_file("filter", beside, beside_end));
	call_often(inside);
	call_often(beside);
	pt_finish(&trace);
	pt_expect_whole(&trace);
	CHECK_EQ(look(inside, beside_end).outside, 0);
	expect_begun(inside, inside_end, CALLS);
	expect_begun(beside, beside_end, CALLS);
	size = trace.size;
	expect_taken(fd, "");
	enable(fd);
	call_often(calling);
	pt_finish(&trace);
	CHECK(trace.size > size + 10 * CALLS);
}

/* A copy of `inside` in a file of its own. */
static int make_library(char *path)
{
	int file = mkstemp(path);

	CHECK(file >= 0);
	CHECK(!fchmod(file, 0700));
	CHECK_EQ(pwrite(file, inside, (size_t)(inside_end - inside), 4096),
		 inside_end - inside);
	CHECK(!ftruncate(file, 8192));
	close(file);
	file = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0);
	return file;
}

/* The range follows the file to where it is mapped, and is gone with the mapping. */
static void files_that_come_and_go(void)
{
	char path[] = "/tmp/library-XXXXXX", text[128];
	int fd = open_pt(), file = make_library(path);
	char *code[2];

	snprintf(text, sizeof(text), "filter 0x1000/%#tx@%s",
		 inside_end - inside, path);
	expect_taken(fd, text);
	pt_map(&trace, fd, 1, 16);
	enable(fd);
	for (int i = 0; i < 2; i++) {
		void *at = (void *)(0x10000000UL + 0x10000000UL * (unsigned int)i);

		call(inside);
		code[i] = mmap(at, 8192, PROT_READ | PROT_EXEC,
			       MAP_PRIVATE | MAP_FIXED_NOREPLACE, file, 0);
		CHECK(code[i] == at);
		call_often(code[i] + 4096);
		CHECK(!munmap(code[i], 8192));
		call(beside);
	}
	pt_finish(&trace);
	unlink(path);
	pt_expect_whole(&trace);
	for (int i = 0; i < 2; i++)
		expect_begun(code[i] + 4096, code[i] + 8192, CALLS);
	CHECK_EQ(look(code[0], code[1] + 8192).outside, 0);
}

static void children_inherit_them(void)
{
	struct perf_event_attr attr = pt_attr();
	pid_t child;
	int fd;

	attr.inherit = 1;
	pmu_type(PT);
	fd = open_on(&attr, 0, 0);
	stay_on(0);
	expect_taken(fd, of_file("filter", inside, inside_end));
	pt_map(&trace, fd, 1, 16);
	enable(fd);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		call_often(beside);
		call_often(inside);
		_exit(0);
	}
	join_child(child);
	pt_finish(&trace);
	expect_calls(inside, inside_end, CALLS);
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
	int fd = open_pt();

	pt_map(&trace, fd, 1, 16);
	for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
		if (set_filter(fd, filters[i]))
			CHECK(errno == EINVAL || errno == ERANGE);
		enable(fd);
		call(inside);
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
		CASE(code_of_a_file),
		CASE(code_at_an_address),
		CASE(nothing_that_is_called),
		CASE(two_ranges),
		CASE(calls_from_within),
		CASE(a_stop_stops),
		CASE(a_filter_and_a_stop),
		CASE(another_filter_while_it_runs),
		CASE(files_that_come_and_go),
		CASE(children_inherit_them),
		CASE(odd_ranges_run),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
