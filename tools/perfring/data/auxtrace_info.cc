// SPDX-License-Identifier: GPL-2.0
#include "auxtrace_info.hh"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "records.hh"
#include "system_files.hh"

namespace perfring::data {
namespace {

/* How a decoder of Intel PT learns of switches between tasks. */
enum SwitchSource : std::uint64_t {
	no_switches,
	from_tracepoint,       /* sched:sched_switch */
	from_records,	       /* PERF_RECORD_SWITCH of the traced tasks */
	from_cpu_wide_records, /* PERF_RECORD_SWITCH_CPU_WIDE of all */
};

SwitchSource switch_source(const Session &session)
{
	SwitchSource source = no_switches;

	for (const auto &event : session.events) {
		if (event.attr.context_switch)
			return session.system_wide ? from_cpu_wide_records : from_records;
		if (event.tracepoint_system == "sched" && event.tracepoint_name == "sched_switch")
			source = from_tracepoint;
	}
	return source;
}

/* Leaf 0x15 (SDM vol. 2, CPUID): TSC / core crystal clock = numerator / denominator. */
void put_crystal_ratio(Builder &out)
{
	unsigned denominator = 0, numerator = 0;
#if defined(__x86_64__) || defined(__i386__)
	unsigned hertz = 0, unused = 0;

	__get_cpuid(0x15, &denominator, &numerator, &hertz, &unused);
#endif
	out.put<std::uint64_t>(numerator);
	out.put<std::uint64_t>(denominator);
}

/* What the decoders of Intel PT and BTS have in common at their front. */
void put_time(Builder &out, const perf_event_attr &attr, const TimeConversion &time)
{
	out.put<std::uint64_t>(attr.type);
	out.put(time.shift);
	out.put(time.mult);
	out.put(time.zero);
	out.put<std::uint64_t>(time.from_zero);
}

std::uint64_t number(const std::string &path)
{
	return static_cast<std::uint64_t>(read_number(path).value_or(0));
}

/* Words in the order of perf's decoder; the address filter, if any, before the last. */
void put_intel_pt(Builder &out, const Session &session, const EventDescription &event,
		  const TimeConversion &time, const std::string &directory)
{
	const std::string &filter = event.address_filter;

	put_time(out, event.attr, time);
	out.put(config_bits(directory, "tsc"));
	out.put(config_bits(directory, "noretcomp"));
	out.put<std::uint64_t>(switch_source(session));
	out.put<std::uint64_t>(session.aux->snapshot);
	out.put<std::uint64_t>(session.aux->per_cpu);
	out.put(config_bits(directory, "mtc"));
	out.put(config_bits(directory, "mtc_period"));
	put_crystal_ratio(out);
	out.put(config_bits(directory, "cyc"));
	out.put(number(directory + "max_nonturbo_ratio"));
	out.put<std::uint64_t>(filter.size());
	if (!filter.empty())
		out.put_name(filter);
	out.put(number(directory + "caps/event_trace"));
}

} /* namespace */

Trace trace_kind(const std::string &pmu)
{
	if (pmu == "intel_pt")
		return Trace::intel_pt;
	if (pmu == "intel_bts")
		return Trace::intel_bts;
	if (pmu == "cs_etm")
		return Trace::cs_etm;
	return Trace::none;
}

std::uint64_t config_bits(const std::string &pmu_directory, const std::string &term)
{
	const std::string text = read_text(pmu_directory + "format/" + term).value_or("");
	std::uint64_t bits = 0;

	if (!text.starts_with("config:"))
		return 0;
	for (const unsigned bit : parse_list(std::string_view(text).substr(7)))
		if (bit < 64)
			bits |= 1ULL << bit;
	return bits;
}

std::optional<Bytes> auxtrace_info(const Session &session,
				   const std::optional<TimeConversion> &time,
				   const std::string &root)
{
	if (!session.aux || session.aux->event >= session.events.size())
		return std::nullopt;

	const EventDescription &event = session.events[session.aux->event];
	const Trace kind = trace_kind(event.pmu);
	const TimeConversion known = time.value_or(TimeConversion{});
	RecordBuilder record(record_auxtrace_info);

	record.put(static_cast<std::uint32_t>(kind));
	record.put<std::uint32_t>(0);
	switch (kind) {
	case Trace::intel_pt:
		put_intel_pt(record, session, event, known,
			     root + "/sys/bus/event_source/devices/" + event.pmu + "/");
		return record.finish();
	case Trace::intel_bts:
		put_time(record, event.attr, known);
		record.put<std::uint64_t>(session.aux->snapshot);
		return record.finish();
	case Trace::cs_etm:
	case Trace::none:
		break;
	}
	return std::nullopt;
}

} /* namespace perfring::data */
