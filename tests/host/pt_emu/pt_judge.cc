// SPDX-License-Identifier: GPL-2.0
#include "pt_judge.hh"

namespace pt_test {

Judge::Judge(const std::vector<Item> &all, const std::vector<Segment> &parts, bool is_loose)
	: truth(all),
	  segments(parts),
	  loose(is_loose)
{
}

std::size_t Judge::end(const State &state) const
{
	return state.segment + 1 < segments.size() ? segments[state.segment + 1].begin
						   : truth.size();
}

/* What can be there twice, because an NMI has it done again. */
bool Judge::beginning(const Item &item)
{
	return item.kind == Item::enabled || item.kind == Item::stop;
}

bool Judge::apart(const Item &item) const
{
	return loose && (item.kind == Item::stop || item.kind == Item::ptwrite);
}

Judge::State Judge::in_next(const State &state) const
{
	const std::size_t begin = segments[state.segment + 1].begin;

	return {state.segment + 1, begin, begin, 0};
}

/* Is there a value in the segment that has not been told? */
bool Judge::owes_value(State &state) const
{
	while (state.value < end(state) && truth[state.value].kind != Item::ptwrite)
		state.value++;
	return loose && state.value < end(state);
}

/* May the next segment begin here, without a gap? */
bool Judge::goes_on(const State &state) const
{
	State copy = state;

	if (state.segment + 1 == segments.size() || segments[state.segment + 1].gaps ||
	    state.told != segments[state.segment].gaps)
		return false;
	return segments[state.segment + 1].cut || (state.next == end(state) && !owes_value(copy));
}

/* All places that are the same as this one, as far as the decoder says. */
void Judge::reach(State state, std::set<State> &reached) const
{
	for (;;) {
		while (state.next < end(state) && apart(truth[state.next]))
			state.next++;
		if (!reached.insert(state).second)
			return;

		const bool twice = state.next < end(state) && segments[state.segment].cut &&
				   beginning(truth[state.next]) && truth[state.next] == begun;

		if (goes_on(state))
			reach(in_next(state), reached);
		if (!twice)
			return;
		state.next++;
	}
}

/* An NMI has come behind what begins: it is given up, a gap tells so, and it begins again. */
bool Judge::too_early(const State &state, const Item &item) const
{
	const Segment &now = segments[state.segment];

	/* Between two gaps it may have begun where nothing has run: the truth knows no place. */
	if (now.cut && state.told < now.gaps && state.next < truth.size() &&
	    (truth[state.next] == item || state.told))
		return true;
	/* The same where an NMI has ended it at once. */
	if (now.cut && now.begin == end(state))
		return true;
	if (state.segment + 1 == segments.size())
		return false;

	const Segment &next = segments[state.segment + 1];

	return next.cut && next.gaps && next.begin < truth.size() && truth[next.begin] == item;
}

bool Judge::see(const Item &item)
{
	std::set<State> reached;
	std::set<State> after;

	for (const State &state : states)
		reach(state, reached);
	for (State state : reached) {
		const bool cut = segments[state.segment].cut;

		if (item.kind == Item::gap) {
			if (state.told < segments[state.segment].gaps) {
				state.told++;
				after.insert(state);
			} else if (state.segment + 1 < segments.size() &&
				   segments[state.segment + 1].gaps) {
				state = in_next(state);
				state.told = 1;
				after.insert(state);
			}
		} else if (loose && item.kind == Item::ptwrite) {
			if (owes_value(state) && truth[state.value].payload == item.payload) {
				state.value++;
				after.insert(state);
			}
		} else {
			const std::size_t begin = segments[state.segment].begin;
			const bool again = item == begun || (state.next == begin && begin &&
							     item == truth[begin - 1]);

			if (beginning(item) && ((cut && again) || too_early(state, item)))
				after.insert(state);
			if (state.next < end(state) && truth[state.next] == item) {
				state.next++;
				after.insert(state);
			}
		}
	}
	if (after.empty())
		return false;
	if (item.kind == Item::gap)
		gaps++;
	else if (item.kind != Item::ptwrite)
		begun = item;
	states = after;
	return true;
}

bool Judge::finish()
{
	std::set<State> reached;

	for (const State &state : states)
		reach(state, reached);
	for (State state : reached) {
		if (state.segment + 1 == segments.size() && state.next == truth.size() &&
		    state.told == segments[state.segment].gaps && !owes_value(state))
			return true;
	}
	return false;
}

void Judge::tell(std::ostream &out) const
{
	for (const State &state : states) {
		out << "\n  segment " << state.segment << " of " << segments.size();
		for (std::size_t i = state.segment; i < segments.size() && i < state.segment + 3;
		     i++)
			out << ", " << segments[i].begin << " with " << segments[i].gaps << " gaps"
			    << (segments[i].cut ? " (cut)" : "");
		const std::size_t next = state.next;

		for (std::size_t i = next < 4 ? 0 : next - 4; i < truth.size() && i < next + 5; i++)
			out << "\n  true item " << i << ": " << describe(truth[i]);
	}
}

} // namespace pt_test
