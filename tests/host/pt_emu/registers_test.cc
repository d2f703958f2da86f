// SPDX-License-Identifier: GPL-2.0
/* PT registers: what is offered, what raises #GP, what reads back. */
#include <gtest/gtest.h>

#include "pt_machine.hh"

namespace pt_test {
namespace {

/* #GP: refused, counted, and the register is what it was. */
void expect_fault(PtMachine &machine, unsigned int msr, std::uint64_t value)
{
	const std::uint64_t before = machine.read(msr);
	const auto faults = machine.counts().faults;

	EXPECT_FALSE(machine.write(msr, value)) << std::hex << msr << " " << value;
	EXPECT_EQ(machine.read(msr), before);
	EXPECT_EQ(machine.counts().faults, faults + 1);
}

void expect_taken(PtMachine &machine, unsigned int msr, std::uint64_t value)
{
	EXPECT_TRUE(machine.write(msr, value)) << std::hex << msr << " " << value;
	EXPECT_EQ(machine.read(msr), value);
}

std::array<unsigned int, 4> cpuid(PtMachine &machine, unsigned int subleaf)
{
	std::array<unsigned int, 4> registers{};

	pt_unit_cpuid(machine.unit(), subleaf, registers.data());
	return registers;
}

TEST(PtRegisters, CpuidOffersWhatTheFeaturesSay)
{
	for (unsigned int bits = 0; bits < 64; bits++) {
		pt_unit_features features = all_features();

		features.address_ranges = bits & 1 ? 2 : 0;
		features.ptwrite = bits & 2;
		features.single_range = bits & 4;
		features.single_entry = bits & 8;
		PtMachine machine(features);
		const auto leaf = cpuid(machine, 0);

		EXPECT_EQ(leaf[0], 1U);
		EXPECT_EQ(leaf[1] >> 2 & 1, bits & 1);
		EXPECT_EQ(leaf[1] >> 4 & 1, bits >> 1 & 1);
		EXPECT_EQ(leaf[1] >> 5 & 5, 5U) << "power events and events";
		EXPECT_EQ(leaf[2] & 1, 1U);
		EXPECT_EQ(leaf[2] >> 1 & 1, !(bits >> 3 & 1));
		EXPECT_EQ(leaf[2] >> 2 & 1, bits >> 2 & 1);
		EXPECT_EQ(cpuid(machine, 1)[0] & 7, features.address_ranges);
		EXPECT_EQ(cpuid(machine, 2), (std::array<unsigned int, 4>{}));
	}
}

TEST(PtRegisters, OnlyTheEncodingsOfCpuid)
{
	PtMachine machine(all_features());
	const auto leaf = cpuid(machine, 1);

	for (unsigned int n = 0; n < 16; n++) {
		const auto offered = [&](unsigned int map, unsigned int shift) {
			const std::uint64_t value = static_cast<std::uint64_t>(n) << shift;

			if (map >> n & 1)
				expect_taken(machine, msr::ctl, value);
			else
				expect_fault(machine, msr::ctl, value);
		};

		offered(leaf[0] >> 16, ctl::mtc_freq_shift);
		offered(leaf[1] & 0xffff, ctl::cyc_thresh_shift);
		offered(leaf[1] >> 16, ctl::psb_freq_shift);
	}
}

TEST(PtRegisters, ReservedBitsOfCtl)
{
	for (const bool ptwrite : {false, true}) {
		pt_unit_features features = all_features();

		features.ptwrite = ptwrite;
		features.address_ranges = 2;
		PtMachine machine(features);

		for (unsigned int bit = 1; bit < 64; bit++) {
			const std::uint64_t value = 1ULL << bit;
			const bool field = (bit >= 14 && bit <= 17) || (bit >= 19 && bit <= 22) ||
					   (bit >= 24 && bit <= 27) || (bit >= 32 && bit <= 39);

			if (field)
				continue;
			const bool known = bit == 1 || bit == 2 || bit == 3 || bit == 7 ||
					   (bit >= 8 && bit <= 11) || bit == 13 || bit == 55 ||
					   bit == 4 || bit == 31 ||
					   ((bit == 5 || bit == 12) && ptwrite);

			if (known)
				expect_taken(machine, msr::ctl, value);
			else
				expect_fault(machine, msr::ctl, value);
		}
		for (unsigned int range = 0; range < 4; range++) {
			for (std::uint64_t use = 0; use < 16; use++) {
				const std::uint64_t value = use
							    << (ctl::addr0_cfg_shift + 4 * range);

				if (use == 0 || (use <= 2 && range < 2))
					expect_taken(machine, msr::ctl, value);
				else
					expect_fault(machine, msr::ctl, value);
			}
		}
	}
}

/* Values that have been taken before are taken again, where hardware would. */
TEST(PtRegisters, WhatWasTakenOnce)
{
	constexpr std::uint64_t one = ctl::user | ctl::branch_en;
	constexpr std::uint64_t two = one | ctl::tsc_en;
	PtMachine machine(all_features());
	const std::uint64_t range = machine.allocate(page_size);

	machine.write(msr::output_base, range);
	machine.write(msr::output_mask, page_size - 1);
	for (int i = 0; i < 2; i++) {
		expect_taken(machine, msr::ctl, one | ctl::trace_en);
		expect_fault(machine, msr::ctl, two | ctl::trace_en);
		expect_taken(machine, msr::ctl, one);
		expect_taken(machine, msr::ctl, two | ctl::trace_en);
		expect_fault(machine, msr::ctl, one | ctl::trace_en);
		expect_taken(machine, msr::ctl, two | ctl::trace_en);
		expect_taken(machine, msr::ctl, two);
	}
}

TEST(PtRegisters, RangesWrittenUnderTheSameCtl)
{
	constexpr std::uint64_t on =
		ctl::trace_en | ctl::user | ctl::branch_en | 1ULL << ctl::addr0_cfg_shift;
	PtMachine machine(all_features());
	const std::uint64_t range = machine.allocate(page_size);

	machine.write(msr::output_base, range);
	machine.write(msr::output_mask, page_size - 1);
	for (const std::uint64_t from : {0x1000ULL, 0x5000ULL, 0x3000ULL}) {
		expect_taken(machine, msr::addr0_a, from);
		expect_taken(machine, msr::addr0_a + 1, from + 0xfff);
		expect_taken(machine, msr::ctl, on);
		EXPECT_EQ(pt_unit_boundary(machine.unit(), 0), from);
		expect_taken(machine, msr::ctl, on & ~ctl::trace_en);
	}
}

TEST(PtRegisters, WithoutATableOnlyWhereASingleRangeIsOffered)
{
	pt_unit_features features = all_features();

	features.single_range = 0;
	PtMachine machine(features);

	expect_fault(machine, msr::ctl, ctl::trace_en);
	/* That it will not trace is no fault: the memory may be there or not. */
	EXPECT_TRUE(machine.write(msr::ctl, ctl::trace_en | ctl::topa));
}

TEST(PtRegisters, WhileTracingNothingButItsEnd)
{
	PtMachine machine(all_features());
	const std::uint64_t on = ctl::trace_en | ctl::user | ctl::branch_en;

	machine.write(msr::output_base, machine.allocate(page_size));
	machine.write(msr::output_mask, page_size - 1);
	ASSERT_TRUE(machine.write(msr::ctl, on));
	EXPECT_TRUE(machine.read(msr::status) & status::trigger_en);
	expect_fault(machine, msr::ctl, on | ctl::tsc_en);
	EXPECT_TRUE(machine.write(msr::ctl, on));
	expect_fault(machine, msr::status, 0);
	expect_fault(machine, msr::output_base, 0);
	expect_fault(machine, msr::output_mask, 0);
	expect_fault(machine, msr::cr3_match, 0);
	for (unsigned int msr = msr::addr0_a; msr <= msr::addr3_b; msr++)
		expect_fault(machine, msr, 0);
	/* The same write may change other bits. */
	expect_taken(machine, msr::ctl, ctl::tsc_en);
	EXPECT_FALSE(machine.read(msr::status) & status::trigger_en);
}

TEST(PtRegisters, AddressesAndMasks)
{
	PtMachine machine(all_features());

	expect_taken(machine, msr::output_base, 0xfffffffffff80);
	expect_fault(machine, msr::output_base, 0x40);
	expect_fault(machine, msr::output_base, 1ULL << 52);
	EXPECT_TRUE(machine.write(msr::output_mask, 0x123456780000ff00));
	EXPECT_EQ(machine.read(msr::output_mask), 0x123456780000ff7fU);
	expect_taken(machine, msr::cr3_match, 0xffffffffffffffe0);
	expect_fault(machine, msr::cr3_match, 0x10);
	expect_taken(machine, msr::addr0_a, 0x00ffffffffffffff);
	expect_taken(machine, msr::addr0_a, 0xff00000000000000);
	expect_fault(machine, msr::addr0_a, 0x0100000000000000);
	expect_fault(machine, msr::addr3_b, 0xfe00000000000000);
}

TEST(PtRegisters, UnknownOnes)
{
	pt_unit_features features = all_features();

	features.address_ranges = 1;
	PtMachine machine(features);

	for (const unsigned int msr : {0x55fU, 0x562U, 0x573U, 0x57fU, 0x582U, 0x587U, 0x588U}) {
		unsigned long long value = 1;

		EXPECT_EQ(pt_unit_read(machine.unit(), msr, &value), -1) << std::hex << msr;
		EXPECT_FALSE(machine.write(msr, 0));
	}
	expect_taken(machine, msr::addr0_a + 1, 1);
}

TEST(PtRegisters, BitsOfStatus)
{
	PtMachine machine(all_features());

	for (unsigned int bit = 0; bit < 64; bit++) {
		const std::uint64_t value = 1ULL << bit;

		if (bit < 3) {
			EXPECT_TRUE(machine.write(msr::status, value));
			EXPECT_EQ(machine.read(msr::status), 0U);
		} else if (bit == 4 || bit == 5 || (bit >= 32 && bit <= 48)) {
			expect_taken(machine, msr::status, value);
		} else {
			machine.write(msr::status, 0);
			expect_fault(machine, msr::status, value);
		}
	}
}

} // namespace
} // namespace pt_test
