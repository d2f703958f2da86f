/* SPDX-License-Identifier: GPL-2.0 */
/* What libipt makes of a trace. */
#ifndef TESTS_PT_EMU_PT_ORACLE_HH
#define TESTS_PT_EMU_PT_ORACLE_HH

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pt_unit.h"

namespace pt_test {

struct Item {
	enum Kind { instruction, ptwrite, gap, enabled, stop } kind;
	std::uint64_t ip;      /* of instruction, ptwrite, enabled */
	std::uint64_t payload; /* of ptwrite */
	pt_unit_mode mode;     /* of instruction */
	std::uint64_t offset;  /* in the trace, about; of no weight */

	bool operator==(const Item &other) const
	{
		return kind == other.kind && ip == other.ip && payload == other.payload &&
		       mode == other.mode;
	}
};

std::string describe(const Item &item);

/* Reads code: how many of @size bytes there are. */
using ReadCode = std::function<unsigned int(std::uint64_t, std::uint8_t *, unsigned int)>;

struct Decoded {
	std::vector<Item> items;
	std::string error; /* empty: none */
	bool by_perf = false;
};

/* Instruction by instruction, by libipt. */
Decoded decode(std::vector<std::uint8_t> trace, const ReadCode &code);

/* By libipt's packet decoder, one line a packet; the last may be an error. */
std::vector<std::string> packets(std::vector<std::uint8_t> trace);

} // namespace pt_test

#endif
