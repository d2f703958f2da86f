/* SPDX-License-Identifier: GPL-2.0 */
/* What is recorded: the events as they were opened, and for whom. */
#ifndef PERFRING_DATA_SESSION_HH
#define PERFRING_DATA_SESSION_HH

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perfring::data {

/* Where one file descriptor of an event counts, and the id of its records. */
struct EventId {
	std::uint64_t id;
	int cpu;   /* -1: any */
	pid_t tid; /* -1: any */
	int ring;  /* index of the ring that it writes to: idx of ID_INDEX and AUXTRACE */
};

/* One event as it was opened. */
struct EventDescription {
	perf_event_attr attr{};	       /* as accepted by the kernel, after all fallbacks */
	std::string name;	       /* as perf names it: "page-faults:u", "sched:sched_switch" */
	std::vector<EventId> ids;      /* in the order of rings */
	std::size_t leader = 0;	       /* index of its group's leader; its own if it has none */
	std::string group_name;	       /* of a leader: what stood before {}, may be empty */
	std::string tracepoint_system; /* "sched", empty for anything but tracepoints */
	std::string tracepoint_name;   /* "sched_switch" */
	std::string pmu;	       /* name in sysfs, "software", "intel_pt" */
	std::vector<unsigned> pmu_cpus; /* of the PMU's cpumask, empty if none */
	std::string address_filter;	/* of --filter, for trace decoders; empty: none */
	std::string unit;		/* "Joules", empty: none */
	double scale = 1;		/* of the counts, to have that unit */
};

/* The AUX area's side, if one of the events fills one. */
struct AuxDescription {
	std::size_t event = 0;	     /* index of the event */
	std::uint64_t aux_bytes = 0; /* size of one AUX area */
	bool snapshot = false;
	bool per_cpu = false; /* rings are one a CPU, not one a thread */
};

/* What is recorded. Fixed from the moment when the events are open. */
struct Session {
	std::vector<EventDescription> events;
	std::optional<AuxDescription> aux;
	std::vector<std::string> command_line; /* argv of perfring */
	bool sample_id_all = true;
	std::optional<int> clockid; /* of --clockid */
	std::vector<int> cpus;	    /* with rings; empty: per thread */
	std::vector<pid_t> threads; /* the targets; empty: system wide */
	std::optional<pid_t> child; /* the command, before its exec: has nothing but a name */
	bool system_wide = false;
	int compression_level = 0;	   /* 0: none */
	std::uint64_t compressed_unit = 0; /* most bytes that one compress() is given */
};

} /* namespace perfring::data */

#endif /* PERFRING_DATA_SESSION_HH */
