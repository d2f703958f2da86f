// SPDX-License-Identifier: GPL-2.0
#include "check.hh"

#include <fmt/format.h>

namespace perfring::data {
namespace {

/* Nested events are apart by the time that one takes; this is more than any does. */
constexpr std::uint64_t long_step = 100'000'000; /* ns */

void judge_finding(std::vector<std::string> &to, const Finding &finding, const char *what)
{
	if (finding.count)
		to.push_back(fmt::format("{} {}, the first at {:#x}", finding.count, what,
					 finding.first));
}

void judge_structure(Judgement &judgement, const Reader &reader)
{
	const Survey &found = judgement.found;

	if (reader.fault())
		judgement.wrong.push_back(
			fmt::format("at {:#x}: {}", reader.fault()->offset, reader.fault()->what));
	if (reader.feature_fault())
		judgement.missing.push_back(reader.feature_fault()->what);
	if (reader.unfinished())
		judgement.missing.emplace_back(
			"the recorder did not finish the file: there may have been more");
	if (reader.events().empty() && !reader.fault())
		judgement.wrong.emplace_back("it names no event");
	judge_finding(judgement.wrong, found.unreadable, "records shorter than their events say");
	judge_finding(judgement.wrong, found.strangers, "records of events that it does not name");
	judge_finding(judgement.remarks, found.unknown_types, "records of unknown types");
}

void judge_order(Judgement &judgement)
{
	const Survey &found = judgement.found;

	judge_finding(judgement.wrong, found.late,
		      "records older than what FINISHED_ROUND has let readers go on from");
	if (found.steps_back.count)
		judgement.remarks.push_back(fmt::format(
			"{} steps back in time on a CPU, by {} ns at most: events that interrupt "
			"others",
			found.steps_back.count, found.largest_step));
	if (found.largest_step > long_step)
		judgement.wrong.push_back(
			fmt::format("a step back in time on a CPU by {} ns", found.largest_step));
}

void judge_loss(Judgement &judgement)
{
	const Survey &found = judgement.found;

	if (const auto lost = found.lost_records())
		judgement.missing.push_back(
			fmt::format("{} records lost: full rings (LOST)", lost));
	if (const auto lost = found.lost_samples())
		judgement.missing.push_back(fmt::format(
			"{} samples lost, by the events' own count (LOST_SAMPLES)", lost));
	if (found.bpf_lost)
		judgement.remarks.push_back(
			fmt::format("{} samples dropped by a BPF filter", found.bpf_lost));
}

void judge_aux(Judgement &judgement)
{
	const AuxTotals aux = judgement.found.all_aux();
	const auto missing = [&](std::uint64_t count, const char *what) {
		if (count)
			judgement.missing.push_back(fmt::format("{} {}", count, what));
	};

	missing(aux.lost, "AUX bytes lost, as the kernel says");
	missing(aux.truncated, "AUX records truncated: full AUX areas");
	missing(aux.partial, "AUX records partial: gaps in the trace");
	if (aux.collisions)
		judgement.remarks.push_back(
			fmt::format("{} AUX records with a collision", aux.collisions));
	if (judgement.found.snapshots)
		return;
	missing(aux.missing, "AUX bytes announced by AUX records and not in the file");
	if (aux.doubled)
		judgement.wrong.push_back(fmt::format("{} AUX bytes are there twice", aux.doubled));
	if (aux.surplus)
		judgement.remarks.push_back(
			fmt::format("{} AUX bytes that no AUX record announces", aux.surplus));
}

} /* namespace */

Judgement check(ByteView file)
{
	Reader reader(file);
	Judgement judgement;

	if (reader.fault()) {
		judgement.wrong.push_back(reader.fault()->what);
		judgement.verdict = Verdict::unreadable;
		return judgement;
	}
	judgement.found = survey(reader);
	judge_structure(judgement, reader);
	judge_order(judgement);
	judge_loss(judgement);
	judge_aux(judgement);
	if (!judgement.wrong.empty())
		judgement.verdict = Verdict::damaged;
	else if (!judgement.missing.empty())
		judgement.verdict = Verdict::incomplete;
	return judgement;
}

const char *verdict_name(Verdict verdict)
{
	switch (verdict) {
	case Verdict::whole:
		return "whole";
	case Verdict::incomplete:
		return "incomplete";
	case Verdict::damaged:
		return "damaged";
	case Verdict::unreadable:
		return "unreadable";
	}
	return "?";
}

} /* namespace perfring::data */
