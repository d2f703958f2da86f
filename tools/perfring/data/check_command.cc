// SPDX-License-Identifier: GPL-2.0
/* perfring check: is a perf.data file what it should be? */
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "check.hh"
#include "commands.hh"
#include "mapped_file.hh"

namespace perfring {
namespace {

constexpr const char *about = "Verify a perf.data file: its structure, the order of its records, "
			      "what is lost, and whether AUX data are all there.";

constexpr const char *exit_status = R"(Exit status:
  0  whole: nothing is wrong, nothing is missing
  1  damaged: something in it cannot be right
  2  unreadable: no perf.data file, or wrong usage
  3  incomplete: what is there is right, but something was lost)";

void print_all(const char *kind, const std::vector<std::string> &sentences)
{
	for (const auto &sentence : sentences)
		fmt::print("  {:<9}{}\n", kind, sentence);
}

void print(const std::string &path, const data::Judgement &judgement)
{
	const data::Survey &found = judgement.found;
	const data::AuxTotals aux = found.all_aux();

	fmt::print("{}: {}\n", path, data::verdict_name(judgement.verdict));
	print_all("wrong:", judgement.wrong);
	print_all("missing:", judgement.missing);
	print_all("remark:", judgement.remarks);
	if (judgement.verdict == data::Verdict::unreadable)
		return;
	fmt::print("  {} records, {} samples, {} rounds", found.records, found.samples(),
		   found.rounds);
	if (aux.traces)
		fmt::print(", {} AUX bytes in {} pieces for {} AUX records", aux.stored, aux.traces,
			   aux.records);
	fmt::print("\n");
}

} /* namespace */

int check_command(int argc, char **argv)
{
	CLI::App app(about, "perfring check");
	std::string path = "perf.data";
	bool quiet = false;

	app.footer(exit_status);
	app.add_option("file", path, "the file, - for the standard input")->capture_default_str();
	app.add_option("-i,--input", path, "the same, in perf's way");
	app.add_flag("-q,--quiet", quiet, "the exit status says it all");
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return app.exit(error) ? 2 : 0;
	}

	try {
		const data::MappedFile file(path);
		const data::Judgement judgement = data::check(file.bytes());

		if (!quiet)
			print(path, judgement);
		return static_cast<int>(judgement.verdict);
	} catch (const std::exception &error) {
		fmt::print(stderr, "perfring check: {}\n", error.what());
		return static_cast<int>(data::Verdict::unreadable);
	}
}

} /* namespace perfring */
