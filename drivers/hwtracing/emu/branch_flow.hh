/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a CPU's branches are, whatever the trace's encoding: the addresses that
 * returns are expected to go to, and ranges of addresses.
 */
#ifndef HWTRACING_EMU_BRANCH_FLOW_HH
#define HWTRACING_EMU_BRANCH_FLOW_HH

#include <cstdint>

namespace emu {

/* The last 64 calls that have not returned. */
class ReturnStack {
    public:
	void clear()
	{
		depth = 0;
	}

	void push(std::uint64_t address)
	{
		top = (top + 1) % size;
		entries[top] = address;
		if (depth < size)
			depth++;
	}

	/*
	 * A return goes to an address: is it the expected one? If not, nothing is
	 * expected any more. Decoders differ in what they do with their own stack then.
	 */
	bool pop(std::uint64_t address)
	{
		if (!depth || entries[top] != address) {
			depth = 0;
			return false;
		}
		top = (top + size - 1) % size;
		depth--;
		return true;
	}

    private:
	static constexpr unsigned int size = 64;

	std::uint64_t entries[size];
	unsigned int top;
	unsigned int depth;
};

/* Some ranges of addresses, ends included. */
class Ranges {
    public:
	static constexpr unsigned int most = 4;
	static constexpr std::uint64_t none = ~0ULL;

	void clear()
	{
		count = 0;
	}

	void add(std::uint64_t first, std::uint64_t last)
	{
		range[count++] = {first, last};
	}

	bool any() const
	{
		return count != 0;
	}

	bool contain(std::uint64_t address) const
	{
		for (unsigned int i = 0; i < count; i++) {
			if (address >= range[i].first && address <= range[i].last)
				return true;
		}
		return false;
	}

	/* The lowest address above @address at which a range begins or has ended. */
	std::uint64_t boundary(std::uint64_t address) const
	{
		std::uint64_t lowest = none;

		for (unsigned int i = 0; i < count; i++) {
			const std::uint64_t edges[2] = {range[i].first, range[i].last + 1};

			for (const std::uint64_t edge : edges) {
				if (edge > address && edge < lowest)
					lowest = edge;
			}
		}
		return lowest;
	}

    private:
	struct Range {
		std::uint64_t first;
		std::uint64_t last;
	};

	Range range[most];
	unsigned int count;
};

} // namespace emu

#endif
