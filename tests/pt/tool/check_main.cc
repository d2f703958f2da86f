// SPDX-License-Identifier: GPL-2.0
/*
 * pt-check [OPTION]... TRACE [STEPS]: is the trace in the folder TRACE what has been
 * executed?
 *
 *	-c FILE		of counts: triples of 8-byte words, the first address, the one
 *			behind the last, and how many instructions have retired there
 *	-C FILE		the same as text, lines "count BEGIN END N", others are skipped
 *	-n NAME		compare only instructions in files whose name has NAME in it
 *	-l		data are missing, and the trace says so: what is left has to be pieces of
 *			the steps, in their order
 *
 * With STEPS, a folder of the same program's single steps (or the same folder), each
 * task's instructions have to be the same, one by one. Prints, over all tasks:
 *
 *	tasks N steps N decoded N differ N errors N overflows N lost N counts N wrong N
 *
 * and what is wrong, in lines that begin with "# ". Exits with 1 if something is, 2 if
 * a recording cannot be read.
 */
#include "decoder.hh"
#include "steps.hh"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace {

using namespace pt_oracle; // NOLINT(google-build-using-namespace): the tool is its own

struct Count {
	std::uint64_t begin = 0;
	std::uint64_t end = 0;
	std::uint64_t wanted = 0;
	std::uint64_t seen = 0;
};

struct Options {
	std::filesystem::path trace;
	std::filesystem::path steps;
	std::string only;
	bool loses = false;
	std::vector<Count> counts;
};

struct Totals {
	std::uint64_t steps = 0;
	std::uint64_t decoded = 0;
	std::uint64_t differ = 0;
	std::uint64_t errors = 0;
	std::uint64_t overflows = 0;
	std::uint64_t lost = 0;
	std::uint64_t wrong = 0; /* counts */
};

/* A recording with all that it takes to read it. */
struct Recording {
	explicit Recording(const std::filesystem::path &where)
		: folder(where),
		  manifest(read_manifest(where)),
		  code(where, manifest)
	{
	}

	std::filesystem::path folder;
	Manifest manifest;
	Code code;
};

std::string file_name(const std::string &path)
{
	return path.substr(path.rfind('/') + 1);
}

/* "401000 a.out+1000", with the code that is there. */
std::string place(const Recording &recording, const TaskLog &task, std::uint64_t ip)
{
	char text[512];

	for (const Span &span : task.spans) {
		const auto code = recording.code.at(span.image, ip);
		std::string bytes;

		if (code.empty())
			continue;
		for (std::size_t i = 0; i < std::min<std::size_t>(8, code.size()); i++) {
			std::snprintf(text, sizeof(text), " %02x", code[i]);
			bytes += text;
		}
		std::snprintf(text, sizeof(text), "%" PRIx64 " %s:%s", ip,
			      file_name(recording.code.name(span.image, ip)).c_str(),
			      bytes.c_str());
		return text;
	}
	std::snprintf(text, sizeof(text), "%" PRIx64, ip);
	return text;
}

/* Leaves only what is in files whose name has @only in it. */
void keep_only(std::vector<std::uint64_t> &ips, const Recording &recording, const TaskLog &task,
	       const std::string &only)
{
	std::vector<Region> regions;

	if (only.empty())
		return;
	for (const Span &span : task.spans)
		for (const Region &region : recording.manifest.images[span.image])
			if (region.name.find(only) != std::string::npos)
				regions.push_back(region);
	std::erase_if(ips, [&](std::uint64_t ip) {
		return std::none_of(regions.begin(), regions.end(), [ip](const Region &region) {
			return ip - region.start < region.size;
		});
	});
}

void show_difference(const Recording &recording, const TaskLog &task,
		     const std::vector<std::uint64_t> &wanted,
		     const std::vector<std::uint64_t> &decoded, std::size_t at)
{
	const std::size_t begin = at < 4 ? 0 : at - 4;

	std::cout << "# task " << task.name << " differs at instruction " << at << " of "
		  << wanted.size() << " stepped, " << decoded.size() << " decoded\n";
	for (std::size_t i = begin; i < at + 4; i++) {
		std::cout << "#   " << i << (i < at ? "   both " : "  steps ")
			  << (i < wanted.size() ? place(recording, task, wanted[i]) : "end");
		if (i >= at)
			std::cout << "   trace "
				  << (i < decoded.size() ? place(recording, task, decoded[i])
							 : "end");
		std::cout << '\n';
	}
}

/* Each piece between two seams has to be found behind the one before. */
bool are_pieces(const std::vector<std::uint64_t> &wanted, const Decoded &decoded)
{
	auto from = wanted.begin();
	std::size_t begin = 0;

	for (std::size_t i = 0; i <= decoded.seams.size(); i++) {
		const std::size_t end =
			i < decoded.seams.size() ? decoded.seams[i] : decoded.ips.size();
		const auto first = decoded.ips.begin() + static_cast<std::ptrdiff_t>(begin);
		const auto last = decoded.ips.begin() + static_cast<std::ptrdiff_t>(end);
		const auto found = std::search(from, wanted.end(), first, last);

		if (first != last && found == wanted.end())
			return false;
		from = found + (last - first);
		begin = end;
	}
	return true;
}

/* One difference shifts all that follows, so a task differs or it does not. */
void compare(const Recording &trace, const TaskLog &task, const Recording &stepped,
	     const Options &options, const Decoded &trace_decoded, Totals &totals)
{
	std::vector<std::uint64_t> decoded = trace_decoded.ips;
	const auto &tasks = stepped.manifest.tasks;
	const auto found = std::find_if(tasks.begin(), tasks.end(), [&](const TaskLog &other) {
		return other.name == task.name && other.stepped;
	});

	if (found == tasks.end()) {
		std::cout << "# task " << task.name << " has not been stepped\n";
		totals.differ++;
		return;
	}
	std::vector<std::uint64_t> wanted = retirements(
		read_words(stepped.folder / (task.name + ".steps")), found->spans, stepped.code);
	if (options.loses) {
		totals.steps += wanted.size();
		totals.differ += !are_pieces(wanted, trace_decoded);
		return;
	}
	keep_only(wanted, stepped, *found, options.only);
	keep_only(decoded, trace, task, options.only);
	totals.steps += wanted.size();
	const auto [left, right] =
		std::mismatch(wanted.begin(), wanted.end(), decoded.begin(), decoded.end());
	if (left == wanted.end() && right == decoded.end())
		return;
	totals.differ++;
	show_difference(trace, task, wanted, decoded,
			static_cast<std::size_t>(left - wanted.begin()));
}

void show_errors(const TaskLog &task, const Decoded &decoded)
{
	std::size_t shown = 0;

	for (const Remark &error : decoded.errors) {
		if (shown++ == 5)
			break;
		std::printf("# task %s: %s at %" PRIx64 ", offset %" PRIu64
			    ", after %zu instructions\n",
			    task.name.c_str(), error.text.c_str(), error.ip, error.offset,
			    error.before);
	}
}

void count(const Decoded &decoded, std::vector<Count> &counts)
{
	for (Count &one : counts)
		one.seen += static_cast<std::uint64_t>(std::count_if(
			decoded.ips.begin(), decoded.ips.end(),
			[&](std::uint64_t ip) { return ip - one.begin < one.end - one.begin; }));
}

void judge_counts(const std::vector<Count> &counts, Totals &totals)
{
	for (const Count &one : counts) {
		if (one.seen == one.wanted)
			continue;
		totals.wrong++;
		std::printf("# in %" PRIx64 "..%" PRIx64 " %" PRIu64
			    " instructions retired, decoded %" PRIu64 "\n",
			    one.begin, one.end, one.wanted, one.seen);
	}
}

Totals judge(Options &options)
{
	const Recording trace(options.trace);
	const DecoderImages images(options.trace, trace.manifest);
	std::unique_ptr<Recording> stepped;
	Totals totals;

	if (!options.steps.empty())
		stepped = std::make_unique<Recording>(options.steps);
	for (const TaskLog &task : trace.manifest.tasks) {
		const auto stream = read_bytes(options.trace / (task.name + ".aux"));
		const Decoded decoded = decode(stream, images, task.spans);

		totals.decoded += decoded.ips.size();
		totals.errors += decoded.errors.size();
		totals.overflows += decoded.overflows;
		totals.lost += task.losses.all();
		show_errors(task, decoded);
		count(decoded, options.counts);
		if (stepped)
			compare(trace, task, *stepped, options, decoded, totals);
	}
	if (stepped && stepped->manifest.tasks.size() != trace.manifest.tasks.size()) {
		std::cout << "# " << stepped->manifest.tasks.size() << " tasks were stepped\n";
		totals.differ++;
	}
	judge_counts(options.counts, totals);
	std::cout << "tasks " << trace.manifest.tasks.size() << " steps " << totals.steps
		  << " decoded " << totals.decoded << " differ " << totals.differ << " errors "
		  << totals.errors << " overflows " << totals.overflows << " lost " << totals.lost
		  << " counts " << options.counts.size() << " wrong " << totals.wrong << '\n';
	return totals;
}

void read_counts(const std::string &file, std::vector<Count> &counts)
{
	const auto words = read_words(file);

	for (std::size_t i = 0; i + 3 <= words.size(); i += 3)
		counts.push_back({words[i], words[i + 1], words[i + 2], 0});
}

void read_printed_counts(const std::string &file, std::vector<Count> &counts)
{
	std::ifstream in(file);
	std::string text, what;

	if (!in)
		throw std::runtime_error("cannot read " + file);
	while (std::getline(in, text)) {
		std::istringstream line(text);
		Count one;

		if (line >> what >> std::hex >> one.begin >> one.end >> std::dec >> one.wanted &&
		    what == "count")
			counts.push_back(one);
	}
}

Options parse(int argc, char **argv)
{
	Options options;
	int option;

	while ((option = getopt(argc, argv, "c:C:n:l")) != -1) {
		switch (option) {
		case 'c':
			read_counts(optarg, options.counts);
			break;
		case 'C':
			read_printed_counts(optarg, options.counts);
			break;
		case 'n':
			options.only = optarg;
			break;
		case 'l':
			options.loses = true;
			break;
		default:
			throw std::runtime_error("wrong usage, see the head of check_main.cc");
		}
	}
	if (optind >= argc)
		throw std::runtime_error("which recording?");
	options.trace = argv[optind];
	if (optind + 1 < argc)
		options.steps = argv[optind + 1];
	return options;
}

} // namespace

int main(int argc, char **argv)
{
	try {
		Options options = parse(argc, argv);
		const Totals totals = judge(options);
		const bool gaps = totals.overflows || totals.lost;

		if (totals.decoded == 0)
			std::cout << "# nothing has been decoded\n";
		return totals.differ || totals.errors || totals.wrong || !totals.decoded ||
		       gaps != options.loses;
	} catch (const std::exception &error) {
		std::cerr << "pt-check: " << error.what() << '\n';
		return 2;
	}
}
