// SPDX-License-Identifier: GPL-2.0
#include "block_pool.hh"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

namespace perfring::record {

void Block::send(Mover &mover, std::shared_ptr<Output> to, Content what)
{
	output = std::move(to);
	content = std::move(what);
	offset = output->place(used);
	write.parts[0] = {memory.data(), used};
	write.count = 1;
	write.fd = output->fd();
	write.offset = static_cast<off_t>(offset);
	write.buffer = buffer;
	mover.send(*this);
}

void Block::ended(int error)
{
	output->ended(offset, used, std::move(content), error, &write);
	output.reset();
	content = {};
	pool.put(*this);
}

MemoryBudget::MemoryBudget(std::size_t bytes)
	: chunks_left(bytes / (BlockPool::block_size * BlockPool::blocks_in_chunk))
{
}

bool MemoryBudget::take()
{
	std::size_t left = chunks_left.load(std::memory_order_relaxed);

	while (left &&
	       !chunks_left.compare_exchange_weak(left, left - 1, std::memory_order_relaxed))
		;
	return left;
}

BlockPool::BlockPool(std::shared_ptr<MemoryBudget> shared, WriteQueue &write_queue)
	: budget(std::move(shared)),
	  queue(write_queue)
{
}

BlockPool::~BlockPool()
{
	for (const auto &chunk : chunks)
		munmap(chunk.data(), chunk.size());
}

/* Touched at once, in large pages if there are any: faults would be in the recording. */
bool BlockPool::grow()
{
	constexpr std::size_t size = block_size * blocks_in_chunk;

	if (!budget->take() && !chunks.empty())
		return false;
	void *memory =
		mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	madvise(memory, size, MADV_HUGEPAGE);
	madvise(memory, size, MADV_POPULATE_WRITE);

	const std::span<std::byte> chunk(static_cast<std::byte *>(memory), size);
	const int registered = queue.register_buffer(chunk);

	chunks.push_back(chunk);
	for (std::size_t i = blocks_in_chunk; i--;) {
		blocks.push_back(std::make_unique<Block>(
			*this, chunk.subspan(i * block_size, block_size), registered));
		free.push_back(blocks.back().get());
	}
	return true;
}

Block *BlockPool::take()
{
	if (free.empty() && !grow())
		return nullptr;
	Block *block = free.back();

	free.pop_back();
	block->used = 0;
	return block;
}

void BlockPool::put(Block &block)
{
	free.push_back(&block);
}

} /* namespace perfring::record */
