// SPDX-License-Identifier: GPL-2.0
/*
 * AUX areas. Their data goes to the file from where it is, as long as that is quick:
 * nothing is copied then. When more than half of the area is taken, or the writes
 * before have not ended, it is copied, and the area is free again at once.
 */
#include "worker_aux.hh"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace perfring::record {
namespace {

std::array<std::byte, 8> zeros{};

std::size_t padding(std::size_t bytes)
{
	return (8 - bytes % 8) % 8;
}

data::Bytes auxtrace_record(const RingMap &map, std::uint64_t offset, std::size_t bytes)
{
	return data::auxtrace({.size = bytes + padding(bytes),
			       .offset = offset,
			       .reference = monotonic_time(),
			       .idx = static_cast<std::uint32_t>(map.index),
			       .tid = map.tid,
			       .cpu = map.cpu});
}

} /* namespace */

void Worker::AuxWrite::send(Mover &mover, std::shared_ptr<Output> to, Ring &from, std::size_t bytes)
{
	const RingMap &map = from.map;
	const std::uint64_t at = from.aux->take(bytes);
	const std::size_t start = at & (map.aux_size - 1);
	const std::size_t first = std::min(bytes, map.aux_size - start);

	ring = &from;
	output = std::move(to);
	end = at + bytes;
	record = auxtrace_record(map, at, bytes);
	write = {};
	write.parts[write.count++] = {record.data(), record.size()};
	write.parts[write.count++] = {map.aux + start, first};
	if (bytes > first)
		write.parts[write.count++] = {map.aux, bytes - first};
	if (padding(bytes))
		write.parts[write.count++] = {zeros.data(), padding(bytes)};
	size = write.left();
	place = output->place(size);
	write.fd = output->fd();
	write.offset = static_cast<off_t>(place);
	mover.send(*this);
}

void Worker::AuxWrite::ended(int error)
{
	Content content;

	content.ring = ring->map.index;
	content.aux_record = record.size();
	content.aux_bytes = size - record.size();
	/* What failed is copied, and only then free to be written over. */
	output->ended(place, size, std::move(content), error, &write);
	output.reset();
	ring->aux->safe_until(end);
	ring = nullptr;
}

void Worker::write_aux_in_place(Ring &ring, std::size_t bytes)
{
	const auto spare = std::find_if(aux_writes.begin(), aux_writes.end(),
					[](const auto &write) { return write->is_free(); });
	AuxWrite &job = spare == aux_writes.end()
				? *aux_writes.emplace_back(std::make_unique<AuxWrite>())
				: **spare;

	job.send(*mover, output, ring, bytes);
}

/* Through blocks of its own. False: no memory; some may be done. */
bool Worker::copy_aux(Ring &ring, std::size_t bytes)
{
	while (bytes) {
		Block *to = pool->take();

		if (!to)
			return false;
		const std::size_t part = std::min(bytes, to->room().size() - 128);
		const std::uint64_t at = ring.aux->take(part);
		const data::Bytes record = auxtrace_record(ring.map, at, part);
		std::byte *memory = to->room().data();
		Content content;

		std::memcpy(memory, record.data(), record.size());
		copy_from_ring(memory + record.size(), ring.map.aux, ring.map.aux_size, at, part);
		std::memset(memory + record.size() + part, 0, padding(part));
		ring.aux->safe_until(at + part);
		to->used = record.size() + part + padding(part);
		content.ring = ring.map.index;
		content.aux_record = record.size();
		content.aux_bytes = part + padding(part);
		to->send(*mover, output, std::move(content));
		bytes -= part;
	}
	return true;
}

bool Worker::drain_aux(Ring &ring)
{
	if (!ring.aux)
		return true;
	const std::size_t bytes = ring.aux->ready();
	const bool in_place = mover->queue().poll_fd() >= 0 && !ring.aux->held();

	if (!bytes)
		return true;
	if (in_place && bytes <= ring.map.aux_size / 2) {
		write_aux_in_place(ring, bytes);
		return true;
	}
	if (copy_aux(ring, bytes))
		return true;
	/* Better held than not on its way at all. */
	if (in_place && !ring.aux->held() && ring.aux->ready())
		write_aux_in_place(ring, ring.aux->ready());
	return ring.aux->ready() == 0;
}

/*
 * An event whose AUX area is full is stopped by the kernel, and stays so until it is
 * enabled again, which is of use once there is room.
 */
void Worker::go_on(Ring &ring)
{
	const std::uint64_t truncated = ring.tally.truncated_total();

	if (!ring.aux || ring.map.aux_off || truncated == ring.truncated_seen ||
	    ring.aux->held() + ring.aux->ready() > ring.map.aux_size / 2)
		return;
	ring.truncated_seen = truncated;
	rounds.if_enabled([&] {
		for (const int fd : ring.map.aux_fds)
			ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	});
}

/* A copy of a whole AUX area, or of the part of it that was written. */
class Worker::SnapshotWrite final : public Job {
    public:
	SnapshotWrite(data::Bytes record, std::size_t bytes, std::size_t ring_index)
		: memory(std::move(record)),
		  record_size(memory.size()),
		  ring(ring_index)
	{
		memory.reserve(record_size + bytes + 8);
	}

	void append(const std::byte *from, std::size_t bytes)
	{
		memory.insert(memory.end(), from, from + bytes);
	}

	void send(Mover &mover, std::shared_ptr<Output> to)
	{
		memory.resize(memory.size() + padding(memory.size()));
		output = std::move(to);
		place = output->place(memory.size());
		write.parts[0] = {memory.data(), memory.size()};
		write.count = 1;
		write.fd = output->fd();
		write.offset = static_cast<off_t>(place);
		mover.send(*this);
	}

	void ended(int error) override
	{
		Content content;

		content.ring = ring;
		content.aux_record = record_size;
		content.aux_bytes = memory.size() - record_size;
		output->ended(place, memory.size(), std::move(content), error, &write);
		delete this;
	}

    private:
	data::Bytes memory;
	std::size_t record_size;
	std::size_t ring;
	std::shared_ptr<Output> output;
	std::uint64_t place = 0;
};

/*
 * The AUX area of an event that overwrites. aux_head is the position in the area; what
 * lies behind it is older, or was never written, as long as there are only zeros.
 */
void Worker::snapshot(Ring &ring, bool enable_again)
{
	const RingMap &map = ring.map;

	if (!map.aux || !map.aux_snapshot)
		return;
	/* Stopping it brings what the hardware still holds. */
	for (const int fd : map.aux_fds)
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);

	const std::uint64_t head = __atomic_load_n(&map.page->aux_head, __ATOMIC_ACQUIRE); /* C */
	const std::size_t at = head & (map.aux_size - 1);

	ring.lapped = ring.lapped || head >= map.aux_size ||
		      std::any_of(map.aux + at, map.aux + map.aux_size,
				  [](std::byte one) { return one != std::byte{0}; });
	const std::size_t bytes = ring.lapped ? map.aux_size : at;

	if (bytes) {
		auto *job = new SnapshotWrite(auxtrace_record(map, ring.snapshot_bytes, bytes),
					      bytes, map.index);

		if (ring.lapped)
			job->append(map.aux + at, map.aux_size - at);
		job->append(map.aux, at);
		job->send(*mover, output);
		ring.snapshot_bytes += bytes;
	}
	if (enable_again)
		for (const int fd : map.aux_fds)
			ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* A ring that overwrites, and not since it was last looked at. */
void Worker::snapshot_backward(Ring &ring)
{
	const RingMap &map = ring.map;

	if (!map.backward)
		return;
	std::vector<std::byte> copy(map.data_size);

	ioctl(map.fds.front(), PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	const std::size_t used =
		read_backward(map.page, map.data, map.data_size, ring.backward_since, copy,
			      [&](std::span<const std::byte> record) { ring.tally.look(record); });

	ring.backward_since = __atomic_load_n(&map.page->data_head, __ATOMIC_RELAXED);
	ioctl(map.fds.front(), PERF_EVENT_IOC_PAUSE_OUTPUT, 0);

	std::span<const std::byte> rest(copy.data(), used);

	while (!rest.empty()) {
		std::size_t fits = 0;

		while (!room_for_record())
			mover->wait(std::chrono::milliseconds(100));
		while (fits < rest.size() &&
		       fits + header_of(rest.data() + fits).size + spare_room <=
			       block->room().size())
			fits += header_of(rest.data() + fits).size;
		std::memcpy(block->room().data(), rest.data(), fits);
		block->used += fits;
		rest = rest.subspan(fits);
	}
	seen_numbers.samples.fetch_add(ring.tally.sample_total() - ring.samples_told,
				       std::memory_order_relaxed);
	ring.samples_told = ring.tally.sample_total();
}

} /* namespace perfring::record */
