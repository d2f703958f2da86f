/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where things are in a buffer's tables: from a page to its region, from a region to
 * its entry. O(1) where all regions have one size, which is the rule; else a search by
 * halves.
 */
#ifndef X86_EVENTS_INTEL_PT_TOPA_HH
#define X86_EVENTS_INTEL_PT_TOPA_HH

#include "rtit.h"
#include "topa.h"

namespace pt {

/* An entry's place: table and index in it. */
struct Entry {
	unsigned int table;
	unsigned int index;
};

class Topa {
    public:
	[[gnu::always_inline]] static Entry entry_of(const pt_topa &topa, unsigned int region)
	{
		if (topa.single_entry)
			return {region, 0};
		if (region < PT_TOPA_REGIONS)
			return {0, region};
		return {region / PT_TOPA_REGIONS, region % PT_TOPA_REGIONS};
	}

	[[gnu::always_inline]] static unsigned long long &word(const pt_topa &topa, Entry entry)
	{
		return topa.tables[entry.table].entries[entry.index];
	}

	[[gnu::always_inline]] static unsigned long long &word(const pt_topa &topa,
							       unsigned int region)
	{
		return word(topa, entry_of(topa, region));
	}

	static unsigned int tables(const pt_topa &topa)
	{
		if (topa.single_entry)
			return topa.nr_regions;
		return (topa.nr_regions + PT_TOPA_REGIONS - 1) / PT_TOPA_REGIONS;
	}

	/* The first region of a table. */
	static unsigned int first_of(const pt_topa &topa, unsigned int table)
	{
		return topa.single_entry ? table : table * PT_TOPA_REGIONS;
	}

	static unsigned int regions_in(const pt_topa &topa, unsigned int table)
	{
		if (topa.single_entry)
			return 1;

		const unsigned int left = topa.nr_regions - first_of(topa, table);

		return left < PT_TOPA_REGIONS ? left : PT_TOPA_REGIONS;
	}

	/* Bytes before the region, and in it. */
	[[gnu::always_inline]] static unsigned long start_of(const pt_topa &topa,
							     unsigned int region)
	{
		if (topa.uneven)
			return static_cast<unsigned long>(topa.starts[region]) << PT_PAGE_SHIFT;
		return static_cast<unsigned long>(region) << (topa.order + PT_PAGE_SHIFT);
	}

	[[gnu::always_inline]] static unsigned long size_of(const pt_topa &topa,
							    unsigned int region)
	{
		const unsigned long pages = !topa.uneven
						    ? 1ul << topa.order
						    : end_page(topa, region) - topa.starts[region];

		return pages << PT_PAGE_SHIFT;
	}

	/* The region that has the byte at @offset of the buffer. */
	[[gnu::always_inline]] static unsigned int region_at(const pt_topa &topa,
							     unsigned long offset)
	{
		const auto page = static_cast<unsigned int>(offset >> PT_PAGE_SHIFT);

		return topa.uneven ? search(topa, page) : page >> topa.order;
	}

	/* @steps regions on, at most a whole round. */
	[[gnu::always_inline]] static unsigned int after(const pt_topa &topa, unsigned int region,
							 unsigned int steps)
	{
		const unsigned int next = region + steps;

		return next < topa.nr_regions ? next : next - topa.nr_regions;
	}

	/* From one region on to another one, in regions: 0 to nr_regions - 1. */
	[[gnu::always_inline]] static unsigned int steps(const pt_topa &topa, unsigned int from,
							 unsigned int to)
	{
		return to >= from ? to - from : to + topa.nr_regions - from;
	}

    private:
	static unsigned int end_page(const pt_topa &topa, unsigned int region)
	{
		return region + 1 < topa.nr_regions ? topa.starts[region + 1] : topa.nr_pages;
	}

	static unsigned int search(const pt_topa &topa, unsigned int page)
	{
		unsigned int low = 0, high = topa.nr_regions;

		while (high - low > 1) {
			const unsigned int middle = low + (high - low) / 2;

			if (topa.starts[middle] <= page)
				low = middle;
			else
				high = middle;
		}
		return low;
	}
};

} // namespace pt

#endif
