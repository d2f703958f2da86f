// SPDX-License-Identifier: GPL-2.0
/* COMPRESSED records: the stock perf and we get back what was put in. */
#include "data_support.hh"

#include <random>

#include "data/format.hh"
#include "data/records.hh"

namespace perfring::data {
namespace {

struct CompressTest : testing::Test {
	/* @count records that hold @entropy random bytes each, and zeros. */
	static Bytes made_records(std::size_t count, std::size_t size, std::size_t entropy)
	{
		std::mt19937 random(1);
		Bytes records;

		for (std::size_t i = 0; i < count; i++) {
			RecordBuilder record(PERF_RECORD_SAMPLE);

			record.put(static_cast<std::uint64_t>(i));
			for (std::size_t k = 0; k < entropy; k++)
				record.put(static_cast<std::uint8_t>(random()));
			record.zeros(size - 16 - entropy);

			const Bytes bytes = record.finish();

			records.insert(records.end(), bytes.begin(), bytes.end());
		}
		return records;
	}
	/* What a reader finds in a stream of these records. */
	static Bytes read_back(ByteView records)
	{
		Builder stream;
		Bytes found;

		stream.put(PipeHeader{magic, sizeof(PipeHeader)});
		stream.append(records);

		const Bytes bytes = stream.take();
		Reader reader(bytes);

		while (const auto record = reader.next())
			found.insert(found.end(), record->bytes.begin(), record->bytes.end());
		EXPECT_FALSE(reader.fault()) << reader.fault()->what;
		return found;
	}
	/* All records are multiples of 8; how many are COMPRESSED. */
	static std::size_t count_compressed(ByteView records)
	{
		std::size_t count = 0;

		for (std::size_t at = 0; at < records.size();) {
			const auto header = load<perf_event_header>(records, at);

			EXPECT_EQ(header->size % 8, 0);
			count += header->type == record_compressed;
			at += header->size;
		}
		return count;
	}
};

TEST_F(CompressTest, AnySizeAndContentComesBack)
{
	for (const std::size_t size : {16UL, 24UL, 104UL, 1000UL, 65528UL})
		for (const std::size_t entropy : {0UL, 1UL, 7UL, 100UL, 65512UL}) {
			if (entropy + 16 > size)
				continue;

			const Bytes records = made_records(300000 / size + 2, size, entropy);
			Compressor compressor(1);
			Bytes out;

			compressor.compress(records, out);
			EXPECT_EQ(read_back(out), records) << size << " " << entropy;
			EXPECT_LE(out.size(), records.size() + 16) << size << " " << entropy;
			if (entropy < size / 4) {
				EXPECT_GT(count_compressed(out), 0U) << size << " " << entropy;
				EXPECT_LT(out.size(), records.size()) << size << " " << entropy;
			}
		}
}

TEST_F(CompressTest, SeveralCompressorsCanBeMixed)
{
	const Bytes records = made_records(1000, 104, 8);
	Compressor one(1), other(9);
	Bytes out, twice;

	for (int i = 0; i < 10; i++) {
		(i % 3 ? one : other).compress(records, out);
		out.insert(out.end(), records.begin(), records.end());
		twice.insert(twice.end(), records.begin(), records.end());
		twice.insert(twice.end(), records.begin(), records.end());
	}
	EXPECT_EQ(read_back(out), twice);
}

TEST_F(CompressTest, BrokenInputIsRefused)
{
	Compressor compressor(1);
	Bytes out, records = made_records(3, 104, 0);

	records.resize(records.size() - 8);
	EXPECT_THROW(compressor.compress(records, out), std::invalid_argument);
}

TEST_F(CompressTest, PerfReadsIt)
{
	const Scratch scratch;

	record_with_perf("-e page-faults -c 1 -g -- ls /usr", scratch / "stock");

	const Bytes stock = load_file(scratch / "stock");
	Reader reader(stock);
	Session session = session_of(reader);
	Bytes out, block;

	session.compression_level = 3;

	const Writer writer(session);
	Compressor compressors[] = {Compressor(1), Compressor(3)};
	std::size_t blocks = 0;

	while (const auto record = reader.next()) {
		block.insert(block.end(), record->bytes.begin(), record->bytes.end());
		if (block.size() < 1000)
			continue;
		compressors[blocks++ % 2].compress(block, out);
		block.clear();
	}
	out.insert(out.end(), block.begin(), block.end());
	EXPECT_GT(count_compressed(out), 3U);

	Outcome outcome;

	outcome.uncompressed_bytes = 3;
	outcome.compressed_bytes = 1;
	store_file(scratch / "ours", whole_file(writer, out, outcome));
	for (const char *const command :
	     {"perf script", "perf report --stdio -F period,sym -g none"})
		EXPECT_EQ(without_tip(run(command + (" -i " + (scratch / "ours"))).text),
			  without_tip(run(command + (" -i " + (scratch / "stock"))).text));

	const std::string header = run("perf report --header-only -i " + (scratch / "ours")).text;

	EXPECT_NE(header.find("# compressed : Zstd, level = 3, ratio = 3"), header.npos) << header;
}

} /* namespace */
} /* namespace perfring::data */
