/* SPDX-License-Identifier: GPL-2.0 */
/* The judgement on a perf.data file. */
#ifndef PERFRING_DATA_CHECK_HH
#define PERFRING_DATA_CHECK_HH

#include <string>
#include <vector>

#include "bytes.hh"
#include "survey.hh"

namespace perfring::data {

/* From best to worst. The exit status of `perfring check` too. */
enum class Verdict {
	whole = 0,	/* nothing wrong, nothing missing */
	incomplete = 3, /* all that is there is right, but something is missing */
	damaged = 1,	/* something cannot be right */
	unreadable = 2, /* no perf.data, or nothing of it can be read */
};

struct Judgement {
	Verdict verdict = Verdict::whole;
	std::vector<std::string> wrong;	  /* sentences: why it is damaged or unreadable */
	std::vector<std::string> missing; /* why it is incomplete */
	std::vector<std::string> remarks; /* worth knowing, no reason for anything */
	Survey found;
};

/* @file: the whole of it. */
Judgement check(ByteView file);

/* "whole", "incomplete" ... */
const char *verdict_name(Verdict verdict);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_CHECK_HH */
