// SPDX-License-Identifier: GPL-2.0
#include "attr.hh"

#include <algorithm>
#include <cstddef>

namespace perfring::data {
namespace {

constexpr std::uint32_t layouts[] = {PERF_ATTR_SIZE_VER7, sizeof(perf_event_attr)};

bool all_zero(ByteView bytes)
{
	return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}

} /* namespace */

std::uint32_t attr_layout(const perf_event_attr &attr)
{
	const ByteView bytes = std::as_bytes(std::span(&attr, 1));

	for (const std::uint32_t size : layouts)
		if (all_zero(bytes.subspan(size)))
			return size;
	return sizeof(attr);
}

Bytes encode_attr(const perf_event_attr &attr, std::uint32_t size)
{
	perf_event_attr copy = attr;

	copy.size = size;

	const ByteView bytes = std::as_bytes(std::span(&copy, 1)).first(size);

	return {bytes.begin(), bytes.end()};
}

std::optional<perf_event_attr> decode_attr(ByteView bytes)
{
	const auto stated = load<std::uint32_t>(bytes, offsetof(perf_event_attr, size));

	if (!stated)
		return std::nullopt;

	const std::uint32_t size = *stated ? *stated : PERF_ATTR_SIZE_VER0;

	if (size < PERF_ATTR_SIZE_VER0 || size % 8 || size > bytes.size())
		return std::nullopt;

	const std::size_t known = std::min<std::size_t>(size, sizeof(perf_event_attr));
	perf_event_attr attr{};

	if (!all_zero(bytes.subspan(known, size - known)))
		return std::nullopt;
	std::memcpy(&attr, bytes.data(), known);
	attr.size = size;
	return attr;
}

} /* namespace perfring::data */
