// SPDX-License-Identifier: GPL-2.0
/*
 * Two sides map, unmap, redirect, fork and close at the same moment, over and
 * over. Whoever wins, the accounts are back where they were afterwards.
 *
 * Every race is run by two threads, where all but a few pages of the user's
 * allowance are held, so that a lost ring shows in VmPin; and by two processes,
 * which no address space lock keeps apart, with rings within the allowance.
 */
#include "perf_ring_locked.h"

#include <pthread.h>
#include <setjmp.h>
#include <time.h>

#define RING_PAGES 9 /* in all */
#define MILLISECONDS 500 /* for each race, */
#define POOL 64 /* pairs of events; one that rested maps without delay */
#define SPINS 5000 /* before a waiting side gives its CPU away */
#define FEWEST 5 /* but so many rounds at least */

/* What both sides see, be they threads or processes. */
struct meeting {
	unsigned int arrivals;
	int deserted; /* one side has met a defect of the base, and left */
	bool over;
	const volatile uint8_t *target; /* of accesses by a thread */
};

struct side {
	int nr;
	pid_t watched; /* the task of all events */
	struct meeting *meeting;
	int pool[POOL][2]; /* events of side 0's task, the same for both */
	const int *fds; /* the two of this round */
	int extra; /* event of one side only */
	void *mapped[2]; /* of each event, by this side; NULL when it is not */
	const struct race *race;
};

struct race {
	/* In this order, 0 before 1; then both acts at once. */
	void (*prepare[2])(struct side *side);
	void (*act[2])(struct side *side);
	const char *leak;
};

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Nobody goes on before both have come; there are four such points a round. */
static void meet(struct meeting *meeting)
{
	unsigned int mine = __atomic_fetch_add(&meeting->arrivals, 1,
					       __ATOMIC_ACQ_REL);
	unsigned int both = (mine | 1) + 1;

	for (unsigned int spins = 0;
	     (int)(__atomic_load_n(&meeting->arrivals, __ATOMIC_ACQUIRE) -
		   both) < 0; spins++)
		if (__atomic_load_n(&meeting->deserted, __ATOMIC_ACQUIRE))
			_exit(0); /* the other side has said why */
		else if (spins > SPINS)
			usleep(50);
}

/* A little later on one side or the other, so that every overlap occurs. */
static void stagger(unsigned int round, int side)
{
	int delay = (int)(round * 2654435761u >> 23) - 256;

	for (volatile int i = side ? delay : -delay; i > 0; i--)
		;
}

static void map_event(struct side *side, int event)
{
	void *base = map_pages(side->fds[event], RING_PAGES,
			       PROT_READ | PROT_WRITE);

	if (base == MAP_FAILED && errno == EPERM) {
		if (on_base())
			__atomic_store_n(&side->meeting->deserted, 1, __ATOMIC_RELEASE);
		BASE_DEFECT(side->race->leak); /* what is left got less */
	}
	CHECK(base != MAP_FAILED);
	side->mapped[event] = base;
}

static void unmap_event(struct side *side, int event)
{
	if (side->mapped[event])
		CHECK(!munmap(side->mapped[event], RING_PAGES * page_size()));
	side->mapped[event] = NULL;
}

static void play_round(struct side *side, unsigned int round, bool last)
{
	const struct race *race = side->race;

	side->fds = side->pool[round % POOL];
	if (side->nr == 0 && race->prepare[0])
		race->prepare[0](side);
	meet(side->meeting);
	if (side->nr == 0 && last)
		side->meeting->over = true; /* both see it when they are done */
	if (side->nr == 1 && race->prepare[1])
		race->prepare[1](side);
	meet(side->meeting);
	stagger(round, side->nr);
	race->act[side->nr](side);
	meet(side->meeting);
	unmap_event(side, 0);
	unmap_event(side, 1);
	meet(side->meeting);
}

static void *play_second(void *arg)
{
	struct side *side = arg;

	for (unsigned int round = 0; !side->meeting->over; round++)
		play_round(side, round, false);
	return NULL;
}

static void play_second_process(void *arg)
{
	play_second(arg);
}

static void play_first(struct side *side)
{
	uint64_t end = milliseconds() + MILLISECONDS;
	unsigned int round = 0;

	while (!side->meeting->over) {
		bool last = round >= FEWEST && milliseconds() >= end;

		play_round(side, round++, last);
	}
	remark("%u rounds", round);
}

static void open_events(struct side sides[2], const struct race *race)
{
	struct perf_event_attr attr = comm_attr();
	struct meeting *meeting = mmap(NULL, sizeof(*meeting),
				       PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(meeting != MAP_FAILED);
	sides[0] = (struct side) {
		.meeting = meeting,
		.race = race,
		.watched = gettid(),
	};
	for (int i = 0; i < 2 * POOL; i++)
		sides[0].pool[i / 2][i % 2] = open_self(&attr);
	sides[1] = sides[0];
	sides[1].nr = 1;
}

static void hold_allowance_but(long left)
{
	static struct mappings held;

	become_limited_user(2 * large_ring());
	map_exactly(&held, allowance_pages() - left);
}

/* So many pages of the allowance are left, not one more or less. */
static void expect_left(long left, const char *leak)
{
	struct mapping large;
	long pages = (long)large_ring();

	if (pinned_pages())
		BASE_DEFECT(leak);
	map_new(&large, (size_t)pages);
	if (pinned_pages() != pages - left)
		BASE_DEFECT(leak);
	unmap(&large);
	CHECK_EQ(pinned_pages(), 0);
}

static void race_threads(void *arg)
{
	const struct race *race = arg;
	struct side sides[2];
	pthread_t thread;

	hold_allowance_but(RING_PAGES / 2);
	open_events(sides, race);
	CHECK(!pthread_create(&thread, NULL, play_second, &sides[1]));
	play_first(&sides[0]);
	CHECK(!pthread_join(thread, NULL));
	expect_left(RING_PAGES / 2, race->leak);
}

static void race_processes_within(const struct race *race, long left)
{
	struct side sides[2];
	pid_t second;

	hold_allowance_but(left);
	open_events(sides, race);
	second = start_child(play_second_process, &sides[1]);
	play_first(&sides[0]);
	join_child(second);
	expect_left(left, race->leak);
}

static void race_processes(void *arg)
{
	race_processes_within(arg, 8 * RING_PAGES);
}

static void run_race(struct race race)
{
	join_child(start_child(race_threads, &race));
	if (!strncmp(case_remark->text, "base defect", strlen("base defect")))
		return;
	join_child(start_child(race_processes, &race));
}

/* ---- what a side does ---- */

static void map_0(struct side *side)
{
	map_event(side, 0);
}

static void unmap_0(struct side *side)
{
	unmap_event(side, 0);
}

static void unmap_1(struct side *side)
{
	unmap_event(side, 1);
}

static void map_and_unmap_0(struct side *side)
{
	map_event(side, 0);
	unmap_event(side, 0);
}

static void redirect_1(struct side *side)
{
	CHECK(!set_output(side->fds[1], side->fds[0]));
}

static void map_0_redirect_1(struct side *side)
{
	map_event(side, 0);
	redirect_1(side);
}

static void redirect_and_map_1(struct side *side)
{
	redirect_1(side);
	map_event(side, 1);
}

static void try_to_redirect_and_map_1(struct side *side)
{
	if (set_output(side->fds[1], side->fds[0]))
		CHECK_EQ(errno, EINVAL); /* the target is unmapped already */
	map_event(side, 1);
}

static void detach_1(struct side *side)
{
	CHECK(!set_output(side->fds[1], -1));
}

static void open_and_redirect_extra(struct side *side)
{
	struct perf_event_attr attr = comm_attr();

	side->extra = open_on(&attr, side->watched, -1);
	CHECK(!set_output(side->extra, side->fds[0]));
}

static void close_extra(struct side *side)
{
	close(side->extra);
}

static void redirect_0_to_1(struct side *side)
{
	CHECK_ERRNO(set_output(side->fds[0], side->fds[1]), EINVAL);
}

static void redirect_1_to_0(struct side *side)
{
	CHECK_ERRNO(set_output(side->fds[1], side->fds[0]), EINVAL);
}

static void fork_and_reset(struct side *side)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child)
		_exit(ioctl(side->fds[1], PERF_EVENT_IOC_RESET, 0) != 0);
	join_child(child);
}

static void write_records(struct side *side)
{
	(void)side;
	rename_tasks(0, 20);
}

/* ---- the races ---- */

static void two_unmap_one_event(void)
{
	run_race((struct race) {
		.prepare = { map_0, map_0 },
		.act = { unmap_0, unmap_0 },
		.leak = "two unmap one event and neither is the last",
	});
}

static void two_unmap_two_events_of_one_ring(void)
{
	run_race((struct race) {
		.prepare = { map_0, redirect_and_map_1 },
		.act = { unmap_0, unmap_1 },
		.leak = "two unmap one ring and neither is the last",
	});
}

static void two_map_one_event(void)
{
	run_race((struct race) {
		.act = { map_0, map_0 },
		.leak = "two first mappings of one event leave a charge",
	});
}

static void mapping_meets_the_last_unmapping(void)
{
	run_race((struct race) {
		.prepare = { map_0 },
		.act = { unmap_0, map_0 },
		.leak = "a ring stays charged that is mapped anew in its last unmap",
	});
}

static void redirection_meets_the_last_unmapping(void)
{
	run_race((struct race) {
		.prepare = { map_0 },
		.act = { unmap_0, try_to_redirect_and_map_1 },
		.leak = "a redirection in the last unmap leaves a charge",
	});
}

static void detaching_meets_the_last_unmapping(void)
{
	run_race((struct race) {
		.prepare = { map_0_redirect_1 },
		.act = { unmap_0, detach_1 },
		.leak = "a detachment in the last unmap leaves a charge",
	});
}

static void closing_meets_the_last_unmapping(void)
{
	run_race((struct race) {
		.prepare = { map_0, open_and_redirect_extra },
		.act = { unmap_0, close_extra },
		.leak = "a close in the last unmap leaves a charge",
	});
}

static void fork_meets_the_last_unmapping(void)
{
	run_race((struct race) {
		.prepare = { map_0, redirect_and_map_1 },
		.act = { unmap_0, fork_and_reset },
		.leak = "a fork in an unmap leaves a charge",
	});
}

static void writing_meets_the_last_unmapping(void)
{
	run_race((struct race) {
		.prepare = { NULL, map_0_redirect_1 },
		.act = { write_records, unmap_0 },
		.leak = "records written in the last unmap leave a charge",
	});
}

static void redirections_cross(void)
{
	run_race((struct race) {
		.act = { redirect_0_to_1, redirect_1_to_0 },
		.leak = "refused redirections leave a charge",
	});
}

/* ---- a page fault while the page goes away ---- */

static sigjmp_buf fault_exit;

static void on_fault(int sig)
{
	siglongjmp(fault_exit, sig);
}

static void map_0_as_target(struct side *side)
{
	map_event(side, 0);
	side->meeting->target = side->mapped[0];
}

static void touch_target(struct side *side)
{
	volatile size_t page = 0;

	if (sigsetjmp(fault_exit, 1))
		return;
	while (page < RING_PAGES)
		(void)side->meeting->target[page++ * page_size()];
}

static void faulting_meets_the_unmapping(void)
{
	struct sigaction act = { .sa_handler = on_fault };
	struct race race = {
		.prepare = { NULL, map_0_as_target },
		.act = { touch_target, unmap_0 },
		.leak = "a page fault in an unmap leaves a charge",
	};

	CHECK(!sigaction(SIGSEGV, &act, NULL));
	CHECK(!sigaction(SIGBUS, &act, NULL));
	race_threads(&race);
}

/* Two processes whose rings are pinned: each has to bear its own charge. */
static void strangers_bear_their_own_charge(void)
{
	static const struct race race = {
		.act = { map_and_unmap_0, map_and_unmap_0 },
		.leak = "a process is charged for another's mapping",
	};

	race_processes_within(&race, RING_PAGES / 2);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(two_unmap_one_event),
		CASE(two_unmap_two_events_of_one_ring),
		CASE(two_map_one_event),
		CASE(mapping_meets_the_last_unmapping),
		CASE(redirection_meets_the_last_unmapping),
		CASE(detaching_meets_the_last_unmapping),
		CASE(closing_meets_the_last_unmapping),
		CASE(fork_meets_the_last_unmapping),
		CASE(writing_meets_the_last_unmapping),
		CASE(redirections_cross),
		CASE(faulting_meets_the_unmapping),
		CASE(strangers_bear_their_own_charge),
	};

	(void)argc;
	return run_locked_cases(cases, ARRAY_LEN(cases), argv + 1);
}
