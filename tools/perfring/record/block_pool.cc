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

BlockPool::BlockPool(std::size_t memory, WriteQueue &write_queue)
	: queue(write_queue),
	  chunks_left(std::max<std::size_t>(1, memory / (block_size * blocks_in_chunk)))
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

	if (!chunks_left)
		return false;
	void *memory =
		mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		chunks_left = 0;
		return false;
	}
	chunks_left--;
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
