/* SPDX-License-Identifier: GPL-2.0 */
/* What COMPRESSED records hold: one zstd stream over all of them. */
#ifndef PERFRING_DATA_INFLATER_HH
#define PERFRING_DATA_INFLATER_HH

#include <zstd.h>

#include <memory>
#include <optional>

#include "reader.hh"

namespace perfring::data {

struct Reader::Inflater {
	/* No writer compresses more into a record of 64 KiB; a bomb does. */
	static constexpr std::size_t most = 64 << 20;

	std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream *)> stream{ZSTD_createDStream(),
									      ZSTD_freeDStream};
	Bytes plain;
	std::size_t position = 0; /* in plain: where the next record begins */
	std::uint64_t offset = 0; /* of the COMPRESSED record that came last */

	/* Adds what @frame holds. A reason if that is not to be had. */
	const char *add(ByteView frame, std::uint64_t from);

	ByteView rest() const
	{
		return ByteView(plain).subspan(position);
	}
};

} /* namespace perfring::data */

#endif /* PERFRING_DATA_INFLATER_HH */
