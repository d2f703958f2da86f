// SPDX-License-Identifier: GPL-2.0
/* How much goes into the variable fields of a sample. */
#include "sample_size.h"

namespace {

constexpr unsigned long word = 8;

constexpr unsigned long smaller(unsigned long a, unsigned long b)
{
	return a < b ? a : b;
}

constexpr unsigned long whole_words(unsigned long bytes)
{
	return bytes & ~(word - 1);
}

/* What is left of a record of @used bytes once @more have been added. */
constexpr unsigned long room(unsigned long used, unsigned long more)
{
	return used + more < PERF_RECORD_SIZE_MAX ? PERF_RECORD_SIZE_MAX - used - more : 0;
}

} // namespace

extern "C" {

unsigned int perf_sample_stack_dump(unsigned int asked, unsigned int available,
				    unsigned long used)
{
	const unsigned long wanted = smaller(asked, available);

	return static_cast<unsigned int>(whole_words(smaller(wanted, room(used, 2 * word))));
}

unsigned int perf_sample_stack_field(unsigned int dump)
{
	return static_cast<unsigned int>(dump ? dump + 2 * word : word);
}

/* The area's last word may be cut: what is missing of it is filled up. */
unsigned int perf_sample_aux_dump(unsigned int asked, unsigned long available, unsigned long used)
{
	const unsigned long most = whole_words(smaller(asked, room(used, word)));

	return static_cast<unsigned int>(whole_words(smaller(most, available) + word - 1));
}

} // extern "C"
