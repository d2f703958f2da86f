/* SPDX-License-Identifier: GPL-2.0 */
/* From events and options to what perf_event_open() is given. */
#ifndef PERFRING_RECORD_ATTRIBUTES_HH
#define PERFRING_RECORD_ATTRIBUTES_HH

#include "event_spec.hh"
#include "options.hh"

namespace perfring::record {

/*
 * Adds the event that side-band records come from, and completes the attributes of all. Throws UserError on a contradiction.
 */
void complete(std::vector<EventSpec> &events, const RecordOptions &options);

/* Bytes that wake the reader: wakeup_watermark for a data ring of this size. */
std::uint32_t data_watermark(std::size_t bytes, bool realtime);

/* A quarter of the area: with half of it, each second record would be truncated. */
std::uint32_t aux_watermark(std::size_t bytes);

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_ATTRIBUTES_HH */
