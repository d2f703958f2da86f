// SPDX-License-Identifier: GPL-2.0
#include "pmu.hh"

#include "text.hh"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>

namespace perfring::record {
namespace {

constexpr std::array<std::string_view, 4> words = {"config", "config1", "config2", "config3"};

/* PMUs whose events write traces. Nothing in sysfs says so. */
constexpr std::array<std::string_view, 7> trace_pmus = {
	"intel_pt", "intel_bts", "cs_etm", "arm_spe", "aux_test", "hisi_ptt", "s390_cpum_sf",
};

std::vector<std::string> file_names(const std::string &folder)
{
	std::vector<std::string> names;
	std::error_code error;

	for (const auto &entry : std::filesystem::directory_iterator(folder, error))
		names.push_back(entry.path().filename());
	std::sort(names.begin(), names.end());
	return names;
}

} /* namespace */

std::optional<TermFormat> parse_format(std::string_view text)
{
	const std::size_t colon = text.find(':');
	const auto word = std::find(words.begin(), words.end(), text.substr(0, colon));
	TermFormat format;

	if (colon == std::string_view::npos || word == words.end())
		return std::nullopt;
	format.word = static_cast<unsigned>(word - words.begin());
	const auto bits = number_list(text.substr(colon + 1));

	if (!bits || bits->back() > 63)
		return std::nullopt;
	for (const int bit : *bits)
		format.mask |= 1ULL << bit;
	return format;
}

std::optional<std::uint64_t> spread(std::uint64_t value, std::uint64_t mask)
{
	std::uint64_t result = 0;

	for (; mask; mask &= mask - 1, value >>= 1)
		if (value & 1)
			result |= mask & -mask;
	if (value)
		return std::nullopt;
	return result;
}

__u64 &config_word(perf_event_attr &attr, unsigned word)
{
	switch (word) {
	case 1:
		return attr.config1;
	case 2:
		return attr.config2;
	case 3:
		return attr.config3;
	default:
		return attr.config;
	}
}

std::optional<Pmu> Pmu::find(const std::string &devices, std::string_view name)
{
	Pmu pmu;

	if (name.empty() || name.find('/') != std::string_view::npos || name.front() == '.')
		return std::nullopt;
	pmu.name = name;
	pmu.path = devices + "/" + pmu.name;
	const auto text = read_text(pmu.path + "/type");
	const auto type = text ? number(*text) : std::nullopt;

	if (!type)
		return std::nullopt;
	pmu.type = static_cast<std::uint32_t>(*type);
	return pmu;
}

void Pmu::apply_term(perf_event_attr &attr, std::string_view term,
		     std::optional<std::uint64_t> value) const
{
	const auto whole = std::find(words.begin(), words.end(), term);

	if (whole != words.end() && value) {
		config_word(attr, static_cast<unsigned>(whole - words.begin())) = *value;
		return;
	}
	const auto text = read_text(fmt::format("{}/format/{}", path, term));
	const auto format = text && term.find('/') == std::string_view::npos ? parse_format(*text)
									     : std::nullopt;

	if (!format)
		throw UserError(fmt::format("{} has no term \"{}\"; it has: {}", name, term,
					    fmt::join(file_names(path + "/format"), ", ")));
	const auto bits = spread(value.value_or(1), format->mask);

	if (!bits)
		throw UserError(fmt::format("{}: {} does not fit into the {} bits of {}", name,
					    value.value_or(1), std::popcount(format->mask), term));
	__u64 &word = config_word(attr, format->word);

	word = (word & ~format->mask) | *bits;
}

std::optional<std::string> Pmu::event_terms(std::string_view event) const
{
	if (event.empty() || event.find('/') != std::string_view::npos || event.front() == '.')
		return std::nullopt;
	return read_text(fmt::format("{}/events/{}", path, event));
}

std::optional<std::string> Pmu::event_attribute(std::string_view event,
						std::string_view attribute) const
{
	return read_text(fmt::format("{}/events/{}.{}", path, event, attribute));
}

std::vector<int> Pmu::cpus() const
{
	for (const char *file : {"/cpumask", "/cpus"}) {
		const auto text = read_text(path + file);

		if (text && !text->empty())
			return number_list(*text).value_or(std::vector<int>{});
	}
	return {};
}

bool Pmu::has_aux() const
{
	return std::any_of(trace_pmus.begin(), trace_pmus.end(),
			   [&](std::string_view one) { return name.starts_with(one); });
}

/* Of the terms that Intel PT has by default, those that this CPU knows. */
void Pmu::apply_defaults(perf_event_attr &attr) const
{
	if (name != "intel_pt")
		return;
	const auto can = [&](const char *cap) {
		return read_text(fmt::format("{}/caps/{}", path, cap)).value_or("0") == "1";
	};

	for (const char *term : {"tsc", "pt", "branch"})
		if (read_text(fmt::format("{}/format/{}", path, term)))
			apply_term(attr, term, 1);
	if (can("mtc")) {
		const auto periods =
			number("0x" + read_text(path + "/caps/mtc_periods").value_or("0"));

		if (periods && *periods) {
			apply_term(attr, "mtc", 1);
			apply_term(attr, "mtc_period",
				   *periods & 8
					   ? 3
					   : static_cast<unsigned>(std::countr_zero(*periods)));
		}
	}
	if (can("psb_cyc")) {
		const auto periods =
			number("0x" + read_text(path + "/caps/psb_periods").value_or("0"));

		if (periods && *periods)
			apply_term(attr, "psb_period",
				   *periods & 8
					   ? 3
					   : static_cast<unsigned>(std::countr_zero(*periods)));
	}
}

} /* namespace perfring::record */
