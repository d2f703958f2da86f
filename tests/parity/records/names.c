// SPDX-License-Identifier: GPL-2.0
#include <err.h>

#include <linux/perf_event.h>

#include "names.h"

#define MOST_NAMES 256

struct named {
	enum name_kind kind;
	uint64_t value;
};

static struct named known[MOST_NAMES];
static int known_count;

static int index_of(enum name_kind kind, uint64_t value)
{
	int index = 0;

	for (int i = 0; i < known_count; i++) {
		if (known[i].kind != kind)
			continue;
		if (known[i].value == value)
			return index;
		index++;
	}
	if (known_count == MOST_NAMES)
		errx(1, "more than %d names in one case: raise MOST_NAMES", MOST_NAMES);
	known[known_count++] = (struct named){ kind, value };
	return index;
}

void give_name(enum name_kind kind, uint64_t value)
{
	index_of(kind, value);
}

void print_name(FILE *out, enum name_kind kind, uint64_t value)
{
	if (value == 0 || value == UINT32_MAX || value == UINT64_MAX)
		fprintf(out, "%d", value ? -1 : 0);
	else
		fprintf(out, "%c%d", kind, index_of(kind, value));
}

int is_kernel_address(uint64_t address)
{
	return address >> 63;
}

static const char *chain_mark(uint64_t value)
{
	switch (value) {
	case PERF_CONTEXT_HV: return "[hv]";
	case PERF_CONTEXT_KERNEL: return "[kernel]";
	case PERF_CONTEXT_USER: return "[user]";
	case PERF_CONTEXT_GUEST: return "[guest]";
	case PERF_CONTEXT_GUEST_KERNEL: return "[guest-kernel]";
	case PERF_CONTEXT_GUEST_USER: return "[guest-user]";
	default: return NULL;
	}
}

void print_address(FILE *out, uint64_t address)
{
	const char *mark = chain_mark(address);

	if (mark)
		fputs(mark, out);
	else if (is_kernel_address(address))
		fputs("kernel", out);
	else
		fprintf(out, "%#llx", (unsigned long long)address);
}

void print_presence(FILE *out, uint64_t value)
{
	fputs(value ? "some" : "0", out);
}
