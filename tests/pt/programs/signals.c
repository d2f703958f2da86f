// SPDX-License-Identifier: GPL-2.0
/*
 * signals [N]: a timer signal every 100 us until there have been N, on a stack of its
 * own, into straight code, loops, string instructions, floating point and system calls.
 * The handler nests another one.
 */
#include "count.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile unsigned long alarms, nested;
static unsigned long wanted = 300;
static char stack[65536];

static void set_timer(int microseconds)
{
	struct itimerval timer = { { 0, microseconds }, { 0, microseconds } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void on_user(int signal)
{
	(void)signal;
	nested++;
}

static void on_alarm(int signal)
{
	(void)signal;
	if (++alarms == wanted)
		set_timer(0);
	if (alarms % 8 == 0)
		raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART };
	static char from[20000], to[20000];
	double number = 1;

	if (argc > 1)
		wanted = strtoul(argv[1], NULL, 10);
	sigaltstack(&other, NULL);
	sigaction(SIGALRM, &action, NULL);
	action.sa_handler = on_user;
	sigaction(SIGUSR1, &action, NULL);
	set_timer(100);
	while (alarms < wanted) {
		size_t size = sizeof(from);
		void *source = from, *target = to;

		number = number * 1.0001 + 1;
		__asm__ volatile("rep movsb" : "+c"(size), "+S"(source), "+D"(target) : : "memory");
		getppid();
		usleep(150);
	}
	PRINT_ENTRIES(on_alarm, alarms);
	PRINT_ENTRIES(on_user, nested);
	return number > 0 ? 0 : 1;
}
