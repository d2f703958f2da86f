/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PCMPISTRI, done by the CPU's own. XMM0 is borrowed.
 */
#ifndef X86_EVENTS_EMU_STRINGS_HH
#define X86_EVENTS_EMU_STRINGS_HH

#include "native.hh"
#include "vector.hh"

namespace x86_emu {

/* The lower 7 bits of the control are all that there is to it. */
constexpr unsigned string_controls = 0x80;

/* The index, and what the arithmetic flags are. */
[[gnu::noinline]] inline unsigned compare_strings(unsigned control, const Half &a, const Half &b,
						  unsigned long &flags)
{
	Half saved;
	unsigned short ax = 0;
	unsigned long index = 0;

	switch (control % string_controls) {
#define X86_ONE(n)                                                                                 \
	case n:                                                                                    \
		asm volatile("movups %%xmm0, %2\n\tmovups %3, %%xmm0\n\tpcmpistri $" #n            \
			     ", %4, %%xmm0\n\tlahf\n\tseto %%al\n\tmovups %2, %%xmm0"              \
			     : "+&a"(ax), "=&c"(index), "=m"(saved)                                \
			     : "m"(a), "m"(b)                                                      \
			     : "cc");                                                              \
		break;
#define X86_EIGHT(n)                                                                               \
	X86_ONE(n##0)                                                                              \
	X86_ONE(n##1)                                                                              \
	X86_ONE(n##2)                                                                              \
	X86_ONE(n##3)                                                                              \
	X86_ONE(n##4)                                                                              \
	X86_ONE(n##5)                                                                              \
	X86_ONE(n##6)                                                                              \
	X86_ONE(n##7)
		/* In octal. */
		X86_EIGHT(00)
		X86_EIGHT(01)
		X86_EIGHT(02)
		X86_EIGHT(03)
		X86_EIGHT(04)
		X86_EIGHT(05)
		X86_EIGHT(06)
		X86_EIGHT(07)
		X86_EIGHT(010)
		X86_EIGHT(011)
		X86_EIGHT(012)
		X86_EIGHT(013)
		X86_EIGHT(014)
		X86_EIGHT(015)
		X86_EIGHT(016)
		X86_EIGHT(017)
#undef X86_EIGHT
#undef X86_ONE
	default:
		break;
	}
	flags = unpacked(ax);
	return static_cast<unsigned>(index);
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_STRINGS_HH */
