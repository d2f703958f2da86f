// SPDX-License-Identifier: GPL-2.0
/*
 * pt-decode [-s] FOLDER [TASK]: print a task's trace (default "0"): events, errors and
 * the addresses of all instructions, with the file that they are in. With -s, of its
 * single steps instead.
 */
#include "decoder.hh"
#include "steps.hh"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <stdexcept>
#include <unistd.h>

namespace {

using namespace pt_oracle; // NOLINT(google-build-using-namespace): the tool is its own

void print(const Decoded &decoded)
{
	std::size_t event = 0, error = 0;

	for (std::size_t i = 0; i <= decoded.ips.size(); i++) {
		for (; event < decoded.events.size() && decoded.events[event].before == i; event++)
			std::printf("[%s]\n", decoded.events[event].text.c_str());
		for (; error < decoded.errors.size() && decoded.errors[error].before == i; error++)
			std::printf("[error: %s, offset %" PRIu64 "]\n",
				    decoded.errors[error].text.c_str(),
				    decoded.errors[error].offset);
		if (i < decoded.ips.size())
			std::printf("%" PRIx64 "\n", decoded.ips[i]);
	}
}

const TaskLog &find_task(const Manifest &manifest, const std::string &name)
{
	const auto found = std::find_if(manifest.tasks.begin(), manifest.tasks.end(),
					[&](const TaskLog &task) { return task.name == name; });

	if (found == manifest.tasks.end())
		throw std::runtime_error("there is no task " + name);
	return *found;
}

} // namespace

int main(int argc, char **argv)
{
	try {
		const bool steps = argc > 1 && std::string(argv[1]) == "-s";
		const int first = steps ? 2 : 1;

		if (argc <= first)
			throw std::runtime_error("which recording?");
		const std::filesystem::path folder = argv[first];
		const std::string name = argc > first + 1 ? argv[first + 1] : "0";
		const Manifest manifest = read_manifest(folder);
		const TaskLog &task = find_task(manifest, name);

		Decoded decoded;
		if (steps)
			decoded.ips = retirements(read_words(folder / (name + ".steps")),
						  task.spans, Code(folder, manifest));
		else
			decoded = decode(read_bytes(folder / (name + ".aux")),
					 DecoderImages(folder, manifest), task.spans);
		print(decoded);
		return !decoded.errors.empty();
	} catch (const std::exception &error) {
		std::fprintf(stderr, "pt-decode: %s\n", error.what());
		return 2;
	}
}
