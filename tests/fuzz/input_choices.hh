/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fuzzer's input as the choices of a duel. Each choice takes the next byte, two
 * where there are more than 256 ways; the input's end is the run's.
 */
#ifndef TESTS_FUZZ_INPUT_CHOICES_HH
#define TESTS_FUZZ_INPUT_CHOICES_HH

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "choices.hh"

namespace ring_test {

class InputChoices final : public Choices {
    public:
	InputChoices(const std::uint8_t *data, std::size_t size) : next(data), end(data + size)
	{
	}
	unsigned int choose(unsigned int ways) override
	{
		unsigned int number = take();

		if (ways > 256)
			number = number << 8 | take();
		return number % ways;
	}
	bool spent() const
	{
		return next == end;
	}

    private:
	unsigned int take()
	{
		return next == end ? 0 : *next++;
	}

	const std::uint8_t *next;
	const std::uint8_t *const end;
};

/* All of a run. Aborts where ring and model differ, which is what a fuzzer looks for. */
template <class Duel> void fight(const std::uint8_t *data, std::size_t size)
{
	InputChoices choices(data, size);
	const typename Duel::Setting setting = Duel::choose_setting(choices);
	Duel duel(setting, choices);
	const auto require_none = [&](const std::string &difference) {
		if (difference.empty())
			return;
		std::cerr << setting << ": " << difference << std::endl;
		std::abort();
	};

	while (!choices.spent())
		require_none(duel.step());
	require_none(duel.finish());
}

} // namespace ring_test

#endif
