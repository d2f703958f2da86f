// SPDX-License-Identifier: GPL-2.0
#include "survey.hh"

#include <algorithm>

namespace perfring::data {
namespace {

constexpr std::uint16_t dropped_by_bpf = 1 << 15;

class Surveyor {
    public:
	explicit Surveyor(Reader &reader) : reader_(reader)
	{
		backward_ = std::ranges::any_of(reader.events(), [](const ReadEvent &event) {
			return event.attr.write_backward != 0;
		});
	}
	Survey walk()
	{
		while (const auto record = reader_.next())
			note(*record);
		result_.aux = coverage_.totals();
		result_.snapshots = coverage_.snapshots();
		name_events();
		return std::move(result_);
	}

    private:
	void note(const Record &record);
	void note_kernel(const Record &record, const std::optional<Sample> &fields);
	void note_loss(const Record &record, const std::optional<Sample> &fields);
	void note_time(const Record &record, std::uint64_t time);
	void note_round();
	void name_events();
	EventTotals &event_totals(const Record &record);
	EventTotals &event_by_id(std::uint64_t id, const Record &record);

	Reader &reader_;
	Survey result_;
	AuxCoverage coverage_;
	bool backward_ = false;
	/* Readers hold records back until the second FINISHED_ROUND after them. */
	std::uint64_t newest_ = 0, newest_before_ = 0, given_out_ = 0;
};

void Surveyor::note(const Record &record)
{
	const bool tells = record.from_kernel() && !reader_.events().empty();
	const auto fields = tells ? reader_.sample_of(record) : std::nullopt;

	result_.records++;
	result_.types[record.header.type].add(record.bytes.size() + record.payload.size());
	if (!record_name(record.header.type))
		result_.unknown_types.note(record.offset);
	if (record.header.type == record_finished_round)
		note_round();
	if (tells)
		note_kernel(record, fields);
	coverage_.note(record, fields);
}

void Surveyor::note_kernel(const Record &record, const std::optional<Sample> &fields)
{
	const bool sample = record.header.type == PERF_RECORD_SAMPLE;

	if (!reader_.event_of(record)) {
		result_.strangers.note(record.offset);
		return;
	}
	if (!fields) {
		result_.unreadable.note(record.offset);
		return;
	}
	if (sample)
		event_totals(record).samples.add(record.bytes.size());
	/* What a recorder has made up says CPU 0 and no time. */
	if (fields->cpu && fields->time.value_or(1)) {
		CpuTotals &cpu = result_.cpus[*fields->cpu];

		(sample ? cpu.samples : cpu.others).add(record.bytes.size());
		if (fields->time && *fields->time < cpu.last && !backward_) {
			result_.steps_back.note(record.offset);
			result_.largest_step =
				std::max(result_.largest_step, cpu.last - *fields->time);
		}
		cpu.last = fields->time.value_or(0);
	}
	note_loss(record, fields);
	if (fields->time && *fields->time && *fields->time != ~0ULL)
		note_time(record, *fields->time);
}

void Surveyor::note_loss(const Record &record, const std::optional<Sample> &fields)
{
	CpuTotals *const cpu = fields->cpu ? &result_.cpus[*fields->cpu] : nullptr;

	switch (record.header.type) {
	case PERF_RECORD_LOST: {
		const auto id = record.at<std::uint64_t>(8).value_or(0);
		const auto count = record.at<std::uint64_t>(16).value_or(0);

		event_by_id(id, record).lost_records += count;
		if (cpu)
			cpu->lost_records += count;
		return;
	}
	case PERF_RECORD_LOST_SAMPLES: {
		const auto count = record.at<std::uint64_t>(8).value_or(0);

		if (record.header.misc & dropped_by_bpf) {
			result_.bpf_lost += count;
			return;
		}
		event_totals(record).lost_samples += count;
		if (cpu)
			cpu->lost_samples += count;
		return;
	}
	case PERF_RECORD_THROTTLE:
		event_by_id(record.at<std::uint64_t>(16).value_or(0), record).throttled++;
		return;
	default:
		return;
	}
}

void Surveyor::note_time(const Record &record, std::uint64_t time)
{
	result_.first_time = std::min(result_.first_time, time);
	result_.last_time = std::max(result_.last_time, time);
	newest_ = std::max(newest_, time);
	if (time < given_out_)
		result_.late.note(record.offset);
}

void Surveyor::note_round()
{
	result_.rounds++;
	given_out_ = newest_before_;
	newest_before_ = newest_;
}

EventTotals &Surveyor::event_totals(const Record &record)
{
	const std::size_t index = reader_.event_of(record).value_or(0);

	if (result_.events.size() <= index)
		result_.events.resize(index + 1);
	return result_.events[index];
}

EventTotals &Surveyor::event_by_id(std::uint64_t id, const Record &record)
{
	const auto index = reader_.event_by_id(id);

	if (!index)
		return event_totals(record);
	if (result_.events.size() <= *index)
		result_.events.resize(*index + 1);
	return result_.events[*index];
}

void Surveyor::name_events()
{
	result_.events.resize(std::max(result_.events.size(), reader_.events().size()));
	for (std::size_t i = 0; i < reader_.events().size(); i++)
		result_.events[i].name = reader_.events()[i].name;
}

} /* namespace */

std::uint64_t Survey::samples() const
{
	std::uint64_t count = 0;

	for (const auto &event : events)
		count += event.samples.count;
	return count;
}

std::uint64_t Survey::lost_records() const
{
	std::uint64_t count = 0;

	for (const auto &event : events)
		count += event.lost_records;
	return count;
}

std::uint64_t Survey::lost_samples() const
{
	std::uint64_t count = 0;

	for (const auto &event : events)
		count += event.lost_samples;
	return count;
}

AuxTotals Survey::all_aux() const
{
	AuxTotals all;

	for (const auto &[buffer, totals] : aux)
		all += totals;
	return all;
}

Survey survey(Reader &reader)
{
	return Surveyor(reader).walk();
}

} /* namespace perfring::data */
