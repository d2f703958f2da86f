// SPDX-License-Identifier: GPL-2.0
/* Carries out a single run, see interpret.h: for tests, sessions are the kernel's. */
#include "interpret.hh"

extern "C" {

void x86_interpret(x86_machine *machine, const x86_run *run, x86_progress *progress)
{
	x86_emu::Interpreter interpreter(*machine);

	interpreter.run_through(*run, *progress);
	interpreter.finish();
	machine->registers->ip = progress->to;
}

} // extern "C"
