// SPDX-License-Identifier: GPL-2.0
/*
 * cost: what one sample costs, for each case and kind of ring. The same work is
 * done with the bench off and on; the cost is the difference for each sample.
 *
 * Under QEMU's -icount shift=0 the clock advances 1 ns for each instruction, so
 * the figures are instructions and the same each time; elsewhere they are ns.
 *
 * Prints lines of "CASE<tab>forward<tab>backward".
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cases.h"

enum {
	ROUNDS	= 4,
	REPEATS	= 5,			/* the best counts: timer ticks only ever add */
	SPINS	= 10 * 1000 * 1000,	/* turns for a clock event */
};

struct work {
	double		ns;
	double		samples;	/* that it makes when the bench is on */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void touch(char *memory, struct bench *bench, struct work *work)
{
	for (int round = 0; round < ROUNDS; round++) {
		touch_forget(memory, TOUCHED);

		const double start = now();

		touch_pages(memory, TOUCHED);
		work->ns += now() - start;
		bench_drain(bench);
	}
	work->samples = ROUNDS * TOUCHED;
}

/* The clock decides how many samples there are: their number is in the ring. */
static void turn(struct bench *bench, struct work *work)
{
	const uint64_t before = bench_bytes(bench);
	const double start = now();

	spin(SPINS);
	work->ns = now() - start;
	work->samples = (double)(bench_bytes(bench) - before) / 40;
	bench_drain(bench);
}

static struct work work_once(char *memory, struct bench *bench)
{
	struct work work = { 0, 0 };

	if (bench_is_clock(bench->what))
		turn(bench, &work);
	else
		touch(memory, bench, &work);
	return work;
}

static void check(const struct bench *bench, uint64_t bytes, double samples)
{
	if (samples > 0 && (double)bytes >= samples * 16)
		return;
	fprintf(stderr, "bench: %s: samples are missing\n", bench->what->name);
	exit(1);
}

static double cost(char *memory, const struct bench_case *what, bool backward)
{
	struct bench bench;
	double off = 1e30, best = 1e30;

	bench_open(&bench, what, backward);
	work_once(memory, &bench);
	for (int i = 0; i < REPEATS; i++) {
		const double spent = work_once(memory, &bench).ns;

		off = spent < off ? spent : off;
	}
	bench_switch(&bench, true);
	work_once(memory, &bench);
	for (int i = 0; i < REPEATS; i++) {
		const uint64_t before = bench_bytes(&bench);
		const struct work on = work_once(memory, &bench);
		const double each = (on.ns - off) / on.samples;

		check(&bench, bench_bytes(&bench) - before, on.samples);
		best = each < best ? each : best;
	}
	bench_switch(&bench, false);
	bench_close(&bench);
	return best;
}

int main(void)
{
	char *memory = touch_memory();

	for (size_t i = 0; i < bench_case_count; i++) {
		printf("%s\t%.1f", bench_cases[i].name, cost(memory, &bench_cases[i], false));
		printf("\t%.1f\n", cost(memory, &bench_cases[i], true));
		fflush(stdout);
	}
	return 0;
}
