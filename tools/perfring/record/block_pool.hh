/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory that bytes wait in for the disk: blocks, made when they are needed, up to
 * a bound, and never given back before the end. The one used last is used next, while
 * it is still in the cache.
 */
#ifndef PERFRING_RECORD_BLOCK_POOL_HH
#define PERFRING_RECORD_BLOCK_POOL_HH

#include "mover.hh"
#include "output.hh"

#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace perfring::record {

class BlockPool;

/* Whole records on their way to the file. */
class Block final : public Job {
    public:
	Block(BlockPool &owner, std::span<std::byte> block_memory, int registered)
		: pool(owner),
		  memory(block_memory),
		  buffer(registered)
	{
	}

	std::span<std::byte> room() const
	{
		return memory.subspan(used);
	}
	std::span<std::byte> bytes() const
	{
		return memory.first(used);
	}

	/* Takes a place and goes. Comes back to its pool when it has ended. */
	void send(Mover &mover, std::shared_ptr<Output> to, Content what);

	void ended(int error) override;

	std::size_t used = 0;

    private:
	BlockPool &pool;
	std::span<std::byte> memory;
	int buffer;
	std::shared_ptr<Output> output;
	std::uint64_t offset = 0;
	Content content;
};

/* What the pools of all threads have together, chunk by chunk: who needs one first has it. */
class MemoryBudget {
    public:
	explicit MemoryBudget(std::size_t bytes);

	/* One more chunk. False: there is none left. Any thread. */
	bool take();

    private:
	std::atomic<std::size_t> chunks_left;
};

/* Used by one thread. */
class BlockPool {
    public:
	static constexpr std::size_t block_size = 512 * 1024;
	static constexpr std::size_t blocks_in_chunk = 8;

	/* The first chunk is the pool's in any case, whatever is left. */
	BlockPool(std::shared_ptr<MemoryBudget> budget, WriteQueue &queue);
	~BlockPool(); /* all blocks must be back */

	BlockPool(const BlockPool &) = delete;
	BlockPool &operator=(const BlockPool &) = delete;

	/* nullptr: all are in flight. */
	Block *take();
	void put(Block &block);

    private:
	bool grow();

	std::shared_ptr<MemoryBudget> budget;
	WriteQueue &queue;
	std::vector<std::span<std::byte>> chunks;
	std::vector<std::unique_ptr<Block>> blocks;
	std::vector<Block *> free;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_BLOCK_POOL_HH */
