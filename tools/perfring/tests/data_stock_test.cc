// SPDX-License-Identifier: GPL-2.0
/*
 * perf.data and the stock perf: we read what it writes, and what it says about records in
 * a file of ours is what it says about the same records in its own.
 */
#include "data_support.hh"

#include "data/check.hh"

namespace perfring::data {
namespace {

struct Recording {
	const char *name;
	const char *arguments;
};

const Recording recordings[] = {
	{"faults", "-e page-faults -c 1 -- ls /usr"},
	{"chains", "-e page-faults -c 1 -g -- ls /usr"},
	{"two", "-e page-faults -e context-switches -c 1 -- sh -c 'ls /usr; true'"},
	{"group", "-e '{page-faults,minor-faults}:S' -c 1 -- ls /usr"},
	{"clock", "-e cpu-clock -F 2000 -a -- sh -c 'ls -R /usr/share > /dev/null'"},
	{"dwarf", "-e page-faults -c 10 --call-graph dwarf -- ls /usr"},
	{"regs", "-e page-faults -c 1 --user-regs=ip,sp,bp -d --phys-data -W -- ls /usr"},
	{"clockid", "-e page-faults -c 1 -k CLOCK_MONOTONIC -- ls /usr"},
	{"compressed", "-z -e page-faults -c 1 -g -- ls /usr"},
};

class Stock : public testing::TestWithParam<Recording> {
    protected:
	void SetUp() override
	{
		record_with_perf(GetParam().arguments, scratch / "stock");
		stock = load_file(scratch / "stock");
	}
	std::string say(const std::string &command, const std::string &file)
	{
		const Output output = run("perf " + command + " -i " + (scratch / file));

		EXPECT_EQ(output.status, 0) << command << "\n" << output.text;
		return in_fixed_order(command, without_tip(output.text));
	}

	Scratch scratch;
	Bytes stock;
};

TEST_P(Stock, IsReadToItsEnd)
{
	Reader reader(stock);
	std::map<unsigned, unsigned> types;
	std::uint64_t samples = 0;

	while (const auto record = reader.next()) {
		types[record->header.type]++;
		if (!record->from_kernel())
			continue;
		EXPECT_TRUE(reader.event_of(*record)) << "at " << record->offset;
		EXPECT_TRUE(reader.sample_of(*record)) << "at " << record->offset;
		samples += record->header.type == PERF_RECORD_SAMPLE;
	}
	ASSERT_FALSE(reader.fault()) << reader.fault()->what << " at " << reader.fault()->offset;
	EXPECT_FALSE(reader.feature_fault());
	EXPECT_FALSE(reader.unfinished());
	EXPECT_GT(samples, 0U);

	const Judgement judgement = check(stock);

	EXPECT_EQ(judgement.verdict, Verdict::whole) << testing::PrintToString(judgement.wrong)
						     << testing::PrintToString(judgement.missing);
	EXPECT_EQ(judgement.found.samples(), samples);

	/* As many as perf finds. */
	const std::string text = say("report -D", "stock");
	std::uint64_t dumped = 0;

	for (std::size_t at = 0; (at = text.find("PERF_RECORD_SAMPLE(", at)) != text.npos; at++)
		dumped++;
	EXPECT_EQ(samples, dumped);
}

/* The same records, and all else from our writer. */
TEST_P(Stock, SaysTheSameOfOurFile)
{
	const Reader reader(stock);

	ASSERT_FALSE(reader.fault()) << reader.fault()->what;

	Session session = session_of(reader);

	if (std::string(GetParam().name) == "clockid")
		session.clockid = CLOCK_MONOTONIC;
	if (const auto compressed = reader.feature(Feature::compressed)) {
		session.compression_level = 1;
		session.compressed_unit = load<std::uint32_t>(*compressed, 16).value_or(0);
	}
	if (std::string(GetParam().name) == "group")
		session.events[1].leader = 0;

	const Writer writer(session);
	const ByteView data = ByteView(stock).subspan(reader.data_offset(),
						      reader.data_end() - reader.data_offset());
	Observations seen;
	Reader again(stock);

	while (const auto record = again.next()) {
		seen.observe(record->bytes);
		if (const auto sample = again.sample_of(*record);
		    sample && record->header.type == PERF_RECORD_SAMPLE && sample->time)
			seen.sample_time(*sample->time, *sample->time);
	}

	Outcome outcome;

	outcome.seen = &seen;
	store_file(scratch / "ours", whole_file(writer, data, outcome));
	std::vector<const char *> commands = {"report --stdio",
					      "report --stdio --stats",
					      "report --stdio -F period,sample,comm,dso,sym -n",
					      "script",
					      "script --show-task-events --show-mmap-events",
					      "script -F +ip,+sym,+period",
					      "evlist -v",
					      "evlist -F",
					      "evlist -g"};

	/* perf record -z forgets the build ids of what it has compressed. */
	if (!session.compression_level)
		commands.push_back("buildid-list --with-hits");
	for (const char *const command : commands)
		EXPECT_EQ(say(command, "stock"), say(command, "ours")) << command;
}

INSTANTIATE_TEST_SUITE_P(Recordings, Stock, testing::ValuesIn(recordings),
			 [](const auto &info) { return info.param.name; });

} /* namespace */
} /* namespace perfring::data */
