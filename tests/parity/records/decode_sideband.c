// SPDX-License-Identifier: GPL-2.0
#include "decode_parts.h"

#define BUILD_ID_FIELD 20

static void put_task(struct cursor *in)
{
	put_name(in, "pid", NAME_TASK, 4);
	put_name(in, "tid", NAME_TASK, 4);
}

static void put_mapping(struct cursor *in)
{
	put_task(in);
	put_address(in, "addr");
	put_hex(in, "len", 8);
	put_hex(in, "pgoff", 8);
}

static void put_file(struct cursor *in, uint16_t misc)
{
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		put_number(in, "build_id_size", 1);
		put_bytes(in, "reserved", 3);
		put_bytes(in, "build_id", BUILD_ID_FIELD);
		return;
	}
	put_presence(in, "maj", 4);
	put_presence(in, "min", 4);
	put_presence(in, "ino", 8);
	put_presence(in, "generation", 8);
}

/* pid and parent's pid, then tid and parent's tid */
static void put_family(struct cursor *in, struct time_rule *times)
{
	put_name(in, "pid", NAME_TASK, 4);
	put_name(in, "ppid", NAME_TASK, 4);
	put_name(in, "tid", NAME_TASK, 4);
	put_name(in, "ptid", NAME_TASK, 4);
	put_time(in, times, &times->last_own);
}

static void put_namespaces(struct cursor *in)
{
	uint64_t entries;

	put_task(in);
	entries = take(in, 8);
	fprintf(in->out, " nr=%llu", (unsigned long long)entries);
	while (entries-- && !in->overrun) {
		put_presence(in, "dev", 8);
		put_presence(in, "ino", 8);
	}
}

static void put_symbol(struct cursor *in)
{
	put_address(in, "addr");
	put_number(in, "len", 4);
	put_number(in, "type", 2);
	put_hex(in, "flags", 2);
	put_text(in, "name", left(in));
}

static void put_bpf_event(struct cursor *in)
{
	put_number(in, "type", 2);
	put_hex(in, "flags", 2);
	put_name(in, "id", NAME_PROGRAM, 4);
	put_bytes(in, "tag", 8);
}

void put_sideband(struct cursor *in, const struct record *record)
{
	const struct perf_event_header *header = record->bytes;

	switch (header->type) {
	case PERF_RECORD_MMAP2:
		put_mapping(in);
		put_file(in, header->misc);
		put_hex(in, "prot", 4);
		put_hex(in, "flags", 4);
		put_text(in, "file", left(in));
		break;
	case PERF_RECORD_MMAP:
		put_mapping(in);
		put_text(in, "file", left(in));
		break;
	case PERF_RECORD_LOST:
		put_name(in, "id", NAME_EVENT, 8);
		put_number(in, "lost", 8);
		break;
	case PERF_RECORD_COMM:
		put_task(in);
		put_text(in, "comm", left(in));
		break;
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
		put_family(in, record->times);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		put_time(in, record->times, &record->times->last_own);
		put_name(in, "id", NAME_EVENT, 8);
		put_name(in, "stream", NAME_EVENT, 8);
		break;
	case PERF_RECORD_READ:
		put_task(in);
		put_counts(in, record->attr->read_format);
		break;
	case PERF_RECORD_SWITCH:
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		put_name(in, "pid", NAME_TASK, 4);
		put_name(in, "tid", NAME_TASK, 4);
		break;
	case PERF_RECORD_NAMESPACES:
		put_namespaces(in);
		break;
	case PERF_RECORD_KSYMBOL:
		put_symbol(in);
		break;
	case PERF_RECORD_BPF_EVENT:
		put_bpf_event(in);
		break;
	case PERF_RECORD_CGROUP:
		put_name(in, "id", NAME_CGROUP, 8);
		put_text(in, "path", left(in));
		break;
	default:
		put_bytes(in, "payload", left(in));
	}
}
