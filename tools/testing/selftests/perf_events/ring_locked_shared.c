// SPDX-License-Identifier: GPL-2.0
/*
 * Who is charged when several processes and users have rings: one allowance for
 * each user, one charge for each ring however many processes map it, and every
 * account back at zero when the last of them is gone.
 */
#include "perf_ring_inject.h"
#include "perf_ring_locked.h"
#include "perf_ring_pass.h"

#define PLENTY 100000

/* ---- a ring that two processes map ---- */

/*
 * Two processes of one user share a large ring. The giver maps it and passes
 * the event on, the taker maps it too; then they take turns at unmapping.
 */
struct share {
	int socket[2];
	bool giver_exits; /* it leaves the unmapping to its exit */
	bool taker_first;
};

enum { GIVEN = 1, TAKEN, ONE_LEFT, NONE_LEFT, LOOKED_AT };

static void taker(void *arg)
{
	const struct share *share = arg;
	struct mapping mapping;

	map_fd(&mapping, receive_fd(share->socket[1]), large_ring());
	CHECK_EQ(pinned_pages(), 0);
	turn_next();
	turn_wait(share->taker_first ? TAKEN : ONE_LEFT);
	unmap(&mapping);
	turn_next();
	turn_wait(LOOKED_AT);
}

static void giver(void *arg)
{
	const struct share *share = arg;
	struct mapping mapping;
	int fd = open_comm();

	map_fd(&mapping, fd, large_ring());
	CHECK_EQ(pinned_pages(), large_ring_pins());
	send_fd(share->socket[0], fd);
	close(fd);
	turn_next();
	turn_wait(share->taker_first ? ONE_LEFT : TAKEN);
	CHECK_EQ(pinned_pages(), large_ring_pins());
	if (share->giver_exits)
		return;
	unmap(&mapping);
	turn_next();
	turn_wait(LOOKED_AT);
}

static void expect_nothing_pinned(pid_t pid)
{
	long pinned = pinned_pages_of(pid);

	if (pinned < 0)
		BASE_DEFECT("the last process to unmap is credited with what another was charged");
	if (pinned > 0)
		BASE_DEFECT("a process stays charged for a ring that is gone");
}

/* The giver's turn is over when it is gone, if it is to exit. */
static void wait_for_exit(pid_t giver_pid)
{
	join_child(giver_pid);
	turn_next();
}

static void share_a_ring(struct share share)
{
	pid_t giver_pid, taker_pid;

	become_limited_user(PLENTY);
	turns_begin();
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, share.socket));
	giver_pid = start_child(giver, &share);
	turn_wait(GIVEN);
	taker_pid = start_child(taker, &share);
	if (share.giver_exits)
		wait_for_exit(giver_pid);
	turn_wait(NONE_LEFT);
	if (!share.giver_exits)
		expect_nothing_pinned(giver_pid);
	expect_nothing_pinned(taker_pid);
	turn_next();
	if (!share.giver_exits)
		join_child(giver_pid);
	join_child(taker_pid);
	expect_whole_allowance();
}

static void taker_unmaps_first(void)
{
	share_a_ring((struct share) { .taker_first = true });
}

static void taker_unmaps_before_the_giver_exits(void)
{
	share_a_ring((struct share) { .taker_first = true,
				      .giver_exits = true });
}

static void giver_unmaps_first(void)
{
	share_a_ring((struct share) { .taker_first = false });
}

static void giver_exits_first(void)
{
	share_a_ring((struct share) { .giver_exits = true });
}

/* ---- a mapping that a child was made to inherit ---- */

static void dofork(bool child_last)
{
	struct mapping mapping;
	pid_t child;

	become_limited_user(PLENTY);
	turns_begin();
	map_new(&mapping, large_ring());
	CHECK(!madvise(mapping.base, mapping.pages * page_size(), MADV_DOFORK));
	child = fork();
	if (!child) {
		CHECK_EQ(pinned_pages(), 0);
		turn_wait(1);
		unmap(&mapping);
		turn_next();
		turn_wait(3);
		_exit(0);
	}
	CHECK_EQ(pinned_pages(), large_ring_pins());
	if (child_last)
		unmap(&mapping);
	turn_next();
	turn_wait(2);
	if (!child_last)
		unmap(&mapping);
	expect_nothing_pinned(getpid());
	expect_nothing_pinned(child);
	turn_next();
	join_child(child);
	expect_whole_allowance();
}

static void inherited_mapping_ends_before_the_parents(void)
{
	dofork(false);
}

static void inherited_mapping_ends_after_the_parents(void)
{
	dofork(true);
}

/* ---- one allowance for each user ---- */

static void hold_the_allowance(void *unused)
{
	struct mappings mappings = { .nr = 0 };

	(void)unused;
	map_exactly(&mappings, allowance_pages());
	turn_next();
	turn_wait(2);
}

static void processes_of_a_user_share_the_allowance(void)
{
	struct mapping second, third;
	pid_t holder;

	become_limited_user(40);
	turns_begin();
	holder = start_child(hold_the_allowance, NULL);
	turn_wait(1);
	CHECK_ERRNO(map_pages(open_comm(), 65, PROT_READ), EPERM);
	map_new(&second, 33);
	CHECK_EQ(pinned_pages(), 33);
	turn_next();
	join_child(holder);
	CHECK_EQ(pinned_pages(), 33); /* the split is made at mmap, and kept */
	map_new(&third, 65);
	CHECK_EQ(pinned_pages(), 33);
	unmap(&third);
	unmap(&second);
	CHECK_EQ(pinned_pages(), 0);
	expect_whole_allowance();
}

/* A limit of pages is each process's own, the allowance is not. */
static void pinned_pages_are_limited_by_process(void)
{
	struct mapping mapping;
	pid_t holder;

	become_limited_user(40);
	turns_begin();
	holder = start_child(hold_the_allowance, NULL);
	turn_wait(1);
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		if (!child) {
			map_new(&mapping, 33);
			CHECK_EQ(pinned_pages(), 33);
			CHECK_ERRNO(map_pages(open_comm(), 9, PROT_READ),
				    EPERM);
			_exit(0);
		}
		map_new(&mapping, 9);
		join_child(child);
	}
	CHECK_EQ(pinned_pages(), 27);
	turn_next();
	join_child(holder);
}

static void other_users_have_their_own(void)
{
	pid_t other;

	turns_begin();
	other = fork();
	if (!other) {
		become_limited_user(PLENTY);
		hold_the_allowance(NULL);
		_exit(0);
	}
	turn_wait(1);
	become_limited_user(PLENTY);
	expect_whole_allowance();
	turn_next();
	join_child(other);
}

/* The user who maps a ring first is the one whose allowance it uses. */
static void ring_stays_charged_to_its_first_user(void)
{
	struct mapping mapping;
	int pair[2], fd;
	pid_t other;

	turns_begin();
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	other = fork();
	if (!other) {
		become_limited_user(PLENTY);
		map_fd(&mapping, receive_fd(pair[1]), 129);
		expect_whole_allowance();
		turn_next();
		turn_wait(2);
		unmap(&mapping);
		expect_whole_allowance();
		_exit(0);
	}
	become_limited_user(PLENTY);
	fd = open_comm();
	map_fd(&mapping, fd, 129);
	send_fd(pair[0], fd);
	turn_wait(1);
	unmap(&mapping);
	close(fd);
	turn_next();
	join_child(other);
	expect_whole_allowance();
}

/* ---- memory runs out in the middle of it ---- */

/* Maps while the nth allocation fails; false when there is no nth. */
static bool map_with_failure(int fd, unsigned int nth, void **base)
{
	int control = fail_allocation(nth);

	*base = map_pages(fd, 33, PROT_READ | PROT_WRITE);
	return allocation_failed(control);
}

/* One range for the whole ring: its pages come in bulk, where few can fail. */
static bool rings_are_vmalloc_memory(void)
{
	return system("zgrep -qs '^CONFIG_PERF_USE_VMALLOC=y' /proc/config.gz") == 0;
}

static void failed_allocations_leave_nothing_behind(void)
{
	const unsigned int fewest = rings_are_vmalloc_memory() ? 1 : 33;
	unsigned int nth = 1, refused = 0;
	void *base;
	int fd;

	arm_fault_injection();
	become_limited_user(PLENTY);
	fd = open_comm();
	for (; map_with_failure(fd, nth, &base); nth++) {
		if (base == MAP_FAILED) {
			CHECK_EQ(errno, ENOMEM);
			refused++;
		} else {
			CHECK(!munmap(base, 33 * page_size()));
		}
		CHECK_EQ(pinned_pages(), 0);
	}
	CHECK(base != MAP_FAILED);
	CHECK(!munmap(base, 33 * page_size()));
	CHECK(refused >= fewest); /* each of the ring's pages was one of them */
	expect_whole_allowance();
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(taker_unmaps_first),
		CASE(taker_unmaps_before_the_giver_exits),
		CASE(giver_unmaps_first),
		CASE(giver_exits_first),
		CASE(inherited_mapping_ends_before_the_parents),
		CASE(inherited_mapping_ends_after_the_parents),
		CASE(processes_of_a_user_share_the_allowance),
		CASE(pinned_pages_are_limited_by_process),
		CASE(other_users_have_their_own),
		CASE(ring_stays_charged_to_its_first_user),
		CASE(failed_allocations_leave_nothing_behind),
	};

	(void)argc;
	return run_locked_cases(cases, ARRAY_LEN(cases), argv + 1);
}
