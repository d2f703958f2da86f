// SPDX-License-Identifier: GPL-2.0
/*
 * The counts that a sample takes along, and those that read(2) gives: each
 * read_format, groups of each size, members that come and go.
 */
#include "perf_ring_read.h"

/*
 * A group counts page faults from their beginning; one member, the sampler,
 * counts and samples them at their end. So in the sample of the nth fault each
 * count is n, less what the member had missed or what was reset.
 */
struct group {
	int fd[MAX_MEMBERS];
	uint64_t id[MAX_MEMBERS];
	size_t nr, sampler;
	struct perf_event_attr attr; /* of the sampler */
	struct ring ring;
	struct fault_area area;
	size_t page;
	uint64_t count[MAX_MEMBERS]; /* that it has to have now */
	struct values last;
};

static struct group group;

static struct perf_event_attr member_attr(uint64_t format)
{
	struct perf_event_attr attr = software_attr(PERF_COUNT_SW_PAGE_FAULTS);

	attr.read_format = format;
	return attr;
}

static struct perf_event_attr sampler_attr(uint64_t format)
{
	struct perf_event_attr attr = minor_fault_attr(PERF_SAMPLE_ADDR |
						       PERF_SAMPLE_READ |
						       PERF_SAMPLE_CPU);

	attr.disabled = 0;
	attr.read_format = format;
	return attr;
}

static int open_member(const struct perf_event_attr *attr, int leader)
{
	int fd = perf_open(attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		FAIL("perf_event_open in a group: %s", strerror(errno));
	return fd;
}

static void add_member(uint64_t format)
{
	struct perf_event_attr attr = member_attr(format);
	size_t nr = group.nr++;

	if (nr == group.sampler) {
		attr = sampler_attr(format);
		group.attr = attr;
	}
	if (nr == 0)
		attr.disabled = 1;
	group.fd[nr] = open_member(&attr, nr ? group.fd[0] : -1);
	group.id[nr] = event_id(group.fd[nr]);
	group.count[nr] = 0;
}

static void prepare_faults(size_t pages)
{
	touch_stack();
	group.area = fault_area(pages);
	group.page = pages;
}

static void open_group(size_t nr, size_t sampler, uint64_t format)
{
	group.nr = 0;
	group.sampler = sampler;
	memset(&group.last, 0, sizeof(group.last));
	while (group.nr < nr)
		add_member(format);
	ring_map(&group.ring, group.fd[sampler], 1);
	ring_touch(&group.ring);
}

static void close_group(void)
{
	ring_unmap(&group.ring);
	for (size_t i = 0; i < group.nr; i++)
		close(group.fd[i]);
}

/* One fault that all members count. */
static volatile char *fault_once(void)
{
	volatile char *at;

	if (group.page == group.area.pages) {
		fault_again(&group.area);
		group.page = 0;
	}
	at = page_of(&group.area, group.page++);
	CHECK(!ioctl(group.fd[0], PERF_EVENT_IOC_ENABLE, 0));
	fault_on(at);
	CHECK(!ioctl(group.fd[0], PERF_EVENT_IOC_DISABLE, 0));
	for (size_t i = 0; i < group.nr; i++)
		group.count[i]++;
	return at;
}

static void check_times(const struct values *got, uint64_t format)
{
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		CHECK(got->enabled > group.last.enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		CHECK(got->running > group.last.running);
	if ((format & PERF_FORMAT_TOTAL_TIME_ENABLED) &&
	    (format & PERF_FORMAT_TOTAL_TIME_RUNNING))
		CHECK_EQ(got->running, got->enabled);
}

/* What the member at this place of the group has to give. */
static void check_values(const struct values *got, uint64_t format, size_t at)
{
	bool whole = format & PERF_FORMAT_GROUP;

	CHECK_EQ(got->nr, whole ? group.nr : 1);
	for (size_t i = 0; i < got->nr; i++) {
		size_t member = whole ? i : at;

		CHECK_EQ(got->of[i].count, group.count[member]);
		if (format & PERF_FORMAT_ID)
			CHECK_EQ(got->of[i].id, group.id[member]);
		CHECK_EQ(got->of[i].lost, 0);
	}
}

static struct values expect_values(volatile char *at)
{
	uint64_t format = group.attr.read_format;
	struct values got;
	struct sample s;

	expect_sample(&group.ring, &s, &group.attr);
	CHECK_EQ(s.addr, at);
	CHECK_EQ(group.ring.record.header.size,
		 8 + 16 + 8 * words_of_format(format, group.nr));
	got = values_in_sample(&s, format);
	expect_end(&group.ring);
	ring_release(&group.ring);
	return got;
}

static void sample_and_read(void)
{
	uint64_t format = group.attr.read_format;
	struct values got = expect_values(fault_once());

	check_values(&got, format, group.sampler);
	check_times(&got, format);
	group.last = got;
	for (size_t i = 0; i < group.nr; i++) {
		got = values_of(group.fd[i], format, group.nr);
		check_values(&got, format, i);
		if (i != group.sampler && !(format & PERF_FORMAT_GROUP))
			continue; /* came later, or earlier */
		CHECK(got.enabled >= group.last.enabled);
		CHECK(got.running >= group.last.running);
	}
}

/* ---- formats and sizes ---- */

static void each_format_of_one_event(void)
{
	prepare_faults(64);
	for (uint64_t format = 0; format <= ALL_FORMATS; format++) {
		open_group(1, 0, format);
		sample_and_read();
		sample_and_read();
		close_group();
	}
}

static void each_format_of_groups_up_to_8(void)
{
	prepare_faults(64);
	for (size_t nr = 2; nr <= MAX_MEMBERS; nr++) {
		for (uint64_t format = 0; format <= ALL_FORMATS; format++) {
			open_group(nr, format % nr, format);
			sample_and_read();
			sample_and_read();
			close_group();
		}
	}
}

static void unknown_formats_are_refused(void)
{
	for (int bit = 5; bit < 64; bit++) {
		struct perf_event_attr attr = member_attr(1ULL << bit);

		CHECK_ERRNO(perf_open(&attr, 0, -1, -1, 0), EINVAL);
	}
}

/* Each count is its member's own: they differ after resets in between. */
static void counts_stand_in_the_order_of_the_group(void)
{
	prepare_faults(64);
	open_group(MAX_MEMBERS, 3, ALL_FORMATS);
	for (size_t i = 0; i < MAX_MEMBERS; i++) {
		sample_and_read();
		CHECK(!ioctl(group.fd[i], PERF_EVENT_IOC_RESET, 0));
		group.count[i] = 0;
		sample_and_read();
	}
	CHECK_EQ(group.count[0], 2 * MAX_MEMBERS - 1);
	CHECK(!ioctl(group.fd[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP));
	memset(group.count, 0, sizeof(group.count));
	sample_and_read();
	close_group();
}

/* Each member of a group answers in its own format. */
static void members_have_formats_of_their_own(void)
{
	struct values got;

	prepare_faults(8);
	group.nr = 0;
	group.sampler = 1;
	for (uint64_t format = 0; format < MAX_MEMBERS; format++)
		add_member(format * 4 & ALL_FORMATS);
	ring_map(&group.ring, group.fd[group.sampler], 1);
	ring_touch(&group.ring);
	got = expect_values(fault_once());
	check_values(&got, group.attr.read_format, group.sampler);
	for (size_t i = 0; i < MAX_MEMBERS; i++) {
		uint64_t format = i * 4 & ALL_FORMATS;

		got = values_of(group.fd[i], format, MAX_MEMBERS);
		check_values(&got, format, i);
	}
}

/* ---- members that come and go ---- */

static void a_group_that_grows_is_seen_whole(void)
{
	prepare_faults(64);
	for (uint64_t format = 0; format <= ALL_FORMATS; format++) {
		open_group(1, 0, format);
		sample_and_read();
		while (group.nr < MAX_MEMBERS) {
			add_member(format);
			sample_and_read();
		}
		close_group();
	}
}

static void remove_member(size_t at)
{
	close(group.fd[at]);
	group.nr--;
	for (size_t i = at; i < group.nr; i++) {
		group.fd[i] = group.fd[i + 1];
		group.id[i] = group.id[i + 1];
		group.count[i] = group.count[i + 1];
	}
}

static void a_group_that_shrinks_is_seen_whole(void)
{
	static const size_t order[] = { 7, 3, 1, 4, 2, 1, 1 };

	prepare_faults(64);
	for (uint64_t format = 0; format <= ALL_FORMATS; format++) {
		open_group(MAX_MEMBERS, 0, format);
		sample_and_read();
		for (size_t i = 0; i < ARRAY_LEN(order); i++) {
			remove_member(order[i]);
			sample_and_read();
		}
		CHECK_EQ(group.nr, 1);
		close_group();
	}
}

/* Without their leader, members are groups of one, and are seen as such. */
static void a_member_that_loses_its_leader_is_alone(void)
{
	uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	uint64_t block[4 + 3 * MAX_MEMBERS];
	int fd;

	prepare_faults(8);
	open_group(4, 2, format);
	sample_and_read();
	fd = group.fd[2];
	enable(group.fd[0]); /* so that the others are at work */
	close(group.fd[0]);
	fault_on(page_of(&group.area, group.page));
	disable(fd);
	expect_type(&group.ring, PERF_RECORD_SAMPLE);
	CHECK_EQ(group.ring.record.words[3], 1);
	CHECK_EQ(group.ring.record.words[5], group.id[2]);
	CHECK_EQ(read(fd, block, sizeof(block)), 24);
	CHECK_EQ(block[0], 1);
	CHECK_EQ(block[1], 2);
	CHECK_EQ(block[2], group.id[2]);
	CHECK_EQ(group.ring.record.header.size, 8 + 16 + 24);
}

/* A group's block has to fit into 16 KiB. */
static void groups_that_are_too_large_are_refused(void)
{
	const size_t most = (16384 - 3 * 8) / 24;
	struct perf_event_attr attr = member_attr(ALL_FORMATS);
	static uint64_t block[2048];
	int leader = open_member(&attr, -1);

	for (size_t i = 1; i < most; i++)
		open_member(&attr, leader);
	CHECK_ERRNO(perf_open(&attr, 0, -1, leader, 0), E2BIG);
	attr.read_format = 0; /* the others still ask for all */
	CHECK_ERRNO(perf_open(&attr, 0, -1, leader, 0), E2BIG);
	CHECK_EQ(read(leader, block, sizeof(block)), 24 + most * 24);
	CHECK_EQ(block[0], most);
}

/* ---- lost records ---- */

static void lost_records_are_counted_each_for_its_event(void)
{
	struct values got;

	prepare_faults(64);
	open_group(3, 1, ALL_FORMATS);
	for (uint64_t lost = 0; lost < 40; lost += 4) {
		got = values_of(group.fd[0], ALL_FORMATS, 3);
		CHECK_EQ(got.of[1].lost, lost);
		CHECK(!pause_output(group.fd[1], 1));
		for (int i = 0; i < 4; i++)
			fault_once();
		CHECK(!pause_output(group.fd[1], 0));
		got = values_of(group.fd[0], ALL_FORMATS, 3);
		CHECK_EQ(got.of[1].lost, lost + 4);
		fault_once();
		expect_lost(&group.ring, group.id[1], 4);
		expect_type(&group.ring, PERF_RECORD_SAMPLE);
		got = values_in(group.ring.record.words + 3,
				words_of_format(ALL_FORMATS, 3), ALL_FORMATS);
		CHECK_EQ(got.of[0].lost, 0);
		CHECK_EQ(got.of[1].lost, lost + 4);
		CHECK_EQ(got.of[2].lost, 0);
		CHECK_EQ(got.of[1].count, group.count[1]);
		CHECK(!ioctl(group.fd[1], PERF_EVENT_IOC_RESET, 0));
		group.count[1] = 0; /* and lost stays */
		expect_end(&group.ring);
		ring_release(&group.ring);
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(each_format_of_one_event),
		CASE(each_format_of_groups_up_to_8),
		CASE(unknown_formats_are_refused),
		CASE(counts_stand_in_the_order_of_the_group),
		CASE(members_have_formats_of_their_own),
		CASE(a_group_that_grows_is_seen_whole),
		CASE(a_group_that_shrinks_is_seen_whole),
		CASE(a_member_that_loses_its_leader_is_alone),
		CASE(groups_that_are_too_large_are_refused),
		CASE(lost_records_are_counted_each_for_its_event),
	};

	(void)argc;
	return run_cases(cases, ARRAY_LEN(cases), argv + 1);
}
