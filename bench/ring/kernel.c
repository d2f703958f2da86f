// SPDX-License-Identifier: GPL-2.0
/* What the rings call of the kernel, out of line as it is there. */
#include "kernel.h"

unsigned int bench_preempt_count = 1U << 31;

static int rcu_nesting;
static volatile int wakeups;

void rcu_read_lock(void)
{
	WRITE_ONCE(rcu_nesting, rcu_nesting + 1);
	barrier();
}

void rcu_read_unlock(void)
{
	barrier();
	WRITE_ONCE(rcu_nesting, rcu_nesting - 1);
	if (unlikely(rcu_nesting < 0))
		bench_reschedule();
}

void bench_reschedule(void)
{
	wakeups++;
}

void bench_wake(void)
{
	wakeups++;
}
