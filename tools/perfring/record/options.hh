/* SPDX-License-Identifier: GPL-2.0 */
/* What the user wants of perfring record. */
#ifndef PERFRING_RECORD_OPTIONS_HH
#define PERFRING_RECORD_OPTIONS_HH

#include "threads.hh"
#include "worker.hh"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perfring::record {

enum class CallGraph { none, fp, dwarf };

/* There is one of it: in the order of --help. NOLINTNEXTLINE(*.Padding) */
struct RecordOptions {
	/* What, and how often. */
	std::vector<std::string> events;  /* each -e */
	std::vector<std::string> filters; /* --filter: of the event before it; same length */
	std::optional<std::uint64_t> period;
	std::optional<std::uint64_t> frequency;
	bool inherit = true;
	CallGraph call_graph = CallGraph::none;
	std::uint32_t stack_bytes = 8192;
	bool sample_address = false; /* -d */
	bool sample_period = false;  /* -P */
	bool sample_cpu = false;
	bool raw_samples = false;
	std::optional<int> clockid;

	/* For whom. */
	bool system_wide = false;
	std::optional<std::vector<int>> cpus;
	std::vector<pid_t> processes;
	std::vector<pid_t> threads;
	bool per_thread = false;
	std::vector<std::string> command;

	/* Through what. */
	std::optional<std::size_t> data_pages;
	std::optional<std::size_t> aux_bytes;
	bool snapshot = false;
	bool snapshot_at_exit = false;
	bool overwrite = false;
	Threads recorders = Threads::cpu;
	bool realtime = true;
	QueueKind queue = QueueKind::uring;
	bool queue_chosen = false;
	unsigned depth = 8;
	std::size_t memory = 0; /* 0: a part of what the machine has */
	int compression_level = 0;

	/* To where, how long. */
	std::string output = "perf.data"; /* "-": stdout */
	std::uint64_t most_bytes = 0;	  /* 0: no limit */
	std::uint64_t dirty_limit = 0;	  /* 0: a part of what the machine has */
	double duration = 0;		  /* seconds, 0: no limit */
	std::optional<int> delay;	  /* milliseconds, -1: until told */
	bool switch_output = false;	  /* by SIGUSR2 */
	std::uint64_t switch_bytes = 0;	  /* 0: not by size */
	double switch_seconds = 0;	  /* 0: not by time */
	unsigned switch_files = 0;	  /* kept; 0: all */
	std::string control;
	bool fail_on_loss = false;
	bool quiet = false;
	bool verbose = false;
	std::string report;

	bool to_stdout() const
	{
		return output == "-";
	}
	bool for_tasks() const
	{
		return !system_wide && !cpus;
	}
	/* It is the command that is recorded; else it only says how long. */
	bool for_command() const
	{
		return for_tasks() && !command.empty() && processes.empty() && threads.empty();
	}
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_OPTIONS_HH */
