// SPDX-License-Identifier: GPL-2.0
/* perfring record: its command line. */
#include "commands.hh"
#include "recording.hh"
#include "text.hh"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include <bit>
#include <ctime>

namespace perfring {
namespace {

using record::CallGraph;
using record::number;
using record::number_list;
using record::RecordOptions;
using record::size_in_bytes;
using record::split;
using record::Threads;
using record::UserError;

/* As they are written, before they are understood. */
struct Words {
	std::string cpus, processes, threads, mmap, call_graph, clock, size, dirty, memory,
		duration;
	std::string compression, aio, switch_output, frequency, period, snapshot;
	bool graph = false;
	bool no_inherit = false;
	bool io_uring = false;
	bool no_realtime = false;
	bool all_threads = false;
	int delay = 0;
	std::string threads_mode;
};

std::size_t page_size()
{
	return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::vector<pid_t> ids(const std::string &text, const char *option)
{
	std::vector<pid_t> list;

	for (const auto part : text.empty() ? std::vector<std::string_view>{} : split(text, ',')) {
		const auto id = number(record::trim(part));

		if (!id || *id == 0 || *id > INT32_MAX)
			throw UserError(fmt::format("{}: \"{}\" is not a process or thread id",
						    option, part));
		list.push_back(static_cast<pid_t>(*id));
	}
	return list;
}

std::uint64_t size(const std::string &text, const char *option, std::uint64_t unit)
{
	const auto bytes = size_in_bytes(text, unit);

	if (!bytes || !*bytes)
		throw UserError(
			fmt::format("{}: \"{}\" is no size; 512K, 16M and 2G are", option, text));
	return *bytes;
}

/* A number, or nothing, which stands for another. */
std::uint64_t in_range(const std::string &text, std::uint64_t otherwise, std::uint64_t least,
		       std::uint64_t most, const char *option)
{
	const auto value = text.empty() ? otherwise : number(text);

	if (!value || *value < least || *value > most)
		throw UserError(
			fmt::format("{} takes {} to {}, not \"{}\"", option, least, most, text));
	return *value;
}

double seconds(const std::string &text, const char *option)
{
	const bool milli = text.ends_with("ms");
	const std::string digits = text.substr(0, text.size() - (milli		       ? 2
								 : text.ends_with("s") ? 1
										       : 0));
	char *end = nullptr;
	const double value = std::strtod(digits.c_str(), &end);

	if (digits.empty() || *end || !(value > 0))
		throw UserError(
			fmt::format("{}: \"{}\" is no time; 2.5, 10s and 300ms are", option, text));
	return milli ? value / 1000 : value;
}

/* Ring sizes: pages, or bytes with a letter; rounded up to a power of two. */
std::size_t pages(std::string_view text)
{
	const std::uint64_t bytes = size(std::string(text), "-m", page_size());
	const std::uint64_t number_of = (bytes + page_size() - 1) / page_size();

	if (number_of > 1ULL << 31)
		throw UserError("-m: that is more than a ring can be");
	return static_cast<std::size_t>(std::bit_ceil(number_of));
}

void mmap_sizes(const Words &words, RecordOptions &options)
{
	if (words.mmap.empty())
		return;
	const auto parts = split(words.mmap, ',');

	if (parts.size() > 2)
		throw UserError("-m takes the data ring's size and the AUX area's: -m 128,4M");
	if (!parts[0].empty())
		options.data_pages = pages(parts[0]);
	if (parts.size() == 2)
		options.aux_bytes = pages(parts[1]) * page_size();
}

void call_graph(const Words &words, RecordOptions &options)
{
	if (words.graph)
		options.call_graph = CallGraph::fp;
	if (words.call_graph.empty())
		return;
	const auto parts = split(words.call_graph, ',');

	if (parts[0] == "fp") {
		options.call_graph = CallGraph::fp;
	} else if (parts[0] == "dwarf") {
		options.call_graph = CallGraph::dwarf;
		if (parts.size() > 1) {
			const auto bytes = size(std::string(parts[1]), "--call-graph", 1);

			/* The kernel takes multiples of 8 that fit into a record. */
			if (bytes > 65528 - 8)
				throw UserError(
					"--call-graph dwarf: a stack dump has at most 65520 bytes");
			options.stack_bytes = static_cast<std::uint32_t>((bytes + 7) & ~7ULL);
		}
	} else {
		throw UserError(fmt::format("--call-graph takes fp or dwarf[,BYTES], not {}",
					    words.call_graph));
	}
}

int clock_number(const std::string &name)
{
	struct Clock {
		const char *name;
		int number;
	};
	constexpr Clock clocks[] = {
		{"monotonic", CLOCK_MONOTONIC},
		{"mono", CLOCK_MONOTONIC},
		{"monotonic_raw", CLOCK_MONOTONIC_RAW},
		{"raw", CLOCK_MONOTONIC_RAW},
		{"realtime", CLOCK_REALTIME},
		{"real", CLOCK_REALTIME},
		{"boottime", CLOCK_BOOTTIME},
		{"boot", CLOCK_BOOTTIME},
		{"tai", CLOCK_TAI},
	};
	std::string_view bare = name;

	if (bare.starts_with("CLOCK_") || bare.starts_with("clock_"))
		bare.remove_prefix(6);
	for (const auto &clock : clocks)
		if (CLI::detail::to_lower(std::string(bare)) == clock.name)
			return clock.number;
	const auto value = number(bare);

	if (!value || *value > 64)
		throw UserError(
			fmt::format("--clockid: there is no clock \"{}\"; there are monotonic, "
				    "monotonic_raw, realtime, boottime, tai",
				    name));
	return static_cast<int>(*value);
}

void switching(const Words &words, RecordOptions &options)
{
	const std::string &how = words.switch_output;

	if (!options.switch_output || how.empty() || how == "signal")
		return;
	if (how.ends_with("s"))
		options.switch_seconds = seconds(how, "--switch-output");
	else
		options.switch_bytes = size(how, "--switch-output", 1);
}

void rates(const Words &words, RecordOptions &options)
{
	if (!words.period.empty()) {
		options.period = number(words.period);
		if (!options.period || !*options.period)
			throw UserError(fmt::format("-c: \"{}\" is no period", words.period));
	}
	if (words.frequency == "max") {
		const auto most = record::read_text("/proc/sys/kernel/perf_event_max_sample_rate");

		options.frequency = number(most.value_or("4000"));
	} else if (!words.frequency.empty()) {
		options.frequency = number(words.frequency);
		if (!options.frequency || !*options.frequency)
			throw UserError(fmt::format("-F: \"{}\" is no frequency", words.frequency));
	}
	if (options.period && options.frequency)
		throw UserError("-c and -F exclude each other");
}

/* What is left to be checked when all is known. */
void check(const RecordOptions &options)
{
	const bool tasks = !options.processes.empty() || !options.threads.empty();

	if (options.per_thread && !options.for_tasks())
		throw UserError("--per-thread is about tasks, -a and -C are about CPUs");
	if (tasks && !options.for_tasks())
		throw UserError("-p and -t choose tasks, -a and -C choose CPUs: one of both");
	if (!tasks && options.command.empty() && options.for_tasks())
		throw UserError("nothing to record: give a command, or -a, -C, -p or -t");
	if (options.to_stdout() && options.switch_output)
		throw UserError("-o - and --switch-output exclude each other");
	if (options.snapshot && options.aux_bytes == 0U)
		throw UserError("-S needs an AUX area");
}

void understand(const Words &words, RecordOptions &options)
{
	if (options.events.empty()) {
		options.events.emplace_back("cycles:P");
		options.filters.emplace_back();
	}
	if (!words.cpus.empty()) {
		options.cpus = number_list(words.cpus);
		if (!options.cpus)
			throw UserError(fmt::format("-C: \"{}\" is no list of CPUs", words.cpus));
	}
	options.processes = ids(words.processes, "-p");
	options.threads = ids(words.threads, "-t");
	rates(words, options);
	mmap_sizes(words, options);
	call_graph(words, options);
	if (!words.clock.empty())
		options.clockid = clock_number(words.clock);
	if (!words.size.empty())
		options.most_bytes = size(words.size, "--max-size", 1);
	if (!words.dirty.empty())
		options.dirty_limit = size(words.dirty, "--dirty-limit", 1);
	if (!words.memory.empty())
		options.memory = size(words.memory, "--memory", 1);
	if (!words.duration.empty())
		options.duration = seconds(words.duration, "--duration");
	switching(words, options);
	options.inherit = !words.no_inherit;
	options.realtime = !words.no_realtime;
	if (words.threads_mode == "one")
		options.recorders = Threads::one;
	else if (words.threads_mode == "node")
		options.recorders = Threads::node;
	else if (!words.threads_mode.empty() && words.threads_mode != "cpu")
		throw UserError("--threads takes cpu, node or one");
	if (!words.snapshot.empty() && words.snapshot != "e")
		throw UserError("-S takes nothing, or e: a snapshot at the end as well");
	options.snapshot_at_exit = words.snapshot == "e";
	check(options);
}

/* A filter belongs to the event before it. */
void add_events(CLI::App &app, RecordOptions &options)
{
	app.add_option_function<std::string>(
		   "-e,--event",
		   [&](const std::string &one) {
			   options.events.push_back(one);
			   options.filters.emplace_back();
		   },
		   "event, as perf names it; may be repeated")
		->trigger_on_parse()
		->type_name("EVENT");
	app.add_option_function<std::string>(
		   "--filter",
		   [&](const std::string &one) {
			   if (options.filters.empty())
				   throw UserError(
					   "--filter stands behind the event that it is for");
			   options.filters.back() = one;
		   },
		   "filter of the event before it, in the kernel's words")
		->trigger_on_parse()
		->type_name("FILTER");
}

void add_targets(CLI::App &app, Words &words, RecordOptions &options)
{
	const char *group = "For whom";

	app.add_flag("-a,--all-cpus", options.system_wide, "the whole system")->group(group);
	app.add_option("-C,--cpu", words.cpus, "these CPUs: 0-3,8")->group(group);
	app.add_option("-p,--pid", words.processes, "all threads of these processes")->group(group);
	app.add_option("-t,--tid", words.threads, "these threads")->group(group);
	app.add_flag("--per-thread", options.per_thread,
		     "one ring for each thread, not for each CPU")
		->group(group);
	app.add_flag("-i,--no-inherit", words.no_inherit, "not their children")->group(group);
}

void add_contents(CLI::App &app, Words &words, RecordOptions &options)
{
	const char *group = "What";

	app.add_option("-c,--count", words.period, "a sample each so many events")->group(group);
	app.add_option("-F,--freq", words.frequency, "samples a second, or max [4000]")
		->group(group);
	app.add_flag("-g", words.graph, "call chains, by frame pointers")->group(group);
	app.add_option("--call-graph", words.call_graph, "fp, or dwarf[,BYTES] of stack")
		->group(group);
	app.add_flag("-d,--data", options.sample_address, "addresses of data")->group(group);
	app.add_flag("-P,--period", options.sample_period, "the period in each sample")
		->group(group);
	app.add_flag("--sample-cpu", options.sample_cpu, "the CPU in each sample")->group(group);
	app.add_flag("-R,--raw-samples", options.raw_samples, "raw data in each sample")
		->group(group);
	app.add_option("-k,--clockid", words.clock, "clock of the times: monotonic, realtime ...")
		->group(group);
}

void add_ways(CLI::App &app, Words &words, RecordOptions &options)
{
	const char *group = "How";

	app.add_option("-m,--mmap-pages", words.mmap,
		       "size of each ring and AUX area: pages, or bytes with a letter [512K,4M]")
		->group(group)
		->type_name("DATA[,AUX]");
	app.add_option("--threads", words.threads_mode,
		       "recording threads: cpu, one on each CPU (default), node, or one")
		->group(group)
		->expected(0, 1);
	app.add_flag("--no-realtime", words.no_realtime, "do not come before all ordinary tasks")
		->group(group);
	app.add_flag("--io-uring", words.io_uring,
		     "write by io_uring (default, where there is one)")
		->group(group);
	app.add_option("--aio", words.aio, "write by POSIX AIO, so many at a time [4]")
		->group(group)
		->expected(0, 1);
	app.add_option("--memory", words.memory, "most memory for data on the way [1/16 of all]")
		->group(group);
	app.add_option("--dirty-limit", words.dirty,
		       "most data in the page cache that the disk has not got [1/8 of all memory]")
		->group(group);
	app.add_option("-z,--compression-level", words.compression, "compress with zstd [1]")
		->group(group)
		->expected(0, 1);
	app.add_flag("--overwrite", options.overwrite,
		     "rings keep the youngest, and are read at the end")
		->group(group);
	app.add_option("-S,--snapshot", words.snapshot,
		       "AUX areas overwrite; a snapshot at each SIGUSR2; e: at the end, too")
		->group(group)
		->expected(0, 1);
}

void add_output(CLI::App &app, Words &words, RecordOptions &options)
{
	const char *group = "Where to, how long";

	app.add_option("-o,--output", options.output, "file, or - for stdout [perf.data]")
		->group(group);
	app.add_option("--duration", words.duration, "end after so long")->group(group);
	app.add_option("--max-size", words.size, "end at this size of the output")->group(group);
	app.add_option("--switch-output", words.switch_output,
		       "begin a new file: at SIGUSR2, or after a size (100M) or a time (30s)")
		->group(group)
		->expected(0, 1);
	app.add_option("--switch-max-files", options.switch_files, "keep only so many of them")
		->group(group);
	app.add_option("-D,--delay", words.delay, "begin after so many milliseconds; -1: when told")
		->group(group);
	app.add_option("--control", options.control, "commands from fd:CTL[,ACK] or fifo:CTL[,ACK]")
		->group(group);
	app.add_flag("--fail-on-loss", options.fail_on_loss, "exit with 3 if anything was lost")
		->group(group);
	app.add_option("--report", options.report,
		       "a picture of fill and loss over time: SVG or HTML")
		->group(group);
	app.add_flag("-q,--quiet", options.quiet, "say nothing but errors")->group(group);
	app.add_flag("-v,--verbose", options.verbose, "say more")->group(group);
}

} /* namespace */

int record_command(int argc, char **argv)
{
	CLI::App app("Records events into a perf.data file and counts what could not be kept.",
		     "perfring record");
	std::vector<std::string> line;
	RecordOptions options;
	Words words;

	line.emplace_back("perfring");
	line.insert(line.end(), argv, argv + argc);
	add_events(app, options);
	add_targets(app, words, options);
	add_contents(app, words, options);
	add_ways(app, words, options);
	add_output(app, words, options);
	app.positionals_at_end(false);
	app.prefix_command();
	try {
		app.parse(argc, argv);
		const auto rest = app.remaining();

		options.command.insert(options.command.end(), rest.begin(), rest.end());
		if (!options.command.empty() && options.command.front() == "--")
			options.command.erase(options.command.begin());
		options.snapshot = app.count("--snapshot") > 0;
		options.switch_output = app.count("--switch-output") > 0;
		if (app.count("--delay"))
			options.delay = words.delay;
		if (app.count("--compression-level"))
			options.compression_level =
				static_cast<int>(in_range(words.compression, 1, 1, 22, "-z"));
		if (app.count("--aio")) {
			options.queue = record::QueueKind::aio;
			options.depth =
				static_cast<unsigned>(in_range(words.aio, 4, 1, 1024, "--aio"));
		}
		options.queue_chosen = words.io_uring;
		understand(words, options);
		return record::Recording(std::move(options), std::move(line)).run();
	} catch (const CLI::ParseError &error) {
		return app.exit(error) ? 2 : 0;
	} catch (const UserError &error) {
		fmt::print(stderr, "perfring record: {}\n", error.what());
		return 1;
	}
}

} /* namespace perfring */
