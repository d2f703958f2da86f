/* SPDX-License-Identifier: GPL-2.0 */
/* Building byte strings of plain values, and taking them apart within bounds. */
#ifndef PERFRING_DATA_BYTES_HH
#define PERFRING_DATA_BYTES_HH

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace perfring::data {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

constexpr std::size_t align_up(std::size_t size, std::size_t to)
{
	return (size + to - 1) / to * to;
}

/* Appends to a byte string that it owns, or to one of its caller's. */
class Builder {
    public:
	Builder() : bytes_(own_)
	{
	}
	/* @bytes is the caller's and must outlive this. */
	explicit Builder(Bytes &bytes) : bytes_(bytes)
	{
	}
	Builder(const Builder &) = delete;
	Builder &operator=(const Builder &) = delete;

	template <class T>
	requires std::is_trivially_copyable_v<T>
	void put(const T &value)
	{
		append(std::as_bytes(std::span(&value, 1)));
	}
	void append(ByteView more)
	{
		bytes_.insert(bytes_.end(), more.begin(), more.end());
	}
	void append(std::string_view text)
	{
		append(std::as_bytes(std::span(text)));
	}
	void zeros(std::size_t count)
	{
		bytes_.resize(bytes_.size() + count);
	}
	/* Zeros up to a multiple of @to. */
	void align(std::size_t to)
	{
		bytes_.resize(align_up(bytes_.size(), to));
	}
	/* As a record has it: ends with a zero byte, padded to a multiple of 8. */
	void put_name(std::string_view text)
	{
		append(text);
		zeros(align_up(text.size() + 1, 8) - text.size());
	}
	/* As a feature has it: its length first, padded to a multiple of 64. */
	void put_string(std::string_view text)
	{
		const std::size_t length = align_up(text.size() + 1, 64);

		put(static_cast<std::uint32_t>(length));
		append(text);
		zeros(length - text.size());
	}
	/* Overwrites what is at @at; @at + sizeof(T) must be within. */
	template <class T>
	requires std::is_trivially_copyable_v<T>
	void patch(std::size_t at, const T &value)
	{
		std::memcpy(bytes_.data() + at, &value, sizeof(T));
	}
	std::size_t size() const
	{
		return bytes_.size();
	}
	Bytes take()
	{
		return std::move(bytes_);
	}

    private:
	Bytes own_;
	Bytes &bytes_;
};

/* Reads on from the front of a view; never beyond its end. */
class Cursor {
    public:
	explicit Cursor(ByteView bytes) : rest_(bytes)
	{
	}
	/* The next value, or nothing if there is not enough left. */
	template <class T>
	requires std::is_trivially_copyable_v<T> std::optional<T> take()
	{
		T value;

		if (rest_.size() < sizeof(T))
			return std::nullopt;
		std::memcpy(&value, rest_.data(), sizeof(T));
		rest_ = rest_.subspan(sizeof(T));
		return value;
	}
	std::optional<ByteView> take_bytes(std::uint64_t size)
	{
		if (size > rest_.size())
			return std::nullopt;

		const ByteView bytes = rest_.first(size);

		rest_ = rest_.subspan(size);
		return bytes;
	}
	/* A feature's string: length first, then text up to the first zero byte. */
	std::optional<std::string_view> take_string()
	{
		const auto length = take<std::uint32_t>();

		if (!length)
			return std::nullopt;

		const auto bytes = take_bytes(*length);

		if (!bytes)
			return std::nullopt;
		return text(*bytes);
	}
	/* The text at the front of @bytes: up to a zero byte or the end. */
	static std::string_view text(ByteView bytes)
	{
		const auto *start = reinterpret_cast<const char *>(bytes.data());

		return {start, strnlen(start, bytes.size())};
	}
	ByteView rest() const
	{
		return rest_;
	}
	std::size_t left() const
	{
		return rest_.size();
	}

    private:
	ByteView rest_;
};

/* The value at @at, or nothing. */
template <class T> std::optional<T> load(ByteView bytes, std::uint64_t at)
{
	if (at > bytes.size())
		return std::nullopt;
	return Cursor(bytes.subspan(at)).take<T>();
}

} /* namespace perfring::data */

#endif /* PERFRING_DATA_BYTES_HH */
