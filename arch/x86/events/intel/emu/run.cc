// SPDX-License-Identifier: GPL-2.0
/* Runs of instructions, see branch.h. */
#include "branch.h"

namespace {

/* Room for one more instruction of any length. */
constexpr unsigned longest = 15;

/* A branch to where nobody can go, or a fifth level of tables is needed, is the CPU's. */
bool leads_astray(const x86_branch &branch)
{
	const bool direct =
		branch.kind == X86_COND || branch.kind == X86_JUMP || branch.kind == X86_CALL;

	return direct && (branch.target + (1ul << 47)) >> 48;
}

bool ends_run(unsigned char kind)
{
	return kind != X86_PLAIN;
}

unsigned long run_limit(const x86_run &run)
{
	return run.mode == 2 ? ~0ul : 0xfffffffful;
}

} // namespace

extern "C" {

unsigned x86_runs_order(unsigned long long bytes)
{
	unsigned order = X86_RUNS_LEAST;

	while (order < X86_RUNS_MOST && (sizeof(x86_run) << (order + 1)) <= bytes)
		order++;
	return order;
}

void x86_run_begin(x86_run *run, unsigned long start, unsigned char mode)
{
	run->start = start;
	run->mode = mode;
	run->bytes = 0;
	run->instructions = 0;
	run->begins[0] = run->begins[1] = 0;
	run->ops = run->behind_ops = 0;
	run->checked = 0;
	run->stores = 0;
	x86_run_cut(run);
}

int x86_run_add(x86_run *run, const x86_decoded *decoded, unsigned long limit)
{
	const unsigned long ip = run->start + run->bytes;
	x86_branch branch;

	x86_branch_classify(decoded, ip, &branch);
	/* What cannot be read as an instruction ends the run in front of itself. */
	if (branch.kind == X86_UNKNOWN && run->bytes)
		return 0;
	run->begins[run->bytes / 64] |= 1ull << run->bytes % 64;
	run->bytes = static_cast<unsigned char>(run->bytes + decoded->length);
	run->instructions++;
	if (ends_run(branch.kind)) {
		run->end = branch;
		if (run->ops == run->instructions && leads_astray(branch)) {
			run->ops--;
			run->behind_ops = static_cast<unsigned char>(ip - run->start);
		}
		return 0;
	}
	x86_run_cut(run);
	return run->instructions < X86_RUN_OPS && run->bytes + longest <= X86_RUN_BYTES &&
	       run->start + run->bytes < limit && run->start + run->bytes <= run_limit(*run);
}

void x86_run_cut(x86_run *run)
{
	const unsigned long ip = run->start + run->bytes;

	run->end = {};
	run->end.kind = X86_PLAIN;
	run->end.long_mode = run->mode == 2;
	run->end.ip = run->end.next = ip;
}

int x86_run_before(const x86_run *run, unsigned long ip)
{
	const unsigned long offset = ip - run->start;
	int before = 0;

	if (offset > run->bytes)
		return -1;
	/* Cut off: its end is the instruction behind, to which execution does come. */
	if (offset == run->bytes)
		return run->end.kind == X86_PLAIN ? run->instructions : -1;
	if (!(run->begins[offset / 64] >> offset % 64 & 1))
		return -1;
	for (unsigned long i = 0; i < offset; i++)
		before += static_cast<int>(run->begins[i / 64] >> i % 64 & 1);
	return before;
}

} // extern "C"
