/* SPDX-License-Identifier: GPL-2.0 */
/* A file as bytes in memory. */
#ifndef PERFRING_DATA_MAPPED_FILE_HH
#define PERFRING_DATA_MAPPED_FILE_HH

#include <string>

#include "bytes.hh"

namespace perfring::data {

/*
 * The file must not get shorter while it is mapped: reading what has gone is SIGBUS. A
 * pipe is read to its end. "-": the standard input. Throws std::system_error, or
 * std::runtime_error for a directory, which is what perf record --threads makes.
 */
class MappedFile {
    public:
	explicit MappedFile(const std::string &path);
	~MappedFile();
	MappedFile(const MappedFile &) = delete;
	MappedFile &operator=(const MappedFile &) = delete;

	ByteView bytes() const
	{
		return mapped_ ? ByteView(static_cast<const std::byte *>(mapped_), size_)
			       : ByteView(read_);
	}

    private:
	void read_all(int fd);

	void *mapped_ = nullptr;
	std::size_t size_ = 0;
	Bytes read_; /* of what cannot be mapped */
};

} /* namespace perfring::data */

#endif /* PERFRING_DATA_MAPPED_FILE_HH */
