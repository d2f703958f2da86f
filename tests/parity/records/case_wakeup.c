// SPDX-License-Identifier: GPL-2.0
/* After which record poll(2) and SIGIO tell the reader. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"
#include "ring.h"
#include "work.h"

#define ROUNDS 48

struct wish {
	const char *name;
	unsigned int watermark;		/* else events */
	unsigned int amount;
	unsigned int backward;
};

static const struct wish wishes[] = {
	{ "default", 0, 0, 0 },
	{ "every", 0, 1, 0 },
	{ "second", 0, 2, 0 },
	{ "seventh", 0, 7, 0 },
	{ "byte", 1, 1, 0 },
	{ "record", 1, 24, 0 },
	{ "100-bytes", 1, 100, 0 },
	{ "default-watermark", 1, 0, 0 },
	{ "beyond-ring", 1, 1 << 20, 0 },
	{ "every-backward", 0, 1, 1 },
	{ "100-bytes-backward", 1, 100, 1 },
};

static struct perf_event_attr faults_attr(const struct wish *wish)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD,
		.comm = 1,
		.disabled = 1,
		.write_backward = wish->backward,
		.watermark = wish->watermark,
		.wakeup_events = wish->amount,	/* the same word as wakeup_watermark */
	};
}

static void say_poll(const struct ring *ring)
{
	struct pollfd wait = { .fd = ring->fd, .events = POLLIN | POLLPRI };
	int ready = poll(&wait, 1, 0);

	say(" %d:%#x", ready, ready > 0 ? wait.revents : 0);
}

/* Samples, then side-band; drained now and then. */
static void polled(const void *argument)
{
	const struct wish *wish = argument;
	struct perf_event_attr attr = faults_attr(wish);
	struct ring ring;

	open_own(&ring, &attr);
	say("unmapped:");
	say_poll(&ring);
	map_ring(&ring, 1, RING_READ_WRITE);
	say("\nmapped:");
	say_poll(&ring);
	enable(&ring);
	say("\nsamples:");
	for (int i = 0; i < ROUNDS; i++) {
		fault_pages_from(i, 1);
		say_poll(&ring);
	}
	say("\nnames:");
	for (int i = 0; i < ROUNDS; i++) {
		rename_numbered(i);
		say_poll(&ring);
	}
	say("\n");
	dump_records(&ring, 1000);
	say("drained:");
	for (int i = 0; i < ROUNDS; i++) {
		fault_pages_from(ROUNDS + i, 1);
		say_poll(&ring);
	}
	disable(&ring);
	say("\n");
	dump_ring(&ring);
}

/* What the last signals said. */
static volatile sig_atomic_t signals, last_code, last_fd;

static void note_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	signals++;
	last_code = info->si_code;
	last_fd = info->si_fd;
}

static void ask_for_signals(const struct ring *ring)
{
	struct sigaction action = { .sa_sigaction = note_signal, .sa_flags = SA_SIGINFO };

	sigaction(SIGIO, &action, NULL);
	if (fcntl(ring->fd, F_SETFL, O_ASYNC) || fcntl(ring->fd, F_SETSIG, SIGIO) ||
	    fcntl(ring->fd, F_SETOWN, getpid()))
		err(1, "fcntl");
	raise(SIGIO);	/* so that the handler's way is not walked for the first time */
	signals = 0;
}

static void say_signals(const struct ring *ring)
{
	say(" %d", (int)signals);
	if (signals)
		say(":%d:%s", (int)last_code, last_fd == ring->fd ? "fd" : "OTHER");
	signals = 0;
}

static void signalled(const void *argument)
{
	const struct wish *wish = argument;
	struct perf_event_attr attr = faults_attr(wish);
	struct ring ring;

	open_own(&ring, &attr);
	map_ring(&ring, 1, RING_READ_WRITE);
	ask_for_signals(&ring);
	enable(&ring);
	say("samples:");
	for (int i = 0; i < ROUNDS; i++) {
		fault_pages_from(i, 1);
		say_signals(&ring);
	}
	say("\nnames:");
	for (int i = 0; i < ROUNDS; i++) {
		rename_numbered(i);
		say_signals(&ring);
	}
	disable(&ring);
	say("\n");
	dump_ring(&ring);
}

/* A limit of overflows: the last one disables the event and hangs up. */
static void refreshed(const void *argument)
{
	const struct wish *wish = argument;
	struct perf_event_attr attr = faults_attr(wish);
	struct ring ring;

	open_own(&ring, &attr);
	map_ring(&ring, 1, RING_READ_WRITE);
	ask_for_signals(&ring);
	for (int limit = 1; limit < 5; limit += 2) {
		control(&ring, PERF_EVENT_IOC_REFRESH, limit);
		say("limit %d:", limit);
		for (int i = 0; i < 6; i++) {
			fault_pages_from(limit * 6 + i, 1);
			say_signals(&ring);
			say_poll(&ring);
		}
		say("\n");
		dump_counts(&ring);
	}
	dump_ring(&ring);
}

/* The event of a task that is gone hangs up. */
static void hangs_up(const void *argument)
{
	const struct wish *wish = argument;
	struct perf_event_attr attr = faults_attr(wish);
	struct ring ring;
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		err(1, "pipe");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		close(ready[1]);
		_exit(read(ready[0], &byte, 1) < 0);
	}
	open_event(&ring, &attr, pid, -1, -1);
	map_ring(&ring, 1, RING_READ_WRITE);
	say("alive:");
	say_poll(&ring);
	close(ready[1]);
	if (waitpid(pid, NULL, 0) != pid)
		err(1, "waitpid");
	say("\ndead:");
	say_poll(&ring);
	say("\n");
}

/* The part of siginfo_t that <signal.h> does not name yet. */
struct perf_siginfo {
	int32_t signo, error, code, unused;
	uint64_t addr;
	uint64_t data;
	uint32_t type;
	uint32_t flags;
};

static struct perf_siginfo last_trap;
static volatile sig_atomic_t traps;

static void note_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	traps++;
	memcpy(&last_trap, info, sizeof(last_trap));
}

/* A signal on the spot, with the event's own word in it. */
static void trapped(const void *unused)
{
	struct sigaction action = { .sa_sigaction = note_trap, .sa_flags = SA_SIGINFO };
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 2,
		.sample_type = PERF_SAMPLE_ADDR,
		.exclude_kernel = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
		.sig_data = 0x123456789abcdef0,
		.disabled = 1,
	};
	struct ring ring;

	(void)unused;
	sigaction(SIGTRAP, &action, NULL);
	open_own(&ring, &attr);
	map_ring(&ring, 1, RING_READ_WRITE);
	raise(SIGTRAP);		/* the handler's own page faults, once */
	traps = 0;
	enable(&ring);
	fault_pages(5);
	disable(&ring);
	say("traps=%d code=%d addr=%#llx data=%#llx type=%u flags=%u\n", (int)traps,
	    last_trap.code, (unsigned long long)last_trap.addr,
	    (unsigned long long)last_trap.data, last_trap.type, last_trap.flags);
	dump_ring(&ring);
	dump_counts(&ring);
}

static void run_wishes(const char *name, case_function function)
{
	char full[64];

	for (size_t i = 0; i < ARRAY_SIZE(wishes); i++) {
		snprintf(full, sizeof(full), "%s-%s", name, wishes[i].name);
		run_case(full, function, &wishes[i]);
	}
}

void wakeup_cases(void)
{
	run_wishes("poll", polled);
	run_wishes("sigio", signalled);
	run_wishes("refresh", refreshed);
	run_case("hang-up", hangs_up, &wishes[0]);
	run_case("sigtrap", trapped, NULL);
}
