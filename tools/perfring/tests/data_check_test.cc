// SPDX-License-Identifier: GPL-2.0
/* perfring check: files that are right, and each way in which one can be wrong. */
#include "data_support.hh"

#include <linux/perf_aux.h>

#include "data/check.hh"
#include "data/format.hh"
#include "data/records.hh"

namespace perfring::data {
namespace {

class CheckTest : public testing::Test {
    protected:
	CheckTest()
	{
		EventDescription event;

		event.attr.type = PERF_TYPE_SOFTWARE;
		event.attr.sample_type =
			PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
		event.attr.sample_id_all = 1;
		event.name = "first";
		event.ids = {{10, 0, -1, 0}, {11, 1, -1, 1}};
		session.events.push_back(event);
		event.name = "second";
		event.ids = {{20, 0, -1, 0}, {21, 1, -1, 1}};
		session.events.push_back(event);
		session.command_line = {"perfring"};
	}
	void put(ByteView record)
	{
		data.append(record);
	}
	void put_sample(std::uint64_t id, std::uint64_t time)
	{
		RecordBuilder record(PERF_RECORD_SAMPLE);

		record.put(id);
		record.put(time);
		record.put(id % 10); /* the CPU */
		put(record.finish());
	}
	void put_trailer(RecordBuilder &record, std::uint64_t id, std::uint64_t time)
	{
		record.put(time);
		record.put(id % 10);
		record.put(id);
	}
	void put_aux(std::uint64_t id, std::uint64_t offset, std::uint64_t size,
		     std::uint64_t flags = 0, std::uint64_t lost_bytes = 0)
	{
		RecordBuilder record(PERF_RECORD_AUX);

		record.put(offset);
		record.put(size);
		record.put(flags);
		if (flags & PERF_AUX_FLAG_LOST) {
			record.put(lost_bytes);
			record.put<std::uint64_t>(1);
		}
		put_trailer(record, id, ++time);
		put(record.finish());
	}
	void put_trace(std::uint32_t idx, std::uint64_t offset, std::uint64_t size)
	{
		const std::uint64_t padded = align_up(size, 8);

		put(auxtrace({padded, offset, 0, idx, -1, static_cast<int>(idx)}));
		data.zeros(padded);
	}
	Judgement judge()
	{
		const Writer writer(session);
		Bytes copy = data.take();

		return check(whole_file(writer, copy));
	}
	static void expect(const Judgement &judgement, Verdict verdict)
	{
		EXPECT_EQ(judgement.verdict, verdict)
			<< testing::PrintToString(judgement.wrong) << " "
			<< testing::PrintToString(judgement.missing);
	}

	Session session;
	Builder data;
	std::uint64_t time = 100;
};

TEST_F(CheckTest, OrderWithinARoundIsFree)
{
	put_sample(10, 100);
	put_sample(10, 200);
	put_sample(21, 50);
	put_sample(21, 210);
	put(finished_round());
	put_sample(10, 205);
	put_sample(11, 201);
	put(finished_round());
	put_sample(10, 212);

	const Judgement judgement = judge();

	expect(judgement, Verdict::whole);
	EXPECT_EQ(judgement.found.rounds, 2U);
	EXPECT_EQ(judgement.found.events.at(0).samples.count, 5U);
	EXPECT_EQ(judgement.found.events.at(1).samples.count, 2U);
	EXPECT_EQ(judgement.found.cpus.at(1).samples.count, 3U);
	EXPECT_EQ(judgement.found.steps_back.count, 1U);
	EXPECT_EQ(judgement.found.largest_step, 9U);
}

/* At the end of a round, readers go on with all that is older than the round before. */
TEST_F(CheckTest, WhatComesAfterItsRoundIsLate)
{
	put_sample(10, 100);
	put(finished_round());
	put_sample(10, 200);
	put(finished_round());
	put_sample(21, 100);
	expect(judge(), Verdict::whole);

	put_sample(10, 100);
	put(finished_round());
	put_sample(10, 200);
	put(finished_round());
	put_sample(21, 99);

	const Judgement judgement = judge();

	expect(judgement, Verdict::damaged);
	EXPECT_EQ(judgement.found.late.count, 1U);
}

TEST_F(CheckTest, TimeThatGoesFarBackIsWrong)
{
	put_sample(10, 1'000'000'000);
	put_sample(10, 1);
	expect(judge(), Verdict::damaged);
}

TEST_F(CheckTest, StrangersAreWrong)
{
	put_sample(10, 100);
	put_sample(99, 100);

	const Judgement judgement = judge();

	expect(judgement, Verdict::damaged);
	EXPECT_EQ(judgement.found.strangers.count, 1U);
}

TEST_F(CheckTest, LossIsOfItsEventAndCpu)
{
	put_sample(10, 100);
	put(lost(session.events[1], session.events[1].ids[1], 7, 150));
	put(lost_samples(session.events[0], session.events[0].ids[1], 5, 200));

	const Judgement judgement = judge();

	expect(judgement, Verdict::incomplete);
	EXPECT_EQ(judgement.found.events.at(1).lost_records, 7U);
	EXPECT_EQ(judgement.found.events.at(0).lost_samples, 5U);
	EXPECT_EQ(judgement.found.cpus.at(1).lost_records, 7U);
	EXPECT_EQ(judgement.found.cpus.at(1).lost_samples, 5U);
	EXPECT_EQ(judgement.missing.size(), 2U);
}

TEST_F(CheckTest, AuxThatIsAllThere)
{
	id_index(session.events, [this](ByteView record) { put(record); });
	put_aux(10, 1000, 100);
	put_aux(21, 0, 64);
	put_aux(10, 1100, 60, PERF_AUX_FLAG_COLLISION);
	put_trace(0, 1000, 100); /* padded by 4 bytes */
	put_trace(1, 0, 64);
	put_trace(0, 1100, 60);

	const Judgement judgement = judge();

	expect(judgement, Verdict::whole);
	EXPECT_EQ(judgement.found.aux.at(0).announced, 160U);
	EXPECT_EQ(judgement.found.aux.at(0).stored, 168U);
	EXPECT_EQ(judgement.found.aux.at(1).stored, 64U);
	EXPECT_EQ(judgement.found.all_aux().missing, 0U);
}

TEST_F(CheckTest, AuxGapsAndRepetitions)
{
	id_index(session.events, [this](ByteView record) { put(record); });
	put_aux(10, 0, 100);
	put_aux(10, 100, 100);
	put_trace(0, 0, 40);
	put_trace(0, 64, 40);
	put_trace(0, 120, 80);

	const Judgement gaps = judge();

	expect(gaps, Verdict::incomplete);
	EXPECT_EQ(gaps.found.aux.at(0).missing, 24U + 16U);

	put_aux(10, 0, 100);
	put_trace(0, 0, 64);
	put_trace(0, 32, 72);

	const Judgement repeated = judge();

	expect(repeated, Verdict::damaged);
	EXPECT_EQ(repeated.found.aux.at(0).doubled, 32U);
}

TEST_F(CheckTest, AuxThatTheKernelMisses)
{
	put_aux(10, 0, 64, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_LOST, 4000);
	put_aux(10, 64, 64, PERF_AUX_FLAG_PARTIAL);
	put_trace(0, 0, 128);

	const Judgement judgement = judge();

	expect(judgement, Verdict::incomplete);
	EXPECT_EQ(judgement.found.aux.at(0).lost, 4000U);
	EXPECT_EQ(judgement.found.aux.at(0).truncated, 1U);
	EXPECT_EQ(judgement.found.aux.at(0).partial, 1U);
	EXPECT_EQ(judgement.missing.size(), 3U);
}

TEST_F(CheckTest, SnapshotsRepeatAsTheyLike)
{
	put_aux(10, 0, 64, PERF_AUX_FLAG_OVERWRITE);
	put_trace(0, 0, 64);
	put_trace(0, 0, 64);
	put_aux(10, 500, 64, PERF_AUX_FLAG_OVERWRITE);

	const Judgement judgement = judge();

	expect(judgement, Verdict::whole);
	EXPECT_TRUE(judgement.found.snapshots);
	EXPECT_EQ(judgement.found.aux.at(0).stored, 128U);
}

TEST_F(CheckTest, UnfinishedFilesSaySo)
{
	put_sample(10, 100);

	const Writer writer(session);
	Bytes file = writer.file_head();
	const Bytes content = data.take();

	file.insert(file.end(), content.begin(), content.end());

	const Judgement judgement = check(file);

	expect(judgement, Verdict::incomplete);
	EXPECT_EQ(judgement.found.samples(), 1U);
}

} /* namespace */
} /* namespace perfring::data */
