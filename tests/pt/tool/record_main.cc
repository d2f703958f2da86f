// SPDX-License-Identifier: GPL-2.0
/*
 * pt-record OPTION... -- PROGRAM [ARGUMENT]...: log a program's execution
 *
 *	-o FOLDER	where to (made if missing)
 *	-s		single-step every task
 *	-t		trace every task with intel_pt, user mode only
 *	-e TERMS	of the event, default pt,branch,tsc
 *	-m KIB		of AUX area for each task, a power of two, default 4096. It is emptied
 *			when a task stops, so without stepping what exceeds it is lost.
 *	-E FILE		environment, as `env -0` prints it, default none
 *
 * Ends with the program's exit status, with 128 + N if signal N ended it, or with 125
 * where it could not be logged.
 */
#include "recorder.hh"

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int cannot = 125;

std::vector<std::string> read_environment(const char *file)
{
	std::ifstream in(file);
	std::vector<std::string> all;
	std::string one;

	if (!in)
		throw std::runtime_error("cannot read " + std::string(file));
	while (std::getline(in, one, '\0'))
		all.push_back(one);
	return all;
}

pt_oracle::RecorderOptions parse(int argc, char **argv)
{
	pt_oracle::RecorderOptions options;
	std::string terms = "pt,branch,tsc";
	int option;

	options.aux_size = 4U << 20;
	while ((option = getopt(argc, argv, "+o:ste:m:E:")) != -1) {
		switch (option) {
		case 'o':
			options.folder = optarg;
			break;
		case 's':
			options.step = true;
			break;
		case 't':
			options.trace = true;
			break;
		case 'e':
			terms = optarg;
			break;
		case 'm':
			options.aux_size = std::stoul(optarg) << 10;
			break;
		case 'E':
			options.environment = read_environment(optarg);
			break;
		default:
			throw std::runtime_error("wrong usage, see the head of record_main.cc");
		}
	}
	options.command.assign(argv + optind, argv + argc);
	if (options.folder.empty() || options.command.empty())
		throw std::runtime_error("give -o FOLDER and a program");
	if (options.trace)
		options.config = pt_oracle::pt_config(terms);
	std::filesystem::create_directories(options.folder);
	return options;
}

} // namespace

int main(int argc, char **argv)
{
	try {
		const pt_oracle::RecorderOptions options = parse(argc, argv);
		const int status = pt_oracle::Recorder(options).run().exit_status;

		return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	} catch (const std::exception &error) {
		std::cerr << "pt-record: " << error.what() << '\n';
		return cannot;
	}
}
