// SPDX-License-Identifier: GPL-2.0
/* Files, streams and files that nobody finished: the stock perf opens all of them. */
#include "data_support.hh"

#include <set>

#include "data/format.hh"
#include "data/records.hh"

namespace perfring::data {
namespace {

/* One recording of the stock perf, whose records all tests write anew. */
class Written : public testing::Test {
    protected:
	static void SetUpTestSuite()
	{
		scratch = new Scratch;
		record_with_perf("-e page-faults -e context-switches -c 1 -- ls /usr",
				 *scratch / "stock");
		stock = load_file(*scratch / "stock");
	}
	static void TearDownTestSuite()
	{
		delete scratch;
	}
	void SetUp() override
	{
		Reader reader(stock);

		ASSERT_FALSE(reader.fault());
		writer = std::make_unique<Writer>(session_of(reader));
		while (const auto record = reader.next()) {
			records.emplace_back(record->bytes.begin(), record->bytes.end());
			samples += record->header.type == PERF_RECORD_SAMPLE;
		}
		ASSERT_GT(samples, 50U);
	}
	static Output perf(const std::string &command, const std::string &file)
	{
		return run("perf " + command + " -i " + (*scratch / file));
	}
	/* Lines of perf script: one a sample, as none has a call chain. */
	static unsigned scripted(const std::string &file)
	{
		const Output output = run("perf script -i " + (*scratch / file) + " 2>/dev/null");

		EXPECT_EQ(output.status, 0) << perf("script", file).text;
		return static_cast<unsigned>(
			std::count(output.text.begin(), output.text.end(), '\n'));
	}
	static void append(Bytes &to, ByteView more)
	{
		to.insert(to.end(), more.begin(), more.end());
	}
	/* The first @count records, and how many samples they are. */
	unsigned append_records(Bytes &to, std::size_t from, std::size_t count) const
	{
		unsigned found = 0;

		for (std::size_t i = from; i < from + count; i++) {
			append(to, records[i]);
			found += load<perf_event_header>(records[i], 0)->type == PERF_RECORD_SAMPLE;
		}
		return found;
	}

	static inline Scratch *scratch;
	static inline Bytes stock;
	std::vector<Bytes> records;
	unsigned samples = 0;
	std::unique_ptr<Writer> writer;
};

TEST_F(Written, HeaderSaysAllThatIsKnown)
{
	Bytes data;

	append_records(data, 0, records.size());
	store_file(*scratch / "file", whole_file(*writer, data));

	const std::string header = perf("report --header-only -I", "file").text;

	for (const char *const line : {"# hostname : ",
				       "# os release : ",
				       "# perf version : perfring",
				       "# arch : ",
				       "# nrcpus online : ",
				       "# nrcpus avail : ",
				       "# cpudesc : ",
				       "# cpuid : ",
				       "# total memory : ",
				       "# cmdline : ",
				       "# event : name = page-faults, , id = { ",
				       "# event : name = context-switches",
				       "# sibling ",
				       "# CPU 0: Core ID 0",
				       "# node0 meminfo  : total = ",
				       "# pmu mappings: ",
				       "software = 1",
				       "# CPU cache info:",
				       "# memory nodes (nr ",
				       "# time of first sample : "})
		EXPECT_NE(header.find(line), header.npos) << line << "\n" << header;

	/* The same machine, the same words; the nodes' free memory is what changes. */
	const std::string theirs = perf("report --header-only -I", "stock").text;

	for (const char *const start :
	     {"# hostname", "# os release", "# arch", "# nrcpus", "# cpudesc", "# cpuid",
	      "# total memory", "# sibling", "# CPU ", "#  L", "# memory nodes", "#    0 ["}) {
		const auto lines = [start](const std::string &text) {
			std::vector<std::string> found;

			for (std::size_t at = 0; (at = text.find(start, at)) != text.npos; at++)
				found.push_back(text.substr(at, text.find('\n', at) - at));
			return found;
		};

		EXPECT_EQ(lines(header), lines(theirs)) << start;
	}
}

TEST_F(Written, StreamSaysTheSame)
{
	Bytes stream = writer->stream_head();

	append_records(stream, 0, records.size());
	store_file(*scratch / "stream", stream);
	EXPECT_EQ(scripted("stream"), samples);
	for (const char *const command : {"script", "evlist -v", "script --show-mmap-events"})
		EXPECT_EQ(run("cat " + (*scratch / "stream") + " | perf " + command + " -i -").text,
			  perf(command, "stock").text)
			<< command;

	const std::string header =
		run("cat " + (*scratch / "stream") + " | perf report --header-only -I -i -").text;

	EXPECT_NE(header.find("# hostname : "), header.npos) << header;
	EXPECT_NE(header.find("name = context-switches"), header.npos) << header;

	Reader reader(stream);
	unsigned seen = 0;

	EXPECT_TRUE(reader.is_stream());
	while (const auto record = reader.next())
		seen += record->header.type == PERF_RECORD_SAMPLE &&
			reader.sample_of(*record).has_value();
	EXPECT_FALSE(reader.fault());
	EXPECT_EQ(seen, samples);
	ASSERT_EQ(reader.events().size(), 2U);
	EXPECT_EQ(reader.events()[1].name, "context-switches");
}

TEST_F(Written, InjectTakesFilesAndStreams)
{
	Bytes data, stream = writer->stream_head();

	append_records(data, 0, records.size());
	append_records(stream, 0, records.size());
	store_file(*scratch / "file", whole_file(*writer, data));
	store_file(*scratch / "stream", stream);

	const std::string file = *scratch / "file", stream_file = *scratch / "stream",
			  injected = *scratch / "injected";

	/* perf inject writes streams to pipes only, and has nothing to say of success. */
	for (const std::string &command :
	     {"perf inject -b -i " + file + " -o " + injected,
	      "cat " + stream_file + " | perf inject -b -i - -o - | cat > " + injected}) {
		EXPECT_EQ(run(command).text, "") << command;
		EXPECT_EQ(scripted("injected"), samples) << command;
	}
}

/* Killed: what a header replaced at the last checkpoint promises is there. */
class Killed : public Written {
    protected:
	void SetUp() override
	{
		Written::SetUp();
		file = writer->file_head();
		ASSERT_EQ(file.size(), writer->data_offset());
		before = append_records(file, 0, half);
		marked = file.size();
		append(file, writer->checkpoint());
		promised = file.size();
		append_records(file, half, records.size() - half);

		const Bytes header = writer->checkpoint_header(marked - writer->data_offset());

		std::copy(header.begin(), header.end(), file.begin());
	}

	static constexpr std::size_t half = 60;
	Bytes file;
	std::size_t marked = 0, promised = 0;
	unsigned before = 0;
};

TEST_F(Killed, FileOpensWhereverItEnds)
{
	for (const std::size_t size :
	     {promised, promised + 1, promised + 7, promised + 100, file.size()}) {
		store_file(*scratch / "cut", ByteView(file).first(size));
		EXPECT_EQ(scripted("cut"), before) << size - promised;

		const Output report = perf("report --stdio", "cut");

		EXPECT_EQ(report.status, 0);
		EXPECT_NE(report.text.find("of event 'page-faults'"), report.text.npos);
		EXPECT_EQ(report.text.find("WARNING"), report.text.npos) << report.text;

		const std::string header = perf("report --header-only", "cut").text;

		EXPECT_NE(header.find("# hostname : "), header.npos);
		EXPECT_NE(header.find("name = context-switches"), header.npos);
	}
}

TEST_F(Killed, ReaderKnows)
{
	Reader reader(file);
	unsigned seen = 0;

	while (const auto record = reader.next())
		seen += record->header.type == PERF_RECORD_SAMPLE;
	EXPECT_FALSE(reader.fault());
	EXPECT_FALSE(reader.feature_fault());
	EXPECT_TRUE(reader.unfinished());
	EXPECT_EQ(seen, before);
	EXPECT_EQ(reader.events().at(1).name, "context-switches");
}

TEST_F(Killed, CheckpointsAreNothingInAFinishedFile)
{
	const ByteView data = ByteView(file).subspan(writer->data_offset());

	store_file(*scratch / "file", whole_file(*writer, data));
	EXPECT_EQ(scripted("file"), samples);
	for (const char *const command : {"script", "report --stdio --stats", "evlist -v"})
		EXPECT_EQ(perf(command, "file").text.find("ERR"), std::string::npos);
}

/* No byte more can be written: the end gives way for the table. */
TEST_F(Written, FullDiskTakesNoNewSpace)
{
	Bytes file = writer->file_head();

	append_records(file, 0, records.size());

	const Bytes checkpoint = writer->checkpoint();
	std::size_t end = file.size(), kept = records.size();

	while (file.size() - end < checkpoint.size())
		end -= records[--kept].size();

	const Bytes header = writer->checkpoint_header(end - writer->data_offset());
	const std::size_t size = file.size();

	std::copy(checkpoint.begin(), checkpoint.end(),
		  file.begin() + static_cast<std::ptrdiff_t>(end));
	std::copy(header.begin(), header.end(), file.begin());
	ASSERT_EQ(file.size(), size);
	store_file(*scratch / "full", file);

	Bytes scrap;

	EXPECT_EQ(scripted("full"), append_records(scrap, 0, kept));
}

/* The trailer is what the event's attributes ask for: PB-34. */
TEST_F(Written, LossIsSizedForEveryKindOfEvent)
{
	constexpr std::uint64_t fields[] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
					    PERF_SAMPLE_ID,  PERF_SAMPLE_STREAM_ID,
					    PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};

	for (unsigned set = 0; set < 1 << std::size(fields); set++) {
		EventDescription event;
		std::size_t words = 0;

		for (std::size_t i = 0; i < std::size(fields); i++)
			if (set >> i & 1) {
				event.attr.sample_type |= fields[i];
				words++;
			}
		for (const bool all : {false, true}) {
			event.attr.sample_id_all = all;

			const EventId place{77, 3, 5, 0};
			const Bytes record = lost_samples(event, place, 9, 1234);
			const auto header = load<perf_event_header>(record, 0);

			EXPECT_EQ(header->type, std::uint32_t{PERF_RECORD_LOST_SAMPLES});
			EXPECT_EQ(record.size(), 16 + (all ? words * 8 : 0));
			EXPECT_EQ(header->size, record.size());
			EXPECT_EQ(load<std::uint64_t>(record, 8), 9U);
			EXPECT_EQ(lost(event, place, 9, 1234).size(), record.size() + 8);
			if (!all)
				continue;

			const auto trailer = parse_trailer(event.attr, ByteView(record).subspan(8));

			ASSERT_TRUE(trailer);
			const auto asked = [&](std::uint64_t field) {
				return (event.attr.sample_type & field) != 0;
			};

			EXPECT_EQ(trailer->id.value_or(77), 77U);
			EXPECT_EQ(trailer->id.has_value(),
				  asked(PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER));
			EXPECT_EQ(trailer->time.value_or(1234), 1234U);
			EXPECT_EQ(trailer->time.has_value(), asked(PERF_SAMPLE_TIME));
			EXPECT_EQ(trailer->cpu.value_or(3), 3U);
			EXPECT_EQ(trailer->cpu.has_value(), asked(PERF_SAMPLE_CPU));
		}
	}
}

TEST_F(Written, PerfCountsTheLoss)
{
	const EventDescription &event = writer->session().events[1];
	Bytes data;

	append_records(data, 0, records.size());
	append(data, lost_samples(event, event.ids[0], 41, 0));
	append(data, lost(event, event.ids[0], 17, 0));
	append(data, finished_round());
	store_file(*scratch / "file", whole_file(*writer, data));

	const std::string stats = perf("report --stdio --stats", "file").text;

	EXPECT_NE(stats.find("LOST_SAMPLES events:          1"), stats.npos) << stats;
	EXPECT_NE(stats.find("LOST events:          1"), stats.npos) << stats;
	EXPECT_NE(perf("report --stdio", "file").text.find("Total Lost Samples: 41"),
		  std::string::npos);
}

/* All there is in /proc, and what perf makes of it. */
TEST_F(Written, WorldIsDescribed)
{
	Session session = writer->session();

	session.system_wide = true;
	session.cpus = {0, 1};

	const Writer wide(session);
	Bytes data;
	std::set<std::uint32_t> types;

	wide.start_records([&](ByteView record) {
		ASSERT_EQ(record.size() % 8, 0U);
		types.insert(load<perf_event_header>(record, 0)->type);
		append(data, record);
	});
	append(data, finished_init());
	append_records(data, 0, records.size());
	for (const std::uint32_t type :
	     {std::uint32_t{PERF_RECORD_COMM}, std::uint32_t{PERF_RECORD_FORK},
	      std::uint32_t{PERF_RECORD_MMAP}, std::uint32_t{PERF_RECORD_MMAP2},
	      std::uint32_t{record_thread_map}, std::uint32_t{record_cpu_map},
	      std::uint32_t{record_id_index}})
		EXPECT_TRUE(types.contains(type)) << type;
	store_file(*scratch / "file", whole_file(wide, data));
	EXPECT_EQ(scripted("file"), samples);

	const std::string dump = perf("script -D", "file").text;

	EXPECT_NE(dump.find("[kernel.kallsyms]_text"), dump.npos);
	EXPECT_NE(dump.find("PERF_RECORD_CPU_MAP: 0-1"), dump.npos);
	EXPECT_NE(dump.find("PERF_RECORD_THREAD_MAP nr: 1 thread: -1"), dump.npos);

	const std::string tasks = perf("script --show-task-events --show-mmap-events", "file").text;
	const std::string self = std::to_string(getpid()) + "/" + std::to_string(getpid());

	EXPECT_NE(tasks.find("PERF_RECORD_COMM: perfring_tests:" + self), tasks.npos);
	EXPECT_NE(tasks.find("PERF_RECORD_MMAP2 " + self), tasks.npos);

	/* Our own program was never in a sample, and its build id is there all the same. */
	EXPECT_NE(perf("buildid-list", "file").text.find("perfring_tests"), std::string::npos);
}

} /* namespace */
} /* namespace perfring::data */
