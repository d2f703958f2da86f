// SPDX-License-Identifier: GPL-2.0
/* The fields of an aux_test event: one table for sysfs and for reading them. */
#include "config.h"

namespace {

constexpr int invalid = -22;

enum Field {
	rate,
	overrun,
	strict,
	raise_flags,
	chunk,
	burst,
	fail_setup,
	fail_begin,
	slow_stop,
	late_end,
	hw_id,
	align,
	drop,
	id,
	nr_fields
};

constexpr aux_test_field fields[nr_fields + 1] = {
	{"rate", 0, 0, 34},	 {"overrun", 0, 35, 36},   {"strict", 0, 37, 37},
	{"raise", 0, 48, 63},	 {"chunk", 1, 0, 31},	   {"burst", 1, 32, 63},
	{"fail_setup", 2, 0, 3}, {"fail_begin", 2, 4, 15}, {"slow_stop", 2, 16, 31},
	{"late_end", 2, 32, 32}, {"hw_id", 2, 33, 33},	   {"align", 2, 34, 37},
	{"drop", 2, 38, 53},	 {"id", 2, 54, 63},	   {nullptr, 0, 0, 0},
};

constexpr unsigned long long second = 1000000000;
constexpr unsigned long long default_rate = 1 << 20;
/* As often as a timer interrupt can be borne, and as rarely as a test can wait. */
constexpr unsigned long long shortest_interval = 10000;
constexpr unsigned long long longest_interval = second;

constexpr unsigned int word_size = 8;
constexpr unsigned int flag_truncated = 0x01;
constexpr unsigned int flag_partial = 0x04;
constexpr unsigned int flag_collision = 0x08;
constexpr unsigned int flag_format = 0xff00;
/* OVERWRITE is not the driver's, and the others have no meaning yet. */
constexpr unsigned int may_raise = flag_truncated | flag_partial | flag_collision | flag_format;

constexpr unsigned long long mask_of(const aux_test_field &field)
{
	return (~0ULL >> (63 - (field.last_bit - field.first_bit))) << field.first_bit;
}

constexpr unsigned long long value_of(Field which, const unsigned long long *words)
{
	const aux_test_field &field = fields[which];

	return (words[field.config] & mask_of(field)) >> field.first_bit;
}

bool only_known_bits(const unsigned long long *words)
{
	unsigned long long known[AUX_TEST_CONFIGS] = {};

	for (int i = 0; i < nr_fields; i++)
		known[fields[i].config] |= mask_of(fields[i]);
	for (int i = 0; i < AUX_TEST_CONFIGS; i++)
		if (words[i] & ~known[i])
			return false;
	return true;
}

/* A millisecond's worth unless asked otherwise; at least a word. */
unsigned long burst_of(unsigned long asked, unsigned long long rate_asked)
{
	const unsigned long per_ms = static_cast<unsigned long>(rate_asked / 1000) & ~7UL;

	if (asked)
		return asked;
	return per_ms < word_size ? word_size : per_ms;
}

unsigned long long interval_of(unsigned long burst_size, unsigned long long rate_asked)
{
	const unsigned long long exact = burst_size * second / rate_asked;

	if (exact < shortest_interval)
		return shortest_interval;
	return exact < longest_interval ? exact : longest_interval;
}

bool possible(const aux_test_config &config, unsigned int log_align)
{
	if (config.chunk % word_size || config.burst % word_size)
		return false;
	if (config.overrun >= AUX_TEST_OVERRUNS || config.raise & ~may_raise)
		return false;
	if (config.late_end && !config.slow_stop)
		return false;
	return log_align == 0 || (log_align >= 3 && log_align <= 12);
}

} // namespace

extern "C" {

const aux_test_field *aux_test_fields(void)
{
	return fields;
}

int aux_test_parse(aux_test_config *config, const unsigned long long words[AUX_TEST_CONFIGS])
{
	const auto number = [words](Field which) {
		return static_cast<unsigned int>(value_of(which, words));
	};
	const unsigned long long asked = value_of(rate, words);

	if (!only_known_bits(words))
		return invalid;

	config->rate = asked ? asked : default_rate;
	config->chunk = number(chunk);
	config->burst = burst_of(number(burst), config->rate);
	config->interval = interval_of(config->burst, config->rate);
	config->align = number(align) ? 1UL << number(align) : word_size;
	config->raise = number(raise_flags);
	config->overrun = static_cast<aux_test_overrun>(number(overrun));
	config->drop = number(drop);
	config->fail_setup = number(fail_setup);
	config->fail_begin = number(fail_begin);
	config->slow_stop = number(slow_stop);
	config->late_end = number(late_end) != 0;
	config->hw_id = number(hw_id) != 0;
	config->strict = number(strict) != 0;
	config->id = number(id);
	return possible(*config, number(align)) ? 0 : invalid;
}

} // extern "C"
