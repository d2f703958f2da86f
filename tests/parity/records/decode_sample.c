// SPDX-License-Identifier: GPL-2.0
#include "decode_parts.h"

static void put_chain(struct cursor *in)
{
	uint64_t entries = take(in, 8);

	fprintf(in->out, " chain=%llu:", (unsigned long long)entries);
	while (entries-- && !in->overrun) {
		put_address(in, NULL);
		if (entries)
			fputc(',', in->out);
	}
}

/* A tracepoint's data start with the type and hold the pid at offset 4. */
static void put_raw(struct cursor *in, const struct perf_event_attr *attr)
{
	size_t size = take(in, 4);

	fprintf(in->out, " raw=%zu", size);
	if (attr->type == PERF_TYPE_TRACEPOINT && size >= 8) {
		put_presence(in, "type", 2);
		put_bytes(in, "flags", 2);
		put_name(in, "pid", NAME_TASK, 4);
		size -= 8;
	}
	put_bytes(in, "data", size);
}

static void put_branches(struct cursor *in, const struct perf_event_attr *attr)
{
	uint64_t entries = take(in, 8);

	fprintf(in->out, " branches=%llu", (unsigned long long)entries);
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		put_hex(in, "index", 8);
	while (entries-- && !in->overrun) {
		put_address(in, "from");
		put_address(in, "to");
		put_hex(in, "flags", 8);
	}
}

static void put_registers(struct cursor *in, const char *name, uint64_t mask)
{
	uint64_t abi = take(in, 8);

	fprintf(in->out, " %s=abi%llu", name, (unsigned long long)abi);
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	for (int bit = 0; bit < 64 && !in->overrun; bit++) {
		if (!(mask >> bit & 1))
			continue;
		fprintf(in->out, " r%d=", bit);
		put_address(in, NULL);
	}
}

static void put_stack(struct cursor *in)
{
	uint64_t size = take(in, 8);

	fprintf(in->out, " stack=%llu", (unsigned long long)size);
	if (!size)
		return;
	put_bytes(in, "data", size);
	put_number(in, "used", 8);
}

/* The page is another one each time, the place in it is the address's. */
static void put_physical(struct cursor *in)
{
	uint64_t address = take_loose(in, 8);

	if (address)
		fprintf(in->out, " phys=page+%#llx", (unsigned long long)address & 0xfff);
	else
		fputs(" phys=0", in->out);
}

static void put_identity(struct cursor *in, const struct record *record)
{
	uint64_t type = record->attr->sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		put_name(in, "identifier", NAME_EVENT, 8);
	if (type & PERF_SAMPLE_IP)
		put_address(in, "ip");
	if (type & PERF_SAMPLE_TID) {
		put_name(in, "pid", NAME_TASK, 4);
		put_name(in, "tid", NAME_TASK, 4);
	}
	if (type & PERF_SAMPLE_TIME)
		put_time(in, record->times, &record->times->last_id);
	if (type & PERF_SAMPLE_ADDR)
		put_address(in, "addr");
	if (type & PERF_SAMPLE_ID)
		put_name(in, "id", NAME_EVENT, 8);
	if (type & PERF_SAMPLE_STREAM_ID)
		put_name(in, "stream", NAME_EVENT, 8);
	if (type & PERF_SAMPLE_CPU) {
		put_number(in, "cpu", 4);
		put_number(in, "res", 4);
	}
	if (type & PERF_SAMPLE_PERIOD)
		put_number(in, "period", 8);
}

static void put_payload(struct cursor *in, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_READ)
		put_counts(in, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		put_chain(in);
	if (type & PERF_SAMPLE_RAW)
		put_raw(in, attr);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(in, attr);
	if (type & PERF_SAMPLE_REGS_USER)
		put_registers(in, "user", attr->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		put_stack(in);
}

static void put_attributes(struct cursor *in, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		put_hex(in, "weight", 8);
	if (type & PERF_SAMPLE_DATA_SRC)
		put_hex(in, "source", 8);
	if (type & PERF_SAMPLE_TRANSACTION)
		put_hex(in, "transaction", 8);
	if (type & PERF_SAMPLE_REGS_INTR)
		put_registers(in, "intr", attr->sample_regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		put_physical(in);
	if (type & PERF_SAMPLE_CGROUP)
		put_name(in, "cgroup", NAME_CGROUP, 8);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		put_number(in, "data_page", 8);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		put_number(in, "code_page", 8);
	if (type & PERF_SAMPLE_AUX)
		put_bytes(in, "aux", take(in, 8));
}

void put_sample(struct cursor *in, const struct record *record)
{
	put_identity(in, record);
	put_payload(in, record->attr);
	put_attributes(in, record->attr);
}
