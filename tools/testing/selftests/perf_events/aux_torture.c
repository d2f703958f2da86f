// SPDX-License-Identifier: GPL-2.0
/*
 * aux_torture [SECONDS [SEED [THREADS]]]: threads that do at random whatever can be done
 * to AUX events and areas, their own and each other's.
 *
 * Each thread has a lane: an event with a random configuration, its ring and area, and
 * a second event that goes from one lane's ring to another's. It reads its lane's area
 * and looks at every word: whose stream it is, and that each stream goes on in order.
 * What the others do to the lane is anything but closing its files, which takes a lock.
 *
 * The decisions of a thread follow from the seed, its number and the step alone.
 */
#include "perf_aux_life.h"
#include "perf_ring_locked.h"

#include <pthread.h>

#define DEFAULT_SECONDS 5
#define DEFAULT_THREADS 4
#define MOST_THREADS 32
#define STREAMS (1 << (64 - AUX_OFFSET_BITS))
#define READ_WRITE (PROT_READ | PROT_WRITE)

struct lane {
	/* Exclusive to open and close files, shared to use them. */
	pthread_rwlock_t lock;
	int fd, second, member;
	int cpu; /* -1: the thread, wherever it runs */
	size_t data_pages, aux_pages;
	int prot; /* of the area; read-only: it is overwritten */

	/* The owner's. */
	int nr;
	struct aux aux; /* ring.page, words: NULL while not mapped */
	void *view; /* of any lane's area, through a software event */
	size_t view_size;
	unsigned int opened;
	uint64_t random;
	uint64_t steps, words, mapped, members;

	/* By stream; whoever begins a stream sets it back. */
	uint64_t next[STREAMS];
};

static struct lane lanes[MOST_THREADS];
static unsigned char known[STREAMS]; /* streams that have begun */
static unsigned int nr_lanes = DEFAULT_THREADS;
static unsigned int seconds = DEFAULT_SECONDS;
static uint64_t seed;
static bool over;

/* ---- decisions ---- */

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static unsigned int choose(struct lane *lane, unsigned int nr)
{
	return (unsigned int)(draw(&lane->random) % nr);
}

static bool once_in(struct lane *lane, unsigned int nr)
{
	return choose(lane, nr) == 0;
}

/* What one step draws does not change the next one's. */
static void begin_step(struct lane *lane)
{
	uint64_t state = seed + ((uint64_t)lane->nr << 48) + lane->steps++;

	lane->random = draw(&state);
}

static struct lane *any_lane(struct lane *lane)
{
	return &lanes[choose(lane, nr_lanes)];
}

/* ---- files ---- */

/* The next stream of this thread; all that is known of the last one of that id ends. */
static uint64_t begin_stream(struct lane *lane)
{
	unsigned int each = (STREAMS - 1) / nr_lanes;
	unsigned int id = 1 + (unsigned int)lane->nr * each +
			  lane->opened++ % each;

	for (unsigned int i = 0; i < nr_lanes; i++)
		__atomic_store_n(&lanes[i].next[id], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&known[id], 1, __ATOMIC_RELEASE);
	return id;
}

static struct perf_event_attr random_attr(struct lane *lane)
{
	static const char *const pmus[] = { "aux_test", "aux_test",
					    "aux_test_contiguous",
					    "aux_test_large",
					    "aux_test_exclusive" };
	static const uint64_t rates[] = { 100000, 1000000, 4000000, 16000000 };
	static const uint64_t chunks[] = { 0, 512, 4096, 30000 };
	static const uint32_t watermarks[] = { 0, 0, 4096, 10000 };
	struct perf_event_attr attr =
		aux_attr_of(pmus[choose(lane, ARRAY_LEN(pmus))]);

	aux_field(&attr, "rate", rates[choose(lane, ARRAY_LEN(rates))]);
	aux_field(&attr, "chunk", chunks[choose(lane, ARRAY_LEN(chunks))]);
	aux_field(&attr, "overrun", choose(lane, 3));
	attr.aux_watermark = watermarks[choose(lane, ARRAY_LEN(watermarks))];
	if (once_in(lane, 4)) {
		aux_field(&attr, "slow_stop", 1 + choose(lane, 5000));
		aux_field(&attr, "late_end", 1);
	} else if (once_in(lane, 4)) {
		aux_field(&attr, "slow_stop", 1 + choose(lane, 100));
	}
	if (once_in(lane, 8))
		aux_field(&attr, "fail_setup", 1 + choose(lane, 3));
	if (once_in(lane, 8))
		aux_field(&attr, "fail_begin", 1 + choose(lane, 10));
	if (once_in(lane, 8))
		aux_field(&attr, "drop", 1 + choose(lane, 20));
	if (once_in(lane, 8))
		aux_field(&attr, "raise", PERF_AUX_FLAG_PARTIAL);
	aux_field(&attr, "hw_id", once_in(lane, 4));
	return attr;
}

static int open_random(struct lane *lane, int cpu, bool inherit)
{
	struct perf_event_attr attr = random_attr(lane);
	int fd;

	aux_field(&attr, "id", begin_stream(lane));
	attr.inherit = inherit;
	fd = perf_open(&attr, cpu < 0 || inherit ? 0 : -1, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		CHECK_EQ(errno, EBUSY); /* of an exclusive PMU */
	return fd;
}

static int random_cpu(struct lane *lane)
{
	return (int)choose(lane, (unsigned int)sysconf(_SC_NPROCESSORS_ONLN));
}

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_files(struct lane *lane)
{
	pthread_rwlock_wrlock(&lane->lock);
	close_file(&lane->member);
	close_file(&lane->second);
	close_file(&lane->fd);
	pthread_rwlock_unlock(&lane->lock);
}

/* ---- words ---- */

static void check_word(struct lane *lane, uint64_t at, uint64_t word)
{
	uint64_t id = word >> AUX_OFFSET_BITS;
	uint64_t offset = word & ((1ULL << AUX_OFFSET_BITS) - 1);
	uint64_t next = __atomic_load_n(&lane->next[id], __ATOMIC_RELAXED);

	if (!__atomic_load_n(&known[id], __ATOMIC_ACQUIRE) || offset % 8)
		FAIL("lane %d, at %" PRIu64 ": %#" PRIx64 " is no word of any stream",
		     lane->nr, at, word);
	if (offset < next)
		FAIL("lane %d, at %" PRIu64 ": stream %" PRIu64 " has offset %"
		     PRIu64 ", %" PRIu64 " is due", lane->nr, at, id, offset,
		     next);
	__atomic_store_n(&lane->next[id], offset + 8, __ATOMIC_RELAXED);
}

static void drain_full(struct lane *lane)
{
	struct aux *aux = &lane->aux;
	uint64_t head = aux_head(aux);

	CHECK(head - aux->pos <= aux->size);
	for (; aux->pos != head; aux->pos += 8, lane->words++)
		check_word(lane, aux->pos, aux_word_at(aux, aux->pos));
	aux_release(aux);
}

/* Written while it is read, so there is no order; but nothing else is there. */
static void look_through(struct lane *lane)
{
	struct aux *aux = &lane->aux;

	for (size_t i = 0; i < aux->size / 8; i++, lane->words++) {
		uint64_t word = __atomic_load_n(&aux->words[i], __ATOMIC_RELAXED);

		if (word && (!known[word >> AUX_OFFSET_BITS] || word % 8))
			FAIL("lane %d: %#" PRIx64 " is no word of any stream",
			     lane->nr, word);
	}
}

static void drain(struct lane *lane)
{
	struct aux *aux = &lane->aux;

	if (!aux->ring.page)
		return;
	aux->ring.pos = aux->ring.page->data_tail;
	ring_drain(&aux->ring);
	if (!aux->words)
		return;
	if (lane->prot == PROT_READ)
		look_through(lane);
	else
		drain_full(lane);
}

/* ---- mappings ---- */

static void unmap_area_of(struct lane *lane)
{
	if (lane->aux.words)
		aux_unmap_area(&lane->aux);
}

static void unmap_ring_of(struct lane *lane)
{
	if (lane->aux.ring.page)
		ring_unmap(&lane->aux.ring);
}

static void map_ring_of(struct lane *lane)
{
	if (lane->fd >= 0 && !lane->aux.ring.page)
		ring_map(&lane->aux.ring, lane->fd, lane->data_pages);
}

static void map_area_of(struct lane *lane)
{
	struct aux *aux = &lane->aux;
	void *words;

	if (lane->fd < 0 || !aux->ring.page || aux->words)
		return;
	aux->fd = lane->fd;
	words = aux_try_map(aux, lane->aux_pages, lane->prot);
	if (words == MAP_FAILED) {
		CHECK(errno == EBUSY || errno == ENOMEM);
		return;
	}
	aux_take_area(aux, words, lane->aux_pages);
	lane->mapped++;
}

static void drop_view(struct lane *lane)
{
	if (lane->view)
		CHECK(!munmap(lane->view, lane->view_size));
	lane->view = NULL;
}

/* ---- what a thread may do; to its own lane ---- */

static void do_open(struct lane *lane)
{
	static const size_t data[] = { 0, 1, 2, 16 }, area[] = { 1, 4, 16, 64, 256 };
	int cpu = once_in(lane, 4) ? -1 : random_cpu(lane);
	bool inherit = cpu >= 0 && once_in(lane, 3);

	if (lane->fd >= 0)
		return;
	unmap_area_of(lane); /* of the event that was */
	unmap_ring_of(lane);
	pthread_rwlock_wrlock(&lane->lock);
	lane->cpu = cpu;
	lane->data_pages = data[choose(lane, ARRAY_LEN(data))];
	lane->aux_pages = area[choose(lane, ARRAY_LEN(area))];
	lane->prot = once_in(lane, 3) ? PROT_READ : READ_WRITE;
	lane->fd = open_random(lane, cpu, inherit);
	pthread_rwlock_unlock(&lane->lock);
}

static void do_map(struct lane *lane)
{
	map_ring_of(lane);
	map_area_of(lane);
	if (lane->fd >= 0)
		enable(lane->fd);
}

static void do_unmap_area(struct lane *lane)
{
	unmap_area_of(lane);
}

static void do_unmap_ring(struct lane *lane)
{
	unmap_ring_of(lane);
}

static void do_drain(struct lane *lane)
{
	for (int i = 0; i < 4; i++) {
		drain(lane);
		if (lane->fd >= 0 && once_in(lane, 2))
			enable(lane->fd);
		usleep(choose(lane, 1000));
	}
}

static void do_close(struct lane *lane)
{
	close_files(lane);
}

static void do_second(struct lane *lane)
{
	int second;

	if (lane->second >= 0 || lane->fd < 0)
		return;
	second = open_random(lane, lane->cpu, false);
	pthread_rwlock_wrlock(&lane->lock);
	lane->second = second;
	pthread_rwlock_unlock(&lane->lock);
	if (second >= 0)
		enable(second);
}

/* In the group of the lane's event: pauses it, resumes it, or samples its area. */
static void do_member(struct lane *lane)
{
	struct perf_event_attr attr = software_attr(PERF_COUNT_SW_CPU_CLOCK);
	unsigned int what = choose(lane, 3);
	uint32_t action = what == 0 ? 2 : 4; /* attr.aux_action: pause, resume */
	int member;

	if (lane->fd < 0 || lane->member >= 0)
		return;
	attr.exclude_kernel = 0;
	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_TIME;
	if (what == 2) {
		attr.sample_type |= PERF_SAMPLE_AUX;
		attr.aux_sample_size = 256;
	} else {
		memcpy(&attr.aux_sample_size + 1, &action, sizeof(action));
	}
	member = perf_open(&attr, lane->cpu < 0 ? 0 : -1, lane->cpu, lane->fd,
			   PERF_FLAG_FD_CLOEXEC);
	if (member < 0)
		return; /* its leader is inherited, or its PMU cannot */
	pthread_rwlock_wrlock(&lane->lock);
	lane->member = member;
	pthread_rwlock_unlock(&lane->lock);
	lane->members++;
}

static void do_fork(struct lane *lane)
{
	uint64_t us = choose(lane, 2000);
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		spin_us(us);
		_exit(0);
	}
	CHECK_EQ(waitpid(child, NULL, 0), child);
}

static void do_compute(struct lane *lane)
{
	spin_us(choose(lane, 2000));
}

/* ---- to any lane ---- */

static void do_switch(struct lane *lane)
{
	struct lane *other = any_lane(lane);
	bool on = once_in(lane, 2);
	int *fd = once_in(lane, 2) ? &other->fd : &other->second;

	pthread_rwlock_rdlock(&other->lock);
	if (*fd >= 0) {
		if (on)
			enable(*fd);
		else
			disable(*fd);
	}
	pthread_rwlock_unlock(&other->lock);
}

static void do_read(struct lane *lane)
{
	struct lane *other = any_lane(lane);

	pthread_rwlock_rdlock(&other->lock);
	if (other->fd >= 0) {
		count_of(other->fd);
		poll_now(other->fd);
	}
	pthread_rwlock_unlock(&other->lock);
}

static void do_pause_output(struct lane *lane)
{
	struct lane *other = any_lane(lane);
	int paused = (int)choose(lane, 2);

	pthread_rwlock_rdlock(&other->lock);
	if (other->fd >= 0 && pause_output(other->fd, paused))
		CHECK_EQ(errno, EINVAL); /* no ring, or one without data */
	pthread_rwlock_unlock(&other->lock);
}

/* A thread's own second event goes elsewhere. */
static void do_redirect(struct lane *lane)
{
	struct lane *other = any_lane(lane);
	bool away = once_in(lane, 4);

	pthread_rwlock_rdlock(&other->lock);
	if (lane->second >= 0 && (away || other->fd >= 0) &&
	    set_output(lane->second, away ? -1 : other->fd))
		CHECK_EQ(errno, EINVAL); /* another CPU or PMU, or no ring */
	pthread_rwlock_unlock(&other->lock);
}

static void *try_to_view(const struct lane *other, int fd)
{
	return map_bytes(fd, (other->data_pages + 1) * page_size(),
			 other->aux_pages * page_size(), other->prot);
}

/* A mapping of the area that comes and goes. */
static void do_view(struct lane *lane)
{
	struct lane *other = any_lane(lane);
	unsigned int us = choose(lane, 500);
	void *view = MAP_FAILED;

	pthread_rwlock_rdlock(&other->lock);
	if (other->fd >= 0)
		view = try_to_view(other, other->fd);
	if (view != MAP_FAILED) {
		usleep(us);
		CHECK(!munmap(view, other->aux_pages * page_size()));
	}
	pthread_rwlock_unlock(&other->lock);
}

/* One through a software event, which may outlive the event that writes. */
static void do_keep_view(struct lane *lane)
{
	struct lane *other = any_lane(lane);
	void *view = MAP_FAILED;
	int plain = -1;

	drop_view(lane);
	pthread_rwlock_rdlock(&other->lock);
	if (other->fd >= 0 && other->cpu >= 0)
		plain = open_plain(-1, other->cpu);
	if (plain >= 0 && !set_output(plain, other->fd))
		view = try_to_view(other, plain);
	if (view != MAP_FAILED) {
		lane->view = view;
		lane->view_size = other->aux_pages * page_size();
	}
	pthread_rwlock_unlock(&other->lock);
	if (plain >= 0)
		close(plain);
}

static void (*const deeds[])(struct lane *lane) = {
	do_open, do_open, do_map, do_map, do_map, do_unmap_area, do_unmap_ring,
	do_drain, do_drain, do_drain, do_drain, do_close, do_second, do_member,
	do_fork, do_compute, do_switch, do_switch, do_read, do_pause_output,
	do_redirect, do_redirect, do_view, do_keep_view,
};

/* ---- the run ---- */

static void *torture(void *arg)
{
	struct lane *lane = arg;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		begin_step(lane);
		deeds[choose(lane, ARRAY_LEN(deeds))](lane);
	}
	drain(lane);
	drop_view(lane);
	close_files(lane);
	unmap_area_of(lane);
	unmap_ring_of(lane);
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[MOST_THREADS];

	for (unsigned int i = 0; i < nr_lanes; i++) {
		struct lane *lane = &lanes[i];

		lane->nr = (int)i;
		lane->fd = lane->second = lane->member = -1;
		CHECK(!pthread_rwlock_init(&lane->lock, NULL));
	}
	for (unsigned int i = 0; i < nr_lanes; i++)
		CHECK(!pthread_create(&threads[i], NULL, torture, &lanes[i]));
	for (unsigned int left = seconds; left;)
		left = sleep(left);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < nr_lanes; i++)
		CHECK(!pthread_join(threads[i], NULL));
}

static void all_is_in_order_and_given_back(void)
{
	uint64_t words = 0, steps = 0, mapped = 0, members = 0;

	/* The base warns when two events write to one area, and breaks in late ends. */
	if (on_base())
		SKIP("the base does not survive this");
	pmu_type("aux_test");
	dprintf(STDOUT_FILENO, "# seed %" PRIu64 "\n", seed);
	run_threads();
	CHECK_EQ(pinned_pages(), 0);
	expect_whole_allowance();
	for (unsigned int i = 0; i < nr_lanes; i++) {
		words += lanes[i].words;
		steps += lanes[i].steps;
		mapped += lanes[i].mapped;
		members += lanes[i].members;
	}
	CHECK(words > 0);
	remark("%" PRIu64 " steps, %" PRIu64 " areas, %" PRIu64
	       " members, %" PRIu64 " words", steps, mapped, members, words);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(all_is_in_order_and_given_back),
	};
	char *none = NULL;

	seed = (uint64_t)time(NULL);
	if (argc > 1)
		seconds = (unsigned int)atoi(argv[1]);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	if (argc > 3)
		nr_lanes = (unsigned int)atoi(argv[3]);
	if (argc > 4 || !seconds || !nr_lanes || nr_lanes > MOST_THREADS) {
		fprintf(stderr, "usage: aux_torture [SECONDS [SEED [THREADS]]]\n");
		return 2;
	}
	return run_locked_cases_for(cases, ARRAY_LEN(cases), &none,
				    seconds + CASE_SECONDS);
}
