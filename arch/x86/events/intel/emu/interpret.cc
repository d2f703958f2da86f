// SPDX-License-Identifier: GPL-2.0
/* Carries out a single run, see interpret.h. */
#include "interpret.hh"

extern "C" {

void x86_interpret(x86_machine *machine, const x86_run *run, x86_progress *progress)
{
	x86_emu::Interpreter(*machine).run_through(*run, *progress);
	machine->registers->ip = progress->to;
}

void x86_flags_settle(x86_machine *machine)
{
	x86_emu::Flags(*machine).settle();
}

} // extern "C"
