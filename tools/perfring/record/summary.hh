/* SPDX-License-Identifier: GPL-2.0 */
/* What is said at the end: how much there is, and everything that there is not. */
#ifndef PERFRING_RECORD_SUMMARY_HH
#define PERFRING_RECORD_SUMMARY_HH

#include "event_set.hh"
#include "ledger.hh"

#include <cstdio>
#include <string>
#include <vector>

namespace perfring::record {

struct Summary {
	const Ledger &ledger;
	EventSet &events;
	const std::vector<std::string> &files;
	std::uint64_t bytes;
	const char *stop_reason;
	int output_error;
	bool to_stdout;
};

void print_summary(std::FILE *to, const Summary &summary);

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_SUMMARY_HH */
