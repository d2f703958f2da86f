// SPDX-License-Identifier: GPL-2.0
/*
 * What an event of intel_pt may ask for: attr.config against the capabilities that sysfs
 * shows, what sysfs shows, and what an event may exclude. What is accepted also runs.
 */
#include "perf_pt_event.h"

#include <dirent.h>
#include <fcntl.h>

/* ---- what may be asked for ---- */

struct field {
	const char *name;
	unsigned int first, bits;
	const char *cap; /* without it the field has to be 0 */
	const char *values; /* a bitmap of what may be in it */
	bool also_zero; /* a value of 0 has to be in the bitmap, too */
};

static const struct field fields[] = {
	{ "pt", 0, 1, NULL, NULL, false },
	{ "cyc", 1, 1, "psb_cyc", NULL, false },
	{ "pwr_evt", 4, 1, "power_event_trace", NULL, false },
	{ "fup_on_ptw", 5, 1, "ptwrite", NULL, false },
	{ "mtc", 9, 1, "mtc", NULL, false },
	{ "tsc", 10, 1, NULL, NULL, false },
	{ "noretcomp", 11, 1, NULL, NULL, false },
	{ "ptw", 12, 1, "ptwrite", NULL, false },
	{ "branch", 13, 1, NULL, NULL, false },
	{ "mtc_period", 14, 4, "mtc", "mtc_periods", true },
	{ "cyc_thresh", 19, 4, "psb_cyc", "cycle_thresholds", false },
	{ "psb_period", 24, 4, "psb_cyc", "psb_periods", false },
	{ "event", 31, 1, "event_trace", NULL, false },
	{ "notnt", 55, 1, "tnt_disable", NULL, false },
};

static uint64_t value_of(const struct field *field, uint64_t config)
{
	return config >> field->first & ((1ULL << field->bits) - 1);
}

/* The same as the fields' caps and values, read once. */
static struct {
	bool able;
	uint64_t values;
} known_caps[ARRAY_LEN(fields)];

static void read_caps(void)
{
	static bool done;

	for (size_t i = 0; i < ARRAY_LEN(fields) && !done; i++) {
		const struct field *field = &fields[i];

		known_caps[i].able = !field->cap || pt_cap(field->cap);
		known_caps[i].values = field->values ? pt_cap(field->values) : ~0ULL;
	}
	done = true;
}

static bool field_may_be(size_t nr, uint64_t value, bool zero_counts)
{
	if (!value && !(zero_counts && fields[nr].values))
		return true;
	return known_caps[nr].able && known_caps[nr].values >> value & 1;
}

static bool may_be(uint64_t config)
{
	bool pt = config & 1, branch = config >> 13 & 1;
	bool mtc = config & (1 << 9 | 15 << 14);
	uint64_t known = 0;

	read_caps();
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct field *field = &fields[i];

		known |= ((1ULL << field->bits) - 1) << field->first;
		if (!field_may_be(i, value_of(field, config), field->also_zero && mtc))
			return false;
	}
	if (config & ~known)
		return false;
	if ((config >> 5 & 1) && !(config >> 12 & 1))
		return false; /* an address for no packet */
	return pt || !branch;
}

/* The descriptor, or -1 where that was right. */
static int try_config(uint64_t config)
{
	struct perf_event_attr attr = pt_attr();
	int fd;

	attr.config = config;
	fd = perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && errno != EINVAL)
		FAIL("config %#" PRIx64 " fails with %s", config,
		     strerrorname_np(errno));
	if ((fd >= 0) != may_be(config))
		FAIL("config %#" PRIx64 " is %s", config,
		     fd >= 0 ? "accepted" : "refused");
	return fd;
}

static bool check_config(uint64_t config)
{
	int fd = try_config(config);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void every_bit(void)
{
	unsigned int taken = 0;

	for (int bit = 0; bit < 64; bit++) {
		taken += check_config(1ULL << bit);
		taken += check_config(1ULL << bit | 1);
		taken += check_config(1ULL << bit | 1 | 1 << 13);
	}
	CHECK(taken > 10);
	CHECK(taken < 100);
}

static void every_value_of_every_field(void)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const struct field *field = &fields[i];

		for (uint64_t value = 0; value >> field->bits == 0; value++) {
			uint64_t config = value << field->first;

			check_config(config);
			check_config(config | 1 | 1 << 13);
			check_config(config | 1 << 1); /* cyc */
			check_config(config | 1 << 9); /* mtc */
			check_config(config | 1 << 12); /* ptw */
		}
	}
}

static uint64_t random_state = 88172645463325252ULL;

static uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Of the fields' bits, some of them; now and then one of none. */
static uint64_t random_config(void)
{
	uint64_t config = 0;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		uint64_t value = random_word() % (1ULL << fields[i].bits);

		if (random_word() % 3 == 0)
			config |= value << fields[i].first;
	}
	if (random_word() % 16 == 0)
		config |= 1ULL << random_word() % 64;
	return config;
}

static void any_combination(void)
{
	unsigned int taken = 0;

	for (int i = 0; i < 1000; i++)
		taken += check_config(random_config());
	CHECK(taken > 25);
	CHECK(taken < 975);
}

/* The other words mean nothing to this PMU, as on the base. */
static void other_words_do_not_count(void)
{
	struct perf_event_attr attr = pt_attr();

	attr.config1 = attr.config2 = ~0ULL;
	close(open_self(&attr));
}

/* ---- what is accepted runs ---- */

static struct pt_trace trace;

static void run_config(uint64_t config)
{
	uint64_t faults = pt_count("faults"), errors = pt_count("errors");
	int fd = try_config(config);
	struct pt_walk walk;

	if (fd < 0)
		return;
	pt_map(&trace, fd, 1, 16);
	enable(fd);
	pt_calls(2);
	pt_loop(20);
	pt_finish(&trace);
	walk = pt_expect_whole(&trace);
	if (pt_count("faults") != faults || pt_count("errors") != errors)
		FAIL("config %#" PRIx64 " makes the hardware complain", config);
	/* Branches unless they are turned off, time stamps if they are turned on. */
	CHECK_EQ(!walk.seen[PT_TIP_PGE], (config & 1) && !(config >> 13 & 1));
	CHECK_EQ(!!walk.seen[PT_TSC], !!(config >> 10 & 1));
	CHECK(walk.seen[PT_MTC] == 0 || config >> 9 & 1);
	CHECK(walk.seen[PT_CYC] == 0 || config >> 1 & 1);
	CHECK(!walk.seen[PT_TNT] || !(config >> 55 & 1));
	pt_unmap(&trace);
	close(fd);
}

static void accepted_values_run(void)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		for (uint64_t value = 0; value >> fields[i].bits == 0; value++)
			run_config(value << fields[i].first | 1 | 1 << 13);
}

static void accepted_combinations_run(void)
{
	for (int i = 0; i < 300; i++)
		run_config(random_config());
}

/* ---- sysfs ---- */

static void expect_file(const char *file, const char *want)
{
	char text[64];

	if (!pmu_file(PT, file, text, sizeof(text)))
		FAIL("there is no %s", file);
	text[strcspn(text, "\n")] = 0;
	if (strcmp(text, want))
		FAIL("%s is \"%s\", not \"%s\"", file, text, want);
}

static unsigned int files_in(const char *folder)
{
	char path[256];
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), PMU_FOLDER "/" PT "/%s", folder);
	dir = opendir(path);
	CHECK(dir);
	while ((entry = readdir(dir)))
		nr += entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}

static void formats_are_as_perf_knows_them(void)
{
	pmu_type(PT);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		char file[64], want[64];
		unsigned int last = fields[i].first + fields[i].bits - 1;

		snprintf(file, sizeof(file), "format/%s", fields[i].name);
		if (fields[i].bits == 1)
			snprintf(want, sizeof(want), "config:%u", last);
		else
			snprintf(want, sizeof(want), "config:%u-%u",
				 fields[i].first, last);
		expect_file(file, want);
	}
	CHECK_EQ(files_in("format"), ARRAY_LEN(fields));
}

static void capabilities_agree(void)
{
	static const char *const flags[] = {
		"cr3_filtering", "psb_cyc", "ip_filtering", "mtc", "ptwrite",
		"power_event_trace", "event_trace", "tnt_disable", "topa_output",
		"topa_multiple_entries", "single_range_output", "output_subsys",
		"payloads_lip",
	};
	char text[32];

	pmu_type(PT);
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		CHECK(pt_cap(flags[i]) <= 1);
	CHECK_EQ(pt_cap("topa_output"), 1);
	CHECK(pt_cap("num_address_ranges") <= 4);
	CHECK(pt_cap("mtc_periods") <= 0xffff);
	CHECK(pt_cap("cycle_thresholds") <= 0xffff);
	CHECK(pt_cap("psb_periods") <= 0xffff);
	CHECK(pt_cap("ip_filtering") || !pt_cap("num_address_ranges"));
	pt_cap("max_subleaf");
	CHECK_EQ(files_in("caps"), 18 + pt_is_emulated());
	CHECK(pmu_file(PT, "nr_addr_filters", text, sizeof(text)));
	CHECK_EQ(strtoul(text, NULL, 0), pt_cap("num_address_ranges"));
}

static void clocks_are_told(void)
{
	char text[64];
	unsigned int numerator, denominator;

	pmu_type(PT);
	CHECK(pmu_file(PT, "max_nonturbo_ratio", text, sizeof(text)));
	CHECK(strtoul(text, NULL, 10) > 0 || !pt_is_emulated());
	CHECK(pmu_file(PT, "tsc_art_ratio", text, sizeof(text)));
	CHECK_EQ(sscanf(text, "%u:%u", &numerator, &denominator), 2);
}

static void sysfs_is_for_reading(void)
{
	static const char *const files[] = {
		"caps/mtc", "format/tsc", "nr_addr_filters", "max_nonturbo_ratio",
		"tsc_art_ratio",
	};

	pmu_type(PT);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char path[256];
		int fd;

		snprintf(path, sizeof(path), PMU_FOLDER "/" PT "/%s", files[i]);
		fd = open(path, O_WRONLY);
		CHECK(fd < 0 || write(fd, "1", 1) < 0);
		if (fd >= 0)
			close(fd);
	}
}

/* ---- what is excluded ---- */

static size_t bytes_with(bool no_user, bool no_kernel)
{
	struct perf_event_attr attr = pt_attr();
	int fd;

	attr.exclude_user = no_user;
	attr.exclude_kernel = no_kernel;
	fd = open_self(&attr);
	pt_map(&trace, fd, 1, 16);
	enable(fd);
	pt_calls(20);
	pt_finish(&trace);
	if (trace.size)
		pt_expect_whole(&trace);
	pt_unmap(&trace);
	close(fd);
	return trace.size;
}

static void user_or_kernel_or_both(void)
{
	CHECK(bytes_with(false, true) > 100);
	CHECK(bytes_with(false, false) > 100);
	/* The emulation knows no kernel mode: there is a beginning at most. */
	if (pt_is_emulated())
		CHECK(bytes_with(true, false) < 100);
	bytes_with(true, true);
}

static void sampling_and_other_attributes(void)
{
	struct perf_event_attr attr = pt_attr();

	attr.sample_period = 1; /* as perf opens it */
	close(open_self(&attr));
	attr.exclude_idle = attr.exclude_guest = 1;
	close(open_self(&attr));
	attr.precise_ip = 3;
	close(open_self(&attr));
	attr = pt_attr();
	attr.inherit = 1;
	close(open_self(&attr));
	attr.aux_watermark = 4096;
	close(open_self(&attr));
	attr.aux_sample_size = 4096; /* that is for another event to have */
	CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
}

/* ---- one at a time ---- */

static int try_open(pid_t pid, int cpu)
{
	struct perf_event_attr attr = pt_attr();

	return perf_open(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void one_event_for_each_task_and_cpu(void)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	int fd = try_open(0, -1), other;

	pmu_type(PT);
	CHECK(fd >= 0);
	CHECK_ERRNO(try_open(0, -1), EBUSY);
	CHECK_ERRNO(try_open(0, 0), EBUSY);
	close(fd);
	fd = try_open(0, 0);
	CHECK(fd >= 0);
	CHECK_ERRNO(try_open(0, 0), EBUSY);
	CHECK_ERRNO(try_open(0, -1), EBUSY);
	for (int cpu = 1; cpu < cpus; cpu++) {
		other = try_open(0, cpu);
		CHECK(other >= 0);
		close(other);
	}
	close(fd);
	fd = try_open(0, -1);
	CHECK(fd >= 0);
	close(fd);
}

/* A CPU's events and those of tasks shut each other out on the whole machine. */
static void tasks_or_cpus(void)
{
	int fd = try_open(-1, 0);

	pmu_type(PT);
	CHECK(fd >= 0);
	CHECK_ERRNO(try_open(-1, 0), EBUSY);
	CHECK_ERRNO(try_open(0, -1), EBUSY);
	close(fd);
	fd = try_open(0, -1);
	CHECK(fd >= 0);
	CHECK_ERRNO(try_open(-1, 0), EBUSY);
	close(fd);
	fd = try_open(-1, 0);
	CHECK(fd >= 0);
	close(fd);
}

static void it_leads_and_does_not_follow_itself(void)
{
	struct perf_event_attr attr = pt_attr(), plain = comm_attr();
	int fd = open_self(&attr), member;

	member = perf_open(&plain, 0, -1, fd, PERF_FLAG_FD_CLOEXEC);
	CHECK(member >= 0);
	attr.disabled = 0;
	CHECK_ERRNO(perf_open(&attr, 0, -1, fd, 0), EBUSY);
	close(member);
	close(fd);
	fd = open_self(&plain);
	member = perf_open(&attr, 0, -1, fd, PERF_FLAG_FD_CLOEXEC);
	CHECK(member >= 0);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(every_bit),
		CASE(every_value_of_every_field),
		CASE(any_combination),
		CASE(other_words_do_not_count),
		CASE(accepted_values_run),
		CASE(accepted_combinations_run),
		CASE(formats_are_as_perf_knows_them),
		CASE(capabilities_agree),
		CASE(clocks_are_told),
		CASE(sysfs_is_for_reading),
		CASE(user_or_kernel_or_both),
		CASE(sampling_and_other_attributes),
		CASE(one_event_for_each_task_and_cpu),
		CASE(tasks_or_cpus),
		CASE(it_leads_and_does_not_follow_itself),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
