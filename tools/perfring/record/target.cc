// SPDX-License-Identifier: GPL-2.0
#include "target.hh"

#include "text.hh"

#include <fmt/core.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

namespace perfring::record {
namespace {

/* In the child: nothing but system calls from here on. */
[[noreturn]] void wait_and_execute(char *const *words, int start, int failure, bool quiet)
{
	sigset_t none;
	char go;
	ssize_t got;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, nullptr);
	signal(SIGPIPE, SIG_DFL);
	if (quiet)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	do {
		got = read(start, &go, 1);
	} while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(125); /* given up */
	execvp(words[0], words);
	const int error = errno;

	[[maybe_unused]] const ssize_t told = write(failure, &error, sizeof(error));
	_exit(error == ENOENT ? 127 : 126);
}

} /* namespace */

std::vector<pid_t> threads_of(const std::vector<pid_t> &processes)
{
	std::vector<pid_t> threads;

	for (const pid_t pid : processes) {
		std::error_code error;

		for (const auto &entry : std::filesystem::directory_iterator(
			     fmt::format("/proc/{}/task", pid), error)) {
			const auto tid = number(entry.path().filename().string());

			if (tid)
				threads.push_back(static_cast<pid_t>(*tid));
		}
		if (error)
			throw UserError(fmt::format("there is no process {}", pid));
	}
	std::sort(threads.begin(), threads.end());
	return threads;
}

std::vector<pid_t> with_descendants(std::vector<pid_t> tasks)
{
	std::set<pid_t> known;

	while (!tasks.empty()) {
		const pid_t task = tasks.back();
		std::error_code error;

		tasks.pop_back();
		if (!std::filesystem::exists(fmt::format("/proc/{}", task), error) ||
		    !known.insert(task).second)
			continue;
		for (const auto &entry : std::filesystem::directory_iterator(
			     fmt::format("/proc/{}/task", task), error)) {
			const auto tid = number(entry.path().filename().string());
			const auto children = read_text(entry.path() / "children");

			if (tid)
				tasks.push_back(static_cast<pid_t>(*tid));
			for (const auto child : split(children.value_or(""), ' '))
				if (const auto pid = number(child))
					tasks.push_back(static_cast<pid_t>(*pid));
		}
	}
	return {known.begin(), known.end()};
}

std::vector<int> online_cpus()
{
	const auto text = read_text("/sys/devices/system/cpu/online");
	const auto list = text ? number_list(*text) : std::nullopt;

	if (!list)
		throw UserError("/sys/devices/system/cpu/online cannot be read");
	return *list;
}

bool cpu_is_online(int cpu)
{
	const auto cpus = online_cpus();

	return std::binary_search(cpus.begin(), cpus.end(), cpu);
}

Command::Command(const std::vector<std::string> &words, bool quiet_output) : name(words.front())
{
	std::array<int, 2> to_child, from_child;
	std::vector<char *> argv;

	argv.reserve(words.size() + 1);
	for (const auto &word : words)
		argv.push_back(const_cast<char *>(word.c_str()));
	argv.push_back(nullptr);
	if (pipe2(to_child.data(), O_CLOEXEC) || pipe2(from_child.data(), O_CLOEXEC))
		throw std::system_error(errno, std::generic_category(), "pipe");
	start = to_child[1];
	failure = from_child[0];
	child = fork();
	if (child == 0) {
		close(start);
		wait_and_execute(argv.data(), to_child[0], from_child[1], quiet_output);
	}
	close(to_child[0]);
	close(from_child[1]);
	if (child < 0)
		throw std::system_error(errno, std::generic_category(), "fork");
	pidfd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
	if (pidfd < 0)
		throw std::system_error(errno, std::generic_category(), "pidfd_open");
}

Command::~Command()
{
	/* Unless it went, it sees the end of the pipe and exits. */
	if (start >= 0)
		close(start);
	if (failure >= 0)
		close(failure);
	if (!reaped)
		status();
	close(pidfd);
}

void Command::go()
{
	int error = 0;
	ssize_t got;

	if (write(start, "", 1) != 1)
		throw std::system_error(errno, std::generic_category(), "a pipe to the command");
	close(start);
	start = -1;
	/* The other end is closed by the exec. */
	do {
		got = read(failure, &error, sizeof(error));
	} while (got < 0 && errno == EINTR);
	if (got == sizeof(error))
		throw UserError(fmt::format("{}: {}", name, error_text(error)));
}

void Command::terminate()
{
	if (!reaped)
		kill(child, SIGTERM);
}

int Command::status()
{
	int how = 0;

	if (reaped)
		return exit_status;
	while (waitpid(child, &how, 0) < 0 && errno == EINTR)
		;
	reaped = true;
	exit_status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
	return exit_status;
}

} /* namespace perfring::record */
