// SPDX-License-Identifier: GPL-2.0
/*
 * Who pays for a ring's memory.
 *
 * Each user has an allowance, kernel.perf_event_mlock_kb for each online CPU,
 * shared by all of the user's processes. What goes beyond it counts as pinned
 * memory of the mapping process, bounded by RLIMIT_MEMLOCK unless
 * kernel.perf_event_paranoid is -1 or the process has CAP_IPC_LOCK.
 *
 * A charge names whom it was made to, so it goes back there whoever unmaps
 * last, from whichever process.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/perf_event.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>

#include "internal.h"
#include "ring/map_rules.h"

static unsigned long user_allowance(void)
{
	return (unsigned long)(sysctl_perf_event_mlock >> (PAGE_SHIFT - 10)) * num_online_cpus();
}

static bool mm_limited(void)
{
	return perf_is_paranoid() && !capable(CAP_IPC_LOCK);
}

/*
 * The user's share is taken in one step with the look at what is left of the
 * allowance, or two mappings at once would both fit. A charge that fails is never
 * seen by others. pinned_vm needs no such step: the caller has mm->mmap_lock.
 */
int perf_charge(struct perf_charge *charge, struct mm_struct *mm, unsigned long pages)
{
	const unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	const unsigned long allowance = user_allowance();
	struct user_struct *user = current_user();
	long used = atomic_long_read(&user->perf_mlock);
	struct perf_lock_split split;

	do {
		split = perf_lock_split(pages, used, allowance);
		if (atomic64_read(&mm->pinned_vm) + split.mm > limit && mm_limited())
			return -EPERM;
	} while (!atomic_long_try_cmpxchg(&user->perf_mlock, &used, used + split.user));

	atomic64_add(split.mm, &mm->pinned_vm);
	mmgrab(mm);
	*charge = (struct perf_charge) {
		.user		= get_uid(user),
		.mm		= mm,
		.user_pages	= split.user,
		.mm_pages	= split.mm,
	};
	return 0;
}

void perf_uncharge(struct perf_charge *charge)
{
	if (!charge->user)
		return;

	atomic_long_sub(charge->user_pages, &charge->user->perf_mlock);
	atomic64_sub(charge->mm_pages, &charge->mm->pinned_vm);
	free_uid(charge->user);
	mmdrop(charge->mm);
	*charge = (struct perf_charge) { };
}
