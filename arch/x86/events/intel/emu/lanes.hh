/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Integer instructions that work on each 16 bytes by itself, done by the CPU's own. XMM0 is
 * borrowed.
 */
#ifndef X86_EVENTS_EMU_LANES_HH
#define X86_EVENTS_EMU_LANES_HH

#include "vector.hh"

namespace x86_emu {

// clang-format off

/* By the opcode behind 66 0F: SSE2. */
#define X86_LANES(x)                                                                               \
	x(0x60, "punpcklbw") x(0x61, "punpcklwd") x(0x62, "punpckldq") x(0x63, "packsswb")         \
	x(0x64, "pcmpgtb") x(0x65, "pcmpgtw") x(0x66, "pcmpgtd") x(0x67, "packuswb")               \
	x(0x68, "punpckhbw") x(0x69, "punpckhwd") x(0x6a, "punpckhdq") x(0x6b, "packssdw")         \
	x(0x6c, "punpcklqdq") x(0x6d, "punpckhqdq") x(0x74, "pcmpeqb") x(0x75, "pcmpeqw")          \
	x(0x76, "pcmpeqd") x(0xd4, "paddq") x(0xd5, "pmullw") x(0xd8, "psubusb")                   \
	x(0xd9, "psubusw") x(0xda, "pminub") x(0xdb, "pand") x(0xdc, "paddusb")                    \
	x(0xdd, "paddusw") x(0xde, "pmaxub") x(0xdf, "pandn") x(0xe0, "pavgb") x(0xe3, "pavgw")    \
	x(0xe4, "pmulhuw") x(0xe5, "pmulhw") x(0xe8, "psubsb") x(0xe9, "psubsw")                   \
	x(0xea, "pminsw") x(0xeb, "por") x(0xec, "paddsb") x(0xed, "paddsw") x(0xee, "pmaxsw")     \
	x(0xef, "pxor") x(0xf4, "pmuludq") x(0xf5, "pmaddwd") x(0xf6, "psadbw") x(0xf8, "psubb")   \
	x(0xf9, "psubw") x(0xfa, "psubd") x(0xfb, "psubq") x(0xfc, "paddb") x(0xfd, "paddw")       \
	x(0xfe, "paddd")

/* The same, by a count in the lower half of the second operand. */
#define X86_SHIFTS(x)                                                                              \
	x(0xd1, "psrlw") x(0xd2, "psrld") x(0xd3, "psrlq") x(0xe1, "psraw") x(0xe2, "psrad")       \
	x(0xf1, "psllw") x(0xf2, "pslld") x(0xf3, "psllq")

/* By the opcode behind 66 0F 38: up to SSE4.2. */
#define X86_LANES_38(x)                                                                            \
	x(0x00, "pshufb") x(0x01, "phaddw") x(0x02, "phaddd") x(0x03, "phaddsw")                   \
	x(0x04, "pmaddubsw") x(0x05, "phsubw") x(0x06, "phsubd") x(0x07, "phsubsw")                \
	x(0x08, "psignb") x(0x09, "psignw") x(0x0a, "psignd") x(0x0b, "pmulhrsw")                  \
	x(0x28, "pmuldq") x(0x29, "pcmpeqq") x(0x2b, "packusdw") x(0x37, "pcmpgtq")                \
	x(0x38, "pminsb") x(0x39, "pminsd") x(0x3a, "pminuw") x(0x3b, "pminud")                    \
	x(0x3c, "pmaxsb") x(0x3d, "pmaxsd") x(0x3e, "pmaxuw") x(0x3f, "pmaxud")                    \
	x(0x40, "pmulld")

/* The same, with no more than one operand. */
#define X86_LANES_38_OF_ONE(x)                                                                     \
	x(0x1c, "pabsb") x(0x1d, "pabsw") x(0x1e, "pabsd")

/* The same, from the lower part of the operand. */
#define X86_WIDENINGS_38(x)                                                                        \
	x(0x20, "pmovsxbw") x(0x21, "pmovsxbd") x(0x22, "pmovsxbq") x(0x23, "pmovsxwd")            \
	x(0x24, "pmovsxwq") x(0x25, "pmovsxdq") x(0x30, "pmovzxbw") x(0x31, "pmovzxbd")            \
	x(0x32, "pmovzxbq") x(0x33, "pmovzxwd") x(0x34, "pmovzxwq") x(0x35, "pmovzxdq")

// clang-format on

#define X86_ONE(code, name) case code:

constexpr bool is_lane_operation(unsigned char opcode)
{
	switch (opcode) {
		X86_LANES(X86_ONE)
		return true;
	default:
		return false;
	}
}

constexpr bool is_shift(unsigned char opcode)
{
	switch (opcode) {
		X86_SHIFTS(X86_ONE)
		return true;
	default:
		return false;
	}
}

constexpr bool is_lane_operation_38(unsigned char opcode)
{
	switch (opcode) {
		X86_LANES_38(X86_ONE)
		return true;
	default:
		return false;
	}
}

constexpr bool is_lane_operation_38_of_one(unsigned char opcode)
{
	switch (opcode) {
		X86_LANES_38_OF_ONE(X86_ONE)
		return true;
	default:
		return false;
	}
}

constexpr bool is_widening_38(unsigned char opcode)
{
	switch (opcode) {
		X86_WIDENINGS_38(X86_ONE)
		return true;
	default:
		return false;
	}
}

#undef X86_ONE

#define X86_ONE(code, name)                                                                        \
	case code:                                                                                 \
		asm volatile("movups %%xmm0, %1\n\tmovups %0, %%xmm0\n\t" name                     \
			     " %2, %%xmm0\n\tmovups %%xmm0, %0\n\tmovups %1, %%xmm0"               \
			     : "+m"(to), "=m"(saved)                                               \
			     : "m"(from));                                                         \
		break;

/* `from` is at a multiple of 16 bytes, as instructions want it that are not by VEX. */
inline void operate_on_16(unsigned char opcode, Half &to, const Half &from)
{
	Half saved;

	switch (opcode) {
		X86_LANES(X86_ONE)
		X86_SHIFTS(X86_ONE)
	default:
		break;
	}
}

inline void operate_on_16_38(unsigned char opcode, Half &to, const Half &from)
{
	Half saved;

	switch (opcode) {
		X86_LANES_38(X86_ONE)
		X86_LANES_38_OF_ONE(X86_ONE)
		X86_WIDENINGS_38(X86_ONE)
	default:
		break;
	}
}

#undef X86_ONE

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_LANES_HH */
