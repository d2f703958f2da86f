// SPDX-License-Identifier: GPL-2.0
/*
 * Prints this machine's TSC rate in kHz: by how much the TSC and the clock have gone on
 * between two readings. A reading that something came in between is thrown away; fails
 * if all are.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES 10000
#define CLOSE_ENOUGH 2000 /* ns between the clock before the TSC, and behind it */
#define BETWEEN 100000000 /* ns */

struct reading {
	uint64_t tsc;
	int64_t ns; /* CLOCK_MONOTONIC, half-way */
};

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * (int64_t)1000000000 + time.tv_nsec;
}

/* The closest of many; 0: none is close enough. */
static int read_both(struct reading *reading)
{
	int64_t closest = CLOSE_ENOUGH;
	int found = 0;

	for (int i = 0; i < TRIES && !(found && closest < CLOSE_ENOUGH / 10); i++) {
		int64_t before = now();
		uint64_t tsc = __rdtsc();
		int64_t width = now() - before;

		if (width > closest)
			continue;
		closest = width;
		*reading = (struct reading){ .tsc = tsc, .ns = before + width / 2 };
		found = 1;
	}
	return found;
}

int main(void)
{
	const struct timespec between = { .tv_nsec = BETWEEN };
	struct reading first, second;

	if (!read_both(&first))
		return 1;
	nanosleep(&between, NULL);
	if (!read_both(&second) || second.ns - first.ns < BETWEEN / 2)
		return 1;
	printf("%.0f\n", (double)(second.tsc - first.tsc) * 1e6 / (double)(second.ns - first.ns));
	return 0;
}
