// SPDX-License-Identifier: GPL-2.0
/* Registers are read and written; tracing starts, stops, synchronises. */
#include "pt_flow.hh"

namespace pt_emu {

namespace {

constexpr unsigned int shortest_period_shift = 11;

} // namespace

void Flow::init(const pt_unit_ops &ops, void *context, const pt_unit_features &offered_features)
{
	features = offered_features;
	machine.ops = ops;
	machine.context = context;
	output.init();
	clock.set(features.tsc_numerator, features.tsc_denominator);
}

std::uint64_t Flow::status() const
{
	const std::uint64_t word = emu::load(registers.place);
	std::uint64_t value = registers.byte_count < status::byte_count_max
				      ? registers.byte_count
				      : status::byte_count_max;

	value <<= status::byte_count_shift;
	if (word & place::error)
		value |= status::error;
	if (word & place::stopped)
		value |= status::stopped;
	if ((registers.ctl & ctl::trace_en) && !(word & place::halted))
		value |= status::trigger_en;
	if (context_open)
		value |= status::context_en;
	if (packets)
		value |= status::filter_en;
	return value;
}

int Flow::read_any(unsigned int msr, std::uint64_t &value)
{
	switch (msr) {
	case msr::ctl:
		value = registers.ctl;
		break;
	case msr::status:
		value = status();
		break;
	case msr::output_base:
		value = registers.output_base();
		break;
	case msr::cr3_match:
		value = registers.cr3_match;
		break;
	default:
		if (!is_address(features, msr))
			return refuse();
		value = registers.addr[msr - msr::addr0_a];
		break;
	}
	return 0;
}

/* #GP */
int Flow::refuse()
{
	counts.faults++;
	return -1;
}

int Flow::write_any(unsigned int msr, std::uint64_t value)
{
	if (msr == msr::ctl)
		return accepts_ctl(features, registers, value) ? write_ctl(value) : refuse();
	if (registers.ctl & ctl::trace_en)
		return refuse();

	switch (msr) {
	case msr::status:
		return accepts_status(value) ? write_status(value) : refuse();
	case msr::cr3_match:
		if (!accepts_cr3(value))
			return refuse();
		registers.cr3_match = value;
		return 0;
	default:
		if (!is_address(features, msr) || !canonical(value))
			return refuse();
		registers.addr[msr - msr::addr0_a] = value;
		configured = 0;
		return 0;
	}
}

int Flow::write_status(std::uint64_t value)
{
	registers.place &= ~place::halted;
	if (value & status::error)
		registers.place |= place::error;
	if (value & status::stopped)
		registers.place |= place::stopped;
	registers.byte_count = value >> status::byte_count_shift & status::byte_count_max;
	return 0;
}

int Flow::write_ctl(std::uint64_t value)
{
	const bool nested = emu::load(busy);

	if (nested) {
		emu::store(touched, true);
		emu::store(registers.ctl, value);
		registers.place = place::next_generation(registers.place);
		return 0;
	}

	emu::store(busy, true);
	emu::order_nested();
	/* Not for TraceEn: an NMI may have cleared it just now. */
	if (running)
		stop();
	/* An NMI that has come in between, has come before this. */
	emu::store(touched, false);
	emu::store(registers.ctl, value);
	if (value & ctl::trace_en)
		start();
	(void)idle();
	return 0;
}

/* What an NMI has left to do: forget the trace that it has ended, begin anew. */
void Flow::resume()
{
	emu::store(touched, false);
	emu::order_nested();
	if (running)
		lose();
	/* It may have come in the middle of configure(). */
	configured = 0;
	running = false;
	context_open = false;
	set_packets(false);
	if (registers.ctl & ctl::trace_en)
		start();
}

void Flow::resume_until_idle()
{
	do {
		emu::store(busy, true);
		emu::order_nested();
		resume();
		emu::order_nested();
		emu::store(busy, false);
		emu::order_nested();
	} while (emu::load(touched));
}

/* TraceEn is about to be cleared: close what is open. */
void Flow::stop()
{
	if (context_open)
		close_context();
	running = false;
	set_packets(false);
}

/* What follows from CTL and the address ranges. */
void Flow::configure()
{
	const std::uint64_t value = emu::load(registers.ctl);

	filters.clear();
	stops.clear();
	for (unsigned int i = 0; i < emu::Ranges::most; i++) {
		const unsigned int use = ctl::field(value, ctl::addr0_cfg_shift + 4 * i);

		if (use == range_filter)
			filters.add(registers.addr[2 * i], registers.addr[2 * i + 1]);
		if (use == range_stop)
			stops.add(registers.addr[2 * i], registers.addr[2 * i + 1]);
	}
	branches = (value & ctl::branch_en) != 0;
	tnt_wanted = !(value & ctl::dis_tnt);
	events = (value & ctl::event_en) != 0;
	compress = tnt_wanted && !(value & ctl::dis_retc);
	psb_period = 1ULL << (shortest_period_shift + ctl::field(value, ctl::psb_freq_shift));
	clock.configure(value);
	tnt_limit = clock.counts_cycles() ? Encoder::short_tnt_bits : Encoder::long_tnt_bits;
	configured = value;
}

/* TraceEn has been set. */
void Flow::start()
{
	if (emu::load(registers.place) & place::halted)
		return;
	if (__builtin_expect(registers.ctl != configured, 0))
		configure();
	clock.start();
	/* Others may have written to the buffer since. */
	encoder.forget_ip();
	cr3_told = false;
	context_open = false;
	set_packets(false);
	time_due = false;
	event.known = false;
	c_state = 0;
	if (!output.is_known(registers) && !output.start(registers, features, machine)) {
		if (!emu::load(touched))
			counts.errors++;
		return;
	}
	running = true;
	if (lost || !registers.byte_count || registers.byte_count >= psb_period)
		psb_plus();
}

/*
 * A PSB and what a decoder has to know to begin here; where packets are enabled, the
 * next instruction too. Then, that some have been lost.
 */
void Flow::psb_plus()
{
	const bool tell_loss = lost;
	Group group;

	if (!open(group))
		return;
	returns.clear();
	group.at = encoder.psb(group.at);
	group.at = clock.time(group.at, machine.tsc());
	if (context_open && (registers.ctl & ctl::os)) {
		group.at = Encoder::pip(group.at, cr3 & cr3_mask);
		told_cr3 = cr3;
		cr3_told = true;
	}
	group.at = Encoder::cbr(group.at, features.bus_ratio);
	if (packets && branches) {
		group.at = Encoder::mode_exec(group.at, mode, events);
		group.at = encoder.ip(group.at, IpPacket::fup, ip);
	}
	group.at = Encoder::psb_end(group.at);
	if (tell_loss)
		group.at = Encoder::overflow(group.at);
	registers.byte_count = 0;
	if (close(group) && tell_loss)
		lost = false;
}

} // namespace pt_emu
