/* SPDX-License-Identifier: GPL-2.0 */
/* Memory with physical addresses, and buffers made of it, as the driver makes them. */
#ifndef TESTS_PT_DRIVER_BUFFER_HH
#define TESTS_PT_DRIVER_BUFFER_HH

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "output.h"
#include "rtit.h"

namespace pt_driver_test {

class Memory {
    public:
	static constexpr std::uint64_t start = 1ULL << 32;
	static constexpr std::uint64_t size = 16ULL << 20;

	Memory() : bytes_(size)
	{
	}

	/* Aligned to @align: its physical address. */
	std::uint64_t take(std::uint64_t bytes, std::uint64_t align)
	{
		next_ = (next_ + align - 1) / align * align;

		const std::uint64_t taken = next_;

		next_ += bytes;
		if (next_ > start + size)
			std::abort();
		return taken;
	}

	void *at(std::uint64_t physical)
	{
		if (physical < start || physical >= next_)
			return nullptr;
		return bytes_.data() + (physical - start);
	}

    private:
	std::vector<std::uint8_t> bytes_;
	std::uint64_t next_ = start + PT_PAGE_SIZE;
};

struct Piece {
	std::uint64_t physical;
	unsigned int order;
};

/* A buffer of chunks of 2^order pages. */
class Buffer {
    public:
	Buffer(Memory &memory, const std::vector<unsigned int> &orders, bool overwrite,
	       bool single_entry)
	{
		pt_topa &topa = output.topa;

		output.overwrite = topa.overwrite = overwrite;
		topa.single_entry = single_entry;
		for (const unsigned int order : orders) {
			const std::uint64_t bytes = PT_PAGE_SIZE << order;

			pieces.push_back({memory.take(bytes, bytes), order});
			/* Not next to each other. */
			memory.take(PT_PAGE_SIZE, PT_PAGE_SIZE);
			pt_topa_measure(&topa, pieces.back().physical, order);
		}
		tables_.resize(pt_topa_tables(&topa));
		for (pt_topa_table &table : tables_) {
			table.physical = memory.take(PT_PAGE_SIZE, PT_PAGE_SIZE);
			table.entries =
				static_cast<unsigned long long *>(memory.at(table.physical));
		}
		starts_.resize(topa.nr_regions);
		topa.tables = tables_.data();
		topa.starts = starts_.data();
		for (const Piece &piece : pieces)
			pt_topa_fill(&topa, piece.physical, piece.order);
		pt_topa_close(&topa);
		output.size = static_cast<unsigned long>(topa.nr_pages) << PT_PAGE_SHIFT;
		pt_output_init(&output);
	}

	/* The byte at a place, by the chunks and not by the tables. */
	std::uint8_t &byte(Memory &memory, std::uint64_t place) const
	{
		for (const Piece &piece : pieces) {
			const std::uint64_t bytes = PT_PAGE_SIZE << piece.order;

			if (place < bytes)
				return *static_cast<std::uint8_t *>(
					memory.at(piece.physical + place));
			place -= bytes;
		}
		std::abort();
	}

	pt_output output = {};
	std::vector<Piece> pieces;

    private:
	std::vector<pt_topa_table> tables_;
	std::vector<unsigned int> starts_;
};

} // namespace pt_driver_test

#endif
