// SPDX-License-Identifier: GPL-2.0
/*
 * What one process is charged for its rings: the user's allowance first, pinned
 * pages after it, nothing for what fails or is mapped already, and all of it
 * handed back whichever way the mappings end.
 */
#include "perf_ring_locked.h"

#include <linux/capability.h>

#define PLENTY 100000 /* pages, more than any case maps */
#define LITTLE 16

/* What the kernel should make of a sequence of mappings. */
struct ledger {
	long allowance, used, pinned;
};

static struct ledger new_ledger(void)
{
	return (struct ledger) { .allowance = allowance_pages() };
}

/* Returns how many of the pages are pinned ones. */
static long charge(struct ledger *ledger, long pages)
{
	long room = ledger->allowance - ledger->used;
	long pinned = pages > room ? pages - room : 0;

	ledger->used += pages - pinned;
	ledger->pinned += pinned;
	return pinned;
}

static void discharge(struct ledger *ledger, long pages, long pinned)
{
	ledger->used -= pages - pinned;
	ledger->pinned -= pinned;
}

/* ---- how the charge is split ---- */

static void allowance_goes_first(void)
{
	size_t pages[] = { 1, 2, 17, 65, 129, 33, 257, 9, 1, 513, 3,
			   large_ring(), 5 };
	struct ledger ledger;

	become_limited_user(PLENTY);
	ledger = new_ledger();
	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		struct mapping mapping;

		map_new(&mapping, pages[i]);
		charge(&ledger, (long)pages[i]);
		CHECK_EQ(pinned_pages(), ledger.pinned);
	}
	CHECK(ledger.pinned > 0);
}

static void allowance_follows_the_sysctl(void)
{
	static const int kbs[] = { 0, 4, 7, 8, 516, 64, 1024, 516 };
	struct governor governor;

	governor_start(&governor);
	become_limited_user(PLENTY);
	for (size_t i = 0; i < ARRAY_LEN(kbs); i++) {
		struct mapping mappings[2];
		struct ledger ledger;

		governor_set(&governor, ALLOWANCE_KB, kbs[i]);
		ledger = new_ledger();
		map_new(&mappings[0], 129);
		charge(&ledger, 129);
		map_new(&mappings[1], 257);
		charge(&ledger, 257);
		CHECK_EQ(pinned_pages(), ledger.pinned);
		unmap(&mappings[i % 2]);
		unmap(&mappings[!(i % 2)]);
		CHECK_EQ(pinned_pages(), 0);
	}
	expect_whole_allowance();
}

/* Less than is in use already: all is pinned, and nothing drifts. */
static void allowance_may_shrink_while_in_use(void)
{
	struct mappings first = { .nr = 0 };
	struct mapping second, third;
	struct governor governor;

	governor_start(&governor);
	become_limited_user(PLENTY);
	map_exactly(&first, allowance_pages());
	governor_set(&governor, ALLOWANCE_KB, 8);
	map_new(&second, 33);
	CHECK_EQ(pinned_pages(), 33);
	unmap_all(&first);
	CHECK_EQ(pinned_pages(), 33);
	map_new(&third, 33);
	CHECK_EQ(pinned_pages(), 33 + 33 - allowance_pages());
	unmap(&second);
	unmap(&third);
	CHECK_EQ(pinned_pages(), 0);
	governor_set(&governor, ALLOWANCE_KB, DEFAULT_ALLOWANCE_KB);
	expect_whole_allowance();
}

/* ---- where it ends ---- */

static void limit_is_exact(void)
{
	struct mappings allowance = { .nr = 0 };
	struct mapping mapping;
	int fd;

	become_limited_user(LITTLE);
	map_exactly(&allowance, allowance_pages());
	fd = open_comm();
	CHECK_ERRNO(map_pages(fd, 17, PROT_READ), EPERM);
	map_new(&mapping, 9);
	CHECK_ERRNO(map_pages(fd, 9, PROT_READ), EPERM);
	map_new(&mapping, 5);
	map_new(&mapping, 2);
	CHECK_EQ(pinned_pages(), LITTLE);
	CHECK_ERRNO(map_pages(fd, 1, PROT_READ), EPERM);
	CHECK_ERRNO(map_pages(fd, 1, PROT_READ | PROT_WRITE), EPERM);
	unmap(&mapping);
	map_fd(&mapping, fd, 2);
	CHECK_EQ(pinned_pages(), LITTLE);
}

static void allowance_needs_no_limit(void)
{
	struct mappings allowance = { .nr = 0 };
	int fd;

	become_limited_user(0);
	map_exactly(&allowance, allowance_pages());
	fd = open_comm();
	CHECK_ERRNO(map_pages(fd, 1, PROT_READ), EPERM);
	CHECK_ERRNO(map_pages(fd, large_ring(), PROT_READ), EPERM);
	CHECK_EQ(pinned_pages(), 0);
	unmap_all(&allowance);
	map_exactly(&allowance, allowance_pages());
}

/* The check is lifted, the account is kept. */
static void paranoid_off_lifts_the_limit(void)
{
	struct mappings allowance = { .nr = 0 };
	struct governor governor;
	struct mapping mapping;
	int fd;

	governor_start(&governor);
	become_limited_user(LITTLE);
	map_exactly(&allowance, allowance_pages());
	fd = open_comm();
	for (int paranoid = 2; paranoid >= 0; paranoid--) {
		governor_set(&governor, PARANOID, paranoid);
		CHECK_ERRNO(map_pages(fd, 129, PROT_READ), EPERM);
	}
	governor_set(&governor, PARANOID, -1);
	map_fd(&mapping, fd, 129);
	CHECK_EQ(pinned_pages(), 129);
	governor_set(&governor, PARANOID, 2);
	CHECK_ERRNO(map_pages(open_comm(), 1, PROT_READ), EPERM);
	unmap(&mapping);
	CHECK_EQ(pinned_pages(), 0);
}

static void become_user_with_capability(int capability)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { 0 };

	CHECK(!prctl(PR_SET_KEEPCAPS, 1));
	become_limited_user(LITTLE);
	data[CAP_TO_INDEX(capability)].permitted = CAP_TO_MASK(capability);
	data[CAP_TO_INDEX(capability)].effective = CAP_TO_MASK(capability);
	CHECK(!syscall(SYS_capset, &header, data));
}

static void ipc_lock_lifts_the_limit(void)
{
	struct mapping mapping;

	become_user_with_capability(CAP_IPC_LOCK);
	map_new(&mapping, large_ring());
	CHECK_EQ(pinned_pages(), large_ring_pins());
	unmap(&mapping);
	CHECK_EQ(pinned_pages(), 0);
	expect_whole_allowance();
}

static void perfmon_does_not(void)
{
	become_user_with_capability(CAP_PERFMON);
	CHECK_ERRNO(map_pages(open_comm(), large_ring(), PROT_READ), EPERM);
	CHECK_EQ(pinned_pages(), 0);
}

/* ---- what costs nothing ---- */

static void failed_mappings_cost_nothing(void)
{
	struct mappings allowance = { .nr = 0 };
	struct ring ring;
	int fd;

	become_limited_user(LITTLE);
	map_exactly(&allowance, allowance_pages() - 9);
	fd = open_comm();
	ring_map(&ring, fd, 8);
	for (int round = 0; round < 30; round++) {
		int fresh = open_comm();

		CHECK_ERRNO(map_pages(fresh, 4, PROT_READ), EINVAL);
		CHECK_ERRNO(map_pages(fresh, large_ring(), PROT_READ), EPERM);
		CHECK_ERRNO(map_pages(fresh, (1u << 22) + 1, PROT_READ), EPERM);
		CHECK_ERRNO(map_pages(fd, 17, PROT_READ), EINVAL);
		ring.page->aux_offset = 16 * page_size();
		ring.page->aux_size = 8 * page_size();
		CHECK_ERRNO(mmap(NULL, ring.page->aux_size, PROT_READ,
				 MAP_SHARED, fd, (off_t)ring.page->aux_offset),
			    EOPNOTSUPP);
		close(fresh);
	}
	CHECK_EQ(pinned_pages(), 0);
	ring_unmap(&ring);
	unmap_all(&allowance);
	expect_whole_allowance();
}

static void second_mapping_costs_nothing(void)
{
	struct mapping first, again[8];
	long pinned;
	int fd;

	become_limited_user(PLENTY);
	fd = open_comm();
	map_fd(&first, fd, large_ring());
	pinned = large_ring_pins();
	CHECK_EQ(pinned_pages(), pinned);
	for (size_t i = 0; i < ARRAY_LEN(again); i++)
		map_fd(&again[i], fd, large_ring());
	CHECK_EQ(pinned_pages(), pinned);
	unmap(&first);
	CHECK_EQ(pinned_pages(), pinned);
	for (size_t i = 0; i < ARRAY_LEN(again) - 1; i++)
		unmap(&again[i]);
	CHECK_EQ(pinned_pages(), pinned);
	unmap(&again[ARRAY_LEN(again) - 1]);
	CHECK_EQ(pinned_pages(), 0);
	expect_whole_allowance();
}

static void redirected_mapping_costs_nothing(void)
{
	struct mapping first, second;
	long pinned;
	int fds[2];

	become_limited_user(PLENTY);
	for (int i = 0; i < 2; i++)
		fds[i] = open_comm();
	map_fd(&first, fds[0], large_ring());
	CHECK(!set_output(fds[1], fds[0]));
	map_fd(&second, fds[1], large_ring());
	pinned = large_ring_pins();
	CHECK_EQ(pinned_pages(), pinned);
	unmap(&first);
	CHECK_EQ(pinned_pages(), pinned);
	unmap(&second);
	CHECK_EQ(pinned_pages(), 0);
	expect_whole_allowance();
}

static void moving_costs_nothing(void)
{
	struct mapping mapping;
	size_t length;
	void *to;

	become_limited_user(PLENTY);
	map_new(&mapping, large_ring());
	length = mapping.pages * page_size();
	for (int round = 0; round < 10; round++) {
		to = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
		CHECK(mremap(mapping.base, length, length,
			     MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
		mapping.base = to;
		CHECK_EQ(pinned_pages(), large_ring_pins());
	}
	unmap(&mapping);
	CHECK_EQ(pinned_pages(), 0);
	expect_whole_allowance();
}

/* ---- how it comes back ---- */

static void every_order_of_unmapping_gives_all_back(void)
{
	size_t pages[] = { 129, 65, large_ring(), 33 };
	long pinned[ARRAY_LEN(pages)];

	become_limited_user(PLENTY);
	for (unsigned int order = 0; order < 256; order++) {
		struct mapping mappings[ARRAY_LEN(pages)];
		struct ledger ledger = new_ledger();
		unsigned int seen = 0;

		for (unsigned int i = 0, o = order; i < 4; i++, o /= 4)
			seen |= 1u << o % 4;
		if (seen != 15)
			continue; /* not a permutation of the four */
		for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
			map_new(&mappings[i], pages[i]);
			pinned[i] = charge(&ledger, (long)pages[i]);
		}
		for (unsigned int i = 0, o = order; i < 4; i++, o /= 4) {
			unmap(&mappings[o % 4]);
			discharge(&ledger, (long)pages[o % 4], pinned[o % 4]);
			CHECK_EQ(pinned_pages(), ledger.pinned);
		}
		CHECK_EQ(ledger.pinned, 0);
	}
	expect_whole_allowance();
}

static void map_and_exit(void *unused)
{
	struct mapping mapping;

	(void)unused;
	for (int i = 0; i < 5; i++)
		map_new(&mapping, 33);
	map_new(&mapping, large_ring());
	CHECK(pinned_pages() > 0);
}

static void exit_gives_all_back(void)
{
	become_limited_user(PLENTY);
	for (int round = 0; round < 5; round++) {
		join_child(start_child(map_and_exit, NULL));
		expect_whole_allowance();
	}
}

static int after_exec(void)
{
	CHECK_EQ(pinned_pages(), 0);
	expect_whole_allowance();
	return 0;
}

static void exec_gives_all_back(void)
{
	become_limited_user(PLENTY);
	map_and_exit(NULL);
	execl("/proc/self/exe", "ring_locked", "--after-exec", NULL);
	FAIL("exec: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(allowance_goes_first),
		CASE(allowance_follows_the_sysctl),
		CASE(allowance_may_shrink_while_in_use),
		CASE(limit_is_exact),
		CASE(allowance_needs_no_limit),
		CASE(paranoid_off_lifts_the_limit),
		CASE(ipc_lock_lifts_the_limit),
		CASE(perfmon_does_not),
		CASE(failed_mappings_cost_nothing),
		CASE(second_mapping_costs_nothing),
		CASE(redirected_mapping_costs_nothing),
		CASE(moving_costs_nothing),
		CASE(every_order_of_unmapping_gives_all_back),
		CASE(exit_gives_all_back),
		CASE(exec_gives_all_back),
	};

	if (argc == 2 && !strcmp(argv[1], "--after-exec"))
		return after_exec();
	return run_locked_cases(cases, ARRAY_LEN(cases), argv + 1);
}
