// SPDX-License-Identifier: GPL-2.0
/* aux_test in sysfs: format/ from the core's table, caps/, and another name. */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "aux_test.h"

#define MOST_FIELDS	16

struct field_attribute {
	struct device_attribute		attribute;
	const struct aux_test_field	*field;
};

static struct field_attribute field_attributes[MOST_FIELDS];
static struct attribute *format_attributes[MOST_FIELDS + 1];

static ssize_t field_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	const struct aux_test_field *field =
		container_of(attribute, struct field_attribute, attribute)->field;
	char config[] = "config\0";

	if (field->config)
		config[6] = '0' + field->config;
	if (field->first_bit == field->last_bit)
		return sysfs_emit(text, "%s:%d\n", config, field->first_bit);
	return sysfs_emit(text, "%s:%d-%d\n", config, field->first_bit, field->last_bit);
}

static const struct attribute_group format_group = {
	.name	= "format",
	.attrs	= format_attributes,
};

/* caps/NAME is 1 if the PMU has all of these capabilities. */
struct cap_attribute {
	struct device_attribute	attribute;
	int			capability;
};

static ssize_t cap_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	const struct pmu *pmu = dev_get_drvdata(dev);
	int wanted = container_of(attribute, struct cap_attribute, attribute)->capability;

	return sysfs_emit(text, "%d\n", (pmu->capabilities & wanted) == wanted);
}

#define CAP(cap_name, bit)						\
	static struct cap_attribute cap_##cap_name = {			\
		.attribute = __ATTR(cap_name, 0444, cap_show, NULL),	\
		.capability = bit,					\
	}

CAP(contiguous, PERF_PMU_CAP_AUX_NO_SG);
CAP(large, PERF_PMU_CAP_AUX_PREFER_LARGE);
CAP(exclusive, PERF_PMU_CAP_EXCLUSIVE);
CAP(pause, PERF_PMU_CAP_AUX_PAUSE);
CAP(aux_output, PERF_PMU_CAP_AUX_OUTPUT);
CAP(itrace, PERF_PMU_CAP_ITRACE);

/* Does PERF_RECORD_AUX say how many bytes were lost? */
static ssize_t lost_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%d\n", AUX_TEST_COUNTS_LOST);
}
static DEVICE_ATTR_RO(lost);

static struct attribute *cap_attributes[] = {
	&cap_contiguous.attribute.attr,
	&cap_large.attribute.attr,
	&cap_exclusive.attribute.attr,
	&cap_pause.attribute.attr,
	&cap_aux_output.attribute.attr,
	&cap_itrace.attribute.attr,
	&dev_attr_lost.attr,
	NULL
};

static const struct attribute_group caps_group = {
	.name	= "caps",
	.attrs	= cap_attributes,
};

const struct attribute_group *aux_test_groups[] = { &format_group, &caps_group, NULL };

int aux_test_sysfs_init(void)
{
	const struct aux_test_field *field = aux_test_fields();
	int i;

	for (i = 0; field[i].name; i++) {
		struct device_attribute *attribute;

		if (WARN_ON(i >= MOST_FIELDS))
			return -E2BIG;
		attribute = &field_attributes[i].attribute;
		sysfs_attr_init(&attribute->attr);
		attribute->attr.name = field[i].name;
		attribute->attr.mode = 0444;
		attribute->show = field_show;
		field_attributes[i].field = &field[i];
		format_attributes[i] = &attribute->attr;
	}
	return 0;
}

static void alias_release(struct device *dev)
{
	kfree(dev);
}

struct device *aux_test_alias(struct pmu *pmu, const char *name)
{
	const struct bus_type *bus = pmu->dev->bus;
	struct device *dev = bus_find_device_by_name(bus, NULL, name);
	int err;

	/* A driver's name is the driver's. */
	if (dev) {
		put_device(dev);
		return ERR_PTR(-EEXIST);
	}
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return ERR_PTR(-ENOMEM);

	/* The bus adds type, from the driver data. */
	device_initialize(dev);
	dev->bus = bus;
	dev->groups = aux_test_groups;
	dev->release = alias_release;
	dev_set_drvdata(dev, pmu);
	err = dev_set_name(dev, "%s", name) ?: device_add(dev);
	if (err) {
		put_device(dev);
		return ERR_PTR(err);
	}
	return dev;
}
