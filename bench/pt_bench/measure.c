// SPDX-License-Identifier: GPL-2.0
/*
 * pt_bench: what a switch between traced tasks costs the base's Intel PT driver and ours.
 *
 * The PMUs pt_base and pt_ours are the two drivers, each over an emulated unit. An event of
 * the PMU pt_bench whose attr.config is one of them, when it starts, switches to and fro
 * between all events of that driver that have been opened since, as the scheduler does:
 * del() of one, add() of the next. Its count is the time that attr.config1 switches took,
 * in ns, or 1: the driver could not, see dmesg. Under -icount a ns is an instruction.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>

#include "pt_bench.h"

#define MOST_TASKS	2
#define FAILED		1

/* Regions of a page, in place of large ones. */
static bool small;
module_param(small, bool, 0444);

static const char *const names[BENCH_DRIVERS] = {
	[BENCH_BASE] = "pt_base",
	[BENCH_OURS] = "pt_ours",
};

static struct {
	struct pmu		*pmu;
	int			(*event_init)(struct perf_event *event);
	struct perf_event	*tasks[MOST_TASKS];
	unsigned int		count;
} drivers[BENCH_DRIVERS];

static int traced_init(enum bench_driver driver, struct perf_event *event)
{
	int err = drivers[driver].event_init(event);

	if (!err && drivers[driver].count < MOST_TASKS)
		drivers[driver].tasks[drivers[driver].count++] = event;
	return err;
}

static int base_init(struct perf_event *event)
{
	return traced_init(BENCH_BASE, event);
}

static int our_init(struct perf_event *event)
{
	return traced_init(BENCH_OURS, event);
}

int bench_register(enum bench_driver driver, struct pmu *pmu)
{
	int err;

	drivers[driver].event_init = pmu->event_init;
	pmu->event_init = driver == BENCH_BASE ? base_init : our_init;
	pmu->module = THIS_MODULE;
	/* One task stands for several. */
	pmu->capabilities &= ~PERF_PMU_CAP_EXCLUSIVE;
	if (small)
		pmu->capabilities &= ~PERF_PMU_CAP_AUX_PREFER_LARGE;
	err = perf_pmu_register(pmu, names[driver], -1);
	if (!err)
		drivers[driver].pmu = pmu;
	return err;
}

static u64 time_of_nothing(u64 times)
{
	u64 total = 0, start;

	while (times--) {
		start = local_clock();
		barrier();
		total += local_clock() - start;
	}
	return total;
}

/* 0: a driver could not begin. */
static u64 time_switches(enum bench_driver driver, u64 switches)
{
	struct perf_event **tasks = drivers[driver].tasks;
	const unsigned int count = drivers[driver].count;
	struct pmu *pmu = drivers[driver].pmu;
	u64 total = 0, start, left;
	unsigned int now = 0;
	int err;

	if (!count)
		return 0;
	err = pmu->add(tasks[now], PERF_EF_START);
	if (err) {
		pr_err("%s: error %d at the first start\n", names[driver], err);
		return 0;
	}
	for (left = switches; left; left--) {
		bench_unit_run(driver);
		start = local_clock();
		pmu->del(tasks[now], PERF_EF_UPDATE);
		now = now + 1 < count ? now + 1 : 0;
		err = pmu->add(tasks[now], PERF_EF_START);
		if (err) {
			pr_err("%s: error %d after %llu switches\n", names[driver], err,
			       switches - left);
			return 0;
		}
		total += local_clock() - start;
	}
	pmu->del(tasks[now], PERF_EF_UPDATE);
	return total - time_of_nothing(switches);
}

static void event_start(struct perf_event *event, int flags)
{
	enum bench_driver driver = event->attr.config;
	u64 faults = bench_unit_faults(driver);
	u64 time;

	/* Once until it is reset: the task itself may be switched meanwhile. */
	if (local64_read(&event->count))
		return;
	time = time_switches(driver, event->attr.config1);
	if (bench_unit_faults(driver) != faults) {
		pr_err("%s: registers have been refused\n", names[driver]);
		time = 0;
	}
	local64_set(&event->count, time ?: FAILED);
}

static void event_stop(struct perf_event *event, int flags)
{
}

static int event_add(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_START)
		event_start(event, 0);
	return 0;
}

static void event_read(struct perf_event *event)
{
}

static int event_init(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->attr.config >= BENCH_DRIVERS)
		return -EINVAL;
	drivers[event->attr.config].count = 0;
	return 0;
}

static struct pmu bench = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_sw_context,
	.event_init	= event_init,
	.add		= event_add,
	.del		= event_stop,
	.start		= event_start,
	.stop		= event_stop,
	.read		= event_read,
};

static void unregister(void)
{
	int driver;

	for (driver = 0; driver < BENCH_DRIVERS; driver++) {
		if (drivers[driver].pmu)
			perf_pmu_unregister(drivers[driver].pmu);
	}
	bench_unit_free();
}

static int __init pt_bench_init(void)
{
	int err = bench_unit_init();

	if (!err)
		err = bench_base_init();
	if (!err)
		err = bench_our_init();
	if (!err)
		err = perf_pmu_register(&bench, "pt_bench", -1);
	if (err)
		unregister();
	return err;
}

static void __exit pt_bench_exit(void)
{
	perf_pmu_unregister(&bench);
	unregister();
}

module_init(pt_bench_init);
module_exit(pt_bench_exit);

MODULE_DESCRIPTION("times Intel PT drivers at a switch of tasks");
MODULE_LICENSE("GPL");
