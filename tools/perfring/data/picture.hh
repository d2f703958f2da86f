/* SPDX-License-Identifier: GPL-2.0 */
/* A recording as a picture: one HTML file that needs nothing else. */
#ifndef PERFRING_DATA_PICTURE_HH
#define PERFRING_DATA_PICTURE_HH

#include <string>

#include "bytes.hh"

namespace perfring::data {

/*
 * How full the rings were and what they lost, over time, where the file tells (see
 * fill_log.hh); samples and losses of each CPU over time; totals of each event. Light or
 * dark as its viewer likes it. @title: the file's name.
 */
std::string picture(ByteView file, const std::string &title);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_PICTURE_HH */
