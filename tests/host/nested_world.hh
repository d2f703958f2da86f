/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One CPU on which writers nest, a reader on another, and an observer who sees
 * the ring after every memory operation and knows what it has to look like.
 *
 * At each operation of a writer the world may be given to someone else: Choices
 * says when and to whom. A run is one schedule; run() says what was wrong.
 */
#ifndef TESTS_HOST_NESTED_WORLD_HH
#define TESTS_HOST_NESTED_WORLD_HH

#include <array>
#include <string>
#include <vector>

#include "choices.hh"
#include "interruptible_ring.hh"
#include "nested_scenario.hh"
#include "sample_plans.hh"

namespace ring_test {

class NestedWorld final : private Interrupts {
    public:
	NestedWorld(const Scenario &scenario_, Choices &choices_)
		: scenario(scenario_),
		  choices(choices_),
		  fixture(scenario_.geometry),
		  ring(fixture.ring)
	{
		for (const Action &action : scenario.others)
			if (!writes(action))
				not_writers.push_back(action);
		set_interrupts(this);
	}
	~NestedWorld()
	{
		set_interrupts(nullptr);
	}

	/* One schedule. Returns what was wrong, or nothing. */
	std::string run()
	{
		reset();
		left = 0;
		for (const Action &action : scenario.earlier)
			act(action);
		left = scenario.interruptions;
		for (const Action &action : scenario.task)
			act(action);
		interruption_point();
		check_at_rest();
		return failure;
	}

	Sightings seen;

    private:
	static bool writes(const Action &action)
	{
		return action.deed == Deed::write || action.deed == Deed::sample;
	}

	/* A writer between reserve and commit. */
	struct Writer {
		unsigned long wanted; /* its reservation, with what it took for LOST */
		unsigned long lost_size;
		RecordHeader header;
		bool at_once; /* no telling when its bytes are there */
		unsigned int loads = 0;
		bool paused = false; /* when it looked */
		bool looked_at_tail = false;
		unsigned long room = 0;	  /* when it looked last */
		std::size_t place = none; /* in `taken` */
	};
	struct Reservation {
		unsigned long at; /* its lowest position */
		unsigned long size;
		unsigned long lost_size;
		RecordHeader header;
		bool written;
		std::uint64_t told = 0;
	};
	static constexpr std::size_t none = ~std::size_t{0};

	void reset()
	{
		ring.nest = ring.paused = 0;
		ring.lost = ring.events = 0;
		fixture.start_at(scenario.start, scenario.direction);
		fixture.forget();
		taken.clear();
		published = consumed = 0;
		top = nullptr;
		depth = 0;
		next_id = 1;
		failure.clear();
		refused = told = counted = count_wakeups = 0;
		wakeup_owed = false;
		last = {ring.head, fixture.head(), ring.wakeup, ring.lost};
		told_up_to = fixture.head();
	}

	void fail(const std::string &what)
	{
		if (failure.empty())
			failure = scenario.name + ": " + what;
	}
	void require(bool condition, const char *what)
	{
		if (__builtin_expect(!condition, 0))
			fail(what);
	}

	unsigned long distance(unsigned long from, unsigned long to) const
	{
		return scenario.direction == Direction::forward ? to - from : from - to;
	}
	unsigned long tail() const
	{
		return static_cast<unsigned long>(fixture.control.data_tail);
	}

	/* --- what happens --- */

	void act(const Action &action)
	{
		switch (action.deed) {
		case Deed::write:
		case Deed::sample:
			write(action);
			break;
		case Deed::read_all:
			while (consumed < published)
				consume();
			break;
		case Deed::read_one:
			if (consumed < published)
				consume();
			break;
		case Deed::pause:
			perf_data_ring_set_paused(&ring, 1);
			break;
		case Deed::resume:
			perf_data_ring_set_paused(&ring, 0);
			break;
		}
	}

	void write(const Action &action)
	{
		const RecordHeader header{next_id++, static_cast<std::uint16_t>(action.size / 8),
					  RecordKind::data, static_cast<std::uint8_t>(depth)};
		const bool at_once = action.deed == Deed::sample && !ring.lost;
		Writer me{action.size, ring.lost ? lost_record_size : 0, header, at_once};
		Writer *const below = top;

		top = &me;
		seen.deepest = std::max<unsigned long>(seen.deepest, depth++);
		if (at_once)
			emit(me, action);
		else
			reserve_and_fill(me, action);
		depth--;
		top = below;
	}

	void emit(const Writer &me, const Action &action)
	{
		const Sample sample(me.header, action.every);
		const long verdict = interruptible::emit(ring, scenario.direction, sample.plan,
							 sample.header, sample.words.data());

		if (verdict < 0)
			return judge_refusal(me, verdict);
		if (me.place == none)
			return fail("reserved nothing and said it did");
		seen.emitted++;
		if (action.every)
			count(action.every);
		if (verdict == PERF_SAMPLE_WRITTEN_WAKE)
			woken();
		else
			require(verdict == PERF_SAMPLE_WRITTEN, "emit() said nothing known");
	}

	void reserve_and_fill(const Writer &me, const Action &action)
	{
		perf_ring_handle handle{};
		const long verdict = interruptible::reserve(ring, handle, scenario.direction,
							    action.size, me.lost_size);

		if (verdict < 0)
			return judge_refusal(me, verdict);
		if (me.place == none)
			return fail("reserved nothing and said it did");
		tell_lost(me, handle, verdict);
		if (action.deed == Deed::sample)
			write_runs(me.header, handle);
		else
			write_words(me.header, handle);
		taken[me.place].written = true;
		if (action.every) {
			count(action.every);
			interruptible::count_sample(ring, action.every);
		}
		if (interruptible::commit(handle))
			woken();
	}

	void tell_lost(const Writer &me, perf_ring_handle &handle, long verdict)
	{
		require((verdict != 0) == (taken[me.place].lost_size != 0),
			"bytes for a LOST record and its count do not go together");
		if (!verdict)
			return;

		const std::uint64_t count = static_cast<std::uint64_t>(verdict);
		const std::array words{header_word(lost_header(me.header.level)), count};

		taken[me.place].told = count;
		told += count;
		seen.told_lost++;
		interruptible::copy(handle, words.data(), sizeof(words));
	}

	static void write_words(const RecordHeader &header, perf_ring_handle &handle)
	{
		std::array<std::uint64_t, 16> words;

		words[0] = header_word(header);
		for (std::uint64_t i = 1; i < header.words; i++)
			words[i] = payload_word(header, i);
		interruptible::copy(handle, words.data(), header.size());
	}

	static void write_runs(const RecordHeader &header, perf_ring_handle &handle)
	{
		const Sample sample(header);

		interruptible::copy(handle, &sample.header, sizeof(sample.header));
		for (const perf_sample_run run :
		     {PERF_SAMPLE_RUN_HEAD, PERF_SAMPLE_RUN_MIDDLE, PERF_SAMPLE_RUN_TAIL})
			interruptible::write_run(handle, sample.plan, run, sample.words.data());
	}

	void count(unsigned int every)
	{
		interval = every;
		counted++;
	}

	static RecordHeader lost_header(std::uint8_t level)
	{
		return {0, lost_record_size / 8, RecordKind::lost, level};
	}

	/* The reader takes one reservation and what it read is gone. */
	void consume()
	{
		const Reservation &next = taken[consumed++];

		require(is_whole(next), "a record changed after it was published");
		fixture.forget(next.at, next.size);
		fixture.set_tail(scenario.direction == Direction::forward ? next.at + next.size
									  : next.at);
	}

	void interruption_point()
	{
		if (left == 0 || !failure.empty())
			return;

		const std::vector<Action> &others =
			depth <= scenario.nesting ? scenario.others : not_writers;
		const unsigned int count = static_cast<unsigned int>(others.size());

		if (count == 0)
			return;

		const unsigned int way = choices.choose(1 + count + count * scenario.quiet);

		if (way == 0 || way > count)
			return;
		left--;
		act(others[way - 1]);
	}

	/* --- what is observed --- */

	void before(Operation) override
	{
		interruption_point();
	}

	void after(Operation operation) override
	{
		switch (operation) {
		case Operation::load:
			if (top->loads++ == 0)
				top->paused = ring.paused != 0;
			return;
		case Operation::load_tail:
			top->looked_at_tail = true;
			top->room = ring.size - 1 - distance(tail(), ring.head);
			return;
		case Operation::exchange:
			if (last.lost)
				top->wanted += top->lost_size;
			break;
		case Operation::add:
			if (ring.wakeup != last.wakeup)
				count_wakeups++;
			break;
		default:
			break;
		}
		if (ring.head != last.head)
			head_moved();
		if (fixture.head() != last.published)
			head_published();
		if (ring.wakeup != last.wakeup)
			wakeup_owed = true;
		last = {ring.head, fixture.head(), ring.wakeup, ring.lost};
	}

	void head_moved()
	{
		const unsigned long size = distance(last.head, ring.head);

		require(size == top->wanted, "reserved more or less than wanted");
		require(top->place == none, "reserved twice");
		require(!top->paused, "a paused ring was written to");
		require(scenario.geometry.overwrite || distance(tail(), ring.head) <= ring.size - 1,
			"the reader was overrun");
		top->place = taken.size();
		taken.push_back({scenario.direction == Direction::forward ? last.head : ring.head,
				 size, size - top->header.size(), top->header, top->at_once});
	}

	void head_published()
	{
		unsigned long rest = distance(last.published, fixture.head());

		require(rest <= distance(last.published, ring.head),
			"data_head went back, or beyond what is reserved");
		while (rest && failure.empty()) {
			const Reservation &next = taken[published];

			require(next.size <= rest, "data_head is inside of a record");
			require(next.written && is_whole(next),
				"a record was published before it was written");
			rest -= next.size;
			published++;
			if (next.header.level + 1U != depth)
				seen.published_for_others++;
			if (scenario.geometry.overwrite) {
				fixture.forget(next.at, next.size);
				consumed++;
			}
		}
	}

	bool is_whole(const Reservation &reservation)
	{
		const RecordHeader &header = reservation.header;
		unsigned long at = reservation.at;

		if (reservation.lost_size) {
			if (fixture.word_at(at) != header_word(lost_header(header.level)) ||
			    fixture.word_at(at + 8) != reservation.told)
				return false;
			at += reservation.lost_size;
		}
		if (fixture.word_at(at) != header_word(header))
			return false;
		for (std::uint64_t i = 1; i < header.words; i++)
			if (fixture.word_at(at + 8 * i) != payload_word(header, i))
				return false;
		return true;
	}

	void judge_refusal(const Writer &me, long verdict)
	{
		refused++;
		seen.refused++;
		require(me.place == none, "a refused writer reserved");
		require(verdict != PERF_RING_NO_DATA, "the ring has a data area");
		if (me.paused) {
			require(verdict == PERF_RING_FULL, "a paused ring woke the reader");
		} else {
			require(!scenario.geometry.overwrite, "an overwritten ring refused");
			require(me.looked_at_tail && me.room < me.wanted, "refused what fits");
		}
		if (verdict == PERF_RING_FULL_WAKE) {
			seen.refused_with_wakeup++;
			woken();
		}
	}

	void woken()
	{
		require(fixture.head() == ring.head, "woken before the data was published");
		wakeup_owed = false;
		told_up_to = fixture.head();
		seen.woken++;
	}

	void check_at_rest()
	{
		const unsigned long progress =
			scenario.direction == Direction::forward ? ring.head : 0 - ring.head;
		const long behind = static_cast<long>(progress - ring.wakeup);

		require(ring.nest == 0, "nest is not 0 with nobody inside");
		require(fixture.head() == ring.head, "the last record is not published");
		require(published == taken.size(), "a record was left out");
		require(told + ring.lost == refused, "a refused record was told of never or twice");

		require(!wakeup_owed, "a wake-up was lost");
		require(behind >= -static_cast<long>(count_wakeups),
			"the wake-up stamp is ahead of the data");
		require(distance(told_up_to, ring.head) <= ring.watermark + count_wakeups,
			"more than a watermark was written without a wake-up");
		if (counted) {
			require(ring.events == counted % interval, "samples were miscounted");
			require(count_wakeups == counted / interval, "not every n-th sample woke");
		}

		while (consumed < published)
			consume();
	}

	const Scenario &scenario;
	Choices &choices;
	std::vector<Action> not_writers; /* of the others: they nest no deeper */
	RingFixture fixture;
	perf_data_ring &ring;

	unsigned int left = 0; /* interruptions */
	unsigned int depth = 0;
	Writer *top = nullptr;
	std::uint32_t next_id = 1;

	struct {
		unsigned long head;
		unsigned long published;
		unsigned long wakeup;
		unsigned long lost;
	} last{};
	std::vector<Reservation> taken; /* in order */
	std::size_t published = 0;	/* of them */
	std::size_t consumed = 0;	/* of them */

	unsigned long refused = 0;
	unsigned long told = 0;
	unsigned long counted = 0; /* samples */
	unsigned int interval = 1;
	unsigned long count_wakeups = 0;
	bool wakeup_owed = false;
	unsigned long told_up_to = 0; /* data_head at the last wake-up */
	std::string failure;
};

} // namespace ring_test

#endif
