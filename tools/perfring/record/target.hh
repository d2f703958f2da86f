/* SPDX-License-Identifier: GPL-2.0 */
/* For whom events are opened: CPUs, tasks, or a command that is started. */
#ifndef PERFRING_RECORD_TARGET_HH
#define PERFRING_RECORD_TARGET_HH

#include <sys/types.h>

#include <string>
#include <vector>

namespace perfring::record {

/* All threads of these processes. Throws UserError if one is not there. */
std::vector<pid_t> threads_of(const std::vector<pid_t> &processes);

/* These tasks, as far as they are still there, and all that they have started. */
std::vector<pid_t> with_descendants(std::vector<pid_t> tasks);

std::vector<int> online_cpus();
bool cpu_is_online(int cpu);

/*
 * A command that waits, forked but not yet executed, until it is told to go. Dies with
 * SIGTERM if it is given up.
 */
class Command {
    public:
	/* quiet_output: its stdout goes to stderr, because ours is the recording. */
	Command(const std::vector<std::string> &words, bool quiet_output);
	~Command();

	Command(const Command &) = delete;
	Command &operator=(const Command &) = delete;

	pid_t pid() const
	{
		return child;
	}
	/* Readable when it has ended. */
	int fd() const
	{
		return pidfd;
	}

	/* Throws UserError if it could not be executed. */
	void go();
	void terminate();

	/* After it has ended, or after terminate(): as a shell reports it. */
	int status();

    private:
	std::string name;
	pid_t child = -1;
	int pidfd = -1;
	int start = -1;	  /* written to: go */
	int failure = -1; /* read from: errno of exec, or nothing */
	bool reaped = false;
	int exit_status = 0;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_TARGET_HH */
