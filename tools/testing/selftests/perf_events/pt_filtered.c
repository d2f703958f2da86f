// SPDX-License-Identifier: GPL-2.0
/*
 * Address filters of intel_pt: that nothing is traced but what they let through, up to where
 * they stop it.
 *
 * A function that is called N times while only it is let through makes N TIP.PGE packets
 * with its address. Where it is interrupted there is one more, with the address of that place.
 */
#include "perf_pt_event.h"
#include "perf_address_filter.h"

#include <fcntl.h>
#include <sys/stat.h>

#define CALLS 7

static struct pt_trace trace;

/* Functions in pages of their own; their code may lie anywhere. */
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
    "waiting:	dec %rdi\n"
    "	jnz waiting\n"
    "	ret\n"
    "waiting_end:\n"
    "	.balign 4096\n"
    ".popsection\n");

extern const char inside[], inside_end[], beside[], beside_end[], calling[],
	calling_end[], waiting[], waiting_end[];

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

/* ---- what is let through ---- */

static void code_of_a_file(void)
{
	int fd = pt_open_filtered();

	expect_taken(fd, of_file("filter", inside, inside_end));
	trace_calls(fd);
	expect_calls(inside, inside_end, CALLS);
}

static void code_at_an_address(void)
{
	int fd = pt_open_filtered();

	expect_taken(fd, of_memory("filter", inside, inside_end));
	trace_calls(fd);
	expect_calls(inside, inside_end, CALLS);
}

static void nothing_that_is_called(void)
{
	int fd = pt_open_filtered();

	expect_taken(fd, of_file("filter", calling, calling_end));
	trace_calls(fd);
	CHECK_EQ(look(calling, calling_end).begun, 0);
	CHECK_EQ(look(calling, calling_end).outside, 0);
}

static void two_ranges(void)
{
	char text[9000];
	struct found found;
	int fd = pt_open_filtered();

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
	int fd = pt_open_filtered();

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
	bool at_the_end; /* the last of them has one */
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
		if (!record->size)
			continue;
		stops.later += stops.nr > 0;
		stops.at_the_end = stops_in(begin);
		stops.nr += stops.at_the_end;
	}
	ring_release(&aux->ring);
	aux_release(aux);
	CHECK_EQ(aux_head(aux), aux->pos);
	CHECK(stops.nr > 0);
	return stops;
}

/* False: it has been started again behind the last stop, and goes on without a gap. */
static bool stops_and_begins_anew(void)
{
	struct stops stops;
	struct pt_walk walk;
	size_t size;
	int fd = pt_open_filtered();

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
	if (stops.at_the_end)
		pt_expect_psb(trace.bytes + size, trace.size - size);
	pt_unmap(&trace);
	close(fd);
	return stops.at_the_end;
}

static void a_stop_stops(void)
{
	int tries = 10;

	while (!stops_and_begins_anew())
		CHECK(tries--);
}

static pid_t start_rival(int cpu)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid)
		return pid;
	stay_on(cpu);
	for (;;)
		((void (*)(uint64_t))waiting)(1 << 20);
}

/* It shares its CPU while it is in the range: each time that its turn comes, it stops. */
static void it_stops_at_each_turn(void)
{
	struct stops stops;
	int fd = pt_open_filtered();
	pid_t rival;

	stay_on(0);
	rival = start_rival(0);
	expect_taken(fd, of_file("stop", waiting, waiting_end));
	/* On a slow kernel there are many turns. */
	pt_map(&trace, fd, 256, 256);
	enable(fd);
	((void (*)(uint64_t))waiting)(100000000);
	stops = finish_stopped();
	CHECK(!kill(rival, SIGKILL));
	CHECK_EQ(waitpid(rival, NULL, 0), rival);
	pt_expect_whole(&trace);
	CHECK(stops.nr >= 3 && stops.nr <= 1 + stops.later);
	remark("%u stops", stops.nr);
}

/* What is behind the stop is not traced, whatever is let through. */
static void a_filter_and_a_stop(void)
{
	unsigned int begun;
	struct stops stops;
	char text[9000];
	int fd = pt_open_filtered();

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
	int fd = pt_open_filtered();

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
	int fd = pt_open_filtered(), file = make_library(path);
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

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(code_of_a_file),
		CASE(code_at_an_address),
		CASE(nothing_that_is_called),
		CASE(two_ranges),
		CASE(calls_from_within),
		CASE(a_stop_stops),
		CASE(it_stops_at_each_turn),
		CASE(a_filter_and_a_stop),
		CASE(another_filter_while_it_runs),
		CASE(files_that_come_and_go),
		CASE(children_inherit_them),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
