/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of the kernel as the data half of the base's ring_buffer.c needs in
 * user space, at the price that each thing has in an x86 kernel with
 * CONFIG_PREEMPT and no debugging. Included ahead of the base's file; the headers
 * that it asks for and user space lacks are empty.
 */
#ifndef BENCH_KERNEL_H
#define BENCH_KERNEL_H

#include <linux/eventpoll.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <errno.h>

#include "writers.h"

/* Types */

typedef uint8_t u8;
typedef uint64_t u64;
typedef int64_t s64;
typedef unsigned long pgoff_t;

typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;
typedef struct { int refs; } refcount_t;
typedef struct { unsigned long value; } local_t;
typedef struct { int unused; } spinlock_t;

struct list_head { struct list_head *next, *prev; };
struct rcu_head { void *unused; };
struct mutex { int unused; };
struct irq_work { int unused; };
struct fasync_struct;
struct user_struct;
struct page;
struct perf_buffer;

typedef unsigned long (*perf_copy_f)(void *dst, const void *src, unsigned long offset,
				     unsigned long len);

/* Members that the ring code uses. */
struct perf_event {
	struct perf_event_attr	attr;
	struct perf_event	*parent;
	struct perf_buffer	*rb;
	struct fasync_struct	*fasync;
	struct irq_work		pending_irq;
	atomic64_t		lost_samples;
	u64			id;
	u8			id_header_size;
	unsigned int		pending_wakeup;
	unsigned int		pending_kill;
};

struct perf_sample_data { u64 unused; };

struct perf_output_handle {
	struct perf_event	*event;
	struct perf_buffer	*rb;
	unsigned long		wakeup;
	unsigned long		size;
	union {
		u64		flags;
		u64		aux_flags;
	};
	union {
		void		*addr;
		unsigned long	head;
	};
	int			page;
};

/* The compiler */

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		__asm__ volatile("" : : : "memory")
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))
#define smp_wmb()		barrier()
#define container_of(at, type, member)	((type *)((char *)(at) - offsetof(type, member)))
#define min(a, b) ({				\
	__typeof__(a) first = (a);		\
	__typeof__(b) second = (b);		\
	first < second ? first : second; })
#define WARN_ON_ONCE(x)		unlikely(x)
#define EXPORT_SYMBOL_GPL(name)	extern int exported_##name

#define PAGE_SHIFT		12
#define PAGE_SIZE		(1UL << PAGE_SHIFT)

/* Bytes free in a ring of a power of two, of which one stays free. */
#define CIRC_SPACE(head, tail, size)	(((tail) - (head) - 1) & ((size) - 1))

/* One instruction against interrupts on this CPU, without a lock prefix. */

#define local_read(l)		READ_ONCE((l)->value)
#define local_set(l, to)	WRITE_ONCE((l)->value, (unsigned long)(to))

static inline void local_add(long by, local_t *to)
{
	__asm__ volatile("addq %1, %0" : "+m"(to->value) : "er"(by) : "memory", "cc");
}

static inline void local_inc(local_t *to)
{
	__asm__ volatile("incq %0" : "+m"(to->value) : : "memory", "cc");
}

static inline bool local_try_cmpxchg(local_t *at, unsigned long *expected, unsigned long to)
{
	bool done;

	__asm__ volatile("cmpxchgq %3, %0"
			 : "+m"(at->value), "=@ccz"(done), "+a"(*expected)
			 : "r"(to)
			 : "memory");
	return done;
}

static inline unsigned long local_xchg(local_t *at, unsigned long to)
{
	unsigned long found = at->value;

	while (!local_try_cmpxchg(at, &found, to))
		;
	return found;
}

#define atomic_set(a, to)	WRITE_ONCE((a)->counter, (int)(to))
#define atomic_read(a)		READ_ONCE((a)->counter)
#define atomic64_inc(a)		__atomic_fetch_add(&(a)->counter, 1, __ATOMIC_SEQ_CST)
#define refcount_set(r, to)	((r)->refs = (to))

/* Preemption and RCU; the latter are calls, as with CONFIG_PREEMPT_RCU. */

#define preempt_disable()	bench_preempt_disable()
#define preempt_enable()	bench_preempt_enable()
#define rcu_dereference(p)	READ_ONCE(p)

void rcu_read_lock(void);
void rcu_read_unlock(void);

/* Only named, or only used where a record is lost. */

#define spin_lock_init(lock)	((void)(lock))
#define mutex_init(mutex)	((void)(mutex))
#define INIT_LIST_HEAD(list)	((void)(list))
#define pagefault_disable()	barrier()
#define pagefault_enable()	barrier()
#define __copy_from_user_inatomic(to, from, n)	(memcpy(to, from, n), 0UL)
#define interrupt_context_level()	0
#define perf_event_fasync(event)	(&(event)->fasync)
#define irq_work_queue(work)	((void)(work), bench_wake())
#define is_write_backward(event)	((event)->attr.write_backward)

void perf_event_header__init(struct perf_event_header *header, struct perf_sample_data *data,
			     int type, int misc, int size, struct perf_event *event);
void perf_event__output_id_sample(struct perf_event *event, struct perf_output_handle *handle,
				  struct perf_sample_data *data);

/* What the base's file gives. */

int perf_output_begin_forward(struct perf_output_handle *handle, struct perf_sample_data *data,
			      struct perf_event *event, unsigned int size);
int perf_output_begin_backward(struct perf_output_handle *handle, struct perf_sample_data *data,
			       struct perf_event *event, unsigned int size);
unsigned int perf_output_copy(struct perf_output_handle *handle, const void *buf,
			      unsigned int len);
unsigned int perf_output_skip(struct perf_output_handle *handle, unsigned int len);
void perf_output_end(struct perf_output_handle *handle);

#define perf_output_put(handle, x)	perf_output_copy((handle), &(x), sizeof(x))

#endif
