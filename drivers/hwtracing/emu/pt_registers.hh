/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The registers of a PT unit, and which values they take.
 *
 * The place where output goes on is one word, which is OUTPUT_MASK_PTRS with more in
 * its low seven bits: those read as ones from outside. Whoever writes output changes
 * the word in one step if it still is what he has begun with, so an NMI reads a place
 * that is exact, and gets in the way by changing the word itself:
 *
 *	63       32 31                     7  6     5        4      3        0
 *	   offset     table entry or mask    slot stopped  error    generation
 *
 * slot tells which of two values OUTPUT_BASE has (END entries lead on to other
 * tables), generation counts the writes to CTL.
 */
#ifndef HWTRACING_EMU_PT_REGISTERS_HH
#define HWTRACING_EMU_PT_REGISTERS_HH

#include "nested.hh"
#include "pt_layout.hh"
#include "pt_unit.h"

namespace pt_emu {

namespace place {
constexpr std::uint64_t generation_mask = 0xf;
constexpr std::uint64_t error = 1ULL << 4;
constexpr std::uint64_t stopped = 1ULL << 5;
constexpr std::uint64_t halted = error | stopped;
constexpr std::uint64_t slot = 1ULL << 6;
constexpr std::uint64_t inner = 0x7f;
constexpr unsigned int entry_shift = 7;
constexpr std::uint64_t entry_mask = 0xffffff80;
constexpr unsigned int offset_shift = 32;

constexpr std::uint64_t next_generation(std::uint64_t word)
{
	return (word & ~generation_mask) | ((word + 1) & generation_mask);
}
} // namespace place

struct Registers {
	std::uint64_t ctl;
	std::uint64_t place;
	std::uint64_t base[2];
	std::uint64_t cr3_match;
	std::uint64_t addr[8];
	/* Bytes since the last PSB, up to the period. */
	std::uint64_t byte_count;

	std::uint64_t output_base() const
	{
		return base[(emu::load(place) & place::slot) != 0];
	}
};

void cpuid(const pt_unit_features &features, unsigned int subleaf, unsigned int registers[4]);

constexpr unsigned int most_ranges = 4;

inline unsigned int ranges_of(const pt_unit_features &features)
{
	return features.address_ranges < most_ranges ? features.address_ranges : most_ranges;
}

/* Is it one of ADDRn_A and ADDRn_B, and is there such a range? */
inline bool is_address(const pt_unit_features &features, unsigned int msr)
{
	return msr - msr::addr0_a < 2 * ranges_of(features);
}

/* Would hardware take the value, or raise #GP? All but CTL also need TraceEn clear. */
bool accepts_ctl(const pt_unit_features &features, const Registers &registers, std::uint64_t value);

inline bool accepts_base(std::uint64_t value)
{
	constexpr std::uint64_t low_bits = 0x7f;

	return !(value & (~physical_mask | low_bits));
}

inline bool accepts_status(std::uint64_t value)
{
	constexpr std::uint64_t bits = status::filter_en | status::context_en | status::trigger_en |
				       status::error | status::stopped |
				       status::byte_count_max << status::byte_count_shift;

	return !(value & ~bits);
}

inline bool accepts_cr3(std::uint64_t value)
{
	constexpr std::uint64_t low_bits = 0x1f;

	return !(value & low_bits);
}

} // namespace pt_emu

#endif
