// SPDX-License-Identifier: GPL-2.0
/*
 * Writes by io_uring: the file is registered, and so is the memory that the blocks
 * lie in, as far as the kernel allows it. AUX pages are written from where they are;
 * they cannot be registered, being no ordinary memory.
 */
#include "write_queue.hh"

#include <liburing.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace perfring::record {
namespace {

constexpr unsigned most_buffers = 256;

class UringQueue final : public WriteQueue {
    public:
	explicit UringQueue(unsigned depth) : most(depth)
	{
		const int error = io_uring_queue_init(depth, &ring, 0);
		int no_file = -1;

		if (error < 0)
			throw std::system_error(-error, std::generic_category(), "io_uring_setup");
		/* Both are worth little enough to go without them. */
		fixed_files = io_uring_register_files(&ring, &no_file, 1) == 0;
		sparse_buffers = io_uring_register_buffers_sparse(&ring, most_buffers) == 0;
	}

	~UringQueue() override
	{
		io_uring_queue_exit(&ring);
	}

	UringQueue(const UringQueue &) = delete;
	UringQueue &operator=(const UringQueue &) = delete;

	bool submit(Write &write) override
	{
		io_uring_sqe *sqe = flying < most ? io_uring_get_sqe(&ring) : nullptr;
		int error;

		if (!sqe)
			return false;
		prepare(*sqe, write);
		io_uring_sqe_set_data(sqe, &write);
		do {
			error = io_uring_submit(&ring);
		} while (error == -EINTR);
		/* The entry stays in the queue and goes with the next one, or with wait(). */
		unsubmitted = error < 0;
		flying++;
		return true;
	}

	void reap(std::vector<Write *> &ended) override
	{
		io_uring_cqe *cqe;

		if (unsubmitted)
			unsubmitted = io_uring_submit(&ring) < 0;
		while (io_uring_peek_cqe(&ring, &cqe) == 0) {
			auto *write = static_cast<Write *>(io_uring_cqe_get_data(cqe));

			write->result = cqe->res;
			io_uring_cqe_seen(&ring, cqe);
			flying--;
			ended.push_back(write);
		}
	}

	void wait(std::chrono::milliseconds most_time) override
	{
		io_uring_cqe *cqe;
		__kernel_timespec time{most_time.count() / 1000,
				       most_time.count() % 1000 * 1000000};

		if (flying)
			io_uring_wait_cqe_timeout(&ring, &cqe, &time);
	}

	int poll_fd() const override
	{
		return ring.ring_fd;
	}

	int register_buffer(std::span<std::byte> memory) override
	{
		const iovec piece{memory.data(), memory.size()};
		const __u64 tag = 0;

		if (!sparse_buffers || buffers == most_buffers ||
		    io_uring_register_buffers_update_tag(&ring, buffers, &piece, &tag, 1) != 1)
			return -1;
		return static_cast<int>(buffers++);
	}

	const char *name() const override
	{
		return "io_uring";
	}

    private:
	void prepare(io_uring_sqe &sqe, Write &write)
	{
		const bool fixed_file = is_registered(write.fd);
		const int fd = fixed_file ? 0 : write.fd;
		const auto offset = static_cast<__u64>(write.offset);

		if (write.buffer >= 0 && write.count == 1)
			io_uring_prep_write_fixed(&sqe, fd, write.parts[0].iov_base,
						  static_cast<unsigned>(write.parts[0].iov_len),
						  offset, write.buffer);
		else
			io_uring_prep_writev(&sqe, fd, write.parts.data(), write.count, offset);
		if (fixed_file)
			sqe.flags |= IOSQE_FIXED_FILE;
	}

	/*
	 * Makes fd the registered file. An entry that the kernel has not seen yet would go
	 * to the new one, so there must be none.
	 */
	bool is_registered(int fd)
	{
		if (!fixed_files)
			return false;
		if (fd == registered)
			return true;
		if (unsubmitted || io_uring_register_files_update(&ring, 0, &fd, 1) != 1)
			return false;
		registered = fd;
		return true;
	}

	io_uring ring{};
	unsigned most;
	unsigned flying = 0;
	unsigned buffers = 0;
	int registered = -1;
	bool fixed_files = false;
	bool sparse_buffers = false;
	bool unsubmitted = false;
};

} /* namespace */

std::unique_ptr<WriteQueue> make_uring_queue(unsigned depth)
{
	return std::make_unique<UringQueue>(std::clamp(depth, 1U, 4096U));
}

} /* namespace perfring::record */
