/* SPDX-License-Identifier: GPL-2.0 */
/* A machine around a PT unit: physical memory, time, an interrupt line. */
#ifndef TESTS_PT_EMU_PT_MACHINE_HH
#define TESTS_PT_EMU_PT_MACHINE_HH

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "pt_layout.hh"
#include "pt_unit.h"

namespace pt_test {

namespace msr = pt_emu::msr;
namespace ctl = pt_emu::ctl;
namespace status = pt_emu::status;

constexpr std::uint64_t page_size = 4096;

/* Bits of ToPA entries. */
constexpr std::uint64_t topa_end = 1;
constexpr std::uint64_t topa_int = 4;
constexpr std::uint64_t topa_stop = 16;

class PtMachine {
    public:
	explicit PtMachine(const pt_unit_features &features)
		: storage(pt_unit_size() / sizeof(std::uint64_t) + 1)
	{
		const pt_unit_ops ops = {memory_op, tsc_op, interrupt_op};

		pt_unit_init(unit(), &ops, this, &features);
	}
	PtMachine(const PtMachine &) = delete;
	PtMachine &operator=(const PtMachine &) = delete;

	pt_unit *unit()
	{
		return reinterpret_cast<pt_unit *>(storage.data());
	}

	/* Pages at an address that is a multiple of @alignment. */
	std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment = page_size)
	{
		next_page = (next_page + alignment - 1) / alignment * alignment;

		const std::uint64_t address = next_page;

		for (std::uint64_t at = 0; at < bytes; at += page_size)
			pages[address + at] = std::make_unique<Page>();
		next_page += (bytes + page_size - 1) / page_size * page_size;
		return address;
	}

	std::uint8_t *at(std::uint64_t physical)
	{
		const auto page = pages.find(physical & ~(page_size - 1));

		return page == pages.end() ? nullptr
					   : page->second->data() + (physical & (page_size - 1));
	}

	void remove(std::uint64_t physical)
	{
		pages.erase(physical & ~(page_size - 1));
	}

	void put(std::uint64_t physical, std::uint64_t word)
	{
		std::copy_n(reinterpret_cast<const std::uint8_t *>(&word), sizeof(word),
			    at(physical));
	}

	std::vector<std::uint8_t> bytes(std::uint64_t physical, std::uint64_t size)
	{
		std::vector<std::uint8_t> all;

		while (size--)
			all.push_back(*at(physical++));
		return all;
	}

	bool write(unsigned int msr, std::uint64_t value)
	{
		return pt_unit_write(unit(), msr, value) == 0;
	}

	std::uint64_t read(unsigned int msr)
	{
		unsigned long long value = 0x5a5a5a5a5a5a5a5a;

		return pt_unit_read(unit(), msr, &value) ? ~0ULL : value;
	}

	struct pt_unit_counts counts()
	{
		struct pt_unit_counts counts;

		pt_unit_counts(unit(), &counts);
		return counts;
	}

	std::uint64_t time = 1000000;
	unsigned int time_step = 0;
	unsigned int interrupts = 0;
	/* Called whenever the unit asks for something: where an NMI can come. */
	std::function<void()> nmi;

    private:
	using Page = std::array<std::uint8_t, page_size>;

	static PtMachine &self(void *context)
	{
		return *static_cast<PtMachine *>(context);
	}
	static void *memory_op(void *context, unsigned long long physical)
	{
		PtMachine &machine = self(context);

		if (machine.nmi)
			machine.nmi();
		return machine.at(physical);
	}
	static unsigned long long tsc_op(void *context)
	{
		PtMachine &machine = self(context);

		if (machine.nmi)
			machine.nmi();
		return machine.time += machine.time_step;
	}
	static void interrupt_op(void *context)
	{
		self(context).interrupts++;
	}

	std::vector<std::uint64_t> storage;
	std::map<std::uint64_t, std::unique_ptr<Page>> pages;
	std::uint64_t next_page = 0x100000;
};

/* Everything that a unit can have. */
inline pt_unit_features all_features()
{
	return {4, 1, 1, 0, 0, 0, 30};
}

} // namespace pt_test

#endif
