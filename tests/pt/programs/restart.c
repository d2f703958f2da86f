// SPDX-License-Identifier: GPL-2.0
/* System calls that signals interrupt: restarted, resumed, or failed with EINTR. */
#include "count.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 10

static volatile unsigned long alarms;
static int pipe_ends[2];

static void on_alarm(int signal)
{
	(void)signal;
	if (++alarms % 3 == 0)
		(void)!write(pipe_ends[1], "x", 1);
}

static void alarm_every(int microseconds)
{
	struct itimerval timer = { { 0, microseconds }, { 0, microseconds } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct timespec nap = { 0, 20000000 };
	unsigned long interrupted = 0;
	char byte;

	if (pipe(pipe_ends))
		return 1;
	sigaction(SIGALRM, &action, NULL);
	alarm_every(5000);
	for (int i = 0; i < ROUNDS; i++)
		if (read(pipe_ends[0], &byte, 1) != 1)
			return 1;
	for (int i = 0; i < ROUNDS; i++)
		interrupted += nanosleep(&nap, NULL) && errno == EINTR;
	interrupted += poll(NULL, 0, 1000) < 0 && errno == EINTR;
	alarm_every(0);
	PRINT_ENTRIES(on_alarm, alarms);
	return interrupted ? 0 : 1;
}
