/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Vector instructions on the task's own registers, which are in the CPU while the kernel
 * runs. Only moves of a single register and 128-bit SSE are used on them: SSE leaves what is
 * above alone, and a move by VEX clears it, each as the task's instruction would.
 */
#ifndef X86_EVENTS_EMU_VECTOR_HH
#define X86_EVENTS_EMU_VECTOR_HH

#include "memory.hh"
#include "op.hh"

namespace x86_emu {

struct alignas(16) Vector {
	unsigned long word[4];
};

#define X86_FOR_EACH_VECTOR(do)                                                                    \
	do                                                                                         \
	(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(  \
		14) do(15)

/* Copies register n to memory, or from there. */
#define X86_VECTOR_TO(instruction, name, n)                                                        \
	case n:                                                                                    \
		asm volatile(instruction " %%" name #n ", %0" : "=m"(*to) : : "memory");           \
		break;
#define X86_VECTOR_FROM(instruction, name, n)                                                      \
	case n:                                                                                    \
		asm volatile(instruction " %0, %%" name #n : : "m"(*from) : "memory");             \
		break;

struct Half {
	unsigned char byte[16];
};

struct Whole {
	unsigned char byte[32];
};

inline void read_16(unsigned char number, void *memory)
{
	Half *to = static_cast<Half *>(memory);

	switch (number) {
#define X86_ONE(n) X86_VECTOR_TO("movups", "xmm", n)
		X86_FOR_EACH_VECTOR(X86_ONE)
#undef X86_ONE
	}
}

inline void read_32(unsigned char number, void *memory)
{
	Whole *to = static_cast<Whole *>(memory);

	switch (number) {
#define X86_ONE(n) X86_VECTOR_TO("vmovups", "ymm", n)
		X86_FOR_EACH_VECTOR(X86_ONE)
#undef X86_ONE
	}
}

/* What is above the 16 bytes stays. */
inline void write_16(unsigned char number, const void *memory)
{
	const Half *from = static_cast<const Half *>(memory);

	switch (number) {
#define X86_ONE(n) X86_VECTOR_FROM("movups", "xmm", n)
		X86_FOR_EACH_VECTOR(X86_ONE)
#undef X86_ONE
	}
}

/* What is above becomes zero. */
inline void write_16_clear(unsigned char number, const void *memory)
{
	const Half *from = static_cast<const Half *>(memory);

	switch (number) {
#define X86_ONE(n) X86_VECTOR_FROM("vmovups", "xmm", n)
		X86_FOR_EACH_VECTOR(X86_ONE)
#undef X86_ONE
	}
}

inline void write_32_clear(unsigned char number, const void *memory)
{
	const Whole *from = static_cast<const Whole *>(memory);

	switch (number) {
#define X86_ONE(n) X86_VECTOR_FROM("vmovups", "ymm", n)
		X86_FOR_EACH_VECTOR(X86_ONE)
#undef X86_ONE
	}
}

#undef X86_VECTOR_TO
#undef X86_VECTOR_FROM
#undef X86_FOR_EACH_VECTOR

/*
 * What works on each 16 bytes by itself, in the map behind 0F, with the prefix 66. XMM0 is
 * borrowed.
 */
#define X86_LANE_OPERATIONS(do)                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               \
	do                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    \
	(0x60, "punpcklbw") do(0x61, "punpcklwd") do(                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         \
		0x62, "punpckldq") do(0x63, "packsswb") do(0x64, "pcmpgtb") do(0x65, "pcmpgtw") do(0x66, "pcmpgtd") do(0x67, "packuswb") do(0x68, "punpckhbw") do(0x69, "punpckhwd") do(0x6a, "punpckhdq") do(0x6b, "packssdw") do(0x6c, "punpcklqdq") do(0x6d, "punpckhqdq") do(0x74,                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        \
																																		 "pcmpeqb") do(0x75, "pcmpeqw") do(0x76, "pcmpeqd") do(0xd4, "paddq") do(0xd5, "pmullw") do(0xd8, "psubusb") do(0xd9,                                                                                                                                                                                                                                                                                                                                                                                                                         \
																																																"psubusw") do(0xda,                                                                                                                                                                                                                                                                                                                                                                                                           \
																																																	      "pminub") do(0xdb,                                                                                                                                                                                                                                                                                                                                                                                              \
																																																			   "pand") do(0xdc, "paddusb") do(0xdd, "paddusw") do(0xde, "pmaxub") do(0xdf, "pandn") do(0xe0,                                                                                                                                                                                                                                                                                                      \
																																																														   "pavgb") do(0xe3,                                                                                                                                                                                                                                                                                          \
																																																															       "pavgw") do(0xe4,                                                                                                                                                                                                                                                                              \
																																																																	   "pmulhuw") do(0xe5, "pmulhw") do(0xe8,                                                                                                                                                                                                                                             \
																																																																					    "psubsb") do(0xe9, "psubsw") do(0xea,                                                                                                                                                                                                             \
																																																																									    "pminsw") do(0xeb,                                                                                                                                                                                                \
																																																																											 "por") do(0xec,                                                                                                                                                                                      \
																																																																												   "paddsb") do(0xed, "paddsw") do(0xee, "pmaxsw") do(0xef, "pxor") do(0xf4,                                                                                                                  \
																																																																																				       "pmuludq") do(0xf5,                                                                                                    \
																																																																																						     "pmaddwd") do(0xf6,                                                                                      \
																																																																																								   "psadbw") do(0xf8,                                                                         \
																																																																																										"psubb") do(0xf9,                                                             \
																																																																																											    "psubw") do(0xfa,                                                 \
																																																																																													"psubd") do(0xfb,                                     \
																																																																																														    "psubq") do(0xfc,                         \
																																																																																																"paddb") do(0xfd,             \
																																																																																																	    "paddw") do(0xfe, \
																																																																																																			"paddd")

constexpr bool is_lane_operation(unsigned char opcode)
{
	switch (opcode) {
#define X86_ONE(code, name) case code:
		X86_LANE_OPERATIONS(X86_ONE)
#undef X86_ONE
		return true;
	default:
		return false;
	}
}

inline void operate_on_16(unsigned char opcode, Half &to, const Half &from)
{
	Half saved;

	switch (opcode) {
#define X86_ONE(code, name)                                                                        \
	case code:                                                                                 \
		asm volatile("movups %%xmm0, %1\n\tmovups %0, %%xmm0\n\t" name                     \
			     " %2, %%xmm0\n\tmovups %%xmm0, %0\n\tmovups %1, %%xmm0"               \
			     : "+m"(to), "=m"(saved)                                               \
			     : "m"(from));                                                         \
		break;
		X86_LANE_OPERATIONS(X86_ONE)
#undef X86_ONE
	default:
		break;
	}
}

inline void operate(unsigned char opcode, Vector &to, const Vector &from, bool wide)
{
	Half *halves = reinterpret_cast<Half *>(&to);
	const Half *others = reinterpret_cast<const Half *>(&from);

	operate_on_16(opcode, halves[0], others[0]);
	if (wide)
		operate_on_16(opcode, halves[1], others[1]);
}

/* PMOVMSKB: the highest bit of each byte. */
inline unsigned highest_bits(unsigned long word)
{
	return static_cast<unsigned>((word >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56);
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_VECTOR_HH */
