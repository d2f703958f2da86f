/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The core and the reference model do the same things, chosen one by one, and
 * everything that shows is compared. Writers nest between their calls; what
 * happens inside of a call is nesting_test's matter.
 */
#ifndef TESTS_HOST_RING_DUEL_HH
#define TESTS_HOST_RING_DUEL_HH

#include <string>
#include <vector>

#include "choices.hh"
#include "reference_model.hh"
#include "sample_plans.hh"

namespace ring_test {

class RingDuel {
    public:
	struct Setting {
		Geometry geometry;
		Direction direction;
		unsigned long start;
	};

	static Setting choose_setting(Choices &choices)
	{
		static constexpr unsigned long starts[] = {0, 0UL - 128, 0UL - 1000 * 8, 1UL << 62};
		Geometry geometry;

		geometry.piece_shift = 3 + choices.choose(6);
		geometry.pieces = choices.choose(16) ? 1U << choices.choose(4) : 0;
		geometry.overwrite = choices.choose(4) == 0;
		geometry.watermark = choices.choose(static_cast<unsigned int>(geometry.size()) + 2);
		return {geometry, choices.choose(2) ? Direction::forward : Direction::backward,
			starts[choices.choose(4)]};
	}

	RingDuel(const Setting &setting_, Choices &choices_)
		: setting(setting_),
		  choices(choices_),
		  fixture(setting.geometry),
		  model(setting.geometry),
		  read_up_to(setting.start)
	{
		fixture.start_at(setting.start, setting.direction);
	}

	/* One operation of both. Returns what differs, or nothing. */
	std::string step()
	{
		switch (choices.choose(18)) {
		case 0:
		case 1:
		case 2:
		case 3:
		case 4:
			begin();
			break;
		case 5:
		case 6:
		case 7:
			write_some();
			break;
		case 8:
		case 9:
		case 10:
		case 11:
			end();
			break;
		case 12:
			count_sample();
			break;
		case 13:
			read_one();
			break;
		case 14:
			if (choices.choose(2))
				read_all();
			break;
		case 15:
			model.paused = choices.choose(4) == 0;
			perf_data_ring_set_paused(&fixture.ring, model.paused);
			break;
		case 16:
		case 17:
			emit_sample();
			break;
		}
		compare_state();
		return difference;
	}

	/* Everybody leaves and everything is read. */
	std::string finish()
	{
		while (!writers.empty())
			end();
		read_all();
		compare_state();
		same(kept + told + fixture.ring.lost, produced,
		     "kept + told + pending against produced");
		return difference;
	}

    private:
	static constexpr std::size_t most_nested = 4;

	struct Writer {
		perf_ring_handle handle;
		Words words;
		unsigned long done; /* bytes */
		bool counted = false;
	};

	template <class A, class B> void same(A core, B expected, const char *what)
	{
		if (static_cast<unsigned long>(core) == static_cast<unsigned long>(expected) ||
		    !difference.empty())
			return;
		difference = std::string(what) + ": " + std::to_string(core) + ", expected " +
			     std::to_string(expected);
	}

	unsigned long forward_distance(unsigned long position) const
	{
		return setting.direction == Direction::forward ? position - setting.start
							       : setting.start - position;
	}

	/* Mostly short records, some that only just fit, some that cannot. */
	unsigned long choose_size()
	{
		const unsigned int area = static_cast<unsigned int>(setting.geometry.size() / 8);

		return 8UL *
		       (1 + (choices.choose(4) ? choices.choose(4) : choices.choose(area + 2)));
	}

	/* Whoever wraps around below an unfinished writer has written for nothing. */
	bool wraps_around_unfinished(unsigned long size) const
	{
		return setting.geometry.overwrite &&
		       model.reserved - model.readable + size > setting.geometry.size();
	}

	void begin()
	{
		const unsigned long size = choose_size();
		const unsigned long lost_size =
			fixture.ring.lost && choices.choose(8) ? lost_record_size : 0;

		if (writers.size() == most_nested)
			return;
		if (wraps_around_unfinished(size + lost_size))
			return;

		const long expected = model.begin(size, lost_size != 0);
		perf_ring_handle handle{};

		/* Only what is counted if it is lost. */
		produced += expected != PERF_RING_NO_DATA;

		const long verdict =
			reserve(fixture.ring, handle, setting.direction, size, lost_size);

		same(verdict, expected, "reserve()");
		if (verdict < 0 || !difference.empty())
			return;

		Words words;

		if (verdict > 0) {
			told += static_cast<unsigned long>(verdict);
			words = lost_record(static_cast<std::uint64_t>(verdict));
		}

		const Words data = data_record(static_cast<std::uint32_t>(produced), size);

		words.insert(words.end(), data.begin(), data.end());
		writers.push_back({.handle = handle, .words = words, .done = 0});
		kept++;
	}

	void write_bytes(Writer &writer, unsigned long len)
	{
		const char *from =
			reinterpret_cast<const char *>(writer.words.data()) + writer.done;

		perf_output_copy(&writer.handle, from, static_cast<unsigned int>(len));
		writer.done += len;
	}

	void write_some()
	{
		if (writers.empty())
			return;

		Writer &writer = writers.back();
		const unsigned long left = bytes(writer.words) - writer.done;

		write_bytes(writer, std::min<unsigned long>(left, choices.choose(64)));
	}

	void end()
	{
		if (writers.empty())
			return;

		Writer writer = writers.back();

		writers.pop_back();
		write_bytes(writer, bytes(writer.words) - writer.done);
		model.write(writer.words);

		const bool expected = model.end();

		same(perf_data_ring_commit(&writer.handle) != 0, expected, "commit()");
		if (setting.geometry.overwrite && model.depth() == 0)
			compare_overwritten();
	}

	/* A whole record in one call, above the writers that are inside. */
	void emit_sample()
	{
		const unsigned int words = 1 + choices.choose(1 + most_fixed_fields);
		const unsigned int every = choices.choose(2) ? 1 + choices.choose(5) : 0;
		const Words record =
			data_record(static_cast<std::uint32_t>(produced + 1), 8UL * words);

		if (wraps_around_unfinished(bytes(record)))
			return;

		long expected = model.begin(bytes(record), false);

		produced += expected != PERF_RING_NO_DATA;
		if (expected == 0) {
			kept++;
			model.write(record);
			if (every)
				model.count_sample(every);
			expected = model.end() ? PERF_SAMPLE_WRITTEN_WAKE : PERF_SAMPLE_WRITTEN;
		}

		const Sample sample(__builtin_bit_cast(RecordHeader, record[0]), every);

		same(emit(fixture.ring, setting.direction, sample), expected, "emit()");
		if (setting.geometry.overwrite && model.depth() == 0)
			compare_overwritten();
	}

	void count_sample()
	{
		const unsigned int every = 1 + choices.choose(5);

		/* A record is one sample: the stamp grows by less than the data does. */
		if (writers.empty() || writers.back().counted)
			return;
		writers.back().counted = true;
		model.count_sample(every);
		perf_data_ring_count_sample(&fixture.ring, every);
	}

	/* Lowest position of a record that comes after @position. */
	unsigned long place_of(const ReferenceModel::Record &record, unsigned long position) const
	{
		return setting.direction == Direction::forward ? position : position - record.size;
	}
	unsigned long behind(const ReferenceModel::Record &record, unsigned long position) const
	{
		return setting.direction == Direction::forward ? position + record.size
							       : position - record.size;
	}

	void compare_record(const ReferenceModel::Record &record, unsigned long position)
	{
		const unsigned long at = place_of(record, position);

		same(bytes(record.words), record.size, "the model's record");
		for (std::size_t i = 0; i < record.words.size(); i++)
			same(fixture.word_at(at + 8 * i), record.words[i], "a word of a record");
	}

	void read_one()
	{
		if (setting.geometry.overwrite || model.published == 0)
			return;

		const ReferenceModel::Record record = model.read();

		compare_record(record, read_up_to);
		fixture.forget(place_of(record, read_up_to), record.size);
		read_up_to = behind(record, read_up_to);
		fixture.set_tail(read_up_to);
	}

	void read_all()
	{
		while (!setting.geometry.overwrite && model.published && difference.empty())
			read_one();
	}

	void compare_overwritten()
	{
		while (model.unread > setting.geometry.size()) {
			const ReferenceModel::Record gone = model.read();

			read_up_to = behind(gone, read_up_to);
		}

		unsigned long position = read_up_to;

		for (const ReferenceModel::Record &record : model.records) {
			compare_record(record, position);
			position = behind(record, position);
		}
	}

	void compare_state()
	{
		same(fixture.ring.nest, model.depth(), "nest");
		same(fixture.ring.lost, model.lost, "lost");
		same(fixture.ring.events, model.samples, "samples counted");
		same(forward_distance(fixture.ring.head), model.reserved, "head");
		same(forward_distance(fixture.head()), model.readable, "data_head");
		if (!fixture.guards_intact() && difference.empty())
			difference = "a byte beside the data area was written";
	}

	const Setting setting;
	Choices &choices;
	RingFixture fixture;
	ReferenceModel model;
	std::vector<Writer> writers;
	unsigned long read_up_to; /* position */
	unsigned long produced = 0;
	unsigned long kept = 0;
	unsigned long told = 0;
	std::string difference;
};

inline std::ostream &operator<<(std::ostream &out, const RingDuel::Setting &setting)
{
	return out << setting.geometry << " " << setting.direction << " from " << setting.start;
}

} // namespace ring_test

#endif
