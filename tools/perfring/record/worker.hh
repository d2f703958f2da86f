/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One recording thread: sleeps until one of its rings wants to be read, copies what is
 * there, gives the space back at once, and lets the mover bring it to the file.
 *
 * With one thread for each CPU, on that CPU and before all ordinary tasks, nothing
 * fills the ring while it is read; even a small one then loses nothing.
 */
#ifndef PERFRING_RECORD_WORKER_HH
#define PERFRING_RECORD_WORKER_HH

#include "aux_reader.hh"
#include "block_pool.hh"
#include "data/fill_log.hh"
#include "ring_map.hh"
#include "rounds.hh"
#include "tally.hh"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace perfring::record {

/* CLOCK_MONOTONIC, in ns. */
std::uint64_t monotonic_time();

enum class QueueKind { uring, aio };

struct WorkerSetup {
	std::vector<RingMap *> rings;
	std::vector<unsigned> cpus; /* to stay on; none: any */
	bool realtime = false;
	QueueKind queue = QueueKind::uring;
	unsigned depth = 4;
	std::shared_ptr<MemoryBudget> memory; /* for blocks, all threads' */
	int compression_level = 0;
	bool keep_fill = false;	      /* a history of how full the rings were */
	std::uint64_t fill_start = 0; /* its time 0: monotonic_time() */
};

/* Numbers for whoever watches; each is written by the worker alone. */
struct WorkerView {
	std::atomic<std::uint64_t> samples{0};
	std::atomic<std::uint64_t> lost{0}; /* by PERF_RECORD_LOST and LOST_SAMPLES */
	std::atomic<std::uint64_t> wakeups{0};
	std::atomic<std::uint64_t> fill{0};	/* highest, in 1/1000 of a ring, since last asked */
	std::atomic<std::uint64_t> starved{0};	/* times without memory for a ring's data */
	std::atomic<std::size_t> dead_rings{0}; /* whose events all are gone */
};

class Worker {
    public:
	/* notify: an eventfd that is written to when a ring dies or writing failed. */
	Worker(WorkerSetup with, const EventFacts &event_facts, Rounds &all_rounds, Ledger &books,
	       std::shared_ptr<Output> output, int notify_fd);
	~Worker();

	Worker(const Worker &) = delete;
	Worker &operator=(const Worker &) = delete;

	void start();
	void wake(); /* a round has begun, or reading is urgent */
	void join();

	const WorkerView &view() const
	{
		return seen_numbers;
	}
	std::uint64_t take_fill()
	{
		return seen_numbers.fill.exchange(0, std::memory_order_relaxed);
	}
	std::size_t ring_count() const
	{
		return rings.size();
	}
	const char *queue_name()
	{
		return mover->queue().name();
	}

	/* After join(). */
	const data::Observations &observations() const
	{
		return observed;
	}
	const std::optional<data::FillLog> &fill_log() const
	{
		return fills;
	}
	std::uint64_t first_time() const;
	std::uint64_t last_time() const;
	std::uint64_t uncompressed_bytes() const
	{
		return uncompressed;
	}

	/* After start(), for --verbose: how the thread runs. */
	bool has_realtime() const
	{
		return is_realtime.load();
	}

    private:
	/* Behind the records of a block there is always room for FINISHED_ROUND. */
	static constexpr std::size_t spare_room = 64;

	struct Ring;
	class AuxWrite;
	class SnapshotWrite;

	void run();
	void settle_down();
	void loop();
	void sleep();
	bool drain(Ring &ring);
	bool drain_aux(Ring &ring);
	void go_on(Ring &ring);
	void write_aux_in_place(Ring &ring, std::size_t bytes);
	bool copy_aux(Ring &ring, std::size_t bytes);
	void drain_surely(Ring &ring);
	void snapshot(Ring &ring, bool enable_again);
	void snapshot_backward(Ring &ring);
	void hung_up(Ring &ring);
	void watch_next(Ring &ring);
	void watch_queue(bool watch);
	bool waits_for_writes() const;
	void look_at_output();
	void do_round(const RoundOrder &order);
	bool room_for_record();
	void seal();
	void compress();
	Content content_of_block();
	void settle_losses();

	WorkerSetup setup;
	const EventFacts &facts;
	Rounds &rounds;
	Ledger &ledger;
	std::shared_ptr<Output> output;
	int notify;
	int epoll = -1;
	int wakeup = -1;
	std::vector<std::unique_ptr<Ring>> rings;
	std::unique_ptr<Mover> mover;
	std::unique_ptr<BlockPool> pool;
	std::vector<std::unique_ptr<AuxWrite>> aux_writes; /* some in flight, some spare */
	Block *block = nullptr;
	data::Observations observed;
	std::optional<data::Compressor> compressor;
	data::Bytes compressed;
	std::optional<data::FillLog> fills;
	WorkerView seen_numbers;
	std::uint64_t uncompressed = 0;
	std::uint64_t round = 0;
	bool starving = false;
	bool in_hurry = false; /* somebody waits for what is in flight */
	bool queue_watched = false;
	bool stop = false;
	bool failure_told = false;
	std::atomic<bool> is_realtime{false};
	std::thread thread;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_WORKER_HH */
