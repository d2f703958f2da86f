// SPDX-License-Identifier: GPL-2.0
/* The stepper's breakpoint among those of the task, see breakpoint.h. */
#include <linux/percpu.h>

#include <asm/debugreg.h>

#include "breakpoint.h"
#include "stepper.h"

static void write_address(unsigned int at, unsigned long address)
{
	switch (at) {
	case 0:
		set_debugreg(address, 0);
		break;
	case 1:
		set_debugreg(address, 1);
		break;
	case 2:
		set_debugreg(address, 2);
		break;
	default:
		set_debugreg(address, 3);
	}
}

static unsigned long read_address(unsigned int at)
{
	unsigned long address;

	switch (at) {
	case 0:
		get_debugreg(address, 0);
		break;
	case 1:
		get_debugreg(address, 1);
		break;
	case 2:
		get_debugreg(address, 2);
		break;
	default:
		get_debugreg(address, 3);
	}
	return address;
}

/* The last breakpoint that nobody uses; HBP_NUM: there is none. */
static unsigned int free_breakpoint(unsigned long others)
{
	unsigned int at = HBP_NUM;

	while (at--) {
		if (!(others & breakpoint_bits(at)))
			return at;
	}
	return HBP_NUM;
}

/* DR7 is read back: whoever else uses a breakpoint leaves it without the stepper's. */
bool stepper_arm(struct stepper *stepper, unsigned long address)
{
	unsigned long others = this_cpu_read(cpu_dr7), wanted, dr7;
	unsigned int at = likely(!others) ? HBP_NUM - 1 : free_breakpoint(others);

	if (at == HBP_NUM)
		return false;
	/* On execution: R/W and LEN are zero. */
	wanted = DR7_FIXED_1 | others | (DR_GLOBAL_ENABLE << (DR_ENABLE_SIZE * at));
	get_debugreg(dr7, 7);
	if (dr7 == wanted && stepper->armed && stepper->slot == at &&
	    stepper->breakpoint == address)
		return true;
	stepper->breakpoint = address;
	stepper->slot = at;
	stepper->armed = true;
	write_address(at, address);
	if (dr7 != wanted)
		set_debugreg(wanted, 7);
	return true;
}

void stepper_disarm(struct stepper *stepper)
{
	unsigned long others = this_cpu_read(cpu_dr7);

	if (!stepper->armed)
		return;
	stepper->armed = false;
	set_debugreg(DR7_FIXED_1 | others, 7);
	if (!(others & breakpoint_bits(stepper->slot)))
		write_address(stepper->slot, 0);
}

bool stepper_is_watched(unsigned long address, bool executed)
{
	unsigned long others = this_cpu_read(cpu_dr7), distance;
	unsigned int at;

	for (at = 0; at < HBP_NUM && others; at++) {
		bool executes = !(others >> (DR_CONTROL_SHIFT + DR_CONTROL_SIZE * at) & 3);

		if (!(others & breakpoint_bits(at)) || executes != executed)
			continue;
		distance = address - read_address(at);
		/* Both are 8 bytes at most. */
		if (executes ? !distance : distance + 8 < 16)
			return true;
	}
	return false;
}
