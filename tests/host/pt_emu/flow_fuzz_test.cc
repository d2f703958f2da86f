// SPDX-License-Identifier: GPL-2.0
/* Random programs, random units: libipt finds exactly what has run. */
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "pt_journey.hh"

namespace pt_test {
namespace {

using ring_test::Choices;

void choose_output(Choices &choices, Setting &setting)
{
	if (choices.choose(5) == 0) {
		setting.single_range_pages = 2U << choices.choose(4);
		return;
	}
	setting.stop_at_end = choices.choose(2);

	const unsigned int entries = 1 + choices.choose(setting.stop_at_end ? 2 : 6);

	for (unsigned int i = 0; i < entries; i++)
		setting.entries.push_back(choices.choose(setting.stop_at_end ? 2 : 3));
	if (!setting.stop_at_end)
		setting.entries.push_back(1);
}

void choose_filters(Choices &choices, const std::vector<Program> &programs, Setting &setting)
{
	const unsigned int ranges = choices.choose(3) ? 0 : 1 + choices.choose(4);

	for (unsigned int i = 0; i < ranges; i++) {
		const Program &program =
			programs[choices.choose(static_cast<unsigned int>(programs.size()))];
		const auto length = static_cast<unsigned int>(program.code.size());
		const std::size_t first = choices.choose(length);
		const std::size_t last =
			std::min<std::size_t>(first + choices.choose(length / 4), length - 1);
		const bool stop = choices.choose(6) == 0;

		setting.addr[2 * i] = program.code[first].ip;
		/* Not everybody gives the last byte of an instruction. */
		setting.addr[2 * i + 1] = program.code[last].ip + choices.choose(3);
		if (stop)
			setting.addr[2 * i + 1] = setting.addr[2 * i];
		setting.ctl |= (stop ? 2ULL : 1ULL) << (ctl::addr0_cfg_shift + 4 * i);
	}
}

Setting choose_setting(Choices &choices, const std::vector<Program> &programs)
{
	constexpr unsigned int mtc_freqs[] = {0, 3, 6, 9};
	Setting setting{};

	setting.ctl = ctl::user | ctl::branch_en;
	if (choices.choose(4))
		setting.ctl |= ctl::tsc_en;
	if (choices.choose(2))
		setting.ctl |= ctl::dis_retc;
	if (choices.choose(3) == 0)
		setting.ctl |= ctl::cyc_en | static_cast<std::uint64_t>(choices.choose(8))
						     << ctl::cyc_thresh_shift;
	if (choices.choose(3) == 0)
		setting.ctl |=
			ctl::mtc_en | static_cast<std::uint64_t>(mtc_freqs[choices.choose(4)])
					      << ctl::mtc_freq_shift;
	if (choices.choose(2))
		setting.ctl |= ctl::ptw_en;
	if (choices.choose(2))
		setting.ctl |= ctl::fup_on_ptw;
	if (choices.choose(4) == 0)
		setting.ctl |= ctl::pwr_evt_en;
	if (choices.choose(4) == 0 && Journey::has_perf())
		setting.ctl |= ctl::event_en;
	if (choices.choose(4) == 0)
		setting.ctl |= ctl::os;
	setting.ctl |= static_cast<std::uint64_t>(choices.choose(3)) << ctl::psb_freq_shift;
	if (choices.choose(6) == 0) {
		setting.ctl |= ctl::cr3_filter;
		setting.cr3_match = 0x1000000;
	}
	setting.features = all_features();
	setting.features.tsc_numerator = 1;
	setting.features.tsc_denominator = 1;
	if (choices.choose(2)) {
		setting.features.tsc_numerator = 2 + choices.choose(300);
		setting.features.tsc_denominator = 1 + choices.choose(3);
	}
	setting.time_step = 1 + choices.choose(choices.choose(3) ? 20 : 5000);
	setting.ctl |= ctl::topa;
	choose_output(choices, setting);
	if (setting.entries.empty())
		setting.ctl &= ~ctl::topa;
	choose_filters(choices, programs, setting);
	return setting;
}

void travel(unsigned long rounds, bool with_nmis)
{
	ring_test::RandomChoices random;
	unsigned long gaps = 0;
	unsigned long nmis = 0;
	unsigned long items = 0;

	for (unsigned long round = 0; round < rounds; round++) {
		std::vector<Program> programs;

		programs.emplace_back(random, PT_UNIT_64, 1 + random.choose(4),
				      20 + random.choose(200));
		programs.emplace_back(random, PT_UNIT_32, 1 + random.choose(2),
				      20 + random.choose(200));

		Setting setting = choose_setting(random, programs);

		if (with_nmis)
			setting.nmi_every = 200 + random.choose(4000);

		Journey run(random, programs, setting);

		run.execute(500 + random.choose(setting.stop_at_end ? 12000 : 6000));

		const std::string wrong = run.compare();

		if (!wrong.empty() && std::getenv("PERFRING_DUMP")) {
			std::ofstream dump(std::getenv("PERFRING_DUMP"), std::ios::binary);

			dump.write(reinterpret_cast<const char *>(run.trace.data()),
				   static_cast<std::streamsize>(run.trace.size()));
		}
		const std::string perf_wrong = wrong.empty() ? run.compare_perf() : "";

		if (!perf_wrong.empty() && std::getenv("PERFRING_DUMP")) {
			std::ofstream dump(std::getenv("PERFRING_DUMP"), std::ios::binary);

			dump.write(reinterpret_cast<const char *>(run.trace.data()),
				   static_cast<std::streamsize>(run.trace.size()));
		}
		ASSERT_EQ(wrong, "") << "round " << round << ", " << setting;
		ASSERT_EQ(perf_wrong, "") << "perf, round " << round << ", " << setting;
		gaps += run.gaps;
		items += run.instructions;
		nmis += run.nmis;
	}
	std::cout << items << " items, " << gaps << " gaps, " << nmis << " NMIs" << std::endl;
	EXPECT_GT(items, 0U);
	/* What never came up has not been tried. */
	EXPECT_TRUE(rounds < 200 || gaps);
	EXPECT_TRUE(rounds < 200 || !with_nmis || nmis);
}

TEST(PtFlow, DecodersFindWhatHasRun)
{
	travel(ring_test::iterations(300), false);
}

TEST(PtFlow, AnNmiStopsAndStartsInTheMiddle)
{
	travel(ring_test::iterations(300), true);
}

} // namespace
} // namespace pt_test
