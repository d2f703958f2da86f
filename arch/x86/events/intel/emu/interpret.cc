// SPDX-License-Identifier: GPL-2.0
/* Carries out a single run, see interpret.h. */
#include "interpret.hh"

extern "C" {

void x86_interpret(x86_machine *machine, const x86_run *run, x86_progress *progress)
{
	x86_emu::Interpreter interpreter(*machine);

	interpreter.run_through(*run, *progress);
	interpreter.finish();
	machine->registers->ip = progress->to;
}

void x86_memory_forget(x86_memory *memory)
{
	constexpr unsigned long last = x86_emu::page_size - 1;

	if (memory->generation == last || !memory->generation) {
		for (x86_memory_page &page : memory->pages)
			page = {};
		memory->generation = 1;
		return;
	}
	memory->generation += 2;
}

} // extern "C"
