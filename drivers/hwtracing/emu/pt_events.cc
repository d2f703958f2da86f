// SPDX-License-Identifier: GPL-2.0
/*
 * Why user mode has ended, and how the CPU sleeps (SDM volume 3, "Event Trace" and "Power
 * Event Tracing").
 */
#include "pt_flow.hh"

namespace pt_emu {

/* In front of the FUP that says where. */
void Flow::put_event(Group &group, bool with_ip)
{
	if (event.has_address)
		group.at = Encoder::event_data(group.at, EventData::fault_address, event.address);
	group.at = Encoder::event(group.at, Event::interrupt, event.vector, with_ip);
}

/*
 * An event that no change of the flow is told for. Where branches are not wanted, it says
 * itself where it was; where an address filter does not let the instruction through, nothing
 * does.
 */
void Flow::tell_event(std::uint64_t at)
{
	Group group;

	if (!open(group))
		return;
	if (time_due)
		group.at = clock.time(group.at, machine.tsc());
	put_event(group, packets);
	if (packets)
		group.at = encoder.ip(group.at, IpPacket::fup, at);
	if (close(group))
		time_due = false;
}

void Flow::sleep(unsigned int state)
{
	Group group;

	emu::store(busy, true);
	emu::order_nested();
	if (tells_power() && open(group, false)) {
		group.at = clock.time(group.at, machine.tsc());
		group.at = Encoder::power_entry(group.at, state);
		group.at = Encoder::execution_stop(group.at);
		c_state = close(group) ? state : 0;
	}
	consider_psb();
	(void)idle();
}

void Flow::wake()
{
	Group group;

	emu::store(busy, true);
	emu::order_nested();
	if (tells_power() && c_state && open(group, false)) {
		group.at = clock.time(group.at, machine.tsc());
		group.at = Encoder::power_exit(group.at, c_state);
		(void)close(group);
	}
	c_state = 0;
	consider_psb();
	(void)idle();
}

} // namespace pt_emu
