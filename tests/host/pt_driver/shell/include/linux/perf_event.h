/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What trace.c, the part of the driver's shell that runs a CPU's trace, asks of the
 * kernel: enough to run it in user space, on one CPU.
 */
#ifndef SHELL_LINUX_PERF_EVENT_H
#define SHELL_LINUX_PERF_EVENT_H

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <linux/types.h>

/* Numbers of the ABI and of include/linux/perf_event.h. */
#define PERF_HES_STOPPED		0x01
#define PERF_HES_UPTODATE		0x02
#define PERF_EF_START			0x01
#define PERF_EF_UPDATE			0x04
#define PERF_EF_PAUSE			0x08
#define PERF_EF_RESUME			0x10
#define PERF_AUX_FLAG_TRUNCATED		0x01
#define PERF_AUX_FLAG_PARTIAL		0x04

struct attribute_group;

struct pmu {
	unsigned int	nr_addr_filters;
};

struct perf_event {
	struct {
		int		state;
		unsigned int	aux_paused;
		unsigned long	addr_filters_gen;
	} hw;
	unsigned long	addr_filters_gen;
	struct pmu	*pmu;
	void		*pmu_private;
};

/* As aux_ring.h has it. */
struct perf_output_handle {
	struct perf_event	*event;
	void			*rb;
	unsigned long		wakeup;
	unsigned long		size;
	u64			aux_flags;
	unsigned long		head;
	int			unused;
};

void *perf_aux_output_begin(struct perf_output_handle *handle, struct perf_event *event);
void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size);
void perf_aux_output_flag(struct perf_output_handle *handle, u64 flags);
void *perf_get_aux(struct perf_output_handle *handle);
long perf_output_copy_aux(struct perf_output_handle *aux_handle,
			  struct perf_output_handle *handle,
			  unsigned long from, unsigned long to);
void perf_event_itrace_started(struct perf_event *event);
void perf_event_addr_filters_sync(struct perf_event *event);

int smp_processor_id(void);

#define PAGE_SHIFT	12
#define PAGE_SIZE	(1UL << PAGE_SHIFT)
#define offset_in_page(address) ((address) & (PAGE_SIZE - 1))

#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name
#define DEFINE_PER_CPU(type, name) __typeof__(type) name
#define this_cpu_ptr(pointer) (pointer)
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
#define barrier() __asm__ volatile("" ::: "memory")
#define wmb() barrier()
#define smp_mb() barrier()
#define likely(x) (x)
#define unlikely(x) (x)
#define noinline __attribute__((noinline))
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __uninitialized
#define EXPORT_SYMBOL_GPL(name) _Static_assert(1, "")
#define KBUILD_MODNAME "intel_pt"
#define guard(what) shell_guard_##what
static inline void shell_guard_irqsave(void)
{
}

void shell_warn(const char *what);
#define WARN_ON_ONCE(condition) ({					\
	const bool warned = (condition);				\
									\
	if (warned)							\
		shell_warn(#condition);					\
	warned;								\
})
#define pr_err_ratelimited(...) shell_warn(pr_fmt(__VA_ARGS__))

#endif
