/* SPDX-License-Identifier: GPL-2.0 */
/* Single accesses to mapped memory, and the signals that they raise. */
#ifndef PERF_RING_ACCESS_H
#define PERF_RING_ACCESS_H

#include "perf_ring_test.h"

#include <setjmp.h>

static sigjmp_buf access_fault;

static inline void on_fault(int sig)
{
	siglongjmp(access_fault, sig);
}

/* The signal that one access raises, 0 for none. */
static inline int access_signal(const volatile void *at, bool write)
{
	struct sigaction act = { .sa_handler = on_fault };
	volatile uint8_t *byte = (volatile uint8_t *)at;
	int sig;

	CHECK(!sigaction(SIGSEGV, &act, NULL));
	CHECK(!sigaction(SIGBUS, &act, NULL));
	sig = sigsetjmp(access_fault, 1);
	if (!sig) {
		if (write)
			*byte = 0;
		else
			(void)*byte;
	}
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	return sig;
}

static inline int read_signal(const volatile void *at)
{
	return access_signal(at, false);
}

static inline int write_signal(const volatile void *at)
{
	return access_signal(at, true);
}

#endif /* PERF_RING_ACCESS_H */
