// SPDX-License-Identifier: GPL-2.0
/*
 * AUX ring: a real reader beside a real writer. Under ThreadSanitizer the four edges
 * are checked, otherwise the instructions that the kernel runs.
 */
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "aux_fixture.hh"
#include "choices.hh"
#include "test_record.hh"

namespace ring_test {
namespace {

constexpr unsigned long word_size = sizeof(std::uint64_t);
constexpr unsigned long area_words = 64;
constexpr unsigned long area_size = area_words * word_size;
/* Positions wrap on the way. */
constexpr unsigned long start = 0UL - 16 * area_size;

using Area = std::vector<std::uint64_t>;

std::uint64_t &word_at(Area &area, unsigned long position)
{
	return area[position / word_size % area_words];
}

/* The n-th word that the writer has made. */
std::uint64_t word(unsigned long n)
{
	return mix(21, n);
}

/* The driver: its words are plain stores, as those of hardware are to a reader. */
class Writer {
    public:
	Writer(AuxFixture &aux_, Area &area_) : aux(aux_), area(area_)
	{
	}

	/* One transaction of up to @most words. False if there was no room for any. */
	bool write(unsigned long most)
	{
		perf_aux_handle handle = stale_handle;

		/* A byte is kept back, and words are whole: some room is always left. */
		if (perf_aux_ring_begin(&aux.ring, &handle) != PERF_AUX_OPENED) {
			ADD_FAILURE() << "the area cannot be full, nor a transaction be open";
			return false;
		}

		const unsigned long words = std::min(most, handle.size / word_size);

		for (unsigned long i = 0; i < words; i++)
			word_at(area, handle.head + i * word_size) = word(written + i);
		end(handle, words);
		waited += words == 0;
		return words != 0;
	}

	unsigned long written = 0; /* words */
	unsigned long told = 0;	   /* bytes */
	unsigned long waited = 0;  /* transactions without room for a word */

    private:
	void end(const perf_aux_handle &handle, unsigned long words)
	{
		perf_aux_report report = stale_report;

		if (perf_aux_ring_commit(&aux.ring, &handle, words * word_size, &report) & tell)
			told += report.size;
		perf_aux_ring_publish(&aux.ring);
		perf_aux_ring_close(&aux.ring);
		written += words;
	}

	AuxFixture &aux;
	Area &area;
};

/* Reads and checks, with the edges C and D of a reader. */
class Reader {
    public:
	Reader(AuxFixture &aux_, Area &area_) : aux(aux_), area(area_)
	{
	}

	/* All that is there, at most @most words. Returns how many. */
	unsigned long drain(unsigned long most)
	{
		const auto head = static_cast<unsigned long>(
			__atomic_load_n(&aux.control.aux_head, __ATOMIC_ACQUIRE)); /* C */
		const unsigned long words = std::min(most, (head - tail) / word_size);

		for (unsigned long i = 0; i < words; i++) {
			if (word_at(area, tail + i * word_size) != word(seen + i))
				wrong_words++;
		}
		seen += words;
		tail += words * word_size;
		__atomic_store_n(&aux.control.aux_tail, tail, __ATOMIC_RELEASE); /* D */
		return words;
	}

	unsigned long seen = 0;
	unsigned long wrong_words = 0;

    private:
	AuxFixture &aux;
	Area &area;
	unsigned long tail = start;
};

/* Each word once and in order, whoever has to wait for the other. */
TEST(AuxThreads, EachWordOnceForAReaderThatFollows)
{
	const unsigned long words = iterations(200000);
	AuxFixture aux(area_size, area_size / 2, false, start);
	Area area(area_words);
	Writer writer(aux, area);
	Reader reader(aux, area);

	std::thread reading([&] {
		for (unsigned long i = 0; reader.seen < words; i++)
			if (!reader.drain(1 + mix(22, i) % area_words))
				std::this_thread::yield();
	});

	for (unsigned long i = 0; writer.written < words; i++)
		if (!writer.write(1 + mix(23, i) % area_words))
			std::this_thread::yield();
	reading.join();
	while (reader.drain(area_words))
		;

	std::cout << writer.written << " words, " << writer.waited << " times without room"
		  << std::endl;
	EXPECT_EQ(reader.seen, writer.written);
	EXPECT_EQ(reader.wrong_words, 0U);
	EXPECT_EQ(writer.told, writer.written * word_size);
	EXPECT_EQ(aux.control.aux_head, start + writer.written * word_size);
}

/*
 * An event has moved, and its old CPU still ends what it left open while the new one
 * begins: who finds it open comes again. What both work on is plain memory, that of the
 * core and here: only the transaction keeps them apart.
 */
class Shared {
    public:
	explicit Shared(unsigned long words) : wanted(words)
	{
	}

	/* Transactions, with a third of nothing, until all has been written. */
	void write(unsigned int who)
	{
		bool more = true;

		for (unsigned long i = 0; more; i++) {
			perf_aux_handle handle = stale_handle;

			if (perf_aux_ring_begin(&aux.ring, &handle) == PERF_AUX_BUSY) {
				__atomic_fetch_add(&busy, 1UL, __ATOMIC_RELAXED);
				std::this_thread::yield();
				continue;
			}
			turns += last != who;
			last = who;
			more = put(handle, mix(24 + who, i));
			if (i % 8 == 0)
				std::this_thread::yield();
		}
	}

	/* Another area in place of it, of another watermark, whenever nothing is open. */
	void map()
	{
		for (unsigned long i = 0; !__atomic_load_n(&done, __ATOMIC_RELAXED); i++) {
			mapped += aux.setup(area_size, word_size << i % 4);
			std::this_thread::yield();
		}
	}

	AuxFixture aux{area_size, area_size / 2, false, start};
	Area area = Area(area_words);
	const unsigned long wanted;	  /* words */
	unsigned long written = 0;	  /* words */
	unsigned long told = 0;		  /* bytes */
	unsigned long turns = 0;	  /* transactions that came after another thread's */
	unsigned long busy = 0;		  /* found open */
	unsigned long quiet = 0;	  /* ends */
	unsigned long mapped = 0;	  /* areas */
	unsigned long mark_is_missed = 0; /* transactions whose mark is not of their area */

    private:
	/* False when all has been written. */
	bool put(perf_aux_handle &handle, unsigned long how)
	{
		const unsigned long most = how % 3 ? how / 3 % area_words : 0;
		const unsigned long words =
			std::min({most, handle.size / word_size, wanted - written});
		perf_aux_report report = stale_report;

		for (unsigned long i = 0; i < words; i++)
			word_at(area, handle.head + i * word_size) = word(written + i);
		/* On one CPU, too, the others are to find it open. */
		if (how % 7 == 0)
			std::this_thread::yield();
		written += words;
		mark_is_missed += handle.wakeup - handle.head > aux.ring.watermark;

		const bool more = written < wanted;

		if (!more)
			__atomic_store_n(&done, true, __ATOMIC_RELAXED);
		quiet += words == 0; /* while it is ours */
		if (perf_aux_ring_end_quietly(&aux.ring, &handle, words * word_size))
			return more;
		if (perf_aux_ring_commit(&aux.ring, &handle, words * word_size, &report) & tell)
			told += report.size;
		perf_aux_ring_publish(&aux.ring);
		perf_aux_ring_close(&aux.ring);
		return more;
	}

	unsigned int last = 0;
	bool done = false;
};

TEST(AuxThreads, TwoOwnTheTransactionInTurn)
{
	Shared shared(iterations(200000) / 4);
	Reader reader(shared.aux, shared.area);

	std::thread reading([&] {
		while (reader.seen < shared.wanted)
			if (!reader.drain(area_words))
				std::this_thread::yield();
	});
	std::thread mapping([&] { shared.map(); });
	std::thread other([&] { shared.write(1); });

	shared.write(0);
	other.join();
	mapping.join();
	reading.join();

	std::cout << shared.turns << " turns, " << shared.busy << " times busy, " << shared.quiet
		  << " quiet ends, " << shared.mapped << " areas" << std::endl;
	EXPECT_EQ(shared.written, shared.wanted);
	EXPECT_EQ(reader.seen, shared.wanted);
	EXPECT_EQ(reader.wrong_words, 0U);
	EXPECT_EQ(shared.told, shared.wanted * word_size);
	EXPECT_EQ(shared.mark_is_missed, 0U);
	EXPECT_EQ(shared.aux.control.aux_head, start + shared.wanted * word_size);
	EXPECT_EQ(shared.aux.ring.open, 0U);
}

/* Each word of a snapshot is shown by an end of its own, of no bytes. */
TEST(AuxThreads, AQuietEndShowsASnapshot)
{
	for (unsigned int round = 0; round < 50; round++) {
		AuxFixture aux(area_size, 0, true);
		Area area(area_words);
		unsigned long wrong_words = 0;

		std::thread reading([&] {
			for (unsigned long seen = 0; seen < area_words;) {
				const unsigned long long head =
					__atomic_load_n(&aux.control.aux_head, __ATOMIC_ACQUIRE);

				for (; seen < head / word_size; seen++)
					wrong_words += area[seen] != word(seen);
				std::this_thread::yield();
			}
		});

		for (unsigned long i = 0; i < area_words; i++) {
			EXPECT_EQ(aux.begin(), PERF_AUX_OPENED);
			area[i] = word(i);
			aux.handle.head += word_size;
			EXPECT_TRUE(aux.end_quietly(0));
		}
		reading.join();
		EXPECT_EQ(wrong_words, 0U);
	}
}

/* What was lost is seen to grow, whoever looks: the page is the reader's as well. */
TEST(AuxThreads, TheLossInThePageNeverGoesBack)
{
	const unsigned long losses = iterations(200000) / 10;
	AuxFixture aux(area_size, area_size / 2, false, start);
	unsigned long told = 0;
	bool went_back = false;

	std::thread watching([&] {
		for (unsigned long long last = 0; last < 3 * losses;) {
			const unsigned long long now =
				__atomic_load_n(&aux.control.aux_lost, __ATOMIC_RELAXED);

			went_back |= now < last;
			last = now;
			std::this_thread::yield();
		}
	});

	for (unsigned long i = 0; i < losses; i++) {
		EXPECT_EQ(aux.lose(3, i), tell);
		told += aux.report.lost;
		perf_aux_ring_close(&aux.ring);
	}
	watching.join();
	EXPECT_FALSE(went_back);
	EXPECT_EQ(told, 3 * losses);
}

} // namespace
} // namespace ring_test
