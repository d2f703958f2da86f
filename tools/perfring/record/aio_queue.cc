// SPDX-License-Identifier: GPL-2.0
/*
 * Writes by POSIX AIO: a fixed number of control blocks, each with one write in flight.
 * aio_write() takes one piece of memory, so a write of several parts goes piece by
 * piece: a part that has ended counts as a short write, and the mover sends the rest.
 */
#include "write_queue.hh"

#include <aio.h>

#include <algorithm>
#include <cerrno>

namespace perfring::record {
namespace {

class AioQueue final : public WriteQueue {
    public:
	explicit AioQueue(unsigned depth) : slots(depth)
	{
	}

	/* The memory that is being written belongs to others, who may free it after this. */
	~AioQueue() override
	{
		std::vector<Write *> ended;

		while (flying()) {
			wait(std::chrono::milliseconds(1000));
			reap(ended);
		}
	}

	AioQueue(const AioQueue &) = delete;
	AioQueue &operator=(const AioQueue &) = delete;

	bool submit(Write &write) override
	{
		for (auto &slot : slots) {
			if (slot.write)
				continue;
			slot.block = {};
			slot.block.aio_fildes = write.fd;
			slot.block.aio_buf = write.parts[0].iov_base;
			slot.block.aio_nbytes = write.parts[0].iov_len;
			slot.block.aio_offset = write.offset;
			slot.block.aio_sigevent.sigev_notify = SIGEV_NONE;
			if (aio_write(&slot.block)) {
				/* Too many for the system: as if the queue were full. */
				if (errno == EAGAIN && flying())
					return false;
				slot.refused = -errno;
			}
			slot.write = &write;
			return true;
		}
		return false;
	}

	void reap(std::vector<Write *> &ended) override
	{
		for (auto &slot : slots) {
			if (!slot.write)
				continue;
			if (slot.refused) {
				slot.write->result = slot.refused;
			} else {
				const int error = aio_error(&slot.block);

				if (error == EINPROGRESS)
					continue;
				const ssize_t done = aio_return(&slot.block);

				slot.write->result = error ? -error : done;
			}
			ended.push_back(slot.write);
			slot.write = nullptr;
			slot.refused = 0;
		}
	}

	void wait(std::chrono::milliseconds most) override
	{
		std::vector<const aiocb *> list;
		const timespec time{most.count() / 1000, most.count() % 1000 * 1000000};

		for (const auto &slot : slots) {
			if (slot.refused)
				return;
			if (slot.write)
				list.push_back(&slot.block);
		}
		if (!list.empty())
			aio_suspend(list.data(), static_cast<int>(list.size()), &time);
	}

	const char *name() const override
	{
		return "POSIX AIO";
	}

    private:
	struct Slot {
		aiocb block{};
		Write *write = nullptr;
		int refused = 0;
	};

	bool flying() const
	{
		for (const auto &slot : slots)
			if (slot.write && !slot.refused)
				return true;
		return false;
	}

	std::vector<Slot> slots;
};

} /* namespace */

std::unique_ptr<WriteQueue> make_aio_queue(unsigned depth)
{
	return std::make_unique<AioQueue>(std::clamp(depth, 1U, 4096U));
}

} /* namespace perfring::record */
