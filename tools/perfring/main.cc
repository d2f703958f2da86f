// SPDX-License-Identifier: GPL-2.0
/*
 * perfring: one program, several commands. Each lives in a file of its own and gets
 * the words behind its name.
 */
#include "commands.hh"

#include <fmt/core.h>

#include <array>
#include <cstring>
#include <exception>
#include <span>
#include <string_view>

namespace {

struct Command {
	std::string_view name;
	int (*run)(int argc, char **argv);
	std::string_view about;
};

constexpr std::array commands = {
	Command{"record", perfring::record_command, "record events into a perf.data file"},
	Command{"check", perfring::check_command, "verify a perf.data file"},
	Command{"stats", perfring::stats_command, "what a perf.data file holds, in numbers"},
};

void usage(FILE *out)
{
	fmt::print(out, "usage: perfring COMMAND [options]\n\n");
	for (const auto &command : commands)
		fmt::print(out, "  {:<8} {}\n", command.name, command.about);
	fmt::print(out, "\nperfring COMMAND --help tells more.\n");
}

} /* namespace */

int main(int argc, char **argv)
{
	const std::string_view wanted = argc > 1 ? argv[1] : "";

	if (wanted == "--help" || wanted == "-h" || wanted == "help") {
		usage(stdout);
		return 0;
	}
	for (const auto &command : commands) {
		if (wanted != command.name)
			continue;
		try {
			return command.run(argc - 1, argv + 1);
		} catch (const std::exception &error) {
			fmt::print(stderr, "perfring {}: {}\n", command.name, error.what());
			return 1;
		}
	}
	if (!wanted.empty())
		fmt::print(stderr, "perfring: there is no command \"{}\"\n", wanted);
	usage(stderr);
	return 2;
}
