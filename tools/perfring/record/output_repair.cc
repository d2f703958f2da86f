// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of a file that cannot take all: filled to the last whole record that the
 * disk has room for, and shortened by whole records for what has to be at its end.
 */
#include "output.hh"

#include "data/format.hh"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace perfring::record {
namespace {

/* Bytes of records that are whole, up to so many. */
std::size_t whole_records(std::span<const std::byte> bytes)
{
	std::size_t size = 0;

	while (bytes.size() - size >= data::header_size) {
		perf_event_header header;

		std::memcpy(&header, bytes.data() + size, sizeof(header));
		if (header.size < data::header_size || header.size > bytes.size() - size)
			break;
		size += header.size;
	}
	return size;
}

SampleCounts difference(const SampleCounts &all, const SampleCounts &part)
{
	SampleCounts rest = all;

	for (auto &one : rest)
		for (const auto &less : part)
			if (less.ring == one.ring && less.event == one.event)
				one.count -= std::min(one.count, less.count);
	return rest;
}

} /* namespace */

void Output::lose(const Content &content)
{
	ledger.lose(Cause::output, content.samples);
	if (content.aux_bytes) {
		RingLoss loss;

		loss.aux.output_bytes = content.aux_bytes;
		ledger.add(content.ring, loss);
	}
}

void Output::keep(std::uint64_t offset, std::uint64_t bytes, Content content)
{
	ledger.keep(content.samples);
	good_bytes += bytes;
	if (content.aux_record)
		aux_records.emplace(offset, content.aux_record);
	segments.emplace(offset, Segment{bytes, std::move(content)});
}

/* What cannot be tried again is lost at once. */
void Output::fail(std::uint64_t offset, Failure failure, int error)
{
	failed_at = std::min(failed_at, offset);
	if (!first_error)
		first_error = error;
	if (failure.rest.empty()) {
		lose(failure.content);
		failure.content = {};
	}
	rest_bytes += failure.rest.size();
	failures.emplace(offset, std::move(failure));
}

/* True: all of it is in the file now. */
bool Output::write_rest(std::uint64_t offset, Failure &failure)
{
	auto &rest = failure.rest;

	while (!rest.empty()) {
		const ssize_t done = pwrite(file, rest.data(), rest.size(),
					    static_cast<off_t>(failure.rest_offset));

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		failure.rest_offset += static_cast<std::uint64_t>(done);
		rest.erase(rest.begin(), rest.begin() + done);
	}
	return failure.rest_offset == offset + failure.bytes;
}

/* Makes room: the last piece behind a place goes. False: there is none. */
bool Output::drop_last(std::uint64_t behind)
{
	const std::uint64_t written = segments.empty() ? 0 : segments.rbegin()->first;
	const std::uint64_t failed = failures.empty() ? 0 : failures.rbegin()->first;
	const std::uint64_t last = std::max(written, failed);

	if (last <= behind)
		return false;
	if (last == written) {
		const auto &[bytes, content] = segments.rbegin()->second;

		ledger.take_back(content.samples);
		lose(content);
		good_bytes -= bytes;
		aux_records.erase(last);
		segments.erase(last);
	} else {
		lose(failures.rbegin()->second.content);
		rest_bytes -= failures.rbegin()->second.rest.size();
		failures.erase(last);
	}
	next = last;
	[[maybe_unused]] const int cut_off = ftruncate(file, static_cast<off_t>(next));
	return true;
}

/* True: what failed is in the file after all, or the front of it, at the file's end. */
bool Output::mend(std::uint64_t offset, Failure &failure)
{
	if (failure.rest.empty())
		return false;
	while (!write_rest(offset, failure))
		if (!drop_last(offset)) {
			const std::uint64_t got = failure.rest_offset - offset;

			keep(offset, got, std::move(failure.content));
			next = offset + got;
			shorten(offset, got);
			return true;
		}
	keep(offset, failure.bytes, std::move(failure.content));
	return true;
}

std::uint64_t Output::settle()
{
	const std::scoped_lock guard(lock);

	while (!failures.empty()) {
		const auto first = failures.begin();
		const std::uint64_t offset = first->first;

		/* In a stream there is no way back: places go on behind what is missing. */
		if (stream)
			break;
		if (!mend(offset, first->second)) {
			while (drop_last(offset))
				;
			next = offset;
			[[maybe_unused]] const int cut_off =
				ftruncate(file, static_cast<off_t>(next));
		}
		failures.erase(offset);
	}
	failures.clear();
	rest_bytes = 0;
	failed_at = UINT64_MAX;
	return next;
}

/* The end of the last segment, to so many bytes at most, in whole records. */
void Output::shorten(std::uint64_t offset, std::uint64_t most)
{
	Segment &segment = segments.at(offset);
	std::vector<std::byte> bytes;
	std::size_t whole = 0;

	if (segment.content.aux_record) {
		shorten_aux(offset, segment, most);
		return;
	}
	if (recount) {
		bytes.resize(most);
		if (pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
		    static_cast<ssize_t>(bytes.size()))
			whole = whole_records(bytes);
	}
	const SampleCounts kept = whole ? recount(std::span(bytes).first(whole)) : SampleCounts{};
	const SampleCounts lost = difference(segment.content.samples, kept);

	ledger.take_back(lost);
	ledger.lose(Cause::output, lost);
	segment.content.samples = kept;
	good_bytes -= segment.bytes - whole;
	segment.bytes = whole;
	cut(offset + whole);
	if (!whole)
		segments.erase(offset);
}

/* AUXTRACE says how much data follow it: less. */
void Output::shorten_aux(std::uint64_t offset, Segment &segment, std::uint64_t most)
{
	const std::uint64_t head = segment.content.aux_record;
	std::uint64_t size = most > head ? (most - head) & ~7ULL : 0;
	RingLoss loss;

	if (size && pwrite(file, &size, sizeof(size),
			   static_cast<off_t>(offset + offsetof(data::RecordAuxtrace, size))) !=
			    sizeof(size))
		size = 0;
	const std::uint64_t whole = size ? head + size : 0;

	loss.aux.output_bytes = segment.content.aux_bytes - size;
	ledger.add(segment.content.ring, loss);
	segment.content.aux_bytes = size;
	good_bytes -= segment.bytes - whole;
	segment.bytes = whole;
	cut(offset + whole);
	if (!whole) {
		aux_records.erase(offset);
		segments.erase(offset);
	}
}

void Output::cut(std::uint64_t end)
{
	next = end;
	[[maybe_unused]] const int cut_off = ftruncate(file, static_cast<off_t>(next));
}

std::uint64_t Output::give_up(std::uint64_t bytes)
{
	const std::scoped_lock guard(lock);
	const std::uint64_t end = next > bytes ? next - bytes : 0;

	while (!segments.empty() && next > end) {
		const std::uint64_t last = segments.rbegin()->first;

		if (last < end) {
			shorten(last, end - last);
			break;
		}
		drop_last(last - 1);
	}
	return next;
}

} /* namespace perfring::record */
