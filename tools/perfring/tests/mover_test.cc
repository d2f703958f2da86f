// SPDX-License-Identifier: GPL-2.0
/* Everything that can become of a write, injected below the mover. */
#include "record/mover.hh"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <deque>
#include <map>
#include <random>
#include <string>

namespace perfring::record {
namespace {

/* A file in memory whose queue does what the script says. */
struct World {
	std::map<off_t, std::string> pieces; /* as written */
	std::deque<long> script; /* results to come: <0 errno, 0 nothing, n: at most n bytes */
	std::size_t depth = 4;
	std::size_t most_in_flight = 0;
	std::size_t submitted = 0;
	bool stuck = false;

	std::string file() const
	{
		std::string all;

		for (const auto &[offset, bytes] : pieces) {
			const auto at = static_cast<std::size_t>(offset);

			if (all.size() < at + bytes.size())
				all.resize(at + bytes.size(), '?');
			all.replace(at, bytes.size(), bytes);
		}
		return all;
	}
};

class FaultyQueue final : public WriteQueue {
    public:
	explicit FaultyQueue(World &with) : world(with)
	{
	}

	bool submit(Write &write) override
	{
		if (flying.size() == world.depth)
			return false;
		flying.push_back(&write);
		world.submitted++;
		world.most_in_flight = std::max(world.most_in_flight, flying.size());
		return true;
	}

	void reap(std::vector<Write *> &ended) override
	{
		if (world.stuck)
			return;
		/* The youngest first: nothing may depend on order. */
		for (; !flying.empty(); flying.pop_back()) {
			execute(*flying.back());
			ended.push_back(flying.back());
		}
	}

	void wait(std::chrono::milliseconds) override
	{
	}

	const char *name() const override
	{
		return "faulty";
	}

    private:
	void execute(Write &write)
	{
		long most = LONG_MAX;
		off_t offset = write.offset;

		if (!world.script.empty()) {
			most = world.script.front();
			world.script.pop_front();
		}
		write.result = std::min(most, 0L);
		for (unsigned i = 0; i < write.count && most > 0; i++) {
			const auto n = std::min<std::size_t>(write.parts[i].iov_len,
							     static_cast<std::size_t>(most));

			world.pieces[offset] =
				std::string(static_cast<char *>(write.parts[i].iov_base), n);
			offset += static_cast<off_t>(n);
			most -= static_cast<long>(n);
			write.result += static_cast<long>(n);
		}
	}

	World &world;
	std::vector<Write *> flying;
};

class TestJob final : public Job {
    public:
	TestJob(std::string text, off_t offset) : bytes(std::move(text))
	{
		/* In two parts, as AUX data across the end of their area. */
		const std::size_t half = bytes.size() / 2;

		write.parts[0] = {bytes.data(), half};
		write.parts[1] = {bytes.data() + half, bytes.size() - half};
		write.count = 2;
		write.offset = offset;
	}

	void ended(int with) override
	{
		error = with;
		times++;
	}

	std::string bytes;
	int error = -1;
	int times = 0;
};

class MoverTest : public testing::Test {
    protected:
	World world;
	Mover mover{std::make_unique<FaultyQueue>(world), {}};
};

TEST_F(MoverTest, ShortWritesAreFinished)
{
	TestJob job("abcdefgh", 10);

	world.script = {3, 1, 2};
	mover.send(job);
	mover.finish();
	EXPECT_EQ(job.times, 1);
	EXPECT_EQ(job.error, 0);
	EXPECT_EQ(world.file().substr(10), "abcdefgh");
	EXPECT_EQ(world.submitted, 4U);
}

TEST_F(MoverTest, InterruptedAndRefusedForNowIsTriedAgain)
{
	TestJob job("abcdefgh", 0);

	world.script = {-EINTR, -EAGAIN, 4, -EINTR, -ENOMEM};
	mover.send(job);
	mover.finish();
	EXPECT_EQ(job.times, 1);
	EXPECT_EQ(job.error, 0);
	EXPECT_EQ(world.file(), "abcdefgh");
}

TEST_F(MoverTest, RefusedForEverEndsWithTheError)
{
	TestJob job("abcdefgh", 0);

	world.script.assign(100000, -EAGAIN);
	mover.send(job);
	/* Not by finish(), which takes its time between tries. */
	for (int i = 0; i < 10000 && !mover.idle(); i++)
		mover.poll();
	EXPECT_EQ(job.times, 1);
	EXPECT_EQ(job.error, EAGAIN);
	EXPECT_TRUE(mover.idle());
}

TEST_F(MoverTest, FullDiskAndOtherErrorsAreTold)
{
	for (const int error : {ENOSPC, EIO, EPIPE, EFBIG, EDQUOT}) {
		TestJob job("abcdefgh", 0);

		world.script = {2, -error};
		mover.send(job);
		mover.finish();
		EXPECT_EQ(job.times, 1);
		EXPECT_EQ(job.error, error);
	}
}

TEST_F(MoverTest, NothingWrittenWithoutAReasonIsAnError)
{
	TestJob job("abcdefgh", 0);

	world.script = {0};
	mover.send(job);
	mover.finish();
	EXPECT_EQ(job.error, EIO);
}

TEST_F(MoverTest, AFullQueueHoldsBack)
{
	std::deque<TestJob> jobs;
	std::string wanted;

	for (int i = 0; i < 100; i++) {
		jobs.emplace_back(std::string(7, static_cast<char>('A' + i % 26)), i * 7);
		wanted += jobs.back().bytes;
	}
	for (auto &job : jobs)
		mover.send(job);
	EXPECT_EQ(mover.in_flight(), 4U);
	mover.finish();
	for (const auto &job : jobs) {
		EXPECT_EQ(job.times, 1);
		EXPECT_EQ(job.error, 0);
	}
	EXPECT_EQ(world.most_in_flight, 4U);
	EXPECT_EQ(world.file(), wanted);
}

TEST_F(MoverTest, ASlowDiskIsNoError)
{
	TestJob job("abcdefgh", 0);

	world.stuck = true;
	mover.send(job);
	for (int i = 0; i < 1000; i++)
		mover.poll();
	EXPECT_EQ(job.times, 0);
	EXPECT_EQ(world.submitted, 1U);
	world.stuck = false;
	mover.finish();
	EXPECT_EQ(job.error, 0);
}

TEST(MoverGateTest, HoldsBackWhileTooMuchIsDirty)
{
	World world;
	bool open = false;
	Mover mover(std::make_unique<FaultyQueue>(world), [&] { return open; });
	TestJob job("abcdefgh", 0);

	mover.send(job);
	mover.poll();
	EXPECT_EQ(world.submitted, 0U);
	open = true;
	mover.poll();
	EXPECT_EQ(world.submitted, 1U);
	mover.finish();
	EXPECT_EQ(job.error, 0);
}

TEST(MoverRandomTest, AnyScriptEndsEachJobOnceAndRight)
{
	std::mt19937 random(7);

	for (int round = 0; round < 300; round++) {
		World world;
		std::deque<TestJob> jobs;
		off_t offset = 0;

		world.depth = 1 + random() % 5;
		for (int i = 0; i < 400; i++) {
			const unsigned what = random() % 8;

			world.script.push_back(what == 0   ? -EINTR
					       : what == 1 ? -EAGAIN
					       : what == 2 ? 1 + static_cast<long>(random() % 20)
							   : LONG_MAX);
		}
		{
			Mover mover(std::make_unique<FaultyQueue>(world), {});

			for (int i = 0; i < 50; i++) {
				jobs.emplace_back(std::string(2 + random() % 40,
							      static_cast<char>('a' + i % 26)),
						  offset);
				offset += static_cast<off_t>(jobs.back().bytes.size());
				mover.send(jobs.back());
				if (random() % 3 == 0)
					mover.poll();
			}
			while (!mover.idle())
				mover.poll();
		}
		std::string wanted;

		for (const auto &job : jobs) {
			ASSERT_EQ(job.times, 1);
			ASSERT_EQ(job.error, 0);
			wanted += job.bytes;
		}
		ASSERT_EQ(world.file(), wanted);
	}
}

/* The real queues, on a real file. */
class QueueTest : public testing::TestWithParam<std::string> {
    protected:
	std::unique_ptr<WriteQueue> queue(unsigned depth)
	{
		return GetParam() == "aio" ? make_aio_queue(depth) : make_uring_queue(depth);
	}
};

TEST_P(QueueTest, WritesAFileInAnyOrder)
{
	char path[] = "/tmp/perfring-mover-XXXXXX";
	const int fd = mkstemp(path);
	std::deque<TestJob> jobs;
	std::string wanted, got;

	unlink(path);
	{
		Mover mover(queue(3), {});
		off_t offset = 0;

		for (int i = 0; i < 200; i++) {
			jobs.emplace_back(std::string(static_cast<std::size_t>(2 + i * 37 % 9000),
						      static_cast<char>('a' + i % 26)),
					  offset);
			jobs.back().write.fd = fd;
			offset += static_cast<off_t>(jobs.back().bytes.size());
			wanted += jobs.back().bytes;
			mover.send(jobs.back());
		}
		mover.finish();
	}
	got.resize(wanted.size());
	EXPECT_EQ(pread(fd, got.data(), got.size(), 0), static_cast<ssize_t>(wanted.size()));
	EXPECT_EQ(got, wanted);
	for (const auto &job : jobs) {
		EXPECT_EQ(job.times, 1);
		EXPECT_EQ(job.error, 0);
	}
	close(fd);
}

TEST_P(QueueTest, AFullDeviceIsToldAsSuch)
{
	const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	TestJob job("abcdefgh", 0);
	Mover mover(queue(2), {});

	ASSERT_GE(fd, 0);
	job.write.fd = fd;
	mover.send(job);
	mover.finish();
	EXPECT_EQ(job.error, ENOSPC);
	close(fd);
}

TEST_P(QueueTest, AClosedFileIsAnErrorNotAHang)
{
	TestJob job("abcdefgh", 0);
	Mover mover(queue(2), {});

	job.write.fd = -1;
	mover.send(job);
	mover.finish();
	EXPECT_EQ(job.error, EBADF);
}

INSTANTIATE_TEST_SUITE_P(Queues, QueueTest, testing::Values("aio", "uring"),
			 [](const auto &info) { return info.param; });

} /* namespace */
} /* namespace perfring::record */
