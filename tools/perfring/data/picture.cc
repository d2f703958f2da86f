// SPDX-License-Identifier: GPL-2.0
#include "picture.hh"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "check.hh"
#include "fill_log.hh"
#include "timeline.hh"

namespace perfring::data {
namespace {

constexpr unsigned label = 70, width = 900, lane_height = 36, gap = 8; /* SVG units */
constexpr std::size_t slices = 450;
constexpr std::size_t most_lanes = 64;
constexpr double nanoseconds_of_a_second = 1e9;

constexpr const char *style = R"(
:root { --paper: #fff; --ink: #1d2329; --soft: #667; --line: #d8dde3; --fill: #3b78c4;
	--loss: #d0342c; --full: #d08a1d }
@media (prefers-color-scheme: dark) {
	:root { --paper: #15181c; --ink: #e3e7ec; --soft: #98a2ad; --line: #343b43;
		--fill: #6ea4e6; --loss: #ff6b61; --full: #f0b04a } }
body { background: var(--paper); color: var(--ink); margin: 2rem auto; max-width: 64rem;
	padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 1.4rem; margin: 0 } h2 { font-size: 1.1rem; margin: 2rem 0 .3rem }
p, li { color: var(--soft); margin: .2rem 0 } p.loss, td.loss { color: var(--loss) }
svg { width: 100%; height: auto; display: block }
text { fill: var(--soft); font-size: 12px } .base { stroke: var(--line) }
.fill { fill: var(--fill) } .loss { fill: var(--loss) } .full { stroke: var(--full);
	stroke-dasharray: 4 4 }
table { border-collapse: collapse } td, th { padding: .15rem 1rem .15rem 0;
	text-align: right; border-bottom: 1px solid var(--line) }
td:first-child, th:first-child { text-align: left }
)";

std::string escaped(std::string_view text)
{
	std::string result;

	for (const char c : text) {
		switch (c) {
		case '<':
			result += "&lt;";
			break;
		case '>':
			result += "&gt;";
			break;
		case '&':
			result += "&amp;";
			break;
		case '"':
			result += "&quot;";
			break;
		default:
			result += static_cast<unsigned char>(c) < ' ' ? '?' : c;
		}
	}
	return result;
}

/* What a lane shows: heights from 0 to 1, and losses. */
struct Lane {
	std::string name;
	std::vector<double> heights;
	std::vector<std::uint64_t> losses;
};

class Chart {
    public:
	Chart(std::uint64_t slice, bool with_limit) : slice_(slice), limit_(with_limit)
	{
	}
	void add(const Lane &lane)
	{
		const unsigned top = lanes_++ * (lane_height + gap) + gap;
		const unsigned bottom = top + lane_height;

		count_ = std::max(count_, lane.heights.size());
		put(R"(<text x="{}" y="{}" text-anchor="end">{}</text>)", label - 8, bottom - 10,
		    escaped(lane.name));
		put(R"(<line class="base" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>)", label,
		    label + width, bottom);
		if (limit_)
			put(R"(<line class="full" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>)", label,
			    label + width, top);
		area(lane, bottom);
		losses(lane, top);
	}
	std::string finish()
	{
		const unsigned bottom = lanes_ * (lane_height + gap) + gap;

		for (unsigned tick = 0; tick <= 4; tick++)
			put(R"(<text x="{}" y="{}" text-anchor="middle">{:.3g} s</text>)",
			    label + width * tick / 4, bottom + 14,
			    static_cast<double>(slice_) * static_cast<double>(count_) * tick / 4 /
				    nanoseconds_of_a_second);
		return fmt::format(R"(<svg viewBox="0 0 {} {}" role="img">{}</svg>)",
				   label + width + 40, bottom + 24, body_);
	}

    private:
	template <class... Values> void put(fmt::format_string<Values...> text, Values &&...values)
	{
		fmt::format_to(std::back_inserter(body_), text, std::forward<Values>(values)...);
		body_ += '\n';
	}
	double x(std::size_t index, std::size_t count) const
	{
		return label + static_cast<double>(width) * static_cast<double>(index) /
				       static_cast<double>(count);
	}
	void area(const Lane &lane, unsigned bottom)
	{
		const std::size_t count = lane.heights.size();
		std::string path = fmt::format("M{} {}", label, bottom);

		for (std::size_t i = 0; i < count; i++) {
			const double y =
				bottom - lane_height * std::clamp(lane.heights[i], 0.0, 1.0);

			fmt::format_to(std::back_inserter(path), "L{:.1f} {:.1f}H{:.1f}",
				       x(i, count), y, x(i + 1, count));
		}
		put(R"(<path class="fill" d="{}V{}Z"/>)", path, bottom);
	}
	void losses(const Lane &lane, unsigned top)
	{
		const std::size_t count = lane.losses.size();

		for (std::size_t i = 0; i < count; i++) {
			if (!lane.losses[i])
				continue;
			put(R"(<rect class="loss" x="{:.1f}" y="{}" width="{:.1f}" height="{}">)"
			    R"(<title>{} lost</title></rect>)",
			    x(i, count), top, std::max(2.0, width / static_cast<double>(count)),
			    lane_height, lane.losses[i]);
		}
	}

	std::uint64_t slice_;
	bool limit_;
	unsigned lanes_ = 0;
	std::size_t count_ = 0;
	std::string body_;
};

std::string rings_section(const FillHistory &history)
{
	std::map<std::uint32_t, Lane> lanes;
	std::uint32_t last = 0;
	Chart chart(history.slice, true);

	for (const FillEntry &entry : history.entries)
		last = std::max(last, entry.slice);
	for (const FillEntry &entry : history.entries) {
		if (lanes.size() == most_lanes && !lanes.contains(entry.ring))
			continue;

		Lane &lane = lanes[entry.ring];

		lane.name = fmt::format("ring {}", entry.ring);
		lane.heights.resize(last + 1);
		lane.losses.resize(last + 1);
		lane.heights[entry.slice] = entry.size ? static_cast<double>(entry.fullest) /
								 static_cast<double>(entry.size)
						       : 0;
		lane.losses[entry.slice] += entry.lost;
	}
	for (const auto &[ring, lane] : lanes)
		chart.add(lane);
	return "<h2>How full the rings were</h2>\n<p>The most that each held when it was "
	       "emptied, up to the dashed line: full. Red: records were lost.</p>\n" +
	       chart.finish();
}

std::string cpus_section(const Timeline &time)
{
	std::uint64_t most = 1;
	std::size_t lanes = 0;
	Chart chart(time.slice, false);

	for (const auto &[cpu, lane] : time.cpus)
		for (const auto &slice : lane)
			most = std::max(most, slice.samples);
	for (const auto &[cpu, slices_of_cpu] : time.cpus) {
		Lane lane;

		if (lanes++ == most_lanes)
			break;
		lane.name = fmt::format("CPU {}", cpu);
		for (const auto &slice : slices_of_cpu) {
			lane.heights.push_back(static_cast<double>(slice.samples) /
					       static_cast<double>(most));
			lane.losses.push_back(slice.lost);
		}
		chart.add(lane);
	}
	return fmt::format("<h2>Samples over time</h2>\n<p>Up to {} in {:.3g} ms. Red: what was "
			   "lost before the record that says so.</p>\n",
			   most, static_cast<double>(time.slice) / 1e6) +
	       chart.finish();
}

std::string events_section(const Survey &found)
{
	std::string rows;

	for (const auto &event : found.events)
		fmt::format_to(std::back_inserter(rows),
			       "<tr><td>{}<td>{}<td>{}<td class=\"{}\">{}<td class=\"{}\">{}\n",
			       escaped(event.name), event.samples.count, event.samples.bytes,
			       event.lost_records ? "loss" : "", event.lost_records,
			       event.lost_samples ? "loss" : "", event.lost_samples);
	return "<h2>Events</h2>\n<table><tr><th>event<th>samples<th>bytes<th>lost by its "
	       "rings<th>samples lost\n" +
	       rows + "</table>";
}

std::string head(const Judgement &judgement, const std::string &title)
{
	std::string text = fmt::format("<h1>{}</h1>\n<p>{}: {} records, {} samples</p>\n",
				       escaped(title), verdict_name(judgement.verdict),
				       judgement.found.records, judgement.found.samples());

	for (const auto *list : {&judgement.wrong, &judgement.missing})
		for (const auto &sentence : *list)
			text += "<p class=\"loss\">" + escaped(sentence) + "</p>\n";
	return text;
}

} /* namespace */

std::string picture(ByteView file, const std::string &title)
{
	const Judgement judgement = check(file);
	const Survey &found = judgement.found;
	const auto fill = read_fill_history(file);
	const Timeline time = timeline(file, found.first_time, found.last_time, slices);
	std::string page = fmt::format("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
				       "<meta name=\"viewport\" content=\"width=device-width\">"
				       "<title>{}</title><style>{}</style>\n<body>\n",
				       escaped(title), style);

	page += head(judgement, title);
	if (fill)
		page += rings_section(*fill);
	else
		page += "<p>The file does not tell how full the rings were.</p>\n";
	if (!time.cpus.empty())
		page += cpus_section(time);
	page += events_section(found);
	return page + "\n</body></html>\n";
}

} /* namespace perfring::data */
