// SPDX-License-Identifier: GPL-2.0
#include "recorder.hh"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pt_oracle {

namespace {

constexpr std::uint64_t vsyscall_page = 0xffffffffff600000;
constexpr int picture_signal = SIGWINCH;

long trace(int request, pid_t tid, std::uint64_t address, std::uint64_t data)
{
	errno = 0;
	return ptrace(static_cast<__ptrace_request>(request), tid, address, data);
}

std::vector<char *> pointers(const std::vector<std::string> &strings)
{
	std::vector<char *> all;

	all.reserve(strings.size() + 1);
	for (const std::string &string : strings)
		all.push_back(const_cast<char *>(string.c_str()));
	all.push_back(nullptr);
	return all;
}

} // namespace

Recorder::Recorder(const RecorderOptions &recorder_options)
	: options(recorder_options),
	  store(recorder_options.folder)
{
}

/* Up to where exec has happened and the program's first instruction has not. */
void Recorder::launch()
{
	const std::vector<char *> argv = pointers(options.command);
	const std::vector<char *> envp = pointers(options.environment);
	int status = 0;

	first = fork();
	if (first < 0)
		throw std::runtime_error("fork: " + std::string(std::strerror(errno)));
	if (first == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execve(argv[0], argv.data(), envp.data());
		std::cerr << "pt-record: " << argv[0] << ": " << std::strerror(errno) << '\n';
		_exit(127);
	}
	waitpid(first, &status, 0);
	trace(PTRACE_SETOPTIONS, first, 0,
	      PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		      PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT);
	trace(PTRACE_CONT, first, 0, 0);
	waitpid(first, &status, 0);
	if (!WIFSTOPPED(status) || status >> 16 != PTRACE_EVENT_EXEC)
		throw std::runtime_error("the program could not be started");

	Task &task = tasks[first];
	task.log.name = "0";
	task.log.tid = first;
	start(task);
	task.pending.reset(); /* exec returns first */
	resume(task, 0);
}

std::size_t Recorder::take_picture(const Task &task)
{
	manifest.images.push_back(store.picture(task.log.tid));
	return manifest.images.size() - 1;
}

void Recorder::start(Task &task)
{
	task.started = true;
	task.image = take_picture(task);
	task.log.traced = options.trace;
	task.log.stepped = options.step;
	if (options.trace)
		task.event =
			std::make_unique<PtEvent>(task.log.tid, options.config, options.aux_size);
	note_pending(task);
}

void Recorder::resume(Task &task, int signal)
{
	trace(options.step ? PTRACE_SINGLESTEP : PTRACE_CONT, task.log.tid, 0,
	      static_cast<std::uint64_t>(signal));
}

/*
 * The kernel carries out calls of the vsyscall page itself, up to their return, and
 * tells of no step then: the step that comes next is that of the caller's instruction.
 */
void Recorder::note_pending(Task &task)
{
	const pid_t tid = task.log.tid;
	std::uint64_t ip = static_cast<std::uint64_t>(
		trace(PTRACE_PEEKUSER, tid, offsetof(user_regs_struct, rip), 0));

	if (!options.step)
		return;
	if (ip >= vsyscall_page) {
		const long stack = trace(PTRACE_PEEKUSER, tid, offsetof(user_regs_struct, rsp), 0);

		ip = static_cast<std::uint64_t>(
			trace(PTRACE_PEEKDATA, tid, static_cast<std::uint64_t>(stack), 0));
	}
	task.pending = ip;
}

void Recorder::retire(Task &task)
{
	if (task.pending && options.step)
		task.steps.push_back(*task.pending);
	task.pending.reset();
}

/* Is this stop the end of a step? The kernel tells of a handler's start by SIGTRAP too. */
bool Recorder::retired(const Task &task, int signal) const
{
	siginfo_t info{};

	if (signal != SIGTRAP || !options.step)
		return false;
	trace(PTRACE_GETSIGINFO, task.log.tid, 0, reinterpret_cast<std::uint64_t>(&info));
	return info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT;
}

void Recorder::end_span(Task &task, std::size_t next_image)
{
	Span span;

	span.image = task.image;
	span.aux_end = task.event ? task.event->head() : 0;
	span.steps_end = task.steps.size();
	task.log.spans.push_back(span);
	task.image = next_image;
}

void Recorder::add_child(Task &parent)
{
	unsigned long tid = 0;

	trace(PTRACE_GETEVENTMSG, parent.log.tid, 0, reinterpret_cast<std::uint64_t>(&tid));
	Task &task = tasks[static_cast<pid_t>(tid)];
	task.log.tid = static_cast<int>(tid);
	task.log.name = parent.log.name + "." + std::to_string(parent.children++);

	const auto stopped = std::find(early.begin(), early.end(), task.log.tid);
	if (stopped != early.end()) {
		early.erase(stopped);
		start(task);
		resume(task, 0);
	}
}

void Recorder::handle_event(Task &task, int event)
{
	unsigned long status = 0;

	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		add_child(task);
		break;
	case PTRACE_EVENT_EXEC:
		retire(task); /* the system call */
		end_span(task, take_picture(task));
		break;
	case PTRACE_EVENT_EXIT:
		trace(PTRACE_GETEVENTMSG, task.log.tid, 0,
		      reinterpret_cast<std::uint64_t>(&status));
		if (WIFEXITED(static_cast<int>(status)))
			retire(task); /* the system call */
		task.image = take_picture(task);
		end_span(task, task.image);
		end(task);
		break;
	default:
		break;
	}
}

/* The signal that the task is to have. */
int Recorder::handle_signal(Task &task, int signal)
{
	if (signal == SIGTRAP && options.step) {
		siginfo_t info{};

		if (retired(task, signal)) {
			retire(task);
			return 0;
		}
		trace(PTRACE_GETSIGINFO, task.log.tid, 0, reinterpret_cast<std::uint64_t>(&info));
		return info.si_code == SIGTRAP ? 0 : signal;
	}
	if (signal != picture_signal)
		return signal;
	task.image = take_picture(task);
	end_span(task, task.image);
	return 0;
}

void Recorder::end(Task &task)
{
	const std::filesystem::path base = options.folder / task.log.name;

	if (task.event) {
		task.event->drain();
		task.log.losses = task.event->losses;
		write_bytes(base.string() + ".aux", task.event->stream.data(),
			    task.event->stream.size());
		task.event.reset();
	}
	if (options.step)
		write_bytes(base.string() + ".steps", task.steps.data(),
			    task.steps.size() * sizeof(task.steps[0]));
	task.steps = {};
	manifest.tasks.push_back(task.log);
}

void Recorder::handle(Task &task, int status)
{
	const int event = status >> 16;
	int signal = 0;

	if (task.event)
		task.event->drain_if_needed();
	if (event) {
		handle_event(task, event);
		/* What was pending has gone into the kernel, and is not done yet. */
		resume(task, 0);
		return;
	}
	if (!task.started && WSTOPSIG(status) == SIGSTOP) {
		start(task);
	} else {
		signal = handle_signal(task, WSTOPSIG(status));
		note_pending(task);
	}
	resume(task, signal);
}

Manifest Recorder::run()
{
	int status = 0;
	pid_t tid;

	launch();
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		const auto found = tasks.find(tid);

		if (found == tasks.end()) {
			early.push_back(tid);
		} else if (WIFSTOPPED(status)) {
			handle(found->second, status);
		} else {
			if (tid == first)
				manifest.exit_status = status;
			tasks.erase(found);
		}
	}
	store.close();
	std::sort(manifest.tasks.begin(), manifest.tasks.end(),
		  [](const TaskLog &a, const TaskLog &b) { return a.name < b.name; });
	write_manifest(options.folder, manifest);
	return manifest;
}

} // namespace pt_oracle
