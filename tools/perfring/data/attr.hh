/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes of events (perf_event_attr) as files have them: in layouts of many sizes. */
#ifndef PERFRING_DATA_ATTR_HH
#define PERFRING_DATA_ATTR_HH

#include <cstdint>
#include <linux/perf_event.h>
#include <optional>

#include "bytes.hh"

namespace perfring::data {

/*
 * The smallest published layout, of 128 bytes or more, that holds all that @attr says.
 * Older readers refuse a layout that they do not know.
 */
std::uint32_t attr_layout(const perf_event_attr &attr);

/* The first @size bytes, a layout's, with .size set to that. */
Bytes encode_attr(const perf_event_attr &attr, std::uint32_t size);

/*
 * Attributes from a file: @bytes begins with them, .size (0: the first layout's) says
 * how many there are. What is missing is zero. Nothing if @bytes is too short, .size
 * is impossible, or bytes beyond our own layout say something.
 */
std::optional<perf_event_attr> decode_attr(ByteView bytes);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_ATTR_HH */
