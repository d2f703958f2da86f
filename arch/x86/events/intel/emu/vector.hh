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

/* PMOVMSKB: the highest bit of each byte. */
inline unsigned highest_bits(unsigned long word)
{
	return static_cast<unsigned>((word >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56);
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_VECTOR_HH */
