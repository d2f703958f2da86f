/* SPDX-License-Identifier: GPL-2.0 */
/* The feature TRACING_DATA: what a reader has to know to print tracepoints' fields. */
#ifndef PERFRING_DATA_TRACING_DATA_HH
#define PERFRING_DATA_TRACING_DATA_HH

#include <optional>
#include <span>
#include <string>

#include "bytes.hh"
#include "session.hh"

namespace perfring::data {

/*
 * In the format of trace.dat 0.6: the formats of the tracepoints among @events, from
 * tracefs at @tracefs. Nothing if none is a tracepoint or tracefs cannot be read.
 */
std::optional<Bytes> tracing_data_of(std::span<const EventDescription> events,
				     const std::string &tracefs);

/* Where tracefs is mounted; empty: nowhere where it usually is. */
std::string find_tracefs();

} /* namespace perfring::data */

#endif /* PERFRING_DATA_TRACING_DATA_HH */
