// SPDX-License-Identifier: GPL-2.0
/* The PT unit behind its seam. */
#include "pt_flow.hh"

struct pt_unit {
	pt_emu::Flow flow;
};

static_assert(alignof(pt_unit) == 8);

extern "C" {

unsigned long pt_unit_size(void)
{
	return sizeof(pt_unit);
}

void pt_unit_init(pt_unit *unit, const pt_unit_ops *ops, void *context,
		  const pt_unit_features *features)
{
	unit->flow.init(*ops, context, *features);
}

void pt_unit_cpuid(const pt_unit *unit, unsigned int subleaf, unsigned int registers[4])
{
	pt_emu::cpuid(unit->flow.offered(), subleaf, registers);
}

int pt_unit_read(pt_unit *unit, unsigned int msr, unsigned long long *value)
{
	std::uint64_t found;

	const int error = unit->flow.read(msr, found);

	if (!error)
		*value = found;
	return error;
}

int pt_unit_write(pt_unit *unit, unsigned int msr, unsigned long long value)
{
	return unit->flow.write(msr, value);
}

void pt_unit_counts(const pt_unit *unit, struct pt_unit_counts *counts)
{
	*counts = unit->flow.counts;
}

int pt_unit_follows(const pt_unit *unit, unsigned long long cr3)
{
	return unit->flow.follows(cr3);
}

void pt_unit_enter(pt_unit *unit, unsigned long long ip, unsigned long long cr3, pt_unit_mode mode)
{
	unit->flow.enter(ip, cr3, mode);
}

void pt_unit_retire(pt_unit *unit, const pt_unit_retired *retired)
{
	unit->flow.retire(*retired);
}

void pt_unit_leave(pt_unit *unit, pt_unit_end end, unsigned long long ip, unsigned int instructions)
{
	unit->flow.leave(end, ip, instructions);
}

int pt_unit_tells_events(const pt_unit *unit)
{
	return unit->flow.tells_events();
}

void pt_unit_event(pt_unit *unit, unsigned int vector, const unsigned long long *address)
{
	unit->flow.note_event(vector, address != nullptr, address ? *address : 0);
}

int pt_unit_tells_power(const pt_unit *unit)
{
	return unit->flow.tells_power();
}

void pt_unit_sleep(pt_unit *unit, unsigned int c_state)
{
	unit->flow.sleep(c_state);
}

void pt_unit_wake(pt_unit *unit)
{
	unit->flow.wake();
}

unsigned long long pt_unit_boundary(const pt_unit *unit, unsigned long long ip)
{
	return unit->flow.boundary(ip);
}

} // extern "C"
