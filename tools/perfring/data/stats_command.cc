// SPDX-License-Identifier: GPL-2.0
/* perfring stats: what is in a perf.data file, in numbers and as a picture. */
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <fstream>

#include "check.hh"
#include "commands.hh"
#include "mapped_file.hh"
#include "picture.hh"

namespace perfring {
namespace {

void print_events(const data::Survey &found)
{
	fmt::print("{:>12} {:>14} {:>12} {:>12} {:>9}  {}\n", "samples", "bytes", "ring lost",
		   "lost", "throttled", "event");
	for (const auto &event : found.events)
		fmt::print("{:>12} {:>14} {:>12} {:>12} {:>9}  {}\n", event.samples.count,
			   event.samples.bytes, event.lost_records, event.lost_samples,
			   event.throttled, event.name);
}

void print_cpus(const data::Survey &found)
{
	if (found.cpus.empty())
		return;
	fmt::print("\n{:>12} {:>14} {:>12} {:>12} {:>9}  CPU\n", "samples", "bytes", "ring lost",
		   "lost", "others");
	for (const auto &[number, cpu] : found.cpus)
		fmt::print("{:>12} {:>14} {:>12} {:>12} {:>9}  {}\n", cpu.samples.count,
			   cpu.samples.bytes + cpu.others.bytes, cpu.lost_records, cpu.lost_samples,
			   cpu.others.count, number);
}

void print_types(const data::Survey &found)
{
	fmt::print("\n{:>12} {:>14}  record\n", "count", "bytes");
	for (const auto &[type, amount] : found.types)
		fmt::print("{:>12} {:>14}  {}\n", amount.count, amount.bytes,
			   data::record_name(type).value_or(fmt::format("type {}", type)));
}

/* Each cause by itself: they overlap, and their sum would mean nothing. */
void print_causes(const data::Survey &found)
{
	const data::AuxTotals aux = found.all_aux();
	const auto line = [](std::uint64_t count, const char *cause) {
		if (count)
			fmt::print("{:>12}  {}\n", count, cause);
	};

	fmt::print("\n{:>12}  cause of loss\n", "count");
	line(found.lost_records(), "records: ring full (LOST)");
	line(found.lost_samples(), "samples: the events' own count (LOST_SAMPLES)");
	line(found.bpf_lost, "samples: dropped by a BPF filter");
	line(aux.lost, "AUX bytes: said by the kernel");
	line(aux.truncated, "AUX records: truncated, area full");
	line(aux.partial, "AUX records: partial, gaps in the trace");
	if (!found.snapshots)
		line(aux.missing, "AUX bytes: announced, not in the file");
	if (found.lost_records() + found.lost_samples() + aux.lost + aux.truncated + aux.partial +
		    (found.snapshots ? 0 : aux.missing) ==
	    0)
		fmt::print("{:>12}  nothing was lost\n", 0);
}

void print_aux(const data::Survey &found)
{
	if (found.aux.empty())
		return;
	fmt::print("\n{:>12} {:>14} {:>12} {:>12}  AUX area\n", "records", "announced", "stored",
		   "missing");
	for (const auto &[buffer, totals] : found.aux)
		fmt::print("{:>12} {:>14} {:>12} {:>12}  {}\n", totals.records, totals.announced,
			   totals.stored, totals.missing, buffer);
}

void print_time(const data::Survey &found)
{
	if (found.first_time > found.last_time)
		return;
	fmt::print("\n{:.6f} s from the first to the last record\n",
		   static_cast<double>(found.last_time - found.first_time) / 1e9);
}

void print_all(const data::Survey &found)
{
	print_events(found);
	print_cpus(found);
	print_types(found);
	print_aux(found);
	print_causes(found);
	print_time(found);
}

void write_report(const std::string &to, data::ByteView file, const std::string &title)
{
	std::ofstream out(to, std::ios::binary);

	out << data::picture(file, title);
	out.close();
	if (!out)
		throw std::runtime_error("cannot write " + to);
}

} /* namespace */

int stats_command(int argc, char **argv)
{
	CLI::App app("What a perf.data file holds: by event, by CPU, by type of record, and what "
		     "was lost, by cause.",
		     "perfring stats");
	std::string path = "perf.data", report;

	app.footer("Exit status: 0, 1 if reading ends before the file does, 2 if it cannot be "
		   "read at all.");
	app.add_option("file", path, "the file, - for the standard input")->capture_default_str();
	app.add_option("-i,--input", path, "the same, in perf's way");
	app.add_option("--report", report, "write a picture too, one HTML file");
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return app.exit(error) ? 2 : 0;
	}

	try {
		const data::MappedFile file(path);
		data::Reader reader(file.bytes());

		if (reader.fault()) {
			fmt::print(stderr, "perfring stats: {}: {}\n", path, reader.fault()->what);
			return 2;
		}
		print_all(data::survey(reader));
		if (!report.empty())
			write_report(report, file.bytes(), path);
		if (!reader.fault())
			return 0;
		fmt::print(stderr, "perfring stats: {}: at {:#x}: {}\n", path,
			   reader.fault()->offset, reader.fault()->what);
		return 1;
	} catch (const std::exception &error) {
		fmt::print(stderr, "perfring stats: {}\n", error.what());
		return 2;
	}
}

} /* namespace perfring */
