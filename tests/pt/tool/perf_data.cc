// SPDX-License-Identifier: GPL-2.0
#include "perf_data.hh"
#include "log.hh"

#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <linux/perf_event.h>
#include <stdexcept>
#include <string>
#include <string_view>

namespace pt_oracle {

namespace {

constexpr std::uint32_t record_auxtrace = 71; /* perf's own, followed by the bytes */

struct Section {
	std::uint64_t offset, size;
};

struct FileHeader {
	std::array<char, 8> magic;
	std::uint64_t size, attr_size;
	Section attrs, data;
};

struct AuxTrace {
	perf_event_header header;
	std::uint64_t size, offset, reference;
	std::uint32_t index, tid, cpu, reserved;
};

template <typename T> T take(const std::vector<std::uint8_t> &bytes, std::uint64_t at)
{
	T value;

	if (at + sizeof(value) > bytes.size())
		throw std::runtime_error("perf.data ends early");
	std::memcpy(&value, &bytes[at], sizeof(value));
	return value;
}

} // namespace

std::map<std::uint32_t, std::vector<std::uint8_t>> aux_streams(const std::filesystem::path &file)
{
	const auto bytes = read_bytes(file);
	const auto top = take<FileHeader>(bytes, 0);
	std::map<std::uint32_t, std::vector<std::uint8_t>> streams;
	std::uint64_t at = top.data.offset;
	const std::uint64_t end = at + top.data.size;

	if (std::string_view(top.magic.data(), top.magic.size()) != "PERFILE2")
		throw std::runtime_error("not a perf.data: " + file.string());
	while (at < end) {
		const auto header = take<perf_event_header>(bytes, at);

		if (header.size < sizeof(header))
			throw std::runtime_error("a record of size 0 in " + file.string());
		if (header.type == record_auxtrace) {
			const auto trace = take<AuxTrace>(bytes, at);
			const std::uint64_t begin = at + header.size;
			std::vector<std::uint8_t> &stream = streams[trace.index];

			if (trace.size > bytes.size() - begin)
				throw std::runtime_error("perf.data ends early");
			stream.insert(stream.end(), &bytes[begin], &bytes[begin] + trace.size);
			at += trace.size;
		}
		at += header.size;
	}
	return streams;
}

Script read_script(const std::filesystem::path &file)
{
	std::ifstream in(file);
	std::string line;
	Script script;

	if (!in)
		throw std::runtime_error("cannot read " + file.string());
	while (std::getline(in, line)) {
		const char *const end = line.data() + line.size();
		const char *at = line.data() + std::min(line.find_first_not_of(' '), line.size());
		int tid = 0;
		std::uint64_t ip = 0;
		const auto [behind_tid, bad_tid] = std::from_chars(at, end, tid);

		if (line.find("error") != std::string::npos) {
			script.errors++;
			continue;
		}
		at = behind_tid;
		while (at < end && *at == ' ')
			at++;
		const auto [behind_ip, bad_ip] = std::from_chars(at, end, ip, 16);
		if (bad_tid != std::errc() || bad_ip != std::errc())
			throw std::runtime_error("not a line of a script: " + line);
		script.tasks[tid].push_back(ip);
	}
	return script;
}

} // namespace pt_oracle
