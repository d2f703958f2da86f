/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers and bits of Intel PT's registers (SDM volume 3, "Configuration and Control MSRs"). */
#ifndef HWTRACING_EMU_PT_LAYOUT_HH
#define HWTRACING_EMU_PT_LAYOUT_HH

#include <cstdint>

namespace pt_emu {

namespace msr {
constexpr unsigned int output_base = 0x560;
constexpr unsigned int output_mask = 0x561;
constexpr unsigned int ctl = 0x570;
constexpr unsigned int status = 0x571;
constexpr unsigned int cr3_match = 0x572;
constexpr unsigned int addr0_a = 0x580;
constexpr unsigned int addr3_b = 0x587;
} // namespace msr

namespace ctl {
constexpr std::uint64_t trace_en = 1ULL << 0;
constexpr std::uint64_t cyc_en = 1ULL << 1;
constexpr std::uint64_t os = 1ULL << 2;
constexpr std::uint64_t user = 1ULL << 3;
constexpr std::uint64_t pwr_evt_en = 1ULL << 4;
constexpr std::uint64_t fup_on_ptw = 1ULL << 5;
constexpr std::uint64_t cr3_filter = 1ULL << 7;
constexpr std::uint64_t topa = 1ULL << 8;
constexpr std::uint64_t mtc_en = 1ULL << 9;
constexpr std::uint64_t tsc_en = 1ULL << 10;
constexpr std::uint64_t dis_retc = 1ULL << 11;
constexpr std::uint64_t ptw_en = 1ULL << 12;
constexpr std::uint64_t branch_en = 1ULL << 13;
constexpr std::uint64_t event_en = 1ULL << 31;
constexpr std::uint64_t dis_tnt = 1ULL << 55;
/* Four bits each. */
constexpr unsigned int mtc_freq_shift = 14;
constexpr unsigned int cyc_thresh_shift = 19;
constexpr unsigned int psb_freq_shift = 24;
constexpr unsigned int addr0_cfg_shift = 32;

constexpr unsigned int field(std::uint64_t value, unsigned int shift)
{
	return static_cast<unsigned int>(value >> shift) & 0xf;
}
} // namespace ctl

/* ADDRn_CFG */
constexpr unsigned int range_filter = 1;
constexpr unsigned int range_stop = 2;

namespace status {
constexpr std::uint64_t filter_en = 1ULL << 0;
constexpr std::uint64_t context_en = 1ULL << 1;
constexpr std::uint64_t trigger_en = 1ULL << 2;
constexpr std::uint64_t error = 1ULL << 4;
constexpr std::uint64_t stopped = 1ULL << 5;
constexpr unsigned int byte_count_shift = 32;
constexpr std::uint64_t byte_count_max = 0x1ffff;
} // namespace status

/* A physical address has 52 bits, a linear one 57. */
constexpr std::uint64_t physical_mask = (1ULL << 52) - 1;

constexpr bool canonical(std::uint64_t address)
{
	return static_cast<std::uint64_t>(static_cast<std::int64_t>(address << 7) >> 7) == address;
}

} // namespace pt_emu

#endif
