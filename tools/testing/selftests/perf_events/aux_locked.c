// SPDX-License-Identifier: GPL-2.0
/*
 * What an AUX area costs, and whom: the area is charged by itself, beside its ring,
 * to whoever maps it first, and all of that comes back there when its last mapping
 * goes, in whichever process and order.
 */
#include "perf_aux_life.h"
#include "perf_ring_inject.h"
#include "perf_ring_locked.h"
#include "perf_ring_pass.h"

#define PLENTY 100000 /* pages, more than any case maps */
#define LITTLE 16
#define DATA_PAGES 8
#define READ_WRITE (PROT_READ | PROT_WRITE)

/* What the kernel should make of a sequence of mappings. */
struct ledger {
	long allowance, used, pinned;
};

struct charge {
	long pages, pinned;
};

static struct ledger new_ledger(void)
{
	return (struct ledger) { .allowance = allowance_pages() };
}

static struct charge charge(struct ledger *ledger, long pages)
{
	long room = ledger->allowance - ledger->used;
	struct charge made = { pages, pages > room ? pages - room : 0 };

	ledger->used += pages - made.pinned;
	ledger->pinned += made.pinned;
	return made;
}

static void discharge(struct ledger *ledger, struct charge made)
{
	ledger->used -= made.pages - made.pinned;
	ledger->pinned -= made.pinned;
}

/* More pages than the whole allowance, a power of two. */
static size_t large_area(void)
{
	return large_ring() - 1;
}

/* What of a large area is pinned if that and its ring are all that is mapped. */
static long large_area_pins(void)
{
	return (long)large_area() + DATA_PAGES + 1 - allowance_pages();
}

static int open_fast(void)
{
	struct perf_event_attr attr = fast_attr();

	return open_self(&attr);
}

static void map_large(struct aux *aux)
{
	aux_map(aux, open_fast(), DATA_PAGES, large_area());
	CHECK_EQ(pinned_pages(), large_area_pins());
}

static void expect_all_back(void)
{
	CHECK_EQ(pinned_pages(), 0);
	expect_whole_allowance();
}

/* ---- how the charge is split ---- */

static void allowance_goes_first(void)
{
	size_t pages[] = { 1, 4, 16, 2, 64, 128, 8, large_area(), 1, 32 };
	struct ledger ledger;
	struct aux aux;

	become_limited_user(PLENTY);
	ledger = new_ledger();
	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		aux_map(&aux, open_fast(), DATA_PAGES, pages[i]);
		charge(&ledger, DATA_PAGES + 1);
		charge(&ledger, (long)pages[i]);
		CHECK_EQ(pinned_pages(), ledger.pinned);
	}
	CHECK(ledger.pinned > 0);
}

/* Without data pages there is still the user page to pay for. */
static void area_beside_a_user_page_is_charged(void)
{
	struct aux aux;

	become_limited_user(PLENTY);
	aux_map(&aux, open_fast(), 0, large_area());
	CHECK_EQ(pinned_pages(), (long)large_area() + 1 - allowance_pages());
	aux_unmap(&aux);
	expect_all_back();
}

static void limit_is_exact(void)
{
	struct mappings allowance = { .nr = 0 };
	struct aux first, second;

	become_limited_user(LITTLE);
	map_exactly(&allowance, allowance_pages() - 2 * (DATA_PAGES + 1));
	first.fd = open_fast();
	second.fd = open_fast();
	ring_map(&first.ring, first.fd, DATA_PAGES);
	ring_map(&second.ring, second.fd, DATA_PAGES);
	CHECK(aux_try_map(&first, 32, READ_WRITE) == MAP_FAILED);
	CHECK_EQ(errno, EPERM);
	CHECK(aux_try_map(&first, LITTLE, READ_WRITE) != MAP_FAILED);
	CHECK_EQ(pinned_pages(), LITTLE);
	CHECK(aux_try_map(&second, 1, READ_WRITE) == MAP_FAILED);
	CHECK_EQ(errno, EPERM);
	CHECK(aux_try_map(&second, 1, PROT_READ) == MAP_FAILED);
	CHECK_EQ(errno, EPERM);
	CHECK_EQ(pinned_pages(), LITTLE);
}

/* ---- how it comes back ---- */

/* Two rings with an area each; 'd' and 'a' are the first one's, 'D' and 'A' the other's. */
struct pair {
	struct aux aux[2];
	struct charge ring[2], area[2];
	bool data_mapped[2], area_mapped[2];
	struct ledger ledger;
};

static void map_pair(struct pair *pair)
{
	static const size_t pages[2] = { 128, 256 };

	pair->ledger = new_ledger();
	for (int i = 0; i < 2; i++) {
		aux_map(&pair->aux[i], open_fast(), DATA_PAGES, pages[i]);
		pair->ring[i] = charge(&pair->ledger, DATA_PAGES + 1);
		pair->area[i] = charge(&pair->ledger, (long)pages[i]);
		pair->data_mapped[i] = pair->area_mapped[i] = true;
	}
	CHECK_EQ(pinned_pages(), pair->ledger.pinned);
}

/* The ring is there, and paid for, as long as its area is. */
static void unmap_one(struct pair *pair, char which)
{
	int i = which == 'D' || which == 'A';
	bool data = which == 'd' || which == 'D';

	if (data)
		CHECK(!munmap(pair->aux[i].ring.page, pair->aux[i].ring.length));
	else
		aux_unmap_area(&pair->aux[i]);
	*(data ? &pair->data_mapped[i] : &pair->area_mapped[i]) = false;
	if (!data)
		discharge(&pair->ledger, pair->area[i]);
	if (!pair->data_mapped[i] && !pair->area_mapped[i])
		discharge(&pair->ledger, pair->ring[i]);
	CHECK_EQ(pinned_pages(), pair->ledger.pinned);
}

static void every_order_of_unmapping_gives_all_back(void)
{
	static const char names[] = "daDA";
	unsigned int orders = 0;

	become_limited_user(PLENTY);
	for (unsigned int order = 0; order < 256; order++) {
		struct pair pair;
		unsigned int seen = 0;

		for (unsigned int i = 0, o = order; i < 4; i++, o /= 4)
			seen |= 1u << o % 4;
		if (seen != 15)
			continue; /* not a permutation of the four */
		map_pair(&pair);
		for (unsigned int i = 0, o = order; i < 4; i++, o /= 4)
			unmap_one(&pair, names[o % 4]);
		CHECK_EQ(pair.ledger.used, 0);
		close(pair.aux[0].fd);
		close(pair.aux[1].fd);
		orders++;
	}
	CHECK_EQ(orders, 24);
	expect_all_back();
}

/* While the event writes: mapping again is paid for again. */
static void areas_of_a_running_event_come_and_go(void)
{
	struct aux aux;

	become_limited_user(PLENTY);
	map_large(&aux);
	enable(aux.fd);
	for (int round = 0; round < 20; round++) {
		aux_unmap_area(&aux);
		CHECK_EQ(pinned_pages(), 0);
		aux_map_area(&aux, large_area());
		CHECK_EQ(pinned_pages(), large_area_pins());
		disable(aux.fd);
		enable(aux.fd);
	}
	aux_unmap(&aux);
	expect_all_back();
}

/* The memory stays until the late end, but nobody can be made to wait with it. */
static void late_end_keeps_the_charge_till_then(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;
	int fds[5];

	if (!aux_counts_lost())
		SKIP("the base does not survive a late end");
	aux_field(&attr, "slow_stop", 20000);
	aux_field(&attr, "late_end", 1);
	for (size_t round = 0; round < ARRAY_LEN(fds); round++)
		fds[round] = open_self(&attr);
	become_limited_user(PLENTY);
	for (size_t round = 0; round < ARRAY_LEN(fds); round++) {
		aux_map(&aux, fds[round], DATA_PAGES, large_area());
		enable(aux.fd);
		await_words(&aux);
		aux_unmap_area(&aux);
		ring_unmap(&aux.ring);
		close(aux.fd);
		/* As long as the memory is there, so is the charge. */
		for (int ms = 0; pinned_pages() && ms < 2000; ms++)
			usleep(1000);
		CHECK_EQ(pinned_pages(), 0);
	}
	expect_all_back();
}

static void map_and_exit(void *unused)
{
	struct aux aux;

	(void)unused;
	map_large(&aux);
	enable(aux.fd);
	await_words(&aux);
}

static void exit_gives_all_back(void)
{
	become_limited_user(PLENTY);
	for (int round = 0; round < 5; round++) {
		join_child(start_child(map_and_exit, NULL));
		expect_all_back();
	}
}

static int after_exec(void)
{
	expect_all_back();
	return 0;
}

static void exec_gives_all_back(void)
{
	become_limited_user(PLENTY);
	map_and_exit(NULL);
	execl("/proc/self/exe", "aux_locked", "--after-exec", NULL);
	FAIL("exec: %s", strerror(errno));
}

/* ---- what costs nothing ---- */

static void expect_failure(struct aux *aux, size_t pages, int prot, int error)
{
	CHECK(aux_try_map(aux, pages, prot) == MAP_FAILED);
	CHECK_EQ(errno, error);
	CHECK_EQ(pinned_pages(), 0);
}

static void unsuitable_sizes_cost_nothing(void)
{
	struct aux aux = { .fd = -1 };

	become_limited_user(LITTLE);
	aux.fd = open_fast();
	ring_map(&aux.ring, aux.fd, DATA_PAGES);
	for (int round = 0; round < 30; round++) {
		expect_failure(&aux, 3, READ_WRITE, EINVAL);
		expect_failure(&aux, 24, READ_WRITE, EINVAL);
		expect_failure(&aux, large_area(), READ_WRITE, EPERM);
		expect_failure(&aux, large_area(), PROT_READ, EPERM);
		expect_failure(&aux, 1ul << 31, READ_WRITE, ENOMEM);
	}
	ring_unmap(&aux.ring);
	expect_all_back();
}

static void declined_setups_cost_nothing(void)
{
	struct perf_event_attr attr = fast_attr();
	struct aux aux;

	aux_field(&attr, "fail_setup", 1);
	become_limited_user(PLENTY);
	for (int round = 0; round < 15; round++) {
		aux.fd = open_self(&attr);
		ring_map(&aux.ring, aux.fd, DATA_PAGES);
		expect_failure(&aux, large_area(), READ_WRITE, ENOMEM);
		aux_map_area(&aux, large_area()); /* the second one succeeds */
		CHECK_EQ(pinned_pages(), large_area_pins());
		aux_unmap(&aux);
		CHECK_EQ(pinned_pages(), 0);
		close(aux.fd);
	}
	expect_all_back();
}

/* In one piece, and larger than any that the allocator has. */
static void missing_memory_costs_nothing(void)
{
	struct perf_event_attr attr = aux_attr_of("aux_test_contiguous");
	struct aux aux;

	attr.exclude_kernel = 1;
	become_limited_user(PLENTY);
	aux.fd = open_self(&attr);
	ring_map(&aux.ring, aux.fd, DATA_PAGES);
	for (int round = 0; round < 5; round++)
		expect_failure(&aux, 2048, PROT_READ, ENOMEM);
	ring_unmap(&aux.ring);
	expect_all_back();
}

/* Maps the area while the nth allocation fails; false when there is no nth. */
static bool map_with_failure(struct aux *aux, unsigned int nth, void **base)
{
	int control;

	aux_ask(aux->ring.page, aux->ring.length, 256 * page_size());
	control = fail_allocation(nth);
	*base = map_bytes(aux->fd, aux->ring.length, 256 * page_size(),
			  READ_WRITE);
	return allocation_failed(control);
}

static void failed_allocations_cost_nothing(void)
{
	unsigned int nth = 1, refused = 0;
	struct aux aux;
	void *base;

	arm_fault_injection();
	become_limited_user(PLENTY);
	aux.fd = open_fast();
	ring_map(&aux.ring, aux.fd, DATA_PAGES);
	for (; map_with_failure(&aux, nth, &base); nth++) {
		if (base == MAP_FAILED) {
			CHECK_EQ(errno, ENOMEM);
			refused++;
		} else {
			CHECK(!munmap(base, 256 * page_size()));
		}
		CHECK_EQ(pinned_pages(), 0);
	}
	CHECK(base != MAP_FAILED);
	CHECK(!munmap(base, 256 * page_size()));
	CHECK(refused >= 3); /* the area, its list of pages, the driver's data */
	ring_unmap(&aux.ring);
	expect_all_back();
}

static void second_mapping_costs_nothing(void)
{
	const uint64_t *again[8];
	struct aux aux;

	become_limited_user(PLENTY);
	map_large(&aux);
	for (size_t i = 0; i < ARRAY_LEN(again); i++)
		again[i] = aux_map_through(&aux, aux.fd);
	CHECK_EQ(pinned_pages(), large_area_pins());
	CHECK(!munmap((void *)aux.words, aux.size));
	for (size_t i = 0; i < ARRAY_LEN(again) - 1; i++)
		CHECK(!munmap((void *)again[i], aux.size));
	CHECK_EQ(pinned_pages(), large_area_pins());
	aux.words = again[ARRAY_LEN(again) - 1];
	aux_unmap_area(&aux);
	CHECK_EQ(pinned_pages(), 0);
	ring_unmap(&aux.ring);
	expect_all_back();
}

static void moving_costs_nothing(void)
{
	struct aux aux;

	become_limited_user(PLENTY);
	map_large(&aux);
	for (int round = 0; round < 10; round++) {
		void *to = mmap(NULL, aux.size, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK(mremap((void *)aux.words, aux.size, aux.size,
			     MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
		aux.words = to;
		CHECK_EQ(pinned_pages(), large_area_pins());
	}
	aux_unmap(&aux);
	expect_all_back();
}

/* What a software event maps as well is free, and the charge stays until that goes. */
static void redirected_mapping_keeps_the_charge(void)
{
	const uint64_t *second;
	struct aux aux;
	int plain;

	become_limited_user(PLENTY);
	map_large(&aux);
	plain = open_plain_to(aux.fd);
	second = aux_map_through(&aux, plain);
	CHECK_EQ(pinned_pages(), large_area_pins());
	enable(aux.fd);
	aux_unmap(&aux);
	close(aux.fd);
	CHECK_EQ(pinned_pages(), large_area_pins());
	CHECK(!munmap((void *)second, large_area() * page_size()));
	expect_all_back();
}

/* ---- several processes and users ---- */

/* The taker maps data and area of the giver's event; then they take turns. */
struct share {
	int socket[2];
	bool giver_exits, taker_first;
};

enum { GIVEN = 1, TAKEN, ONE_LEFT, NONE_LEFT, LOOKED_AT };

static void taker(void *arg)
{
	const struct share *share = arg;
	struct aux aux = { .fd = receive_fd(share->socket[1]) };

	ring_map(&aux.ring, aux.fd, DATA_PAGES);
	aux.words = aux_map_through(&aux, aux.fd);
	aux.size = large_area() * page_size();
	CHECK_EQ(pinned_pages(), 0);
	turn_next();
	turn_wait(share->taker_first ? TAKEN : ONE_LEFT);
	aux_unmap(&aux);
	turn_next();
	turn_wait(LOOKED_AT);
}

static void giver(void *arg)
{
	const struct share *share = arg;
	struct aux aux;

	map_large(&aux);
	send_fd(share->socket[0], aux.fd);
	close(aux.fd);
	turn_next();
	turn_wait(share->taker_first ? ONE_LEFT : TAKEN);
	CHECK_EQ(pinned_pages(), large_area_pins());
	if (share->giver_exits)
		return;
	aux_unmap(&aux);
	turn_next();
	turn_wait(LOOKED_AT);
}

static void expect_nothing_pinned(pid_t pid)
{
	if (pinned_pages_of(pid))
		BASE_DEFECT("an area is taken off where it was unmapped, not where it was charged");
}

static void share_an_area(struct share share)
{
	pid_t giver_pid, taker_pid;

	become_limited_user(PLENTY);
	turns_begin();
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, share.socket));
	giver_pid = start_child(giver, &share);
	turn_wait(GIVEN);
	taker_pid = start_child(taker, &share);
	if (share.giver_exits) {
		join_child(giver_pid);
		turn_next();
	}
	turn_wait(NONE_LEFT);
	if (!share.giver_exits)
		expect_nothing_pinned(giver_pid);
	expect_nothing_pinned(taker_pid);
	turn_next();
	if (!share.giver_exits)
		join_child(giver_pid);
	join_child(taker_pid);
	expect_all_back();
}

static void other_process_unmaps_first(void)
{
	share_an_area((struct share) { .taker_first = true });
}

static void other_process_unmaps_last(void)
{
	share_an_area((struct share) { .taker_first = false });
}

static void other_process_unmaps_after_the_exit(void)
{
	share_an_area((struct share) { .giver_exits = true });
}

static void inherited_mapping_unmaps_last(void)
{
	struct aux aux;
	pid_t child;

	become_limited_user(PLENTY);
	turns_begin();
	map_large(&aux);
	CHECK(!madvise((void *)aux.words, aux.size, MADV_DOFORK));
	child = fork();
	if (!child) {
		turn_wait(1);
		aux_unmap_area(&aux);
		turn_next();
		turn_wait(3);
		_exit(0);
	}
	aux_unmap(&aux);
	CHECK_EQ(pinned_pages(), large_area_pins());
	turn_next();
	turn_wait(2);
	expect_nothing_pinned(getpid());
	expect_nothing_pinned(child);
	turn_next();
	join_child(child);
	expect_all_back();
}

/* In the ring of another user, who pays for that. */
static void area_in_anothers_ring(void *arg)
{
	int *pair = arg;
	struct aux aux;

	become_limited_user(PLENTY);
	memset(&aux, 0, sizeof(aux));
	aux.fd = receive_fd(pair[1]);
	ring_map(&aux.ring, aux.fd, DATA_PAGES);
	aux_map_area(&aux, large_area());
	CHECK_EQ(pinned_pages(), (long)large_area() - allowance_pages());
	aux_unmap(&aux);
	CHECK_EQ(pinned_pages(), 0);
	map_new(&(struct mapping) { .base = NULL }, large_ring());
	if (pinned_pages() != large_ring_pins())
		BASE_DEFECT("an area is taken off the user who has the ring");
	turn_next();
}

static void area_is_charged_to_its_own_user(void)
{
	struct aux aux;
	int pair[2];
	pid_t other;

	turns_begin();
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	other = start_child(area_in_anothers_ring, pair);
	become_limited_user(PLENTY);
	aux.fd = open_fast();
	ring_map(&aux.ring, aux.fd, DATA_PAGES);
	send_fd(pair[0], aux.fd);
	join_child(other);
	if (!__atomic_load_n(turn, __ATOMIC_ACQUIRE))
		return; /* the other has met a defect of the base */
	CHECK_EQ(pinned_pages(), 0);
	ring_unmap(&aux.ring);
	expect_all_back();
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(allowance_goes_first),
		CASE(area_beside_a_user_page_is_charged),
		CASE(limit_is_exact),
		CASE(every_order_of_unmapping_gives_all_back),
		CASE(areas_of_a_running_event_come_and_go),
		CASE(late_end_keeps_the_charge_till_then),
		CASE(exit_gives_all_back),
		CASE(exec_gives_all_back),
		CASE(unsuitable_sizes_cost_nothing),
		CASE(declined_setups_cost_nothing),
		CASE(missing_memory_costs_nothing),
		CASE(failed_allocations_cost_nothing),
		CASE(second_mapping_costs_nothing),
		CASE(moving_costs_nothing),
		CASE(redirected_mapping_keeps_the_charge),
		CASE(other_process_unmaps_first),
		CASE(other_process_unmaps_last),
		CASE(other_process_unmaps_after_the_exit),
		CASE(inherited_mapping_unmaps_last),
		CASE(area_is_charged_to_its_own_user),
	};

	if (argc == 2 && !strcmp(argv[1], "--after-exec"))
		return after_exec();
	return run_locked_cases(cases, ARRAY_LEN(cases), argv + 1);
}
