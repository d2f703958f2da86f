/* SPDX-License-Identifier: GPL-2.0 */
/* Counting samples once more, in records that are written already. */
#ifndef PERFRING_RECORD_RECOUNT_HH
#define PERFRING_RECORD_RECOUNT_HH

#include "output.hh"
#include "tally.hh"

namespace perfring::record {

/* For whole records, compressed or not. The facts have to outlive it. */
Recount make_recount(const EventFacts &facts);

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_RECOUNT_HH */
