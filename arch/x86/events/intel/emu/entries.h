/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which interrupt or exception has led into the kernel, by the code that it has entered
 * through. Handlers in C are not told a vector; where they return to tells it.
 *
 * Valid in C and C++, free of kernel headers. A table is filled, sorted once and from then
 * on only read; any context.
 */
#ifndef X86_EVENTS_EMU_ENTRIES_H
#define X86_EVENTS_EMU_ENTRIES_H

#ifdef __cplusplus
extern "C" {
#endif

/* The vectors of an IDT, and what else is in between. */
#define X86_ENTRIES_MAX 264

/* Instead of a vector. */
#define X86_ENTRY_NONE	(-1)	/* no interrupt and no exception, or not known */
#define X86_ENTRY_DEVICE (-2)	/* code that device interrupts share: the APIC knows which */

struct x86_entry {
	unsigned long	begin;		/* of the code that the CPU enters by it */
	int		vector;		/* 0 to 255, or X86_ENTRY_* */
};

struct x86_entries {
	unsigned int	count;
	struct x86_entry entry[X86_ENTRIES_MAX];
};

/* Puts one more into a table; what does not fit any more is left out. */
void x86_entries_add(struct x86_entries *entries, unsigned long begin, int vector);

/* To be called when all are in it. */
void x86_entries_sort(struct x86_entries *entries);

/*
 * The vector of the entry that an address is in, or X86_ENTRY_*. An entry is as long as the
 * next one lets it be, and 1 KiB at most. Of two with the same begin, the first one added
 * counts.
 */
int x86_entries_find(const struct x86_entries *entries, unsigned long address);

/*
 * The vector in service with the highest priority, of the eight words of an APIC's
 * in-service register (SDM volume 3, "Interrupt, Task, and Processor Priority");
 * X86_ENTRY_NONE: none is.
 */
int x86_vector_in_service(const unsigned int words[8]);

#ifdef __cplusplus
}
#endif

#endif /* X86_EVENTS_EMU_ENTRIES_H */
