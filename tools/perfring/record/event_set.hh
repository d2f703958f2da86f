/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All events of a recording, open, and the rings that they write to.
 *
 * An event is opened once for each place: a CPU, a task, or a task on a CPU. Places
 * with the same CPU share a ring; without CPUs, each task has its own. Events that
 * overwrite have rings apart.
 */
#ifndef PERFRING_RECORD_EVENT_SET_HH
#define PERFRING_RECORD_EVENT_SET_HH

#include "data/session.hh"
#include "event_spec.hh"
#include "ledger.hh"
#include "options.hh"
#include "ring_map.hh"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace perfring::record {

class EventSet {
    public:
	/*
	 * tids: the tasks, empty for whole CPUs. say: told once for each thing that is done
	 * otherwise than asked for.
	 */
	EventSet(std::vector<EventSpec> specs, const RecordOptions &options,
		 std::vector<pid_t> tids, std::function<void(const std::string &)> say);
	~EventSet();

	EventSet(const EventSet &) = delete;
	EventSet &operator=(const EventSet &) = delete;

	/* Each throws UserError. First open(), then map(). */
	void open();
	void map();

	void enable();
	void disable();
	/* By number of the event or by name. False: there is none. */
	bool enable_event(const std::string &name, bool on);

	/*
	 * What the kernel counted as lost, into the ledger (PERF_FORMAT_LOST). Where it does
	 * not count, what the rings' own records say goes to each ring's first event.
	 */
	void count_losses(Ledger &ledger) const;

	/* The counter of an event, children included, over all its places. */
	std::uint64_t count(std::size_t event) const;

	std::vector<std::unique_ptr<RingMap>> &rings()
	{
		return maps;
	}
	const std::vector<data::EventDescription> &events() const
	{
		return descriptions;
	}
	std::vector<int> cpus() const;
	std::optional<data::AuxDescription> aux() const;
	bool has_overwrite() const;
	bool counts_losses() const
	{
		return format_lost;
	}
	std::size_t data_bytes() const
	{
		return data_pages * page_size;
	}

    private:
	struct Place {
		int cpu;
		pid_t tid;
	};
	struct Opened {
		std::size_t event;
		std::size_t place;
		int fd;
		std::uint64_t id;
		std::size_t ring;
	};

	void find_places();
	void open_event(std::size_t event);
	int open_at(std::size_t event, const Place &place, int leader_fd);
	bool fall_back(std::size_t event, int error, const Place &place);
	bool place_fits(const EventSpec &spec, const Place &place) const;
	int leader_at(std::size_t event, std::size_t place) const;
	void assign_rings();
	void set_filters();
	void share_rings();
	void describe();
	int map_all(std::size_t pages, std::size_t aux_bytes);

	std::vector<EventSpec> specs;
	const RecordOptions &options;
	std::vector<pid_t> tids;
	std::function<void(const std::string &)> say;
	std::vector<Place> places;
	std::vector<Opened> opened;
	std::vector<std::unique_ptr<RingMap>> maps;
	std::vector<data::EventDescription> descriptions;
	std::size_t page_size;
	std::size_t data_pages = 0;
	std::size_t aux_bytes = 0;
	bool format_lost = true;
	bool new_side_band = true;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_EVENT_SET_HH */
