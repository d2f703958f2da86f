/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the id in a record to the event it belongs to. Looked at once for each sample,
 * so it is a small open table; the ids of one run are nearly consecutive numbers.
 */
#ifndef PERFRING_RECORD_ID_INDEX_HH
#define PERFRING_RECORD_ID_INDEX_HH

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace perfring::record {

/* Filled by one thread, then read by many. */
class IdIndex {
    public:
	static constexpr std::uint32_t unknown = UINT32_MAX;

	/* most: how many ids will be added. */
	explicit IdIndex(std::size_t most) : slots(std::bit_ceil(most * 2 + 2))
	{
	}

	void add(std::uint64_t id, std::uint32_t event)
	{
		std::size_t at = id & (slots.size() - 1);

		while (slots[at].event != unknown && slots[at].id != id)
			at = (at + 1) & (slots.size() - 1);
		slots[at] = {id, event};
	}

	std::uint32_t find(std::uint64_t id) const
	{
		std::size_t at = id & (slots.size() - 1);

		while (slots[at].event != unknown && slots[at].id != id)
			at = (at + 1) & (slots.size() - 1);
		return slots[at].event;
	}

    private:
	struct Slot {
		std::uint64_t id = 0;
		std::uint32_t event = unknown;
	};
	std::vector<Slot> slots;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_ID_INDEX_HH */
