// SPDX-License-Identifier: GPL-2.0
/* Who reads which ring, on machines of all kinds. */
#include "record/threads.hh"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace perfring::record {
namespace {

class ThreadsTest : public testing::Test {
    protected:
	ThreadsTest()
	{
		char name[] = "/tmp/perfring-threads-XXXXXX";

		root = mkdtemp(name);
	}
	~ThreadsTest() override
	{
		std::filesystem::remove_all(root);
	}
	void write(const std::string &path, const std::string &text)
	{
		const std::string full = root + "/sys/devices/system/node/" + path;

		std::filesystem::create_directories(std::filesystem::path(full).parent_path());
		std::ofstream(full) << text << "\n";
	}
	void two_nodes()
	{
		write("online", "0,2-3");
		write("node0/cpulist", "0-1,4");
		write("node2/cpulist", ""); /* memory alone */
		write("node3/cpulist", "2-3");
	}
	/* As text: rings, and behind the colon CPUs, of one thread after the other. */
	std::string deal(const std::vector<int> &cpus, Threads threads)
	{
		std::string text;

		for (const RecordingThread &thread : deal_rings(cpus, threads, 2, root)) {
			text += text.empty() ? "" : " ";
			for (const std::size_t ring : thread.rings)
				text += std::to_string(ring);
			text += ":";
			for (const unsigned cpu : thread.cpus)
				text += std::to_string(cpu);
		}
		return text;
	}

	std::string root;
};

TEST_F(ThreadsTest, OneOnEachCpu)
{
	EXPECT_EQ(deal({0, 1, 3}, Threads::cpu), "0:0 1:1 2:3");
	EXPECT_EQ(deal({1, 0, 1}, Threads::cpu), "1:0 02:1");
}

TEST_F(ThreadsTest, RingsWithoutACpuAreDealtOut)
{
	EXPECT_EQ(deal({-1, -1, -1}, Threads::cpu), "02: 1:");
	EXPECT_EQ(deal({-1, 5, -1}, Threads::cpu), "1:5 0: 2:");
}

TEST_F(ThreadsTest, OneForEachNode)
{
	two_nodes();
	EXPECT_EQ(deal({0, 1, 2, 3, 4}, Threads::node), "014:014 23:23");
	EXPECT_EQ(deal({3}, Threads::node), "0:23");
	EXPECT_EQ(deal({-1, -1, -1, 2}, Threads::node), "3:23 02: 1:");
}

TEST_F(ThreadsTest, WhatNoNodeHasIsReadAllTheSame)
{
	EXPECT_EQ(deal({0, 7, -1}, Threads::node), "01: 2:") << "no nodes at all";
	two_nodes();
	EXPECT_EQ(deal({0, 7}, Threads::node), "0:014 1:") << "a CPU that has come later";
}

TEST_F(ThreadsTest, OneInAll)
{
	two_nodes();
	EXPECT_EQ(deal({0, -1, 3}, Threads::one), "012:");
	EXPECT_EQ(deal({}, Threads::one), "");
}

} // namespace
} /* namespace perfring::record */
