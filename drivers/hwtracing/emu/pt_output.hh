/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The output engine: where the bytes of a PT unit go (SDM volume 3, "Trace Output").
 *
 * A group of packets is written as a whole or not at all. It is assembled in place if
 * it cannot reach the end of the page; else beside, and goes the slow way, which knows
 * tables, ends of regions, interrupts and stops. What has been assembled becomes part
 * of the trace when the place moves on, see pt_registers.hh.
 */
#ifndef HWTRACING_EMU_PT_OUTPUT_HH
#define HWTRACING_EMU_PT_OUTPUT_HH

#include "pt_registers.hh"

namespace pt_emu {

/* The longest group: TNT, time, a PSB+ and what follows it. */
constexpr unsigned int group_max = 128;

struct Machine {
	pt_unit_ops ops;
	void *context;

	void *memory(std::uint64_t physical) const
	{
		return ops.memory(context, physical);
	}
	std::uint64_t tsc() const
	{
		return ops.tsc(context);
	}
	void interrupt() const
	{
		ops.interrupt(context);
	}
};

struct Group {
	std::uint8_t *at;
	std::uint8_t *begin;
	std::uint64_t place;
};

class Output {
    public:
	void init()
	{
		now = known;
	}

	/* Output begins, or goes on at another place: false with an error in the place. */
	bool start(Registers &registers, const pt_unit_features &features, const Machine &machine);

	/* Assemble a group. */
	void open(Group &group, const Registers &registers)
	{
		group.place = emu::load(registers.place);
		emu::order_nested();

		const std::uint64_t in_page =
			(group.place >> place::offset_shift) - now->spot.offset;

		group.begin = in_page < now->room ? now->page + in_page : beside;
		group.at = group.begin;
	}

	/*
	 * It is complete. False if it has not become part of the trace: an NMI has come
	 * in between, or there is no place for it; that is in the place then.
	 */
	bool close(const Group &group, Registers &registers, const pt_unit_features &features,
		   const Machine &machine)
	{
		const auto size = static_cast<std::uint64_t>(group.at - group.begin);

		if (__builtin_expect(group.begin == beside, 0))
			return write(group, size, registers, features, machine);
		emu::order_nested();
		return emu::exchange_if(registers.place, group.place,
					group.place + (size << place::offset_shift));
	}

    private:
	/* A place, taken apart. */
	struct Spot {
		std::uint64_t base;
		std::uint64_t entry;
		std::uint64_t offset;
	};
	/* What is there. */
	struct Region {
		std::uint64_t address;
		std::uint64_t size;
		bool interrupt;
		bool stop;
		bool circular;
		/* The table's entry that says so, if there is a table. */
		const std::uint8_t *entry_at;
		std::uint64_t entry;
	};
	struct Walk {
		const pt_unit_features &features;
		const Machine &machine;
		bool table;
		std::uint64_t mask;
	};

	static Walk walk_of(const Registers &registers, const pt_unit_features &features,
			    const Machine &machine, std::uint64_t word);
	static Spot spot_of(const Registers &registers, std::uint64_t word);
	static bool find(const Walk &walk, Spot &spot, Region &region);
	static bool read_entry(const Walk &walk, Spot &spot, Region &region);
	static void advance(const Region &region, Spot &spot);
	static bool fits(const Walk &walk, Spot spot, std::uint64_t size, bool &error);
	static bool fill(const Walk &walk, Spot &spot, const std::uint8_t *bytes,
			 std::uint64_t size, bool &interrupt, bool &stopped);
	bool write(const Group &group, std::uint64_t size, Registers &registers,
		   const pt_unit_features &features, const Machine &machine);
	static bool fail(Registers &registers, std::uint64_t word);
	static bool move(Registers &registers, std::uint64_t word, const Spot &spot, bool table,
			 std::uint64_t flags);
	bool look_up(const Walk &walk, Spot &spot, Region &region);
	bool find_known(const Registers &registers, std::uint64_t word);

	/* The page of a spot. */
	struct Known {
		Spot spot;
		std::uint8_t *page;
		/* So far behind the spot a group may begin; 0: nothing is known. */
		std::uint64_t room;
		/* The entry that says so, without INT and STOP; NULL: it is no table's. */
		const std::uint8_t *entry_at;
		std::uint64_t entry;

		bool has(const Spot &at) const;
	};

	/* Where output goes, and where it went before: two tasks may take turns. */
	Known known[2];
	Known *now;
	std::uint8_t beside[group_max + 8];
};

} // namespace pt_emu

#endif
