// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes map, unmap, fail, redirect, enable and fork around one AUX area at the
 * same moment. They share the events, but no address space, whose lock would keep them
 * apart. Whoever wins, nothing is pinned any more when all is unmapped.
 */
#include "perf_aux_life.h"
#include "perf_ring_locked.h"

#define ROUNDS 40
#define DATA_PAGES 2
#define AUX_PAGES 16
#define SPINS 5000 /* before a waiting side gives its CPU away */
#define TRACED_CPU 1
#define READ_WRITE (PROT_READ | PROT_WRITE)

struct meeting {
	unsigned int arrivals;
};

/* What a side has mapped through an event. */
struct view {
	struct perf_event_mmap_page *page;
	void *area;
};

struct side {
	int nr;
	const int *fds; /* of this round: two AUX events, and a software event */
	struct view views[3];
	struct meeting *meeting;
	const struct race *race;
};

struct race {
	void (*prepare[2])(struct side *side); /* 0 before 1 */
	void (*act[2])(struct side *side); /* both at once */
	unsigned int fail_setup; /* of the first event */
	bool inherit, late_end;
};

static void meet(struct meeting *meeting)
{
	unsigned int mine = __atomic_fetch_add(&meeting->arrivals, 1,
					       __ATOMIC_ACQ_REL);
	unsigned int both = (mine | 1) + 1;

	for (unsigned int spins = 0;
	     (int)(__atomic_load_n(&meeting->arrivals, __ATOMIC_ACQUIRE) -
		   both) < 0; spins++)
		if (spins > SPINS)
			usleep(50);
}

/* A little later on one side or the other, so that every overlap occurs. */
static void stagger(unsigned int round, int side)
{
	int delay = (int)(round * 2654435761u >> 20) - 2048;

	for (volatile int i = side ? delay : -delay; i > 0; i--)
		;
}

/* ---- what a side does ---- */

static void map_data(struct side *side, int event)
{
	void *base = map_pages(side->fds[event], DATA_PAGES + 1, READ_WRITE);

	CHECK(base != MAP_FAILED);
	side->views[event].page = base;
	aux_ask(base, (DATA_PAGES + 1) * page_size(), AUX_PAGES * page_size());
}

static void unmap_data(struct side *side, int event)
{
	if (side->views[event].page)
		CHECK(!munmap(side->views[event].page,
			      (DATA_PAGES + 1) * page_size()));
	side->views[event].page = NULL;
}

static int try_to_map_area(struct side *side, int event)
{
	void *base = map_bytes(side->fds[event], (DATA_PAGES + 1) * page_size(),
			       AUX_PAGES * page_size(), READ_WRITE);

	if (base == MAP_FAILED)
		return errno;
	CHECK(!side->views[event].area);
	side->views[event].area = base;
	return 0;
}

/* A writer that is just being stopped may keep the old area for a moment. */
static void map_area(struct side *side, int event)
{
	int error;

	for (int tries = 0; (error = try_to_map_area(side, event)); tries++) {
		CHECK_EQ(error, EBUSY);
		CHECK(tries < 1000);
		usleep(100);
	}
}

static void unmap_area(struct side *side, int event)
{
	if (side->views[event].area)
		CHECK(!munmap(side->views[event].area, AUX_PAGES * page_size()));
	side->views[event].area = NULL;
}

static void map_both(struct side *side, int event)
{
	map_data(side, event);
	map_area(side, event);
}

static void unmap_both(struct side *side, int event)
{
	unmap_area(side, event);
	unmap_data(side, event);
}

/* ---- the game ---- */

/* A child inherits the events of all rounds: with so many, forks were all that it did. */
static int rounds_of(const struct race *race)
{
	return race->inherit ? ROUNDS / 3 : ROUNDS;
}

static void play_round(struct side *side, unsigned int round)
{
	const struct race *race = side->race;

	if (side->nr == 0 && race->prepare[0])
		race->prepare[0](side);
	meet(side->meeting);
	if (side->nr == 1 && race->prepare[1])
		race->prepare[1](side);
	meet(side->meeting);
	stagger(round, side->nr);
	race->act[side->nr](side);
	meet(side->meeting);
	for (int event = 0; event < 3; event++)
		unmap_both(side, event);
	meet(side->meeting);
	for (int event = 0; event < 2; event++)
		disable(side->fds[event]);
}

static void play(struct side *side, int (*fds)[3])
{
	for (int round = 0; round < rounds_of(side->race); round++) {
		side->fds = fds[round];
		play_round(side, (unsigned int)round);
	}
	if (pinned_pages())
		BASE_DEFECT("an area's charge is left behind, or taken twice");
}

static int open_event(const struct race *race, unsigned int fail_setup)
{
	struct perf_event_attr attr = fast_attr_in(race->late_end ? 0 : 512);

	aux_field(&attr, "fail_setup", fail_setup);
	if (race->late_end) {
		aux_field(&attr, "slow_stop", 500);
		aux_field(&attr, "late_end", 1);
	}
	attr.inherit = race->inherit;
	return open_on(&attr, race->inherit ? 0 : -1, TRACED_CPU);
}

static void play_second(void *arg)
{
	struct side **side = arg;

	play(side[0], (int (*)[3])side[1]);
}

static void run_race(struct race race)
{
	static int fds[ROUNDS][3];
	struct side sides[2] = { { .nr = 0 }, { .nr = 1 } };
	void *second[2] = { &sides[1], fds };
	pid_t pid;

	if (sysconf(_SC_NPROCESSORS_ONLN) <= TRACED_CPU)
		SKIP("needs two CPUs");
	/* Without an allowance each page shows in VmPin. */
	CHECK(sysctl_set(ALLOWANCE_KB, 0));
	for (int i = 0; i < rounds_of(&race); i++) {
		fds[i][0] = open_event(&race, race.fail_setup);
		fds[i][1] = open_event(&race, 0);
		fds[i][2] = open_plain(race.inherit ? 0 : -1, TRACED_CPU);
	}
	sides[0].race = sides[1].race = &race;
	sides[0].meeting = mmap(NULL, sizeof(struct meeting), READ_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(sides[0].meeting != MAP_FAILED);
	sides[1].meeting = sides[0].meeting;
	pid = start_child(play_second, second);
	play(&sides[0], fds);
	join_child(pid);
}

/* ---- what there is before ---- */

static void map_first(struct side *side)
{
	map_data(side, 0);
}

static void map_first_and_area(struct side *side)
{
	map_both(side, 0);
	enable(side->fds[0]);
}

static void join_with_second(struct side *side)
{
	CHECK(!set_output(side->fds[1], side->fds[0]));
	map_data(side, 1);
	enable(side->fds[0]);
}

static void join_with_second_and_area(struct side *side)
{
	join_with_second(side);
	map_area(side, 1);
}

/* ---- what is done ---- */

static void area_comes_and_goes(struct side *side, int event)
{
	for (int i = 0; i < 4; i++) {
		map_area(side, event);
		unmap_area(side, event);
	}
}

static void first_comes_and_goes(struct side *side)
{
	area_comes_and_goes(side, 0);
}

/* There is one already: it goes first. */
static void first_comes_and_goes_again(struct side *side)
{
	for (int i = 0; i < 4; i++) {
		unmap_area(side, 0);
		map_area(side, 0);
	}
}

static void second_comes_and_goes(struct side *side)
{
	area_comes_and_goes(side, 1);
}

static void unmap_first(struct side *side)
{
	unmap_both(side, 0);
}

static void unmap_second(struct side *side)
{
	unmap_both(side, 1);
}

static void unmap_first_area(struct side *side)
{
	unmap_area(side, 0);
}

static void map_first_that_fails(struct side *side)
{
	int error = try_to_map_area(side, 0);

	if (error && error != EINVAL) /* there is no ring any more */
		CHECK_EQ(error, ENOMEM);
}

static void redirect_and_map_plain(struct side *side)
{
	int error;

	if (set_output(side->fds[2], side->fds[0])) {
		CHECK_EQ(errno, EINVAL);
		return;
	}
	map_data(side, 2);
	error = try_to_map_area(side, 2);
	if (error) /* it shares one, or makes none */
		CHECK_EQ(error, EOPNOTSUPP);
}

static void redirect_and_map_second(struct side *side)
{
	if (set_output(side->fds[1], side->fds[0])) {
		CHECK_EQ(errno, EINVAL);
		return;
	}
	map_both(side, 1);
}

static void turn_on_and_off(struct side *side)
{
	for (int i = 0; i < 10; i++) {
		enable(side->fds[0]);
		disable(side->fds[0]);
	}
	enable(side->fds[0]);
}

/* The first one's area is written by the second event, which comes and goes. */
static void redirect_to_and_fro(struct side *side)
{
	enable(side->fds[1]);
	for (int i = 0; i < 3; i++) {
		if (set_output(side->fds[1], side->fds[0]))
			CHECK_EQ(errno, EINVAL);
		spin_us(500);
		CHECK(!set_output(side->fds[1], -1));
	}
}

static void trace_children(struct side *side)
{
	(void)side;
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child) {
			stay_on_cpu(TRACED_CPU);
			spin_us(300);
			_exit(0);
		}
		join_child(child);
	}
}

/* ---- the races ---- */

static void two_events_share_one_area(void)
{
	run_race((struct race) {
		.prepare = { map_first, join_with_second },
		.act = { first_comes_and_goes, second_comes_and_goes },
	});
}

static void two_map_through_one_event(void)
{
	run_race((struct race) {
		.prepare = { map_first, map_first },
		.act = { first_comes_and_goes, first_comes_and_goes },
	});
}

static void two_are_the_last(void)
{
	run_race((struct race) {
		.prepare = { map_first_and_area, join_with_second_and_area },
		.act = { unmap_first, unmap_second },
	});
}

static void two_are_the_last_of_one_event(void)
{
	run_race((struct race) {
		.prepare = { map_first_and_area, map_first_and_area },
		.act = { unmap_first, unmap_first },
	});
}

static void late_failure_meets_a_redirected_mapping(void)
{
	run_race((struct race) {
		.prepare = { map_first },
		.act = { map_first_that_fails, redirect_and_map_second },
		.fail_setup = 1,
	});
}

static void late_failure_meets_a_software_events_mapping(void)
{
	run_race((struct race) {
		.prepare = { map_first },
		.act = { map_first_that_fails, redirect_and_map_plain },
		.fail_setup = 1,
	});
}

/* The ring's last mapping goes while one more fails, which then was the last. */
static void late_failure_meets_the_last_unmapping(void)
{
	run_race((struct race) {
		.prepare = { map_first },
		.act = { unmap_first, map_first_that_fails },
		.fail_setup = 1,
	});
}

static void mapping_meets_the_last_unmapping(void)
{
	run_race((struct race) {
		.prepare = { map_first_and_area, map_first },
		.act = { unmap_first, first_comes_and_goes },
	});
}

static void software_events_mapping_meets_the_last_unmapping(void)
{
	run_race((struct race) {
		.prepare = { map_first_and_area },
		.act = { unmap_first_area, redirect_and_map_plain },
	});
}

static void enabling_meets_the_unmapping(void)
{
	run_race((struct race) {
		.prepare = { NULL, map_first_and_area },
		.act = { turn_on_and_off, first_comes_and_goes_again },
	});
}

static void late_end_meets_the_next_mapping(void)
{
	if (!aux_counts_lost())
		SKIP("the base does not survive a late end");
	run_race((struct race) {
		.prepare = { map_first, join_with_second },
		.act = { first_comes_and_goes, second_comes_and_goes },
		.late_end = true,
	});
}

static void redirection_meets_the_unmapping(void)
{
	/* There a writer may be left behind, and the kernel warns of it. */
	if (on_base())
		BASE_DEFECT("a redirected event may go on in the area that it left");
	run_race((struct race) {
		.prepare = { NULL, map_first_and_area },
		.act = { redirect_to_and_fro, first_comes_and_goes_again },
	});
}

static void children_meet_the_unmapping(void)
{
	run_race((struct race) {
		.prepare = { NULL, map_first_and_area },
		.act = { trace_children, first_comes_and_goes_again },
		.inherit = true,
	});
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(two_events_share_one_area),
		CASE(two_map_through_one_event),
		CASE(two_are_the_last),
		CASE(two_are_the_last_of_one_event),
		CASE(late_failure_meets_a_redirected_mapping),
		CASE(late_failure_meets_a_software_events_mapping),
		CASE(late_failure_meets_the_last_unmapping),
		CASE(mapping_meets_the_last_unmapping),
		CASE(software_events_mapping_meets_the_last_unmapping),
		CASE(enabling_meets_the_unmapping),
		CASE(late_end_meets_the_next_mapping),
		CASE(redirection_meets_the_unmapping),
		CASE(children_meet_the_unmapping),
	};

	return run_locked_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
