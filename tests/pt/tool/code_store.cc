// SPDX-License-Identifier: GPL-2.0
#include "code_store.hh"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace pt_oracle {

CodeStore::CodeStore(const std::filesystem::path &folder) : file(folder / "code", std::ios::binary)
{
	if (!file)
		throw std::runtime_error("cannot write " + (folder / "code").string());
}

std::uint64_t CodeStore::keep(const std::string &bytes)
{
	const auto [found, is_new] =
		known.try_emplace({std::hash<std::string>{}(bytes), bytes.size()}, written);

	if (is_new) {
		file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
		written += bytes.size();
	}
	return found->second;
}

void CodeStore::close()
{
	file.close();
	if (!file)
		throw std::runtime_error("cannot write the picture of the code");
}

namespace {

/* A line of /proc/PID/maps; true if it is of executable memory that can be read. */
bool parse_mapping(const std::string &text, Region &region)
{
	std::istringstream line(text);
	std::string rights, skip;
	std::uint64_t end = 0;
	char dash = 0;

	line >> std::hex >> region.start >> dash >> end >> rights >> skip >> skip >> skip;
	std::getline(line >> std::ws, region.name);
	region.size = end - region.start;
	/* The vsyscall page holds no code that is ever run. */
	return rights.size() == 4 && rights[2] == 'x' && region.name != "[vsyscall]";
}

} // namespace

Image CodeStore::picture(pid_t pid)
{
	const std::string proc = "/proc/" + std::to_string(pid);
	std::ifstream maps(proc + "/maps");
	const int memory = open((proc + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
	std::string text, bytes;
	Image image;

	if (memory < 0)
		throw std::runtime_error("cannot read the memory of a process: " +
					 std::string(std::strerror(errno)));
	while (std::getline(maps, text)) {
		Region region;

		if (!parse_mapping(text, region))
			continue;
		bytes.resize(region.size);
		const ssize_t got =
			pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(region.start));
		if (got <= 0)
			continue; /* beyond the end of the mapped file */
		bytes.resize(static_cast<std::size_t>(got));
		region.size = bytes.size();
		region.offset = keep(bytes);
		image.push_back(region);
	}
	::close(memory);
	return image;
}

} // namespace pt_oracle
