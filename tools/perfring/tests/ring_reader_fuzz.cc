// SPDX-License-Identifier: GPL-2.0
/* libFuzzer: a ring with any content and any positions. */
#include "record/ring_reader.hh"

#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t ring_size = 64 * 1024;

} /* namespace */

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *input, std::size_t size)
{
	static std::vector<std::byte> ring(ring_size), room(128 * 1024);
	static perf_event_mmap_page page;
	std::uint64_t positions[2] = {0, 0};

	if (size < sizeof(positions))
		return 0;
	std::memcpy(positions, input, sizeof(positions));
	input += sizeof(positions);
	size = std::min(size - sizeof(positions), ring_size);
	std::memset(ring.data(), 0, ring_size);
	for (std::size_t i = 0; i < size; i++)
		ring[(positions[0] + i) & (ring_size - 1)] = static_cast<std::byte>(input[i]);
	page.data_tail = positions[0];
	/* Most of the time a head that can be. */
	page.data_head = positions[1] & 1 ? positions[1] : positions[0] + (positions[1] & 0x1fff8);

	perfring::record::RingReader reader(&page, ring.data(), ring_size);
	std::size_t bytes = 0, used;

	while ((used = reader.read(room, [&](std::span<const std::byte> record) {
		       bytes += record.size();
		       if (record.size() < 8 || record.size() % 8)
			       std::abort();
	       })) > 0)
		reader.release();
	reader.release();
	if (bytes > ring_size || page.data_tail != page.data_head)
		std::abort();
	return 0;
}
