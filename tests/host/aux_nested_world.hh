/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One CPU on which the users of an AUX ring nest, and an observer who sees the user
 * page after every memory operation and knows what the records have told.
 *
 * At each operation the CPU may be taken by someone else: Choices says when and by
 * whom. A run is one schedule; run() says what was wrong.
 */
#ifndef TESTS_HOST_AUX_NESTED_WORLD_HH
#define TESTS_HOST_AUX_NESTED_WORLD_HH

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aux_fixture.hh"
#include "choices.hh"
#include "interruptible_aux.hh"

namespace ring_test {

enum class AuxDeed {
	write,	   /* a whole transaction */
	idle,	   /* one of no bytes */
	map,	   /* another area in place of this one */
	open,	   /* begin one that stays open */
	end,	   /* that one */
	lose,	   /* outside of it or within, as it comes */
	read_all,  /* the reader catches up */
	data_full, /* from now on the data ring refuses records */
	data_room,
};

/* How often something happened in all runs. */
struct AuxSightings {
	unsigned long busy = 0;
	unsigned long full = 0;
	unsigned long untold = 0;
	unsigned long told_for_others = 0; /* a loss, by another than its loser */
	unsigned long nothing_left = 0;	   /* to tell for a loser without a transaction */
	unsigned long shown_for_others = 0;
	unsigned long quiet = 0;
	unsigned long not_quiet = 0; /* of no bytes, but for what others had left */
	unsigned long kept_out = 0;  /* areas, by a transaction */
	unsigned long deepest = 0;
};

struct AuxScenario {
	std::string name;
	bool overwrite = false;
	std::vector<AuxDeed> earlier; /* done undisturbed, before */
	std::vector<AuxDeed> task;
	std::vector<AuxDeed> others;	/* what may come in at any point */
	AuxSightings expected;		/* at least, from three interruptions on */
	unsigned int nesting = 0;	/* contexts above the task */
	unsigned int interruptions = 0; /* in one schedule */
	unsigned int quiet = 0;		/* undisturbed points for each other one */

	friend std::ostream &operator<<(std::ostream &out, const AuxScenario &scenario)
	{
		return out << scenario.name;
	}
};

class AuxNestedWorld final : private Interrupts {
    public:
	AuxNestedWorld(const AuxScenario &scenario_, Choices &choices_)
		: scenario(scenario_),
		  choices(choices_)
	{
		set_interrupts(this);
	}
	~AuxNestedWorld()
	{
		set_interrupts(nullptr);
	}

	/* One schedule. Returns what was wrong, or nothing. */
	std::string run()
	{
		reset();
		for (const AuxDeed deed : scenario.earlier)
			act(deed);
		left = scenario.interruptions;
		for (const AuxDeed deed : scenario.task)
			act(deed);
		interruption_point();
		left = 0;
		check_at_rest();
		check_that_all_is_told();
		return failure;
	}

	AuxSightings seen;

    private:
	static constexpr unsigned long area_size = 16;
	static constexpr unsigned long start = 0UL - 12; /* positions wrap on the way */
	static constexpr unsigned long piece = 8;

	void reset()
	{
		aux = std::make_unique<AuxFixture>(area_size, scenario.overwrite ? 0 : piece,
						   scenario.overwrite, start);
		kept.reset();
		ending = nullptr;
		failure.clear();
		left = depth = owners = entering = 0;
		data_full = false;
		told_up_to = start;
		given = told = counting = last_shown = 0;
		losses = 0;
	}

	void require(bool holds, const char *what)
	{
		if (!holds && failure.empty())
			failure = what;
	}

	void before(Operation) override
	{
		interruption_point();
	}

	void after(Operation last) override
	{
		/* From here on, an NMI may begin, and on the same handle. */
		if (ending && last == Operation::unlock) {
			require(!ending->event, "the handle is still in use when all is over");
			require(!scenario.overwrite || aux->control.aux_head == ending->head,
				"aux_head moves when all is over");
		}

		const unsigned long shown = static_cast<unsigned long>(aux->control.aux_lost);

		require(shown >= last_shown, "aux_lost goes back");
		require(shown <= given, "aux_lost has more than was lost");
		last_shown = shown;
	}

	void interruption_point()
	{
		while (left && depth < scenario.nesting) {
			if (scenario.quiet && choices.choose(scenario.quiet + 1))
				return;

			const auto ways = static_cast<unsigned int>(scenario.others.size());
			const unsigned int way = choices.choose(ways + 1);

			if (way == 0)
				return;
			left--;
			depth++;
			seen.deepest = std::max<unsigned long>(seen.deepest, depth);
			act(scenario.others[way - 1]);
			depth--;
		}
	}

	void act(AuxDeed deed)
	{
		switch (deed) {
		case AuxDeed::write:
			write(piece);
			break;
		case AuxDeed::idle:
			write(0);
			break;
		case AuxDeed::map:
			map();
			break;
		case AuxDeed::open:
			open();
			break;
		case AuxDeed::end:
			if (kept)
				end(*std::exchange(kept, std::nullopt), piece);
			break;
		case AuxDeed::lose:
			lose();
			break;
		case AuxDeed::read_all:
			aux->control.aux_tail = aux->control.aux_head;
			break;
		case AuxDeed::data_full:
		case AuxDeed::data_room:
			data_full = deed == AuxDeed::data_full;
		}
	}

	/* Not if somebody who came in between keeps one. */
	void open()
	{
		if (kept)
			return;

		const std::optional<perf_aux_handle> handle = begin();

		if (handle)
			kept = handle;
	}

	void write(unsigned long most)
	{
		const std::optional<perf_aux_handle> handle = begin();

		if (!handle)
			return;
		interruption_point();
		end(*handle, most);
	}

	/* The same again, but what of the old one nobody has been told of is gone. */
	void map()
	{
		entering++;
		const bool mapped = interruptible::aux_setup(aux->ring, aux->control, area_size,
							     scenario.overwrite ? 0 : piece,
							     scenario.overwrite);
		entering--;

		/* Who came in between and does not keep it has closed it. */
		require(mapped != kept.has_value(), "an area for one that is in use, or none");
		if (mapped)
			told_up_to = aux->ring.head;
		else
			seen.kept_out++;
	}

	std::optional<perf_aux_handle> begin()
	{
		perf_aux_handle handle = stale_handle;

		entering++;
		const perf_aux_verdict verdict = interruptible::aux_begin(aux->ring, handle);
		entering--;

		if (verdict == PERF_AUX_BUSY) {
			require(owners || entering, "busy without a transaction");
			seen.busy++;
			return {};
		}
		own();
		handle.event = &ours;
		if (verdict == PERF_AUX_OPENED)
			return handle;
		refuse();
		return {};
	}

	void refuse()
	{
		perf_aux_report report = stale_report;

		seen.full++;
		if (interruptible::aux_refuse(aux->ring, report) & PERF_AUX_TELL)
			tell_of(report);
		disown();
	}

	void end(perf_aux_handle handle, unsigned long most)
	{
		const unsigned long bytes = scenario.overwrite ? most : std::min(most, handle.size);
		perf_aux_report report = stale_report;

		if (scenario.overwrite)
			handle.head = (handle.head + piece) % area_size;
		if (end_quietly(handle, bytes))
			return;
		if (interruptible::aux_commit(aux->ring, handle, bytes, report) & PERF_AUX_TELL)
			tell_of(report);
		interruptible::aux_publish(aux->ring);
		require(scenario.overwrite || aux->control.aux_head == aux->ring.head,
			"aux_head is not what was committed");
		disown();
	}

	/* As the shell does, it is tried first. */
	bool end_quietly(perf_aux_handle &handle, unsigned long bytes)
	{
		const bool anything_untold = (given & ~told & ~counting) || aux->ring.untold.size;

		ending = &handle;
		const bool quiet = interruptible::aux_end_quietly(aux->ring, handle, bytes);
		ending = nullptr;

		if (!quiet) {
			require(handle.event == &ours, "the handle is no longer in use");
			seen.not_quiet += bytes == 0;
			return false;
		}
		require(!handle.event, "the handle is still in use");
		require(!bytes && !anything_untold, "there is something to tell");
		owners--;
		seen.quiet++;
		return true;
	}

	/* Losses are powers of two: a sum says which ones it has. Their times are 1, 2, ... */
	void lose()
	{
		const unsigned long mine = 1UL << losses;
		const unsigned long long now = ++losses;
		perf_aux_report report = stale_report;

		given += mine;
		counting |= mine;
		entering++;
		const unsigned int todo = interruptible::aux_lose(aux->ring, mine, now, report);
		entering--;
		counting &= ~mine;

		if (todo) {
			own();
			tell_of(report);
			disown();
			return;
		}
		if (!owners && (told & mine))
			seen.nothing_left++;
		if (last_shown < given && depth)
			seen.shown_for_others++;
		seen.told_for_others += (told & mine) != 0;
	}

	/* From the operation that opens to the one that closes, nobody else may have it. */
	void own()
	{
		require(owners == 0, "two transactions are open");
		require(aux->ring.open, "the transaction is not open");
		owners++;
	}
	void disown()
	{
		require(aux->ring.open, "somebody else has closed the transaction");
		interruptible::aux_close(aux->ring);
		owners--;
	}

	void tell_of(const perf_aux_report &report)
	{
		constexpr unsigned long long quiet =
			PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK | PERF_AUX_FLAG_OVERWRITE;

		require(report.size || (report.flags & ~quiet), "a record says nothing");
		check_loss(report);
		if (!scenario.overwrite)
			require(report.offset == told_up_to, "a record does not follow the last");
		interruption_point();
		if (data_full) {
			seen.untold++;
			interruptible::aux_untold(aux->ring, report);
			return;
		}
		told += report.lost;
		told_up_to += report.size;
	}

	void check_loss(const perf_aux_report &report)
	{
		require((report.lost != 0) == ((report.flags & PERF_AUX_FLAG_LOST) != 0),
			"LOST without a loss, or the other way round");
		require((report.lost & ~given) == 0, "a loss is told that never was");
		require((report.lost & told) == 0, "a loss is told twice");
		if (!report.lost)
			return;

		/* Losers that interrupt each other may be off by the time that takes. */
		const unsigned long first = report.lost & -report.lost;
		const unsigned long named = 1UL << (report.lost_since - 1);

		require(named >= first || (named & counting),
			"a loss has the time of one told before");
		require(named & (report.lost | told | counting),
			"a loss has the time of one that is still to be told");
		require(report.lost_since <= losses, "a loss has a time to come");
	}

	void check_at_rest()
	{
		const perf_aux_ring &ring = aux->ring;

		require((ring.open != 0) == kept.has_value(), "open is not what it should be");
		require(owners == kept.has_value(), "the test is at fault");
		require(ring.showing == 0, "somebody still shows the sum");
		require((told & ring.lost) == 0, "a loss is told and still to be told");
		require((told | ring.lost) == given, "a loss is forgotten");
		require(ring.lost_total == given, "the sum is wrong");
		require(aux->control.aux_lost == given, "the page has not the sum");
		if (!scenario.overwrite)
			require(told_up_to + ring.untold.size == ring.head,
				"bytes are forgotten or told twice");
	}

	/* With room for records, the next who comes tells all that is left. */
	void check_that_all_is_told()
	{
		data_full = false;
		act(AuxDeed::end);
		act(AuxDeed::lose);
		require(told == given, "a loss is never told");
		require(scenario.overwrite || told_up_to == aux->ring.head, "bytes are never told");
	}

	const AuxScenario &scenario;
	Choices &choices;
	std::unique_ptr<AuxFixture> aux;
	std::optional<perf_aux_handle> kept;	 /* of the transaction that stays open */
	const perf_aux_handle *ending = nullptr; /* quietly, it is tried */
	int ours = 0;				 /* the event: handles have its address */
	std::string failure;
	unsigned int left = 0; /* interruptions */
	unsigned int depth = 0;
	unsigned int owners = 0;   /* of the transaction */
	unsigned int entering = 0; /* calls that may be about to own it */
	bool data_full = false;
	unsigned long told_up_to = 0;
	unsigned long given = 0;    /* bytes lost */
	unsigned long told = 0;	    /* those of them that a record has told of */
	unsigned long counting = 0; /* those whose loser has not returned */
	unsigned int losses = 0;
	unsigned long last_shown = 0; /* aux_lost */
};

} // namespace ring_test

#endif
