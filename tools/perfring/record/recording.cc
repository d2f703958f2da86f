// SPDX-License-Identifier: GPL-2.0
#include "recording.hh"

#include "attributes.hh"
#include "data/mapped_file.hh"
#include "data/picture.hh"
#include "limits.hh"
#include "recount.hh"
#include "summary.hh"
#include "text.hh"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

namespace perfring::record {
namespace {

using namespace std::chrono_literals;

/* Rings are emptied at least so often, however little is in them. */
constexpr auto round_time = 500ms;
constexpr auto checkpoint_time = 2s;

std::size_t default_memory()
{
	return std::clamp<std::size_t>(machine_memory() / 16, 16 << 20, 512 << 20);
}

std::uint64_t default_dirty_limit()
{
	return std::max<std::uint64_t>(machine_memory() / 8, 32 << 20);
}

std::string time_stamp()
{
	timespec now;
	tm local{};

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	return fmt::format("{:%Y%m%d%H%M%S}{:02}", local, now.tv_nsec / 10000000);
}

} /* namespace */

Recording::Recording(RecordOptions with, std::vector<std::string> words)
	: options(std::move(with)),
	  command_line(std::move(words)),
	  terminal(isatty(STDERR_FILENO) && !options.quiet)
{
}

Recording::~Recording()
{
	workers.clear();
	if (signals >= 0)
		close(signals);
	if (notices >= 0)
		close(notices);
}

void Recording::say(const std::string &what) const
{
	if (!options.quiet)
		fmt::print(stderr, "perfring record: {}\n", what);
}

/* Before there are any threads: they inherit it. */
void Recording::block_signals()
{
	sigset_t ours;

	sigemptyset(&ours);
	for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGUSR2, SIGQUIT})
		sigaddset(&ours, one);
	pthread_sigmask(SIG_BLOCK, &ours, nullptr);
	signal(SIGPIPE, SIG_IGN);
	/* A file that is too large for RLIMIT_FSIZE is an error like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	notices = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (signals < 0 || notices < 0)
		throw std::system_error(errno, std::generic_category(), "signalfd");
}

void Recording::prepare_events()
{
	const EventSources sources = system_event_sources();
	std::vector<EventSpec> specs;
	std::vector<pid_t> tids = options.threads;

	for (std::size_t i = 0; i < options.events.size(); i++) {
		const std::size_t before = specs.size();

		parse_events(options.events[i], sources, specs);
		for (std::size_t j = before; j < specs.size(); j++)
			if (i < options.filters.size() && !options.filters[i].empty())
				specs[j].filter = options.filters[i];
	}
	complete(specs, options);
	if (!options.command.empty())
		command.emplace(options.command, options.to_stdout());
	if (!options.processes.empty()) {
		const auto more = threads_of(options.processes);

		tids.insert(tids.end(), more.begin(), more.end());
	}
	if (options.for_command())
		tids.push_back(command->pid());
	std::sort(tids.begin(), tids.end());
	tids.erase(std::unique(tids.begin(), tids.end()), tids.end());
	if (!options.control.empty())
		control.emplace(options.control);

	events = std::make_unique<EventSet>(std::move(specs), options, tids,
					    [this](const std::string &what) { say(what); });
	events->open();
	events->map();

	data::Session session;

	session.events = events->events();
	session.aux = events->aux();
	session.command_line = command_line;
	session.clockid = options.clockid;
	session.cpus = events->cpus();
	session.system_wide = !options.for_tasks();
	if (options.for_tasks())
		session.threads = tids;
	if (command)
		session.child = command->pid();
	session.compression_level = options.compression_level;
	session.compressed_unit = options.compression_level ? data::compressed_unit_limit : 0;
	writer = std::make_unique<data::Writer>(std::move(session));
	facts = std::make_unique<EventFacts>(events->events());
	ledger = std::make_unique<Ledger>(events->rings().size(), events->events().size());
}

void Recording::prepare_output()
{
	if (!options.dirty_limit)
		options.dirty_limit = default_dirty_limit();
	if (!options.memory)
		options.memory = default_memory();
	file = std::make_unique<OutputFile>(options.output, *writer, options.dirty_limit, *ledger,
					    make_recount(*facts));
}

void Recording::make_workers()
{
	const auto cpus = static_cast<std::size_t>(std::thread::hardware_concurrency());
	std::vector<RingMap *> rings;
	std::vector<int> ring_cpus;
	std::vector<WorkerSetup> setups;

	for (auto &ring : events->rings()) {
		rings.push_back(ring.get());
		ring_cpus.push_back(ring->cpu);
	}
	for (auto &thread : deal_rings(ring_cpus, options.recorders, cpus)) {
		WorkerSetup &setup = setups.emplace_back();

		for (const std::size_t ring : thread.rings)
			setup.rings.push_back(rings[ring]);
		setup.cpus = std::move(thread.cpus);
	}
	const std::uint64_t now = monotonic_time();

	const auto memory = std::make_shared<MemoryBudget>(options.memory);

	rounds = std::make_unique<Rounds>(setups.size());
	for (WorkerSetup &setup : setups) {
		setup.realtime = options.realtime;
		setup.queue = options.queue;
		setup.depth = options.depth;
		setup.memory = memory;
		setup.compression_level = options.compression_level;
		setup.keep_fill = !options.report.empty();
		setup.fill_start = now;
		for (;;) {
			try {
				workers.push_back(std::make_unique<Worker>(
					setup, *facts, *rounds, *ledger, file->output(), notices));
				break;
			} catch (const std::system_error &error) {
				if (setup.queue == QueueKind::aio)
					throw;
				if (options.queue_chosen)
					throw UserError(
						fmt::format("--io-uring: {}", error.what()));
				/* Forbidden or unknown here; the other way is as safe. */
				setup.queue = options.queue = QueueKind::aio;
			}
		}
	}
}

void Recording::enable()
{
	enabled = true;
	rounds->set_enabled(true, [&] { events->enable(); });
}

void Recording::disable()
{
	enabled = false;
	rounds->set_enabled(false, [&] { events->disable(); });
}

void Recording::start()
{
	workers_run = true;
	for (auto &worker : workers)
		worker->start();
	output_error = file->start();
	if (output_error)
		throw UserError(fmt::format("{}: {}", options.output, error_text(output_error)));
	started = last_tick = last_checkpoint = last_switch = Clock::now();
	watch_position();
	/* A command's events begin with its exec, unless they have to be told. */
	if (!options.delay && !options.for_command())
		enable();
	enabled = !options.delay;
	rounds->set_enabled(enabled, [] {});
	if (command)
		command->go();
}

void Recording::round(const RoundOrder &order)
{
	while (!rounds->begin(order))
		rounds->wait();
	for (auto &worker : workers)
		worker->wake();
}

void Recording::snapshot()
{
	round({.snapshot = true, .enabled = enabled});
	rounds->wait();
	file->output()->wait_whole();
}

/* The old file gets what was there, the new one what comes. */
void Recording::switch_output()
{
	data::Session now = writer->session();

	/* The command is itself by now, and may have children. */
	now.child.reset();
	if (!now.threads.empty())
		now.threads = with_descendants(now.threads);
	auto next_writer = std::make_unique<data::Writer>(std::move(now));
	auto next =
		std::make_unique<OutputFile>(options.output + ".next", *next_writer,
					     options.dirty_limit, *ledger, make_recount(*facts));
	const int error = next->start();

	if (error) {
		output_error = error;
		stop("the next output cannot be written");
		return;
	}
	round({.snapshot = options.snapshot || events->has_overwrite(),
	       .enabled = enabled,
	       .next_output = next->output()});
	rounds->wait();
	file->output()->wait_whole();
	finish_file(*file, false);
	file = std::move(next);
	writer = std::move(next_writer);
	last_switch = Clock::now();
	watch_position();
}

void Recording::watch_position()
{
	const std::uint64_t limit =
		options.switch_bytes ? options.switch_bytes : options.most_bytes;

	if (limit)
		file->output()->watch_position(limit, notices);
}

void Recording::stop(const char *why)
{
	if (!stopping)
		stop_reason = why;
	stopping = true;
}

bool Recording::all_rings_dead() const
{
	return std::all_of(workers.begin(), workers.end(), [](const auto &worker) {
		return worker->view().dead_rings == worker->ring_count();
	});
}

void Recording::handle_notice()
{
	std::uint64_t count;

	[[maybe_unused]] const ssize_t got = read(notices, &count, sizeof(count));

	if (const int error = file->output()->error()) {
		output_error = error;
		stop(error == EPIPE ? "nobody reads the output any more" : "writing failed");
	}
	if (!command && options.for_tasks() && all_rings_dead())
		stop("all tasks have ended");
	if (options.switch_bytes && file->output()->position() > options.switch_bytes)
		switch_output();
	else if (options.most_bytes &&
		 total_bytes + file->output()->position() > options.most_bytes)
		stop("the output has reached its greatest size");
}

void Recording::handle_signals()
{
	signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGUSR2) {
			stop("a signal");
			continue;
		}
		if (options.switch_output)
			switch_output();
		else if (options.snapshot || events->has_overwrite())
			snapshot();
	}
}

void Recording::handle_control()
{
	using Kind = ControlCommand::Kind;

	control->receive();
	while (const auto order = control->next()) {
		bool done = true;

		switch (order->kind) {
		case Kind::enable:
			if (order->event.empty())
				enable();
			else
				done = events->enable_event(order->event, true);
			break;
		case Kind::disable:
			if (order->event.empty())
				disable();
			else
				done = events->enable_event(order->event, false);
			break;
		case Kind::snapshot:
			if (options.switch_output)
				switch_output();
			else
				snapshot();
			break;
		case Kind::stop:
			stop("it was told to");
			break;
		case Kind::ping:
			break;
		case Kind::unknown:
			done = false;
			break;
		}
		if (done)
			control->acknowledge();
		else
			say("a control command that is not known, or about an event that is not there");
	}
}

int Recording::next_timeout() const
{
	auto next = last_tick + round_time;

	if (options.duration > 0)
		next = std::min(next,
				started + std::chrono::duration_cast<Clock::duration>(
						  std::chrono::duration<double>(options.duration)));
	if (!enabled && options.delay.value_or(-1) > 0)
		next = std::min(next, started + std::chrono::milliseconds(*options.delay));
	return static_cast<int>(std::max<std::int64_t>(
		0, std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count()));
}

void Recording::tick()
{
	const auto now = Clock::now();
	const std::chrono::duration<double> running = now - started;

	if (options.duration > 0 && running.count() >= options.duration)
		stop("the time is over");
	if (!enabled && options.delay.value_or(-1) > 0 &&
	    now - started >= std::chrono::milliseconds(*options.delay)) {
		enable();
		options.delay = -1;
	}
	if (now - last_tick < round_time || stopping)
		return;
	if (options.switch_seconds > 0 &&
	    std::chrono::duration<double>(now - last_switch).count() >= options.switch_seconds) {
		switch_output();
	} else if (rounds->begin({})) {
		for (auto &worker : workers)
			worker->wake();
	}
	if (now - last_checkpoint >= checkpoint_time) {
		file->checkpoint();
		last_checkpoint = now;
	}
	progress();
	last_tick = now;
}

void Recording::main_loop()
{
	while (!stopping) {
		std::array<pollfd, 4> fds{{{signals, POLLIN, 0},
					   {notices, POLLIN, 0},
					   {command ? command->fd() : -1, POLLIN, 0},
					   {control ? control->fd() : -1, POLLIN, 0}}};

		if (poll(fds.data(), fds.size(), next_timeout()) < 0 && errno != EINTR)
			throw std::system_error(errno, std::generic_category(), "poll");
		if (fds[0].revents)
			handle_signals();
		if (fds[3].revents)
			handle_control();
		if (fds[1].revents && !stopping)
			handle_notice();
		if (fds[2].revents)
			stop("the command has ended");
		tick();
	}
}

void Recording::progress()
{
	std::uint64_t samples = 0, lost = 0, fill = 0;
	const std::uint64_t bytes = total_bytes + file->output()->written();
	const std::chrono::duration<double> passed = Clock::now() - last_tick;

	for (auto &worker : workers) {
		samples += worker->view().samples;
		lost += worker->view().lost;
		fill = std::max(fill, worker->take_fill());
	}
	highest_fill = std::max(highest_fill, fill);
	if (!terminal)
		return;
	fmt::print(stderr, "\r{:>12} samples  {:>10}  {:>10}/s  lost {}  ring {:>3}%   ", samples,
		   human_bytes(static_cast<double>(bytes)),
		   human_bytes(static_cast<double>(bytes - bytes_told) / passed.count()), lost,
		   fill / 10);
	std::fflush(stderr);
	bytes_told = bytes;
}

/* What the file has to say of losses: only the kernel's own records are in it so far. */
std::vector<LossNote> Recording::loss_notes() const
{
	std::vector<LossNote> notes;
	std::uint64_t last = 0;

	for (const auto &worker : workers)
		last = std::max(last, worker->last_time());
	for (std::size_t ring = 0; ring < ledger->rings(); ring++)
		for (std::size_t event = 0; event < ledger->events(); event++) {
			const std::uint64_t lost = ledger->lost(Cause::ring_full, ring, event) +
						   ledger->lost(Cause::output, ring, event);

			if (lost)
				notes.push_back({event, ring, lost, last});
		}
	return notes;
}

data::Bytes Recording::fill_history() const
{
	std::optional<data::FillLog> all;

	for (const auto &worker : workers) {
		if (!all)
			all = worker->fill_log();
		else if (worker->fill_log())
			all->merge(*worker->fill_log());
	}
	return all ? all->encode() : data::Bytes{};
}

/* --report: the picture of the file that was written last. */
void Recording::report() const
{
	if (options.report.empty() || options.to_stdout() || files.empty())
		return;
	const data::MappedFile data(files.back());
	std::ofstream to(options.report);

	to << data::picture(data.bytes(), files.back());
	if (!to.flush())
		throw UserError(fmt::format("--report: {} cannot be written", options.report));
}

void Recording::finish_file(OutputFile &one, bool last)
{
	data::Observations seen;
	data::Outcome outcome;
	data::Bytes fills;

	if (last) {
		for (const auto &worker : workers) {
			seen.merge(worker->observations());
			if (worker->first_time() <= worker->last_time())
				seen.sample_time(worker->first_time(), worker->last_time());
			outcome.uncompressed_bytes += worker->uncompressed_bytes();
		}
		one.output()->settle();
		outcome.compressed_bytes = one.output()->written();
		outcome.seen = &seen;
		if (!options.report.empty())
			fills = fill_history();
	}
	const int error = one.finish(
		outcome, [&] { return last ? loss_notes() : std::vector<LossNote>{}; }, fills);

	if (error && !output_error)
		output_error = error;
	total_bytes += one.size();
	std::string name = one.path();

	if (options.switch_output) {
		name = options.output + "." + time_stamp();
		if (rename(one.path().c_str(), name.c_str()))
			say(fmt::format("{} could not be renamed to {}: {}", one.path(), name,
					error_text(errno)));
	}
	files.push_back(name);
	if (options.switch_files && files.size() > options.switch_files) {
		unlink(files.front().c_str());
		files.erase(files.begin());
	}
}

void Recording::finish()
{
	sigset_t interrupt;

	/* Whoever is tired of waiting for a disk can end it. */
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);

	if (options.snapshot_at_exit)
		snapshot();
	disable();
	round({.enabled = false, .stop = true});
	for (auto &worker : workers)
		worker->join();
	progress();
	if (terminal)
		fmt::print(stderr, "\n");
	/* The rings' own records are in the ledger now. */
	events->count_losses(*ledger);
	finish_file(*file, true);
}

int Recording::summary()
{
	const int how = command ? command->status() : 0;
	/* Whom we have ended ourselves has not failed. */
	const int status = ended_command ? 0 : how;
	Summary what{*ledger,
		     *events,
		     files,
		     total_bytes,
		     stop_reason,
		     output_error,
		     options.to_stdout()};

	if (options.verbose)
		for (auto &worker : workers)
			say(fmt::format(
				"a thread with {} ring(s): {}, {}, {} wake-ups, {} times without memory",
				worker->ring_count(), worker->queue_name(),
				worker->has_realtime() ? "SCHED_FIFO" : "ordinary priority",
				worker->view().wakeups.load(), worker->view().starved.load()));
	/* Children included. */
	if (options.verbose)
		for (std::size_t i = 0; i < events->events().size(); i++)
			say(fmt::format("{} counted {}", events->events()[i].name,
					events->count(i)));
	if (!options.quiet)
		print_summary(stderr, what);
	report();
	if (output_error && output_error != EPIPE)
		return 1;
	if (options.fail_on_loss && !ledger->lossless())
		return 3;
	return status;
}

/* After an error: nothing is to be kept. */
void Recording::abandon()
{
	if (!workers_run)
		return;
	workers_run = false;
	disable();
	round({.enabled = false, .stop = true});
	for (auto &worker : workers)
		worker->join();
	if (!file->output()->is_stream())
		unlink(file->path().c_str());
}

int Recording::run()
{
	block_signals();
	prepare_events();
	prepare_output();
	make_workers();
	try {
		start();
		main_loop();
	} catch (...) {
		abandon();
		throw;
	}
	if (command && stop_reason != std::string_view("the command has ended"))
		ended_command = true;
	if (ended_command)
		command->terminate();
	finish();
	return summary();
}

} /* namespace perfring::record */
