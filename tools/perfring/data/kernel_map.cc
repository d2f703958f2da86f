// SPDX-License-Identifier: GPL-2.0
#include "kernel_map.hh"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>

#include "system_files.hh"

namespace perfring::data {
namespace {

/* Symbols and their addresses, as far as @wanted. The file has 200,000 lines. */
std::map<std::string, std::uint64_t, std::less<>>
find_symbols(const std::string &path, std::initializer_list<std::string_view> wanted)
{
	const std::unique_ptr<FILE, int (*)(FILE *)> file(fopen(path.c_str(), "re"), fclose);
	std::map<std::string, std::uint64_t, std::less<>> found;
	char *line = nullptr;
	std::size_t room = 0;
	ssize_t length;

	/* "ffffffff81000000 T _text"; a module's have its name behind a tab. */
	while (file && found.size() < wanted.size() &&
	       (length = getline(&line, &room, file.get())) > 0) {
		const std::string_view text = trim({line, static_cast<std::size_t>(length)});
		const auto space = text.rfind(' ');

		if (space == text.npos)
			continue;

		const std::string_view name = text.substr(space + 1);

		if (std::ranges::find(wanted, name) != wanted.end())
			found.emplace(name, std::strtoull(line, nullptr, 16));
	}
	free(line);
	return found;
}

/* In file names a dash and an underscore are the same to module loaders. */
std::string with_underscores(std::string name)
{
	std::ranges::replace(name, '-', '_');
	return name;
}

/* Files of modules by the names of the modules. */
std::map<std::string, std::string> module_files(const std::string &root)
{
	namespace fs = std::filesystem;
	std::map<std::string, std::string> files;
	utsname names{};
	std::error_code error;

	uname(&names);

	const fs::path top = root + "/lib/modules/" + names.release;

	for (fs::recursive_directory_iterator it(top, error), end; !error && it != end;
	     it.increment(error)) {
		const std::string name = it->path().filename();
		const auto suffix = name.find(".ko");

		if (suffix != name.npos && it->is_regular_file(error))
			files.emplace(with_underscores(name.substr(0, suffix)), it->path());
	}
	return files;
}

} /* namespace */

std::optional<KernelText> kernel_text(const std::string &root)
{
	const auto symbols = find_symbols(root + "/proc/kallsyms", {"_text", "_stext", "_etext"});

	for (const char *const name : {"_text", "_stext"}) {
		const auto start = symbols.find(name);

		if (start == symbols.end() || !start->second)
			continue;

		const auto end = symbols.find("_etext");
		const bool known = end != symbols.end() && end->second > start->second;

		return KernelText{start->second, known ? end->second : ~0ULL, name};
	}
	return std::nullopt;
}

std::vector<Module> modules(const std::string &root)
{
	std::istringstream lines(read_file(root + "/proc/modules").value_or(""));
	std::vector<Module> all;
	std::map<std::string, std::string> files;

	/* "ext4 737280 1 - Live 0xffffffffc0200000" and, perhaps, taints */
	for (std::string line; std::getline(lines, line);) {
		std::istringstream words(line);
		std::string name, users, needs, state, address;
		std::uint64_t size = 0;

		if (!(words >> name >> size >> users >> needs >> state >> address))
			continue;

		const std::uint64_t start = std::strtoull(address.c_str(), nullptr, 16);

		if (!start)
			continue;
		if (files.empty())
			files = module_files(root);

		const auto file = files.find(with_underscores(name));

		all.push_back(
			{name, file == files.end() ? "[" + name + "]" : file->second, start, size});
	}
	return all;
}

void synthesize_kernel(const Sink &sink, std::size_t trailer, const std::string &root)
{
	if (const auto text = kernel_text(root))
		sink(kernel_mmap(text->start, text->end - text->start, text->start,
				 "[kernel.kallsyms]" + text->symbol, trailer));
	for (const auto &module : modules(root))
		sink(kernel_mmap(module.start, module.size, 0, module.path, trailer));
}

} /* namespace perfring::data */
