/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A random run: programs are executed by tossing coins, a PT unit is told, a driver
 * takes the bytes away, and what a decoder has to find in them is noted.
 */
#ifndef TESTS_PT_EMU_PT_JOURNEY_HH
#define TESTS_PT_EMU_PT_JOURNEY_HH

#include <optional>

#include "choices.hh"
#include "pt_judge.hh"
#include "pt_machine.hh"
#include "pt_oracle.hh"
#include "pt_program.hh"

namespace pt_test {

/* Where the unit under test lets NMIs in; null: they stay out. */
extern std::function<void()> nested_point;

struct Setting {
	std::uint64_t ctl;		   /* without TraceEn */
	std::vector<unsigned int> entries; /* sizes of the table's regions; none: single range */
	bool stop_at_end;
	unsigned int single_range_pages;
	unsigned int time_step;
	std::uint64_t addr[8];
	std::uint64_t cr3_match;
	unsigned int nmi_every; /* one of so many chances; 0: none */
	pt_unit_features features;
};

std::ostream &operator<<(std::ostream &out, const Setting &setting);

class Journey {
    public:
	Journey(ring_test::Choices &choices, std::vector<Program> &programs,
		const Setting &setting);

	~Journey();

	void execute(unsigned int steps);
	/* The end: all bytes are fetched. Empty, or what is wrong with what libipt finds. */
	std::string compare();
	/* The same for perf's decoder; nothing where there is none. */
	std::string compare_perf();
	/* Is there a perf to compare with? */
	static bool has_perf();

	std::vector<std::uint8_t> trace;
	unsigned long gaps = 0;
	unsigned long instructions = 0;
	unsigned long nmis = 0;

    private:
	void program_output();
	void start_tracing();
	void stop_tracing();
	void restart();
	void nmi();
	void settle();
	void begin_segment(bool cut);
	void fetch();
	void step();
	void interrupt_sometimes();
	void enter(std::size_t to);
	void note_event();
	void leave(pt_unit_end end);
	void report_run();
	void retire(pt_unit_class kind, std::size_t to);
	void retire_direct(const Instruction &now);
	void go(std::size_t to);
	bool in(unsigned int use, std::uint64_t ip) const;
	void arrive();
	std::size_t anywhere();
	std::string judge(const Decoded &decoded);
	bool ends(std::uint64_t ip) const;
	unsigned int choose(unsigned int ways)
	{
		return choices.choose(ways);
	}
	const Instruction &here() const
	{
		return program->code[at];
	}
	std::uint64_t cr3() const;

	ring_test::Choices &choices;
	std::vector<Program> &programs;
	Setting setting;
	PtMachine machine;

	/* Where output is. */
	std::uint64_t table = 0;
	std::vector<std::uint64_t> regions;
	std::uint64_t capacity = 0;
	std::uint64_t fetched = 0;

	/* The CPU. */
	Program *program;
	std::size_t at = 0;
	std::uint64_t run_begin = 0;
	unsigned int run_length = 0;
	std::vector<std::size_t> calls;
	bool following = false;
	bool in_nmi = false;
	/* An NMI has ended the trace, or begun it anew. */
	bool nmi_hit = false;
	bool enter_again = false;

	/* What the trace has to say. */
	bool open = false;
	bool on = false;
	bool stopped = false;
	std::vector<Item> truth;
	std::vector<Segment> segments{{0, 0, false}};
	unsigned long long losses_seen = 0;
};

} // namespace pt_test

#endif
