// SPDX-License-Identifier: GPL-2.0
/* Files that are wrong in one place, or in many: said where, and never believed. */
#include "data_support.hh"

#include <zstd.h>

#include <random>

#include "data_mutation.hh"
#include "data/format.hh"
#include "data/records.hh"

namespace perfring::data {
namespace {

struct ReaderTest : testing::Test {
	static Session one_event()
	{
		Session session;
		EventDescription event;

		event.attr.type = PERF_TYPE_SOFTWARE;
		event.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					 PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN;
		event.attr.sample_id_all = 1;
		event.name = "faults";
		event.ids = {{7, -1, -1, 0}};
		session.events.push_back(event);
		session.command_line = {"perfring", "record"};
		return session;
	}
	/* A sample with @chain addresses. */
	static Bytes sample(std::uint64_t time, std::uint64_t chain)
	{
		RecordBuilder record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

		record.put<std::uint64_t>(0x1000); /* ip */
		record.put<std::uint32_t>(5);	   /* pid */
		record.put<std::uint32_t>(6);	   /* tid */
		record.put(time);
		record.put<std::uint64_t>(1); /* cpu */
		record.put(chain);
		for (std::uint64_t i = 0; i < chain; i++)
			record.put(0x2000 + i);
		return record.finish();
	}
	static Bytes small_data()
	{
		Builder data;

		data.append(comm(5, 6, "program", 24));
		for (std::uint64_t i = 0; i < 5; i++)
			data.append(sample(1000 + i, i));
		data.append(finished_round());
		return data.take();
	}
	ReaderTest() : writer(one_event()), file(whole_file(writer, small_data()))
	{
	}
	template <class T> void put(std::size_t at, T value)
	{
		std::memcpy(file.data() + at, &value, sizeof(value));
	}
	/* Reads all; what it says of the end. */
	std::string fault() const
	{
		Reader reader(file);

		while (reader.next())
			;
		return reader.fault() ? reader.fault()->what : "";
	}

	Writer writer;
	Bytes file;
};

TEST_F(ReaderTest, FieldsOfSamples)
{
	Reader reader(file);
	std::uint64_t found = 0;

	while (const auto record = reader.next()) {
		const auto fields = reader.sample_of(*record);

		if (record->header.type == PERF_RECORD_COMM) {
			ASSERT_TRUE(fields);
			EXPECT_EQ(fields->time, 0U);
		}
		if (record->header.type != PERF_RECORD_SAMPLE)
			continue;
		ASSERT_TRUE(fields);
		EXPECT_EQ(fields->ip, 0x1000U);
		EXPECT_EQ(fields->pid, 5U);
		EXPECT_EQ(fields->tid, 6U);
		EXPECT_EQ(fields->time, 1000 + found);
		EXPECT_EQ(fields->cpu, 1U);
		EXPECT_EQ(fields->callchain.size(), found * 8);
		found++;
	}
	EXPECT_EQ(found, 5U);
	EXPECT_FALSE(reader.fault());
	EXPECT_EQ(reader.events().at(0).name, "faults");
	EXPECT_EQ(check(file).verdict, Verdict::whole);
}

TEST_F(ReaderTest, ImpossibleHeadersAreNamed)
{
	const Bytes good = file;
	const struct {
		std::size_t at;
		std::uint64_t value;
		const char *said;
	} cases[] = {
		{0, __builtin_bswap64(magic), "other byte order"},
		{0, 0x454c494646524550, "version 1"},
		{0, 12345, "no perf.data"},
		{8, 96, "size that no version has"},
		{16, 0, "size of an event is impossible"},
		{16, 1ULL << 40, "size of an event is impossible"},
		{24, 1ULL << 60, "events are beyond"},
		{32, ~0ULL, "events are beyond"},
		{40, ~0ULL, "data begin behind"},
	};

	EXPECT_EQ(fault(), "");
	for (const auto &wrong : cases) {
		file = good;
		put(wrong.at, wrong.value);
		EXPECT_NE(fault().find(wrong.said), std::string::npos)
			<< wrong.said << ": " << fault();
		EXPECT_EQ(check(file).verdict, Verdict::unreadable) << wrong.said;
	}
	file.resize(15);
	EXPECT_NE(fault().find("too short"), std::string::npos);
}

TEST_F(ReaderTest, ImpossibleRecordsEndTheReading)
{
	const std::size_t first = writer.data_offset();
	const std::size_t size_at = first + offsetof(perf_event_header, size);
	const auto size = *load<std::uint16_t>(file, size_at);

	put<std::uint16_t>(size_at, 0);
	EXPECT_EQ(fault(), "the record's size is 0");
	put<std::uint16_t>(size_at, 7);
	EXPECT_EQ(fault(), "the record's size is less than its header's");
	put<std::uint16_t>(size_at, 60000);
	EXPECT_EQ(fault(), "the data end within a record");
	EXPECT_EQ(check(file).verdict, Verdict::damaged);
	put(size_at, size);
	EXPECT_EQ(fault(), "");

	/* An AUXTRACE that says that more follows than does. */
	put<std::uint32_t>(first, record_auxtrace);
	put<std::uint64_t>(first + 8, 1 << 20);
	EXPECT_EQ(fault(), "the data end within what belongs to a record");
}

TEST_F(ReaderTest, SamplesThatDoNotHoldWhatTheySayAreCounted)
{
	Reader reader(file);
	std::size_t count_at = 0;

	while (const auto record = reader.next())
		if (record->header.type == PERF_RECORD_SAMPLE)
			count_at = record->offset + 40;
	put<std::uint64_t>(count_at, 1000);

	const Judgement judgement = check(file);

	EXPECT_EQ(judgement.verdict, Verdict::damaged);
	EXPECT_EQ(judgement.found.unreadable.count, 1U);
	put<std::uint64_t>(count_at, ~0ULL / 8 + 1); /* times 8 it is 0 */
	EXPECT_EQ(check(file).found.unreadable.count, 1U);
}

TEST_F(ReaderTest, CutAnywhereItIsReadAsFarAsItGoes)
{
	const std::size_t head = writer.data_offset();
	const std::size_t samples_end = head + small_data().size() - finished_round().size();
	const Bytes good = file;
	std::size_t before = 0;

	/* Up to the padding at the very end. */
	for (std::size_t size = 0; size + 8 < good.size(); size++) {
		file.assign(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));

		const Judgement judgement = check(file);

		EXPECT_GE(judgement.found.records, before) << size;
		before = judgement.found.records;
		EXPECT_NE(judgement.verdict, Verdict::whole) << size;
		EXPECT_EQ(judgement.found.samples() == 5, size >= samples_end) << size;
	}
}

/* A stream of one COMPRESSED record. */
Bytes compressed_stream(ByteView plain)
{
	Bytes frame(ZSTD_compressBound(plain.size()));
	Builder stream;

	frame.resize(ZSTD_compress(frame.data(), frame.size(), plain.data(), plain.size(), 1));
	stream.put(PipeHeader{magic, sizeof(PipeHeader)});
	/* Of any size: perf does not pad them. */
	stream.put(perf_event_header{record_compressed, 0,
				     static_cast<std::uint16_t>(8 + frame.size())});
	stream.append(frame);
	return stream.take();
}

TEST_F(ReaderTest, BombsAreNotInflated)
{
	file = compressed_stream(Bytes(100 << 20));
	ASSERT_LT(file.size(), 1U << 16);
	EXPECT_NE(fault().find("larger than any recorder's"), std::string::npos) << fault();
}

TEST_F(ReaderTest, CompressedNonsenseIsNamed)
{
	file = compressed_stream(Bytes(100));
	EXPECT_EQ(fault(), "within compressed data, the record's size is 0");
	file[16 + 8 + 2] ^= std::byte{0xff};
	EXPECT_NE(fault().find("cannot be decompressed"), std::string::npos) << fault();
	file = compressed_stream(ByteView(sample(1, 1)).first(40));
	EXPECT_EQ(fault(), "compressed data end within a record");
}

/* Thousands of damages to files of each kind; what counts is that reading comes to an end
 * within bounds, which the sanitizers see. PERFRING_ITERATIONS: how many. */
TEST_F(ReaderTest, DamagedAtRandom)
{
	const char *const wanted = std::getenv("PERFRING_ITERATIONS");
	const int iterations = wanted ? std::atoi(wanted) : 2000;
	std::mt19937 random(42);
	std::vector<Bytes> seeds{file};
	Builder stream;
	Bytes compressed;
	std::map<Verdict, int> verdicts;

	stream.append(writer.stream_head());
	stream.append(small_data());
	Compressor(1).compress(small_data(), compressed);
	stream.append(compressed);
	seeds.push_back(stream.take());

	for (int i = 0; i < iterations; i++) {
		Bytes bytes = seeds[static_cast<std::size_t>(i) % seeds.size()];
		const unsigned damages = 1 + random() % 4;

		for (unsigned k = 0; k < damages; k++) {
			const std::size_t at = random() % bytes.size();
			constexpr std::uint8_t values[] = {0, 1, 7, 8, 0x7f, 0x80, 0xff};

			/* Half of them near the start of the file or of the data. */
			const std::size_t place =
				random() % 2
					? at
					: (random() % 2 ? at % 400 : bytes.size() - 1 - at % 600);

			bytes[place % bytes.size()] =
				std::byte{random() % 2 ? static_cast<std::uint8_t>(random())
						       : values[random() % std::size(values)]};
		}
		if (random() % 8 == 0)
			bytes.resize(random() % bytes.size());
		verdicts[read_everything(bytes)]++;
	}
	/* All ends were met, or the damages prove nothing. */
	EXPECT_GT(verdicts[Verdict::unreadable], 0);
	EXPECT_GT(verdicts[Verdict::damaged], 0);
	EXPECT_GT(verdicts[Verdict::whole], 0);
}

} /* namespace */
} /* namespace perfring::data */
