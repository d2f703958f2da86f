/* SPDX-License-Identifier: GPL-2.0 */
/* One run of perfring record, from the first event opened to the last word said. */
#ifndef PERFRING_RECORD_RECORDING_HH
#define PERFRING_RECORD_RECORDING_HH

#include "control.hh"
#include "event_set.hh"
#include "options.hh"
#include "output_file.hh"
#include "rounds.hh"
#include "target.hh"
#include "worker.hh"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace perfring::record {

class Recording {
    public:
	Recording(RecordOptions options, std::vector<std::string> command_line);
	~Recording();

	Recording(const Recording &) = delete;
	Recording &operator=(const Recording &) = delete;

	/* Returns the exit status. Throws UserError, or std::system_error. */
	int run();

    private:
	using Clock = std::chrono::steady_clock;

	void block_signals();
	void prepare_events();
	void prepare_output();
	void make_workers();
	void start();
	void main_loop();
	void tick();
	void handle_signals();
	void handle_control();
	void handle_notice();
	bool all_rings_dead() const;
	void enable();
	void disable();
	void snapshot();
	void switch_output();
	void round(const RoundOrder &order);
	void watch_position();
	void stop(const char *why);
	void finish();
	void abandon();
	void finish_file(OutputFile &file, bool last);
	std::vector<LossNote> loss_notes() const;
	data::Bytes fill_history() const;
	void report() const;
	void progress();
	int summary();
	void say(const std::string &what) const;
	int next_timeout() const;

	RecordOptions options;
	std::vector<std::string> command_line;
	std::optional<Command> command;
	std::optional<Control> control;
	std::unique_ptr<EventSet> events;
	std::unique_ptr<EventFacts> facts;
	std::unique_ptr<Ledger> ledger;
	std::unique_ptr<data::Writer> writer;
	std::unique_ptr<OutputFile> file;
	std::unique_ptr<Rounds> rounds;
	std::vector<std::unique_ptr<Worker>> workers;
	int signals = -1;
	int notices = -1;
	bool enabled = false;
	bool stopping = false;
	bool workers_run = false;
	bool ended_command = false;
	const char *stop_reason = "";
	int output_error = 0;
	std::uint64_t total_bytes = 0; /* in files that are finished */
	std::vector<std::string> files;
	Clock::time_point started{};
	Clock::time_point last_tick{};
	Clock::time_point last_checkpoint{};
	Clock::time_point last_switch{};
	std::uint64_t bytes_told = 0;
	std::uint64_t highest_fill = 0;
	bool terminal = false;
};

} /* namespace perfring::record */

#endif /* PERFRING_RECORD_RECORDING_HH */
