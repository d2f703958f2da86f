// SPDX-License-Identifier: GPL-2.0
/*
 * trace FAULTS forward|backward CASE...: lets a tracer outside of the guest
 * watch single page faults, without an event ("none"), with the event but no
 * sample ("off"), and with a sample each ("on").
 *
 * For each phase it says "ready CASE-INDEX PHASE ADDRESS" and waits for a line
 * on standard input, faults FAULTS times at ADDRESS, says "done" and waits for
 * a line again. CASE is an index into bench_cases[].
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

static void await_line(void)
{
	char line[16];

	if (!fgets(line, sizeof(line), stdin)) {
		fprintf(stderr, "bench: nobody is listening any more\n");
		exit(1);
	}
}

/* Page tables are there, and the allocator is in the state that it returns to. */
static void warm_up(char *memory, int pages)
{
	for (int i = 0; i < 4; i++) {
		touch_forget(memory, pages);
		touch_pages(memory, pages);
	}
}

static void phase(char *memory, int faults, int index, const char *name)
{
	warm_up(memory, faults);
	printf("ready %d %s %p\n", index, name, (const void *)touch_page);
	fflush(stdout);
	await_line();
	touch_forget(memory, faults);
	touch_pages(memory, faults);
	printf("done\n");
	fflush(stdout);
	await_line();
}

static void run_case(char *memory, int faults, int index, bool backward)
{
	struct bench bench;
	uint64_t before, bytes;

	phase(memory, faults, index, "none");
	bench_open(&bench, &bench_cases[index], backward);
	phase(memory, faults, index, "off");
	bench_switch(&bench, true);
	before = bench_bytes(&bench);
	phase(memory, faults, index, "on");
	bytes = bench_bytes(&bench) - before;
	bench_switch(&bench, false);
	bench_close(&bench);
	if (bytes < 16 * (uint64_t)faults) {
		fprintf(stderr, "bench: %s: samples are missing\n", bench_cases[index].name);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (size_t i = 0; i < bench_case_count; i++)
			if (!bench_is_clock(&bench_cases[i]))
				printf("%zu\t%s\n", i, bench_cases[i].name);
		return 0;
	}
	if (argc < 4)
		return 2;

	char *memory = touch_memory();
	const int faults = atoi(argv[1]);
	const bool backward = !strcmp(argv[2], "backward");

	if (faults < 1 || faults > TOUCHED)
		return 2;
	for (int i = 3; i < argc; i++)
		run_case(memory, faults, atoi(argv[i]), backward);
	return 0;
}
