// SPDX-License-Identifier: GPL-2.0
/* The ways into the kernel, in the order of their addresses. */
#include "entries.h"

namespace {

constexpr unsigned long longest = 1024;

} // namespace

extern "C" {

void x86_entries_add(x86_entries *entries, unsigned long begin, int vector)
{
	if (entries->count < X86_ENTRIES_MAX)
		entries->entry[entries->count++] = {begin, vector};
}

/* By insertion: it is done once for an event, and keeps the order of equals. */
void x86_entries_sort(x86_entries *entries)
{
	for (unsigned int i = 1; i < entries->count; i++) {
		const x86_entry moved = entries->entry[i];
		unsigned int at = i;

		for (; at && entries->entry[at - 1].begin > moved.begin; at--)
			entries->entry[at] = entries->entry[at - 1];
		entries->entry[at] = moved;
	}
}

int x86_entries_find(const x86_entries *entries, unsigned long address)
{
	unsigned int low = 0, high = entries->count;

	/* Below low: begins at or below the address; from high on: above it. */
	while (low < high) {
		const unsigned int middle = low + (high - low) / 2;

		if (entries->entry[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return X86_ENTRY_NONE;

	const unsigned long begin = entries->entry[low - 1].begin;

	if (address - begin >= longest)
		return X86_ENTRY_NONE;
	while (low > 1 && entries->entry[low - 2].begin == begin)
		low--;
	return entries->entry[low - 1].vector;
}

int x86_vector_in_service(const unsigned int words[8])
{
	for (int i = 7; i >= 0; i--) {
		if (words[i])
			return i * 32 + 31 - __builtin_clz(words[i]);
	}
	return X86_ENTRY_NONE;
}

} // extern "C"
