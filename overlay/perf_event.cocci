// SPDX-License-Identifier: GPL-2.0
//
// include/linux/perf_event.h: every event carries what this tree knows of it.
//
// inserts: perf_sample_plan 2

@included@
@@
  #include <linux/security.h>
+ #include <linux/perf_sample_plan.h>

@member@
@@
  struct perf_event {
  ...
  u16 read_size;
+ struct perf_sample_plan plan;
  ...
  };
