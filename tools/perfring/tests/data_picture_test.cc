// SPDX-License-Identifier: GPL-2.0
/* How full the rings were: kept within bounds, found again, and drawn. */
#include "data_support.hh"

#include <random>

#include "data/fill_log.hh"
#include "data/picture.hh"
#include "data/records.hh"

namespace perfring::data {
namespace {

std::uint64_t total(const FillHistory &history, std::uint64_t FillEntry::*what)
{
	std::uint64_t sum = 0;

	for (const auto &entry : history.entries)
		sum += entry.*what;
	return sum;
}

TEST(FillLog, KeepsTotalsWhateverTheLength)
{
	std::mt19937 random(3);
	FillLog log(1000, 100);
	std::uint64_t bytes = 0, lost_total = 0, time = 1000;

	for (int i = 0; i < 20000; i++) {
		const std::uint64_t held = random() % 4096, lost = random() % 100 ? 0 : 3;

		time += random() % 5000;
		log.note(random() % 4, time, held, 4096, lost);
		bytes += held;
		lost_total += lost;
	}

	const FillHistory history = log.history();

	EXPECT_EQ(total(history, &FillEntry::bytes), bytes);
	EXPECT_EQ(total(history, &FillEntry::lost), lost_total);
	EXPECT_LE(history.entries.size(), 4 * FillLog::most_slices);
	EXPECT_GE(history.entries.size(), 4 * FillLog::most_slices / 4);
	EXPECT_GE(history.slice * FillLog::most_slices, time - 1000);
	for (const auto &entry : history.entries)
		EXPECT_LE(entry.fullest, 4096U);
}

/* However often slices double, what was noted stays in the one that covers its time. */
TEST(FillLog, KeepsTimes)
{
	for (std::uint64_t end = 1000; end < 10'000'000; end *= 3) {
		FillLog log(0, 1);

		log.note(0, 300, 1, 10, 9);
		log.note(0, end, 1, 10, 0);

		const FillHistory history = log.history();

		ASSERT_EQ(history.entries.front().lost, 9U);
		EXPECT_LE(history.entries.front().slice * history.slice, 300U) << end;
		EXPECT_GT((history.entries.front().slice + 1) * history.slice, 300U) << end;
		EXPECT_EQ(history.entries.back().slice, end / history.slice) << end;
	}
}

TEST(FillLog, MergesAndComesBackFromAFile)
{
	FillLog one(1000, 100), other(3000, 700);
	Builder file;

	one.note(0, 1050, 10, 100, 0);
	other.note(1, 400000, 90, 100, 5);
	one.merge(other);
	file.append("anything");
	file.append(one.encode());

	const auto history = read_fill_history(file.take());

	ASSERT_TRUE(history);
	ASSERT_EQ(history->entries.size(), 2U);
	EXPECT_EQ(history->entries[0].fullest, 10U);
	EXPECT_EQ(history->entries[1].lost, 5U);
	EXPECT_EQ(history->entries[1].ring, 1U);

	const std::uint64_t at = history->start + history->entries[1].slice * history->slice;

	EXPECT_LE(at, 400000U);
	EXPECT_GT(at + 2 * history->slice, 400000U);
}

TEST(FillLog, NonsenseIsNone)
{
	Bytes encoded = FillLog(0).encode();

	EXPECT_TRUE(read_fill_history(encoded));
	for (std::size_t i = 0; i < encoded.size(); i++) {
		Bytes wrong = encoded;

		wrong[i] ^= std::byte{0x80};

		const auto history = read_fill_history(wrong);

		EXPECT_TRUE(!history || history->entries.empty());
	}
	encoded.resize(encoded.size() - 1);
	EXPECT_FALSE(read_fill_history(encoded));
	EXPECT_FALSE(read_fill_history({}));
}

/* Elements that are open end; what XML has no word for is not there. */
TEST(Picture, StandsAlone)
{
	Session session;
	EventDescription event;
	FillLog log(100, 10);
	Builder data;
	Outcome outcome;

	event.attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	event.attr.sample_id_all = 1;
	event.name = "<script>alert(1)</script>";
	event.ids = {{1, 0, -1, 0}};
	session.events = {event};
	for (std::uint64_t i = 0; i < 100; i++) {
		RecordBuilder record(PERF_RECORD_SAMPLE);

		record.put(1000 + i * i);
		record.put<std::uint64_t>(i % 2);
		data.append(record.finish());
	}
	data.append(lost(event, event.ids[0], 12, 5000));
	log.note(0, 150, 4000, 4096, 12);
	outcome.fill = &log;

	const Writer writer(session);
	const std::string page = picture(whole_file(writer, data.take(), outcome), "a & b");

	EXPECT_EQ(page.find("<script"), page.npos);
	EXPECT_NE(page.find("&lt;script&gt;"), page.npos);
	EXPECT_NE(page.find("a &amp; b"), page.npos);
	EXPECT_NE(page.find("ring 0"), page.npos);
	EXPECT_NE(page.find("CPU 1"), page.npos);
	EXPECT_NE(page.find("12 lost"), page.npos);
	EXPECT_NE(page.find("prefers-color-scheme: dark"), page.npos);
	for (const char *const outside : {"http:", "https:", "src=", "href=", "url(", "@import"})
		EXPECT_EQ(page.find(outside), page.npos) << outside;
	for (const char *const element :
	     {"svg", "text", "rect", "title", "h1", "h2", "table", "p"}) {
		const auto count = [&page](const std::string &word) {
			std::size_t found = 0;

			for (std::size_t at = 0; (at = page.find(word, at)) != page.npos; at++)
				found += std::string(" >").find(page[at + word.size()]) !=
					 std::string::npos;
			return found;
		};

		EXPECT_EQ(count(std::string("<") + element), count(std::string("</") + element))
			<< element;
	}
}

} /* namespace */
} /* namespace perfring::data */
