// SPDX-License-Identifier: GPL-2.0
/* AUX ring: positions, room and wake-ups, in areas small enough to try everything. */
#include <climits>
#include <vector>

#include <gtest/gtest.h>

#include "aux_fixture.hh"
#include "choices.hh"

namespace ring_test {
namespace {

constexpr int no_space = -28;

/* Bytes that can be written until all places but one are taken: by counting. */
unsigned long room_by_counting(unsigned long size, unsigned long unread)
{
	unsigned long room = 0;

	while (unread + room + 1 < size)
		room++;
	return unread < size ? room : 0;
}

/* Whether a writer of @bytes at @head comes to @mark. */
bool comes_to(unsigned long head, unsigned long bytes, unsigned long mark)
{
	for (unsigned long i = 1; i <= bytes; i++)
		if (head + i == mark)
			return true;
	return false;
}

/* All sizes with all positions on both sides of the end of unsigned long. */
template <class Check> void at_every_position(Check check)
{
	for (const unsigned long size : aux_sizes) {
		AuxFixture aux(size);

		for (unsigned long back = 0; back <= 3 * size; back++)
			ASSERT_NO_FATAL_FAILURE(check(aux, size - back))
				<< "area of " << size << ", head " << size - back;
	}
}

/* The same with all that may be unread there. */
template <class Check> void at_every_fill_level(Check check)
{
	at_every_position([&](AuxFixture &aux, unsigned long head) {
		for (unsigned long unread = 0; unread < aux.ring.size; unread++) {
			aux.be_at(head, unread);
			ASSERT_NO_FATAL_FAILURE(check(aux, unread)) << unread << " unread";
			aux.ring.open = 0;
		}
	});
}

TEST(AuxRoom, IsWhatTheReaderHasLeftButForOneByte)
{
	at_every_fill_level([](AuxFixture &aux, unsigned long unread) {
		const unsigned long room = room_by_counting(aux.ring.size, unread);

		aux.handle = stale_handle;
		ASSERT_EQ(aux.begin(), room ? PERF_AUX_OPENED : PERF_AUX_FULL);
		ASSERT_EQ(aux.handle.size, room);
		ASSERT_EQ(aux.handle.head, aux.ring.head);
		ASSERT_EQ(aux.handle.flags, 0U);
		ASSERT_NE(aux.ring.open, 0U);
	});
}

/* The reader owns the page: whatever it stores there, nothing is written over or beyond. */
TEST(AuxRoom, IsNoneForATailThatCannotBe)
{
	at_every_position([](AuxFixture &aux, unsigned long head) {
		const unsigned long size = aux.ring.size;
		std::vector<unsigned long> tails = {head + (1UL << 63), head + (1UL << 32),
						    head - (1UL << 32), head ^ ~0UL};

		for (unsigned long i = 0; i <= 2 * size; i++)
			tails.insert(tails.end(), {head - size - i, head + 1 + i});
		for (const unsigned long tail : tails) {
			if (head - tail < size)
				continue;
			aux.be_at(head, 0);
			aux.control.aux_tail = tail;
			ASSERT_EQ(aux.begin(), PERF_AUX_FULL) << "tail " << tail;
			ASSERT_EQ(aux.handle.size, 0U) << "tail " << tail;
			aux.refuse();
			ASSERT_EQ(aux.ring.head, head);
		}
	});
}

TEST(AuxCommit, TellsWhereTheBytesAreAndShowsThemWhenPublished)
{
	at_every_fill_level([](AuxFixture &aux, unsigned long unread) {
		const unsigned long head = aux.ring.head;

		for (unsigned long bytes = 1; bytes < aux.ring.size - unread; bytes++) {
			aux.be_at(head, unread);
			ASSERT_EQ(aux.begin(), PERF_AUX_OPENED);
			aux.report = stale_report;
			ASSERT_EQ(aux.commit(bytes), tell);
			ASSERT_EQ(aux.report, (perf_aux_report{head, bytes, 0, 0, 0}));
			ASSERT_EQ(aux.control.aux_head, head);
			perf_aux_ring_publish(&aux.ring);
			ASSERT_EQ(aux.control.aux_head, head + bytes);
			perf_aux_ring_close(&aux.ring);
			ASSERT_EQ(aux.control.aux_tail, head - unread);
		}
	});
}

/* Drivers with fixed buffers fill up the last page, the byte that is kept back included. */
TEST(AuxCommit, KnowsADriverThatClaimsMoreThanItHad)
{
	at_every_fill_level([](AuxFixture &aux, unsigned long unread) {
		const unsigned long head = aux.ring.head;
		const unsigned long room = room_by_counting(aux.ring.size, unread);

		if (!room)
			return;
		for (unsigned long bytes = 0; bytes <= 2 * aux.ring.size; bytes++) {
			aux.be_at(head, unread);
			aux.begin();
			ASSERT_EQ((aux.end(bytes) & wrong) != 0, bytes > room + 1)
				<< bytes << " claimed of " << room;
			if (unread + bytes < aux.ring.size - 1)
				continue;
			ASSERT_EQ(aux.begin(), PERF_AUX_FULL) << bytes << " claimed of " << room;
			aux.refuse();
		}
	});
}

TEST(AuxCommit, OfNothingIsNoRecord)
{
	AuxFixture aux(64);

	aux.begin();
	EXPECT_EQ(aux.end(0), 0U);
	EXPECT_EQ(aux.control.aux_head, 0U);
}

TEST(AuxTransaction, IsOneAtATime)
{
	AuxFixture aux(64);
	perf_aux_handle other = stale_handle;

	ASSERT_EQ(aux.begin(), PERF_AUX_OPENED);
	EXPECT_EQ(perf_aux_ring_begin(&aux.ring, &other), PERF_AUX_BUSY);
	aux.commit(8);
	EXPECT_EQ(perf_aux_ring_begin(&aux.ring, &other), PERF_AUX_BUSY);
	perf_aux_ring_publish(&aux.ring);
	EXPECT_EQ(perf_aux_ring_begin(&aux.ring, &other), PERF_AUX_BUSY);
	perf_aux_ring_close(&aux.ring);
	EXPECT_EQ(perf_aux_ring_begin(&aux.ring, &other), PERF_AUX_OPENED);
}

TEST(AuxTransaction, IsOpenWhileItIsRefused)
{
	AuxFixture aux(8);

	aux.be_at(0, 7);
	ASSERT_EQ(aux.begin(), PERF_AUX_FULL);
	EXPECT_EQ(aux.begin(), PERF_AUX_BUSY);
	aux.refuse();
	aux.control.aux_tail++;
	EXPECT_EQ(aux.begin(), PERF_AUX_OPENED);
}

/*
 * What begin says is where the reader wants to be woken, and there it is, for any
 * bytes at a time and any watermark, also one that is no power of two or larger than
 * the area.
 */
class AuxWakeup : public testing::TestWithParam<unsigned long> {
    protected:
	const unsigned long size = GetParam();

	/* One transaction; whether it woke. */
	static bool expect_wakeup_at_mark(AuxFixture &aux, unsigned long bytes)
	{
		const unsigned long head = aux.ring.head;

		aux.control.aux_tail = head;
		aux.handle = stale_handle;
		EXPECT_EQ(aux.begin(), PERF_AUX_OPENED);

		const unsigned long mark = aux.handle.wakeup;
		const bool due = comes_to(head, bytes, mark);

		EXPECT_GT(mark - head, 0U);
		EXPECT_LE(mark - head, aux.ring.watermark);
		EXPECT_EQ(aux.end(bytes), tell | (due ? wake : 0))
			<< "head " << head << ", mark " << mark;
		return due;
	}
};

TEST_P(AuxWakeup, IsAtMultiplesOfTheWatermark)
{
	for (unsigned long watermark = 1; watermark <= 2 * size; watermark++) {
		for (unsigned long bytes = 1; bytes < size; bytes++) {
			AuxFixture aux(size, watermark, false, 1000);

			for (unsigned int i = 0; i < 2 * size; i++) {
				const unsigned long before = aux.ring.head / watermark;
				const bool woke = expect_wakeup_at_mark(aux, bytes);

				ASSERT_EQ(woke, aux.ring.head / watermark != before);
				ASSERT_FALSE(HasFailure())
					<< "watermark " << watermark << ", by " << bytes;
			}
		}
	}
}

/* The grid of multiples starts anew there, so one distance may be shorter. */
TEST_P(AuxWakeup, DoesNotFailWherePositionsWrap)
{
	for (unsigned long watermark = 1; watermark <= 2 * size; watermark++) {
		for (unsigned long bytes = 1; bytes < size; bytes++) {
			AuxFixture aux(size, watermark, false, 0 - 2 * watermark);
			unsigned long asleep = 0;

			for (unsigned long i = 0; i * bytes < 4 * watermark; i++) {
				asleep += bytes;
				if (expect_wakeup_at_mark(aux, bytes))
					asleep = 0;
				ASSERT_LT(asleep, watermark);
				ASSERT_FALSE(HasFailure())
					<< "watermark " << watermark << ", by " << bytes;
			}
		}
	}
}

/* As edges of a position of 64 bits are, whatever the watermark divides. */
TEST_P(AuxWakeup, KeepsPowersOfTwoInTheirGridAcrossTheWrap)
{
	for (unsigned long watermark = 1; watermark <= 2 * size; watermark *= 2) {
		AuxFixture aux(size, watermark, false, 0 - 2 * size);

		for (unsigned int i = 0; i < 4 * size; i++) {
			const bool woke = expect_wakeup_at_mark(aux, 1);

			ASSERT_EQ(woke, aux.ring.head % watermark == 0);
		}
	}
}

INSTANTIATE_TEST_SUITE_P(Sizes, AuxWakeup, testing::ValuesIn(aux_sizes));

TEST(AuxSkip, TakesWhatThereIsRoomFor)
{
	at_every_fill_level([](AuxFixture &aux, unsigned long unread) {
		const unsigned long head = aux.ring.head;
		const unsigned long room = room_by_counting(aux.ring.size, unread);

		if (!room)
			return;
		for (unsigned long bytes = 0; bytes <= room + 2; bytes++) {
			aux.be_at(head, unread);
			aux.begin();

			const int todo = perf_aux_ring_skip(&aux.ring, &aux.handle, bytes);
			const unsigned long moved = bytes > room ? 0 : bytes;

			/* The watermark is 1: any byte wakes. */
			ASSERT_EQ(todo, bytes > room ? no_space : bytes ? int{wake} : 0);
			ASSERT_EQ(aux.handle.head, head + moved);
			ASSERT_EQ(aux.ring.head, head + moved);
			ASSERT_EQ(aux.control.aux_head, head + moved);
			ASSERT_EQ(aux.handle.size, room - moved);
			ASSERT_EQ(aux.handle.wakeup, head + moved + 1);
			ASSERT_EQ(aux.end(0), 0U) << "skipped bytes are no data";
		}
	});
}

TEST(AuxSkip, WakesAtTheMarkAndSaysTheNextOne)
{
	for (unsigned long watermark = 1; watermark <= 128; watermark++) {
		for (unsigned long bytes = 1; bytes < 64; bytes++) {
			AuxFixture aux(64, watermark, false, 100 * watermark);

			aux.begin();

			const unsigned long mark = aux.handle.wakeup;
			const int todo = perf_aux_ring_skip(&aux.ring, &aux.handle, bytes);

			ASSERT_EQ(todo, bytes >= watermark ? int{wake} : 0);
			ASSERT_EQ(mark, 101 * watermark);
			ASSERT_EQ(aux.handle.wakeup, (100 + bytes / watermark + 1) * watermark);
		}
	}
}

TEST(AuxOverwrite, HasItsPositionFromTheDriverAndNoRoomToAskFor)
{
	AuxFixture aux(64, 0, true);

	for (unsigned long head = 0; head < 200; head++) {
		aux.control.aux_tail = head * 77;
		aux.handle = stale_handle;
		ASSERT_EQ(aux.begin(), PERF_AUX_OPENED);
		ASSERT_EQ(aux.handle.size, 0U);
		ASSERT_EQ(aux.handle.head, head ? (head - 1) % 64 : 0);
		ASSERT_EQ(aux.handle.flags, 0U);
		ASSERT_EQ(perf_aux_ring_skip(&aux.ring, &aux.handle, 1), no_space);

		aux.handle.head = head % 64;
		ASSERT_EQ(aux.end(1000), tell);
		ASSERT_EQ(aux.report,
			  (perf_aux_report{head % 64, 1000, PERF_AUX_FLAG_OVERWRITE, 0, 0}));
		ASSERT_EQ(aux.control.aux_head, head % 64);
	}
}

TEST(AuxOverwrite, OfNothingIsNoRecordButMoves)
{
	AuxFixture aux(64, 0, true);

	aux.begin();
	aux.handle.head = 24;
	EXPECT_EQ(aux.end(0), 0U);
	EXPECT_EQ(aux.control.aux_head, 24U);
}

/*
 * An end that is over in one step is the same as the long one: whenever it says yes, and
 * there is nothing to tell whenever it does. All that the driver can say, in front of all
 * that others can have left.
 */
struct QuietEnd {
	bool overwrite;
	unsigned long head;    /* where the transaction begins */
	unsigned long skipped; /* in it */
	bool cut;	       /* told before */
	unsigned long lost;    /* in it, or refused before */
	perf_aux_report untold;
	unsigned long long flags;
	unsigned long size;

	/* The transaction is open, and is to end. */
	void prepare(AuxFixture &aux) const
	{
		if (overwrite)
			aux.setup(16, 0, true);
		aux.ring.head = head;
		aux.ring.wakeup = overwrite ? 0 : head;
		aux.control.aux_head = head;
		aux.control.aux_tail = head;
		aux.ring.cut = cut;
		aux.ring.untold = untold;
		aux.handle = stale_handle;
		aux.handle.event = &aux;
		EXPECT_EQ(aux.begin(), PERF_AUX_OPENED);
		if (!overwrite) {
			EXPECT_GE(perf_aux_ring_skip(&aux.ring, &aux.handle, skipped), 0);
		}
		EXPECT_EQ(aux.lose(lost, 77), 0U);
		aux.handle.flags = flags;
		if (overwrite)
			aux.handle.head = (head + 8) % 16;
	}

	friend std::ostream &operator<<(std::ostream &out, const QuietEnd &end)
	{
		return out << (end.overwrite ? "overwrite, " : "") << "head " << end.head << ", "
			   << end.skipped << " skipped, cut " << end.cut << ", lost " << end.lost
			   << ", untold: " << end.untold << "; flags " << std::hex << end.flags
			   << std::dec << ", size " << end.size;
	}
};

QuietEnd choose_end(Choices &choices)
{
	static constexpr unsigned long heads[] = {0, 5, 12, 0UL - 16, 0UL - 1};
	static constexpr unsigned long sizes[] = {0, 1, 8};
	static constexpr unsigned long long all_flags[] = {PERF_AUX_FLAG_TRUNCATED,
							   PERF_AUX_FLAG_PARTIAL,
							   PERF_AUX_FLAG_COLLISION,
							   PERF_AUX_FLAG_OVERWRITE,
							   PERF_AUX_FLAG_LOST,
							   0x0100,
							   0x8000,
							   1ULL << 63};
	const bool overwrite = choices.choose(2);
	const unsigned long position = heads[choices.choose(5)];
	const unsigned long head = overwrite ? position % 16 : position;
	const perf_aux_report untold[] = {{},
					  {head - 4, 4, 0, 0, 0},
					  {head, 0, PERF_AUX_FLAG_COLLISION, 0, 0},
					  {head, 0, PERF_AUX_FLAG_OVERWRITE, 0, 0},
					  {head, 0, 0x0100, 0, 0}};
	QuietEnd end{overwrite,
		     head,
		     3UL * choices.choose(2),
		     choices.choose(2) != 0,
		     5UL * choices.choose(2),
		     untold[choices.choose(5)],
		     0,
		     sizes[choices.choose(3)]};

	for (const unsigned long long flag : all_flags)
		end.flags |= choices.choose(2) ? flag : 0;
	return end;
}

TEST(AuxQuietEnd, IsTheSameAsTheLongOne)
{
	unsigned long quiet = 0;
	unsigned long others = 0;
	EveryPath path;

	do {
		const QuietEnd end = choose_end(path);
		AuxFixture longer(16);
		AuxFixture aux(16);

		end.prepare(longer);
		end.prepare(aux);

		const perf_aux_ring before = aux.ring;
		const perf_aux_handle handle = aux.handle;
		const unsigned long long shown = aux.control.aux_head;
		const bool left_over = end.untold.size || end.untold.flags;

		if (aux.end_quietly(end.size)) {
			quiet++;
			ASSERT_EQ(longer.end(end.size), 0U) << end;
			ASSERT_EQ(aux.ring, longer.ring) << end;
			ASSERT_EQ(aux.ring.open, 0U) << end;
			ASSERT_EQ(aux.control.aux_head, longer.control.aux_head) << end;
			ASSERT_EQ(aux.handle.event, nullptr) << end;
			aux.handle.event = handle.event;
			ASSERT_EQ(aux.handle, handle) << end;
		} else {
			others++;
			ASSERT_EQ(aux.ring, before) << end;
			ASSERT_EQ(aux.handle, handle) << end;
			ASSERT_EQ(aux.control.aux_head, shown) << end;
			ASSERT_TRUE(longer.end(end.size) & tell || left_over || end.size) << end;
		}
		ASSERT_EQ(aux.control.aux_tail, longer.control.aux_tail) << end;
		ASSERT_EQ(aux.control.aux_lost, longer.control.aux_lost) << end;
	} while (path.next());
	/* Formats and the mode are said by 2^3 sets of flags. */
	EXPECT_EQ(quiet, 2U * 5 * 2 * 2 * 8);
	EXPECT_EQ(others, 2U * 5 * 2 * 2 * (2 * 5 * 256 * 3 - 8));
}

/* Wherever the mark is: skipped bytes have woken already, and nothing has none. */
TEST(AuxQuietEnd, KeepsTheMark)
{
	for (unsigned long watermark = 1; watermark <= 32; watermark++) {
		for (unsigned long head = 0; head < 64; head++) {
			for (unsigned long skipped = 0; skipped < 16; skipped++) {
				AuxFixture aux(16, watermark, false, head);
				AuxFixture longer(16, watermark, false, head);

				for (AuxFixture *each : {&aux, &longer}) {
					each->begin();
					perf_aux_ring_skip(&each->ring, &each->handle, skipped);
				}
				ASSERT_TRUE(aux.end_quietly(0));
				ASSERT_EQ(longer.end(0), 0U);
				ASSERT_EQ(aux.ring, longer.ring);
				ASSERT_EQ(aux.control.aux_head, head + skipped);
			}
		}
	}
}

/* The driver names the position, also of nothing, and the next one begins there. */
TEST(AuxQuietEnd, OfASnapshotMoves)
{
	AuxFixture aux(64, 0, true);

	for (unsigned long head = 0; head < 200; head++) {
		ASSERT_EQ(aux.begin(), PERF_AUX_OPENED);
		aux.handle.head = head % 64;
		ASSERT_TRUE(aux.end_quietly(0));
		ASSERT_EQ(aux.control.aux_head, head % 64);
		ASSERT_EQ(aux.ring.head, head % 64);
	}
}

/* Another area on the same ring: sizes and watermarks change, positions go on. */
TEST(AuxSetup, AgainGoesOnWhereItWas)
{
	for (const unsigned long from : aux_sizes) {
		for (const unsigned long to : aux_sizes) {
			for (unsigned long watermark = 1; watermark <= 2 * to; watermark++) {
				AuxFixture aux(from, 3, false, 640);

				aux.begin();
				aux.end(5);
				perf_aux_ring_setup(&aux.ring, &aux.control, to, watermark, 0);
				ASSERT_EQ(aux.control.aux_head, 645U);
				aux.control.aux_tail = 644;
				ASSERT_EQ(aux.begin(), PERF_AUX_OPENED);
				ASSERT_EQ(aux.handle.head, 645U);
				ASSERT_EQ(aux.handle.size, to - 2);
				ASSERT_EQ(aux.handle.wakeup, (645 / watermark + 1) * watermark);
			}
		}
	}
}

/* From begin to close, whatever it was that opened it, nothing changes under its hands. */
TEST(AuxSetup, IsRefusedWhileATransactionIsOpen)
{
	AuxFixture aux(64, 32);
	perf_aux_control other{};
	const auto refused = [&] {
		const perf_aux_ring before = aux.ring;
		const bool is_refused = !perf_aux_ring_setup(&aux.ring, &other, 16, 0, 1);

		EXPECT_EQ(aux.ring, before);
		EXPECT_EQ(aux.ring.control, &aux.control);
		return is_refused;
	};

	ASSERT_EQ(aux.begin(), PERF_AUX_OPENED);
	EXPECT_TRUE(refused());
	EXPECT_TRUE(refused()) << "the first refusal has closed it";
	aux.commit(63);
	EXPECT_TRUE(refused());
	perf_aux_ring_untold(&aux.ring, &aux.report);
	EXPECT_TRUE(refused());
	perf_aux_ring_publish(&aux.ring);
	EXPECT_TRUE(refused());
	perf_aux_ring_close(&aux.ring);

	ASSERT_EQ(aux.begin(), PERF_AUX_FULL);
	EXPECT_TRUE(refused());
	aux.refuse();

	ASSERT_EQ(aux.lose(5, 50), tell);
	EXPECT_TRUE(refused());
	perf_aux_ring_close(&aux.ring);

	EXPECT_TRUE(aux.setup(16, 8));
	EXPECT_EQ(aux.ring.size, 16U);
	EXPECT_TRUE(aux.setup(16, 0, true)) << "the first one is still at it";
	EXPECT_EQ(aux.begin(), PERF_AUX_OPENED);
}

TEST(AuxSetup, AgainWithMoreUnreadThanTheNewAreaHas)
{
	AuxFixture aux(64);

	aux.begin();
	aux.end(40);
	perf_aux_ring_setup(&aux.ring, &aux.control, 16, 8, 0);
	EXPECT_EQ(aux.begin(), PERF_AUX_FULL);
	aux.refuse();
	aux.control.aux_tail = 40;
	EXPECT_EQ(aux.begin(), PERF_AUX_OPENED);
	EXPECT_EQ(aux.handle.size, 15U);
}

} // namespace
} // namespace ring_test
