/* SPDX-License-Identifier: GPL-2.0 */
/* Everything that reads a perf.data file, over bytes that may say anything. */
#ifndef PERFRING_TESTS_DATA_MUTATION_HH
#define PERFRING_TESTS_DATA_MUTATION_HH

#include <cstdlib>

#include "data/build_id.hh"
#include "data/check.hh"
#include "data/fill_log.hh"
#include "data/picture.hh"
#include "data/reader.hh"
#include "data/timeline.hh"

namespace perfring::data {

/* A view lies within another; where not, there is nothing to be saved. */
inline void must_be_within(ByteView part, ByteView whole)
{
	if (!part.empty() &&
	    (part.data() < whole.data() || part.data() + part.size() > whole.data() + whole.size()))
		std::abort();
}

/* Returns what the reader made of it. */
inline Verdict read_everything(ByteView file)
{
	Reader reader(file);
	std::uint64_t last = 0;

	while (const auto record = reader.next()) {
		if (record->bytes.size() != record->header.size || record->offset < last)
			std::abort();
		last = record->offset;
		if (!record->was_compressed)
			must_be_within(record->bytes, file);
		must_be_within(record->payload, file);
		if (const auto sample = reader.sample_of(*record)) {
			for (const ByteView field :
			     {sample->callchain, sample->raw, sample->read, sample->branches,
			      sample->user_stack, sample->user_regs, sample->intr_regs,
			      sample->aux})
				must_be_within(field, record->bytes);
		}
	}
	build_id_of_image(file);
	build_id_of_notes(file);
	/* One in eight: it takes as long as the rest together. */
	if (file.size() % 8 == 0 && picture(file, "fuzz").empty())
		std::abort();
	return check(file).verdict;
}

} /* namespace perfring::data */

#endif /* PERFRING_TESTS_DATA_MUTATION_HH */
