// SPDX-License-Identifier: GPL-2.0
/*
 * Event trace and power events of intel_pt: which interrupt or exception has ended user
 * mode, where, and for a page fault at which address; and when a CPU sleeps.
 */
#include "perf_pt_event.h"
#include "perf_address_filter.h"

#include <signal.h>
#include <ucontext.h>

#define TIMES 20

static struct pt_trace trace;

/* ---- instructions that raise something ---- */

extern const uint8_t divides[], traps[], illegal[], privileged[], absent[];
extern const uint8_t asks[], raisers[], raisers_end[];
#define ABSENT 0x1230

asm(".pushsection .text\n"
    ".globl raisers, raisers_end, divides, traps, illegal, privileged, absent, asks\n"
    "raisers:\n"
    "divides:	div %ecx\n	ret\n"
    "traps:	int3\n	ret\n"
    "illegal:	ud2\n	ret\n"
    "privileged: hlt\n	ret\n"
    "absent:	mov 0x1230, %eax\n	ret\n"
    "asks:	int $0x80\n	ret\n"
    "raisers_end:\n"
    ".popsection\n");

static const struct raiser {
	const char *name;
	const uint8_t *at;
	unsigned int vector, length; /* to get over it */
	bool has_address;
} all_raisers[] = {
	{ "#DE", divides, 0, 2, false },
	{ "#BP", traps, 3, 0, false }, /* it has been got over */
	{ "#UD", illegal, 6, 2, false },
	{ "#GP", privileged, 13, 1, false },
	{ "#PF", absent, 14, 7, true },
	{ "INT 80", asks, 0x80, 0, false },
};

static unsigned int raised_length;

static void get_over(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += raised_length;
}

static void expect_signals(void)
{
	static const int signals[] = { SIGFPE, SIGTRAP, SIGILL, SIGSEGV };
	struct sigaction action = { .sa_sigaction = get_over,
				    .sa_flags = SA_SIGINFO };

	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		CHECK(!sigaction(signals[i], &action, NULL));
}

static void raise_all(void)
{
	for (size_t i = 0; i < ARRAY_LEN(all_raisers); i++) {
		const struct raiser *raiser = &all_raisers[i];

		raised_length = raiser->length;
		for (int n = 0; n < TIMES; n++) {
			long ax = SYS_getppid;

			asm volatile("call *%1"
				     : "+a" (ax)
				     : "r" (raiser->at), "c" (0), "d" (0)
				     : "memory", "cc");
		}
	}
}

/* ---- what the trace says of them ---- */

struct event {
	unsigned int type, vector;
	bool with_ip, has_ip, has_address;
	uint64_t ip, address;
};

/* The next one; false: there is none. */
static bool next_event(struct pt_walk *walk, struct event *event)
{
	bool open = false;
	enum pt_packet kind;

	memset(event, 0, sizeof(*event));
	while ((kind = pt_next(walk)) != PT_CUT) {
		const uint8_t *packet = walk->bytes + walk->place;

		if (kind == PT_BAD)
			FAIL("at %zu is no packet", walk->place);
		/* A FUP binds to it, at once or never. */
		if (open) {
			event->has_ip = kind == PT_FUP;
			event->ip = walk->ip;
			if (!event->has_ip)
				walk->at = walk->place;
			return true;
		}
		if (kind == PT_EVD) {
			CHECK_EQ(packet[2], 0);
			event->has_address = true;
			event->address = pt_bytes(packet + 3, 8);
		} else if (kind == PT_CFE) {
			event->type = packet[2] & 0x1f;
			event->with_ip = packet[2] & 0x80;
			event->vector = packet[3];
			open = true;
		}
	}
	return open;
}

static unsigned int told_of(const struct raiser *raiser, bool with_ip)
{
	struct pt_walk walk = pt_walk_of(&trace);
	unsigned int nr = 0;
	struct event event;

	while (next_event(&walk, &event)) {
		CHECK_EQ(event.type, 1);
		CHECK_EQ(event.has_address, event.vector == 14);
		if (!event.has_ip || event.ip != (uintptr_t)raiser->at)
			continue;
		/* Timers and others come in between; page faults bring code in. */
		if (event.vector != raiser->vector || (event.vector == 14 &&
		    event.address != ABSENT))
			continue;
		CHECK_EQ(event.with_ip, with_ip);
		nr++;
	}
	return nr;
}

static void expect_all(bool with_ip)
{
	for (size_t i = 0; i < ARRAY_LEN(all_raisers); i++) {
		unsigned int nr = told_of(&all_raisers[i], with_ip);

		if (nr != TIMES)
			FAIL("%s has been told %u times, not %u",
			     all_raisers[i].name, nr, TIMES);
	}
}

static int open_with_events(uint64_t branch)
{
	struct perf_event_attr attr = pt_timed_attr();

	pt_field(&attr, "event", 1);
	pt_field(&attr, "branch", branch);
	/* Or branches are switched on again. */
	pt_field(&attr, "pt", 1);
	expect_signals();
	return open_self(&attr);
}

static void trace_all(int fd)
{
	pt_map(&trace, fd, 4, 64);
	enable(fd);
	raise_all();
	pt_finish(&trace);
	pt_expect_whole(&trace);
}

static void an_exception_is_told(void)
{
	trace_all(open_with_events(1));
	expect_all(false);
}

static void without_branches_too(void)
{
	trace_all(open_with_events(0));
	expect_all(true);
}

/* The filter lets nothing of them through: they are told, and not where. */
static void outside_of_a_filter(void)
{
	int fd = open_with_events(1);
	struct pt_walk walk;
	struct event event;
	unsigned int nr = 0, anywhere = 0;
	char program[4000] = "", text[4096];

	CHECK(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
	snprintf(text, sizeof(text), "filter 0x10/0x10@%s", program);
	expect_taken(fd, text);
	trace_all(fd);
	walk = pt_walk_of(&trace);
	while (next_event(&walk, &event)) {
		nr += event.vector == 6;
		anywhere += event.has_ip;
	}
	CHECK_EQ(nr, TIMES);
	CHECK_EQ(anywhere, 0);
}

/* User mode's interrupt flag is set, and the packets of the mode say so. */
static void the_interrupt_flag(void)
{
	struct pt_walk walk;
	enum pt_packet kind;
	unsigned int nr = 0;

	trace_all(open_with_events(1));
	walk = pt_walk_of(&trace);
	while ((kind = pt_next(&walk)) != PT_CUT) {
		if (kind != PT_MODE)
			continue;
		CHECK_EQ(walk.bytes[walk.place + 1], 5);
		nr++;
	}
	CHECK(nr > TIMES);
}

/* Nobody has asked. */
static void not_without_being_asked(void)
{
	struct perf_event_attr attr = pt_timed_attr();
	struct pt_walk walk;

	expect_signals();
	trace_all(open_self(&attr));
	walk = pt_expect_whole(&trace);
	CHECK_EQ(walk.seen[PT_CFE] + walk.seen[PT_EVD], 0);
	CHECK_EQ(walk.seen[PT_PWRE] + walk.seen[PT_PWRX], 0);
}

/* ---- power ---- */

/* A CPU that has nothing to do sleeps and wakes in turn, and wakes by an interrupt. */
static void a_cpu_sleeps(void)
{
	struct perf_event_attr attr = pt_timed_attr();
	unsigned int sleeps = 0, wakes = 0;
	enum pt_packet kind;
	struct pt_walk walk;
	int fd;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("there is only one CPU");
	stay_on(0);
	pt_field(&attr, "pwr_evt", 1);
	fd = open_on(&attr, -1, 1);
	pt_map(&trace, fd, 4, 256);
	enable(fd);
	for (int i = 0; i < 200; i++)
		usleep(5000);
	pt_finish(&trace);
	walk = pt_walk_of(&trace);
	while ((kind = pt_next(&walk)) != PT_CUT) {
		const uint8_t *packet = walk.bytes + walk.place;

		switch (kind) {
		case PT_PWRE:
			CHECK_EQ(sleeps, wakes);
			sleeps++;
			/* C1, and software has asked for it. */
			CHECK_EQ(pt_bytes(packet + 2, 2), 0);
			CHECK_EQ(pt_next(&walk), PT_EXSTOP);
			break;
		case PT_PWRX:
			wakes++;
			CHECK_EQ(sleeps, wakes);
			CHECK_EQ(pt_bytes(packet + 2, 5), 0x100);
			break;
		default:
			break;
		}
	}
	CHECK(wakes >= 2);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(an_exception_is_told),
		CASE(without_branches_too),
		CASE(outside_of_a_filter),
		CASE(the_interrupt_flag),
		CASE(not_without_being_asked),
		CASE(a_cpu_sleeps),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
