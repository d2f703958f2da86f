// SPDX-License-Identifier: GPL-2.0
/* Tables of physical addresses, regions and their ends. */
#include "pt_output.hh"

namespace pt_emu {

namespace {

/* Bits of a table's entry (SDM, "ToPA Table Entry Fields"). */
constexpr std::uint64_t entry_end = 1ULL << 0;
constexpr std::uint64_t entry_int = 1ULL << 2;
constexpr std::uint64_t entry_stop = 1ULL << 4;
constexpr std::uint64_t entry_marks = entry_int | entry_stop;
constexpr unsigned int entry_size_shift = 6;
constexpr std::uint64_t entry_size_mask = 0xf;
constexpr std::uint64_t entry_reserved = 1ULL << 1 | 1ULL << 3 | 1ULL << 5 | 3ULL << 10;

constexpr std::uint64_t page_size = 4096;
constexpr std::uint64_t page_mask = page_size - 1;

} // namespace

Output::Walk Output::walk_of(const Registers &registers, const pt_unit_features &features,
			     const Machine &machine, std::uint64_t word)
{
	return {features, machine, (registers.ctl & ctl::topa) != 0,
		(word & place::entry_mask) | place::inner};
}

Output::Spot Output::spot_of(const Registers &registers, std::uint64_t word)
{
	return {registers.base[(word & place::slot) != 0],
		(word & place::entry_mask) >> place::entry_shift, word >> place::offset_shift};
}

/* The entry at a spot; an END leads the spot on to the table that it names. */
bool Output::read_entry(const Walk &walk, Spot &spot, Region &region)
{
	/* Tables may link to each other, but each has to have a region. */
	for (int links = 0; links < 2; links++) {
		const std::uint64_t address = spot.base + 8 * spot.entry;
		const auto *memory =
			static_cast<const std::uint8_t *>(walk.machine.memory(address));

		if (!memory)
			return false;

		std::uint64_t entry;

		__builtin_memcpy(&entry, memory, sizeof(entry));
		region.entry_at = memory;
		region.entry = entry;
		if (entry & (entry_reserved | ~physical_mask))
			return false;
		if (!(entry & entry_end)) {
			/* One entry and END is all that such hardware takes. */
			return !(walk.features.single_entry && spot.entry > 0);
		}
		if (spot.entry == 0 || (entry & entry_marks))
			return false;
		spot.base = entry & physical_mask & ~page_mask;
		spot.entry = 0;
	}
	return false;
}

/* The region at a spot: false if there is none, which is an operational error. */
bool Output::find(const Walk &walk, Spot &spot, Region &region)
{
	if (!walk.table) {
		region = {spot.base, walk.mask + 1, false, false, true, nullptr, 0};
		return !(spot.base & walk.mask) && spot.offset <= walk.mask &&
		       !(walk.mask & (walk.mask + 1));
	}
	if ((spot.base & page_mask) || !read_entry(walk, spot, region))
		return false;

	const std::uint64_t entry = region.entry;

	region.address = entry & physical_mask & ~page_mask;
	region.size = page_size << ((entry >> entry_size_shift) & entry_size_mask);
	region.interrupt = (entry & entry_int) != 0;
	region.stop = (entry & entry_stop) != 0;
	region.circular = false;
	return !(region.address & (region.size - 1)) && spot.offset < region.size;
}

/* The region has been filled. */
void Output::advance(const Region &region, Spot &spot)
{
	spot.offset = 0;
	if (!region.circular)
		spot.entry++;
}

/* Is there room before the next stop? */
bool Output::fits(const Walk &walk, Spot spot, std::uint64_t size, bool &error)
{
	Region region;

	for (;;) {
		if (!find(walk, spot, region)) {
			error = true;
			return false;
		}
		if (spot.offset + size <= region.size)
			return true;
		if (region.stop)
			return false;
		size -= region.size - spot.offset;
		advance(region, spot);
	}
}

/* Write bytes, or with none of them fill up with PADs to the next stop. */
bool Output::fill(const Walk &walk, Spot &spot, const std::uint8_t *bytes, std::uint64_t size,
		  bool &interrupt, bool &stopped)
{
	while (!stopped && (size || !bytes)) {
		Region region;

		if (!find(walk, spot, region))
			return false;

		const std::uint64_t address = region.address + spot.offset;
		const std::uint64_t in_region = region.size - spot.offset;
		const std::uint64_t in_page = page_size - (address & page_mask);
		std::uint64_t now = in_region < in_page ? in_region : in_page;
		auto *memory = static_cast<std::uint8_t *>(walk.machine.memory(address));

		if (!memory)
			return false;
		if (bytes) {
			now = size < now ? size : now;
			__builtin_memcpy(memory, bytes, now);
			bytes += now;
			size -= now;
		} else {
			__builtin_memset(memory, 0, now);
		}
		spot.offset += now;
		if (spot.offset < region.size)
			continue;
		interrupt |= region.interrupt;
		stopped = region.stop;
		/* A stop leaves the place at the region's end. */
		if (!stopped)
			advance(region, spot);
	}
	return true;
}

/* No output any more, until STATUS is written. Always false. */
bool Output::fail(Registers &registers, std::uint64_t word)
{
	(void)emu::exchange_if(registers.place, word, word | place::error);
	return false;
}

bool Output::move(Registers &registers, std::uint64_t word, const Spot &spot, bool table,
		  std::uint64_t flags)
{
	std::uint64_t next =
		(word & (place::generation_mask | place::halted | place::slot)) | flags;

	next |= spot.offset << place::offset_shift;
	next |= table ? spot.entry << place::entry_shift & place::entry_mask
		      : word & place::entry_mask;
	if (spot.base != registers.base[(word & place::slot) != 0]) {
		next ^= place::slot;
		registers.base[(next & place::slot) != 0] = spot.base;
	}
	emu::order_nested();
	return emu::exchange_if(registers.place, word, next);
}

/* Know the page that the spot is in. */
bool Output::look_up(const Walk &walk, Spot &spot, Region &region)
{
	now->room = 0;
	if (!find(walk, spot, region))
		return false;

	const std::uint64_t address = region.address + spot.offset;
	auto *page = static_cast<std::uint8_t *>(walk.machine.memory(address));

	if (!page)
		return false;

	const std::uint64_t in_page = page_size - (address & page_mask);
	const std::uint64_t in_region = region.size - spot.offset;
	const std::uint64_t together = in_page < in_region ? in_page : in_region;

	/* The page is never filled in place: what then follows, goes the slow way. */
	*now = {spot, page, together > group_max ? together - group_max : 0, region.entry_at,
		region.entry & ~entry_marks};
	return true;
}

/*
 * Is the spot in this page, and does the table still say so? INT and STOP come and go
 * between a stop and a start; they count where the region ends.
 */
bool Output::Known::has(const Spot &at) const
{
	std::uint64_t entry_now;

	if (at.offset - spot.offset >= room || at.base != spot.base || at.entry != spot.entry ||
	    !entry_at)
		return false;
	__builtin_memcpy(&entry_now, entry_at, sizeof(entry_now));
	return (entry_now & ~entry_marks) == entry;
}

bool Output::find_known(const Registers &registers, std::uint64_t word)
{
	const Spot at = spot_of(registers, word);

	if (now->has(at))
		return true;
	/* If that is not it either, it has to make room. */
	now = now == known ? known + 1 : known;
	return now->has(at);
}

bool Output::start(Registers &registers, const pt_unit_features &features, const Machine &machine)
{
	const std::uint64_t word = emu::load(registers.place);

	if ((registers.ctl & ctl::topa) && find_known(registers, word))
		return true;

	const Walk walk = walk_of(registers, features, machine, word);
	const Spot before = spot_of(registers, word);
	Spot spot = before;
	Region region;

	if (!look_up(walk, spot, region))
		return fail(registers, word);
	/* A place at an END stands for the beginning of the next table. */
	if (spot.base != before.base || spot.entry != before.entry)
		return move(registers, word, spot, walk.table, 0);
	return true;
}

bool Output::write(const Group &group, std::uint64_t size, Registers &registers,
		   const pt_unit_features &features, const Machine &machine)
{
	const Walk walk = walk_of(registers, features, machine, group.place);
	Spot spot = spot_of(registers, group.place);
	bool error = false;
	bool interrupt = false;
	bool stopped = false;
	const bool whole = fits(walk, spot, size, error);
	Region region;

	if (error || !fill(walk, spot, whole ? group.begin : nullptr, size, interrupt, stopped))
		return fail(registers, group.place);

	std::uint64_t flags = place::stopped;

	now->room = 0;
	/* At the end of a table the place is the beginning of the next. */
	if (!stopped)
		flags = look_up(walk, spot, region) ? 0 : place::error;
	if (!move(registers, group.place, spot, walk.table, flags))
		return false;
	if (interrupt)
		machine.interrupt();
	return whole;
}

} // namespace pt_emu
