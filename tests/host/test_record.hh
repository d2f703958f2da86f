/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The records that tests write. Every byte is a function of the header, so a
 * reader can tell a whole record from a torn, stale or misplaced one.
 */
#ifndef TESTS_HOST_TEST_RECORD_HH
#define TESTS_HOST_TEST_RECORD_HH

#include <cstdint>
#include <vector>

namespace ring_test {

enum class RecordKind : std::uint8_t {
	data = 1,
	lost = 2, /* its second word says how many records were refused */
};

struct RecordHeader {
	std::uint32_t id;    /* of the writer's own count */
	std::uint16_t words; /* of the whole record */
	RecordKind kind;
	std::uint8_t level; /* which writer */

	bool operator==(const RecordHeader &) const = default;
	unsigned long size() const
	{
		return words * sizeof(std::uint64_t);
	}
};
static_assert(sizeof(RecordHeader) == sizeof(std::uint64_t));

inline constexpr unsigned long lost_record_size = 2 * sizeof(std::uint64_t);

/* A word that depends on every bit of both arguments (splitmix64's finaliser). */
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b)
{
	std::uint64_t z = a + (b + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Word @index (from 1 on; 0 is the header) of a data record. */
constexpr std::uint64_t payload_word(const RecordHeader &header, std::uint64_t index)
{
	return mix((static_cast<std::uint64_t>(header.id) << 8) | header.level, index);
}

using Words = std::vector<std::uint64_t>;

inline std::uint64_t header_word(const RecordHeader &header)
{
	return __builtin_bit_cast(std::uint64_t, header);
}

inline Words data_record(std::uint32_t id, unsigned long size, std::uint8_t level = 0)
{
	const RecordHeader header{id, static_cast<std::uint16_t>(size / sizeof(std::uint64_t)),
				  RecordKind::data, level};
	Words words(header.words);

	words[0] = header_word(header);
	for (std::uint64_t i = 1; i < words.size(); i++)
		words[i] = payload_word(header, i);
	return words;
}

inline Words lost_record(std::uint64_t count, std::uint8_t level = 0)
{
	const RecordHeader header{0, lost_record_size / sizeof(std::uint64_t), RecordKind::lost,
				  level};

	return {header_word(header), count};
}

inline unsigned long bytes(const Words &words)
{
	return words.size() * sizeof(Words::value_type);
}

} // namespace ring_test

#endif
