// SPDX-License-Identifier: GPL-2.0
#include "output_file.hh"

#include "text.hh"

#include <fmt/core.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace perfring::record {
namespace {

constexpr std::size_t gather = 256 * 1024;
constexpr std::uint64_t disk_unit = 4096;
constexpr unsigned most_endings = 12;

int open_output(const std::string &path)
{
	struct stat there {};

	if (path == "-")
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	if (stat(path.c_str(), &there) == 0 && S_ISREG(there.st_mode) && there.st_size > 0)
		rename(path.c_str(), (path + ".old").c_str());
	return open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
}

bool is_stream(int fd, const std::string &path)
{
	struct stat there {};

	return path == "-" || fstat(fd, &there) || !S_ISREG(there.st_mode);
}

} /* namespace */

OutputFile::OutputFile(std::string path, const data::Writer &with_writer, std::uint64_t dirty_limit,
		       Ledger &ledger, Recount recount)
	: file_path(std::move(path)),
	  writer(with_writer)
{
	const int fd = open_output(file_path);

	if (fd < 0)
		throw UserError(fmt::format("{}: {}", file_path, error_text(errno)));
	if (file_path == "-" && isatty(fd)) {
		close(fd);
		throw UserError("-o - writes to a terminal: nobody could read that");
	}
	const bool stream = is_stream(fd, file_path);

	out = std::make_shared<Output>(fd, stream ? 0 : writer.data_offset(), stream, dirty_limit,
				       ledger, std::move(recount));
}

int OutputFile::start()
{
	data::Bytes some;
	int error = 0;
	const auto flush = [&] {
		if (!error && !some.empty())
			error = out->append(some);
		some.clear();
	};

	if (out->is_stream()) {
		some = writer.stream_head();
	} else {
		const data::Bytes head = writer.file_head();

		error = write_fully(out->fd(), head, 0);
	}
	writer.start_records([&](std::span<const std::byte> record) {
		some.insert(some.end(), record.begin(), record.end());
		if (some.size() >= gather)
			flush();
	});
	const data::Bytes end = data::finished_init();

	some.insert(some.end(), end.begin(), end.end());
	flush();
	return error;
}

/* The record goes now, the header that ends there when all before it is written. */
void OutputFile::checkpoint()
{
	if (out->is_stream() || out->error())
		return;
	const data::Bytes record = writer.checkpoint();

	if (last_checkpoint && !header_is_current) {
		if (!out->is_good_until(last_checkpoint + record.size()))
			return;
		write_fully(out->fd(),
			    writer.checkpoint_header(last_checkpoint - writer.data_offset()), 0);
		header_is_current = true;
		return;
	}
	last_checkpoint = out->position();
	header_is_current = out->append(record) != 0;
}

int OutputFile::write_losses(const std::vector<LossNote> &losses)
{
	data::Bytes notes;

	for (const auto &loss : losses) {
		const auto &event = writer.session().events[loss.event];
		const auto place =
			std::find_if(event.ids.begin(), event.ids.end(), [&](const auto &id) {
				return std::cmp_equal(id.ring, loss.ring);
			});

		if (place != event.ids.end()) {
			const data::Bytes note =
				data::lost_samples(event, *place, loss.count, loss.time);

			notes.insert(notes.end(), note.begin(), note.end());
		}
	}
	return notes.empty() ? 0 : out->append(notes);
}

/* The features, and then the header. wanted: set to the size of the former. */
int OutputFile::write_tail(const data::Outcome &so_far, std::uint64_t &wanted)
{
	const std::uint64_t end = out->settle();
	data::Outcome outcome = so_far;

	outcome.data_bytes = end - writer.data_offset();
	for (const auto &[offset, size] : out->auxtraces()) {
		outcome.auxtrace_offsets.push_back(offset);
		outcome.auxtrace_sizes.push_back(size);
	}
	const data::Bytes tail = writer.file_tail(outcome);
	const int error = write_fully(out->fd(), tail, static_cast<off_t>(end));

	wanted = tail.size();
	if (error)
		return error;
	file_size = end + tail.size();
	[[maybe_unused]] const int cut = ftruncate(out->fd(), static_cast<off_t>(file_size));
	return write_fully(out->fd(), writer.finished_header(outcome), 0);
}

/* Smaller than what it is put over. */
void OutputFile::write_last_checkpoint()
{
	const data::Bytes record = writer.checkpoint();
	const std::uint64_t end = out->position();

	file_size = end + record.size();
	if (write_fully(out->fd(), record, static_cast<off_t>(end)) == 0)
		write_fully(out->fd(), writer.checkpoint_header(end - writer.data_offset()), 0);
}

/*
 * On a full disk the youngest records make room for the features, more each time, since
 * nobody knows how the disk counts; if even that is in vain, a checkpoint has to do.
 */
int OutputFile::finish(const data::Outcome &outcome,
		       const std::function<std::vector<LossNote>()> &losses,
		       std::span<const std::byte> behind)
{
	int worst = out->error();

	out->settle();
	if (out->is_stream()) {
		write_losses(losses());
		file_size = out->written();
		return worst;
	}
	for (unsigned tries = 0;; tries++) {
		const std::uint64_t end = out->position();
		std::uint64_t wanted = 0;
		int error = write_losses(losses());

		if (const int at_tail = write_tail(outcome, wanted))
			error = at_tail;
		if (!error)
			break;
		if (!worst)
			worst = error;
		if (tries == most_endings ||
		    out->give_up(out->position() - end + wanted + (disk_unit << tries)) >= end) {
			write_last_checkpoint();
			return worst;
		}
	}
	/* Nobody misses it but us. */
	if (!behind.empty() && write_fully(out->fd(), behind, static_cast<off_t>(file_size)) == 0)
		file_size += behind.size();
	return worst;
}

} /* namespace perfring::record */
