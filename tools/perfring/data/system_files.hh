/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small files of /proc and /sys. What cannot be read is nothing; nobody is told,
 * because a file without it is a file all the same. @root: put before every path, so
 * that tests can have a machine of their own.
 */
#ifndef PERFRING_DATA_SYSTEM_FILES_HH
#define PERFRING_DATA_SYSTEM_FILES_HH

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.hh"

namespace perfring::data {

/* The whole content, which may be any bytes. */
std::optional<std::string> read_file(const std::string &path);
/* The same without the white space around it. */
std::optional<std::string> read_text(const std::string &path);
/* A number, decimal or with 0x. */
std::optional<std::int64_t> read_number(const std::string &path);
std::optional<std::uint64_t> read_hex(const std::string &path);

/* "0-3,8" as numbers; what does not parse ends the list. */
std::vector<unsigned> parse_list(std::string_view list);

/* Names in a directory, sorted; without "." and "..". */
std::vector<std::string> list_directory(const std::string &path);

/* What stands behind "key<spaces>:" in lines of the kind of /proc/cpuinfo. */
std::optional<std::string> field(std::string_view text, std::string_view key);

std::string_view trim(std::string_view text);

} /* namespace perfring::data */

#endif /* PERFRING_DATA_SYSTEM_FILES_HH */
