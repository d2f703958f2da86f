// SPDX-License-Identifier: GPL-2.0
/* Sessions of the interpreter, see interpret.h. */
#include "../../../../../drivers/hwtracing/emu/pt_unit.h"
#include "interpret.hh"

namespace {

using namespace x86_emu; // NOLINT(google-build-using-namespace)

/* By enum x86_kind; of conditional branches those that are taken. */
constexpr pt_unit_class classes[] = {
	PT_UNIT_SEQUENTIAL, PT_UNIT_COND_TAKEN,	   PT_UNIT_COND_TAKEN,	  PT_UNIT_JUMP,
	PT_UNIT_CALL,	    PT_UNIT_INDIRECT_JUMP, PT_UNIT_INDIRECT_CALL, PT_UNIT_RETURN,
	PT_UNIT_SEQUENTIAL, PT_UNIT_SEQUENTIAL,	   PT_UNIT_SEQUENTIAL,	  PT_UNIT_FAR,
	PT_UNIT_SEQUENTIAL, PT_UNIT_PTWRITE,	   PT_UNIT_SEQUENTIAL,	  PT_UNIT_SEQUENTIAL,
};

static_assert(sizeof(classes) / sizeof(classes[0]) == X86_UNKNOWN + 1);
static_assert(classes[X86_COUNTED] == PT_UNIT_COND_TAKEN && classes[X86_RETURN] == PT_UNIT_RETURN &&
	      classes[X86_FAR] == PT_UNIT_FAR && classes[X86_PTWRITE] == PT_UNIT_PTWRITE);

constexpr pt_unit_class class_of(unsigned kind, bool taken)
{
	const pt_unit_class found = classes[kind];

	return found == PT_UNIT_COND_TAKEN && !taken ? PT_UNIT_COND_NOT_TAKEN : found;
}

class Session {
    public:
	explicit Session(x86_session &session)
		: session(session),
		  registers(*session.machine.registers),
		  interpreter(session.machine),
		  told(registers.ip)
	{
		/* Nothing that changes it is carried out. */
		news.mode = session.long_mode ? PT_UNIT_64 : PT_UNIT_32;
	}

	unsigned carry_out()
	{
		const x86_run *run;
		x86_progress progress;
		bool refused;

		for (;;) {
			run = run_at(registers.ip);
			refused = !run || !run->ops;
			if (refused || is_over(*run))
				break;
			interpreter.run_through(*run, progress);
			registers.ip = progress.to;
			retired += progress.instructions;
			session.behind += progress.instructions;
			if (progress.branched)
				tell(class_of(run->end.kind, progress.taken), run->end.ip,
				     run->end.next);
			else if (!session.key)
				tell_rest();
			refused = progress.instructions != run->instructions;
			if (refused || is_awaited())
				break;
		}
		session.refused = refused;
		interpreter.finish();
		if (retired)
			tell_rest();
		return retired;
	}

    private:
	/* User mode has its turn, best where it writes to nothing, which could be code. */
	[[gnu::always_inline]] bool is_over(const x86_run &next) const
	{
		return retired >= session.budget &&
		       (!next.stores || retired >= session.budget + patience);
	}

	[[gnu::always_inline]] const x86_run *run_at(u64 ip) const
	{
		const x86_run *run = x86_runs_slot(session.runs, ip);

		for (int way = 0; way < 2; way++, run++)
			if (run->start == ip && run->checked == session.key && session.key)
				return run;
		return session.find(session.context, ip);
	}

	[[gnu::always_inline]] void tell(pt_unit_class kind, u64 ip, u64 next)
	{
		news.kind = kind;
		news.instructions = session.behind;
		news.ip = ip;
		news.next = next;
		news.to = registers.ip;
		session.behind = 0;
		told = registers.ip;
		pt_unit_retire(session.unit, &news);
	}

	/* What has retired without a branch. */
	void tell_rest()
	{
		if (session.behind)
			tell(PT_UNIT_SEQUENTIAL, told, registers.ip);
	}

	bool is_awaited() const
	{
		return *static_cast<const volatile unsigned char *>(session.interrupt) ||
		       *static_cast<const volatile unsigned long *>(session.work) & session.works;
	}

	static constexpr unsigned patience = 100;

	x86_session &session;
	x86_registers &registers;
	Interpreter interpreter;
	/* Where what has not been told begins. */
	u64 told;
	unsigned retired = 0;
	pt_unit_retired news = {};
};

} // namespace

extern "C" {

void x86_memory_forget(x86_memory *memory)
{
	constexpr unsigned long last = page_size - 1;

	if (memory->generation == last || !memory->generation) {
		for (x86_memory_page &page : memory->pages)
			page = {};
		memory->generation = 1;
		return;
	}
	memory->generation += 2;
}

unsigned x86_session_run(x86_session *session)
{
	return Session(*session).carry_out();
}

void x86_branch_retired(const x86_branch *branch, int taken, unsigned long to,
			pt_unit_retired *retired)
{
	*retired = {};
	retired->kind = class_of(branch->kind, taken != 0);
	retired->ip = branch->ip;
	retired->next = branch->next;
	retired->to = to;
	retired->mode = branch->long_mode ? PT_UNIT_64 : PT_UNIT_32;
	retired->instructions = 1;
}

} // extern "C"
