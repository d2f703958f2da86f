// SPDX-License-Identifier: GPL-2.0
#include "decode_parts.h"

static const char * const record_names[PERF_RECORD_MAX] = {
	[PERF_RECORD_MMAP] = "MMAP",
	[PERF_RECORD_LOST] = "LOST",
	[PERF_RECORD_COMM] = "COMM",
	[PERF_RECORD_EXIT] = "EXIT",
	[PERF_RECORD_THROTTLE] = "THROTTLE",
	[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[PERF_RECORD_FORK] = "FORK",
	[PERF_RECORD_READ] = "READ",
	[PERF_RECORD_SAMPLE] = "SAMPLE",
	[PERF_RECORD_MMAP2] = "MMAP2",
	[PERF_RECORD_AUX] = "AUX",
	[PERF_RECORD_ITRACE_START] = "ITRACE_START",
	[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[PERF_RECORD_SWITCH] = "SWITCH",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PERF_RECORD_NAMESPACES] = "NAMESPACES",
	[PERF_RECORD_KSYMBOL] = "KSYMBOL",
	[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
	[PERF_RECORD_CGROUP] = "CGROUP",
	[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
};

static const char *judge_time(const struct time_rule *rule, uint64_t last, uint64_t now)
{
	if (now == 0)
		return "0";
	if (rule->to && (now < rule->from || now > rule->to))
		return "OUTSIDE";
	if (last && (rule->backward ? now > last : now < last))
		return "DISORDER";
	return "ok";
}

void put_time(struct cursor *in, const struct time_rule *rule, uint64_t *last)
{
	uint64_t now = take_loose(in, 8);

	fprintf(in->out, " time=%s", judge_time(rule, *last, now));
	*last = now;
}

void put_rest(struct cursor *in)
{
	if (in->overrun)
		fputs(" OVERRUN", in->out);
	if (left(in))
		put_bytes(in, "LEFT", left(in));
}

static size_t sample_id_size(const struct perf_event_attr *attr)
{
	uint64_t fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			  PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	if (!attr->sample_id_all)
		return 0;
	return 8 * __builtin_popcountll(attr->sample_type & fields);
}

static void put_sample_id(struct cursor *in, const struct record *record)
{
	uint64_t type = record->attr->sample_type;

	fputs(" |", in->out);
	if (type & PERF_SAMPLE_TID) {
		put_name(in, "pid", NAME_TASK, 4);
		put_name(in, "tid", NAME_TASK, 4);
	}
	if (type & PERF_SAMPLE_TIME)
		put_time(in, record->times, &record->times->last_id);
	if (type & PERF_SAMPLE_ID)
		put_name(in, "id", NAME_EVENT, 8);
	if (type & PERF_SAMPLE_STREAM_ID)
		put_name(in, "stream", NAME_EVENT, 8);
	if (type & PERF_SAMPLE_CPU) {
		put_number(in, "cpu", 4);
		put_number(in, "res", 4);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		put_name(in, "identifier", NAME_EVENT, 8);
}

static void put_header(FILE *out, const struct perf_event_header *header)
{
	const char *name = header->type < PERF_RECORD_MAX ? record_names[header->type] : NULL;

	if (name)
		fputs(name, out);
	else
		fprintf(out, "TYPE%u", header->type);
	fprintf(out, " misc=%#x size=%u", header->misc, header->size);
}

static void put_sideband_and_id(struct cursor *in, const struct record *record)
{
	size_t trailer = sample_id_size(record->attr);
	size_t end = in->end;

	if (trailer > left(in)) {
		in->overrun = true;
		return;
	}
	in->end -= trailer;
	put_sideband(in, record);
	put_rest(in);
	in->end = end;
	if (trailer)
		put_sample_id(in, record);
}

void print_record(FILE *out, const struct record *record)
{
	const struct perf_event_header *header = record->bytes;
	struct cursor in = {
		.out = out, .bytes = record->bytes, .loose = record->loose,
		.at = sizeof(*header), .end = record->size,
	};

	put_header(out, header);
	if (header->type == PERF_RECORD_SAMPLE)
		put_sample(&in, record);
	else
		put_sideband_and_id(&in, record);
	put_rest(&in);
}
