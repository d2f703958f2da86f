// SPDX-License-Identifier: GPL-2.0
#include "attributes.hh"

#include "text.hh"

#include <fmt/core.h>

#include <algorithm>

namespace perfring::record {
namespace {

#if defined(__x86_64__)
/* All but ds and es, which a 64-bit task has no use for, and fs and gs. */
constexpr std::uint64_t user_registers = 0xff0fff;
#elif defined(__aarch64__)
constexpr std::uint64_t user_registers = 0x1ffffffff;
#else
constexpr std::uint64_t user_registers = 0;
#endif

constexpr std::uint64_t default_frequency = 4000;

/* What a sample is to hold, but for its identifier. */
void sample_fields(EventSpec &event, const RecordOptions &options)
{
	perf_event_attr &attr = event.attr;

	attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER;
	if (options.inherit || !options.for_tasks() || !options.per_thread)
		attr.sample_type |= PERF_SAMPLE_TIME;
	if (!options.for_tasks() || options.sample_cpu)
		attr.sample_type |= PERF_SAMPLE_CPU;
	if (options.sample_address)
		attr.sample_type |= PERF_SAMPLE_ADDR;
	if (options.sample_period || attr.freq)
		attr.sample_type |= PERF_SAMPLE_PERIOD;
	if (options.raw_samples)
		attr.sample_type |= PERF_SAMPLE_RAW;
	if (attr.type == PERF_TYPE_TRACEPOINT)
		attr.sample_type |=
			PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	if (attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_BPF_OUTPUT)
		attr.sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_TIME;
	if (event.has_aux)
		attr.sample_type |= PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	if (options.call_graph == CallGraph::none || event.has_aux)
		return;
	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (options.call_graph == CallGraph::dwarf) {
		if (!user_registers)
			throw UserError("--call-graph dwarf is not known for this architecture");
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = user_registers;
		attr.sample_stack_user = options.stack_bytes;
		attr.exclude_callchain_user = 1;
	}
}

void sampling_rate(EventSpec &event, const RecordOptions &options)
{
	perf_event_attr &attr = event.attr;
	const auto period = event.period ? event.period : options.period;
	const auto frequency = event.frequency ? event.frequency : options.frequency;

	const bool each_one =
		attr.type == PERF_TYPE_TRACEPOINT || attr.type == PERF_TYPE_BREAKPOINT;

	if (!event.has_aux && period && !event.frequency) {
		attr.sample_period = *period;
	} else if (event.has_aux || (each_one && !frequency)) {
		attr.sample_period = 1;
	} else {
		attr.freq = 1;
		attr.sample_freq = frequency.value_or(default_frequency);
	}
	if (!attr.sample_period)
		throw UserError(fmt::format("{}: a period or frequency of 0", event.name));
}

/*
 * Side-band records have an event of their own: one that is never off, whose ring does
 * not overwrite them, and whose losses are not taken for samples of another.
 */
EventSpec tracking_event(const RecordOptions &options)
{
	EventSpec event;

	event.name = options.for_tasks() ? "dummy:u" : "dummy:HG";
	event.attr.size = sizeof(event.attr);
	event.attr.type = PERF_TYPE_SOFTWARE;
	event.attr.config = PERF_COUNT_SW_DUMMY;
	event.attr.exclude_kernel = options.for_tasks();
	event.attr.exclude_hv = options.for_tasks();
	event.period = 1;
	event.overwrite = false;
	return event;
}

void side_band(EventSpec &event, bool has_aux, const RecordOptions &options)
{
	/* A trace of one task goes on behind each switch: there is nothing to tell. */
	const bool switches = has_aux && !options.per_thread;

	event.attr.mmap = 1;
	event.attr.mmap2 = 1;
	event.attr.mmap_data = options.sample_address; /* who asks where, asks in what */
	event.attr.comm = 1;
	event.attr.comm_exec = 1;
	event.attr.task = 1;
	event.attr.ksymbol = 1;
	event.attr.bpf_event = 1;
	event.attr.context_switch = switches;
	event.attr.text_poke = has_aux;
	/* Decoders of traces have to know when and where tasks were switched. */
	if (has_aux)
		event.attr.sample_type |= PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
}

void group_reading(std::vector<EventSpec> &events)
{
	for (auto &event : events) {
		if (!events[event.leader].sample_read)
			continue;
		event.attr.sample_type |= PERF_SAMPLE_READ;
		event.attr.read_format |= PERF_FORMAT_GROUP;
		/* The leader samples, and each of its samples has the counts of all. */
		if (&event != &events[event.leader]) {
			event.attr.sample_period = 0;
			event.attr.freq = 0;
		}
		event.attr.inherit = 0;
	}
}

} /* namespace */

void complete(std::vector<EventSpec> &events, const RecordOptions &options)
{
	const bool has_aux = std::any_of(events.begin(), events.end(),
					 [](const EventSpec &event) { return event.has_aux; });
	const std::size_t tracking = events.size();

	events.push_back(tracking_event(options));
	events.back().leader = tracking;
	for (std::size_t i = 0; i < events.size(); i++) {
		EventSpec &event = events[i];
		perf_event_attr &attr = event.attr;
		const bool leads = event.leader == i;
		const bool tracks = i == tracking;

		sampling_rate(event, options);
		sample_fields(event, options);
		attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
		attr.sample_id_all = 1;
		attr.inherit = event.inherit.value_or(options.inherit) && !options.per_thread;
		attr.write_backward = event.overwrite.value_or(options.overwrite);
		attr.disabled = leads && !tracks;
		attr.enable_on_exec = leads && !tracks && options.for_command() && !options.delay;
		if (options.clockid) {
			attr.use_clockid = 1;
			attr.clockid = *options.clockid;
		}
		if (event.aux_sample_size) {
			attr.sample_type |= PERF_SAMPLE_AUX;
			attr.aux_sample_size = *event.aux_sample_size;
		}
		attr.aux_output = event.aux_output;
		if (event.most_precise)
			attr.precise_ip = 3;
		if (attr.write_backward && event.has_aux)
			throw UserError(
				fmt::format("{}: --overwrite is for events with samples; -S takes "
					    "snapshots of traces",
					    event.name));
	}
	group_reading(events);
	side_band(events[tracking], has_aux, options);
}

std::uint32_t data_watermark(std::size_t bytes, bool realtime)
{
	/* A reader that is there at once can wait for more of it. */
	return static_cast<std::uint32_t>(
		std::min<std::size_t>(bytes / (realtime ? 2 : 4), 1U << 30));
}

std::uint32_t aux_watermark(std::size_t bytes)
{
	return static_cast<std::uint32_t>(std::min<std::size_t>(bytes / 4, 1U << 30));
}

} /* namespace perfring::record */
