/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compares what a decoder has found with what has run.
 *
 * The truth is a row of segments. Where the unit has counted a loss, the decoder tells a
 * gap, and may lack the end of the segment before it. Where an NMI has ended the trace,
 * the end may be missing without a word, and the same beginning may be there twice. So
 * there can be several places in the truth that fit; all are followed.
 */
#ifndef TESTS_PT_EMU_PT_JUDGE_HH
#define TESTS_PT_EMU_PT_JUDGE_HH

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "pt_oracle.hh"

namespace pt_test {

/* A part of the truth. */
struct Segment {
	std::size_t begin;
	unsigned long long gaps; /* told in front of it */
	bool cut;		 /* the one before is cut short without a word */
};

class Judge {
    public:
	/* @loose: the decoder is perf's, which tells values early and no stops. */
	Judge(const std::vector<Item> &truth, const std::vector<Segment> &segments, bool loose);

	/* False: the decoder cannot have found this. */
	bool see(const Item &item);
	/* False: there should have been more. */
	bool finish();
	/* Where it went wrong. */
	void tell(std::ostream &out) const;

	unsigned long gaps = 0;

    private:
	struct State {
		std::size_t segment;
		std::size_t next;
		std::size_t value; /* not told yet: perf's */
		unsigned long long told;

		auto operator<=>(const State &) const = default;
	};

	std::size_t end(const State &state) const;
	bool apart(const Item &item) const;
	static bool beginning(const Item &item);
	bool too_early(const State &state, const Item &item) const;
	void reach(State state, std::set<State> &reached) const;
	bool goes_on(const State &state) const;
	bool owes_value(State &state) const;
	State in_next(const State &state) const;

	const std::vector<Item> &truth;
	const std::vector<Segment> &segments;
	const bool loose;
	std::set<State> states{{0, 0, 0, 0}};
	Item begun{};
};

} // namespace pt_test

#endif
