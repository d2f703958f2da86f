// SPDX-License-Identifier: GPL-2.0
/*
 * pt_torture [SECONDS [SEED [WORKERS]]]: processes that do at random whatever is hard to
 * trace, and know what has to come of it; threads that trace them, each other and whole
 * CPUs at random.
 *
 * A worker ends with a failure if a register, a flag, memory, a signal or a count is not
 * what it has to be. Now and then one is killed, and there is another.
 *
 * The decisions of a worker or thread follow from the seed, its number and the step alone.
 */
#include "perf_pt_event.h"
#include "perf_ring_locked.h"

#include <linux/hw_breakpoint.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/user.h>
#include <ucontext.h>

#define DEFAULT_SECONDS 5
#define DEFAULT_WORKERS 3
#define MOST_WORKERS 32
#define TRACERS 3
#define TF 0x100
#define ARITHMETIC 0x8d5
#define ANSWERS 64
#define ROUNDS 60

struct worker {
	pid_t pid;
	uint64_t steps;
};

struct common {
	struct worker workers[MOST_WORKERS];
	bool over;
	bool failed; /* one that is killed while it says so has failed all the same */
};

static struct common *common; /* of all processes */

#undef FAIL
#define FAIL(...)                                                             \
	do {                                                                  \
		if (common)                                                   \
			common->failed = true;                                \
		fail_at(__FILE__, __LINE__, __VA_ARGS__);                     \
	} while (0)

static uint64_t answers[ANSWERS]; /* what compute() comes to, from before any trace */
static unsigned int nr_workers = DEFAULT_WORKERS;
static unsigned int seconds = DEFAULT_SECONDS;
static uint64_t seed;

/* ---- decisions ---- */

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static unsigned int choose(uint64_t *random, unsigned int nr)
{
	return (unsigned int)(draw(random) % nr);
}

/* Seeds that are neighbours have nothing in common: the seed itself is mixed first. */
static uint64_t random_of(unsigned int who, uint64_t step)
{
	uint64_t state = seed;

	state = draw(&state) + ((uint64_t)who << 48) + step;
	return draw(&state);
}

static bool is_over(void)
{
	return __atomic_load_n(&common->over, __ATOMIC_RELAXED);
}

/* ---- computations with a known end ---- */

static __attribute__((noinline)) uint64_t step_of(uint64_t word, unsigned int round)
{
	return word & 1 ? word * 6364136223846793005 + round : word / 2 ^ round;
}

static __attribute__((noinline)) uint64_t mix(uint64_t word, unsigned int round)
{
	return round % 3 ? word ^ word << 13 : word + round;
}

/* Direct and indirect calls, and branches that depend on the data. */
static uint64_t compute(uint64_t word)
{
	static uint64_t (*const steps[])(uint64_t, unsigned int) = { step_of, mix };

	for (unsigned int round = 0; round < ROUNDS; round++)
		word = steps[(word >> 5 ^ round) & 1](word, round);
	return word;
}

static void check_answer(unsigned int which)
{
	CHECK_EQ(compute(which), answers[which]);
}

static void do_compute(uint64_t *random)
{
	for (int i = 0; i < 5; i++)
		check_answer(choose(random, ANSWERS));
}

/* Flags go through branches, calls and the stack, and nobody adds one. */
static void do_flags(uint64_t *random)
{
	uint64_t want = (draw(random) & ARITHMETIC) | 0x202, got, after;

	asm volatile("push %2\n"
		     "popf\n"
		     "jmp 1f\n"
		     "2: ret\n"
		     "1: call 2b\n"
		     "jz 3f\n"
		     "3: pushf\n"
		     "pop %0\n"
		     "mov %%ss, %%ecx\n"
		     "mov %%ecx, %%ss\n"
		     "pushf\n"
		     "pop %1\n"
		     : "=&r" (got), "=&r" (after)
		     : "r" (want)
		     : "rcx", "cc", "memory");
	CHECK_EQ(got, want);
	CHECK_EQ(after, want);
}

static void do_calls(uint64_t *random)
{
	unsigned int nr = choose(random, 20);

	while (nr--) {
		uint64_t r11, result, r10 = draw(random), r10_after = r10;
		register uint64_t ten asm("r10") = r10;

		asm volatile("syscall\n"
			     "mov %%r11, %1\n"
			     : "=a" (result), "=&r" (r11), "+r" (ten)
			     : "0" (SYS_getppid)
			     : "rcx", "r11", "memory");
		r10_after = ten;
		CHECK(!(r11 & TF));
		CHECK_EQ(r10_after, r10);
		CHECK((pid_t)result == getppid());
	}
}

/* ---- signals ---- */

static sigjmp_buf back;
static volatile sig_atomic_t came, traps_left;

static siginfo_t infos[2]; /* of the signals that came first */

static void jump_back(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (came < 2)
		infos[came] = *info;
	came++;
	siglongjmp(back, signal);
}

static void count_signal(int signal)
{
	(void)signal;
	came++;
}

/* Each of these faults comes back by a long jump, once. */
static __attribute__((noinline)) void fault(unsigned int how)
{
	int *volatile nowhere = (int *)16;

	switch (how) {
	case 0:
		*(volatile int *)nowhere = 1;
		break;
	case 1:
		asm volatile("ud2");
		break;
	case 2:
		asm volatile("int3");
		break;
	case 3:
		asm volatile("hlt");
		break;
	default:
		asm volatile("call *%0" : : "r" ((uint64_t)nowhere) : "memory");
		break;
	}
}

static void do_fault(uint64_t *random)
{
	struct sigaction action = { .sa_sigaction = jump_back, .sa_flags = SA_SIGINFO };
	volatile unsigned int how = choose(random, 5);

	CHECK(!sigaction(SIGSEGV, &action, NULL));
	CHECK(!sigaction(SIGILL, &action, NULL));
	CHECK(!sigaction(SIGTRAP, &action, NULL));
	came = 0;
	if (!sigsetjmp(back, 1))
		fault(how);
	if (came != 1)
		FAIL("fault %u comes %d times: signals %d, %d, codes %d, %d, at %p, %p",
		     how, came, infos[0].si_signo, infos[1].si_signo,
		     infos[0].si_code, infos[1].si_code, infos[0].si_addr,
		     infos[1].si_addr);
	/* Another one, later, is nobody's. */
	signal(SIGSEGV, SIG_DFL);
	signal(SIGILL, SIG_DFL);
	signal(SIGTRAP, SIG_DFL);
}

/* In so many microseconds, once; 0: never. */
static void alarm_in(unsigned int usec)
{
	struct itimerval once = { .it_value.tv_usec = usec };

	CHECK(!setitimer(ITIMER_REAL, &once, NULL));
}

/*
 * An alarm that came by itself again and again could come sooner than the one before has
 * been handled, on a slow kernel, and leave no time for anything else.
 */
static void do_timer(uint64_t *random)
{
	sig_atomic_t due = 0;

	signal(SIGALRM, count_signal);
	came = 0;
	for (int i = 0; i < 20; i++) {
		if (came == due) {
			alarm_in(500 + choose(random, 2000));
			due++;
		}
		check_answer((unsigned int)i % ANSWERS);
	}
	alarm_in(0);
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal;
	CHECK_EQ(info->si_code, TRAP_TRACE);
	came++;
	if (!--traps_left)
		uc->uc_mcontext.gregs[REG_EFL] &= ~TF;
}

/* It steps itself: one trap for each instruction. */
static void do_step_itself(uint64_t *random)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	unsigned int which = choose(random, ANSWERS);
	int steps = 1 + (int)choose(random, 40);

	CHECK(!sigaction(SIGTRAP, &action, NULL));
	came = 0;
	traps_left = steps;
	asm volatile("pushf\n"
		     "orq $0x100, (%%rsp)\n"
		     "popf" : : : "memory", "cc");
	CHECK_EQ(compute(which), answers[which]);
	CHECK_EQ(came, steps);
	signal(SIGTRAP, SIG_DFL);
}

/* ---- code that changes ---- */

static void do_new_code(uint64_t *random)
{
	unsigned int size = 4096 * (1 + choose(random, 2)), at = choose(random, 4096 - 16);
	unsigned char *code = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(code != MAP_FAILED);
	if (size > 4096)
		at += 4096 - at % 16;
	for (int i = 0; i < 8; i++) {
		uint32_t value = (uint32_t)draw(random);
		bool fixed = choose(random, 2);

		/* mov $value, %eax; jmp +0; ret */
		code[at] = 0xb8;
		memcpy(code + at + 1, &value, 4);
		memcpy(code + at + 5, "\xeb\x00\xc3", 3);
		if (fixed)
			CHECK(!mprotect(code, size, PROT_READ | PROT_EXEC));
		CHECK_EQ(((uint32_t(*)(void))(code + at))(), value);
		if (fixed)
			CHECK(!mprotect(code, size,
					PROT_READ | PROT_WRITE | PROT_EXEC));
	}
	CHECK(!munmap(code, size));
}

/* ---- tasks ---- */

static int status_of(pid_t pid)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static void do_fork(uint64_t *random)
{
	unsigned int which = choose(random, ANSWERS);
	bool end = choose(random, 4) == 0;
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		check_answer(which);
		_exit((int)which);
	}
	if (end)
		kill(pid, SIGKILL);
	status = status_of(pid);
	CHECK(status == (int)which << 8 || (end && status == SIGKILL));
}

static void do_exec(uint64_t *random)
{
	char *args[] = { "sh", "-c", choose(random, 2) ? "exit 5" : "kill -9 $$", NULL };
	int want = args[2][0] == 'e' ? 5 << 8 : SIGKILL;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		execv("/bin/sh", args);
		_exit(99);
	}
	CHECK_EQ(status_of(pid), want);
}

static void *compute_beside(void *arg)
{
	unsigned int which = *(unsigned int *)arg;

	for (int i = 0; i < 3; i++) {
		check_answer(which);
		sched_yield();
	}
	return NULL;
}

static void do_threads(uint64_t *random)
{
	pthread_t threads[2];
	unsigned int which[2];

	for (int i = 0; i < 2; i++) {
		which[i] = choose(random, ANSWERS);
		CHECK(!pthread_create(&threads[i], NULL, compute_beside, &which[i]));
	}
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_join(threads[i], NULL));
}

/* Its debugger steps a child a little, never sees a TF, and lets it go. */
static void do_debug(uint64_t *random)
{
	unsigned int which = choose(random, ANSWERS), steps = choose(random, 60);
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		CHECK(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
		raise(SIGSTOP);
		check_answer(which);
		_exit((int)which);
	}
	CHECK(WIFSTOPPED(status_of(pid)));
	/* What has been asked for is not to be seen if its debugger is killed. */
	CHECK(!ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL));
	while (steps--) {
		struct user_regs_struct regs;

		CHECK(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL));
		status = status_of(pid);
		if (!WIFSTOPPED(status))
			FAIL("a child that is stepped ends with %#x", status);
		CHECK_EQ(WSTOPSIG(status), SIGTRAP);
		CHECK(!ptrace(PTRACE_GETREGS, pid, NULL, &regs));
		CHECK(!(regs.eflags & TF));
	}
	CHECK(!ptrace(choose(random, 2) ? PTRACE_DETACH : PTRACE_CONT, pid, NULL, NULL));
	CHECK_EQ(status_of(pid), (int)which << 8);
}

/* A breakpoint event on code counts each time that it is executed. */
static void do_breakpoint(uint64_t *random)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = (uint64_t)check_answer,
		.bp_len = sizeof(long),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	unsigned int nr = choose(random, 4);
	void (*volatile check)(unsigned int which) = check_answer;
	int fd = open_self(&attr);

	for (unsigned int i = 0; i < nr; i++)
		check(i);
	disable(fd);
	CHECK_EQ(count_of(fd), nr);
	close(fd);
}

static void (*const deeds[])(uint64_t *random) = {
	do_compute, do_compute, do_compute, do_flags, do_flags, do_calls, do_calls,
	do_fault, do_fault, do_timer, do_step_itself, do_new_code, do_new_code,
	do_fork, do_exec, do_threads, do_debug, do_breakpoint,
};

static void work(unsigned int nr)
{
	uint64_t *steps = &common->workers[nr].steps;

	while (!is_over()) {
		uint64_t random = random_of(nr, (*steps)++);

		deeds[choose(&random, ARRAY_LEN(deeds))](&random);
	}
	_exit(0);
}

static void start_worker(unsigned int nr)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid)
		work(nr);
	__atomic_store_n(&common->workers[nr].pid, pid, __ATOMIC_RELAXED);
}

static void end_worker(unsigned int nr, bool may_be_killed)
{
	int status = status_of(common->workers[nr].pid);

	if (status && !(may_be_killed && status == SIGKILL))
		FAIL("worker %u ends with wait status %#x at step %" PRIu64, nr,
		     status, common->workers[nr].steps);
}

/* ---- who traces ---- */

struct tracer {
	unsigned int nr;
	int fd;
	bool overwrite;
	struct aux aux; /* ring.page, words: NULL while not mapped */
	uint64_t steps, bytes, areas, opened;
};

static struct perf_event_attr random_attr(uint64_t *random)
{
	static const uint32_t watermarks[] = { 0, 0, 4096, 16384 };
	struct perf_event_attr attr = pt_attr();

	if (choose(random, 2))
		attr = pt_timed_attr();
	if (choose(random, 4) == 0 && pt_cap("psb_cyc"))
		pt_field(&attr, "cyc", 1);
	if (choose(random, 4) == 0 && pt_cap("mtc"))
		pt_field(&attr, "mtc", 1);
	attr.exclude_kernel = choose(random, 2);
	attr.aux_watermark = watermarks[choose(random, ARRAY_LEN(watermarks))];
	return attr;
}

static void open_event(struct tracer *tracer, uint64_t *random)
{
	struct perf_event_attr attr = random_attr(random);
	int cpu = (int)choose(random, (unsigned int)sysconf(_SC_NPROCESSORS_ONLN));
	unsigned int whom = choose(random, nr_workers + 1);
	pid_t pid = whom == nr_workers ? 0 :
		__atomic_load_n(&common->workers[whom].pid, __ATOMIC_RELAXED);

	if (tracer->fd >= 0)
		return;
	switch (choose(random, 8)) {
	case 0: /* shuts out all events of tasks as long as it is there */
		pid = -1;
		break;
	case 1:
	case 2:
	case 3:
		cpu = -1;
		break;
	default:
		attr.inherit = 1;
		break;
	}
	tracer->fd = perf_open(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (tracer->fd < 0)
		CHECK(errno == EBUSY || errno == ESRCH);
	else
		tracer->opened++;
}

static void unmap_area(struct tracer *tracer)
{
	if (tracer->aux.words)
		aux_unmap_area(&tracer->aux);
}

static void unmap_both(struct tracer *tracer)
{
	unmap_area(tracer);
	if (tracer->aux.ring.page)
		ring_unmap(&tracer->aux.ring);
}

static void map_event(struct tracer *tracer, uint64_t *random)
{
	static const size_t sizes[] = { 1, 2, 4, 16, 64, 256 };
	size_t pages = sizes[choose(random, ARRAY_LEN(sizes))];
	struct aux *aux = &tracer->aux;
	void *words;

	if (tracer->fd < 0)
		return;
	if (!aux->ring.page) {
		memset(aux, 0, sizeof(*aux));
		aux->fd = tracer->fd;
		ring_map(&aux->ring, tracer->fd, 4);
	}
	if (!aux->words) {
		tracer->overwrite = choose(random, 3) == 0;
		words = aux_try_map(aux, pages, tracer->overwrite ? PROT_READ :
				    PROT_READ | PROT_WRITE);
		if (words != MAP_FAILED) {
			aux->words = words;
			aux->size = pages * page_size();
			aux->pos = aux_head(aux);
			aux_release(aux);
			tracer->areas++;
		} else {
			CHECK(errno == EBUSY || errno == ENOMEM || errno == EINVAL);
		}
	}
	enable(tracer->fd);
}

/* All of it is read; what is no packet is found where a PSB says where packets are. */
static void drain(struct tracer *tracer)
{
	struct aux *aux = &tracer->aux;
	struct pt_trace trace = { 0 };
	struct pt_walk walk;
	uint64_t head;

	if (!aux->ring.page)
		return;
	ring_drain(&aux->ring);
	if (!aux->words || tracer->overwrite)
		return;
	head = aux_head(aux);
	trace.aux = *aux;
	pt_read_to(&trace, head);
	aux->pos = head;
	aux_release(aux);
	tracer->bytes += trace.size;
	walk = pt_walk_of(&trace);
	if (pt_seek_psb(&walk, 0))
		while (pt_next(&walk) < PT_PACKETS)
			;
	free(trace.bytes);
}

static void set_filter(struct tracer *tracer, uint64_t *random)
{
	static const char *const filters[] = {
		"", "filter 0x400000/0x100000", "filter 0/0x1000@/bin/sh",
		"stop 0x1000/0x10", "filter 0x400000/0x1000,stop 0x410000/0x1000",
	};

	if (tracer->fd >= 0)
		ioctl(tracer->fd, PERF_EVENT_IOC_SET_FILTER,
		      filters[choose(random, ARRAY_LEN(filters))]);
}

static void close_event(struct tracer *tracer)
{
	if (tracer->fd >= 0)
		close(tracer->fd);
	tracer->fd = -1;
}

static void trace_step(struct tracer *tracer, uint64_t *random)
{
	switch (choose(random, 12)) {
	case 0:
		if (choose(random, 2))
			unmap_both(tracer);
		close_event(tracer);
		unmap_both(tracer);
		break;
	case 1:
		unmap_area(tracer);
		break;
	case 2:
		if (tracer->fd >= 0)
			disable(tracer->fd);
		break;
	case 3:
		set_filter(tracer, random);
		break;
	case 4:
		pt_loop(choose(random, 500));
		break;
	case 5:
	case 6:
		open_event(tracer, random);
		map_event(tracer, random);
		break;
	default:
		drain(tracer);
		if (tracer->fd >= 0)
			enable(tracer->fd);
		usleep(choose(random, 20000));
		break;
	}
}

static void *trace_at_random(void *arg)
{
	struct tracer *tracer = arg;

	while (!is_over()) {
		uint64_t random = random_of(MOST_WORKERS + tracer->nr, tracer->steps++);

		trace_step(tracer, &random);
	}
	drain(tracer);
	close_event(tracer);
	unmap_both(tracer);
	return NULL;
}

/* ---- the run ---- */

/* Ends some worker now and then; one that has ended by itself has failed. */
static void watch_workers(void)
{
	uint64_t random = random_of(255, 0);
	time_t end = time(NULL) + (time_t)seconds;

	while (time(NULL) < end) {
		unsigned int nr = choose(&random, nr_workers);

		usleep(100000 + choose(&random, 400000));
		kill(common->workers[nr].pid, SIGKILL);
		end_worker(nr, true);
		start_worker(nr);
	}
}

static void nothing_is_harmed(void)
{
	static struct tracer tracers[TRACERS];
	uint64_t faults = pt_count("faults"), bytes = 0, steps = 0, areas = 0;
	uint64_t instructions = pt_count("instructions"), lost = pt_count("lost");
	pthread_t threads[TRACERS];

	pmu_type(PT);
	dprintf(STDOUT_FILENO, "# seed %" PRIu64 "\n", seed);
	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(common != MAP_FAILED);
	for (unsigned int i = 0; i < ANSWERS; i++)
		answers[i] = compute(i);
	for (unsigned int i = 0; i < nr_workers; i++)
		start_worker(i);
	for (unsigned int i = 0; i < TRACERS; i++) {
		tracers[i] = (struct tracer){ .nr = i, .fd = -1 };
		CHECK(!pthread_create(&threads[i], NULL, trace_at_random, &tracers[i]));
	}
	watch_workers();
	__atomic_store_n(&common->over, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < TRACERS; i++) {
		CHECK(!pthread_join(threads[i], NULL));
		bytes += tracers[i].bytes;
		areas += tracers[i].areas;
	}
	for (unsigned int i = 0; i < nr_workers; i++) {
		end_worker(i, false);
		steps += common->workers[i].steps;
	}
	CHECK(!common->failed);
	CHECK_EQ(pinned_pages(), 0);
	expect_whole_allowance();
	CHECK_EQ(pt_count("faults"), faults);
	CHECK(bytes > 0 && areas > 0 && steps > 0);
	remark("%" PRIu64 " steps, %" PRIu64 " areas, %" PRIu64 " bytes, %" PRIu64
	       " instructions, lost %" PRIu64, steps, areas, bytes,
	       pt_count("instructions") - instructions, pt_count("lost") - lost);
}

int main(int argc, char **argv)
{
	static const struct ring_case cases[] = {
		CASE(nothing_is_harmed),
	};
	char *none = NULL;

	seed = (uint64_t)time(NULL);
	if (argc > 1)
		seconds = (unsigned int)atoi(argv[1]);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	if (argc > 3)
		nr_workers = (unsigned int)atoi(argv[3]);
	if (argc > 4 || !seconds || !nr_workers || nr_workers > MOST_WORKERS) {
		fprintf(stderr, "usage: pt_torture [SECONDS [SEED [WORKERS]]]\n");
		return 2;
	}
	return run_locked_cases_for(cases, ARRAY_LEN(cases), &none,
				    seconds + 2 * CASE_SECONDS);
}
