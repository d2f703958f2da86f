// SPDX-License-Identifier: GPL-2.0
#include "mapped_file.hh"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace perfring::data {
namespace {

/* Closes what it has opened. */
struct Descriptor {
	int fd;
	bool ours;

	explicit Descriptor(const std::string &path)
		: fd(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)),
		  ours(path != "-")
	{
		if (fd < 0)
			throw std::system_error(errno, std::generic_category(), path);
	}
	~Descriptor()
	{
		if (ours)
			close(fd);
	}
	Descriptor(const Descriptor &) = delete;
	Descriptor &operator=(const Descriptor &) = delete;
};

} /* namespace */

MappedFile::MappedFile(const std::string &path)
{
	const Descriptor file(path);
	struct stat status {};

	if (fstat(file.fd, &status))
		throw std::system_error(errno, std::generic_category(), path);
	if (S_ISDIR(status.st_mode))
		throw std::runtime_error(path + " is a directory: name one of the files in it");
	if (!S_ISREG(status.st_mode) || !status.st_size) {
		read_all(file.fd);
		return;
	}

	void *const mapped = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ,
				  MAP_PRIVATE, file.fd, 0);

	if (mapped == MAP_FAILED)
		throw std::system_error(errno, std::generic_category(), path);
	mapped_ = mapped;
	size_ = static_cast<std::size_t>(status.st_size);
}

void MappedFile::read_all(int fd)
{
	constexpr std::size_t piece = 1 << 20;
	ssize_t got;

	do {
		const std::size_t have = read_.size();

		read_.resize(have + piece);
		got = read(fd, read_.data() + have, piece);
		read_.resize(have + (got > 0 ? static_cast<std::size_t>(got) : 0));
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0)
		throw std::system_error(errno, std::generic_category(), "reading");
}

MappedFile::~MappedFile()
{
	if (mapped_)
		munmap(mapped_, size_);
}

} /* namespace perfring::data */
