// SPDX-License-Identifier: GPL-2.0
#include "write_queue.hh"

#include <algorithm>

namespace perfring::record {

void Write::advance(std::size_t bytes)
{
	unsigned whole = 0;

	offset += static_cast<off_t>(bytes);
	while (whole < count && bytes >= parts[whole].iov_len)
		bytes -= parts[whole++].iov_len;
	std::move(parts.begin() + whole, parts.begin() + count, parts.begin());
	count -= whole;
	if (count) {
		parts[0].iov_base = static_cast<std::byte *>(parts[0].iov_base) + bytes;
		parts[0].iov_len -= bytes;
	}
}

std::vector<std::byte> Write::copy() const
{
	std::vector<std::byte> bytes;

	bytes.reserve(left());
	for (unsigned i = 0; i < count; i++) {
		const auto *from = static_cast<const std::byte *>(parts[i].iov_base);

		bytes.insert(bytes.end(), from, from + parts[i].iov_len);
	}
	return bytes;
}

} /* namespace perfring::record */
