// SPDX-License-Identifier: GPL-2.0
/*
 * Data ring: a real reader beside a real writer, which signals interrupt.
 *
 * The writer's thread is the CPU: its loop is the task, SIGUSR1 the IRQ and
 * SIGUSR2 the NMI. Under ThreadSanitizer the four edges are checked, otherwise
 * the instructions that the kernel runs.
 */
#include <csignal>
#include <ctime>

#include <atomic>
#include <chrono>
#include <thread>

#include <pthread.h>
#include <semaphore.h>

#include <gtest/gtest.h>

#include "choices.hh"
#include "sample_plans.hh"

namespace ring_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned int levels = 3; /* task, SIGUSR1, SIGUSR2 */
constexpr unsigned long longest = 17 * 8;
static_assert(longest == 8 * (1 + most_fixed_fields));

enum class Way { word_by_word, at_once };

/* Everything the writer's thread touches. */
class Writer {
    public:
	using Count = std::atomic<std::uint32_t>; /* lock-free, as a signal handler needs */
	static_assert(Count::is_always_lock_free);

	Writer(RingFixture &fixture, Way way_) : ring(fixture.ring), way(way_)
	{
		sem_init(&wakeup, 0, 0);
	}
	~Writer()
	{
		sem_destroy(&wakeup);
	}
	Writer(const Writer &) = delete;
	Writer &operator=(const Writer &) = delete;

	/* One record; safe in signal handlers. */
	bool write(std::uint8_t level)
	{
		const std::uint32_t id = produced[level]++;
		const std::uint16_t words = static_cast<std::uint16_t>(2 + mix(level, id) % 16);
		const RecordHeader header{id, words, RecordKind::data, level};

		if (__atomic_load_n(&ring.nest, __ATOMIC_RELAXED))
			nested[level]++;

		const bool lost = __atomic_load_n(&ring.lost, __ATOMIC_RELAXED) != 0;
		const long verdict = way == Way::at_once && !lost ? emit_at_once(header)
								  : write_words(header, lost);

		if (verdict == PERF_RING_FULL_WAKE || verdict == PERF_SAMPLE_WRITTEN_WAKE)
			sem_post(&wakeup);
		if (verdict < 0)
			refused++;
		return verdict >= 0;
	}

	unsigned long all_produced() const
	{
		return produced[0] + produced[1] + produced[2];
	}
	/* Signals that came while a writer was inside. */
	unsigned long all_nested() const
	{
		return nested[1] + nested[2];
	}

	perf_data_ring &ring;
	sem_t wakeup;
	Count produced[levels]{};
	Count nested[levels]{};
	Count refused{};
	Count at_once{};

    private:
	/* Counted as well, but seldom: the watermark is what wakes. */
	long emit_at_once(const RecordHeader &header)
	{
		at_once++;
		return emit(ring, Direction::forward, Sample(header, 100));
	}

	long write_words(const RecordHeader &header, bool lost)
	{
		perf_ring_handle handle{};
		const long verdict = perf_data_ring_reserve_forward(&ring, &handle, header.size(),
								    lost ? lost_record_size : 0);

		if (verdict < 0)
			return verdict;
		if (verdict > 0)
			put_lost(handle, header.level, static_cast<std::uint64_t>(verdict));
		put(handle, header_word(header));
		for (std::uint64_t i = 1; i < header.words; i++)
			put(handle, payload_word(header, i));
		return perf_data_ring_commit(&handle) ? PERF_SAMPLE_WRITTEN_WAKE
						      : PERF_SAMPLE_WRITTEN;
	}

	static void put(perf_ring_handle &handle, std::uint64_t word)
	{
		perf_output_copy(&handle, &word, sizeof(word));
	}
	static void put_lost(perf_ring_handle &handle, std::uint8_t level, std::uint64_t count)
	{
		put(handle, header_word({0, 2, RecordKind::lost, level}));
		put(handle, count);
	}

	const Way way;
};

/* Reads and checks, with the edges C and D of a reader. */
class Reader {
    public:
	explicit Reader(RingFixture &fixture_) : fixture(fixture_)
	{
	}

	/* All that is there. False after an error. */
	bool drain()
	{
		const unsigned long head = static_cast<unsigned long>(
			__atomic_load_n(&fixture.control.data_head, __ATOMIC_ACQUIRE)); /* C */

		while (tail != head && error.empty())
			take_record(head - tail);
		__atomic_store_n(&fixture.control.data_tail, tail, __ATOMIC_RELEASE); /* D */
		return error.empty();
	}

	unsigned long kept = 0;
	unsigned long told = 0;
	std::string error;

    private:
	void take_record(unsigned long available)
	{
		const RecordHeader header = __builtin_bit_cast(RecordHeader, fixture.word_at(tail));

		if (header.size() < 16 || header.size() > longest || header.size() > available ||
		    header.level >= levels) {
			error = "no record at " + std::to_string(tail);
			return;
		}
		if (header.kind == RecordKind::lost) {
			told += fixture.word_at(tail + 8);
		} else {
			kept++;
			check_order(header);
			check_words(header);
		}
		tail += header.size();
	}

	/* What is refused is missing, what is there comes in the order of its level. */
	void check_order(const RecordHeader &header)
	{
		if (header.id < next[header.level])
			error = "record " + std::to_string(header.id) + " of level " +
				std::to_string(header.level) + " is out of order";
		next[header.level] = header.id + 1;
	}

	void check_words(const RecordHeader &header)
	{
		for (std::uint64_t i = 1; i < header.words; i++)
			if (fixture.word_at(tail + 8 * i) != payload_word(header, i))
				error = "record " + std::to_string(header.id) + " of level " +
					std::to_string(header.level) + " is torn";
	}

	RingFixture &fixture;
	unsigned long tail = 0;
	std::uint32_t next[levels] = {};
};

Writer *interrupted; /* by the signals */

void write_one(int signal)
{
	const int saved = errno;

	interrupted->write(signal == SIGUSR1 ? 1 : 2);
	errno = saved;
}

/* The handlers, for as long as this lives. SIGUSR2 comes through SIGUSR1's. */
class Signals {
    public:
	explicit Signals(Writer &writer)
	{
		interrupted = &writer;

		struct sigaction action {};

		action.sa_handler = write_one;
		action.sa_flags = SA_RESTART;
		sigaction(SIGUSR1, &action, &before[0]);
		sigaddset(&action.sa_mask, SIGUSR1);
		sigaction(SIGUSR2, &action, &before[1]);
	}
	~Signals()
	{
		sigaction(SIGUSR1, &before[0], nullptr);
		sigaction(SIGUSR2, &before[1], nullptr);
	}
	Signals(const Signals &) = delete;
	Signals &operator=(const Signals &) = delete;

    private:
	struct sigaction before[2];
};

void pause_for(long nanoseconds)
{
	const timespec time{0, nanoseconds};

	nanosleep(&time, nullptr);
}

/* Both signals to @target, at changing distances, until @done. */
void interrupt_often(pthread_t target, const std::atomic<bool> &done)
{
	for (std::uint64_t i = 0; !done; i++) {
		pthread_kill(target, mix(11, i) % 2 ? SIGUSR1 : SIGUSR2);
		if (mix(12, i) % 4 == 0)
			pthread_kill(target, SIGUSR2);
		if (mix(13, i) % 2)
			pause_for(static_cast<long>(mix(14, i) % 20000));
		else
			std::this_thread::yield();
	}
}

class Threads : public testing::TestWithParam<Way> {
    protected:
	RingFixture fixture{{.pieces = 8, .piece_shift = 9}};
	Writer writer{fixture, GetParam()};
	Signals signals{writer};
	Reader reader{fixture};
	std::atomic<bool> done{false};

	/*
	 * The task: until enough was written and enough of it disturbed, or time
	 * is up (then with less of the latter).
	 */
	void write_much(unsigned long enough_records, unsigned long enough_nested)
	{
		const Clock::time_point end = Clock::now() + std::chrono::seconds(20);

		while (writer.all_produced() < enough_records ||
		       (writer.all_nested() < enough_nested && Clock::now() < end)) {
			if (!writer.write(0))
				std::this_thread::yield();
		}
	}

	template <class Read> void run(Read read)
	{
		const unsigned long records = iterations(30000);
		std::thread reading(read);
		std::thread interrupting(interrupt_often, pthread_self(), std::cref(done));

		write_much(records, records / 300);
		done = true;
		interrupting.join();
		sem_post(&writer.wakeup);
		reading.join();
		reader.drain();
		check_result();
	}

	void check_result()
	{
		std::cout << writer.all_produced() << " records, " << writer.refused << " refused, "
			  << writer.nested[1] << " + " << writer.nested[2] << " nested"
			  << std::endl;
		EXPECT_EQ(reader.error, "");
		EXPECT_EQ(reader.kept + writer.refused, writer.all_produced());
		EXPECT_EQ(reader.told + fixture.ring.lost, writer.refused);
		EXPECT_EQ(fixture.ring.nest, 0U);
		EXPECT_EQ(fixture.ring.head, fixture.head());
		EXPECT_GT(writer.all_nested(), 0U) << "no signal came at the right time";
		EXPECT_EQ(writer.at_once > 0, GetParam() == Way::at_once);
		EXPECT_TRUE(fixture.guards_intact());
	}
};

TEST_P(Threads, AReaderThatFallsBehindGetsWholeRecordsAndTheExactLoss)
{
	run([this] {
		for (unsigned long i = 0; !done && reader.drain(); i++)
			if (i % 8 == 0)
				pause_for(100000);
	});
	EXPECT_GT(reader.told, 0U);
}

/*
 * Nothing but a wake-up gets this reader going. The watermark is half of the
 * ring: when one wake-up is lost, the ring is full before the next is due.
 */
TEST_P(Threads, AReaderThatSleepsIsAlwaysWoken)
{
	unsigned long wakeups = 0;

	run([&, this] {
		while (!done && reader.drain()) {
			timespec limit;

			clock_gettime(CLOCK_REALTIME, &limit);
			limit.tv_sec += 100;
			if (sem_timedwait(&writer.wakeup, &limit)) {
				reader.error = "the ring is full and the reader still asleep";
				__atomic_store_n(&fixture.ring.paused, 1, __ATOMIC_RELAXED);
			}
			wakeups++;
		}
	});
	EXPECT_GT(wakeups, 100U);
}

INSTANTIATE_TEST_SUITE_P(Records, Threads, testing::Values(Way::word_by_word, Way::at_once),
			 [](const auto &way) {
				 return way.param == Way::at_once ? "AtOnce" : "WordByWord";
			 });

} // namespace
} // namespace ring_test
