/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds: what all recording threads do together. In each, every thread empties its
 * rings up to where they were when the round began and takes a place in the file for
 * what it has. The last one to do so ends the round with PERF_RECORD_FINISHED_ROUND.
 *
 * A reader of the file may sort and forget, at the end of a round, whatever is not
 * younger than the youngest record of the round before. That holds: the records of
 * the round before had their place in the file when this round began, so each is
 * older than the heads that this round goes up to.
 */
#ifndef PERFRING_RECORD_ROUNDS_HH
#define PERFRING_RECORD_ROUNDS_HH

#include "mutex.hh"
#include "output.hh"

#include <atomic>
#include <memory>
#include <utility>

namespace perfring::record {

/* What a round is for, beside emptying the rings. */
struct RoundOrder {
	bool snapshot = false;		       /* AUX snapshots, and rings that overwrite */
	bool enabled = true;		       /* whether AUX events go on after a snapshot */
	bool stop = false;		       /* the last one */
	std::shared_ptr<Output> next_output{}; /* from then on */
};

class Rounds {
    public:
	explicit Rounds(std::size_t threads) : members(threads)
	{
	}

	/*
	 * Begins a round, unless one is going on: then false. The threads have to be
	 * woken. The order is for all of them.
	 */
	bool begin(RoundOrder what)
	{
		const std::scoped_lock guard(lock);

		if (missing)
			return false;
		order = std::move(what);
		missing = members;
		number++;
		return true;
	}

	/* The number of the round that goes on or was last, and its order. */
	std::uint64_t current(RoundOrder &what) const
	{
		const std::scoped_lock guard(lock);

		what = order;
		return number;
	}
	std::uint64_t current() const
	{
		return number.load(std::memory_order_acquire);
	}

	/*
	 * A thread is through. place(last) takes the place in the file; no other thread
	 * takes one for this round meanwhile.
	 */
	template <class Place> void arrive(Place &&place)
	{
		{
			const std::scoped_lock guard(lock);

			place(missing == 1);
			missing--;
		}
		all_there.notify();
	}

	/* Whether events are to be on: changes nothing while a thread acts on it. */
	template <class Action> void set_enabled(bool on, Action &&action)
	{
		const std::scoped_lock guard(enabling);

		enabled = on;
		action();
	}
	template <class Action> void if_enabled(Action &&action)
	{
		const std::scoped_lock guard(enabling);

		if (enabled)
			action();
	}

	void wait()
	{
		std::unique_lock guard(lock);

		all_there.wait(guard, [&] { return missing == 0; });
	}

    private:
	mutable Mutex lock;
	Condition all_there;
	RoundOrder order;
	std::size_t members;
	std::size_t missing = 0;
	std::atomic<std::uint64_t> number = 0;
	Mutex enabling;
	bool enabled = false;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_ROUNDS_HH */
