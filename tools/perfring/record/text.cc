// SPDX-License-Identifier: GPL-2.0
#include "text.hh"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>

namespace perfring::record {

std::optional<std::string> read_text(const std::string &path)
{
	std::ifstream file(path);

	if (!file)
		return std::nullopt;
	std::string text{std::istreambuf_iterator<char>(file), {}};

	if (file.bad())
		return std::nullopt;
	text.erase(text.find_last_not_of(" \t\n") + 1);
	return text;
}

std::optional<std::uint64_t> number(std::string_view text)
{
	std::uint64_t value = 0;
	int base = 10;

	if (text.starts_with("0x") || text.starts_with("0X")) {
		text.remove_prefix(2);
		base = 16;
	}
	const auto [end, error] =
		std::from_chars(text.data(), text.data() + text.size(), value, base);

	if (text.empty() || error != std::errc{} || end != text.data() + text.size())
		return std::nullopt;
	return value;
}

std::optional<std::uint64_t> size_in_bytes(std::string_view text, std::uint64_t unit)
{
	constexpr std::string_view letters = "BKMGT";

	if (text.empty())
		return std::nullopt;
	const char last = static_cast<char>(text.back() & ~0x20);

	if (const auto power = letters.find(last); power != std::string_view::npos) {
		unit = 1ULL << (10 * power);
		text.remove_suffix(1);
	}
	const auto value = number(text);

	if (!value || *value > UINT64_MAX / unit)
		return std::nullopt;
	return *value * unit;
}

std::vector<std::string_view> split(std::string_view text, char by)
{
	std::vector<std::string_view> parts;

	for (;;) {
		const std::size_t at = text.find(by);

		parts.push_back(text.substr(0, at));
		if (at == std::string_view::npos)
			return parts;
		text.remove_prefix(at + 1);
	}
}

std::string_view trim(std::string_view text)
{
	const std::size_t first = text.find_first_not_of(" \t\n");

	if (first == std::string_view::npos)
		return {};
	return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::optional<std::vector<int>> number_list(std::string_view text)
{
	constexpr std::uint64_t most = 1 << 20;
	std::vector<int> numbers;

	for (const auto part : split(text, ',')) {
		const std::size_t dash = part.find('-');
		const auto first = number(trim(part.substr(0, dash)));
		const auto last = dash == std::string_view::npos
					  ? first
					  : number(trim(part.substr(dash + 1)));

		if (!first || !last || *first > *last || *last > most)
			return std::nullopt;
		for (std::uint64_t i = *first; i <= *last; i++)
			numbers.push_back(static_cast<int>(i));
	}
	std::sort(numbers.begin(), numbers.end());
	numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
	return numbers;
}

std::string error_text(int error)
{
	return std::generic_category().message(error);
}

std::string human_bytes(double bytes)
{
	constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
	std::size_t unit = 0;

	while (bytes >= 1024 && unit + 1 < units.size()) {
		bytes /= 1024;
		unit++;
	}
	return fmt::format("{:.{}f} {}", bytes, bytes >= 100 || unit == 0 ? 0 : 1, units[unit]);
}

} /* namespace perfring::record */
