/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples taken apart, and code that faults where a test can tell.
 */
#ifndef PERF_RING_SAMPLE_H
#define PERF_RING_SAMPLE_H

#include "perf_ring_task.h"

#include <fcntl.h>

/* What the fields that no hardware fills say; a number of the ABI. */
#define DATA_SRC_NA                                                           \
	(PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) |   \
	 PERF_MEM_S(LOCK, NA) | PERF_MEM_S(TLB, NA) | PERF_MEM_S(LVLNUM, NA))

/* The items of one sample; pointers lead into the ring's copy of the record. */
struct sample {
	uint64_t identifier, ip, time, addr, id, stream_id, period;
	uint32_t pid, tid, cpu;
	const uint64_t *read;
	size_t read_words;
	const uint64_t *chain;
	uint64_t chain_length;
	const uint8_t *raw;
	uint32_t raw_size;
	uint64_t user_abi, intr_abi;
	const uint64_t *user_regs, *intr_regs;
	const uint8_t *stack;
	uint64_t stack_size, stack_filled;
	uint64_t weight, data_src, transaction, phys_addr, cgroup;
	uint64_t data_page_size, code_page_size;
	uint64_t aux_size;
};

/* ---- taking a record apart ---- */

struct words {
	const uint64_t *next, *end;
};

static inline const uint64_t *take_words(struct words *words, uint64_t nr)
{
	const uint64_t *taken = words->next;

	if (nr > (uint64_t)(words->end - words->next))
		FAIL("an item of %llu words where %td are left",
		     (unsigned long long)nr, words->end - words->next);
	words->next += nr;
	return taken;
}

static inline uint64_t take_word(struct words *words)
{
	return *take_words(words, 1);
}

/* Two u32 in one word, in the order of their addresses. */
static inline void take_pair(struct words *words, uint32_t *first,
			     uint32_t *second)
{
	const uint64_t *word = take_words(words, 1);

	memcpy(first, word, 4);
	memcpy(second, (const uint8_t *)word + 4, 4);
}

static inline void take_cpu(struct words *words, uint32_t *cpu)
{
	uint32_t zero;

	take_pair(words, cpu, &zero);
	CHECK_EQ(zero, 0);
}

static inline size_t read_words(struct words *words, uint64_t format)
{
	size_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	size_t each = 1 + !!(format & PERF_FORMAT_ID) +
		      !!(format & PERF_FORMAT_LOST);

	if (!(format & PERF_FORMAT_GROUP))
		return times + each;
	CHECK(words->next < words->end);
	CHECK(*words->next < MAX_RECORD / 8);
	return 1 + times + each * *words->next;
}

static inline void take_raw(struct words *words, struct sample *s)
{
	CHECK(words->next < words->end);
	memcpy(&s->raw_size, words->next, 4);
	CHECK_EQ(s->raw_size % 8, 4);
	s->raw = (const uint8_t *)take_words(words, (s->raw_size + 4) / 8) + 4;
}

static inline const uint64_t *take_regs(struct words *words, uint64_t *abi,
					uint64_t mask)
{
	*abi = take_word(words);
	CHECK(*abi <= PERF_SAMPLE_REGS_ABI_64);
	return take_words(words, *abi ? __builtin_popcountll(mask) : 0);
}

static inline void take_stack(struct words *words, struct sample *s)
{
	s->stack_size = take_word(words);
	CHECK_EQ(s->stack_size % 8, 0);
	s->stack = (const uint8_t *)take_words(words, s->stack_size / 8);
	s->stack_filled = s->stack_size ? take_word(words) : 0;
	CHECK(s->stack_filled <= s->stack_size);
}

#define TAKE(bit, field)                                                      \
	do {                                                                  \
		if (type & PERF_SAMPLE_##bit)                                 \
			s->field = take_word(&words);                         \
	} while (0)

/* What has a length of its own. */
static inline void take_long_items(struct words *rest, struct sample *s,
				   const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_READ) {
		s->read_words = read_words(rest, attr->read_format);
		s->read = take_words(rest, s->read_words);
	}
	if (type & PERF_SAMPLE_CALLCHAIN) {
		s->chain_length = take_word(rest);
		s->chain = take_words(rest, s->chain_length);
	}
	if (type & PERF_SAMPLE_RAW)
		take_raw(rest, s);
	if (type & PERF_SAMPLE_REGS_USER)
		s->user_regs = take_regs(rest, &s->user_abi,
					 attr->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		take_stack(rest, s);
}

/* The record that was read last; it has to end where its last item does. */
static inline void take_sample(const struct ring *ring, struct sample *s,
			       const struct perf_event_attr *attr)
{
	const struct perf_event_header *header = &ring->record.header;
	struct words words = { ring->record.words + 1,
			       ring->record.words + header->size / 8 };
	uint64_t type = attr->sample_type;

	memset(s, 0, sizeof(*s));
	TAKE(IDENTIFIER, identifier);
	TAKE(IP, ip);
	if (type & PERF_SAMPLE_TID)
		take_pair(&words, &s->pid, &s->tid);
	TAKE(TIME, time);
	TAKE(ADDR, addr);
	TAKE(ID, id);
	TAKE(STREAM_ID, stream_id);
	if (type & PERF_SAMPLE_CPU)
		take_cpu(&words, &s->cpu);
	TAKE(PERIOD, period);
	take_long_items(&words, s, attr);
	TAKE(WEIGHT_TYPE, weight);
	TAKE(DATA_SRC, data_src);
	TAKE(TRANSACTION, transaction);
	if (type & PERF_SAMPLE_REGS_INTR)
		s->intr_regs = take_regs(&words, &s->intr_abi,
					 attr->sample_regs_intr);
	TAKE(PHYS_ADDR, phys_addr);
	TAKE(CGROUP, cgroup);
	TAKE(DATA_PAGE_SIZE, data_page_size);
	TAKE(CODE_PAGE_SIZE, code_page_size);
	TAKE(AUX, aux_size); /* and no data behind it */
	CHECK_EQ((words.end - words.next) * 8, 0);
}

#undef TAKE

/* The next record has to be a sample of such an event. */
static inline void expect_sample(struct ring *ring, struct sample *s,
				 const struct perf_event_attr *attr)
{
	expect_type(ring, PERF_RECORD_SAMPLE);
	take_sample(ring, s, attr);
}

/* ---- events ---- */

/* One sample with these fields for each fault that maps a page. */
static inline struct perf_event_attr minor_fault_attr(uint64_t fields)
{
	struct perf_event_attr attr = fault_attr();

	attr.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	attr.sample_type = fields;
	return attr;
}

/* Writes to the ring of another event from the start. */
static inline int open_into(const struct perf_event_attr *attr, pid_t pid,
			    int cpu, int owner)
{
	int fd = perf_open(attr, pid, cpu, owner,
			   PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP |
				   PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		FAIL("perf_event_open(pid %d, cpu %d), type %#llx: %s", pid,
		     cpu, (unsigned long long)attr->sample_type,
		     strerror(errno));
	return fd;
}

/* Reading and releasing faults once for each page of the ring; not any more. */
static inline void ring_touch(struct ring *ring)
{
	const volatile uint8_t *data = ring->data;

	for (uint64_t at = 0; at < ring->size; at += page_size())
		(void)data[at];
	ring_release(ring);
}

/* An event that writes nothing itself, to own a ring. */
static inline int open_ring_owner(struct ring *ring, size_t pages)
{
	struct perf_event_attr attr = software_attr(PERF_COUNT_SW_DUMMY);
	int fd = open_self(&attr);

	ring_map(ring, fd, pages);
	ring_touch(ring);
	return fd;
}

/* ---- code that faults ---- */

/* All code of this section, and no other, is what a fault's ip may point to. */
#define FAULT_CODE __attribute__((noinline, unused, section("fault_code")))

extern const char __start_fault_code[], __stop_fault_code[];

static FAULT_CODE void fault_on(volatile char *at)
{
	*at = 1;
}

static inline bool in_fault_code(uint64_t ip)
{
	return ip >= (uintptr_t)__start_fault_code &&
	       ip < (uintptr_t)__stop_fault_code;
}

/* The stack that the test's functions will use does not fault any more. */
static __attribute__((noinline, unused)) void touch_stack(void)
{
	volatile char below[64 * 1024];

	for (size_t i = 0; i < sizeof(below); i += 1024)
		below[i] = 0;
}

static inline volatile char *page_of(const struct fault_area *area, size_t nr)
{
	return area->base + nr * page_size();
}

/* Where a page of the own task is, as the kernel tells by other means. */
static inline uint64_t physical_address(const volatile char *at)
{
	static int pagemap = -1;
	uint64_t entry, place = (uintptr_t)at;

	if (pagemap < 0)
		pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	CHECK(pagemap >= 0);
	CHECK_EQ(pread(pagemap, &entry, 8,
		       (off_t)(place / page_size() * 8)), 8);
	CHECK(entry >> 63);
	entry &= (1ULL << 55) - 1;
	CHECK(entry);
	return entry * page_size() + place % page_size();
}

#endif /* PERF_RING_SAMPLE_H */
