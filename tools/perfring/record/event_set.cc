// SPDX-License-Identifier: GPL-2.0
#include "event_set.hh"

#include "attributes.hh"
#include "limits.hh"
#include "target.hh"
#include "text.hh"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

namespace perfring::record {
namespace {

int perf_event_open(perf_event_attr &attr, pid_t tid, int cpu, int group)
{
	return static_cast<int>(
		syscall(SYS_perf_event_open, &attr, tid, cpu, group, PERF_FLAG_FD_CLOEXEC));
}

} /* namespace */

EventSet::EventSet(std::vector<EventSpec> with, const RecordOptions &with_options,
		   std::vector<pid_t> tasks, std::function<void(const std::string &)> tell)
	: specs(std::move(with)),
	  options(with_options),
	  tids(std::move(tasks)),
	  say(std::move(tell)),
	  page_size(static_cast<std::size_t>(sysconf(_SC_PAGESIZE)))
{
}

EventSet::~EventSet()
{
	for (auto &ring : maps)
		ring->unmap();
	for (const auto &one : opened)
		close(one.fd);
}

void EventSet::find_places()
{
	const std::vector<int> cpus = options.cpus ? *options.cpus : online_cpus();

	if (options.per_thread) {
		for (const pid_t tid : tids)
			places.push_back({-1, tid});
		return;
	}
	for (const int cpu : cpus) {
		if (tids.empty())
			places.push_back({cpu, -1});
		for (const pid_t tid : tids)
			places.push_back({cpu, tid});
	}
}

bool EventSet::place_fits(const EventSpec &spec, const Place &place) const
{
	return spec.pmu_cpus.empty() || place.tid != -1 ||
	       std::find(spec.pmu_cpus.begin(), spec.pmu_cpus.end(), place.cpu) !=
		       spec.pmu_cpus.end();
}

int EventSet::leader_at(std::size_t event, std::size_t place) const
{
	const std::size_t leader = specs[event].leader;

	if (leader == event)
		return -1;
	const auto found = std::find_if(opened.begin(), opened.end(), [&](const Opened &one) {
		return one.event == leader && one.place == place;
	});

	return found == opened.end() ? -1 : found->fd;
}

/*
 * Asks for less, where the kernel is older than the question or the hardware less
 * exact. True: another try is worth it. What was opened before keeps what it had.
 */
bool EventSet::fall_back(std::size_t event, int error, const Place &place)
{
	perf_event_attr &attr = specs[event].attr;

	if ((error == EINVAL || error == EOPNOTSUPP || error == ENOENT) && attr.precise_ip &&
	    specs[event].most_precise) {
		attr.precise_ip = (attr.precise_ip - 1U) & 3;
		return true;
	}
	if (error == EINVAL && attr.read_format & PERF_FORMAT_LOST) {
		for (auto &spec : specs)
			spec.attr.read_format &= ~static_cast<__u64>(PERF_FORMAT_LOST);
		format_lost = false;
		return true;
	}
	if (error == EINVAL && (attr.ksymbol || attr.bpf_event || attr.text_poke)) {
		attr.ksymbol = attr.bpf_event = attr.text_poke = 0;
		return true;
	}
	if ((error == EACCES || error == EPERM) && !attr.exclude_kernel &&
	    !specs[event].exclude_set && paranoid() > 1 && place.tid != -1 &&
	    attr.type != PERF_TYPE_TRACEPOINT) {
		attr.exclude_kernel = 1;
		attr.exclude_hv = 1;
		specs[event].name += specs[event].pmu.empty() ? ":u" : "u";
		say(fmt::format("kernel.perf_event_paranoid is {}: {} leaves out the kernel",
				paranoid(), specs[event].name));
		return true;
	}
	if ((error == ENOENT || error == ENODEV || error == EOPNOTSUPP) &&
	    attr.type == PERF_TYPE_HARDWARE && attr.config == PERF_COUNT_HW_CPU_CYCLES) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.precise_ip = 0;
		specs[event].name = "cpu-clock";
		say("there is no counter of cycles here: cpu-clock takes its place");
		return true;
	}
	return false;
}

int EventSet::open_at(std::size_t event, const Place &place, int leader_fd)
{
	for (;;) {
		const int fd = perf_event_open(specs[event].attr, place.tid, place.cpu, leader_fd);
		const int error = errno;

		if (fd >= 0)
			return fd;
		/* Who has gone meanwhile leaves the others. */
		if (error == ESRCH && tids.size() > 1)
			return -1;
		if (error == ENODEV && place.cpu >= 0 && !cpu_is_online(place.cpu) &&
		    places.size() > 1) {
			say(fmt::format("CPU {} is offline", place.cpu));
			return -1;
		}
		if (!fall_back(event, error, place))
			throw UserError(
				explain_open({error, &specs[event].attr, specs[event].name,
					      place.cpu, place.tid, places.size() * specs.size()}));
	}
}

void EventSet::open_event(std::size_t event)
{
	for (std::size_t i = 0; i < places.size(); i++) {
		const int leader = leader_at(event, i);

		if (!place_fits(specs[event], places[i]) ||
		    (leader < 0 && specs[event].leader != event))
			continue;
		const int fd = open_at(event, places[i], leader);
		std::uint64_t id = 0;

		if (fd < 0)
			continue;
		opened.push_back({event, i, fd, 0, 0});
		if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
			throw UserError(fmt::format("{}: the kernel gives it no id: {}",
						    specs[event].name, error_text(errno)));
		opened.back().id = id;
	}
}

void EventSet::open()
{
	const bool any_aux = std::any_of(specs.begin(), specs.end(),
					 [](const EventSpec &spec) { return spec.has_aux; });

	data_pages = options.data_pages.value_or(512 * 1024 / page_size);
	if (any_aux)
		aux_bytes = options.aux_bytes.value_or(geteuid() == 0 ? 4 << 20 : 128 << 10);
	else if (options.aux_bytes)
		say("no event fills an AUX area: none is mapped");
	for (auto &spec : specs) {
		/* Only a thread on the ring's own CPU comes before whatever fills it. */
		const bool realtime =
			options.realtime && options.recorders == Threads::cpu && geteuid() == 0;

		spec.attr.watermark = 1;
		spec.attr.wakeup_watermark = data_watermark(data_pages * page_size, realtime);
		if (spec.has_aux && !options.snapshot)
			spec.attr.aux_watermark = aux_watermark(aux_bytes);
	}
	raise_fd_limit();
	find_places();
	for (std::size_t event = 0; event < specs.size(); event++)
		open_event(event);
	if (opened.empty())
		throw UserError(tids.empty() ? "none of the events can be opened on any of the CPUs"
					     : "none of the tasks is there any more");
	assign_rings();
	set_filters();
}

void EventSet::set_filters()
{
	for (const auto &one : opened) {
		const EventSpec &spec = specs[one.event];

		if (!spec.filter.empty() &&
		    ioctl(one.fd, PERF_EVENT_IOC_SET_FILTER, spec.filter.c_str()))
			throw UserError(
				fmt::format("{}: the kernel does not take the filter \"{}\": {}",
					    spec.name, spec.filter, error_text(errno)));
	}
}

/* One ring for each CPU or, without CPUs, each task, and for each direction. */
void EventSet::assign_rings()
{
	std::map<std::tuple<int, pid_t, bool>, std::size_t> known;

	for (auto &one : opened) {
		const Place &place = places[one.place];
		const bool backward = specs[one.event].attr.write_backward;
		const auto key =
			std::make_tuple(place.cpu, place.cpu < 0 ? place.tid : -1, backward);
		const auto [found, is_new] = known.emplace(key, maps.size());

		if (is_new) {
			maps.push_back(std::make_unique<RingMap>());
			maps.back()->index = found->second;
			maps.back()->cpu = place.cpu;
			maps.back()->tid = place.cpu < 0 ? place.tid : -1;
			maps.back()->backward = backward;
		}
		one.ring = found->second;
		RingMap &map = *maps[one.ring];

		/* The AUX area belongs to the event that is mapped. */
		if (specs[one.event].has_aux && map.aux_fds.empty())
			map.fds.insert(map.fds.begin(), one.fd);
		else
			map.fds.push_back(one.fd);
		if (specs[one.event].has_aux) {
			map.aux_fds.push_back(one.fd);
			map.aux_snapshot = options.snapshot;
		}
	}
}

int EventSet::map_all(std::size_t pages, std::size_t aux)
{
	for (auto &ring : maps) {
		const int error = ring->map(pages, ring->aux_fds.empty() ? 0 : aux);

		if (!error)
			continue;
		for (auto &mapped : maps)
			mapped->unmap();
		return error;
	}
	return 0;
}

/*
 * Tries smaller rings before giving up. How the memory is divided between data and AUX
 * area is kept roughly: the larger of the two is halved.
 */
void EventSet::map()
{
	const std::size_t wanted_pages = data_pages, wanted_aux = aux_bytes;
	int error, first_error = 0;

	while ((error = map_all(data_pages, aux_bytes)) == EPERM || error == ENOMEM) {
		if (!first_error)
			first_error = error;
		if (aux_bytes > data_pages * page_size && aux_bytes > 4 * page_size)
			aux_bytes /= 2;
		else if (data_pages > 1)
			data_pages /= 2;
		else
			break;
	}
	if (error)
		throw UserError(explain_map({error, maps.size(), wanted_pages, wanted_aux}));
	if (first_error)
		say(fmt::format("rings of {} pages{} in place of {}: {}", data_pages,
				wanted_aux
					? fmt::format(" and {} of AUX area",
						      human_bytes(static_cast<double>(aux_bytes)))
					: "",
				wanted_pages,
				explain_map({first_error, maps.size(), wanted_pages, wanted_aux})));
	share_rings();
	describe();
}

void EventSet::share_rings()
{
	for (const auto &one : opened) {
		const int owner = maps[one.ring]->fds.front();

		if (one.fd != owner && ioctl(one.fd, PERF_EVENT_IOC_SET_OUTPUT, owner))
			throw UserError(fmt::format("{}: cannot share the ring of CPU {}: {}",
						    specs[one.event].name, maps[one.ring]->cpu,
						    error_text(errno)));
	}
}

void EventSet::describe()
{
	for (std::size_t i = 0; i < specs.size(); i++) {
		const EventSpec &spec = specs[i];
		data::EventDescription event;

		event.attr = spec.attr;
		event.name = spec.name;
		event.leader = spec.leader;
		event.group_name = spec.group_name;
		event.tracepoint_system = spec.tracepoint_system;
		event.tracepoint_name = spec.tracepoint_name;
		event.pmu = spec.pmu;
		event.pmu_cpus.assign(spec.pmu_cpus.begin(), spec.pmu_cpus.end());
		event.unit = spec.unit;
		event.scale = spec.scale;
		if (spec.has_aux)
			event.address_filter = spec.filter;
		for (const auto &one : opened)
			if (one.event == i)
				event.ids.push_back({one.id, places[one.place].cpu,
						     places[one.place].tid,
						     static_cast<int>(one.ring)});
		descriptions.push_back(std::move(event));
	}
}

void EventSet::enable()
{
	for (const auto &one : opened)
		if (specs[one.event].leader == one.event)
			ioctl(one.fd, PERF_EVENT_IOC_ENABLE, 0);
}

void EventSet::disable()
{
	for (const auto &one : opened)
		ioctl(one.fd, PERF_EVENT_IOC_DISABLE, 0);
}

bool EventSet::enable_event(const std::string &name, bool on)
{
	bool found = false;

	for (const auto &one : opened) {
		if (specs[one.event].name != name)
			continue;
		found = true;
		if (specs[one.event].has_aux)
			maps[one.ring]->aux_off = !on;
		ioctl(one.fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	}
	return found;
}

std::uint64_t EventSet::count(std::size_t event) const
{
	std::uint64_t sum = 0;

	for (const auto &one : opened) {
		std::array<std::uint64_t, 64> values{};

		if (one.event == event && !(specs[event].attr.read_format & PERF_FORMAT_GROUP) &&
		    read(one.fd, values.data(), sizeof(values)) > 0)
			sum += values[0];
	}
	return sum;
}

void EventSet::count_losses(Ledger &ledger) const
{
	for (const auto &one : opened) {
		const auto &attr = specs[one.event].attr;
		std::array<std::uint64_t, 256> values{};

		if (!(attr.read_format & PERF_FORMAT_LOST))
			continue;
		const ssize_t got = read(one.fd, values.data(), sizeof(values));
		/* value, id, lost; or nr, then these three for each member, the leader first. */
		const std::size_t at = attr.read_format & PERF_FORMAT_GROUP ? 3 : 2;

		if (got >= static_cast<ssize_t>((at + 1) * 8) && values[at])
			ledger.lose(Cause::ring_full, {{one.ring, one.event, values[at]}});
	}
	if (format_lost)
		return;
	for (const auto &ring : maps) {
		const auto first =
			std::find_if(opened.begin(), opened.end(),
				     [&](const Opened &one) { return one.ring == ring->index; });
		const std::uint64_t lost = ledger.ring(ring->index).lost_records;

		if (lost)
			ledger.lose(Cause::ring_full, {{ring->index, first->event, lost}});
	}
}

std::vector<int> EventSet::cpus() const
{
	std::vector<int> cpus;

	for (const auto &ring : maps)
		if (ring->cpu >= 0 && (cpus.empty() || cpus.back() != ring->cpu))
			cpus.push_back(ring->cpu);
	std::sort(cpus.begin(), cpus.end());
	cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
	return cpus;
}

std::optional<data::AuxDescription> EventSet::aux() const
{
	for (std::size_t i = 0; i < specs.size(); i++)
		if (specs[i].has_aux)
			return data::AuxDescription{i, aux_bytes, options.snapshot,
						    !options.per_thread};
	return std::nullopt;
}

bool EventSet::has_overwrite() const
{
	return std::any_of(maps.begin(), maps.end(), [](const auto &map) { return map->backward; });
}

} /* namespace perfring::record */
