/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a PT unit does about what its CPU does (SDM volume 3, "Trace Filtering" and
 * "Packet Generation Scenarios").
 *
 * Every function that can write output is busy while it does. An NMI that finds the
 * unit busy and writes CTL changes registers alone: what the interrupted function
 * still wants to write is refused, and it starts anew, as CTL says, when it ends.
 */
#ifndef HWTRACING_EMU_PT_FLOW_HH
#define HWTRACING_EMU_PT_FLOW_HH

#include "branch_flow.hh"
#include "pt_clock.hh"
#include "pt_encoder.hh"
#include "pt_output.hh"

namespace pt_emu {

class Flow {
    public:
	void init(const pt_unit_ops &ops, void *context, const pt_unit_features &offered);

	/* 0, or -1: #GP. */
	[[gnu::always_inline]] int read(unsigned int msr, std::uint64_t &value)
	{
		if (__builtin_expect(msr != msr::output_mask, 0))
			return read_any(msr, value);
		value = emu::load(registers.place) | place::inner;
		return 0;
	}

	/* What a switch of tasks writes, in line; the rest is elsewhere. */
	[[gnu::always_inline]] int write(unsigned int msr, std::uint64_t value)
	{
		if (msr == msr::ctl && is_configured(value))
			return write_ctl(value);
		if (registers.ctl & ctl::trace_en)
			return write_any(msr, value);
		if (msr == msr::output_mask) {
			registers.place =
				(value & ~place::inner) | (registers.place & place::inner);
			return 0;
		}
		if (msr == msr::output_base && accepts_base(value)) {
			/* What another buffer has lost is not for this one to tell. */
			if (value != registers.output_base())
				lost = false;
			registers.base[(registers.place & place::slot) != 0] = value;
			return 0;
		}
		return write_any(msr, value);
	}

	bool follows(std::uint64_t cr3_now) const
	{
		constexpr std::uint64_t wanted = ctl::trace_en | ctl::user;

		return (registers.ctl & wanted) == wanted && !(registers.place & place::halted) &&
		       cr3_passes(cr3_now);
	}

	void enter(std::uint64_t to, std::uint64_t cr3_now, pt_unit_mode mode_now);

	[[gnu::always_inline]] void retire(const pt_unit_retired &retired)
	{
		emu::store(busy, true);
		emu::order_nested();
		if (__builtin_expect(fast && retired.kind <= PT_UNIT_COND_NOT_TAKEN &&
					     retired.kind != PT_UNIT_SEQUENTIAL,
				     1)) {
			counts.instructions += retired.instructions;
			ip = retired.to;
			tnt_bits = tnt_bits << 1 | (retired.kind == PT_UNIT_COND_TAKEN);
			if (__builtin_expect(++tnt_count == tnt_limit, 0))
				flush();
		} else {
			retire_any(retired);
		}
		idle();
	}

	void leave(pt_unit_end end, std::uint64_t at, unsigned int instructions);

	bool tells_events() const
	{
		return events && context_open;
	}

	void note_event(unsigned int vector, bool has_address, std::uint64_t address)
	{
		event.vector = static_cast<std::uint8_t>(vector);
		event.has_address = has_address;
		event.address = address;
		event.known = true;
	}

	bool tells_power() const
	{
		return running && (registers.ctl & ctl::pwr_evt_en);
	}

	void sleep(unsigned int state);
	void wake();

	std::uint64_t boundary(std::uint64_t above) const
	{
		const std::uint64_t filter = filters.boundary(above);
		const std::uint64_t stop = stops.boundary(above);

		return filter < stop ? filter : stop;
	}

	const pt_unit_features &offered() const
	{
		return features;
	}

	struct pt_unit_counts counts;

    private:
	/* pt_start.cc */
	int read_any(unsigned int msr, std::uint64_t &value);
	int write_any(unsigned int msr, std::uint64_t value);
	int write_status(std::uint64_t value);
	int write_ctl(std::uint64_t value);
	int refuse();
	std::uint64_t status() const;
	void start();
	void configure();
	void stop();
	void resume();
	void psb_plus();
	/* As CTL is, and as it has been when tracing began last, but for TraceEn? */
	bool is_configured(std::uint64_t value) const
	{
		return !((value ^ registers.ctl) & ~ctl::trace_en) &&
		       (value | ctl::trace_en) == configured;
	}
	bool cr3_passes(std::uint64_t cr3_now) const
	{
		return !(registers.ctl & ctl::cr3_filter) ||
		       ((cr3_now ^ registers.cr3_match) & cr3_mask) == 0;
	}

	/* pt_events.cc */
	void put_event(Group &group, bool with_ip);
	void tell_event(std::uint64_t at);

	/* pt_flow.cc */
	bool open(Group &group, bool timed = true);
	bool close(const Group &group);
	void give_up();
	void lose();
	void flush();
	void retire_any(const pt_unit_retired &retired);
	void stay(const pt_unit_retired &retired);
	void depart(const pt_unit_retired &retired, bool stopping);
	void outside(const pt_unit_retired &retired, bool inside, bool stopping);
	void take(bool taken);
	void tip(std::uint64_t to, bool with_mode);
	void ptwrite(const pt_unit_retired &retired);
	void open_context(std::uint64_t to, std::uint64_t cr3_now, pt_unit_mode mode_now);
	void enable(std::uint64_t to);
	void disable(pt_unit_end end, std::uint64_t at);
	void close_context();
	void trace_stop();
	void halt_by_filter();
	void consider_psb();
	[[gnu::always_inline]] void set_packets(bool on)
	{
		packets = on;
		tnt_count = 0;
		fast = on && branches && tnt_wanted && !filters.any() && !stops.any();
	}

	/* Not busy any more, unless an NMI has left something to do. */
	[[gnu::always_inline]] bool idle()
	{
		emu::order_nested();
		emu::store(busy, false);
		emu::order_nested();
		if (__builtin_expect(!emu::load(touched), 1))
			return true;
		resume_until_idle();
		return false;
	}
	void resume_until_idle();

	static constexpr std::uint64_t cr3_mask = physical_mask & ~0x1fULL;

	bool busy;
	/* An NMI has written CTL while busy. */
	bool touched;
	/* Conditional branches need no more than a bit. */
	bool fast;
	/* Started, not halted. */
	bool running;
	/* ContextEn and PacketEn, as the trace has them. */
	bool context_open;
	bool packets;
	/* Packets have been lost, and the trace does not say so yet. */
	bool lost;
	/* From CTL. */
	bool branches;
	bool tnt_wanted;
	bool compress;
	/* Without branches: packets need a time that none has told yet. */
	bool time_due;
	bool cr3_told;
	bool events;
	/* Why user mode is about to end. */
	struct {
		bool known;
		bool has_address;
		std::uint8_t vector;
		std::uint64_t address;
	} event;
	/* The C-state that the trace has told of; 0: none. */
	unsigned int c_state;
	pt_unit_mode mode;

	std::uint64_t tnt_bits;
	unsigned int tnt_count;
	unsigned int tnt_limit;
	std::uint64_t ip;
	std::uint64_t cr3;
	std::uint64_t told_cr3;
	std::uint64_t psb_period;
	/* CTL, if what follows from it and the address ranges is known; else 0. */
	std::uint64_t configured;

	Registers registers;
	Encoder encoder;
	Clock clock;
	emu::Ranges filters;
	emu::Ranges stops;
	pt_unit_features features;
	Machine machine;
	Output output;
	emu::ReturnStack returns;
};

} // namespace pt_emu

#endif
