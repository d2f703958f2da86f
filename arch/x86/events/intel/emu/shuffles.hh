/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What moves parts of vectors about, on 16 bytes, which are two words.
 */
#ifndef X86_EVENTS_EMU_SHUFFLES_HH
#define X86_EVENTS_EMU_SHUFFLES_HH

#include "flags.hh"

namespace x86_emu {

/* The 4 bytes that the n-th pair of bits names. */
constexpr u64 chosen(const u64 *from, unsigned order, unsigned n)
{
	const unsigned which = order >> 2 * n & 3;

	return static_cast<u32>(from[which / 2] >> which % 2 * 32);
}

/* PSHUFD on 16 bytes. */
inline void shuffle(const u64 *from, unsigned order, u64 *to)
{
	to[0] = chosen(from, order, 0) | chosen(from, order, 1) << 32;
	to[1] = chosen(from, order, 2) | chosen(from, order, 3) << 32;
}

/* PALIGNR on 16 bytes: the ones at `by` of those from `low` on. */
inline void slide(const u64 *low, const u64 *high, unsigned by, u64 *to)
{
	const u64 from[] = {low[0], low[1], high[0], high[1], 0, 0, 0};
	const unsigned first = by < 32 ? by / 8 : 4, bits = by < 32 ? by % 8 * 8 : 0;

	for (unsigned i = 0; i < 2; i++)
		to[i] = bits ? from[first + i] >> bits | from[first + i + 1] << (64 - bits)
			     : from[first + i];
}

/* PSLLDQ and PSRLDQ */
inline void slide_alone(bool up, unsigned by, u64 *word)
{
	const u64 from[] = {word[0], word[1]}, nothing[] = {0, 0};

	by = by < 16 ? by : 16;
	if (up)
		slide(nothing, from, 16 - by, word);
	else
		slide(from, nothing, by, word);
}

/* PSHUFLW and PSHUFHW on 8 bytes. */
inline u64 shuffle_words(u64 from, unsigned order)
{
	u64 to = 0;

	for (unsigned i = 0; i < 4; i++)
		to |= (from >> (order >> 2 * i & 3) * 16 & 0xffff) << 16 * i;
	return to;
}

/* SHUFPS and SHUFPD on 16 bytes; `order` has the bits of these 16. */
inline void pick(bool twice, unsigned order, const u64 *first, const u64 *second, u64 *to)
{
	const u64 low =
		twice ? first[order & 1] : chosen(first, order, 0) | chosen(first, order, 1) << 32;
	const u64 high = twice ? second[order >> 1 & 1]
			       : chosen(second, order, 2) | chosen(second, order, 3) << 32;

	to[0] = low;
	to[1] = high;
}

/* MOVSLDUP, MOVSHDUP, MOVDDUP on 16 bytes. */
inline void spread(unsigned operation, u64 *word)
{
	if (operation == 2) {
		word[1] = word[0];
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		const u64 half = operation ? word[i] >> 32 : static_cast<u32>(word[i]);

		word[i] = half | half << 32;
	}
}

} // namespace x86_emu

#endif /* X86_EVENTS_EMU_SHUFFLES_HH */
