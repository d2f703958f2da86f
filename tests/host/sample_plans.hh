/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Plans and values for samples that look like data_record(): a sample of n words
 * is the header and n - 1 fixed fields, which hold the payload.
 */
#ifndef TESTS_HOST_SAMPLE_PLANS_HH
#define TESTS_HOST_SAMPLE_PLANS_HH

#include <array>

#include <linux/perf_event.h>

#include "ring_fixture.hh"
#include "sample_plan.h"

namespace ring_test {

inline constexpr unsigned int source_words = 32;

/* Each field has a word of its own, in an order that is not that of the sample. */
constexpr perf_sample_sources shuffled_sources()
{
	perf_sample_sources sources{};

	for (unsigned int i = 0; i < PERF_SAMPLE_BITS; i++)
		sources.word[i] = static_cast<unsigned char>((7 * i + 3) % source_words);
	return sources;
}

inline perf_sample_plan compiled_plan(unsigned long long sample_type, unsigned int every = 0)
{
	const perf_sample_sources sources = shuffled_sources();
	perf_sample_plan plan{};

	perf_sample_plan_compile(&plan, &sources, sample_type, every);
	return plan;
}

/* All fields of fixed size; the first n of them are in all three runs if n > 2. */
inline constexpr unsigned long long fixed_fields[] = {
	PERF_SAMPLE_TIME,
	PERF_SAMPLE_WEIGHT,
	PERF_SAMPLE_PHYS_ADDR,
	PERF_SAMPLE_IP,
	PERF_SAMPLE_TID,
	PERF_SAMPLE_DATA_SRC,
	PERF_SAMPLE_CGROUP,
	PERF_SAMPLE_IDENTIFIER,
	PERF_SAMPLE_ADDR,
	PERF_SAMPLE_TRANSACTION,
	PERF_SAMPLE_DATA_PAGE_SIZE,
	PERF_SAMPLE_ID,
	PERF_SAMPLE_CODE_PAGE_SIZE,
	PERF_SAMPLE_STREAM_ID,
	PERF_SAMPLE_CPU,
	PERF_SAMPLE_PERIOD,
};
inline constexpr unsigned int most_fixed_fields = std::size(fixed_fields);

class SamplePlans {
    public:
	SamplePlans()
	{
		unsigned long long type = 0;

		for (unsigned int i = 0; i <= most_fixed_fields; i++) {
			plans[i] = compiled_plan(type);
			if (i < most_fixed_fields)
				type |= fixed_fields[i];
		}
	}
	const perf_sample_plan &of_words(unsigned int words) const
	{
		return plans[words - 1];
	}

    private:
	std::array<perf_sample_plan, most_fixed_fields + 1> plans;
};

/* Made before main(), so that signal handlers find it. */
inline const SamplePlans sample_plans;

/* What an event has to offer when it writes the sample with @header. */
struct Sample {
	explicit Sample(const RecordHeader &header_, unsigned int every = 0)
		: header(header_word(header_)),
		  plan(sample_plans.of_words(header_.words))
	{
		plan.every = every;
		for (unsigned int i = 0; i + 1U < header_.words; i++)
			words[plan.from[i]] = payload_word(header_, i + 1);
	}

	const unsigned long long header;
	perf_sample_plan plan;
	std::array<unsigned long long, source_words> words{};
};

inline long emit_start(perf_data_ring &ring, perf_ring_handle &handle, Direction direction,
		       const Sample &sample, unsigned long size)
{
	const auto start = direction == Direction::forward ? perf_sample_start_forward
							   : perf_sample_start_backward;

	return start(&ring, &handle, &sample.plan, size, sample.header, sample.words.data());
}

inline long emit(perf_data_ring &ring, Direction direction, const Sample &sample)
{
	return direction == Direction::forward
		       ? perf_sample_emit_forward(&ring, &sample.plan, sample.header,
						  sample.words.data())
		       : perf_sample_emit_backward(&ring, &sample.plan, sample.header,
						   sample.words.data());
}

} // namespace ring_test

#endif
