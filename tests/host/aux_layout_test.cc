// SPDX-License-Identifier: GPL-2.0
/* AUX area: how it is laid out in pages, and how a piece of it gets into a sample. */
#include <algorithm>

#include <gtest/gtest.h>

#include "aux_ring.h"
#include "ring_fixture.hh"

namespace ring_test {
namespace {

constexpr unsigned int page_shift = 12;
constexpr unsigned long page = 1UL << page_shift;
constexpr unsigned long most_watermark = 0xffffffff;

constexpr perf_aux_pages_wanted every_wish[] = {PERF_AUX_PAGES_ANY, PERF_AUX_PAGES_LARGE,
						PERF_AUX_PAGES_CONTIGUOUS};

/* As the user gives them: in 32 bits, around everything that could matter. */
std::vector<unsigned long> watermarks(unsigned long nr_pages)
{
	std::vector<unsigned long> all = {0, 1, 8, page - 1, most_watermark};

	for (unsigned long pages = 1; pages <= 2 * nr_pages && pages < 1UL << 19; pages *= 2)
		all.insert(all.end(),
			   {pages * page - 1, pages * page, pages * page + 1, 3 * pages * page});
	return all;
}

/* The largest power of two of pages that is not above @limit pages, at least one. */
unsigned long chunk_within(unsigned long limit)
{
	unsigned long chunk = 1;

	while (2 * chunk <= limit)
		chunk *= 2;
	return chunk;
}

void expect_overwrite(unsigned long nr_pages, unsigned long watermark, perf_aux_pages_wanted wanted)
{
	const auto layout = perf_aux_layout(nr_pages, page_shift, watermark, 1, wanted);

	ASSERT_EQ(layout.watermark, 0U);
	ASSERT_EQ(1UL << layout.max_order, wanted == PERF_AUX_PAGES_ANY ? 1 : nr_pages);
	ASSERT_EQ(layout.one_chunk != 0, wanted == PERF_AUX_PAGES_CONTIGUOUS);
}

void expect_writable(unsigned long nr_pages, unsigned long watermark, perf_aux_pages_wanted wanted)
{
	const auto layout = perf_aux_layout(nr_pages, page_shift, watermark, 0, wanted);
	const unsigned long half = std::min(nr_pages * page / 2, most_watermark);
	const unsigned long expected = watermark ? watermark : half;
	const unsigned long chunk = 1UL << layout.max_order;
	const unsigned long limit = std::min(expected / page, nr_pages / 2);

	ASSERT_EQ(layout.watermark, expected);
	ASSERT_EQ(layout.one_chunk, 0U);
	ASSERT_EQ(chunk, wanted == PERF_AUX_PAGES_ANY ? 1 : chunk_within(limit));
	ASSERT_LE(chunk * page, std::max(layout.watermark, page));
	if (nr_pages > 1) {
		ASSERT_GE(nr_pages / chunk, 2U) << "no half to be read while the other fills";
	}
}

TEST(AuxLayout, OfEveryNumberOfPages)
{
	for (unsigned long nr_pages = 1; nr_pages <= 1UL << 31; nr_pages *= 2) {
		for (const unsigned long watermark : watermarks(nr_pages)) {
			for (const perf_aux_pages_wanted wanted : every_wish) {
				SCOPED_TRACE(testing::Message()
					     << nr_pages << " pages, watermark " << watermark
					     << ", wish " << wanted);
				ASSERT_NO_FATAL_FAILURE(
					expect_overwrite(nr_pages, watermark, wanted));
				ASSERT_NO_FATAL_FAILURE(
					expect_writable(nr_pages, watermark, wanted));
			}
		}
	}
}

/* Beyond 8 GiB half the area has more than 32 bits, which attr.aux_watermark has not. */
TEST(AuxLayout, HasAWatermarkOfAtMost32Bits)
{
	const auto watermark = [](unsigned long nr_pages) {
		return perf_aux_layout(nr_pages, page_shift, 0, 0, PERF_AUX_PAGES_ANY).watermark;
	};

	EXPECT_EQ(watermark(1), 2048U);
	EXPECT_EQ(watermark(1UL << 20), 1UL << 31);
	EXPECT_EQ(watermark(1UL << 21), most_watermark);
	EXPECT_EQ(watermark(1UL << 22), most_watermark);
	EXPECT_EQ(watermark(1UL << 31), most_watermark);
}

TEST(AuxLayout, OfOtherPageSizes)
{
	for (const unsigned int shift : {13U, 14U, 16U}) {
		const auto layout =
			perf_aux_layout(64, shift, 8UL << shift, 0, PERF_AUX_PAGES_LARGE);

		EXPECT_EQ(layout.watermark, 8UL << shift);
		EXPECT_EQ(layout.max_order, 3U);
		EXPECT_EQ(perf_aux_layout(64, shift, 0, 0, PERF_AUX_PAGES_LARGE).watermark,
			  32UL << shift);
	}
}

/* Pages apart, in descending order and between guards that no copy may take in. */
class AuxMemory {
    public:
	AuxMemory(unsigned long size_, unsigned int shift)
		: size(size_),
		  page_size(1UL << shift),
		  memory(2 * size_ + page_size, guard)
	{
		for (unsigned long i = 0; i < size / page_size; i++)
			pages.insert(pages.begin(), memory.data() + page_size * (2 * i + 1));
		for (unsigned long i = 0; i < size; i++)
			static_cast<std::byte *>(pages[i / page_size])[i % page_size] = byte_at(i);
	}

	static std::byte byte_at(unsigned long place)
	{
		return static_cast<std::byte>(place + 1);
	}

	const unsigned long size;
	const unsigned long page_size;
	std::vector<void *> pages;

    private:
	static constexpr std::byte guard{0xa5};

	std::vector<std::byte> memory;
};

/* Walks the area byte by byte until it stands at @to again. */
std::vector<std::byte> piece_of(unsigned long size, unsigned long from, unsigned long to)
{
	std::vector<std::byte> piece;

	do
		piece.push_back(AuxMemory::byte_at(from++ % size));
	while (from % size != to % size);
	return piece;
}

void expect_copy(AuxMemory &area, unsigned int shift, unsigned long from, unsigned long to)
{
	RingFixture ring{{.pieces = 8, .piece_shift = 4}};
	perf_ring_handle handle{};
	const std::vector<std::byte> expected = piece_of(area.size, from, to);

	ASSERT_EQ(reserve(ring.ring, handle, Direction::forward, 120), 0);
	ASSERT_EQ(perf_aux_copy(&handle, area.pages.data(), shift, area.size, from, to),
		  expected.size());

	const std::vector<std::byte> all = ring.image();
	const auto end = all.begin() + static_cast<std::ptrdiff_t>(expected.size());

	ASSERT_TRUE(std::equal(all.begin(), end, expected.begin(), expected.end()));
	ASSERT_TRUE(std::all_of(end, all.end(),
				[](std::byte b) { return b == RingFixture::unwritten; }));
	ASSERT_TRUE(ring.guards_intact());
}

TEST(AuxCopy, OfEveryPieceOfEveryArea)
{
	for (unsigned int shift = 3; shift <= 6; shift++) {
		for (unsigned long size = 1UL << shift; size <= 64; size *= 2) {
			AuxMemory area(size, shift);

			for (unsigned long from = 0; from < 2 * size; from++)
				for (unsigned long to = 0; to < 2 * size; to++)
					ASSERT_NO_FATAL_FAILURE(expect_copy(area, shift, from, to))
						<< size << " bytes, pages of " << (1 << shift)
						<< ", from " << from << " to " << to;
		}
	}
}

/* As snapshot_aux() does: the last bytes up to a head that has wrapped or is about to. */
TEST(AuxCopy, AcrossTheEndOfPositions)
{
	AuxMemory area(32, 3);

	for (unsigned long back = 0; back < 64; back++)
		for (unsigned long bytes = 1; bytes <= 32; bytes++)
			ASSERT_NO_FATAL_FAILURE(expect_copy(area, 3, 16 - back, 16 - back + bytes))
				<< bytes << " from " << back << " before 16";
}

} // namespace
} // namespace ring_test
