// SPDX-License-Identifier: GPL-2.0
/*
 * Data ring: libFuzzer chooses the ring and what is done with it; the reference
 * model says what has to come of it.
 */
#include "input_choices.hh"
#include "ring_duel.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	ring_test::fight<ring_test::RingDuel>(data, size);
	return 0;
}
