// SPDX-License-Identifier: GPL-2.0
/* Machines and tasks that do not exist: what is made of their /proc and /sys. */
#include "data_support.hh"

#include <sys/mman.h>

#include "data/auxtrace_info.hh"
#include "data/features.hh"
#include "data/format.hh"
#include "data/kernel_map.hh"
#include "data/machine.hh"
#include "data/system_files.hh"
#include "data/tasks.hh"
#include "data/tracing_data.hh"

namespace perfring::data {
namespace {

class World : public testing::Test {
    protected:
	void put(const std::string &path, const std::string &text)
	{
		const std::filesystem::path whole = root() + path;

		std::filesystem::create_directories(whole.parent_path());
		store_file(whole, std::as_bytes(std::span(text)));
	}
	std::string root() const
	{
		return scratch / "root";
	}
	/* Strings of a feature, one after the other, numbers left out. */
	static std::vector<std::string> strings(Cursor &cursor, std::size_t count)
	{
		std::vector<std::string> all;

		for (std::size_t i = 0; i < count; i++)
			all.emplace_back(cursor.take_string().value_or("<missing>"));
		return all;
	}
	void put_task(int pid, int tid, int parent, const std::string &name)
	{
		const std::string status = "Name:\t" + name + "\nTgid:\t" + std::to_string(pid) +
					   "\nPid:\t" + std::to_string(tid) + "\nPPid:\t" +
					   std::to_string(parent) + "\n";

		for (const std::string &where :
		     {"/proc/" + std::to_string(tid),
		      "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid)}) {
			put(where + "/status", status);
			put(where + "/comm", name + "\n");
		}
	}
	/* Type, pid, tid and name of each record. */
	struct Told {
		std::uint32_t type;
		std::int32_t first, second;
		std::string name;

		bool operator==(const Told &) const = default;
		friend void PrintTo(const Told &told, std::ostream *out)
		{
			*out << told.type << " " << told.first << " " << told.second << " "
			     << told.name;
		}
	};
	Sink teller()
	{
		return [this](ByteView record) {
			const auto header = load<perf_event_header>(record, 0);
			const std::size_t name_at = header->type == PERF_RECORD_MMAP2  ? 72
						    : header->type == PERF_RECORD_MMAP ? 40
						    : header->type == PERF_RECORD_COMM
							    ? 16
							    : record.size();

			EXPECT_EQ(header->size, record.size());
			told.push_back({header->type, *load<std::int32_t>(record, 8),
					*load<std::int32_t>(record, 12),
					std::string(Cursor::text(record.subspan(name_at)))});
			records.emplace_back(record.begin(), record.end());
		};
	}

	Scratch scratch;
	std::vector<Told> told;
	std::vector<Bytes> records;
};

TEST_F(World, Lists)
{
	EXPECT_EQ(parse_list("0-3,8,10-11\n"), (std::vector<unsigned>{0, 1, 2, 3, 8, 10, 11}));
	EXPECT_EQ(parse_list(""), std::vector<unsigned>{});
	EXPECT_EQ(parse_list("x"), std::vector<unsigned>{});
	EXPECT_EQ(parse_list("3-1"), std::vector<unsigned>{});
	EXPECT_EQ(parse_list("1,4294967295-9"), std::vector<unsigned>{1});
	EXPECT_EQ(parse_list("0-99999999999"), std::vector<unsigned>{});
}

TEST_F(World, CpuFeatures)
{
	const std::string cpu = "/sys/devices/system/cpu/";

	put(cpu + "present", "0-3\n");
	put(cpu + "online", "0-2\n");
	put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
			     "model\t\t: 207\nmodel name\t: Some   CPU @ 2 GHz\nstepping\t: 2\n");
	put("/proc/meminfo", "MemTotal:       24684092 kB\nMemFree: 1 kB\n");
	for (int i = 0; i < 3; i++) {
		const std::string topology = cpu + "cpu" + std::to_string(i) + "/topology/";

		put(topology + "package_cpus_list", "0-2\n");
		put(topology + "core_cpus_list", i < 2 ? "0-1\n" : "2\n");
		put(topology + "core_id", i < 2 ? "5\n" : "6\n");
		put(topology + "physical_package_id", "9\n");
	}

	const Bytes counts = machine_feature(Feature::nrcpus, root()).value_or(Bytes{});

	EXPECT_EQ(load<std::uint32_t>(counts, 0), 4U);
	EXPECT_EQ(load<std::uint32_t>(counts, 4), 3U);

	const Bytes description = machine_feature(Feature::cpudesc, root()).value_or(Bytes{});

	EXPECT_EQ(Cursor(description).take_string(), "Some CPU @ 2 GHz");
	EXPECT_EQ(description.size(), 4U + 64U);

	const Bytes id = machine_feature(Feature::cpuid, root()).value_or(Bytes{});

	EXPECT_EQ(Cursor(id).take_string(), "GenuineIntel,6,207,2");
	EXPECT_EQ(load<std::uint64_t>(*machine_feature(Feature::total_mem, root()), 0), 24684092U);

	const Bytes topology = machine_feature(Feature::cpu_topology, root()).value_or(Bytes{});
	Cursor cursor(topology);

	EXPECT_EQ(cursor.take<std::uint32_t>(), 1U);
	EXPECT_EQ(strings(cursor, 1), std::vector<std::string>{"0-2"});
	EXPECT_EQ(cursor.take<std::uint32_t>(), 2U);
	EXPECT_EQ(strings(cursor, 2), (std::vector<std::string>{"0-1", "2"}));
	for (const int number : {5, 9, 5, 9, 6, 9, -1, -1})
		EXPECT_EQ(cursor.take<std::int32_t>(), number);
	EXPECT_EQ(cursor.left(), 0U); /* no dies */

	/* Nothing is known: nothing is said. */
	EXPECT_FALSE(machine_feature(Feature::cache, root()));
	EXPECT_FALSE(machine_feature(Feature::numa_topology, root()));
	EXPECT_FALSE(machine_feature(Feature::pmu_mappings, root()));
	EXPECT_FALSE(machine_feature(Feature::event_desc, root()));
	EXPECT_FALSE(machine_feature(Feature::cpudesc, scratch / "nowhere"));
}

TEST_F(World, Tasks)
{
	put_task(10, 10, 1, "leader");
	put_task(10, 12, 1, "worker");
	put("/proc/10/maps", "00400000-0040c000 r-xp 00001000 fd:01 41038   /bin/a program\n"
			     "0060b000-0060c000 rw-p 0000b000 fd:01 41038   /bin/a program\n"
			     "7f0000000000-7f0000001000 r-xs 00000000 00:00 0 \n"
			     "7fff00000000-7fff00001000 r-xp 00000000 00:00 0  [vdso]\n");
	put_task(7, 7, 2, "kernel");
	put("/proc/self/comm", "not a number\n");

	TaskOptions options;

	options.root = root();
	options.trailer = 16;
	synthesize_all(teller(), options);
	EXPECT_EQ(told, (std::vector<Told>{{PERF_RECORD_FORK, 7, 2, ""},
					   {PERF_RECORD_COMM, 7, 7, "kernel"},
					   {PERF_RECORD_FORK, 10, 1, ""},
					   {PERF_RECORD_COMM, 10, 10, "leader"},
					   {PERF_RECORD_MMAP2, 10, 10, "/bin/a program"},
					   {PERF_RECORD_MMAP2, 10, 10, "//anon"},
					   {PERF_RECORD_MMAP2, 10, 10, "[vdso]"},
					   {PERF_RECORD_FORK, 10, 10, ""},
					   {PERF_RECORD_COMM, 10, 12, "worker"}}));
	ASSERT_EQ(records.size(), 9U);
	EXPECT_EQ(records[1].size(), 16U + 8U + 16U);

	const Bytes &mapped = records[4];

	EXPECT_EQ(load<std::uint64_t>(mapped, 16), 0x400000U);
	EXPECT_EQ(load<std::uint64_t>(mapped, 24), 0xc000U);
	EXPECT_EQ(load<std::uint64_t>(mapped, 32), 0x1000U);
	EXPECT_EQ(load<std::uint32_t>(mapped, 40), 0xfdU);
	EXPECT_EQ(load<std::uint32_t>(mapped, 44), 1U);
	EXPECT_EQ(load<std::uint64_t>(mapped, 48), 41038U);
	EXPECT_EQ(load<std::uint32_t>(mapped, 64), std::uint32_t{PROT_READ | PROT_EXEC});
	EXPECT_EQ(load<std::uint32_t>(mapped, 68), std::uint32_t{MAP_PRIVATE});
	EXPECT_EQ(load<std::uint32_t>(records[5], 68), std::uint32_t{MAP_SHARED});
}

TEST_F(World, ThreadsHaveTheirLeadersMappings)
{
	put_task(10, 10, 1, "leader");
	put_task(10, 12, 1, "worker");
	put("/proc/10/maps", "00400000-0040c000 r--p 00000000 fd:01 41038   /bin/data\n");

	TaskOptions options;
	const pid_t threads[] = {12, 10, 99};

	options.root = root();
	options.data_mappings = true;
	synthesize_threads(threads, teller(), options);
	EXPECT_EQ(told, (std::vector<Told>{{PERF_RECORD_COMM, 10, 12, "worker"},
					   {PERF_RECORD_COMM, 10, 10, "leader"},
					   {PERF_RECORD_MMAP2, 10, 10, "/bin/data"}}));
	EXPECT_TRUE(load<perf_event_header>(records[2], 0)->misc & PERF_RECORD_MISC_MMAP_DATA);
	EXPECT_FALSE(synthesize_comm(99, teller(), options));
}

TEST_F(World, KernelAndModules)
{
	put("/proc/kallsyms", "ffffffff80ffffff a before\nffffffff81000000 T _stext\n"
			      "ffffffff81000000 T _text\nffffffff81001000 t x_text\n"
			      "ffffffff82209988 T _etext\nffffffffc0200000 t m\t[ext4]\n");
	put("/proc/modules", "ext4 4096 1 - Live 0xffffffffc0200000\n"
			     "odd_one 8192 0 - Live 0xffffffffc0300000 (OE)\n");
	synthesize_kernel(teller(), 0, root());
	ASSERT_EQ(told.size(), 3U);
	EXPECT_EQ(told[0].name, "[kernel.kallsyms]_text");
	EXPECT_EQ(told[0].first, -1);
	EXPECT_EQ(load<std::uint64_t>(records[0], 16), 0xffffffff81000000U);
	EXPECT_EQ(load<std::uint64_t>(records[0], 24), 0x1209988U);
	EXPECT_EQ(load<std::uint64_t>(records[0], 32), 0xffffffff81000000U);
	EXPECT_EQ(told[1].name, "[ext4]");
	EXPECT_EQ(load<std::uint64_t>(records[2], 24), 8192U);
}

/* kernel.kptr_restrict: all addresses are zero, which is no place for a kernel. */
TEST_F(World, HiddenAddressesAreNotBelieved)
{
	put("/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _etext\n");
	put("/proc/modules", "ext4 4096 1 - Live 0x0000000000000000\n");
	synthesize_kernel(teller(), 0, root());
	EXPECT_TRUE(told.empty());
	EXPECT_FALSE(kernel_text(scratch / "nowhere"));
}

TEST_F(World, IntelPtIsDescribedForItsDecoder)
{
	const std::string pmu = "/sys/bus/event_source/devices/intel_pt/";
	Session session;
	EventDescription event;

	put(pmu + "format/tsc", "config:10\n");
	put(pmu + "format/noretcomp", "config:11\n");
	put(pmu + "format/mtc", "config:9\n");
	put(pmu + "format/mtc_period", "config:14-17\n");
	put(pmu + "format/cyc", "config:1\n");
	put(pmu + "max_nonturbo_ratio", "33\n");
	put(pmu + "caps/event_trace", "1\n");
	event.attr.type = 8;
	event.pmu = "intel_pt";
	event.address_filter = "filter main @ /bin/ls";
	session.events.push_back(event);
	session.events.emplace_back().attr.context_switch = 1;
	session.aux = AuxDescription{0, 4096, true, true};
	session.system_wide = true;

	const Bytes info =
		auxtrace_info(session, TimeConversion{1, 2, 3, 0, 0, true, false}, root())
			.value_or(Bytes{});
	const std::uint64_t words[] = {8, 1, 2, 3, 1, 1 << 10, 1 << 11, 3, 1, 1, 1 << 9, 0xf << 14};

	EXPECT_EQ(load<std::uint32_t>(info, 8), 1U);
	for (std::size_t i = 0; i < std::size(words); i++)
		EXPECT_EQ(load<std::uint64_t>(info, 16 + i * 8), words[i]) << i;
	/* 12 and 13: of the CPU that runs this */
	EXPECT_EQ(load<std::uint64_t>(info, 16 + 14 * 8), 2U);
	EXPECT_EQ(load<std::uint64_t>(info, 16 + 15 * 8), 33U);
	EXPECT_EQ(load<std::uint64_t>(info, 16 + 16 * 8), event.address_filter.size());
	EXPECT_EQ(Cursor::text(ByteView(info).subspan(16 + 17 * 8)), event.address_filter);
	EXPECT_EQ(load<std::uint64_t>(info, 16 + 20 * 8), 1U);
	EXPECT_EQ(info.size(), 16U + 21 * 8);

	session.events[0].pmu = "intel_bts";
	EXPECT_EQ(auxtrace_info(session, std::nullopt, root()).value_or(Bytes{}).size(),
		  16U + 6 * 8);
	session.events[0].pmu = "cs_etm";
	EXPECT_FALSE(auxtrace_info(session, std::nullopt, root()));
	session.aux.reset();
	EXPECT_FALSE(auxtrace_info(session, std::nullopt, root()));
}

/* perf prints what it reads of it: the same numbers. */
TEST_F(World, PerfReadsWhatIntelPtIsSaidToBe)
{
	Session session;
	EventDescription event;

	event.attr.type = 8;
	event.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	event.attr.sample_id_all = 1;
	event.pmu = "intel_pt";
	event.name = "intel_pt//";
	event.ids = {{5, 0, -1, 0}};
	session.events.push_back(event);
	session.aux = AuxDescription{0, 4096, false, true};
	session.cpus = {0};
	session.command_line = {"perfring"};

	const Writer writer(session);
	Builder data;
	Outcome outcome;
	Bytes trace(64);

	/* Four PSB packets (SDM vol. 3, Intel PT): 02 82, eight times. */
	for (std::size_t i = 0; i < trace.size(); i++)
		trace[i] = std::byte(i % 2 ? 0x82 : 0x02);
	writer.start_records([&data](ByteView record) { data.append(record); });
	outcome.auxtrace_offsets = {writer.data_offset() + data.size()};
	outcome.auxtrace_sizes = {sizeof(RecordAuxtrace)};
	data.append(auxtrace({trace.size(), 0, 1, 0, -1, 0}));
	data.append(trace);
	store_file(scratch / "pt", whole_file(writer, data.take(), outcome));

	const std::string dump = run("perf script -D -i " + (scratch / "pt")).text;

	EXPECT_NE(dump.find("PERF_RECORD_AUXTRACE_INFO type: 1"), dump.npos) << dump;
	EXPECT_NE(dump.find("PMU Type            8"), dump.npos) << dump;
	EXPECT_NE(dump.find("Per-cpu maps        1"), dump.npos);
	EXPECT_NE(dump.find("PERF_RECORD_AUXTRACE size: 0x40  offset: 0"), dump.npos) << dump;
	EXPECT_NE(dump.find("PSB"), dump.npos);
	EXPECT_EQ(run("perf report --header-only -i " + (scratch / "pt")).status, 0);
}

TEST_F(World, TracepointsAreDescribed)
{
	EventDescription event;

	put("/events/header_page", "page\n");
	put("/events/header_event", "event\n");
	put("/events/sched/sched_switch/format", "name: sched_switch\n");
	put("/printk_formats", "0x1 : \"x\"\n");
	EXPECT_FALSE(tracing_data_of(std::span(&event, 1), root()));
	event.tracepoint_system = "sched";
	event.tracepoint_name = "sched_switch";

	const Bytes section = tracing_data_of(std::span(&event, 1), root()).value_or(Bytes{});
	const std::string text(reinterpret_cast<const char *>(section.data()), section.size());
	std::string expected("\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0", 20);
	const auto number = [&expected](std::size_t size, std::uint64_t value) {
		expected.append(reinterpret_cast<const char *>(&value), size);
	};

	expected += std::string("header_page\0", 12);
	number(8, 5);
	expected += "page\n" + std::string("header_event\0", 13);
	number(8, 6);
	expected += "event\n";
	number(4, 0); /* of ftrace's own */
	number(4, 1);
	expected += std::string("sched\0", 6);
	number(4, 1);
	number(8, 19);
	expected += "name: sched_switch\n";
	number(4, 0);
	number(4, 10);
	expected += "0x1 : \"x\"\n";
	number(8, 0);
	EXPECT_EQ(text, expected);
	EXPECT_FALSE(tracing_data_of(std::span(&event, 1), scratch / "nowhere"));
}

} /* namespace */
} /* namespace perfring::data */
