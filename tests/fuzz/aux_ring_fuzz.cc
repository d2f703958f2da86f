// SPDX-License-Identifier: GPL-2.0
/* AUX ring: the same as data_ring_fuzz. Short inputs get everywhere: it needs no seeds. */
#include "aux_duel.hh"
#include "input_choices.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	ring_test::fight<ring_test::AuxDuel>(data, size);
	return 0;
}
