// SPDX-License-Identifier: GPL-2.0
#include "inflater.hh"

namespace perfring::data {

const char *Reader::Inflater::add(ByteView frame, std::uint64_t from)
{
	ZSTD_inBuffer in{frame.data(), frame.size(), 0};

	if (!stream)
		return "there is no memory to decompress it";
	offset = from;
	plain.erase(plain.begin(), plain.begin() + static_cast<std::ptrdiff_t>(position));
	position = 0;

	/* Also when all is read there may be more to come out. */
	for (bool full = true; in.pos < in.size || full;) {
		const std::size_t before = plain.size();

		if (before > most)
			return "its content is larger than any recorder's";
		plain.resize(before + ZSTD_DStreamOutSize());

		ZSTD_outBuffer out{plain.data() + before, plain.size() - before, 0};
		const std::size_t result = ZSTD_decompressStream(stream.get(), &out, &in);

		full = out.pos == out.size;
		plain.resize(before + out.pos);
		if (ZSTD_isError(result))
			return ZSTD_getErrorName(result);
	}
	return nullptr;
}

} /* namespace perfring::data */
