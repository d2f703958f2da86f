// SPDX-License-Identifier: GPL-2.0
/*
 * A task that is traced and debugged at the same time: its debugger, with ptrace or with
 * breakpoint events, sees what it would see anyway.
 */
#include "perf_pt_unseen.h"

#include <linux/hw_breakpoint.h>
#include <stddef.h>
#include <ucontext.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#ifndef PTRACE_SINGLEBLOCK
#define PTRACE_SINGLEBLOCK 33
#endif

#define TF 0x100

/* ---- what is debugged ---- */

volatile uint32_t watched, unwatched;

/* Calls of `inner`, which looks at its flags, writes a word, and makes a system call. */
asm(".pushsection .text\n"
    ".balign 64\n"
    ".global work\n"
    "work:	push %rbx\n"
    "	mov %edi, %ebx\n"
    "1:	call inner\n"
    "	dec %ebx\n"
    "	jnz 1b\n"
    ".global work_end\n"
    "work_end:\n"
    "	pop %rbx\n"
    "	ret\n"
    ".balign 64\n"
    ".global inner\n"
    "inner:	nop\n"
    "	incl watched(%rip)\n"
    "	jmp 1f\n"
    ".global place\n"
    "place:	nop\n"
    "1:	pushf\n"
    "	pop %rax\n"
    "	lea 2f(%rip), %rdx\n"
    "	jmp *%rdx\n"
    "2:	mov $102, %eax\n"
    "	syscall\n"
    "	mov %ss, %eax\n"
    "	mov %eax, %ss\n"
    "	nop\n" /* stepped with the MOV; see breakpoints_and_steps */
    "	incl unwatched(%rip)\n"
    "	ret\n"
    ".balign 64\n"
    ".global other\n"
    "other:	mov $0x77, %eax\n"
    "	ret\n"
    ".popsection\n");

extern void work(int times);
extern const char work_end[], inner[], place[], other[];

static void do_work(void)
{
	work(5);
}

/* It stops right before the work. */
static pid_t start_debugged(void (*what)(void))
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		CHECK(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
		raise(SIGSTOP);
		what();
		_exit(7);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	return pid;
}

static size_t debug_register(int nr)
{
	return offsetof(struct user, u_debugreg) + 8 * (size_t)nr;
}

static void set_debug_register(pid_t pid, int nr, uint64_t value)
{
	if (ptrace(PTRACE_POKEUSER, pid, debug_register(nr), value))
		FAIL("debug register %d cannot be %#" PRIx64 ": %s", nr, value,
		     strerror(errno));
}

/* The next stop; false: it has ended. Code of the program itself is at fixed places. */
static bool next_stop(pid_t pid, bool with_place)
{
	struct user_regs_struct regs;
	siginfo_t info;
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	NOTE(status);
	if (!WIFSTOPPED(status))
		return false;
	CHECK(!ptrace(PTRACE_GETREGS, pid, NULL, &regs));
	if (!ptrace(PTRACE_GETSIGINFO, pid, NULL, &info))
		NOTE(info.si_code);
	NOTE(ptrace(PTRACE_PEEKUSER, pid, debug_register(6), NULL));
	if (!with_place)
		return true;
	NOTE(regs.rip);
	NOTE(regs.eflags);
	if (regs.rip >= (uint64_t)work && regs.rip <= (uint64_t)other) {
		NOTE(regs.rax);
		NOTE(regs.r11);
	}
	return true;
}

static void go_on(pid_t pid, int how, int signal)
{
	CHECK(!ptrace(how, pid, NULL, (long)signal));
}

static void let_it_end(pid_t pid)
{
	int status;

	go_on(pid, PTRACE_CONT, 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	NOTE(status);
}

/* ---- steps ---- */

static void every_instruction_scene(void)
{
	pid_t pid = start_debugged(do_work);

	do
		go_on(pid, PTRACE_SINGLESTEP, 0);
	while (next_stop(pid, true));
}
UNSEEN(every_instruction)

static void every_block_scene(void)
{
	pid_t pid = start_debugged(do_work);

	do
		go_on(pid, PTRACE_SINGLEBLOCK, 0);
	while (next_stop(pid, true));
}
UNSEEN(every_block)

/* Steps, blocks and runs to the next system call, mixed. */
static void every_way_in_turn_scene(void)
{
	static const int ways[] = { PTRACE_SINGLESTEP, PTRACE_SYSCALL,
				    PTRACE_SINGLEBLOCK, PTRACE_SINGLESTEP };
	pid_t pid = start_debugged(do_work);
	unsigned int i = 0;

	do
		go_on(pid, ways[i++ % ARRAY_LEN(ways)], 0);
	while (next_stop(pid, true));
}
UNSEEN(every_way_in_turn)

static void every_system_call_scene(void)
{
	pid_t pid = start_debugged(do_work);

	CHECK(!ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD));
	do
		go_on(pid, PTRACE_SYSCALL, 0);
	while (next_stop(pid, true));
}
UNSEEN(every_system_call)

static void on_signal(int signal)
{
	(void)signal;
	unwatched++;
}

static void do_work_twice(void)
{
	work(2);
}

/* A signal with a step: the first instruction of the handler is next. */
static void steps_into_handlers_scene(void)
{
	struct user_regs_struct regs;
	unsigned int nr = 0;
	pid_t pid;

	signal(SIGUSR1, on_signal);
	pid = start_debugged(do_work_twice);

	do {
		CHECK(!ptrace(PTRACE_GETREGS, pid, NULL, &regs));
		go_on(pid, PTRACE_SINGLESTEP,
		      regs.rip == (uint64_t)place + 1 && !nr++ ? SIGUSR1 : 0);
	} while (next_stop(pid, true));
	NOTE(nr);
}
UNSEEN(steps_into_handlers)

/* ---- breakpoints in memory ---- */

static void breakpoints_in_memory_scene(void)
{
	pid_t pid = start_debugged(do_work);
	struct user_regs_struct regs;
	long word = ptrace(PTRACE_PEEKTEXT, pid, inner, NULL);
	unsigned int hits = 0;

	CHECK(!ptrace(PTRACE_POKETEXT, pid, inner, (word & ~0xffL) | 0xcc));
	for (;;) {
		go_on(pid, PTRACE_CONT, 0);
		if (!next_stop(pid, true))
			break;
		hits++;
		CHECK(!ptrace(PTRACE_GETREGS, pid, NULL, &regs));
		CHECK_EQ(regs.rip, (uint64_t)inner + 1);
		regs.rip--;
		CHECK(!ptrace(PTRACE_SETREGS, pid, NULL, &regs));
		CHECK(!ptrace(PTRACE_POKETEXT, pid, inner, word));
		go_on(pid, PTRACE_SINGLESTEP, 0);
		CHECK(next_stop(pid, true));
		CHECK(!ptrace(PTRACE_POKETEXT, pid, inner, (word & ~0xffL) | 0xcc));
	}
	NOTE(hits);
}
UNSEEN(breakpoints_in_memory)

/* ---- debug registers ---- */

/* It runs to its end; how often its breakpoints have been met. */
static void note_hits(pid_t pid)
{
	unsigned int hits = 0;

	for (;;) {
		go_on(pid, PTRACE_CONT, 0);
		if (!next_stop(pid, true))
			break;
		hits++;
		set_debug_register(pid, 6, 0);
	}
	NOTE(hits);
}

static void breakpoints_in_registers_scene(void)
{
	pid_t pid = start_debugged(do_work);

	set_debug_register(pid, 0, (uint64_t)inner);
	set_debug_register(pid, 7, 1);
	note_hits(pid);
}
UNSEEN(breakpoints_in_registers)

/* 32 bits, written: length 3, kind 1. */
static void watched_words_scene(void)
{
	pid_t pid = start_debugged(do_work);

	set_debug_register(pid, 1, (uint64_t)&watched);
	set_debug_register(pid, 7, 1 << 2 | 0xd << 20);
	note_hits(pid);
}
UNSEEN(watched_words)

/* Of code only: QEMU 7.2 does not survive steps over what writes a watched word. */
static void breakpoints_and_steps_scene(void)
{
	pid_t pid = start_debugged(do_work);

	set_debug_register(pid, 0, (uint64_t)inner);
	set_debug_register(pid, 3, (uint64_t)work_end);
	set_debug_register(pid, 7, 1 | 1 << 6);
	do {
		set_debug_register(pid, 6, 0);
		go_on(pid, PTRACE_SINGLESTEP, 0);
	} while (next_stop(pid, true));
}
UNSEEN(breakpoints_and_steps)

/* They come and go while it runs. */
static void breakpoints_come_and_go_scene(void)
{
	pid_t pid = start_debugged(do_work);

	for (unsigned int i = 0;; i++) {
		set_debug_register(pid, 7, 0);
		set_debug_register(pid, 0, (uint64_t)(i % 2 ? inner : work_end));
		set_debug_register(pid, 7, i % 3 != 0);
		go_on(pid, i % 3 ? PTRACE_CONT : PTRACE_SINGLESTEP, 0);
		if (!next_stop(pid, true))
			break;
	}
}
UNSEEN(breakpoints_come_and_go)

/* ---- a debugger that changes things ---- */

static void it_is_sent_elsewhere_scene(void)
{
	pid_t pid = start_debugged(do_work);
	struct user_regs_struct regs;

	set_debug_register(pid, 0, (uint64_t)inner);
	set_debug_register(pid, 7, 1);
	for (int i = 0; i < 4; i++) {
		go_on(pid, PTRACE_CONT, 0);
		CHECK(next_stop(pid, true));
		CHECK(!ptrace(PTRACE_GETREGS, pid, NULL, &regs));
		NOTE(regs.eflags);
		regs.rip = (uint64_t)other;
		regs.rcx = 0x1234;
		regs.eflags ^= 0x41;
		CHECK(!ptrace(PTRACE_SETREGS, pid, NULL, &regs));
		for (int step = 0; step < 3; step++) {
			go_on(pid, PTRACE_SINGLESTEP, 0);
			CHECK(next_stop(pid, true));
		}
	}
	let_it_end(pid);
}
UNSEEN(it_is_sent_elsewhere)

/* TF by way of its flags: SIGTRAP after each instruction, and it is its own. */
static void its_flags_are_set_scene(void)
{
	pid_t pid = start_debugged(do_work);
	struct user_regs_struct regs;

	set_debug_register(pid, 0, (uint64_t)inner);
	set_debug_register(pid, 7, 1);
	go_on(pid, PTRACE_CONT, 0);
	CHECK(next_stop(pid, true));
	set_debug_register(pid, 7, 0);
	CHECK(!ptrace(PTRACE_GETREGS, pid, NULL, &regs));
	regs.eflags |= TF;
	CHECK(!ptrace(PTRACE_SETREGS, pid, NULL, &regs));
	for (int i = 0; i < 25; i++) {
		go_on(pid, PTRACE_CONT, 0);
		CHECK(next_stop(pid, true));
		CHECK(!ptrace(PTRACE_GETREGS, pid, NULL, &regs));
		NOTE(regs.eflags);
	}
	regs.eflags &= ~(uint64_t)TF;
	CHECK(!ptrace(PTRACE_SETREGS, pid, NULL, &regs));
	let_it_end(pid);
}
UNSEEN(its_flags_are_set)

static void work_long(void)
{
	for (int i = 0; i < 200; i++)
		work(5);
	if (watched != 1000 || unwatched != 1000)
		_exit(8);
}

/* Somewhere in its work it is stopped, looked at, stepped a little, and let go. */
static void it_is_stopped_anywhere_scene(void)
{
	int status, ends[2];
	char byte;
	pid_t pid;

	CHECK(!pipe(ends));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK_EQ(read(ends[0], &byte, 1), 1);
		work_long();
		_exit(7);
	}
	CHECK(!ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	CHECK_EQ(write(ends[1], "x", 1), 1);
	for (int i = 0; i < 40; i++) {
		struct user_regs_struct regs;

		if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
			break;
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			break;
		CHECK(!ptrace(PTRACE_GETREGS, pid, NULL, &regs));
		CHECK(!(regs.eflags & TF));
		for (int step = 0; step < i % 4; step++) {
			go_on(pid, PTRACE_SINGLESTEP, 0);
			CHECK_EQ(waitpid(pid, &status, 0), pid);
			if (!WIFSTOPPED(status))
				break;
		}
		if (!WIFSTOPPED(status))
			break;
		go_on(pid, PTRACE_CONT, 0);
		usleep(300);
	}
	if (WIFSTOPPED(status)) {
		ptrace(PTRACE_CONT, pid, NULL, NULL);
		do
			CHECK_EQ(waitpid(pid, &status, 0), pid);
		while (WIFSTOPPED(status) && !ptrace(PTRACE_CONT, pid, NULL, NULL));
	}
	NOTE(status);
	CHECK_EQ(status, 7 << 8);
}
UNSEEN(it_is_stopped_anywhere)

static void it_is_killed_while_it_steps_scene(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t pid = start_debugged(do_work);
		int status;

		for (int step = 0; step < 5 * i; step++) {
			go_on(pid, PTRACE_SINGLESTEP, 0);
			CHECK(next_stop(pid, true));
		}
		go_on(pid, PTRACE_SINGLESTEP, 0);
		kill(pid, SIGKILL);
		do
			CHECK_EQ(waitpid(pid, &status, 0), pid);
		while (WIFSTOPPED(status));
		NOTE(status);
	}
}
UNSEEN(it_is_killed_while_it_steps)

static void become_true(void)
{
	char *args[] = { "true", NULL };

	execv("/bin/true", args);
}

static void it_execs_while_it_steps_scene(void)
{
	pid_t pid = start_debugged(become_true);
	unsigned int traps = 0, others = 0;
	int status = 0;

	/* Some before the exec, most of them behind it. */
	for (int i = 0; i < 400; i++) {
		go_on(pid, PTRACE_SINGLESTEP, 0);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			break;
		traps += WSTOPSIG(status) == SIGTRAP;
		others += WSTOPSIG(status) != SIGTRAP;
	}
	NOTE(traps);
	NOTE(others);
	let_it_end(pid);
}
UNSEEN(it_execs_while_it_steps)

/* ---- breakpoint events ---- */

static struct perf_event_attr breakpoint_attr(uint32_t kind, const volatile void *at)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(struct perf_event_attr),
		.bp_type = kind,
		.bp_addr = (uint64_t)at,
		.bp_len = kind == HW_BREAKPOINT_X ? sizeof(long) : 4,
		.sample_period = 1,
		.exclude_kernel = 1,
		.disabled = 1,
	};
}

static void breakpoint_events_count_scene(void)
{
	struct perf_event_attr code = breakpoint_attr(HW_BREAKPOINT_X, inner);
	struct perf_event_attr data = breakpoint_attr(HW_BREAKPOINT_W, &watched);
	struct perf_event_attr both = breakpoint_attr(HW_BREAKPOINT_RW, &unwatched);
	int fds[] = { open_self(&code), open_self(&data), open_self(&both) };

	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		for (int times = 1; times < 5; times++) {
			work(times);
			enable(fds[i]);
			work(times);
			disable(fds[i]);
			NOTE(count_of(fds[i]));
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		enable(fds[i]);
	work(5);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		NOTE(count_of(fds[i]));
		close(fds[i]);
		work(3);
	}
}
UNSEEN(breakpoint_events_count)

static volatile sig_atomic_t traps;

static void on_trap(int signal, siginfo_t *info, void *context)
{
	const struct ucontext_t *uc = context;

	(void)signal;
	traps++;
	NOTE(info->si_code);
	NOTE(uc->uc_mcontext.gregs[REG_RIP]);
	NOTE(uc->uc_mcontext.gregs[REG_EFL] & ~0x10000); /* RF or not, by luck */
}

static void breakpoint_events_raise_traps_scene(void)
{
	struct perf_event_attr attr = breakpoint_attr(HW_BREAKPOINT_W, &watched);
	struct sigaction action = {
		.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO,
	};
	int fd;

	CHECK(!sigaction(SIGTRAP, &action, NULL));
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	attr.sig_data = 42;
	fd = open_self(&attr);
	enable(fd);
	work(5);
	disable(fd);
	work(5);
	NOTE(traps);
	CHECK_EQ(traps, 5);
}
UNSEEN(breakpoint_events_raise_traps)

/* One for another task, that comes and goes while this one is traced as well. */
static void breakpoint_events_of_others_scene(void)
{
	struct perf_event_attr attr = breakpoint_attr(HW_BREAKPOINT_X, inner);
	pid_t pid = start_debugged(do_work);
	int fd = open_on(&attr, pid, -1);

	enable(fd);
	work(3);
	let_it_end(pid);
	work(3);
	NOTE(count_of(fd));
	CHECK_EQ(count_of(fd), 5);
}
UNSEEN(breakpoint_events_of_others)

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(every_instruction),
		CASE(every_block),
		CASE(every_way_in_turn),
		CASE(every_system_call),
		CASE(steps_into_handlers),
		CASE(breakpoints_in_memory),
		CASE(breakpoints_in_registers),
		CASE(breakpoints_and_steps),
		CASE(breakpoints_come_and_go),
		CASE(it_is_sent_elsewhere),
		CASE(its_flags_are_set),
		CASE(it_is_stopped_anywhere),
		CASE(it_is_killed_while_it_steps),
		CASE(it_execs_while_it_steps),
		CASE(breakpoint_events_of_others),
		CASE(watched_words),
		CASE(breakpoint_events_count),
		CASE(breakpoint_events_raise_traps),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
