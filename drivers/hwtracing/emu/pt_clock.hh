/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time in a trace (SDM volume 3, "Timing Packets"): the TSC, a crystal that ticks
 * denominator times while the TSC ticks numerator times, and cycles, which are TSC
 * ticks here.
 */
#ifndef HWTRACING_EMU_PT_CLOCK_HH
#define HWTRACING_EMU_PT_CLOCK_HH

#include "pt_encoder.hh"
#include "pt_layout.hh"

namespace pt_emu {

class Clock {
    public:
	using Byte = std::uint8_t;

	void set(unsigned int tsc_numerator, unsigned int tsc_denominator)
	{
		numerator = tsc_numerator ? tsc_numerator : 1;
		denominator = tsc_denominator ? tsc_denominator : 1;
	}

	void configure(std::uint64_t control)
	{
		const unsigned int threshold = ctl::field(control, ctl::cyc_thresh_shift);

		tsc_wanted = (control & ctl::tsc_en) != 0;
		cyc_wanted = (control & ctl::cyc_en) != 0;
		mtc_wanted = (control & ctl::mtc_en) != 0;
		cyc_threshold = threshold ? 1ULL << (threshold - 1) : 0;
		mtc_shift = ctl::field(control, ctl::mtc_freq_shift);
		mtc_reach = mtc_shift > 8 ? 0xc000U >> mtc_shift : 0xc0;
	}

	/* Tracing begins: what the decoder knows of time is nothing. */
	void start()
	{
		/* TMA says where MTC begins to count. */
		next_mtc = tsc_wanted ? ~0ULL : 0;
		cyc_known = false;
	}

	/* Is there something to say at packets that do not begin with the time? */
	bool ticks() const
	{
		return cyc_wanted || mtc_wanted;
	}

	bool counts_cycles() const
	{
		return cyc_wanted;
	}

	/* In front of other packets: MTC if one is due, CYC. */
	Byte *tick(Byte *at, std::uint64_t now)
	{
		if (mtc_wanted && now >= next_mtc)
			at = mtc(at, now);
		return cyc_wanted ? cyc(at, now, cyc_threshold) : at;
	}

	/* The whole time: TSC, TMA. */
	Byte *time(Byte *at, std::uint64_t now)
	{
		if (!tsc_wanted)
			return at;
		if (cyc_wanted)
			at = cyc(at, now, 0);
		at = Encoder::tsc(at, now);
		if (mtc_wanted) {
			const std::uint64_t ctc = crystal(now);
			const std::uint64_t fast = now - tsc_of(ctc);

			at = Encoder::tma(at, ctc, fast < fast_max ? fast : fast_max);
			know_mtc(ctc);
		}
		return at;
	}

    private:
	static constexpr std::uint64_t fast_max = 0x1ff;

	std::uint64_t crystal(std::uint64_t now) const
	{
		return now / numerator * denominator + now % numerator * denominator / numerator;
	}

	/* The first TSC at which the crystal has ticked so often. */
	std::uint64_t tsc_of(std::uint64_t ctc) const
	{
		return ctc / denominator * numerator +
		       (ctc % denominator * numerator + denominator - 1) / denominator;
	}

	void know_mtc(std::uint64_t ctc)
	{
		last_mtc = ctc >> mtc_shift;
		next_mtc = tsc_of((last_mtc + 1) << mtc_shift);
	}

	Byte *mtc(Byte *at, std::uint64_t now)
	{
		const std::uint64_t ctc = crystal(now);
		const std::uint64_t period = ctc >> mtc_shift;

		if (tsc_wanted && period - last_mtc > mtc_reach)
			return time(at, now);
		if (cyc_wanted)
			at = cyc(at, now, 0);
		know_mtc(ctc);
		return Encoder::mtc(at, period);
	}

	Byte *cyc(Byte *at, std::uint64_t now, std::uint64_t threshold)
	{
		const std::uint64_t cycles = cyc_known && now > last_cyc ? now - last_cyc : 0;

		if (cyc_known && (!cycles || cycles < threshold))
			return at;
		last_cyc = now;
		cyc_known = true;
		return Encoder::cyc(at, cycles);
	}

	std::uint64_t numerator;
	std::uint64_t denominator;
	std::uint64_t cyc_threshold;
	std::uint64_t last_cyc;
	std::uint64_t last_mtc;
	std::uint64_t next_mtc;
	/* MTC has 8 bits and TMA has 16; further apart, they would be ambiguous. */
	std::uint64_t mtc_reach;
	unsigned int mtc_shift;
	bool tsc_wanted;
	bool cyc_wanted;
	bool mtc_wanted;
	bool cyc_known;
};

} // namespace pt_emu

#endif
