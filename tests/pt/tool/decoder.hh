/* SPDX-License-Identifier: GPL-2.0 */
/* From Intel PT bytes to instructions, by libipt. */
#ifndef TESTS_PT_DECODER_HH
#define TESTS_PT_DECODER_HH

#include "log.hh"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct pt_image;

namespace pt_oracle {

/* Something in the trace that is no instruction, or where decoding failed. */
struct Remark {
	std::size_t before = 0;	  /* index of the instruction that follows */
	std::uint64_t offset = 0; /* in the stream */
	std::uint64_t ip = 0;
	std::string text;
};

struct Decoded {
	std::vector<std::uint64_t> ips; /* of all instructions that have retired */
	std::vector<Remark> events;
	std::vector<Remark> errors;
	std::uint64_t overflows = 0;
	/* Where instructions may be missing, if some are: indices of those that follow. */
	std::vector<std::size_t> seams;
};

/* The images of a recording as libipt wants them. */
class DecoderImages {
    public:
	/* The file "code" of @folder stays in use. Throws std::runtime_error. */
	DecoderImages(const std::filesystem::path &folder, const Manifest &manifest);
	~DecoderImages();
	DecoderImages(const DecoderImages &) = delete;
	DecoderImages &operator=(const DecoderImages &) = delete;

	::pt_image *operator[](std::size_t index) const
	{
		return images[index];
	}

    private:
	std::vector<::pt_image *> images;
};

/* One stream. @spans says which image holds up to where; the last holds on. */
Decoded decode(std::span<const std::uint8_t> stream, const DecoderImages &images,
	       const std::vector<Span> &spans);

} // namespace pt_oracle

#endif
