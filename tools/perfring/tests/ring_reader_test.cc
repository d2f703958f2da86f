// SPDX-License-Identifier: GPL-2.0
/* Rings in memory that anybody may have damaged. */
#include "record/ring_reader.hh"

#include "record/aux_reader.hh"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>
#include <vector>

namespace perfring::record {
namespace {

constexpr std::size_t ring_size = 16 * 4096;

/* A user page and a ring in a memfd, mapped twice: the writer's side and the reader's. */
class RingReaderTest : public testing::Test {
    protected:
	RingReaderTest()
	{
		fd = memfd_create("ring", MFD_CLOEXEC);
		EXPECT_EQ(ftruncate(fd, 4096 + ring_size), 0);
		memory = static_cast<std::byte *>(
			mmap(nullptr, 4096 + ring_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
		page = reinterpret_cast<perf_event_mmap_page *>(memory);
		data = memory + 4096;
	}
	~RingReaderTest() override
	{
		munmap(memory, 4096 + ring_size);
		close(fd);
	}

	void put(std::uint64_t position, const void *from, std::size_t length)
	{
		for (std::size_t i = 0; i < length; i++)
			data[(position + i) & (ring_size - 1)] =
				static_cast<const std::byte *>(from)[i];
	}

	/* A record of this size whose body counts up from a number. */
	void write_record(std::uint16_t size, std::uint64_t number)
	{
		const perf_event_header header{PERF_RECORD_COMM, 0, size};
		const std::uint64_t head = page->data_head;

		put(head, &header, sizeof(header));
		for (std::size_t at = 8; at + 8 <= size; at += 8, number++)
			put(head + at, &number, 8);
		page->data_head = head + size;
	}

	std::vector<std::vector<std::byte>> read_all(RingReader &reader)
	{
		std::vector<std::vector<std::byte>> records;
		std::vector<std::byte> room(128 * 1024);

		while (reader.read(room, [&](std::span<const std::byte> record) {
			records.emplace_back(record.begin(), record.end());
		}))
			reader.release();
		reader.release();
		return records;
	}

	/* What a damaged ring has to come to: one error, an empty ring, and then records again. */
	void expect_recovery(RingReader &reader, std::size_t good_before)
	{
		EXPECT_EQ(read_all(reader).size(), good_before);
		EXPECT_EQ(reader.damage().times, 1U);
		EXPECT_EQ(page->data_tail, page->data_head);
		write_record(24, 7);
		EXPECT_EQ(read_all(reader).size(), 1U);
		EXPECT_EQ(reader.damage().times, 1U);
	}

	int fd;
	std::byte *memory;
	perf_event_mmap_page *page;
	std::byte *data;
};

TEST_F(RingReaderTest, RecordsComeWholeAndInOrder)
{
	RingReader reader(page, data, ring_size);
	std::uint64_t number = 0;

	/* Many times round, so that records lie across the end at each of its words. */
	for (int round = 0; round < 3000; round++) {
		const auto size = static_cast<std::uint16_t>(16 + 8 * (round % 40));

		write_record(size, number);
		const auto records = read_all(reader);

		ASSERT_EQ(records.size(), 1U);
		ASSERT_EQ(records[0].size(), size);
		for (std::size_t at = 8; at < size; at += 8, number++) {
			std::uint64_t word;

			std::memcpy(&word, records[0].data() + at, 8);
			ASSERT_EQ(word, number);
		}
		ASSERT_EQ(page->data_tail, page->data_head);
	}
	EXPECT_EQ(reader.damage().times, 0U);
}

TEST_F(RingReaderTest, SpaceIsGivenBackAtReleaseOnly)
{
	RingReader reader(page, data, ring_size);
	std::vector<std::byte> room(128 * 1024);

	write_record(64, 0);
	EXPECT_EQ(reader.read(room, [](auto) {}), 64U);
	EXPECT_EQ(page->data_tail, 0U);
	reader.release();
	EXPECT_EQ(page->data_tail, 64U);
}

TEST_F(RingReaderTest, WhatDoesNotFitStaysInTheRing)
{
	RingReader reader(page, data, ring_size);
	std::vector<std::byte> room(100);

	write_record(64, 0);
	write_record(64, 8);
	EXPECT_EQ(reader.read(room, [](auto) {}), 64U);
	reader.release();
	EXPECT_EQ(page->data_tail, 64U);
	EXPECT_EQ(reader.ready(), 64U);
	EXPECT_EQ(reader.read(room, [](auto) {}), 64U);
	EXPECT_EQ(reader.damage().times, 0U);
}

TEST_F(RingReaderTest, SizeZero)
{
	RingReader reader(page, data, ring_size);

	write_record(32, 0);
	write_record(32, 0);
	const perf_event_header none{PERF_RECORD_COMM, 0, 0};

	put(32, &none, 8);
	expect_recovery(reader, 1);
	EXPECT_EQ(reader.damage().bytes, 32U);
}

TEST_F(RingReaderTest, SizesThatCannotBe)
{
	for (const std::uint16_t size :
	     {std::uint16_t{7}, std::uint16_t{12}, std::uint16_t{0xffff}, std::uint16_t{4096}}) {
		RingReader reader(page, data, ring_size);
		const perf_event_header wrong{PERF_RECORD_COMM, 0, size};
		const std::uint64_t at = page->data_head;

		write_record(32, 0);
		put(at, &wrong, 8);
		SCOPED_TRACE(size);
		expect_recovery(reader, 0);
	}
}

TEST_F(RingReaderTest, HeadBehindTail)
{
	write_record(64, 0);
	page->data_tail = 64;
	RingReader reader(page, data, ring_size);

	page->data_head = 32;
	expect_recovery(reader, 0);
}

TEST_F(RingReaderTest, HeadMoreThanARingAhead)
{
	RingReader reader(page, data, ring_size);

	page->data_head = ring_size + 8;
	expect_recovery(reader, 0);
}

TEST_F(RingReaderTest, TailBeyondHead)
{
	page->data_tail = 1 << 20;
	RingReader reader(page, data, ring_size);

	expect_recovery(reader, 0);
}

TEST_F(RingReaderTest, HeadWithinAHeader)
{
	RingReader reader(page, data, ring_size);

	write_record(32, 0);
	page->data_head += 4;
	EXPECT_EQ(read_all(reader).size(), 1U);
	EXPECT_EQ(reader.damage().times, 1U);
	EXPECT_EQ(reader.damage().bytes, 4U);
}

TEST_F(RingReaderTest, AnyBytesComeToAnEnd)
{
	std::mt19937_64 random(1);
	std::uint64_t looked_at = 0;

	for (int i = 0; i < 2000; i++) {
		for (std::size_t at = 0; at < ring_size; at += 8) {
			const std::uint64_t word = random() & random() & 0x0038'ffff'ffff'ffff;

			std::memcpy(data + at, &word, 8);
		}
		page->data_tail = random();
		RingReader reader(page, data, ring_size);

		page->data_head = page->data_tail + (random() & (2 * ring_size - 1));
		looked_at += read_all(reader).size();
		ASSERT_EQ(page->data_tail, page->data_head);
	}
	EXPECT_GT(looked_at, 0U);
}

/* Written from the end of the ring towards its start. */
TEST_F(RingReaderTest, BackwardNewestFirstAndNoOldHalves)
{
	std::vector<std::byte> room(ring_size);
	std::uint64_t head = 0;
	std::vector<std::uint64_t> seen;
	const auto write_backward = [&](std::uint64_t number) {
		const perf_event_header header{PERF_RECORD_COMM, 0, 24};

		head -= 24;
		put(head, &header, 8);
		put(head + 8, &number, 8);
		page->data_head = head;
	};
	const auto note = [&](std::span<const std::byte> record) {
		std::uint64_t number;

		std::memcpy(&number, record.data() + 8, 8);
		seen.push_back(number);
	};

	for (std::uint64_t i = 0; i < 10; i++)
		write_backward(i);
	EXPECT_EQ(read_backward(page, data, ring_size, 0, room, note), 240U);
	ASSERT_EQ(seen.size(), 10U);
	EXPECT_EQ(seen.front(), 9U);
	EXPECT_EQ(seen.back(), 0U);

	/* Round and round: what is left is the newest, without a gap. */
	const std::uint64_t since = head;

	for (std::uint64_t i = 10; i < 10000; i++)
		write_backward(i);
	seen.clear();
	read_backward(page, data, ring_size, since, room, note);
	ASSERT_EQ(seen.size(), ring_size / 24);
	for (std::size_t i = 0; i < seen.size(); i++)
		ASSERT_EQ(seen[i], 9999 - i);

	/* Nothing new, nothing twice. */
	seen.clear();
	EXPECT_EQ(read_backward(page, data, ring_size, head, room, note), 0U);
}

TEST_F(RingReaderTest, AuxTailMovesOverWhatIsSafe)
{
	AuxReader reader(page, 4096);

	page->aux_head = 300;
	EXPECT_EQ(reader.ready(), 300U);
	EXPECT_EQ(reader.take(100), 0U);
	EXPECT_EQ(reader.take(200), 100U);
	EXPECT_EQ(reader.ready(), 0U);
	EXPECT_EQ(reader.held(), 300U);
	reader.safe_until(300);
	EXPECT_EQ(page->aux_tail, 0U);
	reader.safe_until(100);
	EXPECT_EQ(page->aux_tail, 300U);
	EXPECT_EQ(reader.held(), 0U);
}

TEST_F(RingReaderTest, AuxHeadThatCannotBe)
{
	AuxReader reader(page, 4096);

	page->aux_head = 100;
	reader.take(100);
	page->aux_head = 5000;
	EXPECT_EQ(reader.ready(), 0U);
	EXPECT_EQ(reader.damage().times, 1U);
	EXPECT_EQ(reader.damage().bytes, 4900U);
	/* What is on its way is still held. */
	EXPECT_EQ(page->aux_tail, 0U);
	reader.safe_until(100);
	EXPECT_EQ(page->aux_tail, 5000U);
	page->aux_head = 5100;
	EXPECT_EQ(reader.ready(), 100U);
}

} /* namespace */
} /* namespace perfring::record */
