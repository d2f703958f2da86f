// SPDX-License-Identifier: GPL-2.0
/* Runs of instructions up to the next branch. */
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "branch.h"

namespace {

constexpr unsigned long no_limit = ~0ul;

/* As the stepper builds it. */
x86_run build(const std::vector<unsigned char> &code, unsigned long limit = no_limit,
	      unsigned long start = 0x1000)
{
	x86_run run = {};
	x86_decoded decoded;
	const auto n = static_cast<unsigned>(std::min<std::size_t>(code.size(), X86_RUN_BYTES));

	std::copy_n(code.begin(), n, run.code);
	x86_run_begin(&run, start, 2);
	do {
		x86_decode(run.code + run.bytes, n - run.bytes, 1, &decoded);
	} while (x86_run_add(&run, &decoded, limit));
	return run;
}

TEST(Run, TablesFitTheMemoryThatThereIsForThem)
{
	EXPECT_EQ(x86_runs_order(0), static_cast<unsigned>(X86_RUNS_LEAST));
	EXPECT_EQ(x86_runs_order(~0ull), static_cast<unsigned>(X86_RUNS_MOST));
	for (unsigned order = X86_RUNS_LEAST + 1; order <= X86_RUNS_MOST; order++) {
		const unsigned long long bytes = sizeof(x86_run) << order;

		EXPECT_EQ(x86_runs_order(bytes), order);
		EXPECT_EQ(x86_runs_order(bytes - 1), order - 1);
	}
}

TEST(Run, EndsWithItsBranch)
{
	const x86_run run = build({0x90, 0x48, 0x89, 0xc8, 0xeb, 0xfe, 0x90});

	EXPECT_EQ(run.end.kind, X86_JUMP);
	EXPECT_EQ(run.end.ip, 0x1004u);
	EXPECT_EQ(run.instructions, 3);
	EXPECT_EQ(run.bytes, 6);
}

TEST(Run, SaysHowManyCameBefore)
{
	const x86_run run = build({0x90, 0x48, 0x89, 0xc8, 0xeb, 0xfe});

	EXPECT_EQ(x86_run_before(&run, 0xfff), -1);
	EXPECT_EQ(x86_run_before(&run, 0x1000), 0);
	EXPECT_EQ(x86_run_before(&run, 0x1001), 1);
	EXPECT_EQ(x86_run_before(&run, 0x1002), -1);
	EXPECT_EQ(x86_run_before(&run, 0x1003), -1);
	EXPECT_EQ(x86_run_before(&run, 0x1004), 2);
	EXPECT_EQ(x86_run_before(&run, 0x1005), -1);
	EXPECT_EQ(x86_run_before(&run, 0x1006), -1); /* behind a branch */
}

TEST(Run, IsCutWhereThereIsNothingToRead)
{
	const x86_run run = build({0x90, 0x90, 0xe8, 1});

	EXPECT_EQ(run.end.kind, X86_PLAIN);
	EXPECT_EQ(run.end.ip, 0x1002u);
	EXPECT_EQ(run.instructions, 2);
	EXPECT_EQ(x86_run_before(&run, 0x1002), 2); /* execution does come there */
}

TEST(Run, HasNoBytesWhereItsFirstInstructionIsNone)
{
	EXPECT_EQ(build({0xe8, 1}).bytes, 0);
	EXPECT_EQ(build({}).bytes, 0);
}

TEST(Run, IsNeverLongerThanItsBytes)
{
	for (unsigned length = 1; length <= 15; length++) {
		std::vector<unsigned char> code;

		while (code.size() < 200) {
			code.insert(code.end(), length - 1, 0x66);
			code.push_back(0x90);
		}
		const x86_run run = build(code);

		EXPECT_LE(run.bytes, X86_RUN_BYTES);
		EXPECT_TRUE(run.bytes + 15 > X86_RUN_BYTES - 15 || run.instructions == X86_RUN_OPS);
		EXPECT_EQ(run.bytes, run.instructions * length);
		EXPECT_EQ(run.end.kind, X86_PLAIN);
		for (unsigned i = 0; i <= run.instructions; i++)
			EXPECT_EQ(x86_run_before(&run, 0x1000 + i * length), static_cast<int>(i));
	}
}

TEST(Run, EndsAtItsLimit)
{
	const std::vector<unsigned char> code = {0x90, 0x48, 0x89, 0xc8, 0x90, 0x90, 0xc3};

	EXPECT_EQ(build(code, 0x1001).end.ip, 0x1001u);
	EXPECT_EQ(build(code, 0x1002).end.ip, 0x1004u); /* the first at or above */
	EXPECT_EQ(build(code, 0x1004).end.ip, 0x1004u);
	EXPECT_EQ(build(code, 0x1006).end.kind, X86_PLAIN);
	EXPECT_EQ(build(code, 0x1007).end.kind, X86_RETURN);
}

TEST(Run, SlotsOfNeighboursDiffer)
{
	std::vector<x86_run> slots(1 << 8);
	const x86_runs runs = {slots.data(), 8};
	std::vector<unsigned> used(slots.size());

	for (unsigned long ip = 0x401000; ip < 0x401000 + 4 * slots.size(); ip += 4)
		used[static_cast<std::size_t>(x86_runs_slot(&runs, ip) - slots.data())]++;
	for (unsigned n : used)
		EXPECT_LE(n, 12u);
}

} // namespace
