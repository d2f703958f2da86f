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

/* Check and charge in one step, or two mappings at once would both fit. */
static struct perf_lock_split charge_user(struct user_struct *user, unsigned long pages)
{
	const unsigned long allowance = user_allowance();
	long used = atomic_long_read(&user->perf_mlock);
	struct perf_lock_split split;

	do {
		split = perf_lock_split(pages, used, allowance);
	} while (!atomic_long_try_cmpxchg(&user->perf_mlock, &used, used + split.user));

	return split;
}

static bool mm_limited(void)
{
	return perf_is_paranoid() && !capable(CAP_IPC_LOCK);
}

int perf_charge(struct perf_charge *charge, struct mm_struct *mm, unsigned long pages)
{
	const unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct user_struct *user = current_user();
	struct perf_lock_split split = charge_user(user, pages);
	unsigned long pinned = atomic64_add_return(split.mm, &mm->pinned_vm);

	if (pinned > limit && mm_limited()) {
		atomic64_sub(split.mm, &mm->pinned_vm);
		atomic_long_sub(split.user, &user->perf_mlock);
		return -EPERM;
	}

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
