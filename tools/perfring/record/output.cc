// SPDX-License-Identifier: GPL-2.0
#include "output.hh"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace perfring::record {
namespace {

/* Segments are remembered so far back, to be given up when the disk is full. */
constexpr std::uint64_t remembered = 256ULL << 20;
constexpr std::uint64_t flush_unit = 8ULL << 20;
/* So much of what could not be written is kept for another try. */
constexpr std::size_t most_rest = 16 << 20;

} /* namespace */

int write_fully(int fd, std::span<const std::byte> bytes, off_t offset)
{
	while (!bytes.empty()) {
		const ssize_t done = pwrite(fd, bytes.data(), bytes.size(), offset);

		if (done < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (done <= 0)
			return done < 0 ? errno : EIO;
		bytes = bytes.subspan(static_cast<std::size_t>(done));
		offset += done;
	}
	return 0;
}

Output::Output(int fd, std::uint64_t start, bool is_stream, std::uint64_t limit, Ledger &books,
	       Recount with)
	: file(fd),
	  stream(is_stream),
	  dirty_limit(is_stream ? 0 : limit),
	  ledger(books),
	  next(start),
	  recount(std::move(with)),
	  flushed(start)
{
	if (stream) {
		writer = std::make_unique<StreamWriter>(make_fd_stream(fd), start);
		own_queue = writer->queue();
	}
	if (dirty_limit)
		flusher = std::thread([this] { flush_loop(); });
}

Output::~Output()
{
	if (flusher.joinable()) {
		{
			const std::scoped_lock guard(lock);
			stopping = true;
		}
		more.notify();
		flusher.join();
	}
	own_queue.reset();
	writer.reset();
	close(file);
}

std::uint64_t Output::place(std::uint64_t bytes)
{
	const std::scoped_lock guard(lock);
	const std::uint64_t offset = next;

	next += bytes;
	open_places.insert(offset);
	tell_watcher();
	return offset;
}

void Output::watch_position(std::uint64_t beyond, int eventfd)
{
	const std::scoped_lock guard(lock);

	watched_position = beyond;
	watcher = eventfd;
	tell_watcher();
}

/* With the lock. */
void Output::tell_watcher()
{
	const std::uint64_t one = 1;

	if (next <= watched_position)
		return;
	watched_position = UINT64_MAX;
	[[maybe_unused]] const ssize_t told = write(watcher, &one, sizeof(one));
}

bool Output::is_good_until(std::uint64_t position) const
{
	const std::scoped_lock guard(lock);

	return whole_until() >= position && failed_at >= position;
}

std::uint64_t Output::position() const
{
	const std::scoped_lock guard(lock);

	return next;
}

std::uint64_t Output::whole_until() const
{
	return open_places.empty() ? next : *open_places.begin();
}

void Output::ended(std::uint64_t offset, std::uint64_t bytes, Content content, int error,
		   const Write *rest)
{
	bool wake = false;
	{
		const std::scoped_lock guard(lock);

		open_places.erase(offset);
		less.notify();
		if (error) {
			Failure failure{bytes, std::move(content), offset, {}};

			if (rest && !stream && rest_bytes + rest->left() <= most_rest) {
				failure.rest_offset = static_cast<std::uint64_t>(rest->offset);
				failure.rest = rest->copy();
			}
			fail(offset, std::move(failure), error);
			return;
		}
		keep(offset, bytes, std::move(content));
		const std::uint64_t whole = whole_until();

		while (!segments.empty() && segments.begin()->first + remembered < whole &&
		       segments.begin()->first + remembered < failed_at)
			segments.erase(segments.begin());
		if (dirty_limit) {
			dirty = next - flushed;
			wake = whole - flushed > std::max(flush_unit, dirty_limit / 4);
		}
	}
	if (wake)
		more.notify();
}

int Output::append(std::span<const std::byte> bytes)
{
	const std::uint64_t offset = place(bytes.size());
	int error;

	if (stream) {
		std::vector<Write *> done;
		Write write;

		/* A write does not change what it is given. */
		write.parts[0] = {const_cast<std::byte *>(bytes.data()), bytes.size()};
		write.count = 1;
		write.offset = static_cast<off_t>(offset);
		own_queue->submit(write);
		while (done.empty()) {
			own_queue->wait(std::chrono::seconds(1));
			own_queue->reap(done);
		}
		error = write.result < 0 ? static_cast<int>(-write.result) : 0;
	} else {
		error = write_fully(file, bytes, static_cast<off_t>(offset));
	}
	ended(offset, bytes.size(), {}, error);
	return error;
}

void Output::wait_whole()
{
	std::unique_lock guard(lock);
	const std::uint64_t until = next;

	less.wait(guard, [&] { return whole_until() >= until; });
}

/*
 * Starts the disk on what is written, and waits for it when there is too much: a
 * range is handed over as soon as it is whole, and is waited for when the next ones
 * would be more than the bound allows.
 */
void Output::flush_loop()
{
	std::unique_lock guard(lock);
	std::uint64_t started = flushed;

	for (;;) {
		more.wait(guard, [&] {
			return stopping ||
			       whole_until() - flushed > std::max(flush_unit, dirty_limit / 4);
		});
		if (stopping)
			return;
		const std::uint64_t whole = whole_until();
		const std::uint64_t from = started;
		const std::uint64_t oldest = flushed;

		guard.unlock();
		sync_file_range(file, static_cast<off64_t>(from),
				static_cast<off64_t>(whole - from), SYNC_FILE_RANGE_WRITE);
		/* All that was handed over before this time round. */
		sync_file_range(file, static_cast<off64_t>(oldest),
				static_cast<off64_t>(from - oldest),
				SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
					SYNC_FILE_RANGE_WAIT_AFTER);
		guard.lock();
		started = whole;
		flushed = from;
		dirty = next - flushed;
	}
}

std::map<std::uint64_t, std::uint64_t> Output::auxtraces() const
{
	const std::scoped_lock guard(lock);

	return aux_records;
}

} /* namespace perfring::record */
