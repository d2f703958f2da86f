// SPDX-License-Identifier: GPL-2.0
#include "worker.hh"

#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>

#include "worker_aux.hh"

namespace perfring::record {
namespace {

/* What epoll tells: the number of a ring, or one of these. */
constexpr std::uint64_t told_to_wake = UINT64_MAX;
constexpr std::uint64_t queue_moved = UINT64_MAX - 1;

constexpr int soon = 10; /* milliseconds */

std::unique_ptr<WriteQueue> queue_for(const WorkerSetup &setup, Output &output)
{
	if (output.is_stream())
		return output.stream_queue();
	if (setup.queue == QueueKind::aio)
		return make_aio_queue(setup.depth);
	return make_uring_queue(setup.depth);
}

} /* namespace */

std::uint64_t monotonic_time()
{
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return static_cast<std::uint64_t>(now.tv_sec) * 1000000000 +
	       static_cast<std::uint64_t>(now.tv_nsec);
}

Worker::Ring::Ring(RingMap &ring_map, const EventFacts &facts, data::Observations &observed)
	: map(ring_map),
	  tally(facts, observed)
{
	if (!map.backward)
		data.emplace(map.page, map.data, map.data_size);
	if (map.aux && !map.aux_snapshot)
		aux.emplace(map.page, map.aux_size);
}

Worker::Worker(WorkerSetup with, const EventFacts &event_facts, Rounds &all_rounds, Ledger &books,
	       std::shared_ptr<Output> to, int notify_fd)
	: setup(std::move(with)),
	  facts(event_facts),
	  rounds(all_rounds),
	  ledger(books),
	  output(std::move(to)),
	  notify(notify_fd),
	  epoll(epoll_create1(EPOLL_CLOEXEC)),
	  wakeup(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	epoll_event event{EPOLLIN, {.u64 = told_to_wake}};

	if (epoll < 0 || wakeup < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup, &event))
		throw std::system_error(errno, std::generic_category(), "a recording thread");
	mover = std::make_unique<Mover>(queue_for(setup, *output),
					[this] { return output->may_write(); });
	pool = std::make_unique<BlockPool>(setup.memory, mover->queue());
	if (setup.compression_level)
		compressor.emplace(setup.compression_level);
	if (setup.keep_fill)
		fills.emplace(setup.fill_start);
	for (RingMap *map : setup.rings)
		rings.push_back(std::make_unique<Ring>(*map, facts, observed));
	/* Before anything is recorded, and not by a thread that must be quick. */
	block = pool->take();
}

Worker::~Worker()
{
	join();
	if (mover)
		mover->finish();
	mover.reset();
	pool.reset();
	close(epoll);
	close(wakeup);
}

void Worker::start()
{
	thread = std::thread([this] { run(); });
}

void Worker::wake()
{
	const std::uint64_t one = 1;

	[[maybe_unused]] const ssize_t told = write(wakeup, &one, sizeof(one));
}

void Worker::join()
{
	if (thread.joinable())
		thread.join();
}

std::uint64_t Worker::first_time() const
{
	std::uint64_t first = UINT64_MAX;

	for (const auto &ring : rings)
		first = std::min(first, ring->tally.first_time());
	return first;
}

std::uint64_t Worker::last_time() const
{
	std::uint64_t last = 0;

	for (const auto &ring : rings)
		last = std::max(last, ring->tally.last_time());
	return last;
}

/* To its CPU, and before whatever runs there. Threads made from here are ordinary. */
void Worker::settle_down()
{
	const sched_param first{.sched_priority = 1};

	pthread_setname_np(pthread_self(), "perfring/ring");
	if (!setup.cpus.empty()) {
		const unsigned last = *std::max_element(setup.cpus.begin(), setup.cpus.end());
		cpu_set_t *set = CPU_ALLOC(last + 1);
		const std::size_t size = CPU_ALLOC_SIZE(last + 1);

		CPU_ZERO_S(size, set);
		for (const unsigned cpu : setup.cpus)
			CPU_SET_S(cpu, size, set);
		/* A CPU that has gone: any will do. */
		sched_setaffinity(0, size, set);
		CPU_FREE(set);
	}
	if (!setup.realtime)
		return;
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) == 0)
		is_realtime = true;
	else
		setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), -20);
}

void Worker::run()
{
	settle_down();
	for (std::size_t i = 0; i < rings.size(); i++) {
		rings[i]->number = i;
		watch_next(*rings[i]);
	}
	while (!stop)
		loop();
	mover->finish();
	settle_losses();
}

/* Watches the first file descriptor of a ring whose event is not gone. */
void Worker::watch_next(Ring &ring)
{
	while (ring.watched < ring.map.fds.size()) {
		epoll_event event{EPOLLIN, {.u64 = ring.number}};

		if (epoll_ctl(epoll, EPOLL_CTL_ADD, ring.map.fds[ring.watched], &event) == 0)
			return;
		ring.watched++;
	}
	const std::uint64_t one = 1;

	seen_numbers.dead_rings++;
	[[maybe_unused]] const ssize_t told = write(notify, &one, sizeof(one));
}

/*
 * The event of the watched file descriptor is gone, for instance with its task. Others
 * may write to the same ring.
 */
void Worker::hung_up(Ring &ring)
{
	epoll_ctl(epoll, EPOLL_CTL_DEL, ring.map.fds[ring.watched], nullptr);
	ring.watched++;
	watch_next(ring);
}

bool Worker::waits_for_writes() const
{
	return starving || in_hurry ||
	       std::any_of(rings.begin(), rings.end(),
			   [](const auto &ring) { return ring->aux && ring->aux->held(); });
}

void Worker::watch_queue(bool watch)
{
	const int fd = mover->queue().poll_fd();
	epoll_event event{EPOLLIN, {.u64 = queue_moved}};

	if (watch == queue_watched || fd < 0)
		return;
	if (epoll_ctl(epoll, watch ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, &event) == 0)
		queue_watched = watch;
}

/* Sleeps until there is something to do, and does what concerns single rings. */
void Worker::sleep()
{
	std::array<epoll_event, 32> events;
	const bool waiting = waits_for_writes();
	/* What was held back, or cannot be watched, has to be looked after. */
	const bool look = !mover->idle() &&
			  ((waiting && mover->queue().poll_fd() < 0) || mover->in_flight() == 0);

	watch_queue(waiting);
	const int n = epoll_wait(epoll, events.data(), events.size(), look ? soon : -1);

	seen_numbers.wakeups.fetch_add(1, std::memory_order_relaxed);
	for (int i = 0; i < n; i++) {
		const epoll_event &event = events[static_cast<std::size_t>(i)];
		std::uint64_t count;

		if (event.data.u64 == told_to_wake) {
			[[maybe_unused]] const ssize_t got = read(wakeup, &count, sizeof(count));
		} else if (event.data.u64 != queue_moved && event.events & (EPOLLHUP | EPOLLERR)) {
			hung_up(*rings[event.data.u64]);
		}
	}
}

void Worker::loop()
{
	RoundOrder order;

	sleep();
	mover->poll();
	if (starving)
		seen_numbers.starved.fetch_add(1, std::memory_order_relaxed);
	starving = false;
	for (auto &ring : rings)
		if (!drain(*ring) || !drain_aux(*ring))
			starving = true;
	for (auto &ring : rings)
		go_on(*ring);
	if (rounds.current() != round) {
		round = rounds.current(order);
		do_round(order);
	}
	if (mover->idle())
		in_hurry = false;
	look_at_output();
}

void Worker::look_at_output()
{
	if (!output->error() || failure_told)
		return;
	const std::uint64_t one = 1;

	failure_told = true;
	[[maybe_unused]] const ssize_t told = write(notify, &one, sizeof(one));
}

/* False: all memory is on its way to the file. */
bool Worker::room_for_record()
{
	if (block && block->room().size() < largest_record + spare_room)
		seal();
	if (!block)
		block = pool->take();
	if (!block) {
		mover->poll();
		block = pool->take();
	}
	return block;
}

/* Reads what was there when it began; a writer that never rests cannot hold it. */
bool Worker::drain(Ring &ring)
{
	if (!ring.data)
		return true;
	const std::size_t wanted = ring.data->ready();
	std::size_t got = 0;

	if (!wanted)
		return true;
	const std::uint64_t fill = wanted * 1000 / ring.map.data_size;

	if (fill > seen_numbers.fill.load(std::memory_order_relaxed))
		seen_numbers.fill.store(fill, std::memory_order_relaxed);
	while (got < wanted) {
		if (!room_for_record())
			return false;
		const std::size_t used = ring.data->read(
			block->room().first(block->room().size() - spare_room),
			[&](std::span<const std::byte> record) { ring.tally.look(record); });

		ring.data->release();
		block->used += used;
		got += used;
		if (!used)
			break;
	}
	seen_numbers.samples.fetch_add(ring.tally.sample_total() - ring.samples_told,
				       std::memory_order_relaxed);
	seen_numbers.lost.fetch_add(ring.tally.lost_total() - ring.lost_told,
				    std::memory_order_relaxed);
	if (fills)
		fills->note(static_cast<std::uint32_t>(ring.map.index), monotonic_time(), wanted,
			    ring.map.data_size, ring.tally.lost_total() - ring.lost_told);
	ring.samples_told = ring.tally.sample_total();
	ring.lost_told = ring.tally.lost_total();
	return true;
}

/* As drain(), but waits for memory. */
void Worker::drain_surely(Ring &ring)
{
	while (!drain(ring) || !drain_aux(ring)) {
		seen_numbers.starved.fetch_add(1, std::memory_order_relaxed);
		mover->wait(std::chrono::milliseconds(100));
	}
}

Content Worker::content_of_block()
{
	Content content;

	for (auto &ring : rings)
		ring->tally.collect(ring->map.index, content.samples);
	return content;
}

/* Puts COMPRESSED records in place of those in the block, where that saves something. */
void Worker::compress()
{
	if (!block)
		return;
	uncompressed += block->used;
	if (!compressor || !block->used)
		return;
	compressed.clear();
	compressor->compress(block->bytes(), compressed);
	if (compressed.size() < block->used) {
		block->used = compressed.size();
		std::memcpy(block->bytes().data(), compressed.data(), compressed.size());
	}
}

void Worker::seal()
{
	if (!block || !block->used)
		return;
	compress();
	block->send(*mover, output, content_of_block());
	block = nullptr;
}

void Worker::do_round(const RoundOrder &order)
{
	const data::Bytes end = data::finished_round();

	for (auto &ring : rings)
		drain_surely(*ring);
	if (order.snapshot || order.stop)
		for (auto &ring : rings)
			snapshot_backward(*ring);
	if (order.snapshot)
		for (auto &ring : rings)
			snapshot(*ring, order.enabled);
	while (!room_for_record())
		mover->wait(std::chrono::milliseconds(100));
	compress();
	in_hurry = order.snapshot || order.next_output;
	stop = order.stop;
	rounds.arrive([&](bool last) {
		if (last) {
			std::memcpy(block->room().data(), end.data(), end.size());
			block->used += end.size();
		}
		if (!block->used)
			return;
		block->send(*mover, output, content_of_block());
		block = nullptr;
	});
	if (order.next_output)
		output = order.next_output;
}

void Worker::settle_losses()
{
	for (auto &ring : rings) {
		RingLoss loss = ring->tally.losses();

		if (ring->data) {
			loss.damage_times += ring->data->damage().times;
			loss.damage_bytes += ring->data->damage().bytes;
		}
		if (ring->aux) {
			loss.damage_times += ring->aux->damage().times;
			loss.damage_bytes += ring->aux->damage().bytes;
		}
		ledger.add(ring->map.index, loss);
		ledger.lose(Cause::hardware, ring->tally.hardware_losses(ring->map.index));
	}
}

} /* namespace perfring::record */
