/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of perf.data share: files, the stock perf, and sessions to write. */
#ifndef PERFRING_TESTS_DATA_SUPPORT_HH
#define PERFRING_TESTS_DATA_SUPPORT_HH

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "data/reader.hh"
#include "data/writer.hh"

namespace perfring::data {

/* A directory that goes with the object. */
class Scratch {
    public:
	Scratch()
	{
		std::string name = std::filesystem::temp_directory_path() / "perfring-XXXXXX";

		if (mkdtemp(name.data()))
			path_ = name;
	}
	~Scratch()
	{
		std::error_code error;

		std::filesystem::remove_all(path_, error);
	}
	Scratch(const Scratch &) = delete;
	Scratch &operator=(const Scratch &) = delete;
	std::string operator/(const std::string &name) const
	{
		return path_ / name;
	}

    private:
	std::filesystem::path path_;
};

struct Output {
	int status;	  /* of exit() */
	std::string text; /* both of its streams */
};

inline Output run(const std::string &command)
{
	FILE *const pipe = popen(("exec 2>&1; " + command).c_str(), "r");
	Output output{-1, {}};
	char some[4096];

	if (!pipe)
		return output;
	while (const std::size_t got = fread(some, 1, sizeof(some), pipe))
		output.text.append(some, got);

	const int status = pclose(pipe);

	output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return output;
}

/*
 * Where perf has no order for lines, they come as its memory lies: equals in a report,
 * files in a list of them. These come sorted, without the lines of trees.
 */
inline std::string in_fixed_order(std::string_view command, const std::string &text)
{
	if (!command.starts_with("report --") && !command.starts_with("buildid-list"))
		return text;
	std::istringstream in(text);
	std::vector<std::string> lines;
	std::string all;

	for (std::string line; std::getline(in, line);)
		lines.push_back(line.substr(std::min(line.find_first_not_of("-| "), line.size())));
	std::sort(lines.begin(), lines.end());
	lines.erase(std::remove(lines.begin(), lines.end(), ""), lines.end());
	for (const auto &line : lines)
		all += line + "\n";
	return all;
}

/* perf report ends with advice, another one each time. */
inline std::string without_tip(const std::string &text)
{
	const auto tip = text.find("# (Tip: ");

	return tip == text.npos ? text : text.substr(0, tip) + text.substr(text.find('\n', tip));
}

inline Bytes load_file(const std::string &path)
{
	std::ifstream file(path, std::ios::binary);
	const std::string text{std::istreambuf_iterator<char>(file), {}};
	const ByteView bytes = std::as_bytes(std::span(text));

	return {bytes.begin(), bytes.end()};
}

inline void store_file(const std::string &path, ByteView bytes)
{
	std::ofstream file(path, std::ios::binary);

	file.write(reinterpret_cast<const char *>(bytes.data()),
		   static_cast<std::streamsize>(bytes.size()));
}

/* The stock perf records; false if it cannot here, which fails the test. */
inline void record_with_perf(const std::string &arguments, const std::string &path)
{
	const Output output = run("perf record -q -o " + path + " " + arguments);

	ASSERT_EQ(output.status, 0) << output.text;
}

/* The events of a file as a session that could have written it. */
inline Session session_of(const Reader &reader)
{
	Session session;

	for (std::size_t i = 0; i < reader.events().size(); i++) {
		const ReadEvent &from = reader.events()[i];
		EventDescription event;

		event.attr = from.attr;
		event.name = from.name;
		event.leader = i;
		for (const std::uint64_t id : from.ids)
			event.ids.push_back({id, -1, -1, static_cast<int>(event.ids.size())});
		if (const auto colon = event.name.find(':');
		    event.attr.type == PERF_TYPE_TRACEPOINT && colon != event.name.npos) {
			event.tracepoint_system = event.name.substr(0, colon);
			event.tracepoint_name = event.name.substr(colon + 1);
		}
		session.events.push_back(event);
	}
	session.command_line = {"perfring", "record"};
	return session;
}

/* A whole file: head, data, tail. */
inline Bytes whole_file(const Writer &writer, ByteView data, Outcome outcome = {})
{
	outcome.data_bytes = data.size();

	Bytes file = writer.file_head();
	const Bytes tail = writer.file_tail(outcome);
	const Bytes header = writer.finished_header(outcome);

	file.insert(file.end(), data.begin(), data.end());
	file.insert(file.end(), tail.begin(), tail.end());
	std::copy(header.begin(), header.end(), file.begin());
	return file;
}

} /* namespace perfring::data */

#endif /* PERFRING_TESTS_DATA_SUPPORT_HH */
