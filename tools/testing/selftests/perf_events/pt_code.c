// SPDX-License-Identifier: GPL-2.0
/*
 * Code that changes while it is traced: what runs is what is there, as soon as the
 * architecture says so (SDM volume 3, "Handling Self- and Cross-Modifying Code").
 */
#include "perf_pt_event.h"

#include <cpuid.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#define ROUNDS 100

typedef unsigned int (*function)(void);

/* mov $value, %eax; ret */
static const uint8_t code[] = { 0xb8, 0, 0, 0, 0, 0xc3 };

static uint8_t *volatile page;
static volatile int turn;

static void write_code(uint8_t *at, unsigned int value)
{
	memcpy(at, code, sizeof(code));
	memcpy(at + 1, &value, sizeof(value));
}

/* All of it within the trace, without a system call. */
static unsigned int __attribute__((noinline)) call(uint8_t *at, unsigned int times)
{
	unsigned int sum = 0;

	while (times--)
		sum += ((function)at)();
	return sum;
}

static void trace_self(void)
{
	struct perf_event_attr attr = pt_attr();
	static struct aux aux;
	int fd = open_self(&attr);

	/* What it says is nobody's business: it overwrites itself. */
	aux_map_as(&aux, fd, 2, 16, PROT_READ);
	enable(fd);
}

static uint8_t *new_page(int protection, int flags, int fd)
{
	uint8_t *at = mmap(NULL, 4096, protection, flags, fd, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

/*
 * The page is still this task's alone, and the table has it for reading all the same. A page that
 * waits to be put on the kernel's lists would be copied instead: others push it there.
 */
static void share_for_a_while(void)
{
	const size_t others = 64 * 4096;
	uint8_t *at = mmap(NULL, others, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	pid_t pid;

	CHECK(at != MAP_FAILED);
	pid = fork();
	munmap(at, others);

	CHECK(pid >= 0);
	if (!pid)
		_exit(0);
	join_child(pid);
}

static void *toucher(void *unused)
{
	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		while (turn != 2 * round + 1)
			;
		page[2048] = (uint8_t)round;
		turn = 2 * round + 2;
	}
	return NULL;
}

/* Another thread has made the page writable, of which this CPU has not been told. */
static void own_stores_count_at_once(void)
{
	pthread_t thread;

	trace_self();
	CHECK(!pthread_create(&thread, NULL, toucher, NULL));
	for (int round = 0; round < ROUNDS; round++) {
		page = new_page(PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1);
		write_code(page, 1);
		share_for_a_while();
		CHECK_EQ(call(page, 100), 100);
		turn = 2 * round + 1;
		while (turn != 2 * round + 2)
			call(page, 10);
		for (unsigned int value = 2; value < 6; value++) {
			page[1] = (uint8_t)value;
			CHECK_EQ(call(page, 10), 10 * value);
		}
		munmap(page, 4096);
	}
	pthread_join(thread, NULL);
}

/* The same page, for writing in one place and for running in another. */
static void own_stores_by_another_way_count_at_once(void)
{
	int fd = memfd_create("code", 0);
	uint8_t *to, *at;

	CHECK(fd >= 0 && !ftruncate(fd, 4096));
	trace_self();
	to = new_page(PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	at = new_page(PROT_READ | PROT_EXEC, MAP_SHARED, fd);
	for (unsigned int round = 1; round < ROUNDS; round++) {
		write_code(to, round);
		CHECK_EQ(call(at, 20), 20 * round);
	}
}

static void serialize(void)
{
	unsigned int a, b, c, d;

	__cpuid(0, a, b, c, d);
	(void)a, (void)b, (void)c, (void)d;
}

static void *writer(void *unused)
{
	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		while (turn != 2 * round + 1)
			;
		write_code(page, (unsigned int)round + 2);
		turn = 2 * round + 2;
	}
	return NULL;
}

/* What another thread has written runs behind an instruction that serializes. */
static void others_stores_count_once_serialized(void)
{
	pthread_t thread;

	page = new_page(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	write_code(page, 1);
	trace_self();
	CHECK(!pthread_create(&thread, NULL, writer, NULL));
	for (int round = 0; round < ROUNDS; round++) {
		CHECK_EQ(call(page, 10), 10 * ((unsigned int)round + 1));
		share_for_a_while();
		call(page, 10);
		turn = 2 * round + 1;
		while (turn != 2 * round + 2)
			;
		serialize();
		CHECK_EQ(call(page, 10), 10 * ((unsigned int)round + 2));
	}
	pthread_join(thread, NULL);
}

/* What has been executable becomes data, and code again: in between, stores are plain. */
static void code_by_turns(void)
{
	uint8_t *at = new_page(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	trace_self();
	for (unsigned int round = 1; round < ROUNDS; round++) {
		CHECK(!mprotect(at, 4096, PROT_READ | PROT_WRITE));
		write_code(at, round);
		CHECK(!mprotect(at, 4096, PROT_READ | PROT_EXEC));
		CHECK_EQ(call(at, 50), 50 * round);
	}
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(own_stores_count_at_once),
		CASE(own_stores_by_another_way_count_at_once),
		CASE(others_stores_count_once_serialized),
		CASE(code_by_turns),
	};

	return run_cases(cases, ARRAY_LEN(cases), argv + (argc > 0));
}
