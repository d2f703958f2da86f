// SPDX-License-Identifier: GPL-2.0
/* Places, failures, and what is left of a file whose disk is full. */
#include "record/output.hh"

#include "data/format.hh"
#include "record/rounds.hh"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

namespace perfring::record {
namespace {

int temporary_file()
{
	char path[] = "/tmp/perfring-output-XXXXXX";
	const int fd = mkstemp(path);

	unlink(path);
	return fd;
}

Content samples(std::uint64_t count)
{
	Content content;

	content.samples = {{0, 0, count}};
	return content;
}

class OutputTest : public testing::Test {
    protected:
	Ledger ledger{1, 1};
	Output output{temporary_file(), 100, false, 0, ledger};
};

TEST_F(OutputTest, PlacesFollowEachOther)
{
	EXPECT_EQ(output.place(8), 100U);
	EXPECT_EQ(output.place(24), 108U);
	EXPECT_EQ(output.place(8), 132U);
	EXPECT_EQ(output.position(), 140U);
}

TEST_F(OutputTest, KeptIsWhatEnded)
{
	const auto place = output.place(8);

	EXPECT_EQ(ledger.kept_total(), 0U);
	output.ended(place, 8, samples(5), 0);
	EXPECT_EQ(ledger.kept_total(), 5U);
	EXPECT_EQ(output.written(), 8U);
	EXPECT_EQ(output.settle(), 108U);
	EXPECT_TRUE(ledger.lossless());
}

/* What is behind a hole cannot be read, even if it was written. */
TEST_F(OutputTest, AFailureTakesWhatIsBehindIt)
{
	const auto first = output.place(8);
	const auto second = output.place(16);
	const auto third = output.place(24);

	output.ended(third, 24, samples(100), 0);
	output.ended(second, 16, samples(10), ENOSPC);
	output.ended(first, 8, samples(1), 0);
	EXPECT_EQ(output.error(), ENOSPC);
	EXPECT_EQ(output.settle(), 108U);
	EXPECT_EQ(ledger.kept_total(), 1U);
	EXPECT_EQ(ledger.lost_total(), 110U);
	EXPECT_EQ(ledger.lost(Cause::output, 0, 0), 110U);
	EXPECT_EQ(output.written(), 8U);
}

TEST_F(OutputTest, GivingUpMakesRoomInWholePieces)
{
	for (int i = 0; i < 10; i++)
		output.ended(output.place(1000), 1000, samples(1), 0);
	EXPECT_EQ(output.settle(), 10100U);
	EXPECT_EQ(output.give_up(1500), 8100U);
	EXPECT_EQ(ledger.kept_total(), 8U);
	EXPECT_EQ(ledger.lost_total(), 2U);
	EXPECT_EQ(output.give_up(1U << 30), 100U);
	EXPECT_EQ(ledger.kept_total(), 0U);
	EXPECT_EQ(ledger.lost_total(), 10U);
	EXPECT_EQ(output.give_up(1), 100U);
}

TEST_F(OutputTest, AuxBytesThatAreCutOffAreCounted)
{
	Content content;

	content.aux_bytes = 4096;
	content.aux_record = 48;
	const auto lost = output.place(8);
	const auto aux = output.place(4144);

	output.ended(aux, 4144, content, 0);
	EXPECT_EQ(output.auxtraces().size(), 1U);
	output.ended(lost, 8, {}, EIO);
	output.settle();
	EXPECT_TRUE(output.auxtraces().empty());
	EXPECT_EQ(ledger.ring(0).aux.output_bytes, 4096U);
	EXPECT_FALSE(ledger.lossless());
}

TEST_F(OutputTest, GoodUntilTheFirstThatIsOpenOrFailed)
{
	const auto first = output.place(8);
	const auto second = output.place(8);

	output.ended(second, 8, {}, 0);
	EXPECT_FALSE(output.is_good_until(116));
	output.ended(first, 8, {}, 0);
	EXPECT_TRUE(output.is_good_until(116));
	output.ended(output.place(8), 8, {}, EIO);
	EXPECT_TRUE(output.is_good_until(116));
	EXPECT_FALSE(output.is_good_until(124));
}

TEST_F(OutputTest, TellsWhenItGetsLong)
{
	const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	std::uint64_t count = 0;

	output.watch_position(120, fd);
	output.place(20);
	EXPECT_LT(read(fd, &count, 8), 0);
	output.place(8);
	EXPECT_EQ(read(fd, &count, 8), 8);
	output.watch_position(100, fd);
	EXPECT_EQ(read(fd, &count, 8), 8);
	close(fd);
}

constexpr std::uint64_t record_size = 24;

/* Every record is a sample. */
SampleCounts count_records(std::span<const std::byte> records)
{
	return {{0, 0, records.size() / record_size}};
}

/* A file that cannot be larger, in the way of a disk that is full. */
class FullDiskTest : public testing::Test {
    protected:
	FullDiskTest()
	{
		signal(SIGXFSZ, SIG_IGN);
		getrlimit(RLIMIT_FSIZE, &before);
	}
	~FullDiskTest() override
	{
		setrlimit(RLIMIT_FSIZE, &before);
	}

	void limit(std::uint64_t bytes)
	{
		const rlimit now{bytes, before.rlim_max};

		ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &now), 0);
	}
	static std::vector<std::byte> records(std::uint64_t count)
	{
		std::vector<std::byte> all(count * record_size);
		const perf_event_header header{PERF_RECORD_SAMPLE, 0, record_size};

		for (std::uint64_t i = 0; i < count; i++)
			std::memcpy(all.data() + i * record_size, &header, sizeof(header));
		return all;
	}
	/* So many records, of which the disk has so many bytes. */
	void refused(std::uint64_t place, std::vector<std::byte> bytes, std::size_t written,
		     Content content)
	{
		const std::size_t size = bytes.size();
		Write write;

		ASSERT_EQ(pwrite(output.fd(), bytes.data(), written, static_cast<off_t>(place)),
			  static_cast<ssize_t>(written));
		write.parts[0] = {bytes.data(), size};
		write.count = 1;
		write.offset = static_cast<off_t>(place);
		write.advance(written);
		output.ended(place, size, std::move(content), ENOSPC, &write);
	}
	std::uint64_t size() const
	{
		struct stat there {};

		fstat(output.fd(), &there);
		return static_cast<std::uint64_t>(there.st_size);
	}

	rlimit before{};
	Ledger ledger{1, 1};
	Output output{temporary_file(), 100, false, 0, ledger, count_records};
};

TEST_F(FullDiskTest, IsFilledToTheLastWholeRecord)
{
	limit(100 + 4 * record_size + 10);
	refused(output.place(10 * record_size), records(10), record_size, samples(10));
	EXPECT_EQ(output.settle(), 100 + 4 * record_size);
	EXPECT_EQ(ledger.kept_total(), 4U);
	EXPECT_EQ(ledger.lost(Cause::output, 0, 0), 6U);
	EXPECT_EQ(output.written(), 4 * record_size);
	EXPECT_EQ(output.error(), ENOSPC);
	EXPECT_EQ(size(), 100 + 4 * record_size);
}

TEST_F(FullDiskTest, WhatStandsBehindMakesRoom)
{
	const auto first = output.place(10 * record_size);
	const auto second = output.place(record_size);
	const auto third = output.place(record_size);

	limit(100 + 9 * record_size);
	output.ended(second, record_size, samples(1), 0);
	refused(third, records(1), 0, samples(1));
	refused(first, records(10), 0, samples(10));
	EXPECT_EQ(output.settle(), 100 + 9 * record_size);
	EXPECT_EQ(ledger.kept_total(), 9U);
	EXPECT_EQ(ledger.lost_total(), 3U);
}

TEST_F(FullDiskTest, WhatCanBeWrittenLaterIsNotLost)
{
	const auto first = output.place(10 * record_size);
	const auto second = output.place(record_size);

	refused(first, records(10), 30, samples(10));
	output.ended(second, record_size, samples(1), 0);
	EXPECT_EQ(output.settle(), 100 + 11 * record_size);
	EXPECT_EQ(ledger.kept_total(), 11U);
	EXPECT_EQ(ledger.lost_total(), 0U);
}

TEST_F(FullDiskTest, AuxDataAreShortened)
{
	data::RecordAuxtrace head{};
	std::vector<std::byte> bytes(sizeof(head) + 4096);
	Content content;

	content.aux_record = sizeof(head);
	content.aux_bytes = 4096;
	head.size = 4096;
	std::memcpy(bytes.data(), &head, sizeof(head));
	limit(100 + sizeof(head) + 1003);
	refused(output.place(bytes.size()), bytes, 0, content);
	EXPECT_EQ(output.settle(), 100 + sizeof(head) + 1000);
	ASSERT_EQ(pread(output.fd(), &head, sizeof(head), 100), ssize_t{sizeof(head)});
	EXPECT_EQ(head.size, 1000U);
	EXPECT_EQ(ledger.ring(0).aux.output_bytes, 3096U);
	EXPECT_EQ(output.auxtraces().size(), 1U);
	EXPECT_EQ(output.give_up(1010), 100U);
	EXPECT_EQ(ledger.ring(0).aux.output_bytes, 4096U);
	EXPECT_TRUE(output.auxtraces().empty());
}

TEST_F(FullDiskTest, GivesUpNoMoreRecordsThanItHasTo)
{
	for (int i = 0; i < 2; i++) {
		const auto bytes = records(10);
		const auto place = output.place(bytes.size());

		ASSERT_EQ(write_fully(output.fd(), bytes, static_cast<off_t>(place)), 0);
		output.ended(place, bytes.size(), samples(10), 0);
	}
	EXPECT_EQ(output.give_up(1), 100 + 19 * record_size);
	EXPECT_EQ(output.give_up(10 * record_size), 100 + 9 * record_size);
	EXPECT_EQ(ledger.kept_total(), 9U);
	EXPECT_EQ(ledger.lost_total(), 11U);
	EXPECT_EQ(output.written(), 9 * record_size);
}

TEST(OutputDirtyTest, TheBoundHoldsUntilTheDiskHasIt)
{
	constexpr std::uint64_t limit = 32 << 20;
	Ledger ledger(1, 1);
	Output output(temporary_file(), 0, false, limit, ledger);
	const std::vector<std::byte> block(1 << 20, std::byte{1});
	int held = 0;

	for (int i = 0; i < 128; i++) {
		for (int tries = 0; !output.may_write() && tries < 3000; tries++, held++)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		ASSERT_TRUE(output.may_write());
		ASSERT_EQ(output.append(block), 0);
	}
	EXPECT_EQ(output.written(), 128U << 20);
}

TEST(OutputStreamTest, ArrivesInTheOrderOfPlaces)
{
	std::array<int, 2> ends;
	Ledger ledger(1, 1);
	std::string got, wanted;

	ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
	std::thread reader([&] {
		std::array<char, 100> some;
		ssize_t n;

		while ((n = read(ends[0], some.data(), some.size())) > 0)
			got.append(some.data(), static_cast<std::size_t>(n));
	});
	{
		Output output(ends[1], 0, true, 0, ledger);
		auto queue = output.stream_queue();
		std::array<Write, 20> writes;
		std::array<std::string, 20> texts;
		std::vector<Write *> done;

		for (std::size_t i = 0; i < writes.size(); i++) {
			texts[i] = std::string(1000 + i, static_cast<char>('a' + i));
			wanted += texts[i];
			writes[i].parts[0] = {texts[i].data(), texts[i].size()};
			writes[i].count = 1;
			writes[i].offset = static_cast<off_t>(output.place(texts[i].size()));
		}
		/* Sent the other way round. */
		for (std::size_t i = writes.size(); i--;)
			EXPECT_TRUE(queue->submit(writes[i]));
		while (done.size() < writes.size()) {
			queue->wait(std::chrono::milliseconds(100));
			queue->reap(done);
		}
		for (std::size_t i = 0; i < writes.size(); i++) {
			EXPECT_EQ(writes[i].result, static_cast<long>(texts[i].size()));
			output.ended(static_cast<std::uint64_t>(writes[i].offset), texts[i].size(),
				     {}, 0);
		}
		EXPECT_EQ(output.append(std::as_bytes(std::span(wanted))), 0);
	}
	reader.join();
	EXPECT_EQ(got, wanted + wanted);
	close(ends[0]);
}

/* A stream whose writes come as the script has it; what it has not foreseen succeeds. */
class ScriptedStream final : public Stream {
    public:
	ScriptedStream(std::vector<long> with, std::string &to) : script(std::move(with)), got(to)
	{
	}

	ssize_t write(const iovec *parts, int) override
	{
		std::size_t n = parts[0].iov_len;

		if (at < script.size()) {
			const long what = script[at++];

			if (what < 0) {
				errno = static_cast<int>(-what);
				return -1;
			}
			n = std::min(n, static_cast<std::size_t>(what));
		}
		got.append(static_cast<char *>(parts[0].iov_base), n);
		return static_cast<ssize_t>(n);
	}

    private:
	std::vector<long> script;
	std::size_t at = 0;
	std::string &got;
};

std::vector<long> results_of_three(std::vector<long> script, std::string &got)
{
	StreamWriter writer(std::make_unique<ScriptedStream>(std::move(script), got), 0);
	auto queue = writer.queue();
	std::array<std::string, 3> texts{"aaaa", "bbbb", "cccc"};
	std::array<Write, 3> writes;
	std::vector<Write *> done;
	std::vector<long> results;

	for (std::size_t i = 0; i < 3; i++) {
		writes[i].parts[0] = {texts[i].data(), 4};
		writes[i].count = 1;
		writes[i].offset = static_cast<off_t>(i * 4);
		queue->submit(writes[i]);
	}
	while (done.size() < 3) {
		queue->wait(std::chrono::milliseconds(100));
		queue->reap(done);
	}
	for (const auto &write : writes)
		results.push_back(write.result);
	return results;
}

TEST(OutputStreamTest, ShortAndInterruptedWritesStayInOrder)
{
	std::string got;

	EXPECT_EQ(results_of_three({1, -EINTR, 2, 1, 3}, got), (std::vector<long>{4, 4, 4}));
	EXPECT_EQ(got, "aaaabbbbcccc");
}

TEST(OutputStreamTest, AReaderThatIsGoneEndsAll)
{
	std::string got;

	EXPECT_EQ(results_of_three({4, 2, -EPIPE}, got), (std::vector<long>{4, -EPIPE, -EPIPE}));
	EXPECT_EQ(got, "aaaabb");
}

/* What comes after it fails as well, at once, also when all has been settled. */
TEST(OutputStreamTest, AppendingToABrokenPipeDoesNotWait)
{
	std::array<int, 2> ends;
	Ledger ledger(1, 1);
	const std::vector<std::byte> some(64);

	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
	close(ends[0]);
	Output output(ends[1], 0, true, 0, ledger);

	EXPECT_EQ(output.append(some), EPIPE);
	output.settle();
	EXPECT_EQ(output.append(some), EPIPE);
	EXPECT_EQ(output.error(), EPIPE);
	EXPECT_EQ(output.written(), 0U);
}

TEST(RoundsTest, TheLastOneEndsTheRound)
{
	Rounds rounds(3);
	RoundOrder order;

	EXPECT_EQ(rounds.current(), 0U);
	EXPECT_TRUE(rounds.begin({.stop = true}));
	EXPECT_FALSE(rounds.begin({}));
	EXPECT_EQ(rounds.current(order), 1U);
	EXPECT_TRUE(order.stop);
	for (int i = 0; i < 3; i++)
		rounds.arrive([&](bool last) { EXPECT_EQ(last, i == 2); });
	rounds.wait();
	EXPECT_TRUE(rounds.begin({}));
}

} /* namespace */
} /* namespace perfring::record */
