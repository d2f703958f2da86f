// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads do anything to a handful of shared events, in any state and any
 * order. Nothing is expected of the single call; afterwards the process has no
 * pinned memory left and its user's allowance is as large as before.
 *
 * Arguments: seconds for each case (5), then the seed (from the clock, and
 * printed). The two threads interleave as they like, so a seed repeats what is
 * done, not in which order.
 */
#include "perf_ring_locked.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>

#define EVENTS 6
#define MAPS 12
#define AREA_PAGES 16

static unsigned int seconds = 5;
static uint64_t seed;

static int events[EVENTS]; /* fds, -1 where there is none */
static struct {
	void *base; /* NULL where there is none */
	size_t pages; /* 0 while some thread has it in hand */
} maps[MAPS];
static int memory; /* /proc/self/mem: stores that fault in no one's face */
static bool stop;

struct fuzzer {
	uint64_t random;
	struct fault_area area;
	unsigned long steps;
};

static uint64_t dice(struct fuzzer *fuzzer, uint64_t sides)
{
	fuzzer->random ^= fuzzer->random << 13;
	fuzzer->random ^= fuzzer->random >> 7;
	fuzzer->random ^= fuzzer->random << 17;
	return fuzzer->random % sides;
}

static int any_event(struct fuzzer *fuzzer)
{
	return __atomic_load_n(&events[dice(fuzzer, EVENTS)], __ATOMIC_RELAXED);
}

/* ---- events come and go ---- */

static struct perf_event_attr any_attr(struct fuzzer *fuzzer)
{
	static const uint64_t configs[] = {
		PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK,
		PERF_COUNT_SW_CONTEXT_SWITCHES,
	};
	struct perf_event_attr attr =
		software_attr(configs[dice(fuzzer, ARRAY_LEN(configs))]);

	attr.comm = !dice(fuzzer, 2);
	attr.task = !dice(fuzzer, 4);
	attr.mmap2 = !dice(fuzzer, 4);
	attr.inherit = !dice(fuzzer, 6);
	attr.disabled = !dice(fuzzer, 3);
	attr.write_backward = !dice(fuzzer, 4);
	attr.sample_id_all = !dice(fuzzer, 2);
	attr.sample_type = dice(fuzzer, 1 << 10) & ~PERF_SAMPLE_READ;
	if (attr.config != PERF_COUNT_SW_DUMMY)
		attr.sample_period = attr.config == PERF_COUNT_SW_PAGE_FAULTS ?
			1 + dice(fuzzer, 3) : 50000 + dice(fuzzer, 1 << 20);
	attr.watermark = !dice(fuzzer, 2);
	attr.wakeup_events = (uint32_t)dice(fuzzer, 200);
	attr.read_format = dice(fuzzer, 1 << 5);
	return attr;
}

static void open_event(struct fuzzer *fuzzer)
{
	static const unsigned long flags[] = {
		0, PERF_FLAG_FD_CLOEXEC, PERF_FLAG_FD_OUTPUT,
		PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP,
	};
	struct perf_event_attr attr = any_attr(fuzzer);
	int cpu = (int)dice(fuzzer, 3) - 1;
	int group = dice(fuzzer, 3) ? -1 : any_event(fuzzer);
	int *slot = &events[dice(fuzzer, EVENTS)], none = -1;
	int fd = perf_open(&attr, 0, cpu, group,
			   flags[dice(fuzzer, ARRAY_LEN(flags))]);

	if (fd >= 0 && !__atomic_compare_exchange_n(slot, &none, fd, false,
						    __ATOMIC_ACQ_REL,
						    __ATOMIC_RELAXED))
		close(fd);
}

static void close_event(struct fuzzer *fuzzer)
{
	int fd = __atomic_exchange_n(&events[dice(fuzzer, EVENTS)], -1,
				     __ATOMIC_ACQ_REL);

	if (fd >= 0)
		close(fd);
}

/* ---- mappings ---- */

static void map_event(struct fuzzer *fuzzer)
{
	static const size_t sizes[] = { 1, 2, 3, 5, 9, 17, 33, 4, 1025 };
	static const int protections[] = { PROT_NONE, PROT_READ,
					   PROT_READ | PROT_WRITE,
					   PROT_READ | PROT_WRITE };
	size_t slot = dice(fuzzer, MAPS);
	size_t pages = sizes[dice(fuzzer, ARRAY_LEN(sizes))];
	off_t offset = dice(fuzzer, 8) ? 0 : (off_t)(64 * page_size());
	void *none = NULL, *base;

	base = mmap(NULL, pages * page_size(),
		    protections[dice(fuzzer, ARRAY_LEN(protections))],
		    MAP_SHARED, any_event(fuzzer), offset);
	if (base == MAP_FAILED)
		return;
	if (__atomic_compare_exchange_n(&maps[slot].base, &none, base, false,
					__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		__atomic_store_n(&maps[slot].pages, pages, __ATOMIC_RELEASE);
	else
		CHECK(!munmap(base, pages * page_size()));
}

/* Takes a mapping out of its slot; another thread may still look at it. */
static void *take_map(size_t slot, size_t *pages)
{
	*pages = __atomic_exchange_n(&maps[slot].pages, 0, __ATOMIC_ACQ_REL);
	return *pages ? maps[slot].base : NULL;
}

static void put_map(size_t slot, void *base, size_t pages)
{
	__atomic_store_n(&maps[slot].base, base, __ATOMIC_RELEASE);
	if (base)
		__atomic_store_n(&maps[slot].pages, pages, __ATOMIC_RELEASE);
}

static void unmap_event(struct fuzzer *fuzzer)
{
	size_t slot = dice(fuzzer, MAPS), pages;
	void *base = take_map(slot, &pages);

	if (!base)
		return;
	if (pages > 1) /* a part of it is nothing that can be unmapped */
		CHECK_ERRNO(munmap(base, page_size()), EINVAL);
	CHECK(!munmap(base, pages * page_size()));
	put_map(slot, NULL, 0);
}

static void move_map(struct fuzzer *fuzzer)
{
	size_t slot = dice(fuzzer, MAPS), pages, length;
	void *base = take_map(slot, &pages), *to;

	if (!base)
		return;
	length = pages * page_size();
	to = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(to != MAP_FAILED);
	CHECK(mremap(base, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
	      to);
	put_map(slot, to, pages);
}

static void protect_map(struct fuzzer *fuzzer)
{
	size_t slot = dice(fuzzer, MAPS), pages;
	void *base = take_map(slot, &pages);

	if (!base)
		return;
	mprotect(base, pages * page_size(),
		 dice(fuzzer, 2) ? PROT_READ : PROT_READ | PROT_WRITE);
	madvise(base, pages * page_size(),
		dice(fuzzer, 2) ? MADV_DONTNEED : MADV_DOFORK);
	put_map(slot, base, pages);
}

/* Words of the user page, data_tail and the AUX geometry among them. */
static void scribble(struct fuzzer *fuzzer)
{
	char *base = __atomic_load_n(&maps[dice(fuzzer, MAPS)].base,
				     __ATOMIC_RELAXED);
	uint64_t offset = 1024 + 8 * dice(fuzzer, 8);
	uint64_t value = dice(fuzzer, 2) ? fuzzer->random :
					   page_size() << dice(fuzzer, 8);
	ssize_t written;

	if (!base)
		return;
	written = pwrite(memory, &value, sizeof(value), (off_t)(base + offset));
	(void)written; /* it may be read-only, or gone */
}

static void look_at_data(struct fuzzer *fuzzer)
{
	char *base = __atomic_load_n(&maps[dice(fuzzer, MAPS)].base,
				     __ATOMIC_RELAXED);
	char bytes[64];
	ssize_t got;

	if (!base)
		return;
	got = pread(memory, bytes, sizeof(bytes),
		    (off_t)(base + page_size() * dice(fuzzer, 9)));
	(void)got;
}

/* ---- ioctls, polls, reads ---- */

static void control_event(struct fuzzer *fuzzer)
{
	static const unsigned long calls[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE,
		PERF_EVENT_IOC_RESET, PERF_EVENT_IOC_REFRESH,
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_PAUSE_OUTPUT,
	};

	ioctl(any_event(fuzzer), calls[dice(fuzzer, ARRAY_LEN(calls))],
	      dice(fuzzer, 3));
}

static void redirect_event(struct fuzzer *fuzzer)
{
	long target = dice(fuzzer, 4) ? any_event(fuzzer) : -1;

	set_output(any_event(fuzzer), target);
}

static void set_period(struct fuzzer *fuzzer)
{
	uint64_t period = dice(fuzzer, 4) ? 50000 + dice(fuzzer, 1 << 20) :
					    fuzzer->random;

	ioctl(any_event(fuzzer), PERF_EVENT_IOC_PERIOD, &period);
}

static void other_ioctl(struct fuzzer *fuzzer)
{
	uint64_t words[8] = { fuzzer->random, fuzzer->random };
	unsigned long call = dice(fuzzer, 2) ?
		PERF_EVENT_IOC_ID : _IOC(dice(fuzzer, 4), '$',
					 dice(fuzzer, 16), 8);

	ioctl(any_event(fuzzer), call, dice(fuzzer, 4) ? words : NULL);
}

static void ask_event(struct fuzzer *fuzzer)
{
	int fd = any_event(fuzzer);
	struct pollfd state = { .fd = fd, .events = POLLIN };
	uint64_t values[64];
	ssize_t got;

	poll(&state, 1, 0);
	got = read(fd, values, sizeof(values));
	(void)got;
}

static void ask_for_signals(struct fuzzer *fuzzer)
{
	int fd = any_event(fuzzer);

	fcntl(fd, F_SETOWN, getpid());
	fcntl(fd, F_SETFL, O_RDWR | (dice(fuzzer, 2) ? O_ASYNC : 0));
}

/* ---- what the events see ---- */

static void make_records(struct fuzzer *fuzzer)
{
	rename_tasks((unsigned int)dice(fuzzer, 1000), 20);
	fault_again(&fuzzer->area);
	touch_pages(&fuzzer->area, AREA_PAGES);
}

static void fork_child(struct fuzzer *fuzzer)
{
	pid_t child = fork();

	if (!child) {
		fuzzer->random += 1;
		for (int i = 0; i < 5; i++) {
			control_event(fuzzer);
			redirect_event(fuzzer);
			make_records(fuzzer);
		}
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* ---- the two threads ---- */

static void *fuzz(void *arg)
{
	static void (*const steps[])(struct fuzzer *) = {
		open_event, open_event, close_event, map_event, map_event,
		unmap_event, move_map, protect_map, scribble, scribble,
		look_at_data, control_event, control_event, redirect_event,
		redirect_event, set_period, other_ioctl, ask_event,
		ask_for_signals, make_records, make_records,
	};
	struct fuzzer *fuzzer = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (!dice(fuzzer, 200))
			fork_child(fuzzer);
		else
			steps[dice(fuzzer, ARRAY_LEN(steps))](fuzzer);
		fuzzer->steps++;
	}
	return NULL;
}

static void fuzz_with_two_threads(void)
{
	struct fuzzer fuzzers[2] = { { .random = seed }, { .random = ~seed } };
	pthread_t threads[2];

	signal(SIGIO, SIG_IGN);
	memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	CHECK(memory >= 0);
	for (int i = 0; i < EVENTS; i++)
		events[i] = -1;
	for (int i = 0; i < 2; i++) {
		void *base = mmap(NULL, AREA_PAGES * page_size(),
				  PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK(base != MAP_FAILED);
		fuzzers[i].area.base = base;
		fuzzers[i].area.pages = AREA_PAGES;
		CHECK(!pthread_create(&threads[i], NULL, fuzz, &fuzzers[i]));
	}
	sleep(seconds);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK(fuzzers[0].steps > 100 && fuzzers[1].steps > 100);
	remark("seed %llu, %lu and %lu steps", (unsigned long long)seed,
	       fuzzers[0].steps, fuzzers[1].steps);
}

static void let_go_of_all(void)
{
	for (size_t i = 0; i < MAPS; i++)
		if (maps[i].base)
			CHECK(!munmap(maps[i].base,
				      maps[i].pages * page_size()));
	for (int i = 0; i < EVENTS; i++)
		if (events[i] >= 0)
			close(events[i]);
}

/* Pinned by a large ring: the less there is of the allowance, the more. */
static long pins_of_a_large_ring(void)
{
	struct mapping mapping;
	long pinned;

	map_new(&mapping, large_ring());
	pinned = pinned_pages();
	unmap(&mapping);
	CHECK_EQ(pinned_pages(), 0);
	return pinned;
}

static void fuzz_and_let_go(void *unused)
{
	(void)unused;
	fuzz_with_two_threads();
	let_go_of_all();
	if (pinned_pages())
		BASE_DEFECT("pages stay pinned, or are given back twice");
}

static void fuzz_in_a_child(void)
{
	long before = pins_of_a_large_ring();

	join_child(start_child(fuzz_and_let_go, NULL));
	if (pins_of_a_large_ring() != before)
		BASE_DEFECT("the user's allowance is not what it was");
}

static void anything_as_root(void)
{
	fuzz_in_a_child();
}

static void anything_as_a_user(void)
{
	become_limited_user(2 * large_ring());
	fuzz_in_a_child();
}

static void take_number(char ***argv, uint64_t *number)
{
	char *end;

	if (!**argv)
		return;
	*number = strtoull(**argv, &end, 0);
	if (*end) {
		printf("Bail out! %s is no number: give seconds, then a seed\n",
		       **argv);
		exit(EXIT_FAILED);
	}
	++*argv;
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(anything_as_root),
		CASE(anything_as_a_user),
	};
	uint64_t each = seconds;
	struct timespec now;

	(void)argc;
	clock_gettime(CLOCK_REALTIME, &now);
	seed = (uint64_t)now.tv_sec << 20 ^ (uint64_t)now.tv_nsec;
	argv++;
	take_number(&argv, &each);
	take_number(&argv, &seed);
	seconds = (unsigned int)each;
	seed += !seed; /* zero would give nothing but zeros */
	printf("# seed %llu\n", (unsigned long long)seed);
	return run_locked_cases_for(cases, ARRAY_LEN(cases), argv,
				    seconds + CASE_SECONDS);
}
