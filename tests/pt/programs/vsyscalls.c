// SPDX-License-Identifier: GPL-2.0
/* Calls into the vsyscall page, which the kernel carries out. */
#include "count.h"

#include <sys/time.h>
#include <time.h>

#define ROUNDS 50

static __attribute__((noinline)) long call(unsigned long address, void *first, void *second)
{
	long (*entry)(void *, void *) = (long (*)(void *, void *))address;
	long result = entry(first, second);

	__asm__ volatile("nop");
	return result;
}

int main(void)
{
	unsigned int cpu = 1000;
	struct timeval now;
	int good = 1;

	for (int i = 0; i < ROUNDS; i++) {
		good &= call(0xffffffffff600000, &now, NULL) == 0;
		/* time() is as old as the last tick. */
		good &= call(0xffffffffff600400, NULL, NULL) + 1 >= now.tv_sec;
		good &= call(0xffffffffff600800, &cpu, NULL) == 0 && cpu < 1000;
	}
	PRINT_ENTRIES(call, 3 * ROUNDS);
	return good ? 0 : 1;
}
