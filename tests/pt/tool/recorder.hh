/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a program under ptrace, with all that it starts, and logs each task: by
 * single-stepping, or by an intel_pt event of its own, or both at the same time.
 *
 * Without stepping, tasks stop only for signals and for what ptrace tells of: new
 * tasks, exec and exit. So what runs in between is not disturbed.
 *
 * A program whose code changes says so by sending itself SIGWINCH, after it has run
 * the code and before it changes it: a picture is taken there. It does not see the
 * signal.
 */
#ifndef TESTS_PT_RECORDER_HH
#define TESTS_PT_RECORDER_HH

#include "code_store.hh"
#include "log.hh"
#include "pt_event.hh"

#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pt_oracle {

struct RecorderOptions {
	bool step = false;
	bool trace = false;
	std::uint64_t config = 0; /* of the event */
	std::size_t aux_size = 0;
	std::filesystem::path folder;
	std::vector<std::string> environment;
	std::vector<std::string> command;
};

class Recorder {
    public:
	explicit Recorder(const RecorderOptions &recorder_options);

	/* Until the last task is gone. Throws std::runtime_error. */
	Manifest run();

    private:
	struct Task {
		TaskLog log;
		std::vector<std::uint64_t> steps;
		/* What executes next, unless something comes in between. */
		std::optional<std::uint64_t> pending;
		std::unique_ptr<PtEvent> event;
		std::size_t image = 0;
		unsigned int children = 0;
		bool started = false;
	};

	void launch();
	void start(Task &task);
	void resume(Task &task, int signal);
	void handle(Task &task, int status);
	void handle_event(Task &task, int event);
	int handle_signal(Task &task, int signal);
	void add_child(Task &parent);
	void end_span(Task &task, std::size_t next_image);
	void end(Task &task);
	bool retired(const Task &task, int signal) const;
	void retire(Task &task);
	void note_pending(Task &task);
	std::size_t take_picture(const Task &task);

	const RecorderOptions &options;
	CodeStore store;
	Manifest manifest;
	std::map<pid_t, Task> tasks;
	/* Stopped before their parent's event told of them. */
	std::vector<pid_t> early;
	pid_t first = 0;
};

} // namespace pt_oracle

#endif
