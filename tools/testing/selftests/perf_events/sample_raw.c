// SPDX-License-Identifier: GPL-2.0
/*
 * RAW data of tracepoints and probes, compared with what the format file says
 * of it and with what the test did.
 */
#include "perf_ring_sample.h"

#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>

#define TRACING "/sys/kernel/tracing"

struct field {
	unsigned int offset, size;
	bool is_signed;
};

static struct perf_event_attr attr;
static struct ring ring;
static struct sample sample;
static int fd;

/* ---- the format file ---- */

/* Where it is not mounted, in a mount namespace of the test's own. */
static void find_tracing(void)
{
	if (!access(TRACING "/events", R_OK))
		return;
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", TRACING, "tracefs", 0, NULL))
		SKIP("no tracefs: %s", strerror(errno));
}

static FILE *open_event_file(const char *event, const char *file)
{
	char path[256];
	FILE *opened;

	snprintf(path, sizeof(path), TRACING "/events/%s/%s", event, file);
	opened = fopen(path, "r");
	if (!opened)
		SKIP("no tracepoint %s", event);
	return opened;
}

static uint64_t tracepoint_id(const char *event)
{
	FILE *file = open_event_file(event, "id");
	unsigned long long id;

	CHECK_EQ(fscanf(file, "%llu", &id), 1);
	fclose(file);
	return id;
}

/* A line of it: "field:type name; offset:8; size:4; signed:1;" */
static bool is_field(const char *line, const char *name, struct field *field)
{
	const char *end = strchr(line, ';'), *at;
	size_t len = strlen(name);
	int is_signed;

	if (!strstr(line, "field:") || !end)
		return false;
	at = end;
	if (at[-1] == ']')
		while (*at != '[')
			at--;
	if (at - line < (ptrdiff_t)len || strncmp(at - len, name, len) ||
	    at[-(ptrdiff_t)len - 1] != ' ')
		return false;
	CHECK_EQ(sscanf(end, "; offset:%u; size:%u; signed:%d;",
			&field->offset, &field->size, &is_signed), 3);
	field->is_signed = is_signed;
	return true;
}

static struct field field_of(const char *event, const char *name)
{
	FILE *file = open_event_file(event, "format");
	struct field field;
	bool found = false;
	char line[512];

	while (!found && fgets(line, sizeof(line), file))
		found = is_field(line, name, &field);
	fclose(file);
	if (!found)
		FAIL("%s has no field %s", event, name);
	return field;
}

static int64_t value_of(const char *event, const char *name)
{
	struct field field = field_of(event, name);
	unsigned int unused = 64 - 8 * field.size;
	uint64_t value = 0;

	CHECK(field.size <= 8);
	CHECK(field.offset + field.size <= sample.raw_size);
	memcpy(&value, sample.raw + field.offset, field.size);
	if (field.is_signed)
		return (int64_t)(value << unused) >> unused;
	return (int64_t)value;
}

static void expect_text(const char *event, const char *name, const char *want)
{
	struct field field = field_of(event, name);

	CHECK(field.offset + field.size <= sample.raw_size);
	CHECK(strlen(want) < field.size);
	if (strncmp((const char *)sample.raw + field.offset, want, field.size))
		FAIL("%s is %.*s, not %s", name, (int)field.size,
		     sample.raw + field.offset, want);
}

/* ---- events ---- */

static void open_tracepoint(const char *event, uint64_t fields)
{
	find_tracing();
	attr = (struct perf_event_attr) {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = tracepoint_id(event),
		.sample_period = 1,
		.sample_type = fields | PERF_SAMPLE_RAW,
		.disabled = 1,
	};
	fd = open_self(&attr);
	ring_map(&ring, fd, 4);
}

static void expect_common(const char *event)
{
	CHECK_EQ(value_of(event, "common_type"), attr.config);
	CHECK_EQ(value_of(event, "common_pid"), gettid());
}

static void system_calls_have_their_arguments(void)
{
	static const char event[] = "syscalls/sys_enter_lseek";

	open_tracepoint(event, 0);
	for (int64_t i = -5; i < 40; i++) {
		enable(fd);
		syscall(SYS_lseek, 1000 + i, i << 33 | 7, i + 3);
		disable(fd);
		expect_sample(&ring, &sample, &attr);
		expect_common(event);
		CHECK_EQ(value_of(event, "__syscall_nr"), SYS_lseek);
		CHECK_EQ(value_of(event, "fd"), 1000 + i);
		CHECK_EQ(value_of(event, "offset"), i << 33 | 7);
		CHECK_EQ((int)value_of(event, "whence"), i + 3);
		expect_end(&ring);
		ring_release(&ring);
	}
}

static void system_calls_have_their_result(void)
{
	static const char event[] = "syscalls/sys_exit_lseek";

	open_tracepoint(event, 0);
	enable(fd);
	syscall(SYS_lseek, -1, 0, 0);
	disable(fd);
	expect_sample(&ring, &sample, &attr);
	expect_common(event);
	CHECK_EQ(value_of(event, "__syscall_nr"), SYS_lseek);
	CHECK_EQ(value_of(event, "ret"), -EBADF);
	expect_end(&ring);
}

static void texts_of_a_tracepoint_are_whole(void)
{
	static const char event[] = "task/task_rename";
	char before[32], after[32];

	open_tracepoint(event, 0);
	rename_task(0);
	for (unsigned int i = 1; i < 200; i++) {
		enable(fd);
		rename_task(i);
		disable(fd);
		snprintf(before, sizeof(before), "%07u", i - 1);
		snprintf(after, sizeof(after), "%07u", i);
		expect_sample(&ring, &sample, &attr);
		expect_common(event);
		expect_text(event, "oldcomm", before);
		expect_text(event, "newcomm", after);
		expect_end(&ring);
		ring_release(&ring);
	}
}

static void switches_tell_from_whom_to_whom(void)
{
	static const char event[] = "sched/sched_switch";
	char name[32];

	open_tracepoint(event, PERF_SAMPLE_TID);
	name_of(getpid(), name);
	name[strcspn(name, "\n")] = 0;
	enable(fd);
	give_way();
	disable(fd);
	do {
		expect_sample(&ring, &sample, &attr);
		CHECK_EQ(sample.tid, gettid());
		CHECK_EQ(value_of(event, "common_type"), attr.config);
		CHECK_EQ(value_of(event, "prev_pid"), gettid());
		expect_text(event, "prev_comm", name);
		CHECK(value_of(event, "next_pid") != gettid());
	} while (ring_head(&ring) != ring.pos);
}

/* RAW is not the last field: what is behind it follows its padding. */
static void other_fields_stand_around_it(void)
{
	static const char event[] = "syscalls/sys_enter_lseek";

	open_tracepoint(event, PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_PERIOD | PERF_SAMPLE_ADDR |
				       PERF_SAMPLE_READ | PERF_SAMPLE_WEIGHT |
				       PERF_SAMPLE_DATA_SRC);
	enable(fd);
	syscall(SYS_lseek, -1, 77, 1);
	disable(fd);
	expect_sample(&ring, &sample, &attr);
	CHECK_EQ(sample.tid, gettid());
	CHECK_EQ(sample.period, 1);
	CHECK_EQ(sample.addr, 0);
	CHECK_EQ(sample.read[0], 1);
	CHECK_EQ(value_of(event, "offset"), 77);
	CHECK_EQ(sample.weight, 0);
	CHECK_EQ(sample.data_src, DATA_SRC_NA);
}

/* An event that has none gives four bytes of nothing. */
static void events_without_it_give_four_bytes(void)
{
	struct fault_area area;
	uint32_t none;

	touch_stack();
	attr = minor_fault_attr(PERF_SAMPLE_RAW | PERF_SAMPLE_DATA_SRC);
	fd = open_self(&attr);
	ring_map(&ring, fd, 1);
	area = fault_area(1);
	sample_faults(fd, &area, 1);
	expect_sample(&ring, &sample, &attr);
	CHECK_EQ(sample.raw_size, 4);
	memcpy(&none, sample.raw, 4);
	CHECK_EQ(none, 0);
	CHECK_EQ(sample.data_src, DATA_SRC_NA);
}

static void filters_hold_samples_back(void)
{
	static const char event[] = "syscalls/sys_enter_lseek";

	open_tracepoint(event, 0);
	CHECK(!ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "offset > 10 && whence == 1"));
	enable(fd);
	for (int i = 0; i < 30; i++)
		syscall(SYS_lseek, -1, i, i % 2);
	disable(fd);
	for (int i = 11; i < 30; i += 2) {
		expect_sample(&ring, &sample, &attr);
		CHECK_EQ(value_of(event, "offset"), i);
	}
	expect_end(&ring);
	CHECK_ERRNO(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "offset > 1"), EEXIST);
	fd = open_self(&attr);
	CHECK_ERRNO(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "no_such_field == 1"),
		    EINVAL);
}

/* ---- probes ---- */

static FAULT_CODE int probed(int value)
{
	asm volatile("" : "+r"(value));
	return value;
}

static uint32_t probe_type(const char *pmu)
{
	char path[128];
	int type;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type",
		 pmu);
	if (!sysctl_get(path, &type))
		SKIP("no %s events", pmu);
	return (uint32_t)type;
}

/* Where in its file a piece of the program's code is. */
static uint64_t offset_in_file(uintptr_t at)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to, offset;
	char line[512];

	CHECK(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3 &&
		    at >= from && at < to) {
			fclose(maps);
			return at - from + offset;
		}
	FAIL("no mapping at %#lx", (unsigned long)at);
}

static void uprobes_sample_where_they_are(void)
{
	char path[256];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	uint64_t ip;

	CHECK(len > 0);
	path[len] = 0;
	attr = (struct perf_event_attr) {
		.type = probe_type("uprobe"),
		.size = sizeof(attr),
		.uprobe_path = (uintptr_t)path,
		.probe_offset = offset_in_file((uintptr_t)probed),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_RAW,
		.disabled = 1,
	};
	fd = open_self(&attr);
	ring_map(&ring, fd, 4);
	enable(fd);
	for (int i = 0; i < 50; i++)
		CHECK_EQ(probed(i), i);
	disable(fd);
	probed(1); /* not any more */
	for (int i = 0; i < 50; i++) {
		expect_sample(&ring, &sample, &attr);
		CHECK_EQ(ring.record.header.misc, PERF_RECORD_MISC_USER);
		CHECK_EQ(sample.ip, (uintptr_t)probed);
		CHECK_EQ(sample.tid, gettid());
		CHECK_EQ(sample.raw_size, 8 + 8 + 4); /* fields, ip, padding */
		memcpy(&ip, sample.raw + 8, 8);
		CHECK_EQ(ip, (uintptr_t)probed);
	}
	expect_end(&ring);
	CHECK_EQ(count_of(fd), 50);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(system_calls_have_their_arguments),
		CASE(system_calls_have_their_result),
		CASE(texts_of_a_tracepoint_are_whole),
		CASE(switches_tell_from_whom_to_whom),
		CASE(other_fields_stand_around_it),
		CASE(events_without_it_give_four_bytes),
		CASE(filters_hold_samples_back),
		CASE(uprobes_sample_where_they_are),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
