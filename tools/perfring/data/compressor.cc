// SPDX-License-Identifier: GPL-2.0
/*
 * COMPRESSED records, each with a zstd frame of its own: any reader that takes a stream
 * takes them, in whatever order the files of several compressors are mixed.
 */
#include <linux/perf_event.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "format.hh"
#include "records.hh"
#include "writer.hh"

namespace perfring::data {
namespace {

/* Room for what aligned() inserts. */
constexpr std::size_t max_frame = max_record - header_size - 3 * 7;

/*
 * Size of a frame's header (RFC 8878, 3.1.1.1): 4 bytes of magic number, a descriptor,
 * the window's size unless all is one segment, id of a dictionary, size of the content.
 */
std::size_t frame_header_size(ByteView frame)
{
	constexpr std::size_t content_sizes[] = {0, 2, 4, 8};
	constexpr std::size_t dictionary_sizes[] = {0, 1, 2, 4};
	const auto descriptor = std::to_integer<unsigned>(frame[4]);
	const bool single = descriptor & 0x20;
	const std::size_t content = content_sizes[descriptor >> 6];

	return 5 + (single ? 0 : 1) + dictionary_sizes[descriptor & 3] +
	       (single && !content ? 1 : content);
}

/*
 * The record of a frame. Records have to be multiples of 8, and what follows a frame has
 * to be another: so as many empty blocks, of three bytes each, as it takes.
 */
void put_compressed(ByteView frame, Bytes &out)
{
	const std::size_t head = frame_header_size(frame);
	std::size_t fill = 0;

	while ((frame.size() + fill) % 8)
		fill += 3;

	const perf_event_header header{
		record_compressed, 0,
		static_cast<std::uint16_t>(header_size + frame.size() + fill)};
	Builder record(out);

	record.put(header);
	record.append(frame.first(head));
	record.zeros(fill);
	record.append(frame.subspan(head));
}

/* The longest front of @records that is whole records and at most @most bytes, but at
 * least one record. */
std::size_t whole_records(ByteView records, std::size_t most)
{
	std::size_t size = 0;

	while (size < records.size()) {
		const auto header = load<perf_event_header>(records, size);

		if (!header || header->size < header_size || header->size > records.size() - size)
			throw std::invalid_argument("not whole records");
		if (size && size + header->size > most)
			break;
		size += header->size;
	}
	return size;
}

} /* namespace */

struct Compressor::State {
	std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx *)> context{ZSTD_createCCtx(),
									 ZSTD_freeCCtx};
	int level;
	std::size_t unit = compressed_unit_limit; /* bytes that will fit, by experience */
	Bytes frame;

	/* Empty: does not fit. */
	ByteView compressed(ByteView records)
	{
		frame.resize(max_frame);

		const std::size_t size =
			ZSTD_compressCCtx(context.get(), frame.data(), frame.size(), records.data(),
					  records.size(), level);

		return ZSTD_isError(size) ? ByteView{} : ByteView(frame).first(size);
	}
};

Compressor::Compressor(int level) : state(std::make_unique<State>())
{
	if (!state->context)
		throw std::bad_alloc();
	state->level = std::clamp(level, 1, ZSTD_maxCLevel());
}

Compressor::~Compressor() = default;
Compressor::Compressor(Compressor &&) noexcept = default;

Bytes decompressed(std::span<const std::byte> record)
{
	Bytes plain(compressed_unit_limit);
	const ByteView frame = record.subspan(std::min(record.size(), header_size));
	const std::size_t size =
		ZSTD_decompress(plain.data(), plain.size(), frame.data(), frame.size());

	plain.resize(ZSTD_isError(size) ? 0 : size);
	return plain;
}

void Compressor::compress(std::span<const std::byte> records, Bytes &out)
{
	while (!records.empty()) {
		const ByteView some = records.first(whole_records(records, state->unit));
		const ByteView frame = state->compressed(some);

		if (!frame.empty() && frame.size() < some.size()) {
			put_compressed(frame, out);
			state->unit =
				std::min(state->unit + state->unit / 8, compressed_unit_limit);
		} else if (state->unit > max_record) {
			state->unit /= 2;
			continue;
		} else {
			Builder(out).append(some);
		}
		records = records.subspan(some.size());
	}
}

} /* namespace perfring::data */
