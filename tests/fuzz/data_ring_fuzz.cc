// SPDX-License-Identifier: GPL-2.0
/*
 * Data ring: libFuzzer chooses the ring and what is done with it; the reference
 * model says what has to come of it.
 *
 * Each choice takes the next byte of the input, two where there are more than
 * 256 ways; the input's end is the run's.
 */
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ring_duel.hh"

namespace ring_test {
namespace {

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

void require_none(const std::string &difference, const RingDuel::Setting &setting)
{
	if (difference.empty())
		return;
	std::cerr << setting << ": " << difference << std::endl;
	std::abort();
}

} // namespace
} // namespace ring_test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	using namespace ring_test;

	InputChoices choices(data, size);
	const RingDuel::Setting setting = RingDuel::choose_setting(choices);
	RingDuel duel(setting, choices);

	while (!choices.spent())
		require_none(duel.step(), setting);
	require_none(duel.finish(), setting);
	return 0;
}
