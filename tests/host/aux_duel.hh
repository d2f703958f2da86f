/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The AUX ring and its model do the same things, chosen one by one, and everything
 * that shows is compared. What happens inside of a call is aux_nesting_test's matter.
 */
#ifndef TESTS_HOST_AUX_DUEL_HH
#define TESTS_HOST_AUX_DUEL_HH

#include <sstream>
#include <string>

#include "aux_model.hh"
#include "choices.hh"

namespace ring_test {

class AuxDuel {
    public:
	struct Setting {
		AuxModel::Area area;
		unsigned long start;

		friend std::ostream &operator<<(std::ostream &out, const Setting &setting)
		{
			return out << "area of " << setting.area.size << ", watermark "
				   << setting.area.watermark
				   << (setting.area.overwrite ? ", overwrite" : "") << ", from "
				   << setting.start;
		}
	};

	static Setting choose_setting(Choices &choices)
	{
		static constexpr unsigned long starts[] = {0, 0UL - 100, 0UL - 1000, 1UL << 62};
		const AuxModel::Area area = choose_area(choices);

		return {area, area.overwrite ? 0 : starts[choices.choose(4)]};
	}

	AuxDuel(const Setting &setting, Choices &choices_)
		: choices(choices_),
		  aux(setting.area.size, setting.area.watermark, setting.area.overwrite,
		      setting.start),
		  model(setting.area, setting.start)
	{
	}

	/* One operation of both. Returns what differs, or nothing. */
	std::string step()
	{
		switch (choices.choose(16)) {
		case 0:
		case 1:
		case 2:
		case 3:
			open ? end() : begin();
			break;
		case 4:
		case 5:
			end();
			break;
		case 6:
			skip();
			break;
		case 7:
			raise();
			break;
		case 8:
			lose(choices.choose(20));
			break;
		case 9:
			data_ring_full = !data_ring_full;
			break;
		case 10:
			scribble();
			break;
		case 11:
			map_another();
			break;
		default:
			read();
		}
		compare_sums();
		return difference;
	}

	/* With room for records, everything is told. */
	std::string finish()
	{
		end();
		data_ring_full = false;
		lose(1);
		compare_sums();
		expect(lost_told, lost, "bytes lost and told");
		expect(model.nr_untold(), 0UL, "bytes that are never told");
		return difference;
	}

	unsigned long refused = 0;
	unsigned long merged = 0;
	unsigned long gaps = 0;
	unsigned long wakeups = 0;
	unsigned long quiet = 0;
	unsigned long kept_out = 0;

    private:
	static AuxModel::Area choose_area(Choices &choices)
	{
		const unsigned long size = 8UL << choices.choose(6);

		/* The shell gives an area that is overwritten no watermark. */
		if (choices.choose(4) == 0)
			return {size, 0, true};
		return {size, 1UL + choices.choose(static_cast<unsigned int>(2 * size)), false};
	}

	template <class A, class B>
	void expect(const A &is, const B &expected, const std::string &what)
	{
		if (is == expected || !difference.empty())
			return;

		std::ostringstream text;

		text << what << " is " << is << ", the model says " << expected;
		difference = text.str();
	}

	void begin()
	{
		const bool full = !model.area.overwrite && model.room() == 0;

		expect(aux.begin(), full ? PERF_AUX_FULL : PERF_AUX_OPENED, "verdict");
		expect(perf_aux_ring_begin(&aux.ring, &none), PERF_AUX_BUSY, "second verdict");
		expect(aux.handle.head, model.position, "handle's head");
		if (full) {
			refuse();
			return;
		}
		open = true;
		flags = 0;
		room = model.area.overwrite ? 0 : model.room();
		compare_room();
	}

	void compare_room()
	{
		expect(aux.handle.size, room, "room");
		if (!model.area.overwrite)
			expect(aux.handle.wakeup, model.mark(), "mark");
	}

	void refuse()
	{
		perf_aux_report expected{};
		const bool says = model.refuse(expected);

		aux.report = stale_report;
		expect(perf_aux_ring_refuse(&aux.ring, &aux.report),
		       (says ? tell : 0) | stop | wake, "todo of refusal");
		if (says)
			record(expected);
		perf_aux_ring_close(&aux.ring);
		refused++;
	}

	/* The shell's way with a report. */
	void record(const perf_aux_report &expected)
	{
		expect(aux.report, expected, "report");
		if (data_ring_full) {
			perf_aux_ring_untold(&aux.ring, &aux.report);
			model.refused(expected);
			merged++;
		} else {
			lost_told += aux.report.lost;
			gaps += (aux.report.flags & PERF_AUX_FLAG_PARTIAL) != 0;
			model.told();
		}
	}

	void skip()
	{
		if (!open)
			return;

		const unsigned long bytes = choices.choose(
			static_cast<unsigned int>(model.area.overwrite ? 1 : room + 3));
		const int todo = perf_aux_ring_skip(&aux.ring, &aux.handle, bytes);

		if (model.area.overwrite)
			return;
		if (bytes > room) {
			expect(todo, -28, "skip beyond the room");
			return;
		}
		model.skip(bytes);
		room -= bytes;
		expect(todo, model.wakes() ? int{wake} : 0, "todo of skip");
		expect(aux.handle.head, model.position, "handle's head");
		compare_room();
	}

	void raise()
	{
		static constexpr unsigned long long which[] = {
			PERF_AUX_FLAG_TRUNCATED, PERF_AUX_FLAG_PARTIAL, PERF_AUX_FLAG_COLLISION,
			0x0100, 0x8000};

		flags |= which[choices.choose(5)];
	}

	void lose(unsigned long bytes)
	{
		clock += choices.choose(3);
		if (bytes)
			model.lose(bytes, clock);
		lost += bytes;
		aux.report = stale_report;
		expect(perf_aux_ring_lose(&aux.ring, bytes, clock, &aux.report),
		       bytes && !open ? tell : 0, "todo of a loss");
		if (!bytes || open)
			return;
		record(model.to_tell(0));
		perf_aux_ring_close(&aux.ring);
	}

	unsigned long write_some()
	{
		const unsigned long most = model.area.overwrite ? model.area.size : room;
		const unsigned int how = choices.choose(4);
		const unsigned long bytes =
			how == 0   ? most
			: how == 1 ? 0
				   : choices.choose(static_cast<unsigned int>(most + 1));

		if (!model.area.overwrite) {
			model.write(bytes);
			return bytes;
		}
		model.position = (model.position + bytes) % model.area.size;
		aux.handle.head = model.position;
		return bytes;
	}

	void end()
	{
		if (!open)
			return;

		constexpr unsigned long long says_nothing =
			PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK | PERF_AUX_FLAG_OVERWRITE;
		const bool anything_untold = model.anything_untold();
		const unsigned long bytes = write_some();
		const perf_aux_report expected = model.end(flags, bytes);
		const bool says = expected.size || (expected.flags & ~says_nothing);
		const bool cut = flags & PERF_AUX_FLAG_TRUNCATED;

		aux.handle.flags = flags;
		open = false;
		if (choices.choose(4) && end_quietly(bytes, !says && !anything_untold))
			return;
		aux.report = stale_report;
		expect(aux.commit(bytes), (says ? tell : 0) | (cut ? stop | wake : 0),
		       "todo of commit");
		if (says)
			record(expected);
		else
			model.kept_quiet();
		publish();
		perf_aux_ring_close(&aux.ring);
	}

	/* The shell tries that first. It says the same as the long way does, if shorter. */
	bool end_quietly(unsigned long bytes, bool expected)
	{
		aux.handle.event = this;
		const bool is_quiet = aux.end_quietly(bytes);

		expect(is_quiet, expected, "quiet");
		expect(aux.handle.event == nullptr, is_quiet, "no event in the handle");
		if (!is_quiet)
			return false;
		expect(!model.area.overwrite && model.wakes(), false, "a wake-up in silence");
		expect(aux.control.aux_head, model.position, "aux_head");
		quiet++;
		return true;
	}

	void publish()
	{
		const bool due = !model.area.overwrite && model.wakes();

		expect(perf_aux_ring_publish(&aux.ring), due ? wake : 0, "todo of publishing");
		expect(aux.control.aux_head, model.position, "aux_head");
		wakeups += due;
	}

	void read()
	{
		if (model.area.overwrite)
			return;

		const unsigned long left = model.nr_unread();

		model.read(choices.choose(2) ? left
					     : choices.choose(static_cast<unsigned int>(left + 1)));
		model.hostile = false;
		aux.control.aux_tail = model.position - model.nr_unread();
	}

	/*
	 * A tail in front of the head, where no open transaction gets to, or further
	 * behind it than the area is long.
	 */
	void scribble()
	{
		if (model.area.overwrite)
			return;

		const unsigned long by = 1000UL + choices.choose(1000);

		model.hostile = true;
		aux.control.aux_tail = choices.choose(2) ? model.position + by
							 : model.position - model.area.size - by;
	}

	void map_another()
	{
		if (choices.choose(4))
			return;
		if (open) {
			expect(aux.setup(8, 1), false, "an area for one that is in use");
			kept_out++;
			return;
		}

		const AuxModel::Area area = choose_area(choices);

		/* Whoever comes behind a snapshot starts reading where it ended. */
		if (model.area.overwrite || model.hostile) {
			model.forget_unread();
			model.hostile = false;
			aux.control.aux_tail = model.position;
		}
		model.map(area);
		if (area.overwrite)
			model.forget_unread();
		expect(aux.setup(area.size, area.watermark, area.overwrite), true, "an area");
	}

	void compare_sums()
	{
		expect(lost_told + aux.ring.lost, lost, "bytes lost, told and untold,");
		expect(aux.control.aux_lost, lost, "aux_lost");
		expect(aux.ring.open, open ? 1UL : 0UL, "open");
		expect(model.data_told + model.nr_untold() + model.dropped, model.data_written,
		       "the model's own sum");
	}

	Choices &choices;
	AuxFixture aux;
	AuxModel model;
	perf_aux_handle none{};
	unsigned long room = 0;	      /* of the open transaction: what it began with */
	unsigned long long flags = 0; /* those that it collects */
	unsigned long long clock = 1;
	bool open = false;
	bool data_ring_full = false;
	unsigned long lost = 0;
	unsigned long lost_told = 0;
	std::string difference;
};

} // namespace ring_test

#endif
