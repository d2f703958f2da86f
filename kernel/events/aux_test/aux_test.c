// SPDX-License-Identifier: GPL-2.0
/*
 * aux_test: PMUs that write AUX data at any rate, on any machine, and can be told to
 * fail. Their data prove themselves: each word says where in the stream it belongs.
 *
 * For tests of whatever lies between a trace driver and the reader of its data. See
 * Documentation/trace/aux_test.rst.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "aux_test.h"

#define MOST_FILTERS	4

static char *name = "aux_test";
module_param(name, charp, 0444);
MODULE_PARM_DESC(name, "what the PMUs' names start with");

static char *alias = "";
module_param(alias, charp, 0444);
MODULE_PARM_DESC(alias, "a second name of the first PMU, for tools that know traces by name");

static struct aux_test_source *source_of(struct perf_event *event)
{
	return event->pmu_private;
}

static struct pmu *only_ours(struct pmu *pmu);

static int parse(struct aux_test_config *config, const struct perf_event_attr *attr)
{
	const unsigned long long words[AUX_TEST_CONFIGS] = {
		attr->config, attr->config1, attr->config2
	};
	int err = aux_test_parse(config, words);

	if (err || attr->config3 || (config->late_end && !AUX_TEST_COUNTS_LOST))
		return -EINVAL;
	/* A CPU that spins with interrupts off, an area that stays: not for everybody. */
	if (config->slow_stop && !perfmon_capable())
		return -EACCES;
	return 0;
}

static void destroy(struct perf_event *event)
{
	aux_test_source_free(source_of(event));
}

static int event_init(struct perf_event *event)
{
	struct aux_test_config config;
	struct aux_test_source *source;
	int err;

	if (!only_ours(event->pmu) || event->attr.type != event->pmu->type)
		return -ENOENT;
	err = parse(&config, &event->attr);
	if (err)
		return err;

	source = aux_test_source_alloc(event);
	if (!source)
		return -ENOMEM;
	source->config = config;
	event->pmu_private = source;
	event->destroy = destroy;
	return 0;
}

/* A member that only puts its id into the leader's data has no stream of its own. */
static bool has_stream(struct perf_event *event)
{
	return !event->attr.aux_output;
}

static void event_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	if (!has_stream(event))
		return;
	event->attach_state |= PERF_ATTACH_ITRACE;
	perf_event_addr_filters_sync(event);
	aux_test_source_start(source_of(event), flags);
}

static void event_stop(struct perf_event *event, int flags)
{
	if (!(flags & PERF_EF_PAUSE))
		event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (has_stream(event))
		aux_test_source_stop(source_of(event), flags);
}

static int event_add(struct perf_event *event, int flags)
{
	const struct aux_test_config *config = &source_of(event)->config;

	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (config->hw_id)
		perf_report_aux_output_id(event, config->id);
	if (flags & PERF_EF_START)
		event_start(event, 0);
	if (config->strict && has_stream(event) && !event->hw.aux_paused &&
	    !aux_test_source_writes(source_of(event))) {
		event_stop(event, PERF_EF_UPDATE);
		return -EINVAL;
	}
	return 0;
}

static void event_del(struct perf_event *event, int flags)
{
	event_stop(event, PERF_EF_UPDATE);
}

static void event_read(struct perf_event *event)
{
	if (has_stream(event))
		aux_test_source_update(source_of(event));
}

static void *setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	struct aux_test_source *source = source_of(event);
	struct aux_test_area *area;

	if (atomic_inc_return(&source->setups) == source->config.fail_setup)
		return NULL;

	area = kzalloc(sizeof(*area), GFP_KERNEL);
	if (!area)
		return NULL;
	area->pages = pages;
	area->size = (unsigned long)nr_pages << PAGE_SHIFT;
	area->page_shift = PAGE_SHIFT;
	area->overwrite = overwrite;
	return area;
}

static void free_aux(void *aux)
{
	kfree(aux);
}

static long snapshot_aux(struct perf_event *event, struct perf_output_handle *handle,
			 unsigned long size)
{
	return aux_test_source_snapshot(source_of(event), handle, size);
}

static int aux_output_match(struct perf_event *aux_event)
{
	return aux_event->pmu->setup_aux == setup_aux && has_stream(aux_event);
}

/*
 * Any filter will do: there is no code whose addresses could be compared. But the core
 * has room for nr_addr_filters of them only, and leaves it to us to see to it.
 */
static int addr_filters_validate(struct list_head *filters)
{
	return list_count_nodes(filters) > MOST_FILTERS ? -EOPNOTSUPP : 0;
}

static void addr_filters_sync(struct perf_event *event)
{
}

#define ALL_PMUS	(PERF_PMU_CAP_ITRACE | PERF_PMU_CAP_AUX_OUTPUT | PERF_PMU_CAP_AUX_PAUSE)

static struct aux_test_pmu pmus[] = {
	{ .suffix = "",			.pmu.capabilities = ALL_PMUS },
	{ .suffix = "_contiguous",	.pmu.capabilities = ALL_PMUS | PERF_PMU_CAP_AUX_NO_SG },
	{ .suffix = "_large",
	  .pmu.capabilities = ALL_PMUS | PERF_PMU_CAP_AUX_PREFER_LARGE },
	{ .suffix = "_exclusive",	.pmu.capabilities = ALL_PMUS | PERF_PMU_CAP_EXCLUSIVE },
};

static struct device *alias_device;

static struct pmu *only_ours(struct pmu *pmu)
{
	return pmu->event_init == event_init ? pmu : NULL;
}

static int register_one(struct aux_test_pmu *one)
{
	struct pmu *pmu = &one->pmu;
	char *full_name = kasprintf(GFP_KERNEL, "%s%s", name, one->suffix);
	int err;

	if (!full_name)
		return -ENOMEM;

	pmu->module = THIS_MODULE;
	pmu->task_ctx_nr = perf_sw_context;
	pmu->attr_groups = aux_test_groups;
	pmu->event_init = event_init;
	pmu->add = event_add;
	pmu->del = event_del;
	pmu->start = event_start;
	pmu->stop = event_stop;
	pmu->read = event_read;
	pmu->setup_aux = setup_aux;
	pmu->free_aux = free_aux;
	pmu->snapshot_aux = AUX_TEST_COUNTS_LOST ? snapshot_aux : NULL;
	pmu->aux_output_match = aux_output_match;
	pmu->addr_filters_validate = addr_filters_validate;
	pmu->addr_filters_sync = addr_filters_sync;
	pmu->nr_addr_filters = MOST_FILTERS;

	err = perf_pmu_register(pmu, full_name, -1);
	if (err)
		kfree(full_name);
	return err;
}

static void unregister(int nr)
{
	while (nr--) {
		const char *full_name = pmus[nr].pmu.name;

		perf_pmu_unregister(&pmus[nr].pmu);
		kfree(full_name);
	}
}

static void show_alias(void)
{
	if (!*alias || !pmus[0].pmu.dev)
		return;
	alias_device = aux_test_alias(&pmus[0].pmu, alias);
	if (IS_ERR(alias_device)) {
		pr_warn("%s: cannot be shown as %s as well: error %ld\n", name, alias,
			PTR_ERR(alias_device));
		alias_device = NULL;
		return;
	}
	pr_info("%s: also shown as %s\n", name, alias);
}

static int __init aux_test_init(void)
{
	int nr, err = aux_test_sysfs_init();

	for (nr = 0; !err && nr < ARRAY_SIZE(pmus); nr++)
		err = register_one(&pmus[nr]);
	if (err) {
		pr_err("%s: cannot be registered: error %d\n", name, err);
		unregister(max(nr - 1, 0));
		return err;
	}
	show_alias();
	return 0;
}

static void __exit aux_test_exit(void)
{
	if (alias_device)
		device_unregister(alias_device);
	unregister(ARRAY_SIZE(pmus));
}

/* Behind the registration of the PMU bus and of hardware that may have the alias's name. */
late_initcall(aux_test_init);
module_exit(aux_test_exit);

MODULE_DESCRIPTION("PMUs that write AUX data without hardware, for tests");
MODULE_LICENSE("GPL");
