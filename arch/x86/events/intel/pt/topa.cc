// SPDX-License-Identifier: GPL-2.0
/* Tables of physical addresses: how they are built. */
#include "topa.hh"

namespace {

using pt::Entry;
using pt::Topa;

/* The regions that a chunk of memory makes, one after the other. */
class Pieces {
    public:
	Pieces(unsigned long long physical, unsigned int order)
		: physical_(physical),
		  pages_(1ull << order)
	{
	}

	bool left() const
	{
		return pages_ != 0;
	}

	unsigned long long physical() const
	{
		return physical_;
	}

	/* log2 of the next region's pages: as large as size and alignment permit. */
	unsigned int order() const
	{
		const unsigned long long number = physical_ >> PT_PAGE_SHIFT;
		unsigned int order = PT_ENTRY_MOST_ORDER;

		while (1ull << order > pages_ || (number & ((1ull << order) - 1)))
			order--;
		return order;
	}

	void drop_first()
	{
		const unsigned long long pages = 1ull << order();

		physical_ += pages << PT_PAGE_SHIFT;
		pages_ -= pages;
	}

    private:
	unsigned long long physical_;
	unsigned long long pages_;
};

} // namespace

extern "C" {

void pt_topa_measure(pt_topa *topa, unsigned long long physical, unsigned int order)
{
	for (Pieces pieces(physical, order); pieces.left(); pieces.drop_first()) {
		const unsigned int piece = pieces.order();

		if (!topa->nr_regions)
			topa->order = piece;
		else if (piece != topa->order)
			topa->uneven = 1;
		topa->nr_regions++;
		topa->nr_pages += 1u << piece;
	}
}

unsigned int pt_topa_tables(const pt_topa *topa)
{
	return Topa::tables(*topa);
}

void pt_topa_fill(pt_topa *topa, unsigned long long physical, unsigned int order)
{
	/* With one region to a table, each ends where the driver has to go on. */
	const unsigned long long marks =
		topa->single_entry && !topa->overwrite ? PT_ENTRY_INT | PT_ENTRY_STOP : 0;

	for (Pieces pieces(physical, order); pieces.left(); pieces.drop_first()) {
		const unsigned int piece = pieces.order();
		const unsigned int region = topa->filled_regions++;

		Topa::word(*topa, region) = pieces.physical() | marks |
					    static_cast<unsigned long long>(piece)
						    << PT_ENTRY_SIZE_SHIFT;
		if (topa->uneven)
			topa->starts[region] = topa->filled_pages;
		topa->filled_pages += 1u << piece;
	}
}

void pt_topa_close(pt_topa *topa)
{
	const unsigned int tables = Topa::tables(*topa);

	for (unsigned int table = 0; table < tables; table++) {
		const Entry end = {table, Topa::regions_in(*topa, table)};
		unsigned int next = table;

		if (!topa->single_entry)
			next = table + 1 < tables ? table + 1 : 0;
		Topa::word(*topa, end) = topa->tables[next].physical | PT_ENTRY_END;
	}
}

} // extern "C"
