// SPDX-License-Identifier: GPL-2.0
/*
 * What /sys/bus/event_source/devices/intel_pt says: how attr.config is made (format/),
 * what the hardware can do (caps/), and how its clocks relate. Decoders need all of it.
 */
#include <linux/device.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include "pt.h"

/* ---- format/ ---- */

PMU_FORMAT_ATTR(pt, "config:0");
PMU_FORMAT_ATTR(cyc, "config:1");
PMU_FORMAT_ATTR(pwr_evt, "config:4");
PMU_FORMAT_ATTR(fup_on_ptw, "config:5");
PMU_FORMAT_ATTR(mtc, "config:9");
PMU_FORMAT_ATTR(tsc, "config:10");
PMU_FORMAT_ATTR(noretcomp, "config:11");
PMU_FORMAT_ATTR(ptw, "config:12");
PMU_FORMAT_ATTR(branch, "config:13");
PMU_FORMAT_ATTR(mtc_period, "config:14-17");
PMU_FORMAT_ATTR(cyc_thresh, "config:19-22");
PMU_FORMAT_ATTR(psb_period, "config:24-27");
PMU_FORMAT_ATTR(event, "config:31");
PMU_FORMAT_ATTR(notnt, "config:55");

static struct attribute *format_attrs[] = {
	&format_attr_pt.attr,
	&format_attr_cyc.attr,
	&format_attr_pwr_evt.attr,
	&format_attr_fup_on_ptw.attr,
	&format_attr_mtc.attr,
	&format_attr_tsc.attr,
	&format_attr_noretcomp.attr,
	&format_attr_ptw.attr,
	&format_attr_branch.attr,
	&format_attr_mtc_period.attr,
	&format_attr_cyc_thresh.attr,
	&format_attr_psb_period.attr,
	&format_attr_event.attr,
	&format_attr_notnt.attr,
	NULL
};

static const struct attribute_group format_group = {
	.name	= "format",
	.attrs	= format_attrs,
};

/* ---- caps/ ---- */

static ssize_t cap_show(struct device *dev, struct device_attribute *attr, char *to)
{
	const struct dev_ext_attribute *cap =
		container_of(attr, struct dev_ext_attribute, attr);

	return sysfs_emit(to, "%x\n", pt_caps_field(pt_pmu.caps, (unsigned long)cap->var));
}

static ssize_t emulated_show(struct device *dev, struct device_attribute *attr, char *to)
{
	return sysfs_emit(to, "1\n");
}

static struct dev_ext_attribute caps[PT_CAPS];
static DEVICE_ATTR_RO(emulated);
static struct attribute *cap_attrs[PT_CAPS + 2];

/* Real hardware has no such file. */
static umode_t cap_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	return attr != &dev_attr_emulated.attr || pt_hw->emulated ? attr->mode : 0;
}

static const struct attribute_group cap_group = {
	.name		= "caps",
	.attrs		= cap_attrs,
	.is_visible	= cap_visible,
};

/* ---- the clocks ---- */

static ssize_t max_nonturbo_ratio_show(struct device *dev, struct device_attribute *attr, char *to)
{
	return sysfs_emit(to, "%lu\n", pt_pmu.max_nonturbo_ratio);
}

static ssize_t tsc_art_ratio_show(struct device *dev, struct device_attribute *attr, char *to)
{
	return sysfs_emit(to, "%u:%u\n", pt_pmu.tsc_numerator, pt_pmu.tsc_denominator);
}

static DEVICE_ATTR_RO(max_nonturbo_ratio);
static DEVICE_ATTR_RO(tsc_art_ratio);

static struct attribute *clock_attrs[] = {
	&dev_attr_max_nonturbo_ratio.attr,
	&dev_attr_tsc_art_ratio.attr,
	NULL
};

static const struct attribute_group clock_group = {
	.attrs	= clock_attrs,
};

const struct attribute_group *pt_groups[] = {
	&cap_group,
	&format_group,
	&clock_group,
	NULL
};

void __init pt_sysfs_init(void)
{
	unsigned long at;

	for (at = 0; at < PT_CAPS; at++) {
		struct device_attribute *attr = &caps[at].attr;

		sysfs_attr_init(&attr->attr);
		attr->attr.name = pt_caps_name(at);
		attr->attr.mode = 0444;
		attr->show = cap_show;
		caps[at].var = (void *)at;
		cap_attrs[at] = &attr->attr;
	}
	cap_attrs[at] = &dev_attr_emulated.attr;
}
