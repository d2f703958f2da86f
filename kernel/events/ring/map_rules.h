/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seam of the mapping rules: what mmap(), a page fault and
 * PERF_EVENT_IOC_SET_OUTPUT may ask for, and who pays for the memory.
 *
 * Pure functions of their arguments: no state, no locks, any context. The
 * shell gathers the facts under its locks and carries the answer out. Errors
 * are negative errno values.
 */
#ifndef PERF_EVENTS_RING_MAP_RULES_H
#define PERF_EVENTS_RING_MAP_RULES_H

/* Sizes of one mapping, all in pages unless a name says bytes. */
struct perf_map_geometry {
	unsigned long	page_shift;		/* log2 of the bytes in a page */
	unsigned long	data_pages;		/* data area, without the user page */
	unsigned long	aux_pages;		/* AUX area, 0 while there is none */
	unsigned long	aux_first;		/* page offset of the AUX area in the file */
};

/* What user space asked of an AUX area, in bytes, as it stands in the user page. */
struct perf_aux_request {
	unsigned long long	offset;
	unsigned long long	size;
};

/* How a charge of locked memory is shared out, in pages. */
struct perf_lock_split {
	unsigned long	user;			/* user_struct::perf_mlock */
	unsigned long	mm;			/* mm_struct::pinned_vm */
};

enum perf_map_kind {
	PERF_MAP_NONE,				/* no such page: SIGBUS */
	PERF_MAP_USER_PAGE,
	PERF_MAP_DATA,
	PERF_MAP_AUX,
};

struct perf_map_page {
	enum perf_map_kind	kind;
	unsigned long		index;		/* in its area */
};

/*
 * What SET_OUTPUT has to know of an event. Pointers and numbers are only
 * compared, never followed.
 */
struct perf_output_end_point {
	const void	*event;
	const void	*task;			/* target of a per-task event, or NULL */
	const void	*clock;
	const void	*aux_pmu;		/* its PMU if that writes AUX data, or NULL */
	int		cpu;			/* -1: any */
	int		backward;
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Number of data pages in a mapping of @length bytes that starts at the user
 * page: 0 or a power of two. -EINVAL if it is neither, -ENOMEM if no ring can
 * be that large.
 */
long perf_map_data_pages(unsigned long length, unsigned long page_shift);

/*
 * Number of pages in an AUX mapping of @length bytes at page offset @first.
 * -EINVAL if it is not a power of two, or not where and what the user page
 * asks for, or not above the data area, or not the area that exists already;
 * -ENOMEM if no area can be that large.
 */
long perf_map_aux_pages(const struct perf_map_geometry *have,
			const struct perf_aux_request *asked,
			unsigned long first, unsigned long length);

/* Which page stands at page offset @offset of the file. */
struct perf_map_page perf_map_page_at(const struct perf_map_geometry *have,
				      unsigned long offset);

/*
 * Pay @pages from the user's allowance of @allowance pages, @used of which are
 * gone, and what is left over from the mm.
 */
struct perf_lock_split perf_lock_split(unsigned long pages, unsigned long used,
				       unsigned long allowance);

/* Can events that are bound to these CPUs, -1: any, run on the same one? */
int perf_cpus_meet(int cpu, int other);

/* May @from write to the ring of @to? 0 or -EINVAL. */
int perf_output_compatible(const struct perf_output_end_point *from,
			   const struct perf_output_end_point *to);

#ifdef __cplusplus
}
#endif

#endif /* PERF_EVENTS_RING_MAP_RULES_H */
