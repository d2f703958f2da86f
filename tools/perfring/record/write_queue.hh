/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One way of writing that does not wait: a queue of writes in flight. What becomes of
 * short writes and errors is the mover's business; a queue only says how each ended.
 */
#ifndef PERFRING_RECORD_WRITE_QUEUE_HH
#define PERFRING_RECORD_WRITE_QUEUE_HH

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace perfring::record {

class Job;

/* Pieces of one contiguous range of the file. Stays where it is while in flight. */
struct Write {
	static constexpr std::size_t most_parts = 4; /* AUXTRACE, data, wrapped data, padding */

	std::array<iovec, most_parts> parts{};
	unsigned count = 0;
	int fd = -1;
	off_t offset = 0;
	int buffer = -1;    /* the registered buffer that all of it lies in, or -1 */
	long result = 0;    /* bytes written, or -errno: set by the queue */
	Job *job = nullptr; /* whom it belongs to: the mover's */

	std::size_t left() const
	{
		std::size_t sum = 0;

		for (unsigned i = 0; i < count; i++)
			sum += parts[i].iov_len;
		return sum;
	}

	/* Drops what is written. */
	void advance(std::size_t bytes);
	/* What is left, in one piece. */
	std::vector<std::byte> copy() const;
};

/* Used by one thread. */
class WriteQueue {
    public:
	virtual ~WriteQueue() = default;

	/* Takes the write, or returns false when it has no room: reap, then try again. */
	virtual bool submit(Write &write) = 0;

	/* Appends writes that ended. Does not wait. */
	virtual void reap(std::vector<Write *> &ended) = 0;

	/* Waits until one ended, at most so long. Returns at once if none is in flight. */
	virtual void wait(std::chrono::milliseconds most) = 0;

	/* Readable when a write has ended; -1 if this queue has to be waited for. */
	virtual int poll_fd() const
	{
		return -1;
	}

	/*
	 * Memory that many writes will come from. Returns the number for Write::buffer,
	 * -1 where that is of no use or not possible.
	 */
	virtual int register_buffer(std::span<std::byte>)
	{
		return -1;
	}

	virtual const char *name() const = 0;
};

/* depth: most writes in flight, 1 to 4096. Each throws std::system_error. */
std::unique_ptr<WriteQueue> make_uring_queue(unsigned depth);
std::unique_ptr<WriteQueue> make_aio_queue(unsigned depth);

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_WRITE_QUEUE_HH */
