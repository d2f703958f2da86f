// SPDX-License-Identifier: GPL-2.0
/*
 * Groups that an AUX event leads: members that pause and resume its trace, members that
 * put something of theirs into it; who may be one; and PMUs that take one event only.
 */
#include "perf_aux_record.h"
#include "perf_ring_task.h"

#include <pthread.h>

static struct aux aux;
static struct fault_area area;
static int leader;

static int try_member(const struct perf_event_attr *attr)
{
	return perf_open(attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static int open_member(const struct perf_event_attr *attr)
{
	int fd = try_member(attr);

	if (fd < 0)
		FAIL("perf_event_open of a member: %s", strerror(errno));
	return fd;
}

/* Members that act at each page fault while they are on. */
static struct perf_event_attr pause_attr(void)
{
	struct perf_event_attr attr = fault_attr();

	attr.aux_pause = 1;
	return attr;
}

static struct perf_event_attr resume_attr(void)
{
	struct perf_event_attr attr = fault_attr();

	attr.aux_resume = 1;
	return attr;
}

static int open_pause(void)
{
	struct perf_event_attr attr = pause_attr();

	return open_member(&attr);
}

static int open_resume(void)
{
	struct perf_event_attr attr = resume_attr();

	return open_member(&attr);
}

/*
 * Once. A member whose PMU is not its leader's is put onto the CPU only when the task
 * is the next time: the base groups by PMU where it schedules.
 */
static void act(int member)
{
	uint64_t before = count_of(member);

	fault_again(&area);
	enable(member);
	for (size_t i = 0; count_of(member) == before; i++) {
		CHECK(i < area.pages);
		usleep(1);
		area.base[i * page_size()] = 1;
	}
	disable(member);
}

static void open_leader(bool paused)
{
	struct perf_event_attr attr = aux_attr();

	area = fault_area(64);
	attr.aux_start_paused = paused;
	leader = open_self(&attr);
	aux_map(&aux, leader, 16, 256);
}

/* Does the stream go on while the task does? */
static bool writes(void)
{
	uint64_t before = count_of(leader);

	spin_ms(2);
	return count_of(leader) > before;
}

static void finish_in_order(void)
{
	aux_finish(&aux);
	CHECK_EQ(aux.kept, count_of(leader));
	CHECK_EQ(aux.gaps, 0);
	CHECK_EQ(aux.flags, 0);
}

/* ---- pause and resume ---- */

static void it_starts_paused(void)
{
	int resume;

	open_leader(true);
	resume = open_resume();
	enable(leader);
	spin_ms(5);
	CHECK_EQ(count_of(leader), 0);
	CHECK_EQ(aux_head(&aux), 0);
	expect_no_aux_record(&aux);
	act(resume);
	CHECK(writes());
	finish_in_order();
	CHECK(aux.kept >= 2000);
}

/* What a pause has ended can be read at once, and what is not made is no gap. */
static void only_what_was_between_is_written(void)
{
	int pause, resume;

	open_leader(false);
	pause = open_pause();
	resume = open_resume();
	enable(leader);
	for (int i = 0; i < 20; i++) {
		uint64_t count;

		CHECK(writes());
		act(pause);
		count = count_of(leader);
		CHECK_EQ(aux_head(&aux), count);
		CHECK(!writes());
		CHECK_EQ(aux_follow(&aux), count);
		act(resume);
	}
	finish_in_order();
	CHECK(aux.kept >= 20 * 2000);
}

static void twice_is_once(void)
{
	int pause, resume;

	open_leader(false);
	pause = open_pause();
	resume = open_resume();
	enable(leader);
	for (int i = 0; i < 5; i++) {
		act(resume);
		act(resume);
		CHECK(writes());
		act(pause);
		act(pause);
		CHECK(!writes());
	}
	finish_in_order();
}

static void several_members_may_do_the_same(void)
{
	int pauses[2], resumes[2];

	open_leader(false);
	for (int i = 0; i < 2; i++) {
		pauses[i] = open_pause();
		resumes[i] = open_resume();
	}
	enable(leader);
	for (int i = 0; i < 8; i++) {
		act(pauses[i % 2]);
		CHECK(!writes());
		act(resumes[i / 2 % 2]);
		CHECK(writes());
	}
	finish_in_order();
}

/* Off and on is another matter; so is another CPU. */
static void a_pause_lasts(void)
{
	int pause, resume;

	open_leader(false);
	pause = open_pause();
	resume = open_resume();
	enable(leader);
	CHECK(writes());
	act(pause);
	for (int i = 0; i < 3; i++) {
		disable(leader);
		enable(leader);
		CHECK(!writes());
		pin_to(i % cpus_online());
		CHECK(!writes());
	}
	act(resume);
	CHECK(writes());
	finish_in_order();
}

/* An event that is off, or its area away, finds the pause when it is back. */
static void an_area_may_come_and_go_meanwhile(void)
{
	int pause, resume;
	void *words;

	open_leader(false);
	pause = open_pause();
	resume = open_resume();
	enable(leader);
	act(pause);
	aux_unmap_area(&aux);
	act(resume);
	act(pause);
	act(resume);
	CHECK(!writes());
	words = aux_try_map(&aux, 16, PROT_READ | PROT_WRITE);
	CHECK(words != MAP_FAILED);
	aux.words = words;
	aux.size = 16 * page_size();
	disable(leader);
	enable(leader);
	CHECK(writes());
	act(pause);
	CHECK(!writes());
}

/* At each fault both members act, in whichever order, with nobody to look. */
static void a_storm_of_both(void)
{
	int members[2];

	open_leader(false);
	members[0] = open_pause();
	members[1] = open_resume();
	enable(leader);
	for (int i = 0; i < 20; i++) {
		fault_again(&area);
		enable(members[0]);
		enable(members[1]);
		usleep(500); /* they come on with the task */
		touch_pages(&area, area.pages);
		disable(members[i % 2]);
		disable(members[(i + 1) % 2]);
		aux_drain(&aux);
	}
	CHECK(count_of(members[0]) >= area.pages);
	CHECK(count_of(members[1]) >= area.pages);
	act(members[1]);
	CHECK(writes());
	act(members[0]);
	CHECK(!writes());
	finish_in_order();
}

/* They are samples as well. */
static void a_member_that_pauses_samples_too(void)
{
	struct perf_event_attr attr = pause_attr();
	static struct ring ring;
	int pause;

	open_leader(false);
	pause = open_member(&attr);
	ring_map(&ring, pause, 1);
	enable(leader);
	for (int i = 0; i < 5; i++)
		act(pause);
	for (int i = 0; i < 5; i++)
		expect_type(&ring, PERF_RECORD_SAMPLE);
	expect_end(&ring);
	CHECK_EQ(count_of(pause), 5);
}

/* Whoever has lost its leader has nothing to pause, and is off. */
static void the_leader_may_go(void)
{
	int members[2];

	open_leader(false);
	members[0] = open_pause();
	members[1] = open_resume();
	enable(leader);
	for (int i = 0; i < 2; i++)
		act(members[i]);
	for (int i = 0; i < 2; i++)
		enable(members[i]);
	aux_unmap(&aux);
	close(leader);
	for (int i = 0; i < 2; i++) {
		uint64_t values[4];

		CHECK_EQ(read(members[i], values, sizeof(values)), 0);
	}
}

/* Turned on again nevertheless, it counts. */
static void a_member_goes_on_without_its_leader(void)
{
	int members[2];

	if (on_base())
		BASE_DEFECT("a member that has lost its AUX leader makes the kernel warn");
	open_leader(false);
	members[0] = open_pause();
	members[1] = open_resume();
	enable(leader);
	aux_unmap(&aux);
	close(leader);
	for (int i = 0; i < 2; i++) {
		uint64_t before;

		enable(members[i]);
		before = count_of(members[i]);
		act(members[i]);
		CHECK_EQ(count_of(members[i]), before + 1);
	}
}

/* ---- who may be a member ---- */

static void expect_refused(struct perf_event_attr attr, int group_fd, int error)
{
	int fd = perf_open(&attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		FAIL("type %u, action %#x, output %d, sample %u is accepted, not refused with %s",
		     attr.type, attr.aux_action, attr.aux_output,
		     attr.aux_sample_size, strerrorname_np(error));
	if (errno != error)
		FAIL("type %u, action %#x, output %d, sample %u fails with %s, not with %s",
		     attr.type, attr.aux_action, attr.aux_output,
		     attr.aux_sample_size, strerrorname_np(errno),
		     strerrorname_np(error));
}

static struct perf_event_attr with_action(struct perf_event_attr attr, bool start,
					  bool pause, bool resume)
{
	attr.aux_start_paused = start;
	attr.aux_pause = pause;
	attr.aux_resume = resume;
	return attr;
}

static struct perf_event_attr output_attr(void)
{
	struct perf_event_attr attr = aux_attr();

	attr.aux_output = 1;
	attr.disabled = 0;
	return attr;
}

static void an_action_needs_a_leader_that_can(void)
{
	struct perf_event_attr attr = comm_attr();
	int software = open_self(&attr);

	leader = -1;
	expect_refused(pause_attr(), -1, EINVAL);
	expect_refused(resume_attr(), -1, EINVAL);
	expect_refused(pause_attr(), software, EINVAL);
	expect_refused(resume_attr(), software, EINVAL);
	open_leader(false);
	expect_refused(pause_attr(), open_pause(), EINVAL); /* no leader itself */
}

static void one_action_at_a_time(void)
{
	struct perf_event_attr attr = fault_attr();

	open_leader(false);
	expect_refused(with_action(attr, false, true, true), leader, EINVAL);
	expect_refused(with_action(attr, false, true, true), -1, EINVAL);
	attr.aux_action = 1u << 3;
	expect_refused(attr, leader, EINVAL);
	attr.aux_action = 1u << 31;
	expect_refused(attr, leader, EINVAL);
}

static void only_a_trace_starts_paused(void)
{
	open_leader(false);
	expect_refused(with_action(fault_attr(), true, false, false), -1,
		       EOPNOTSUPP);
	expect_refused(with_action(fault_attr(), true, false, true), leader,
		       EOPNOTSUPP);
}

static void output_needs_a_trace_for_a_leader(void)
{
	struct perf_event_attr attr = comm_attr();
	int software = open_self(&attr);

	expect_refused(output_attr(), -1, EINVAL);
	expect_refused(output_attr(), software, EINVAL);
	open_leader(false);
	close(open_member(&(struct perf_event_attr[]) { output_attr() }[0]));
	attr = fault_attr();
	attr.aux_output = 1;
	expect_refused(attr, leader, EOPNOTSUPP);
	expect_refused(attr, -1, EOPNOTSUPP);
}

static void output_goes_with_no_action_and_no_sample(void)
{
	struct perf_event_attr attr = output_attr();

	open_leader(false);
	expect_refused(with_action(attr, false, true, false), leader, EOPNOTSUPP);
	expect_refused(with_action(attr, false, false, true), leader, EOPNOTSUPP);
	attr.aux_sample_size = 64;
	expect_refused(attr, leader, EINVAL);
}

static void a_sample_needs_a_trace_for_a_leader(void)
{
	struct perf_event_attr attr = comm_attr();
	int software = open_self(&attr);

	attr = fault_attr();
	attr.aux_sample_size = 64;
	expect_refused(attr, -1, EINVAL);
	expect_refused(attr, software, EINVAL);
	attr.sample_type |= PERF_SAMPLE_AUX;
	expect_refused(attr, -1, EINVAL);
}

/* ---- members that put something into the trace ---- */

struct hw_id_record {
	struct perf_event_header header;
	uint64_t hw_id;
};

/* They have no stream, and no bytes of their own. */
static void an_output_member_tells_its_id(void)
{
	struct perf_event_attr attr = output_attr();
	const struct perf_event_header *record;
	unsigned int told = 0;
	int member;

	open_leader(false);
	aux_field(&attr, "hw_id", 1);
	aux_field(&attr, "id", 77);
	member = open_member(&attr);
	CHECK(!set_output(member, leader));
	for (int i = 0; i < 3; i++) {
		enable(leader);
		spin_ms(2);
		disable(leader);
	}
	while ((record = ring_next(&aux.ring))) {
		aux_take_record(&aux, record);
		if (record->type != PERF_RECORD_AUX_OUTPUT_HW_ID)
			continue;
		CHECK_EQ(((const struct hw_id_record *)record)->hw_id, 77);
		told++;
	}
	CHECK(told >= 3);
	CHECK_EQ(count_of(member), 0);
	aux_read(&aux);
	CHECK_EQ(aux.kept, count_of(leader));
	CHECK_EQ(aux.gaps, 0);
}

static void an_output_member_ends_with_its_leader(void)
{
	struct perf_event_attr attr = output_attr();
	uint64_t values[4];
	int member;

	open_leader(false);
	member = open_member(&attr);
	enable(leader);
	CHECK_EQ(read(member, values, sizeof(values)), 8);
	aux_unmap(&aux);
	close(leader);
	CHECK_EQ(read(member, values, sizeof(values)), 0);
	enable(member); /* to no avail, and no harm */
	spin_ms(1);
	disable(member);
	close(member);
}

/* A group is on a CPU as a whole or not at all. */
static void a_full_area_takes_the_group_off(void)
{
	struct perf_event_attr attr = aux_attr();
	uint64_t count;
	int member;

	area = fault_area(64);
	aux_field(&attr, "rate", 20000000);
	leader = open_self(&attr);
	aux_map(&aux, leader, 16, 1);
	attr = fault_attr();
	attr.disabled = 0;
	member = open_member(&attr);
	enable(leader);
	spin_ms(10);
	CHECK(aux_head(&aux) >= 4088);
	fault_again(&area);
	count = count_of(member);
	touch_pages(&area, 10);
	if (count_of(member) != count)
		BASE_DEFECT("a full area leaves the group on");
	/* It fills up again before long. */
	for (int i = 0; i < 100 && count_of(member) == count; i++) {
		aux_drain(&aux);
		fault_again(&area);
		enable(leader);
		touch_pages(&area, 1);
	}
	CHECK(count_of(member) > count);
}

/* ---- children ---- */

/* An inherited event needs a CPU to be mapped; all that matters happens there. */
static int open_inherited(struct perf_event_attr attr, int group_fd)
{
	int fd;

	attr.inherit = 1;
	fd = perf_open(&attr, getpid(), 0, group_fd, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		FAIL("perf_event_open of an inherited event: %s",
		     strerror(errno));
	return fd;
}

static void open_family(void)
{
	struct perf_event_attr attr = aux_attr();

	pin_to(0);
	area = fault_area(64);
	attr.sample_type = PERF_SAMPLE_TIME;
	leader = open_inherited(attr, -1);
	aux_map(&aux, leader, 16, 256);
}

/* A child's members pause the child's trace, its parent's goes on. */
static void a_child_pauses_its_own_trace(void)
{
	struct perf_event_attr attr = pause_attr();
	pid_t child;

	open_family();
	attr.disabled = 0;
	open_inherited(attr, leader);
	enable(leader);
	fault_again(&area);
	touch_pages(&area, 1); /* paused ourselves */
	CHECK(!writes());
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		spin_ms(5);
		_exit(0);
	}
	join_child(child);
	disable(leader);
	aux_drain(&aux);
	CHECK_EQ(aux.kept, count_of(leader));
	CHECK_EQ(aux.gaps, 0);
}

static void a_family_writes_one_stream(void)
{
	struct perf_event_attr pause = pause_attr(), resume = resume_attr();

	open_family();
	open_inherited(pause, leader);
	open_inherited(resume, leader);
	enable(leader);
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child) {
			spin_ms(3);
			_exit(0);
		}
		spin_ms(1);
		join_child(child);
		aux_drain(&aux);
	}
	finish_in_order();
	CHECK(aux.kept >= 10 * 3000);
}

static bool done;

/*
 * Where a task and its child have the same events, the kernel exchanges them rather than
 * switch: the leader can be with the child, where a new member cannot join it, or be
 * gone with that.
 */
static int try_inherited(struct perf_event_attr attr, int group_fd)
{
	int fd;

	attr.inherit = 1;
	fd = perf_open(&attr, getpid(), 0, group_fd, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		CHECK(errno == EINVAL || errno == ENODEV);
	return fd;
}

/* Members first, or their leader. */
static void *open_and_close_groups(void *leader_first)
{
	struct perf_event_attr attr = aux_attr();
	uintptr_t whole = 0;

	attr.disabled = 0;
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		int fds[] = { open_inherited(attr, -1), -1, -1, -1 };

		fds[1] = try_inherited(output_attr(), fds[0]);
		fds[2] = try_inherited(pause_attr(), fds[0]);
		fds[3] = try_inherited(output_attr(), fds[0]);
		whole += fds[1] >= 0 && fds[2] >= 0 && fds[3] >= 0;
		for (int i = 0; i < 4; i++)
			close(fds[leader_first ? i : 3 - i]);
	}
	return (void *)whole;
}

static void fork_and_join(unsigned int times)
{
	for (unsigned int i = 0; i < times; i++) {
		pid_t child = fork();

		if (child < 0 && errno == EINVAL)
			BASE_DEFECT("fork() fails while a leader is being closed");
		CHECK(child >= 0);
		if (!child)
			_exit(0);
		join_child(child);
	}
}

static void close_while_children_come(void *leader_first)
{
	pthread_t thread;
	void *whole;

	CHECK(!pthread_create(&thread, NULL, open_and_close_groups,
			      leader_first));
	fork_and_join(60);
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	CHECK(!pthread_join(thread, &whole));
	CHECK((uintptr_t)whole >= 5);
}

/* PB-68. One thread forks while another closes members. */
static void members_go_while_children_come(void)
{
	close_while_children_come(NULL);
}

static void leaders_go_while_children_come(void)
{
	close_while_children_come(&done);
}

/* ---- PMUs that take one event ---- */

static int try_exclusive(pid_t pid, int cpu)
{
	struct perf_event_attr attr = aux_attr_of("aux_test_exclusive");

	return perf_open(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_exclusive(pid_t pid, int cpu)
{
	int fd = try_exclusive(pid, cpu);

	if (fd < 0)
		FAIL("perf_event_open(pid %d, cpu %d): %s", pid, cpu,
		     strerror(errno));
	return fd;
}

static void one_event_of_each_task(void)
{
	struct sleeping_task task = start_sleeping(NULL);
	struct perf_event_attr attr = aux_attr();
	int own = open_exclusive(0, -1), other;

	CHECK_ERRNO(try_exclusive(0, -1), EBUSY);
	CHECK_ERRNO(try_exclusive(0, 0), EBUSY);
	other = open_exclusive(task.pid, -1);
	CHECK_ERRNO(try_exclusive(task.pid, -1), EBUSY);
	open_self(&attr); /* another PMU */
	close(own);
	own = open_exclusive(0, 0);
	CHECK_ERRNO(try_exclusive(0, -1), EBUSY);
	CHECK_ERRNO(try_exclusive(0, 0), EBUSY);
	if (cpus_online() > 1)
		close(open_exclusive(0, 1));
	close(other);
	close(own);
	end_task(&task);
}

static void one_event_of_each_cpu(void)
{
	int first = open_exclusive(-1, 0);

	CHECK_ERRNO(try_exclusive(-1, 0), EBUSY);
	if (cpus_online() > 1) {
		int second = open_exclusive(-1, 1);

		CHECK_ERRNO(try_exclusive(-1, 1), EBUSY);
		close(second);
	}
	close(first);
	close(open_exclusive(-1, 0));
}

static void tasks_or_cpus(void)
{
	struct sleeping_task task = start_sleeping(NULL);
	int fd = open_exclusive(0, -1), other;

	CHECK_ERRNO(try_exclusive(-1, 0), EBUSY);
	CHECK_ERRNO(try_exclusive(-1, cpus_online() - 1), EBUSY);
	other = open_exclusive(task.pid, -1);
	close(fd);
	CHECK_ERRNO(try_exclusive(-1, 0), EBUSY);
	close(other);

	fd = open_exclusive(-1, 0);
	CHECK_ERRNO(try_exclusive(0, -1), EBUSY);
	CHECK_ERRNO(try_exclusive(0, cpus_online() - 1), EBUSY);
	CHECK_ERRNO(try_exclusive(task.pid, -1), EBUSY);
	close(fd);
	close(open_exclusive(0, -1));
	end_task(&task);
}

/* A mapping is an event, too. */
static void a_mapping_keeps_its_event(void)
{
	int fd = open_exclusive(-1, 0);

	aux_map(&aux, fd, 1, 1);
	close(fd);
	CHECK_ERRNO(try_exclusive(-1, 0), EBUSY);
	aux_unmap(&aux);
	close(open_exclusive(-1, 0));
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(it_starts_paused),
		CASE(only_what_was_between_is_written),
		CASE(twice_is_once),
		CASE(several_members_may_do_the_same),
		CASE(a_pause_lasts),
		CASE(an_area_may_come_and_go_meanwhile),
		CASE(a_storm_of_both),
		CASE(a_member_that_pauses_samples_too),
		CASE(the_leader_may_go),
		CASE(a_member_goes_on_without_its_leader),
		CASE(an_action_needs_a_leader_that_can),
		CASE(one_action_at_a_time),
		CASE(only_a_trace_starts_paused),
		CASE(output_needs_a_trace_for_a_leader),
		CASE(output_goes_with_no_action_and_no_sample),
		CASE(a_sample_needs_a_trace_for_a_leader),
		CASE(an_output_member_tells_its_id),
		CASE(an_output_member_ends_with_its_leader),
		CASE(a_full_area_takes_the_group_off),
		CASE(a_child_pauses_its_own_trace),
		CASE(a_family_writes_one_stream),
		CASE(members_go_while_children_come),
		CASE(leaders_go_while_children_come),
		CASE(one_event_of_each_task),
		CASE(one_event_of_each_cpu),
		CASE(tasks_or_cpus),
		CASE(a_mapping_keeps_its_event),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
