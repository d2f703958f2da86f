// SPDX-License-Identifier: GPL-2.0
#include "system_files.hh"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>

namespace perfring::data {
namespace {

constexpr std::string_view white = " \t\r\n";
constexpr unsigned max_listed = 1 << 20; /* more CPUs or nodes than there are */

template <class T> std::optional<T> number(std::string_view text, int base)
{
	T value{};
	const auto [end, error] =
		std::from_chars(text.data(), text.data() + text.size(), value, base);

	if (error != std::errc{} || end == text.data())
		return std::nullopt;
	return value;
}

std::string_view without_0x(std::string_view text)
{
	return text.starts_with("0x") ? text.substr(2) : text;
}

} /* namespace */

std::string_view trim(std::string_view text)
{
	const auto first = text.find_first_not_of(white);

	if (first == text.npos)
		return {};
	return text.substr(first, text.find_last_not_of(white) - first + 1);
}

std::optional<std::string> read_file(const std::string &path)
{
	const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
	std::string text;
	char some[16384];
	ssize_t got;

	if (fd < 0)
		return std::nullopt;
	do {
		got = read(fd, some, sizeof(some));
		if (got > 0)
			text.append(some, static_cast<std::size_t>(got));
	} while (got > 0 || (got < 0 && errno == EINTR));
	close(fd);
	if (got < 0)
		return std::nullopt;
	return text;
}

std::optional<std::string> read_text(const std::string &path)
{
	const auto text = read_file(path);

	if (!text)
		return std::nullopt;
	return std::string(trim(*text));
}

std::optional<std::int64_t> read_number(const std::string &path)
{
	const auto text = read_text(path);

	if (!text)
		return std::nullopt;
	if (text->starts_with("0x"))
		return number<std::int64_t>(without_0x(*text), 16);
	return number<std::int64_t>(*text, 10);
}

std::optional<std::uint64_t> read_hex(const std::string &path)
{
	const auto text = read_text(path);

	if (!text)
		return std::nullopt;
	return number<std::uint64_t>(without_0x(*text), 16);
}

std::vector<unsigned> parse_list(std::string_view list)
{
	std::vector<unsigned> all;

	list = trim(list);
	while (!list.empty()) {
		const auto comma = list.find(',');
		const std::string_view range = list.substr(0, comma);
		const auto dash = range.find('-');
		const auto first = number<unsigned>(range.substr(0, dash), 10);
		const auto last =
			dash == range.npos ? first : number<unsigned>(range.substr(dash + 1), 10);

		if (!first || !last || *last < *first || *last > max_listed)
			break;
		for (unsigned i = *first; i <= *last; i++)
			all.push_back(i);
		if (comma == list.npos)
			break;
		list.remove_prefix(comma + 1);
	}
	return all;
}

std::vector<std::string> list_directory(const std::string &path)
{
	const std::unique_ptr<DIR, int (*)(DIR *)> directory(opendir(path.c_str()), closedir);
	std::vector<std::string> names;

	while (directory) {
		/* The stream is nobody else's. NOLINTNEXTLINE(concurrency-mt-unsafe) */
		const dirent *const entry = readdir(directory.get());

		if (!entry)
			break;

		const std::string_view name = entry->d_name;

		if (name != "." && name != "..")
			names.emplace_back(name);
	}
	std::ranges::sort(names);
	return names;
}

std::optional<std::string> field(std::string_view text, std::string_view key)
{
	while (!text.empty()) {
		const std::string_view line = text.substr(0, text.find('\n'));
		const auto colon = line.find(':');

		if (colon != line.npos && trim(line.substr(0, colon)) == key)
			return std::string(trim(line.substr(colon + 1)));
		text.remove_prefix(std::min(line.size() + 1, text.size()));
	}
	return std::nullopt;
}

} /* namespace perfring::data */
