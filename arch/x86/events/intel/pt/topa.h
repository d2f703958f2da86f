/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of the tables of physical addresses (SDM volume 3, "Table of Physical
 * Addresses (ToPA)"): a buffer's memory as regions, and the tables that list them.
 *
 * Valid in C and C++, free of kernel headers. A struct belongs to who calls; nothing
 * here allocates. To build: measure each chunk of memory in the buffer's order, provide
 * what that has found to be needed, fill in the same chunks, close.
 *
 * A table is a page of PT_TOPA_REGIONS regions and an END entry that leads to the next
 * table, the last one's to the first. Where the CPU takes tables of one entry only, END
 * leads back to the table itself and the driver changes tables.
 */
#ifndef X86_EVENTS_INTEL_PT_TOPA_H
#define X86_EVENTS_INTEL_PT_TOPA_H

#define PT_TOPA_REGIONS	511u

struct pt_topa_table {
	unsigned long long	*entries;	/* a zeroed page of 4 KiB, 512 entries */
	unsigned long long	physical;	/* its address */
};

struct pt_topa {
	struct pt_topa_table	*tables;	/* provided, pt_topa_tables() of them */
	unsigned int		*starts;	/* provided unless even: nr_regions of them */
	unsigned int		nr_regions;
	unsigned int		nr_pages;	/* 4 KiB each */
	unsigned int		order;		/* log2 of the first region's pages */
	unsigned int		uneven;		/* non-zero: not all regions are of that order */
	unsigned int		single_entry;	/* set by who calls: one region to a table */
	unsigned int		overwrite;	/* set by who calls: nothing ever stops it */
	unsigned int		filled_regions;
	unsigned int		filled_pages;
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The next 2^@order pages of the buffer are at @physical, which is aligned to a page.
 * A region is aligned to its size, so that a chunk which is not becomes several.
 */
void pt_topa_measure(struct pt_topa *topa, unsigned long long physical, unsigned int order);

/* After measuring: the tables that it takes. */
unsigned int pt_topa_tables(const struct pt_topa *topa);

/* The same chunk again, now into the tables. */
void pt_topa_fill(struct pt_topa *topa, unsigned long long physical, unsigned int order);

/* All are filled in: link the tables. */
void pt_topa_close(struct pt_topa *topa);

#ifdef __cplusplus
}
#endif

#endif /* X86_EVENTS_INTEL_PT_TOPA_H */
