// SPDX-License-Identifier: GPL-2.0
/*
 * What CPUID offers and which writes raise #GP (SDM volume 3, "Detection of Intel
 * Processor Trace" and "Configuration and Control MSRs").
 */
#include "pt_registers.hh"

namespace pt_emu {

namespace {

/* Bit n: the encoding n is offered. */
constexpr unsigned int mtc_periods = 0x0249;
constexpr unsigned int cycle_thresholds = 0x3fff;
constexpr unsigned int psb_periods = 0x003f;

bool offered(unsigned int encodings, std::uint64_t value, unsigned int shift)
{
	return (encodings >> ctl::field(value, shift)) & 1;
}

std::uint64_t ctl_bits(const pt_unit_features &features)
{
	constexpr std::uint64_t four_bits = 0xf;
	std::uint64_t bits = ctl::trace_en | ctl::cyc_en | ctl::os | ctl::user | ctl::cr3_filter |
			     ctl::topa | ctl::mtc_en | ctl::tsc_en | ctl::dis_retc |
			     ctl::branch_en | ctl::dis_tnt | ctl::pwr_evt_en | ctl::event_en;

	bits |= four_bits << ctl::mtc_freq_shift | four_bits << ctl::cyc_thresh_shift |
		four_bits << ctl::psb_freq_shift;
	if (features.ptwrite)
		bits |= ctl::ptw_en | ctl::fup_on_ptw;
	for (unsigned int i = 0; i < ranges_of(features); i++)
		bits |= four_bits << (ctl::addr0_cfg_shift + 4 * i);
	return bits;
}

} // namespace

bool accepts_ctl(const pt_unit_features &features, const Registers &registers, std::uint64_t value)
{
	if (value & ~ctl_bits(features))
		return false;
	/* While tracing, all that goes is to end it. */
	if ((registers.ctl & value & ctl::trace_en) && value != registers.ctl)
		return false;
	if ((value & ctl::trace_en) && !(value & ctl::topa) && !features.single_range)
		return false;
	if (!offered(mtc_periods, value, ctl::mtc_freq_shift) ||
	    !offered(cycle_thresholds, value, ctl::cyc_thresh_shift) ||
	    !offered(psb_periods, value, ctl::psb_freq_shift))
		return false;
	for (unsigned int i = 0; i < most_ranges; i++) {
		if (ctl::field(value, ctl::addr0_cfg_shift + 4 * i) > range_stop)
			return false;
	}
	return true;
}

void cpuid(const pt_unit_features &features, unsigned int subleaf, unsigned int registers[4])
{
	const unsigned int ranges = ranges_of(features);

	for (int i = 0; i < 4; i++)
		registers[i] = 0;

	switch (subleaf) {
	case 0:
		registers[0] = 1;
		/* CR3 filter, PSB periods and CYC, MTC, power events, events, TNT disable */
		registers[1] = 1U << 0 | 1U << 1 | 1U << 3 | 1U << 5 | 1U << 7 | 1U << 8;
		if (ranges)
			registers[1] |= 1U << 2;
		if (features.ptwrite)
			registers[1] |= 1U << 4;
		registers[2] = 1U << 0;
		if (!features.single_entry)
			registers[2] |= 1U << 1;
		if (features.single_range)
			registers[2] |= 1U << 2;
		break;
	case 1:
		registers[0] = ranges | mtc_periods << 16;
		registers[1] = cycle_thresholds | psb_periods << 16;
		break;
	default:
		break;
	}
}

} // namespace pt_emu
