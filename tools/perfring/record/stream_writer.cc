// SPDX-License-Identifier: GPL-2.0
#include "stream_writer.hh"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace perfring::record {
namespace {

class FdStream final : public Stream {
    public:
	explicit FdStream(int to) : fd(to)
	{
	}

	ssize_t write(const iovec *parts, int count) override
	{
		const ssize_t done = writev(fd, parts, count);

		/* A pipe that its other owner made non-blocking: wait for room. */
		if (done < 0 && errno == EAGAIN) {
			pollfd room{fd, POLLOUT, 0};

			::poll(&room, 1, -1);
			errno = EINTR;
		}
		return done;
	}

    private:
	int fd;
};

} /* namespace */

class StreamQueue final : public WriteQueue {
    public:
	explicit StreamQueue(StreamWriter &to)
		: writer(to),
		  event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
	{
		if (event < 0)
			throw std::system_error(errno, std::generic_category(), "eventfd");
	}

	~StreamQueue() override
	{
		close(event);
	}

	StreamQueue(const StreamQueue &) = delete;
	StreamQueue &operator=(const StreamQueue &) = delete;

	bool submit(Write &write) override
	{
		{
			const std::scoped_lock guard(writer.lock);
			writer.pending.emplace(static_cast<std::uint64_t>(write.offset),
					       StreamWriter::Pending{&write, this});
		}
		writer.more.notify();
		return true;
	}

	void reap(std::vector<Write *> &ended) override
	{
		const std::scoped_lock guard(writer.lock);
		std::uint64_t count;

		if (done.empty())
			return;
		[[maybe_unused]] const ssize_t got = read(event, &count, sizeof(count));
		ended.insert(ended.end(), done.begin(), done.end());
		done.clear();
	}

	void wait(std::chrono::milliseconds most) override
	{
		pollfd ready{event, POLLIN, 0};

		::poll(&ready, 1, static_cast<int>(most.count()));
	}

	int poll_fd() const override
	{
		return event;
	}

	const char *name() const override
	{
		return "stream";
	}

	/* By the writer, with its lock. */
	void ended(Write &write)
	{
		const std::uint64_t one = 1;

		done.push_back(&write);
		[[maybe_unused]] const ssize_t told = ::write(event, &one, sizeof(one));
	}

    private:
	StreamWriter &writer;
	int event;
	std::vector<Write *> done;
};

std::unique_ptr<Stream> make_fd_stream(int fd)
{
	return std::make_unique<FdStream>(fd);
}

StreamWriter::StreamWriter(std::unique_ptr<Stream> to, std::uint64_t start)
	: stream(std::move(to)),
	  next(start),
	  thread([this] { loop(); })
{
}

StreamWriter::~StreamWriter()
{
	{
		const std::scoped_lock guard(lock);
		stopping = true;
	}
	more.notify();
	thread.join();
}

std::unique_ptr<WriteQueue> StreamWriter::queue()
{
	return std::make_unique<StreamQueue>(*this);
}

/* The rest of a record cannot come later, so a short write is finished here. */
long StreamWriter::write_all(Write &write)
{
	Write rest = write;
	long sum = 0;

	while (rest.count) {
		const ssize_t done = stream->write(rest.parts.data(), static_cast<int>(rest.count));

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		rest.advance(static_cast<std::size_t>(done));
		sum += done;
	}
	return sum;
}

void StreamWriter::loop()
{
	std::unique_lock guard(lock);

	for (;;) {
		more.wait(guard, [&] {
			return stopping || (!pending.empty() && pending.begin()->first == next);
		});
		if (pending.empty() || pending.begin()->first != next)
			return;
		const Pending first = pending.begin()->second;
		const std::uint64_t bytes = first.write->left();

		pending.erase(pending.begin());
		if (!broken) {
			guard.unlock();
			const long result = write_all(*first.write);

			guard.lock();
			broken = result < 0 ? static_cast<int>(-result) : 0;
		}
		first.write->result = broken ? -broken : static_cast<long>(bytes);
		next += bytes;
		first.from->ended(*first.write);
	}
}

} /* namespace perfring::record */
