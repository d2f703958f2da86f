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

} /* namespace perfring::record */
