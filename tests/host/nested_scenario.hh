/* SPDX-License-Identifier: GPL-2.0 */
/* What happens on the CPU of a NestedWorld, and what is expected to be seen. */
#ifndef TESTS_HOST_NESTED_SCENARIO_HH
#define TESTS_HOST_NESTED_SCENARIO_HH

#include <ostream>
#include <string>
#include <vector>

#include "ring_fixture.hh"

namespace ring_test {

enum class Deed { write, sample, read_all, read_one, pause, resume };

struct Action {
	Deed deed;
	unsigned long size = 0; /* of a record */
	unsigned int every = 0; /* wake-up interval of a sample, 0: none */
};

inline constexpr Action write_of(unsigned long size, unsigned int every = 0)
{
	return {Deed::write, size, every};
}
/* As the kernel's shell writes it: at once, or by its runs when a loss is to be told. */
inline constexpr Action sample_of(unsigned long size, unsigned int every = 0)
{
	return {Deed::sample, size, every};
}
inline constexpr Action read_all{Deed::read_all};
inline constexpr Action read_one{Deed::read_one};
inline constexpr Action pause{Deed::pause};
inline constexpr Action resume{Deed::resume};

/* How often something happened in all runs. */
struct Sightings {
	unsigned long refused = 0;
	unsigned long refused_with_wakeup = 0;
	unsigned long told_lost = 0;
	unsigned long woken = 0;
	unsigned long published_for_others = 0;
	unsigned long emitted = 0;
	unsigned long deepest = 0;
};

struct Scenario {
	std::string name;
	Geometry geometry;
	Direction direction = Direction::forward;
	unsigned long start = 0;	/* position */
	std::vector<Action> earlier;	/* done undisturbed, before */
	std::vector<Action> task;	/* what the lowest context does */
	std::vector<Action> others;	/* what may come in at any point */
	Sightings expected;		/* at least, from three interruptions on */
	unsigned int nesting = 0;	/* writers above the task */
	unsigned int interruptions = 0; /* in one schedule */
	unsigned int quiet = 0;		/* undisturbed points for each other one */

	friend std::ostream &operator<<(std::ostream &out, const Scenario &scenario)
	{
		return out << scenario.name;
	}
};

} // namespace ring_test

#endif
