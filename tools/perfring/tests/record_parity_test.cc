// SPDX-License-Identifier: GPL-2.0
/*
 * One program, run twice in the same way, recorded by perf and by perfring: perf says the
 * same about both files. Only page faults in user space are the same each time, with
 * addresses that are not random, an environment that is the same, and files that are cached;
 * so only what comes after env has cleared the environment is looked at.
 */
#include "data_support.hh"

#include <algorithm>
#include <regex>

#include "data/check.hh"

namespace perfring::data {
namespace {

constexpr const char *same_each_time = "setarch -R ";
constexpr const char *program = " -- env -i /bin/ls /usr";

std::string recorder()
{
	return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "perfring";
}

/*
 * Who it was and when is another each time, and how a child is called before its exec.
 * For side-band records we have an event more than perf, which evlist shows.
 */
std::string normalized(const std::string &text)
{
	const std::regex side_band("(^|\n)dummy:u[^\n]*");
	const std::regex numbers("[0-9]+/[0-9]+|[0-9]+:[0-9]+\\)|\\([0-9]+:[0-9]+");
	const std::regex name("\\b(perf-exec|perfring)\\b");
	const std::regex indent("(^|\n) +");

	return std::regex_replace(
		std::regex_replace(
			std::regex_replace(std::regex_replace(without_tip(text), side_band, ""),
					   numbers, "N"),
			name, "child"),
		indent, "$1");
}

constexpr const char *commands[] = {
	"report --stdio --comm ls",
	"report --stdio --comm ls -F sample,period,comm,dso,sym",
	"script --comms ls -F comm,event,ip,sym,dso",
	"script --comms ls -F comm,event,ip,sym,dso --show-mmap-events --show-task-events",
	"evlist",
	"evlist -g",
	"evlist -F",
	"buildid-list --with-hits",
};

class Parity : public testing::TestWithParam<const char *> {
    protected:
	void record()
	{
		const std::string arguments = GetParam();

		ASSERT_EQ(run("/bin/ls /usr").status, 0);

		const Output by_perf = run(same_each_time + ("perf record -q " + arguments) +
					   " -o " + stock + program);
		const Output by_us = run(same_each_time + recorder() + " record " + arguments +
					 " -o " + ours + program);

		ASSERT_EQ(by_perf.status, 0) << by_perf.text;
		ASSERT_EQ(by_us.status, 0) << by_us.text;
	}
	static std::string say(const char *command, const std::string &file)
	{
		const Output output = run(std::string("perf ") + command + " -i " + file);

		EXPECT_EQ(output.status, 0) << output.text;
		return in_fixed_order(command, normalized(output.text));
	}
	bool all_the_same() const
	{
		return std::ranges::all_of(commands, [this](const char *command) {
			return say(command, stock) == say(command, ours);
		});
	}

	Scratch scratch;
	const std::string stock = scratch / "stock", ours = scratch / "ours";
};

/* A machine that is short of memory takes pages away, and there are faults that another run
 * has not: then it is done again. */
TEST_P(Parity, PerfSaysTheSame)
{
	for (int tries = 0; tries < 3; tries++) {
		ASSERT_NO_FATAL_FAILURE(record());
		if (all_the_same())
			break;
	}
	for (const char *const command : commands)
		EXPECT_EQ(say(command, ours), say(command, stock)) << command;

	const Judgement judgement = check(load_file(ours));

	EXPECT_EQ(judgement.verdict, Verdict::whole) << testing::PrintToString(judgement.wrong)
						     << testing::PrintToString(judgement.missing);
}

INSTANTIATE_TEST_SUITE_P(Arguments, Parity,
			 testing::Values("-e page-faults:u -c 1", "-e page-faults:u -c 1 -g",
					 "-e page-faults:u -e minor-faults:u -c 1",
					 "-e page-faults:u -c 3 -d",
					 "-e '{page-faults:u,minor-faults:u}' -c 1"));

} /* namespace */
} /* namespace perfring::data */
