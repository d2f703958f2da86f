// SPDX-License-Identifier: GPL-2.0
/* What perf_event_open(2) and the event's ioctls refuse, and with which error. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "case.h"
#include "ring.h"
#include "work.h"

#define NOBODY 65534

/* A good attr in which @size bytes at @offset are replaced. */
struct change {
	const char *name;
	size_t offset, size;
	uint64_t value;
	uint64_t sample_type;
};

#define FIELD(name, value, sample_type) \
	{ #name " = " #value, offsetof(struct perf_event_attr, name), \
	  sizeof(((struct perf_event_attr *)0)->name), value, sample_type }

static const struct change changes[] = {
	FIELD(type, 0xffff, 0),
	FIELD(config, PERF_COUNT_SW_MAX, 0),
	FIELD(config, ~0ull, 0),
	FIELD(size, 63, 0),
	FIELD(size, 64, 0),
	FIELD(size, 0, 0),
	FIELD(size, 4097, 0),
	FIELD(sample_period, 1ull << 63, 0),
	FIELD(sample_period, 0, 0),
	FIELD(sample_type, PERF_SAMPLE_MAX, 0),
	FIELD(sample_type, 1ull << 63, 0),
	FIELD(sample_type, PERF_SAMPLE_BRANCH_STACK, 0),
	FIELD(sample_type, PERF_SAMPLE_AUX, 0),
	FIELD(sample_type, PERF_SAMPLE_WEIGHT_TYPE, 0),
	FIELD(read_format, PERF_FORMAT_MAX, 0),
	FIELD(read_format, PERF_FORMAT_MAX - 1, 0),
	FIELD(branch_sample_type, PERF_SAMPLE_BRANCH_ANY, PERF_SAMPLE_BRANCH_STACK),
	FIELD(branch_sample_type, PERF_SAMPLE_BRANCH_MAX, PERF_SAMPLE_BRANCH_STACK),
	FIELD(sample_regs_user, 0, PERF_SAMPLE_REGS_USER),
	FIELD(sample_regs_user, 1ull << 12, PERF_SAMPLE_REGS_USER),
	FIELD(sample_regs_user, 1ull << 24, PERF_SAMPLE_REGS_USER),
	FIELD(sample_regs_user, 1ull << 32, PERF_SAMPLE_REGS_USER),
	FIELD(sample_regs_intr, 0, PERF_SAMPLE_REGS_INTR),
	FIELD(sample_regs_intr, 1ull << 32, PERF_SAMPLE_REGS_INTR),
	FIELD(sample_stack_user, 4, PERF_SAMPLE_STACK_USER),
	FIELD(sample_stack_user, 0, PERF_SAMPLE_STACK_USER),
	FIELD(sample_stack_user, 65528, PERF_SAMPLE_STACK_USER),
	FIELD(sample_stack_user, 65535, PERF_SAMPLE_STACK_USER),
	FIELD(sample_stack_user, 65536, PERF_SAMPLE_STACK_USER),
	FIELD(clockid, 1, 0),
	FIELD(sample_max_stack, 127, PERF_SAMPLE_CALLCHAIN),
	FIELD(sample_max_stack, 128, PERF_SAMPLE_CALLCHAIN),
	FIELD(sample_max_stack, 0xffff, PERF_SAMPLE_CALLCHAIN),
	FIELD(aux_watermark, 1, 0),
	FIELD(aux_sample_size, 8, PERF_SAMPLE_AUX),
	FIELD(aux_action, 1, 0),
	FIELD(aux_action, 2, 0),
	FIELD(aux_action, 4, 0),
	FIELD(aux_action, 8, 0),
	FIELD(__reserved_2, 1, 0),
	FIELD(config3, 1, 0),
};

static struct perf_event_attr good_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.disabled = 1,
	};
}

static int open_as_is(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		      unsigned long flags)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);

	return fd < 0 ? -errno : fd;
}

static void say_open(const char *what, struct perf_event_attr *attr)
{
	int fd = open_as_is(attr, 0, -1, -1, 0);

	say_result(what, fd);
	if (attr->size != sizeof(*attr))
		say("  size became %u\n", attr->size);
	if (fd >= 0)
		close(fd);
}

static void fields(const void *unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct perf_event_attr attr = good_attr();

		attr.sample_type = changes[i].sample_type;
		memcpy((char *)&attr + changes[i].offset, &changes[i].value, changes[i].size);
		say_open(changes[i].name, &attr);
	}
}

/* Each flag of the attr by itself, in its place in the word of flags. */
static void flags(const void *unused)
{
	(void)unused;
	for (int bit = 0; bit < 64; bit++) {
		struct perf_event_attr attr = good_attr();
		uint64_t word = 1ull << bit;

		memcpy((char *)&attr + offsetof(struct perf_event_attr, read_format) + 8, &word,
		       sizeof(word));
		say("bit %d ", bit);
		say_open("", &attr);
	}
}

static void flag_pairs(const void *unused)
{
	struct perf_event_attr attr = good_attr();

	(void)unused;
	attr.sigtrap = 1;
	say_open("sigtrap alone", &attr);
	attr.remove_on_exec = 1;
	say_open("sigtrap and remove_on_exec", &attr);
	attr.enable_on_exec = 1;
	say_open("enable_on_exec and remove_on_exec", &attr);
	attr = good_attr();
	attr.inherit_thread = 1;
	say_open("inherit_thread alone", &attr);
	attr.inherit = 1;
	attr.read_format = PERF_FORMAT_GROUP;
	say_open("inherit and FORMAT_GROUP", &attr);
	attr.sample_type = PERF_SAMPLE_READ;
	say_open("inherit and SAMPLE_READ", &attr);
	attr = good_attr();
	attr.freq = 1;
	attr.sample_freq = 1000000000;
	say_open("freq beyond the limit", &attr);
	attr = good_attr();
	for (int clock = 0; clock < 12; clock++) {
		attr.use_clockid = 1;
		attr.clockid = clock;
		say("clock %d ", clock);
		say_open("", &attr);
	}
}

static void targets(const void *unused)
{
	struct perf_event_attr attr = good_attr();

	(void)unused;
	say_result("pid -1 cpu -1", open_as_is(&attr, -1, -1, -1, 0));
	say_result("pid -1 cpu 0", open_as_is(&attr, -1, 0, -1, 0));
	say_result("cpu 4095", open_as_is(&attr, -1, 4095, -1, 0));
	say_result("cpu -2", open_as_is(&attr, -1, -2, -1, 0));
	say_result("pid that is none", open_as_is(&attr, 0x3ffffff, -1, -1, 0));
	say_result("group that is none", open_as_is(&attr, 0, -1, 99, 0));
	say_result("group that is no event", open_as_is(&attr, 0, -1, 0, 0));
	say_result("flag 16", open_as_is(&attr, 0, -1, -1, 16));
	say_result("cgroup without cpu", open_as_is(&attr, 0, -1, -1, PERF_FLAG_PID_CGROUP));
	say_result("cgroup that is no folder", open_as_is(&attr, 0, 0, -1, PERF_FLAG_PID_CGROUP));
	say_result("no attr", open_as_is(NULL, 0, -1, -1, 0));
}

static void groups(const void *unused)
{
	struct perf_event_attr attr = good_attr();
	int leader = open_as_is(&attr, 0, -1, -1, 0);
	int member = open_as_is(&attr, 0, -1, leader, 0);

	(void)unused;
	say_result("leader", leader);
	say_result("member", member);
	say_result("member of a member", open_as_is(&attr, 0, -1, member, 0));
	say_result("another cpu", open_as_is(&attr, 0, 0, leader, 0));
	say_result("no group", open_as_is(&attr, 0, 0, leader, PERF_FLAG_FD_NO_GROUP));
	say_result("output", open_as_is(&attr, 0, -1, leader, PERF_FLAG_FD_OUTPUT));
	attr.pinned = 1;
	say_result("pinned member", open_as_is(&attr, 0, -1, leader, 0));
	attr = good_attr();
	attr.exclusive = 1;
	say_result("exclusive member", open_as_is(&attr, 0, -1, leader, 0));
	attr = good_attr();
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	say_result("another clock", open_as_is(&attr, 0, -1, leader, 0));
	attr = good_attr();
	attr.inherit = 1;
	say_result("inheriting member", open_as_is(&attr, 0, -1, leader, 0));
}

/* Members are added until the read values or the sample would be too big. */
static void group_size(const void *unused)
{
	struct perf_event_attr attr = good_attr();
	struct rlimit files = { 8192, 8192 };
	int leader, member, members = 0;

	(void)unused;
	setrlimit(RLIMIT_NOFILE, &files);
	attr.read_format = 31;
	attr.sample_type = PERF_SAMPLE_READ;
	leader = open_as_is(&attr, 0, -1, -1, 0);
	say_result("leader", leader);
	do {
		member = open_as_is(&attr, 0, -1, leader, 0);
	} while (member >= 0 && ++members < 7000);
	say("after %d members ", members);
	say_result("", member);
}

static long try_ioctl(int fd, unsigned long request, unsigned long argument)
{
	return ioctl(fd, request, argument) < 0 ? -errno : 0;
}

static void ioctls(const void *unused)
{
	struct perf_event_attr attr = good_attr();
	int fd = open_as_is(&attr, 0, -1, -1, 0);
	int counter;
	uint64_t period = 0;

	(void)unused;
	attr.sample_period = 0;
	counter = open_as_is(&attr, 0, -1, -1, 0);
	say_result("unknown", try_ioctl(fd, _IO('$', 99), 0));
	say_result("period 0", try_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period));
	period = 1ull << 63;
	say_result("period 2^63", try_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period));
	period = 5;
	say_result("period 5", try_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&period));
	say_result("period nowhere", try_ioctl(fd, PERF_EVENT_IOC_PERIOD, 0));
	say_result("counter's period",
		   try_ioctl(counter, PERF_EVENT_IOC_PERIOD, (unsigned long)&period));
	say_result("id nowhere", try_ioctl(fd, PERF_EVENT_IOC_ID, 0));
	say_result("pause without ring", try_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	say_result("refresh", try_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
	say_result("counter's refresh", try_ioctl(counter, PERF_EVENT_IOC_REFRESH, 1));
	say_result("filter", try_ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (unsigned long)"x == 1"));
	say_result("bpf that is none", try_ioctl(fd, PERF_EVENT_IOC_SET_BPF, 0));
	say_result("modify", try_ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
				       (unsigned long)&attr));
	say_result("query bpf", try_ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, (unsigned long)&period));
}

static void outputs(const void *unused)
{
	struct perf_event_attr attr = good_attr();
	struct ring one, two, backward, clocked, wide, inheriting;

	(void)unused;
	open_own(&one, &attr);
	open_own(&two, &attr);
	attr.write_backward = 1;
	open_own(&backward, &attr);
	attr = good_attr();
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	open_own(&clocked, &attr);
	attr = good_attr();
	open_event(&wide, &attr, -1, 0, -1);
	attr.inherit = 1;
	open_own(&inheriting, &attr);
#define TRY(from, to) say_result(#from " to " #to, \
				 try_ioctl((from).fd, PERF_EVENT_IOC_SET_OUTPUT, (to).fd))
	TRY(one, one);
	TRY(one, two);
	TRY(backward, one);
	TRY(clocked, one);
	TRY(wide, one);
	TRY(inheriting, one);
	map_ring(&one, 1, RING_READ_WRITE);
	TRY(one, two);
	TRY(two, one);
	map_ring(&backward, 1, RING_READ_WRITE);
	TRY(two, backward);
	TRY(backward, two);
	say_result("to none", try_ioctl(two.fd, PERF_EVENT_IOC_SET_OUTPUT, -1));
	say_result("mapped to none", try_ioctl(one.fd, PERF_EVENT_IOC_SET_OUTPUT, -1));
	say_result("to stdin", try_ioctl(two.fd, PERF_EVENT_IOC_SET_OUTPUT, 0));
	say_result("to closed", try_ioctl(two.fd, PERF_EVENT_IOC_SET_OUTPUT, 999));
#undef TRY
}

/* The default perf_event_paranoid lets a plain user watch only user mode. */
static void unprivileged(const void *unused)
{
	struct perf_event_attr attr = good_attr();

	(void)unused;
	say("paranoid %lu\n", number_in("/proc/sys/kernel/perf_event_paranoid"));
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		err(1, "setresuid");
	say_open("kernel and user", &attr);
	attr.exclude_kernel = 1;
	say_open("user", &attr);
	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	say_open("kernel chain", &attr);
	attr.exclude_callchain_kernel = 1;
	say_open("user chain", &attr);
	attr.sample_type = PERF_SAMPLE_PHYS_ADDR;
	say_open("physical address", &attr);
	attr.sample_type = 0;
	attr.namespaces = 1;
	say_open("namespaces", &attr);
	attr = good_attr();
	attr.exclude_kernel = 1;
	attr.text_poke = 1;
	say_open("text_poke", &attr);
	attr.text_poke = 0;
	say_result("cpu-wide", open_as_is(&attr, -1, 0, -1, 0));
	say_result("another's task", open_as_is(&attr, 1, -1, -1, 0));
}

void refusal_cases(void)
{
	run_case("refuse-fields", fields, NULL);
	run_case("refuse-flags", flags, NULL);
	run_case("refuse-flag-pairs", flag_pairs, NULL);
	run_case("refuse-targets", targets, NULL);
	run_case("refuse-groups", groups, NULL);
	run_case("refuse-group-size", group_size, NULL);
	run_case("refuse-ioctls", ioctls, NULL);
	run_case("refuse-outputs", outputs, NULL);
	run_case("refuse-unprivileged", unprivileged, NULL);
}
