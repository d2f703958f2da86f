// SPDX-License-Identifier: GPL-2.0
#include "tasks.hh"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <vector>

#include "system_files.hh"

namespace perfring::data {
namespace {

struct Task {
	pid_t tid, pid, parent;
	std::string name;
};

std::string proc(const std::string &root, pid_t tid)
{
	return root + "/proc/" + std::to_string(tid);
}

std::optional<pid_t> to_pid(const std::string &name)
{
	char *end = nullptr;
	const long value = std::strtol(name.c_str(), &end, 10);

	if (value <= 0 || *end)
		return std::nullopt;
	return static_cast<pid_t>(value);
}

std::optional<Task> read_task(const std::string &root, pid_t tid)
{
	const auto status = read_file(proc(root, tid) + "/status");
	auto name = read_file(proc(root, tid) + "/comm");

	if (!status || !name)
		return std::nullopt;
	if (name->ends_with('\n'))
		name->pop_back();

	const auto leader = field(*status, "Tgid");
	const auto parent = field(*status, "PPid");

	if (!leader || !parent)
		return std::nullopt;
	return Task{tid, std::atoi(leader->c_str()), std::atoi(parent->c_str()), *name};
}

/* Takes what is before @until, and @until, off the front of @text. */
std::string_view split(std::string_view &text, char until)
{
	const auto at = text.find(until);
	const std::string_view part = text.substr(0, at);

	text.remove_prefix(at == text.npos ? text.size() : at + 1);
	return part;
}

std::uint64_t hex(std::string_view text)
{
	return std::strtoull(std::string(text).c_str(), nullptr, 16);
}

/* "00400000-0040c000 r-xp 00001000 fd:01 41038   /bin/cat" */
std::optional<Mapping> parse_mapping(std::string_view line)
{
	Mapping mapping{};

	mapping.start = hex(split(line, '-'));
	mapping.length = hex(split(line, ' ')) - mapping.start;

	const std::string_view access = split(line, ' ');

	if (access.size() != 4)
		return std::nullopt;
	mapping.prot = (access[0] == 'r' ? PROT_READ : 0U) | (access[1] == 'w' ? PROT_WRITE : 0U) |
		       (access[2] == 'x' ? PROT_EXEC : 0U);
	mapping.flags = access[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	mapping.file_offset = hex(split(line, ' '));
	mapping.major = static_cast<std::uint32_t>(hex(split(line, ':')));
	mapping.minor = static_cast<std::uint32_t>(hex(split(line, ' ')));
	mapping.inode = std::strtoull(std::string(split(line, ' ')).c_str(), nullptr, 10);
	line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
	mapping.name = line.empty() ? "//anon" : line;
	return mapping;
}

void synthesize_mappings(const Task &task, const Sink &sink, const TaskOptions &options)
{
	const auto maps = read_file(proc(options.root, task.tid) + "/maps");
	std::string_view lines = maps ? std::string_view(*maps) : std::string_view();

	while (!lines.empty()) {
		const auto mapping = parse_mapping(split(lines, '\n'));

		if (!mapping)
			continue;
		if (mapping->prot & PROT_EXEC ||
		    (options.data_mappings && mapping->prot & PROT_READ))
			sink(mmap2(task.pid, task.tid, *mapping, options.trailer));
	}
}

void put_comm(const Task &task, const Sink &sink, const TaskOptions &options)
{
	sink(comm(task.pid, task.tid, task.name, options.trailer));
}

/* A thread's parent is its process, whoever made it. */
void synthesize_process(pid_t pid, const Sink &sink, const TaskOptions &options)
{
	for (const auto &name : list_directory(proc(options.root, pid) + "/task")) {
		const auto tid = to_pid(name);
		const auto task = tid ? read_task(options.root, *tid) : std::nullopt;

		if (!task)
			continue;

		const bool leads = task->tid == task->pid;

		sink(fork(task->pid, task->tid, leads ? task->parent : task->pid, options.trailer));
		put_comm(*task, sink, options);
		if (leads)
			synthesize_mappings(*task, sink, options);
	}
}

} /* namespace */

bool synthesize_comm(pid_t tid, const Sink &sink, const TaskOptions &options)
{
	const auto task = read_task(options.root, tid);

	if (task)
		put_comm(*task, sink, options);
	return task.has_value();
}

void synthesize_threads(std::span<const pid_t> threads, const Sink &sink,
			const TaskOptions &options)
{
	std::set<pid_t> done;

	const auto one = [&](const Task &task) {
		if (!done.insert(task.tid).second)
			return;
		put_comm(task, sink, options);
		if (task.tid == task.pid)
			synthesize_mappings(task, sink, options);
	};

	for (const pid_t tid : threads) {
		const auto task = read_task(options.root, tid);

		if (!task)
			continue;
		one(*task);
		/* Its mappings are its leader's. */
		if (const auto leader = read_task(options.root, task->pid))
			one(*leader);
	}
}

void synthesize_all(const Sink &sink, const TaskOptions &options)
{
	std::vector<pid_t> processes;

	for (const auto &name : list_directory(options.root + "/proc"))
		if (const auto pid = to_pid(name))
			processes.push_back(*pid);
	/* By number: parents mostly come before their children. */
	std::ranges::sort(processes);
	for (const pid_t pid : processes)
		synthesize_process(pid, sink, options);
}

} /* namespace perfring::data */
