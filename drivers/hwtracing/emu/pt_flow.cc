// SPDX-License-Identifier: GPL-2.0
/* User mode begins, branches and ends: which packets that takes. */
#include "pt_flow.hh"

namespace pt_emu {

/* Begin a group with what has to stand in front: time, branches not told yet. */
bool Flow::open(Group &group, bool timed)
{
	output.open(group, registers);
	if (emu::load(touched)) {
		give_up();
		return false;
	}
	if (timed && clock.ticks())
		group.at = clock.tick(group.at, machine.tsc());
	if (tnt_count) {
		group.at = Encoder::tnt(group.at, tnt_bits, tnt_count);
		tnt_count = 0;
	}
	return true;
}

bool Flow::close(const Group &group)
{
	if (!output.close(group, registers, features, machine)) {
		give_up();
		return false;
	}
	registers.byte_count += static_cast<std::uint64_t>(group.at - group.begin);
	if (__builtin_expect((emu::load(registers.place) & place::halted) != 0, 0)) {
		give_up();
		return false;
	}
	return true;
}

void Flow::lose()
{
	if (!lost)
		counts.overflows++;
	lost = true;
}

/* Output has ended under our hands. */
void Flow::give_up()
{
	if (emu::load(registers.place) & place::error)
		counts.errors++;
	lose();
	running = false;
	context_open = false;
	set_packets(false);
}

/* Tell the branches that are not told yet. */
void Flow::flush()
{
	Group group;

	if (open(group) && close(group))
		consider_psb();
}

void Flow::consider_psb()
{
	if (__builtin_expect(registers.byte_count >= psb_period, 0) && running)
		psb_plus();
}

void Flow::enter(std::uint64_t to, std::uint64_t cr3_now, pt_unit_mode mode_now)
{
	/* Once more if an NMI has started anew under our hands. */
	for (int tries = 0; tries < 3; tries++) {
		emu::store(busy, true);
		emu::order_nested();
		if (context_open && !(to == ip && cr3_now == cr3 && mode_now == mode))
			close_context();
		if (running && !context_open)
			open_context(to, cr3_now, mode_now);
		if (idle())
			break;
	}
}

void Flow::open_context(std::uint64_t to, std::uint64_t cr3_now, pt_unit_mode mode_now)
{
	if (!(registers.ctl & ctl::user) || !cr3_passes(cr3_now))
		return;
	consider_psb();
	if (!running)
		return;

	context_open = true;
	ip = to;
	cr3 = cr3_now;
	mode = mode_now;
	set_packets(false);
	if (stops.contain(to))
		trace_stop();
	else if (!filters.any() || filters.contain(to))
		enable(to);
}

/* PacketEn: the trace goes on at an address. */
void Flow::enable(std::uint64_t to)
{
	Group group;

	returns.clear();
	if (!branches) {
		time_due = true;
		set_packets(true);
		return;
	}
	if (!open(group))
		return;
	group.at = clock.time(group.at, machine.tsc());
	if ((registers.ctl & ctl::os) && !(cr3_told && told_cr3 == cr3)) {
		group.at = Encoder::pip(group.at, cr3 & cr3_mask);
		told_cr3 = cr3;
		cr3_told = true;
	}
	group.at = Encoder::mode_exec(group.at, mode, events);
	group.at = encoder.ip(group.at, IpPacket::pge, to);
	if (close(group))
		set_packets(true);
}

/* No PacketEn: ContextEn has ended before the instruction at `at`, or with it. */
void Flow::disable(pt_unit_end end, std::uint64_t at)
{
	Group group;

	if (branches) {
		if (!open(group, end != PT_UNIT_LATE))
			return;
		if (event.known)
			put_event(group, false);
		if (end != PT_UNIT_SYSCALL)
			group.at = encoder.ip(group.at, IpPacket::fup, at);
		group.at = Encoder::pgd_without_ip(group.at);
		if (!close(group))
			return;
	}
	set_packets(false);
}

void Flow::close_context()
{
	if (packets)
		disable(PT_UNIT_LATE, ip);
	context_open = false;
}

void Flow::leave(pt_unit_end end, std::uint64_t at, unsigned int instructions)
{
	emu::store(busy, true);
	emu::order_nested();
	event.known = event.known && end == PT_UNIT_ASYNC;
	if (packets) {
		counts.instructions += instructions;
		if (event.known && !branches)
			tell_event(at);
		disable(end, at);
	} else if (event.known && context_open) {
		tell_event(at);
	}
	event.known = false;
	context_open = false;
	consider_psb();
	(void)idle();
}

/* The address is in a range where tracing stops; packets are not enabled. */
void Flow::trace_stop()
{
	Group group;

	if (!open(group))
		return;
	group.at = Encoder::trace_stop(group.at);
	if (close(group))
		halt_by_filter();
}

void Flow::halt_by_filter()
{
	const std::uint64_t word = emu::load(registers.place);

	emu::order_nested();
	if (!emu::load(touched))
		(void)emu::exchange_if(registers.place, word, word | place::stopped);
	running = false;
	context_open = false;
	set_packets(false);
}

void Flow::retire_any(const pt_unit_retired &retired)
{
	if (!context_open)
		return;

	const bool stopping = stops.any() && stops.contain(retired.to);
	const bool inside = !filters.any() || filters.contain(retired.to);

	if (!packets) {
		outside(retired, inside, stopping);
		return;
	}
	counts.instructions += retired.instructions;
	if (retired.kind == PT_UNIT_PTWRITE && (registers.ctl & ctl::ptw_en))
		ptwrite(retired);
	if (!packets)
		return;
	if (inside && !stopping)
		stay(retired);
	else
		depart(retired, stopping);
	consider_psb();
}

/* Packets are not enabled; they may be at the next address. */
void Flow::outside(const pt_unit_retired &retired, bool inside, bool stopping)
{
	ip = retired.to;
	mode = retired.mode;
	if (stopping)
		trace_stop();
	else if (inside)
		enable(retired.to);
}

/* Packets are enabled, and stay so. */
void Flow::stay(const pt_unit_retired &retired)
{
	ip = retired.to;
	mode = retired.mode;
	if (!branches)
		return;

	switch (retired.kind) {
	case PT_UNIT_COND_TAKEN:
		take(true);
		break;
	case PT_UNIT_COND_NOT_TAKEN:
		take(false);
		break;
	case PT_UNIT_CALL:
		/* A call to the next instruction is how programs learn where they are. */
		if (retired.to != retired.next)
			returns.push(retired.next);
		break;
	case PT_UNIT_INDIRECT_CALL:
		returns.push(retired.next);
		tip(retired.to, false);
		break;
	case PT_UNIT_INDIRECT_JUMP:
		tip(retired.to, false);
		break;
	case PT_UNIT_RETURN:
		if (compress && returns.pop(retired.to))
			take(true);
		else
			tip(retired.to, false);
		break;
	case PT_UNIT_FAR:
		/* Decoders do not agree whether it is a call or a return. */
		returns.clear();
		tip(retired.to, true);
		break;
	case PT_UNIT_SEQUENTIAL:
	case PT_UNIT_JUMP:
	case PT_UNIT_PTWRITE:
		break;
	}
}

void Flow::take(bool taken)
{
	if (!tnt_wanted)
		return;
	tnt_bits = tnt_bits << 1 | static_cast<std::uint64_t>(taken);
	if (++tnt_count == tnt_limit)
		flush();
}

void Flow::tip(std::uint64_t to, bool with_mode)
{
	Group group;

	if (!open(group))
		return;
	if (with_mode)
		group.at = Encoder::mode_exec(group.at, mode, events);
	group.at = encoder.ip(group.at, IpPacket::tip, to);
	(void)close(group);
}

/*
 * Packets are enabled, and will not be at the next address. A branch binds to
 * TIP.PGD; decoders would look for one if straight running had no FUP.
 */
void Flow::depart(const pt_unit_retired &retired, bool stopping)
{
	Group group;

	ip = retired.to;
	mode = retired.mode;
	if (branches && retired.kind == PT_UNIT_COND_NOT_TAKEN)
		take(false);
	if (!packets || !open(group))
		return;
	if (branches) {
		if (retired.kind == PT_UNIT_SEQUENTIAL || retired.kind == PT_UNIT_PTWRITE ||
		    retired.kind == PT_UNIT_COND_NOT_TAKEN)
			group.at = encoder.ip(group.at, IpPacket::fup, retired.to);
		group.at = encoder.ip(group.at, IpPacket::pgd, retired.to);
	}
	if (stopping)
		group.at = Encoder::trace_stop(group.at);
	if (!close(group))
		return;
	set_packets(false);
	if (stopping)
		halt_by_filter();
}

void Flow::ptwrite(const pt_unit_retired &retired)
{
	const bool with_ip = (registers.ctl & ctl::fup_on_ptw) != 0;
	Group group;

	if (!open(group))
		return;
	if (time_due)
		group.at = clock.time(group.at, machine.tsc());
	group.at = Encoder::ptw(group.at, retired.payload, retired.payload_size, with_ip);
	if (with_ip)
		group.at = encoder.ip(group.at, IpPacket::fup, retired.ip);
	if (close(group))
		time_due = false;
}

} // namespace pt_emu
