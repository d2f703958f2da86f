// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer: files and streams that say anything. Seeds are files of the stock perf:
 * any directory of perf.data files will do.
 */
#include "data_mutation.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	perfring::data::read_everything(std::as_bytes(std::span(data, size)));
	return 0;
}
