// SPDX-License-Identifier: GPL-2.0
#include "fill_log.hh"

#include <algorithm>

namespace perfring::data {
namespace {

constexpr std::uint64_t fill_magic = 0x314c4c4946525050; /* "PPRFILL1" */

struct FillHeader {
	std::uint64_t start, slice, count;
};

struct FillFooter {
	std::uint64_t size; /* of all, footer included */
	std::uint64_t magic;
};

constexpr std::uint64_t key(std::uint32_t ring, std::uint32_t slice)
{
	return std::uint64_t{ring} << 32 | slice;
}

} /* namespace */

FillLog::FillLog(std::uint64_t start, std::uint64_t slice)
	: start_(start),
	  slice_(std::max<std::uint64_t>(slice, 1))
{
}

std::uint32_t FillLog::slice_at(std::uint64_t time)
{
	const std::uint64_t since = time > start_ ? time - start_ : 0;

	while (since / slice_ >= most_slices)
		coarsen();
	return static_cast<std::uint32_t>(since / slice_);
}

void FillLog::coarsen()
{
	std::map<std::uint64_t, FillEntry> finer;

	finer.swap(entries_);
	slice_ *= 2;
	for (auto &[at, entry] : finer) {
		entry.slice /= 2;
		add(entry);
	}
}

void FillLog::add(const FillEntry &entry)
{
	FillEntry &to = entries_[key(entry.ring, entry.slice)];

	to.ring = entry.ring;
	to.slice = entry.slice;
	to.fullest = std::max(to.fullest, entry.fullest);
	to.size = std::max(to.size, entry.size);
	to.bytes += entry.bytes;
	to.lost += entry.lost;
}

void FillLog::note(std::uint32_t ring, std::uint64_t time, std::uint64_t held, std::uint64_t size,
		   std::uint64_t lost)
{
	add({ring, slice_at(time), held, size, held, lost});
}

/* The times of both are times of the same clock. */
void FillLog::merge(const FillLog &other)
{
	for (const auto &[at, entry] : other.entries_) {
		FillEntry moved = entry;

		moved.slice = slice_at(other.start_ + entry.slice * other.slice_);
		add(moved);
	}
}

FillHistory FillLog::history() const
{
	FillHistory history{start_, slice_, {}};

	for (const auto &[at, entry] : entries_)
		history.entries.push_back(entry);
	return history;
}

Bytes FillLog::encode() const
{
	Builder out;

	out.put(FillHeader{start_, slice_, entries_.size()});
	for (const auto &[at, entry] : entries_)
		out.put(entry);
	out.put(FillFooter{out.size() + sizeof(FillFooter), fill_magic});
	return out.take();
}

std::optional<FillHistory> read_fill_history(ByteView file)
{
	if (file.size() < sizeof(FillFooter))
		return std::nullopt;

	const auto footer = load<FillFooter>(file, file.size() - sizeof(FillFooter));

	if (footer->magic != fill_magic || footer->size > file.size() ||
	    footer->size < sizeof(FillHeader) + sizeof(FillFooter))
		return std::nullopt;

	Cursor cursor(file.last(footer->size).first(footer->size - sizeof(FillFooter)));
	const auto header = cursor.take<FillHeader>();
	FillHistory history{header->start, header->slice, {}};

	if (!header->slice || header->count != cursor.left() / sizeof(FillEntry))
		return std::nullopt;
	while (const auto entry = cursor.take<FillEntry>())
		if (entry->slice < FillLog::most_slices)
			history.entries.push_back(*entry);
	return history;
}

} /* namespace perfring::data */
