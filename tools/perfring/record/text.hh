/* SPDX-License-Identifier: GPL-2.0 */
/* Small files and numbers in text. */
#ifndef PERFRING_RECORD_TEXT_HH
#define PERFRING_RECORD_TEXT_HH

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace perfring::record {

/* What the user asked for cannot be done; what() is a whole sentence. */
class UserError : public std::runtime_error {
	using std::runtime_error::runtime_error;
};

/* The content of a file without white space at its end, or nothing. */
std::optional<std::string> read_text(const std::string &path);

/* Decimal, or hexadecimal with 0x. The whole text, or nothing. */
std::optional<std::uint64_t> number(std::string_view text);

/* "64K", "1M", "2G": bytes. A bare number is one of units. */
std::optional<std::uint64_t> size_in_bytes(std::string_view text, std::uint64_t unit);

/* "0-3,8": as the kernel writes lists of CPUs. */
std::optional<std::vector<int>> number_list(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char by);
std::string_view trim(std::string_view text);

/* What an errno says. */
std::string error_text(int error);

/* "4 KiB", "1.5 MiB" */
std::string human_bytes(double bytes);

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_TEXT_HH */
