// SPDX-License-Identifier: GPL-2.0
#include "sample.hh"

#include <bit>

namespace perfring::data {
namespace {

/*
 * Takes the fields of one record in order. The first that does not fit makes all that
 * follow fail, so that only the end result has to be looked at.
 */
class Fields {
    public:
	Fields(const perf_event_attr &attr, ByteView body) : attr_(attr), cursor_(body)
	{
	}
	bool has(std::uint64_t field) const
	{
		return attr_.sample_type & field;
	}
	bool fine() const
	{
		return fine_;
	}
	template <class T> std::optional<T> value()
	{
		return note(cursor_.take<T>());
	}
	void word(std::uint64_t field, std::optional<std::uint64_t> &to)
	{
		if (has(field))
			to = value<std::uint64_t>();
	}
	/* Two halves of one word. */
	void pair(std::uint64_t field, std::optional<std::uint32_t> &first,
		  std::optional<std::uint32_t> *second)
	{
		if (!has(field))
			return;
		first = value<std::uint32_t>();

		const auto other = value<std::uint32_t>();

		if (second)
			*second = other;
	}
	ByteView rest() const
	{
		return cursor_.rest();
	}
	/* From where rest() once was, up to here. */
	ByteView since(ByteView rest) const
	{
		return rest.first(rest.size() - cursor_.left());
	}
	ByteView bytes(std::uint64_t size)
	{
		return note(cursor_.take_bytes(size)).value_or(ByteView{});
	}
	/* A length in bytes, then as many. */
	ByteView counted()
	{
		return array(value<std::uint64_t>(), 1);
	}
	/* @count elements of @each bytes. */
	ByteView array(std::optional<std::uint64_t> count, std::uint64_t each)
	{
		if (!count)
			return {};
		if (*count > cursor_.left() / each) {
			fine_ = false;
			return {};
		}
		return bytes(*count * each);
	}

    private:
	template <class T> std::optional<T> note(std::optional<T> taken)
	{
		if (!fine_ || !taken) {
			fine_ = false;
			return std::nullopt;
		}
		return taken;
	}

	const perf_event_attr &attr_;
	Cursor cursor_;
	bool fine_ = true;
};

constexpr std::uint64_t trailer_fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
					 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
					 PERF_SAMPLE_IDENTIFIER;

/* One value each, besides the count of a group: what read() gives. */
ByteView take_counters(Fields &fields, std::uint64_t format)
{
	const auto ones = [format](std::uint64_t of) {
		return static_cast<std::uint64_t>(std::popcount(format & of));
	};
	const std::uint64_t times =
		ones(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	const std::uint64_t each = 1 + ones(PERF_FORMAT_ID | PERF_FORMAT_LOST);

	if (!(format & PERF_FORMAT_GROUP))
		return fields.bytes((times + each) * 8);

	const auto start = fields.rest();
	const auto counters = fields.value<std::uint64_t>();

	fields.bytes(times * 8);
	fields.array(counters, each * 8);
	return fields.since(start);
}

ByteView take_branches(Fields &fields, const perf_event_attr &attr)
{
	const auto count = fields.value<std::uint64_t>();

	if (attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		fields.value<std::uint64_t>();

	const ByteView entries = fields.array(count, sizeof(perf_branch_entry));

	if (attr.branch_sample_type & PERF_SAMPLE_BRANCH_COUNTERS)
		fields.array(count, 8);
	return entries;
}

ByteView take_regs(Fields &fields, std::uint64_t mask)
{
	/* No ABI, no registers: of a kernel thread, for instance. */
	if (fields.value<std::uint64_t>().value_or(0) == PERF_SAMPLE_REGS_ABI_NONE)
		return {};
	return fields.bytes(static_cast<std::uint64_t>(std::popcount(mask)) * 8);
}

ByteView take_stack(Fields &fields)
{
	const ByteView room = fields.counted();

	if (room.empty())
		return {};

	const auto used = fields.value<std::uint64_t>();

	return used && *used <= room.size() ? room.first(*used) : room;
}

void take_plain(Fields &fields, Sample &sample)
{
	fields.word(PERF_SAMPLE_IDENTIFIER, sample.id);
	fields.word(PERF_SAMPLE_IP, sample.ip);
	fields.pair(PERF_SAMPLE_TID, sample.pid, &sample.tid);
	fields.word(PERF_SAMPLE_TIME, sample.time);
	fields.word(PERF_SAMPLE_ADDR, sample.addr);
	fields.word(PERF_SAMPLE_ID, sample.id);
	fields.word(PERF_SAMPLE_STREAM_ID, sample.stream_id);
	fields.pair(PERF_SAMPLE_CPU, sample.cpu, nullptr);
	fields.word(PERF_SAMPLE_PERIOD, sample.period);
}

void take_variable(Fields &fields, const perf_event_attr &attr, Sample &sample)
{
	if (fields.has(PERF_SAMPLE_READ))
		sample.read = take_counters(fields, attr.read_format);
	if (fields.has(PERF_SAMPLE_CALLCHAIN))
		sample.callchain = fields.array(fields.value<std::uint64_t>(), 8);
	if (fields.has(PERF_SAMPLE_RAW))
		sample.raw = fields.bytes(fields.value<std::uint32_t>().value_or(0));
	if (fields.has(PERF_SAMPLE_BRANCH_STACK))
		sample.branches = take_branches(fields, attr);
	if (fields.has(PERF_SAMPLE_REGS_USER))
		sample.user_regs = take_regs(fields, attr.sample_regs_user);
	if (fields.has(PERF_SAMPLE_STACK_USER))
		sample.user_stack = take_stack(fields);
}

void take_late(Fields &fields, const perf_event_attr &attr, Sample &sample)
{
	fields.word(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, sample.weight);
	fields.word(PERF_SAMPLE_DATA_SRC, sample.data_src);
	fields.word(PERF_SAMPLE_TRANSACTION, sample.transaction);
	if (fields.has(PERF_SAMPLE_REGS_INTR))
		sample.intr_regs = take_regs(fields, attr.sample_regs_intr);
	fields.word(PERF_SAMPLE_PHYS_ADDR, sample.phys_addr);
	fields.word(PERF_SAMPLE_CGROUP, sample.cgroup);
	fields.word(PERF_SAMPLE_DATA_PAGE_SIZE, sample.data_page_size);
	fields.word(PERF_SAMPLE_CODE_PAGE_SIZE, sample.code_page_size);
	if (fields.has(PERF_SAMPLE_AUX))
		sample.aux = fields.counted();
}

} /* namespace */

std::optional<Sample> parse_sample(const perf_event_attr &attr, ByteView body)
{
	Fields fields(attr, body);
	Sample sample;

	take_plain(fields, sample);
	take_variable(fields, attr, sample);
	take_late(fields, attr, sample);
	if (!fields.fine())
		return std::nullopt;
	return sample;
}

std::size_t trailer_size(const perf_event_attr &attr)
{
	if (!attr.sample_id_all)
		return 0;
	return static_cast<std::size_t>(std::popcount(attr.sample_type & trailer_fields)) * 8;
}

std::optional<Sample> parse_trailer(const perf_event_attr &attr, ByteView body)
{
	const std::size_t size = trailer_size(attr);

	if (size > body.size())
		return std::nullopt;

	Sample sample;

	if (!size)
		return sample;

	Fields fields(attr, body.last(size));

	fields.pair(PERF_SAMPLE_TID, sample.pid, &sample.tid);
	fields.word(PERF_SAMPLE_TIME, sample.time);
	fields.word(PERF_SAMPLE_ID, sample.id);
	fields.word(PERF_SAMPLE_STREAM_ID, sample.stream_id);
	fields.pair(PERF_SAMPLE_CPU, sample.cpu, nullptr);
	fields.word(PERF_SAMPLE_IDENTIFIER, sample.id);
	return sample;
}

std::optional<std::uint64_t> sample_event_id(const perf_event_attr &attr, ByteView body)
{
	if (!(attr.sample_type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)))
		return std::nullopt;

	Fields fields(attr, body);
	Sample sample;

	/* All that stands before any field of variable size. */
	take_plain(fields, sample);
	if (attr.sample_type & PERF_SAMPLE_IDENTIFIER)
		return load<std::uint64_t>(body, 0);
	return fields.fine() ? sample.id : std::nullopt;
}

std::optional<std::uint64_t> trailer_event_id(const perf_event_attr &attr, ByteView body)
{
	/* Here it is the last word, and another event's trailer may be shorter. */
	if (attr.sample_id_all && attr.sample_type & PERF_SAMPLE_IDENTIFIER)
		return body.size() < 8 ? std::nullopt : load<std::uint64_t>(body, body.size() - 8);

	const auto trailer = parse_trailer(attr, body);

	return trailer ? trailer->id : std::nullopt;
}

} /* namespace perfring::data */
