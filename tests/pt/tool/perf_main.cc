// SPDX-License-Identifier: GPL-2.0
/*
 * pt-perf [-d PERF.DATA] [-s] SCRIPT RECORDING: has perf decoded what was executed?
 *
 * SCRIPT is what `perf script --itrace=i1ie -F tid,ip` says. RECORDING is the same
 * program's by pt-record: its code, and with -s its single steps, which perf has to
 * have decoded, one by one. Tasks are paired in the order of their tids. With -d,
 * libipt decodes the bytes in PERF.DATA, which are those of one task, and has to come
 * to the same as perf. Prints
 *
 *	tasks N perf N steps N libipt N differ N errors N
 *
 * and exits like pt-check.
 */
#include "decoder.hh"
#include "perf_data.hh"
#include "steps.hh"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <unistd.h>

namespace {

using namespace pt_oracle; // NOLINT(google-build-using-namespace): the tool is its own

struct Options {
	std::filesystem::path data;
	bool steps = false;
	std::filesystem::path script;
	std::filesystem::path recording;
};

struct Totals {
	std::uint64_t perf = 0;
	std::uint64_t steps = 0;
	std::uint64_t libipt = 0;
	std::uint64_t differ = 0;
	std::uint64_t errors = 0;
};

void compare(const std::string &who, const std::vector<std::uint64_t> &wanted,
	     const std::vector<std::uint64_t> &perf, Totals &totals)
{
	const auto [left, right] =
		std::mismatch(wanted.begin(), wanted.end(), perf.begin(), perf.end());

	if (left == wanted.end() && right == perf.end())
		return;
	totals.differ++;
	const auto at = static_cast<std::size_t>(left - wanted.begin());
	std::printf("# %s and perf differ at instruction %zu of %zu and %zu\n", who.c_str(), at,
		    wanted.size(), perf.size());
	for (std::size_t i = at < 3 ? 0 : at - 3; i < at + 4; i++)
		std::printf("#   %zu  %" PRIx64 "  %" PRIx64 "\n", i,
			    i < wanted.size() ? wanted[i] : 0, i < perf.size() ? perf[i] : 0);
}

void compare_steps(const Options &options, const Manifest &manifest, const Script &script,
		   Totals &totals)
{
	const Code code(options.recording, manifest);
	std::vector<TaskLog> tasks = manifest.tasks;

	std::sort(tasks.begin(), tasks.end(),
		  [](const TaskLog &a, const TaskLog &b) { return a.tid < b.tid; });
	if (tasks.size() != script.tasks.size()) {
		std::printf("# perf knows %zu tasks, %zu have been stepped\n", script.tasks.size(),
			    tasks.size());
		totals.differ++;
		return;
	}
	auto decoded = script.tasks.begin();
	for (const TaskLog &task : tasks) {
		const auto wanted = retirements(
			read_words(options.recording / (task.name + ".steps")), task.spans, code);

		totals.steps += wanted.size();
		compare("steps of task " + task.name, wanted, decoded->second, totals);
		++decoded;
	}
}

void compare_libipt(const Options &options, const Manifest &manifest, const Script &script,
		    Totals &totals)
{
	const DecoderImages images(options.recording, manifest);

	for (const auto &[index, stream] : aux_streams(options.data)) {
		/* The first task's code, as it was last. */
		const Decoded decoded = decode(stream, images, {manifest.tasks[0].spans.back()});

		totals.libipt += decoded.ips.size();
		totals.errors += decoded.errors.size();
		for (const Remark &error : decoded.errors)
			std::printf("# libipt: %s at %" PRIx64 ", offset %" PRIu64 "\n",
				    error.text.c_str(), error.ip, error.offset);
		compare("libipt", decoded.ips, script.tasks.begin()->second, totals);
	}
}

Totals judge(const Options &options)
{
	const Manifest manifest = read_manifest(options.recording);
	const Script script = read_script(options.script);
	Totals totals;

	totals.errors = script.errors;
	for (const auto &[tid, ips] : script.tasks)
		totals.perf += ips.size();
	if (script.tasks.empty())
		std::printf("# perf has decoded nothing\n");
	else if (options.steps)
		compare_steps(options, manifest, script, totals);
	if (!options.data.empty() && !script.tasks.empty())
		compare_libipt(options, manifest, script, totals);
	std::printf("tasks %zu perf %" PRIu64 " steps %" PRIu64 " libipt %" PRIu64
		    " differ %" PRIu64 " errors %" PRIu64 "\n",
		    script.tasks.size(), totals.perf, totals.steps, totals.libipt, totals.differ,
		    totals.errors);
	return totals;
}

Options parse(int argc, char **argv)
{
	Options options;
	int option;

	while ((option = getopt(argc, argv, "d:s")) != -1) {
		if (option == 'd')
			options.data = optarg;
		else if (option == 's')
			options.steps = true;
		else
			throw std::runtime_error("wrong usage, see the head of perf_main.cc");
	}
	if (optind + 2 != argc)
		throw std::runtime_error("give a script and a recording");
	options.script = argv[optind];
	options.recording = argv[optind + 1];
	return options;
}

} // namespace

int main(int argc, char **argv)
{
	try {
		const Totals totals = judge(parse(argc, argv));

		return totals.differ || totals.errors || !totals.perf;
	} catch (const std::exception &error) {
		std::cerr << "pt-perf: " << error.what() << '\n';
		return 2;
	}
}
