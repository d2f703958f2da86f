// SPDX-License-Identifier: GPL-2.0
/* Events in words, PMUs in sysfs, and what perf_event_open() is given. */
#include "record/attributes.hh"
#include "record/event_spec.hh"
#include "record/pmu.hh"
#include "record/text.hh"

#include <gtest/gtest.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace perfring::record {
namespace {

/* A sysfs and a tracefs of our own. */
class EventSpecTest : public testing::Test {
    protected:
	EventSpecTest()
	{
		char path[] = "/tmp/perfring-events-XXXXXX";

		root = mkdtemp(path);
		sources.pmus = root + "/devices";
		sources.tracefs = root + "/tracing";
		file("devices/intel_pt/type", "8\n");
		file("devices/intel_pt/format/tsc", "config:10\n");
		file("devices/intel_pt/format/pt", "config:0\n");
		file("devices/intel_pt/format/branch", "config:13\n");
		file("devices/intel_pt/format/cyc_thresh", "config:19-22\n");
		file("devices/uncore/type", "20\n");
		file("devices/uncore/cpumask", "0,18\n");
		file("devices/uncore/format/event", "config:0-7,32-35\n");
		file("devices/uncore/format/edge", "config1:18\n");
		file("devices/uncore/events/reads", "event=0x104,edge\n");
		file("devices/uncore/events/reads.unit", "MiB\n");
		file("devices/uncore/events/reads.scale", "6.1e-5\n");
		file("tracing/events/sched/sched_switch/id", "314\n");
		file("tracing/events/sched/sched_wakeup/id", "315\n");
		file("tracing/events/sched/enable", "0\n");
	}
	~EventSpecTest() override
	{
		std::filesystem::remove_all(root);
	}

	void file(const std::string &name, const std::string &text) const
	{
		const std::filesystem::path path = root + "/" + name;

		std::filesystem::create_directories(path.parent_path());
		std::ofstream(path) << text;
	}

	std::vector<EventSpec> parse(const std::string &text) const
	{
		std::vector<EventSpec> events;

		parse_events(text, sources, events);
		return events;
	}

	std::string error_of(const std::string &text) const
	{
		try {
			parse(text);
		} catch (const UserError &error) {
			return error.what();
		}
		return "";
	}

	std::string root;
	EventSources sources;
};

TEST_F(EventSpecTest, NamesOfTheKernelsOwnEvents)
{
	struct {
		const char *name;
		std::uint32_t type;
		std::uint64_t config;
	} const known[] = {
		{"page-faults", PERF_TYPE_SOFTWARE, 2},
		{"faults", PERF_TYPE_SOFTWARE, 2},
		{"cs", PERF_TYPE_SOFTWARE, 3},
		{"cycles", PERF_TYPE_HARDWARE, 0},
		{"ref-cycles", PERF_TYPE_HARDWARE, 9},
		{"r1A8", PERF_TYPE_RAW, 0x1a8},
		{"LLC-load-misses", PERF_TYPE_HW_CACHE, 0x10002},
		{"L1-dcache-stores", PERF_TYPE_HW_CACHE, 0x100},
		{"dTLB-prefetches", PERF_TYPE_HW_CACHE, 0x203},
	};

	for (const auto &one : known) {
		const auto events = parse(one.name);

		ASSERT_EQ(events.size(), 1U);
		EXPECT_EQ(events[0].attr.type, one.type) << one.name;
		EXPECT_EQ(events[0].attr.config, one.config) << one.name;
		EXPECT_EQ(events[0].name, one.name);
		EXPECT_EQ(events[0].attr.exclude_guest, 1U);
	}
}

TEST_F(EventSpecTest, Modifiers)
{
	const auto user = parse("cycles:upp")[0].attr;
	const auto both = parse("cycles:uk")[0].attr;
	const auto guest = parse("cycles:G")[0].attr;

	EXPECT_EQ(user.exclude_user, 0U);
	EXPECT_EQ(user.exclude_kernel, 1U);
	EXPECT_EQ(user.exclude_hv, 1U);
	EXPECT_EQ(user.precise_ip, 2U);
	EXPECT_EQ(both.exclude_kernel, 0U);
	EXPECT_EQ(both.exclude_hv, 1U);
	EXPECT_EQ(guest.exclude_guest, 0U);
	EXPECT_EQ(guest.exclude_host, 1U);
	EXPECT_NE(error_of("cycles:x").find("no modifier"), std::string::npos);
	EXPECT_NE(error_of("cycles:pppp").find("no modifier"), std::string::npos);
}

TEST_F(EventSpecTest, Breakpoints)
{
	const auto events = parse("mem:0x401000:x:u,mem:4096/8:w,{faults,mem:0x10/1},cs");

	ASSERT_EQ(events.size(), 5U);
	EXPECT_EQ(events[0].attr.type, PERF_TYPE_BREAKPOINT);
	EXPECT_EQ(events[0].attr.bp_addr, 0x401000U);
	EXPECT_EQ(events[0].attr.bp_type, HW_BREAKPOINT_X);
	EXPECT_EQ(events[0].attr.bp_len, sizeof(long));
	EXPECT_TRUE(events[0].attr.exclude_kernel);
	EXPECT_EQ(events[1].attr.bp_addr, 4096U);
	EXPECT_EQ(events[1].attr.bp_type, HW_BREAKPOINT_W);
	EXPECT_EQ(events[1].attr.bp_len, 8U);
	EXPECT_EQ(events[3].attr.bp_type, HW_BREAKPOINT_RW);
	EXPECT_EQ(events[3].attr.bp_len, 1U);
	EXPECT_EQ(events[3].leader, 2U);
	EXPECT_EQ(events[4].name, "cs");
	EXPECT_NE(error_of("mem:here").find("no address"), std::string::npos);
	EXPECT_NE(error_of("mem:1:z").find("neither an access"), std::string::npos);
	EXPECT_NE(error_of("mem:1/9:w").find("1 to 8"), std::string::npos);
}

TEST_F(EventSpecTest, ListsAndGroups)
{
	const auto events = parse("faults,{cs,cpu-clock:u}:S,dummy");

	ASSERT_EQ(events.size(), 4U);
	EXPECT_EQ(events[0].leader, 0U);
	EXPECT_EQ(events[1].leader, 1U);
	EXPECT_EQ(events[2].leader, 1U);
	EXPECT_EQ(events[3].leader, 3U);
	EXPECT_TRUE(events[1].sample_read);
	EXPECT_TRUE(events[2].sample_read);
	EXPECT_EQ(events[2].attr.exclude_kernel, 1U);
	EXPECT_FALSE(events[3].sample_read);
	EXPECT_EQ(parse("hot:{cs,faults}")[0].group_name, "hot");
	EXPECT_NE(error_of("{cs,faults").find("brace"), std::string::npos);
	EXPECT_NE(error_of("{}").find("without events"), std::string::npos);
	EXPECT_NE(error_of("").find("needs an event"), std::string::npos);
	EXPECT_NE(error_of("cs,,faults").find("without a name"), std::string::npos);
}

TEST_F(EventSpecTest, TermsOfAPmu)
{
	const auto event = parse("intel_pt/tsc=0,cyc_thresh=9/u")[0];

	EXPECT_EQ(event.attr.type, 8U);
	EXPECT_EQ(event.attr.config, 1U | 1U << 13 | 9U << 19);
	EXPECT_EQ(event.attr.exclude_kernel, 1U);
	EXPECT_TRUE(event.has_aux);
	EXPECT_EQ(event.name, "intel_pt/tsc=0,cyc_thresh=9/u");
	/* What decoders need is there unasked. */
	EXPECT_EQ(parse("intel_pt//")[0].attr.config, 1U | 1U << 10 | 1U << 13);
	EXPECT_NE(error_of("intel_pt/nonsense/").find("branch, cyc_thresh, pt, tsc"),
		  std::string::npos);
	EXPECT_NE(error_of("intel_pt/cyc_thresh=16/").find("does not fit"), std::string::npos);
	EXPECT_NE(error_of("intel_pt/cyc_thresh=x/").find("not a number"), std::string::npos);
	EXPECT_NE(error_of("no_pmu/x/").find("no PMU"), std::string::npos);
	EXPECT_NE(error_of("../devices/uncore/x/").find("no PMU"), std::string::npos);
	EXPECT_NE(error_of("intel_pt/tsc").find("second /"), std::string::npos);
}

TEST_F(EventSpecTest, NamedEventsOfAPmu)
{
	const auto event = parse("uncore/reads,name=dram/")[0];

	EXPECT_EQ(event.attr.config, 0x100000004U);
	EXPECT_EQ(event.attr.config1, 1U << 18);
	EXPECT_EQ(event.pmu_cpus, (std::vector<int>{0, 18}));
	EXPECT_EQ(event.unit, "MiB");
	EXPECT_DOUBLE_EQ(event.scale, 6.1e-5);
	EXPECT_EQ(event.name, "dram");
}

TEST_F(EventSpecTest, SettingsOfOneEvent)
{
	const auto event = parse("page-faults/period=7,overwrite/u")[0];

	EXPECT_EQ(event.period, 7U);
	EXPECT_EQ(event.overwrite, true);
	EXPECT_EQ(event.attr.exclude_kernel, 1U);
	EXPECT_NE(error_of("page-faults/period=many/").find("needs a number"), std::string::npos);
	EXPECT_NE(error_of("page-faults/what/").find("no term"), std::string::npos);
}

TEST_F(EventSpecTest, Tracepoints)
{
	const auto all = parse("sched:*");

	ASSERT_EQ(all.size(), 2U);
	EXPECT_EQ(all[0].name, "sched:sched_switch");
	EXPECT_EQ(all[0].attr.type, PERF_TYPE_TRACEPOINT);
	EXPECT_EQ(all[0].attr.config, 314U);
	EXPECT_EQ(all[1].tracepoint_name, "sched_wakeup");
	EXPECT_EQ(parse("sched:sched_switch:u")[0].attr.exclude_kernel, 1U);
	EXPECT_NE(error_of("sched:nothing").find("no tracepoint"), std::string::npos);
	sources.tracefs.clear();
	EXPECT_NE(error_of("sched:sched_switch").find("mount -t tracefs"), std::string::npos);
}

TEST(PmuTest, BitsAreSpread)
{
	EXPECT_EQ(spread(0b1011, 0xf0), 0xb0U);
	EXPECT_EQ(spread(0x104, 0xf000000ffULL), 0x100000004U);
	EXPECT_EQ(spread(0x10, 0xf), std::nullopt);
	EXPECT_EQ(spread(~0ULL, ~0ULL), ~0ULL);
	EXPECT_EQ(parse_format("config1:0-7,16")->mask, 0x100ffU);
	EXPECT_EQ(parse_format("config1:0-7")->word, 1U);
	EXPECT_FALSE(parse_format("config9:0"));
	EXPECT_FALSE(parse_format("config:64"));
	EXPECT_FALSE(parse_format("config:7-0"));
	EXPECT_FALSE(parse_format("config"));
}

TEST(TextTest, SizesAndLists)
{
	EXPECT_EQ(size_in_bytes("16", 4096), 65536U);
	EXPECT_EQ(size_in_bytes("1M", 4096), 1U << 20);
	EXPECT_EQ(size_in_bytes("4k", 1), 4096U);
	EXPECT_FALSE(size_in_bytes("", 1));
	EXPECT_FALSE(size_in_bytes("M", 1));
	EXPECT_FALSE(size_in_bytes("99999999999T", 1));
	EXPECT_EQ(number_list("3,0-1"), (std::vector<int>{0, 1, 3}));
	EXPECT_FALSE(number_list("0-"));
	EXPECT_FALSE(number_list("0-99999999999"));
	EXPECT_FALSE(number(""));
	EXPECT_FALSE(number("12x"));
}

std::vector<EventSpec> completed(const std::string &text, const RecordOptions &options)
{
	std::vector<EventSpec> events;

	parse_events(text, {}, events);
	complete(events, options);
	return events;
}

TEST(AttributesTest, ACommandsEventsBeginWithIt)
{
	RecordOptions options;

	options.command = {"true"};
	options.period = 1;
	const auto events = completed("page-faults", options);

	ASSERT_EQ(events.size(), 2U);
	EXPECT_EQ(events[0].attr.enable_on_exec, 1U);
	EXPECT_EQ(events[0].attr.disabled, 1U);
	EXPECT_EQ(events[0].attr.inherit, 1U);
	EXPECT_EQ(events[0].attr.mmap2, 0U);
	EXPECT_EQ(events[1].attr.mmap2, 1U);
	EXPECT_EQ(events[1].attr.enable_on_exec, 0U);
	EXPECT_EQ(events[0].attr.sample_period, 1U);
	EXPECT_EQ(events[0].attr.freq, 0U);
	EXPECT_EQ(events[0].attr.sample_type,
		  PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
}

/* Side-band records must come while the others are off. */
TEST(AttributesTest, SystemWideTracksFromTheStart)
{
	RecordOptions options;

	options.system_wide = true;
	options.call_graph = CallGraph::fp;
	const auto events = completed("page-faults,cs", options);

	ASSERT_EQ(events.size(), 3U);
	EXPECT_EQ(events[0].attr.mmap, 0U);
	EXPECT_EQ(events[2].attr.config, PERF_COUNT_SW_DUMMY);
	EXPECT_EQ(events[2].attr.disabled, 0U);
	EXPECT_EQ(events[2].attr.comm, 1U);
	EXPECT_EQ(events[0].attr.freq, 1U);
	EXPECT_TRUE(events[0].attr.sample_type & PERF_SAMPLE_CALLCHAIN);
	EXPECT_TRUE(events[0].attr.sample_type & PERF_SAMPLE_CPU);
	EXPECT_TRUE(events[0].attr.sample_type & PERF_SAMPLE_PERIOD);
}

TEST(AttributesTest, OverwritingLeavesSideBandForwards)
{
	RecordOptions options;

	options.command = {"true"};
	options.overwrite = true;
	const auto events = completed("cpu-clock", options);

	ASSERT_EQ(events.size(), 2U);
	EXPECT_EQ(events[0].attr.write_backward, 1U);
	EXPECT_EQ(events[1].attr.write_backward, 0U);
}

TEST(AttributesTest, WatermarksLeaveRoomToReact)
{
	EXPECT_EQ(aux_watermark(4 << 20), 1U << 20);
	EXPECT_EQ(aux_watermark(1ULL << 43), 1U << 30);
	EXPECT_EQ(data_watermark(65536, true), 32768U);
	EXPECT_EQ(data_watermark(65536, false), 16384U);
}

} /* namespace */
} /* namespace perfring::record */
