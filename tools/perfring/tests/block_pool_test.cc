// SPDX-License-Identifier: GPL-2.0
/* Memory that threads share: who needs it has it, up to a bound, and nobody has none. */
#include "record/block_pool.hh"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace perfring::record {
namespace {

constexpr std::size_t chunk = BlockPool::block_size * BlockPool::blocks_in_chunk;

std::size_t blocks_of(BlockPool &pool)
{
	std::vector<Block *> taken;

	while (Block *block = pool.take())
		taken.push_back(block);
	for (Block *block : taken)
		pool.put(*block);
	return taken.size();
}

TEST(BlockPool, TakesAllThatIsLeft)
{
	const auto queue = make_aio_queue(1);
	const auto budget = std::make_shared<MemoryBudget>(4 * chunk + chunk / 2);
	BlockPool quiet(budget, *queue), busy(budget, *queue);
	Block *const one = quiet.take();

	ASSERT_NE(one, nullptr);
	EXPECT_EQ(blocks_of(busy), 3 * BlockPool::blocks_in_chunk);
	EXPECT_EQ(blocks_of(busy), 3 * BlockPool::blocks_in_chunk) << "what it has, it keeps";
	quiet.put(*one);
	EXPECT_EQ(blocks_of(quiet), BlockPool::blocks_in_chunk);
}

TEST(BlockPool, HasOneChunkWhateverIsLeft)
{
	const auto queue = make_aio_queue(1);
	const auto budget = std::make_shared<MemoryBudget>(0);
	BlockPool first(budget, *queue), second(budget, *queue);

	EXPECT_EQ(blocks_of(first), BlockPool::blocks_in_chunk);
	EXPECT_EQ(blocks_of(second), BlockPool::blocks_in_chunk);
}

TEST(MemoryBudget, IsNeverOverdrawn)
{
	constexpr std::size_t all = 1000;
	MemoryBudget budget(all * chunk);
	std::atomic<std::size_t> taken{0};
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back([&] {
			while (budget.take())
				taken++;
		});
	for (std::thread &thread : threads)
		thread.join();
	EXPECT_EQ(taken, all);
	EXPECT_FALSE(budget.take());
}

} // namespace
} /* namespace perfring::record */
