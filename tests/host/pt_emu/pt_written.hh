/* SPDX-License-Identifier: GPL-2.0 */
/* A unit whose output is looked at byte by byte. */
#ifndef TESTS_PT_EMU_PT_WRITTEN_HH
#define TESTS_PT_EMU_PT_WRITTEN_HH

#include <gtest/gtest.h>

#include "pt_machine.hh"

namespace pt_test {

using Bytes = std::vector<std::uint8_t>;

class PtWritten : public testing::Test {
    protected:
	PtMachine machine{all_features()};
	std::uint64_t memory = machine.allocate(page_size, page_size);

	/* What comes behind the PSB+ is news. */
	void start(std::uint64_t control)
	{
		ASSERT_TRUE(machine.write(msr::output_base, memory));
		ASSERT_TRUE(machine.write(msr::output_mask, page_size - 1));
		ASSERT_TRUE(machine.write(msr::ctl, control));
		(void)news();
	}
	/* What has been written since the last time. */
	Bytes news()
	{
		const std::uint64_t now = machine.read(msr::output_mask) >> 32;
		const Bytes bytes = machine.bytes(memory + told, now - told);

		told = now;
		return bytes;
	}

    private:
	std::uint64_t told = 0;
};

} // namespace pt_test

#endif
